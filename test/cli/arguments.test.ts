/** Tests of src/cli/arguments.ts: every flag, every conflict, the whole text of every error. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { HELP, claimOptions, parseArguments } from "../../src/cli/arguments.ts";
import type { Arguments } from "../../src/cli/arguments.ts";
import { UsageError } from "../../src/cli/usage.ts";

const NOTHING: Arguments = {
  mode: "interactive",
  session: { kind: "new" },
  words: [],
  prompt: undefined,
  model: undefined,
  provider: undefined,
  baseUrl: undefined,
  api: undefined,
  apiKey: undefined,
  thinking: undefined,
  name: undefined,
  trust: false,
  plan: false,
  extensions: [],
  onlyNamedExtensions: false,
  unknown: [],
  help: false,
  version: false,
};

/** What is different from a bare `bough`. */
function accepts(args: string[], expected: Partial<Arguments>): void {
  const { words, ...parsed } = parseArguments(args);
  const { words: _, ...nothing } = NOTHING;
  assert.deepEqual(parsed, { ...nothing, ...expected }, args.join(" "));
  assert.equal(words.length === 0 ? undefined : words.join(" "), parsed.prompt);
}

function refuses(args: string[], text: string): void {
  assert.throws(
    () => claimOptions(parseArguments(args), () => undefined),
    (error) => {
      assert.ok(error instanceof UsageError);
      assert.equal(error.message, text);
      return true;
    },
    args.join(" "),
  );
}

test("[R1] every flag, long and short", () => {
  accepts([], {});
  accepts(["-p"], { mode: "print" });
  accepts(["--print", "why", "not"], { mode: "print", prompt: "why not" });
  accepts(["-p", "--mode", "text"], { mode: "print" });
  accepts(["--mode", "text"], {});
  accepts(["--mode", "json"], { mode: "json" });
  accepts(["--mode=json", "-p", "hi"], { mode: "json", prompt: "hi" });
  accepts(["-n", "my name"], { name: "my name" });
  accepts(["--name", ""], { name: "" });
  accepts(["--thinking", "high"], { thinking: "high" });
  accepts(["--model", "a/b:high", "--provider", "p"], { model: "a/b:high", provider: "p" });
  accepts(["--base-url", "http://x/v1", "--model", "m", "--api-key", "k", "--api", "anthropic-messages"], {
    baseUrl: "http://x/v1",
    model: "m",
    apiKey: "k",
    api: "anthropic-messages",
  });
  accepts(["--trust"], { trust: true });
  accepts(["--plan"], { plan: true });
  accepts(["-h"], { help: true });
  accepts(["--help"], { help: true });
  accepts(["-v"], { version: true });
  accepts(["--version"], { version: true });
  accepts(["--model", "a", "--model", "b"], { model: "b" });
});

test("[R1] every flag is in --help", () => {
  const flags = HELP.matchAll(/(?:^|\s)(--[a-z-]+)/g);
  const named = [...new Set([...flags].map(([, flag]) => String(flag)))].filter((flag) => flag !== "--json").toSorted();
  assert.deepEqual(named, [
    "--api",
    "--api-key",
    "--base-url",
    "--continue",
    "--extension",
    "--fork",
    "--help",
    "--mode",
    "--model",
    "--name",
    "--no-extensions",
    "--no-session",
    "--plan",
    "--print",
    "--provider",
    "--resume",
    "--session",
    "--thinking",
    "--trust",
    "--version",
  ]);
});

test("[B2] which session: a new one, the last, a chosen one, a file, a copy, none", () => {
  accepts(["-c"], { session: { kind: "continue" } });
  accepts(["--continue", "go on"], { session: { kind: "continue" }, prompt: "go on" });
  accepts(["-cp", "go on"], { session: { kind: "continue" }, mode: "print", prompt: "go on" });
  accepts(["--session", "a.jsonl"], { session: { kind: "file", path: "a.jsonl" } });
  accepts(["--fork", "../a.jsonl"], { session: { kind: "fork", path: "../a.jsonl" } });
  accepts(["--no-session"], { session: { kind: "memory" } });
});

