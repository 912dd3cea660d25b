/**
 * The command line: what `bough` accepts, as one parsed value. Part of `cli/`; run-command.ts reads it, the modes use it.
 */
import { parseArgs } from "node:util";
import type { GivenFlag } from "../extensions/extension-flags.ts";
import { UsageError, readOptions } from "./usage.ts";

export type Mode = "interactive" | "print" | "json" | "rpc";

/** Which session to work in. */
export type SessionChoice =
  | { kind: "new" }
  | { kind: "continue" }
  | { kind: "resume"; session: string | undefined }
  | { kind: "file"; path: string }
  | { kind: "fork"; path: string }
  | { kind: "memory" };

export interface Arguments {
  mode: Mode;
  session: SessionChoice;
  /** What is neither an option nor its value. */
  words: readonly string[];
  /** The words, joined. */
  prompt: string | undefined;
  model: string | undefined;
  provider: string | undefined;
  baseUrl: string | undefined;
  api: string | undefined;
  apiKey: string | undefined;
  thinking: string | undefined;
  name: string | undefined;
  trust: boolean;
  /** Begin in plan mode. */
  plan: boolean;
  /** Files and folders of extensions that the command line names. */
  extensions: readonly string[];
  /** Only those that the command line names. */
  onlyNamedExtensions: boolean;
  /** Options that bough does not have; an extension may. */
  unknown: readonly UnknownOption[];
  help: boolean;
  version: boolean;
}

/** `--name` or `--name=value`. */
export interface UnknownOption extends GivenFlag {
  /** The word behind it: its value, if an extension's flag takes one, else part of the prompt. Counts from 0. */
  follows?: number;
}

export const HELP = `bough: a terminal coding agent whose conversation is a tree.

  bough [options] [prompt]         open the terminal, perhaps with a prompt
  bough -p "prompt"                answer once on standard output; input is read
  bough tree FILE [options]        print a session's tree (bough tree --help)
  bough doctor [FILE] [options]    check session files (bough doctor --help)
  bough list [options]             list this folder's sessions (bough list --help)
  bough stats [FILE] [options]     what sessions have cost (bough stats --help)
  bough export FILE [OUT] [options]
                                   a session to give away (bough export --help)

Session
  -c, --continue                   the session last used in this folder
  -r, --resume [id or path]        choose a session, or open the one named
      --session FILE               open a session file
      --fork FILE                  copy a session file to a new session here
      --no-session                 keep nothing on disk
  -n, --name NAME                  name the session

Model
      --model MODEL                "provider/model", an id or its beginning;
                                   ":level" behind it sets the thinking level
      --provider NAME              the provider of --model
      --base-url URL               an endpoint of your own, with --model
      --api KIND                   its protocol: openai-completions (default),
                                   openai-responses or anthropic-messages
      --api-key KEY                its key; those of known providers are read from the
                                   environment (ANTHROPIC_API_KEY, …)
      --thinking LEVEL             off, minimal, low, medium, high, xhigh, max

Extensions
  -e, --extension PATH             load this one too; may be given several times
  -ne, --no-extensions             load none but those of -e
      extensions may have options of their own

Other
  -p, --print                      print the answer and exit
      --mode text|json|rpc         text (default), each event as a JSON line, or
                                   commands as JSON lines on standard input
      --plan                       change nothing before a plan is approved; with -p
                                   the plan is the answer
      --trust                      trust this project's .bough/ for this run
  -h, --help    -v, --version

Exit code: 0 fine; 1 it failed, and standard error says why; 2 wrong usage;
129, 130, 143 ended by a signal.
BOUGH_DIR moves ~/.bough; BOUGH_DEBUG=1 shows where an error comes from and what
a provider said in full.
`;

