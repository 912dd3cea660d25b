/**
 * AGENTS.md and CLAUDE.md: which ones are loaded, in which order, and what is refused.
 */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { loadContextFiles } from "../../src/agent/context-files.ts";
import { temporaryFolder } from "../support/session-files.ts";

/** A home folder with these files. */
function setUp(files: Record<string, string>) {
  const home = fs.realpathSync(temporaryFolder());
  for (const [name, content] of Object.entries(files)) {
    fs.mkdirSync(dirname(join(home, name)), { recursive: true });
    fs.writeFileSync(join(home, name), content);
  }
  const load = (cwd: string) => loadContextFiles({ cwd: join(home, cwd), stateDir: join(home, ".bough"), home });
  const loaded = (cwd: string) => load(cwd).files.map(({ path, text }) => [path.slice(home.length + 1), text]);
  return { home, load, loaded };
}

test("[A8] the user's own comes first, then from the root of the repository down; AGENTS.md before CLAUDE.md", () => {
  const { loaded } = setUp({
    ".bough/AGENTS.md": "mine",
    "AGENTS.md": "home, not part of a project",
    "work/AGENTS.md": "above the repository",
    "work/repo/.git/HEAD": "",
    "work/repo/AGENTS.md": "root",
    "work/repo/CLAUDE.md": "not taken",
    "work/repo/a/CLAUDE.md": "a",
    "work/repo/a/b/AGENTS.md": "b",
    "work/repo/other/AGENTS.md": "beside",
  });
  assert.deepEqual(loaded("work/repo/a/b"), [
    [".bough/AGENTS.md", "mine"],
    ["work/repo/AGENTS.md", "root"],
    ["work/repo/a/CLAUDE.md", "a"],
    ["work/repo/a/b/AGENTS.md", "b"],
  ]);
  assert.deepEqual(loaded("work/repo"), [
    [".bough/AGENTS.md", "mine"],
    ["work/repo/AGENTS.md", "root"],
  ]);
});

test("[A8] without a repository the way starts below the home folder, and elsewhere it is the directory alone", () => {
  const { home, loaded } = setUp({ "AGENTS.md": "home", "a/AGENTS.md": "a", "a/b/AGENTS.md": "b" });
  assert.deepEqual(loaded("a/b"), [
    ["a/AGENTS.md", "a"],
    ["a/b/AGENTS.md", "b"],
  ]);
  assert.deepEqual(loaded("."), [["AGENTS.md", "home"]]);
  const elsewhere = loadContextFiles({ cwd: join(home, "a/b"), stateDir: join(home, "none"), home: "/no/home" });
  assert.deepEqual(
    elsewhere.files.map(({ text }) => text),
    ["b"],
  );
});

test("[A8] a file is loaded once, an empty one not at all, a byte order mark is left out", () => {
  const { home, loaded } = setUp({ ".bough/AGENTS.md": "\ufeffmine", "a/AGENTS.md": " \n", "a/b/CLAUDE.md": "b" });
  fs.mkdirSync(join(home, "a/.git"));
  fs.symlinkSync("CLAUDE.md", join(home, "a/b/AGENTS.md"));
  assert.deepEqual(loaded("a/b"), [
    [".bough/AGENTS.md", "mine"],
    ["a/b/AGENTS.md", "b"],
  ]);
  assert.deepEqual(loaded(".bough"), [[".bough/AGENTS.md", "mine"]]);
});

test("[A8, X5] a link that leads out of the project is not read; the user's own may be one", () => {
  const { home, load } = setUp({
    "secret.txt": "password",
    "notes.md": "mine",
    "repo/.git/HEAD": "",
    "repo/sub/CLAUDE.md": "sub",
  });
  fs.mkdirSync(join(home, ".bough"));
  fs.symlinkSync("../notes.md", join(home, ".bough/AGENTS.md"));
  fs.symlinkSync("../secret.txt", join(home, "repo/AGENTS.md"));
  assert.deepEqual(load("repo/sub"), {
    files: [
      { path: join(home, ".bough/AGENTS.md"), text: "mine" },
      { path: join(home, "repo/sub/CLAUDE.md"), text: "sub" },
    ],
    problems: [`${join(home, "repo/AGENTS.md")} was not loaded: it is a link that leads out of the project.`],
  });
});

test("[A8] what cannot be read or is too large is reported, and the next name is tried", () => {
  const { home, load } = setUp({ "a/CLAUDE.md": "instead", "b/AGENTS.md": "x".repeat(64 * 1024 + 1) });
  fs.mkdirSync(join(home, "a/AGENTS.md"));
  assert.deepEqual(load("a"), {
    files: [{ path: join(home, "a/CLAUDE.md"), text: "instead" }],
    problems: [`${join(home, "a/AGENTS.md")} was not loaded: it is not a regular file.`],
  });
  assert.deepEqual(load("b"), {
    files: [],
    problems: [`${join(home, "b/AGENTS.md")} was not loaded: it has 64.0 KB, more than 64.0 KB.`],
  });
});

test("[A8] all together have a limit: the most special files stay", () => {
  const text = "x".repeat(60 * 1024);
  const { home, load } = setUp({ "a/AGENTS.md": text, "a/b/AGENTS.md": text, "a/b/c/AGENTS.md": text });
  const { files, problems } = load("a/b/c");
  assert.deepEqual(
    files.map(({ path }) => path),
    [join(home, "a/b/AGENTS.md"), join(home, "a/b/c/AGENTS.md")],
  );
  assert.deepEqual(problems, [
    `${join(home, "a/AGENTS.md")} was not loaded: all of them together have more than 128.0 KB.`,
  ]);
});
