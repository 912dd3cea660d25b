import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { reportFailure } from "../../src/cli/report.ts";
import { runTreeCommand, TREE_HELP } from "../../src/cli/tree-command.ts";
import { writeSessionFile } from "../support/generate.ts";
import { file, HEADER, leafRecord, line, message } from "../support/session-lines.ts";

const folder = mkdtempSync(join(tmpdir(), "bough-tree-command-"));
after(() => rmSync(folder, { recursive: true }));

interface Run {
  code: number;
  out: string;
  err: string;
}
async function run(...args: string[]): Promise<Run> {
  const output = { out: "", err: "" };
  const io = {
    out: (text: string) => void (output.out += text),
    err: (text: string) => void (output.err += text),
  };
  const code = await runTreeCommand(args, io).catch((error: unknown) => reportFailure(io, error));
  return { code, ...output };
}
let files = 0;
function sessionFile(...lines: string[]): string {
  return writeFile(file(HEADER, ...lines));
}
function writeFile(content: string): string {
  const path = join(folder, `session-${files++}.jsonl`);
  writeFileSync(path, content);
  return path;
}
const printed = (...lines: string[]): string => lines.map((text) => `${text}\n`).join("");

const answer = (id: string, parentId: string, text: string): string =>
  line("message", id, parentId, {
    message: { role: "assistant", content: [{ type: "text", text }], stopReason: "stop", timestamp: 0 },
  });
const forked = [
  message("u1", null),
  answer("a1", "u1", "an answer"),
  message("u2", "a1"),
  message("u3", "a1"),
  line("label", "l1", "u3", { targetId: "u3", label: "good" }),
];

test("[U1] bough tree draws the tree, the active branch first", async () => {
  const path = sessionFile(...forked);
  assert.deepEqual(await run(path), {
    code: 0,
    out: printed("  • user: u1", "  • assistant: an answer", "› ├─ • [good] user: u3", "  └─ user: u2"),
    err: "",
  });
});

test("[U1, L1] the leaf a journal record names is where the tree stands", async () => {
  const path = sessionFile(...forked, leafRecord("r1", "u2"));
  assert.equal(
    (await run(path)).out,
    printed("  • user: u1", "  • assistant: an answer", "› ├─ • user: u2", "  └─ [good] user: u3"),
  );
});

test("[U1] bough tree --filter and --search narrow the rows", async () => {
  const path = sessionFile(...forked);
  assert.equal((await run(path, "--filter", "labeled-only")).out, printed("› • [good] user: u3"));
  assert.equal((await run("--filter=all", "--search", "LABEL good", path)).out, printed("  • [label: good]"));
  assert.deepEqual(await run(path, "--search", "zzz"), { code: 0, out: 'No entries match search "zzz"\n', err: "" });
  assert.deepEqual(await run(path, "--search", "zzz", "--json"), { code: 0, out: "", err: "" });
  assert.equal((await run(sessionFile())).out, "No entries found\n");
});

test("[U5] bough tree --plain numbers the lines for reading aloud", async () => {
  assert.equal(
    (await run(sessionFile(...forked), "--plain")).out,
    printed(
      "1. user: u1 (active)",
      "2. assistant: an answer (active)",
      "3. user: u3 (branch 1 of 2, label good, current)",
      "4. user: u2 (after 2, branch 2 of 2)",
    ),
  );
});

test("[U1] bough tree --json prints an object per row", async () => {
  const { out } = await run(sessionFile(...forked), "--json");
  const rows = out
    .trimEnd()
    .split("\n")
    .map((text): unknown => JSON.parse(text));
  assert.equal(rows.length, 4);
  assert.deepEqual(rows.slice(1, 3), [
    {
      row: 2,
      after: 1,
      branch: 1,
      branches: 1,
      indent: 0,
      id: "a1",
      parentId: "u1",
      type: "message",
      role: "assistant",
      active: true,
      current: false,
      text: "assistant: an answer",
    },
    {
      row: 3,
      after: 2,
      branch: 1,
      branches: 2,
      indent: 1,
      id: "u3",
      parentId: "a1",
      type: "message",
      role: "user",
      active: true,
      current: true,
      label: "good",
      text: "user: u3",
    },
  ]);
});

