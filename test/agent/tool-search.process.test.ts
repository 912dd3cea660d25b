/**
 * grep, find and ls on real files with the real ripgrep.
 */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { findTool } from "../../src/agent/tools/find.ts";
import { grepTool } from "../../src/agent/tools/grep.ts";
import { lsTool } from "../../src/agent/tools/ls.ts";
import { temporaryFolder } from "../support/session-files.ts";
import { callTool } from "../support/tool-call.ts";

function setUp(files: Record<string, string | Uint8Array>) {
  const cwd = fs.realpathSync(temporaryFolder());
  for (const [name, content] of Object.entries(files)) {
    fs.mkdirSync(dirname(join(cwd, name)), { recursive: true });
    fs.writeFileSync(join(cwd, name), content);
  }
  const said = async (tool: Parameters<typeof callTool>[0], args: object) => (await callTool(tool, args)).text;
  return {
    cwd,
    grep: (args: object) => said(grepTool(cwd), args),
    find: (args: object) => said(findTool(cwd), args),
    ls: (args: object = {}) => said(lsTool(cwd), args),
  };
}

const PROJECT = {
  ".git/config": "needle in git\n",
  ".github/ci.yml": "needle: hidden\n",
  ".gitignore": "*.log\nnode_modules/\n",
  "debug.log": "needle ignored\n",
  "node_modules/m/index.ts": "needle ignored\n",
  "src/a.ts": "one\nneedle two\nthree\nfour\nfive\nneedle six\n",
  "src/b-2-b.js": "Needle\r\nneedle\r\n",
  "README.md": "nothing (here)\n",
};

test("[A6] grep shows path, line and text of matches, not of what .gitignore names", async () => {
  const { cwd, grep } = setUp(PROJECT);
  const all = ".github/ci.yml:1:needle: hidden\nsrc/a.ts:2:needle two\nsrc/a.ts:6:needle six\nsrc/b-2-b.js:2:needle";
  assert.equal(await grep({ pattern: "needle" }), all);
  assert.equal(await grep({ pattern: "needle", path: cwd }), all);
  assert.equal(await grep({ pattern: "needle", path: "src", glob: "*.js" }), "src/b-2-b.js:2:needle");
  assert.equal(
    await grep({ pattern: "needle", glob: "src/**/*.{ts,tsx}" }),
    "src/a.ts:2:needle two\nsrc/a.ts:6:needle six",
  );
  assert.equal(await grep({ pattern: "^NEEDLE$", ignoreCase: true }), "src/b-2-b.js:1:Needle\nsrc/b-2-b.js:2:needle");
  assert.equal(await grep({ pattern: "needle", path: ".git/config" }), ".git/config:1:needle in git");
  assert.equal(await grep({ pattern: "two", path: "src/a.ts", glob: "*.ts" }), "src/a.ts:2:needle two");
  assert.equal(await grep({ pattern: "(here)", literal: true }), "README.md:1:nothing (here)");
  assert.equal(await grep({ pattern: "absent" }), "No matches.");
});

test("[A6] a file that .gitignore names is not found by a glob that fits it, but when it is named itself", async () => {
  const { grep, find } = setUp(PROJECT);
  assert.equal(await grep({ pattern: "needle", glob: "*.log" }), "No matches.");
  assert.equal(await find({ pattern: "*.log" }), "No files found.");
  assert.equal(await find({ pattern: "**/index.ts" }), "No files found.");
  assert.equal(await grep({ pattern: "needle", path: "debug.log" }), "debug.log:1:needle ignored");
});

test("[A6] grep with context marks matches with : and context with -", async () => {
  const { grep } = setUp(PROJECT);
  assert.equal(
    await grep({ pattern: "needle", path: "src/a.ts", context: 1 }),
    "src/a.ts-1-one\nsrc/a.ts:2:needle two\nsrc/a.ts-3-three\n--\nsrc/a.ts-5-five\nsrc/a.ts:6:needle six",
  );
});