test("[B2] -r takes the word after it, if there is one", () => {
  const picked: Partial<Arguments> = { session: { kind: "resume", session: undefined } };
  const named: Partial<Arguments> = { session: { kind: "resume", session: "01ab" } };
  for (const args of [["-r"], ["--resume"], ["--resume="], ["-r", ""]]) accepts(args, picked);
  accepts(["-r", "-p", "hi"], { ...picked, mode: "print", prompt: "hi" });
  accepts(["-r", "--", "hi"], { ...picked, prompt: "hi" });
  for (const args of [["-r", "01ab"], ["--resume", "01ab"], ["-r01ab"], ["--resume=01ab"]]) accepts(args, named);
  accepts(["-pr", "01ab", "hi"], { ...named, mode: "print", prompt: "hi" });
  accepts(["hi", "-r", "01ab"], { ...named, prompt: "hi" });
});

test("[R1] after -- everything is the prompt", () => {
  accepts(["--", "-r", "01ab"], { prompt: "-r 01ab" });
  accepts(["-p", "--", "--version", "-c", "--"], { mode: "print", prompt: "--version -c --" });
  accepts(["-"], { prompt: "-" });
  accepts(["-p", ""], { mode: "print", prompt: "" });
});

test("[B2] two sessions at once are refused by name", () => {
  refuses(["-c", "-r"], "Use one of -c and -r, not both together.");
  refuses(["-r", "x", "--session", "y"], "Use one of -r and --session, not both together.");
  refuses(["--fork", "x", "--no-session"], "Use one of --fork and --no-session, not both together.");
});

test("[R1] what does not fit together or is unknown is one sentence", () => {
  refuses(["--mode", "xml"], '--mode takes text, json or rpc, not "xml".');
  refuses(["--mode="], '--mode takes text, json or rpc, not "".');
  refuses(["--base-url", "http://x"], "--base-url needs --model, the name the endpoint knows the model by.");
  refuses(
    ["--api-key", "k", "--model", "m"],
    "--api-key goes with --base-url; the key of a known provider belongs in the environment.",
  );
  refuses(
    ["--api", "openai-responses"],
    "--api goes with --base-url; the key of a known provider belongs in the environment.",
  );
  refuses(
    ["--base-url", "http://x", "--model", "m", "--provider", "p"],
    "Use one of --base-url and --provider, not both together.",
  );
  refuses(["--colour"], "Unknown option '--colour'. See bough --help.");
  refuses(["-x"], "Unknown option '-x'. See bough --help.");
  refuses(["--a.b c"], "Unknown option '--a.b c'. See bough --help.");
  refuses(["--model"], "Option '--model <value>' argument missing. See bough --help.");
  refuses(["-n", "-c"], "Option '-n' argument is ambiguous. See bough --help.");
  refuses(["--continue=yes"], "Option '-c, --continue' does not take an argument. See bough --help.");
});

test("[X4] options that bough does not have are kept for extensions, with the word behind them if a flag takes one", () => {
  const args = parseArguments(["--preset", "careful", "fix", "it", "--ssh=me@host", "--loud", "now", "--", "--not-me"]);
  assert.deepEqual(args.unknown, [
    { name: "preset", follows: 0 },
    { name: "ssh", value: "me@host" },
    { name: "loud", follows: 3 },
  ]);
  const types = new Map<string, "boolean" | "string">([
    ["preset", "string"],
    ["ssh", "string"],
    ["loud", "boolean"],
  ]);
  assert.deepEqual(
    claimOptions(args, (name) => types.get(name)),
    {
      flags: [{ name: "preset", value: "careful" }, { name: "ssh", value: "me@host" }, { name: "loud" }],
      prompt: "fix it now --not-me",
    },
  );
});

test("[X4, R1] -e may come several times, -ne is one option; an option that no extension has is a mistake as before", () => {
  accepts(["-e", "a.ts", "--extension", "b", "-ne"], { extensions: ["a.ts", "b"], onlyNamedExtensions: true });
  accepts(["--", "-ne"], { prompt: "-ne" });
  refuses(["-ne", "--color"], "Unknown option '--color'. See bough --help.");
});