test("[U1] paths in the home folder begin with ~", async () => {
  const path = sessionFile(
    line("message", "a1", null, {
      message: {
        role: "assistant",
        content: [{ type: "toolCall", id: "c1", name: "read", arguments: { path: join(homedir(), "notes.md") } }],
        stopReason: "toolUse",
      },
    }),
    line("message", "t1", "a1", { message: { role: "toolResult", toolCallId: "c1", toolName: "read", content: [] } }),
  );
  assert.equal((await run(path)).out, printed("› • [read: ~/notes.md]"));
});

test("[F6, U1] what is wrong with the file goes to standard error with its line, and the tree is printed", async () => {
  const path = sessionFile(message("u1", null), "{broken", message("u2", "gone"));
  assert.deepEqual(await run(path), {
    code: 0,
    out: printed("› • (missing parent) user: u2", "  user: u1"),
    err: printed(
      `${path}:3: Line 3 is not valid JSON and is left out.`,
      `${path}:4: Entry u2 follows gone, which is not in the file, and starts a branch of its own.`,
    ),
  });
});

test("[F7] a file that is no session: one sentence with its path, exit code 1", async () => {
  const absent = join(folder, "absent.jsonl");
  const text = writeFile("just text\n");
  const empty = writeFile("");
  for (const path of [absent, text, empty, folder]) {
    const { code, out, err } = await run(path);
    assert.deepEqual([code, out], [1, ""]);
    assert.match(err, /^[^\n]+\.\n$/);
    assert.ok(err.includes(path), err);
  }
});

test("[F7] bough tree changes no byte of the file, old versions included", async () => {
  const path = join(folder, "old.jsonl");
  writeSessionFile(path, { shape: "linear", entries: 20, version: 1 });
  const before = readFileSync(path);
  const { mtimeMs } = statSync(path);
  const { code, out } = await run(path, "--filter", "all");
  assert.equal(code, 0);
  assert.equal(out.trimEnd().split("\n").length, 20);
  assert.deepEqual(readFileSync(path), before);
  assert.equal(statSync(path).mtimeMs, mtimeMs);
});

test("[U5] dB67 nothing in a file drives the terminal", async () => {
  const hostile = "\u001b]0;owned\u0007\u001b[2J\u009b6n\u202e\u2066\u{e0041}";
  const path = sessionFile(
    line("message", `u1${hostile}`, null, { message: { role: "user", content: hostile } }),
    line("label", "l1", `u1${hostile}`, { targetId: `u1${hostile}`, label: hostile }),
    line(`kind${hostile}`, "k1", "l1"),
    message("u2", `gone${hostile}`),
  );
  const outputs = await Promise.all([run(path), run(path, "--plain"), run(path, "--json", "--filter", "all")]);
  for (const { code, out, err } of outputs) {
    assert.equal(code, 0);
    assert.doesNotMatch(out + err, /[^\P{Cc}\n]|\p{Cf}/u);
  }
  const first = outputs[2].out.split("\n").map((text) => text && (JSON.parse(text) as { id: string }).id);
  assert.ok(first.includes(`u1${hostile}`), "ids survive as they are");
});

test("[U1] bough tree explains itself and says what is wrong with its arguments", async () => {
  assert.deepEqual(await run("--help"), { code: 0, out: TREE_HELP, err: "" });
  assert.deepEqual(await run(), { code: 2, out: "", err: "bough: Name one session file: bough tree FILE.\n" });
  assert.deepEqual(await run("a", "b"), { code: 2, out: "", err: "bough: Name one session file: bough tree FILE.\n" });
  assert.deepEqual(await run("a", "--filter", "tools"), {
    code: 2,
    out: "",
    err: 'bough: There is no filter "tools"; choose one of default, no-tools, user-only, labeled-only, all.\n',
  });
  assert.deepEqual(await run("a", "--json", "--plain"), {
    code: 2,
    out: "",
    err: "bough: Use one of --json and --plain, not both together.\n",
  });
  assert.deepEqual(await run("a", "--colour"), {
    code: 2,
    out: "",
    err: "bough: Unknown option '--colour'. See bough tree --help.\n",
  });
});

test("[T5, U1] dB23 a chain of 100,000 entries prints a line each, without indent", async () => {
  const path = join(folder, "long.jsonl");
  writeSessionFile(path, { shape: "linear", entries: 100_000, textLength: 10 });
  const { code, out, err } = await run(path, "--filter", "all");
  assert.deepEqual([code, err], [0, ""]);
  const lines = out.trimEnd().split("\n");
  assert.equal(lines.length, 100_000);
  assert.equal(
    lines.findIndex((text) => !/^[› ] • \S/.test(text)),
    -1,
  );
});