test("[A6] patterns may start with a dash and span lines", async () => {
  const { grep } = setUp({ "a.txt": "--flag\nnext\n" });
  assert.equal(await grep({ pattern: "--flag" }), "a.txt:1:--flag");
  assert.equal(await grep({ pattern: "flag\\nnext" }), "a.txt:1:--flag\na.txt:2:next");
  assert.equal(await grep({ pattern: "flag\nnext", literal: true }), "a.txt:1:--flag\na.txt:2:next");
});

test("[A1, A6] grep stops at its limit and says so; long lines are cut", async () => {
  const { cwd, grep } = setUp({ "a.txt": "hit\n".repeat(300), "b.txt": `${"ä".repeat(600)} hit\nx\n` });
  const hits = (count: number) => Array.from({ length: count }, (_, n) => `a.txt:${n + 1}:hit`).join("\n");
  assert.equal(
    await grep({ pattern: "hit" }),
    `${hits(100)}\n\n[Stopped after 100 matches, the limit; there are more: narrow the search.]`,
  );
  assert.equal(
    await grep({ pattern: "hit", limit: 1, context: 0 }),
    `${hits(1)}\n\n[Stopped after 1 match, the limit; there are more: narrow the search.]`,
  );
  assert.equal(await grep({ pattern: "hit", path: "a.txt", limit: 300 }), hits(300));
  assert.equal(await grep({ pattern: "ä hit" }), `b.txt:1:${"ä".repeat(500)}…`);
  const { details } = await callTool(grepTool(cwd), { pattern: "hit", limit: 2 });
  assert.deepEqual(details, { path: cwd, count: 2, truncated: true });
});

test("[A1, A6] grep's result is at most 50 KB", async () => {
  const line = "hit".repeat(150);
  const { grep } = setUp({ "a.txt": `${line}\n`.repeat(1000) });
  const text = await grep({ pattern: "hit", limit: 1000 });
  const shown = text.split("\n\n")[0]!.split("\n");
  assert.equal(
    text.split("\n\n")[1],
    `[Stopped after ${shown.length} matches, as much as fits into 50.0 KB; there are more: narrow the search.]`,
  );
  assert.ok(Buffer.byteLength(shown.join("\n")) <= 51_200 && Buffer.byteLength(shown.join("\n")) > 50_000);
});

test("[A6] errors of a search are plain sentences", async () => {
  const { cwd, grep, find } = setUp(PROJECT);
  assert.equal(
    await grep({ pattern: "(" }),
    'The pattern "(" is not a valid regular expression: unclosed group; set literal to search for it as plain text.',
  );
  assert.equal(await grep({ pattern: "x", path: "srcs" }), "srcs does not exist. Did you mean src?");
  assert.equal(
    await grep({ pattern: "x", glob: "{a" }),
    'The glob "{a" is not valid: a bracket or brace in it is not closed or it is too long.',
  );
  assert.equal(
    await find({ pattern: "x", path: "README.md" }),
    "README.md is a file, not a directory; use read to see it.",
  );
  for (const tool of [grepTool(cwd, "/no/such/rg"), findTool(cwd, "/no/such/rg")]) {
    const { text, isError } = await callTool(tool, { pattern: "x" });
    assert.deepEqual(
      [text, isError],
      [
        "Searching needs ripgrep, which could not be started (there is no such file or folder (ENOENT)); install bough again, or use bash.",
        true,
      ],
    );
  }
});

test("[A6] binary files and names that are not text do not get in the way", async () => {
  const { cwd, grep, find } = setUp({ "a.txt": "needle\n", "b.bin": "needle\0\n", "new\nline.txt": "needle\n" });
  fs.writeFileSync(Buffer.concat([Buffer.from(`${cwd}/`), Buffer.from([0xff, 0x2e, 0x74])]), "needle\n");
  assert.equal(await grep({ pattern: "needle" }), 'a.txt:1:needle\n"new\\nline.txt":1:needle\n\ufffd.t:1:needle');
  assert.equal(await find({ pattern: "*.txt" }), 'a.txt\n"new\\nline.txt"');
});

