/**
 * The write tool on real files.
 */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { writeTool } from "../../src/agent/tools/write.ts";
import { temporaryFolder } from "../support/session-files.ts";
import { callTool } from "../support/tool-call.ts";

function setUp() {
  const cwd = temporaryFolder();
  const tool = writeTool(cwd);
  return { cwd, write: (path: string, content: string) => callTool(tool, { path, content }) };
}

test("[A4] a new file comes with its folders and the mode the umask leaves", async () => {
  const { cwd, write } = setUp();
  const outcome = await write("src/deep/a.ts", "one\ntwo\n");
  const path = join(cwd, "src/deep/a.ts");
  assert.deepEqual(
    [outcome.text, outcome.isError, outcome.details],
    ["Created src/deep/a.ts (2 lines).", false, { path, created: true }],
  );
  assert.equal(fs.readFileSync(path, "utf8"), "one\ntwo\n");
  assert.equal(fs.statSync(path).mode & 0o777, 0o666 & ~process.umask());
  assert.deepEqual(fs.readdirSync(join(cwd, "src/deep")), ["a.ts"]);
});

test("[A4] overwriting keeps the mode, replaces the file in one step, and gives the diff", async () => {
  const { cwd, write } = setUp();
  const path = join(cwd, "run.sh");
  fs.writeFileSync(path, "one\ntwo\nthree\n");
  fs.chmodSync(path, 0o751);
  const before = fs.statSync(path);
  const { text, details } = await write("run.sh", "one\n2\nthree\nfour");
  assert.equal(text, "Overwrote run.sh (4 lines, 3 before).");
  assert.deepEqual(details, {
    path,
    created: false,
    diff: [
      "--- run.sh",
      "+++ run.sh",
      "@@ -1,3 +1,4 @@",
      " one",
      "-two",
      "+2",
      " three",
      "+four",
      "\\ No newline at end of file",
      "",
    ].join("\n"),
    firstChangedLine: 2,
  });
  const after = fs.statSync(path);
  assert.equal(after.mode & 0o7777, 0o751);
  assert.notEqual(after.ino, before.ino);
  assert.deepEqual(fs.readdirSync(cwd), ["run.sh"]);
});

test("[A4] a link stays a link: its target is written, also a missing one", async () => {
  const { cwd, write } = setUp();
  fs.mkdirSync(join(cwd, "real"));
  fs.writeFileSync(join(cwd, "real/a.txt"), "old");
  fs.symlinkSync("real/a.txt", join(cwd, "a"));
  fs.symlinkSync("real/b.txt", join(cwd, "b"));
  await write("a", "new a");
  await write("b", "new b");
  assert.deepEqual([fs.readlinkSync(join(cwd, "a")), fs.readlinkSync(join(cwd, "b"))], ["real/a.txt", "real/b.txt"]);
  assert.deepEqual(
    ["real/a.txt", "real/b.txt"].map((path) => fs.readFileSync(join(cwd, path), "utf8")),
    ["new a", "new b"],
  );
});

test("[A4] the same content again, a binary file, and lost CRLF are said", async () => {
  const { cwd, write } = setUp();
  fs.writeFileSync(join(cwd, "a"), "same\n");
  fs.writeFileSync(join(cwd, "b"), "\0binary");
  fs.writeFileSync(join(cwd, "c"), "one\r\n");
  assert.equal((await write("a", "same\n")).text, "a has that content already (1 line).");
  const binary = await write("b", "text");
  assert.deepEqual([binary.text, binary.details], ["Overwrote b (1 line).", { path: join(cwd, "b"), created: false }]);
  assert.equal(
    (await write("c", "one\n")).text,
    "Overwrote c (1 line, 1 before). Its lines ended in CRLF before, now in LF.",
  );
  assert.equal((await write("d", "")).text, "Created d (0 lines).");
});

test("[A4] what cannot be written is refused in one sentence, and nothing is left behind", async () => {
  const { cwd, write } = setUp();
  fs.mkdirSync(join(cwd, "folder"));
  fs.writeFileSync(join(cwd, "file"), "x");
  fs.symlinkSync("circle", join(cwd, "circle"));
  const outcomes = [await write("folder", "x"), await write("file/a", "x"), await write("circle", "x")];
  assert.deepEqual(
    outcomes.map(({ text, isError }) => [text, isError]),
    [
      ["folder is a directory; use ls to see what is in it.", true],
      ["file/a was not written: a part of its path is a file, not a directory.", true],
      ["circle was not written: it is a link that leads nowhere or in a circle (ELOOP).", true],
    ],
  );
  assert.deepEqual(fs.readdirSync(cwd).sort(), ["circle", "file", "folder"]);
});

test("[A4] an aborted write writes nothing", async () => {
  const { cwd } = setUp();
  const call = writeTool(cwd).execute("1", { path: "a", content: "x" }, AbortSignal.abort());
  await assert.rejects(call, { message: "The call was aborted." });
  assert.deepEqual(fs.readdirSync(cwd), []);
});

test("[A1, A4] the diff of a rewrite of a large file is bounded", async () => {
  const { cwd, write } = setUp();
  const long = (mark: string) => Array.from({ length: 900 }, (_, n) => `${mark} ${n} ${"x".repeat(100)}\n`).join("");
  fs.writeFileSync(join(cwd, "a"), long("old"));
  const { diff } = (await write("a", long("new"))).details as { diff: string };
  assert.ok(Buffer.byteLength(diff) <= 128 * 1024 + 100);
  assert.match(diff, /\n\\ \d+ more lines left out\n$/);
});