const OPTIONS = {
  continue: { type: "boolean", short: "c" },
  resume: { type: "string", short: "r" },
  session: { type: "string" },
  fork: { type: "string" },
  "no-session": { type: "boolean" },
  name: { type: "string", short: "n" },
  model: { type: "string" },
  provider: { type: "string" },
  "base-url": { type: "string" },
  api: { type: "string" },
  "api-key": { type: "string" },
  thinking: { type: "string" },
  extension: { type: "string", short: "e", multiple: true },
  "no-extensions": { type: "boolean" },
  print: { type: "boolean", short: "p" },
  mode: { type: "string" },
  plan: { type: "boolean" },
  trust: { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const;

/** Reads `bough`'s own arguments (not those of `bough tree` and `bough doctor`). Throws UsageError. */
export function parseArguments(args: readonly string[]): Arguments {
  const { own, unknown } = withoutUnknown(spelledOut(withResumeValue(args)));
  const { values, positionals } = readOptions(own, OPTIONS, "bough");
  const { mode = "text" } = values;
  if (mode !== "text" && mode !== "json" && mode !== "rpc")
    throw new UsageError(`--mode takes text, json or rpc, not "${mode}".`);
  checkEndpoint(values);
  return {
    mode: mode !== "text" ? mode : values.print ? "print" : "interactive",
    session: sessionChoice(values),
    words: positionals,
    prompt: promptOf(positionals),
    model: values.model,
    provider: values.provider,
    baseUrl: values["base-url"],
    api: values.api,
    apiKey: values["api-key"],
    thinking: values.thinking,
    name: values.name,
    trust: values.trust ?? false,
    plan: values.plan ?? false,
    extensions: values.extension ?? [],
    onlyNamedExtensions: values["no-extensions"] ?? false,
    unknown,
    help: values.help ?? false,
    version: values.version ?? false,
  };
}

/** parseArgs knows no optional value: a -r that nothing follows gets an empty one. */
function withResumeValue(args: readonly string[]): string[] {
  const end = args.indexOf("--");
  return args.map((arg, at) => {
    const isResume = (arg === "-r" || arg === "--resume") && (end < 0 || at < end);
    return isResume && (args[at + 1] ?? "-").startsWith("-") ? "--resume=" : arg;
  });
}

const promptOf = (words: readonly string[]): string | undefined => (words.length === 0 ? undefined : words.join(" "));

/** `-ne` looks like two short options. */
const spelledOut = (args: readonly string[]): string[] => {
  const end = args.indexOf("--");
  return args.map((arg, at) => (arg === "-ne" && (end < 0 || at < end) ? "--no-extensions" : arg));
};

/** Takes long options out that bough does not have. */
function withoutUnknown(args: readonly string[]): { own: string[]; unknown: UnknownOption[] } {
  const { tokens } = parseArgs({
    args: [...args],
    options: OPTIONS,
    strict: false,
    tokens: true,
    allowPositionals: true,
  });
  const gone = new Set<number>();
  const unknown: UnknownOption[] = [];
  let words = 0;
  for (const token of tokens) {
    if (token.kind === "positional") words++;
    if (token.kind !== "option" || Object.hasOwn(OPTIONS, token.name) || !token.rawName.startsWith("--")) continue;
    gone.add(token.index);
    const next = tokens.find((other) => other.kind === "positional" && other.index === token.index + 1);
    const value = token.inlineValue === true ? { value: token.value } : next === undefined ? {} : { follows: words };
    unknown.push({ name: token.name, ...value });
  }
  return { own: args.filter((_, index) => !gone.has(index)), unknown };
}

/**
 * The flags of extensions that are on the command line, once it is known which there are, and the prompt without their
 * values. Throws UsageError for an option that nobody has.
 */
export function claimOptions(
  { unknown, words }: Pick<Arguments, "unknown" | "words">,
  typeOf: (name: string) => "boolean" | "string" | undefined,
): { flags: GivenFlag[]; prompt: string | undefined } {
  const values = new Set<number>();
  const flags = unknown.map(({ name, value, follows }) => {
    const type = typeOf(name);
    // Node's own words for it, with the place where help is.
    if (type === undefined) readOptions([`--${name}`], OPTIONS, "bough");
    if (value !== undefined || type !== "string" || follows === undefined)
      return value === undefined ? { name } : { name, value };
    values.add(follows);
    return { name, value: words[follows] ?? "" };
  });
  return { flags, prompt: promptOf(words.filter((_, index) => !values.has(index))) };
}

type Values = ReturnType<typeof readOptions<typeof OPTIONS>>["values"];

function checkEndpoint(values: Values): void {
  if (values["base-url"] === undefined) {
    const flag = (["api", "api-key"] as const).find((name) => values[name] !== undefined);
    if (flag !== undefined)
      throw new UsageError(`--${flag} goes with --base-url; the key of a known provider belongs in the environment.`);
  } else if (values.model === undefined)
    throw new UsageError("--base-url needs --model, the name the endpoint knows the model by.");
  else if (values.provider !== undefined)
    throw new UsageError("Use one of --base-url and --provider, not both together.");
}

function sessionChoice(values: Values): SessionChoice {
  const choices: [string, SessionChoice][] = [];
  if (values.continue) choices.push(["-c", { kind: "continue" }]);
  if (values.resume !== undefined) choices.push(["-r", { kind: "resume", session: values.resume || undefined }]);
  if (values.session !== undefined) choices.push(["--session", { kind: "file", path: values.session }]);
  if (values.fork !== undefined) choices.push(["--fork", { kind: "fork", path: values.fork }]);
  if (values["no-session"]) choices.push(["--no-session", { kind: "memory" }]);
  if (choices.length > 1)
    throw new UsageError(`Use one of ${choices.map(([flag]) => flag).join(" and ")}, not both together.`);
  return choices[0]?.[1] ?? { kind: "new" };
}