test("[A6] find shows files and directories, sorted", async () => {
  const { cwd, find } = setUp(PROJECT);
  assert.equal(
    await find({ pattern: "*" }),
    ".github/\n.github/ci.yml\n.gitignore\nREADME.md\nsrc/\nsrc/a.ts\nsrc/b-2-b.js",
  );
  assert.equal(await find({ pattern: "*.ts" }), "src/a.ts");
  assert.equal(await find({ pattern: "src/*" }), "src/a.ts\nsrc/b-2-b.js");
  assert.equal(await find({ pattern: "*.js", path: "src" }), "src/b-2-b.js");
  assert.equal(await find({ pattern: "a.ts", path: `${cwd}/src/` }), "src/a.ts");
  assert.equal(await find({ pattern: "absent" }), "No files found.");
});

test("[A6] outside of the working directory paths are absolute", async () => {
  const { cwd } = setUp(PROJECT);
  const { find, grep } = setUp({});
  assert.equal(await find({ pattern: "a.ts", path: cwd }), join(cwd, "src/a.ts"));
  assert.equal(await grep({ pattern: "two", path: cwd }), `${join(cwd, "src/a.ts")}:2:needle two`);
});

test("[A1, A6] find stops at its limit and says so", async () => {
  const { find } = setUp(
    Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`f${String(n).padStart(2, "0")}`, ""])),
  );
  assert.equal(
    await find({ pattern: "f*", limit: 2 }),
    "f00\nf01\n\n[Stopped after 2 paths; there are more: narrow the pattern.]",
  );
  assert.equal((await find({ pattern: "f*", limit: 12 })).split("\n").length, 12);
});

test("[A6] an aborted search ends ripgrep and says so", async () => {
  const { cwd } = setUp({});
  const program = join(cwd, "slow-rg");
  // Stands for a ripgrep that searches for long: it prints its id and waits.
  fs.writeFileSync(program, `#!/bin/sh\necho $$ > ${cwd}/pid.new; mv ${cwd}/pid.new ${cwd}/pid\nexec sleep 60\n`, {
    mode: 0o755,
  });
  const controller = new AbortController();
  const call = grepTool(cwd, program).execute("1", { pattern: "x" }, controller.signal);
  while (!fs.existsSync(join(cwd, "pid"))) await new Promise((resolve) => setTimeout(resolve, 10));
  controller.abort();
  await assert.rejects(call, { message: "The call was aborted." });
  const pid = Number(fs.readFileSync(join(cwd, "pid"), "utf8"));
  assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
  await assert.rejects(findTool(cwd).execute("1", { pattern: "x" }, AbortSignal.abort()), {
    message: "The call was aborted.",
  });
});

test("[A7] ls shows everything, directories with a slash, links with their target", async () => {
  const { cwd, ls } = setUp(PROJECT);
  fs.symlinkSync("src", join(cwd, "Link"));
  fs.symlinkSync("nowhere", join(cwd, "lost"));
  assert.equal(
    await ls(),
    ".git/\n.github/\n.gitignore\ndebug.log\nLink/ -> src\nlost -> nowhere\nnode_modules/\nREADME.md\nsrc/",
  );
  assert.equal(await ls({ path: "src" }), "a.ts\nb-2-b.js");
  assert.equal(await ls({ path: "Link" }), "a.ts\nb-2-b.js");
  fs.mkdirSync(join(cwd, "empty"));
  assert.equal(await ls({ path: "empty" }), "(empty directory)");
  assert.equal(await ls({ path: "README.md" }), "README.md is a file, not a directory; use read to see it.");
  assert.equal(await ls({ path: "lost" }), "lost is a link to nowhere, which does not exist.");
  assert.equal(await ls({ path: "SRC" }), "SRC does not exist. Did you mean src?");
});

test("[A1, A7] ls stops at its limit and says so", async () => {
  const { cwd, ls } = setUp(
    Object.fromEntries(Array.from({ length: 600 }, (_, n) => [`f${String(n).padStart(3, "0")}`, ""])),
  );
  const names = (count: number) => Array.from({ length: count }, (_, n) => `f${String(n).padStart(3, "0")}`).join("\n");
  assert.equal(
    await ls(),
    `${names(500)}\n\n[500 of 600 entries shown; set limit (at most 2000), or use find with a pattern.]`,
  );
  assert.equal(await ls({ limit: 600 }), names(600));
  assert.deepEqual((await callTool(lsTool(cwd), { limit: 1 })).details, { path: cwd, count: 1, truncated: true });
});
