/** docs/library.md and docs/sdk.md: their examples are the files of examples/, and they print what is said there. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { cleanEnvironment, newFolder } from "../support/program.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const home = newFolder("home");
const run = (input: string, ...args: string[]): string =>
  execFileSync(process.execPath, args, { cwd: root, encoding: "utf8", env: cleanEnvironment(home), input });
const node = (...args: string[]): string => run("", ...args);
const EXAMPLE = /`examples\/([^`]+\.mjs)`:\n\n```js\n(.*?)```\n\nIt prints:\n\n```text\n(.*?)```\n/gs;

/** Its input is a person's; a test of its own runs it. */
const CLIENT = "rpc-tree.mjs";
const names = readdirSync(join(root, "examples")).filter((name) => name.endsWith(".mjs") && name !== CLIENT);
const documents = ["docs/library.md", "docs/sdk.md"].map((name) => readFileSync(join(root, name), "utf8"));
const shown = new Map(
  documents.flatMap((text) =>
    [...text.matchAll(EXAMPLE)].map(([, name = "", code, output]) => [name, { code, output }] as const),
  ),
);

before(() => {
  if (!existsSync(join(root, "dist/session/index.js"))) node("scripts/build.mjs");
});

test("[G3] the documents show every example and no other", () => {
  assert.deepEqual([...shown.keys()].sort(), names.sort());
});

for (const name of names)
  test(`[G3, R1] examples/${name} is quoted word for word and prints what is said of it`, () => {
    const code = readFileSync(join(root, "examples", name), "utf8");
    assert.deepEqual({ code, output: node(join("examples", name)) }, shown.get(name));
  });

test("[R1] examples/rpc-tree.mjs draws the tree of a session and moves in it, over bough --mode rpc", () => {
  const path = join(newFolder("tree"), "session.jsonl");
  copyFileSync(join(root, "assets/example-session.jsonl"), path);
  const out = run("31\nb\n26\nq\n", join("examples", CLIENT), path);
  const drawn = out.split(/^ {2}1 /m).slice(1);
  assert.equal(drawn.length, 4, "once at first, and after each move");
  const here = drawn.map((text) => /^.*›.*$/m.exec(text)?.[0]);
  assert.deepEqual(here, [
    " 21 › │     │     • [ready to send] assistant: Since this morning the carrier nordpost answers one r",
    " 13 › │     • [cache: dead end] assistant: The cache makes the page fast, but one test fails for a g",
    " 21 › │     │     • [ready to send] assistant: Since this morning the carrier nordpost answers one r",
    "  8 › │     • assistant: A small in-memory cache in front of fetchRate.",
  ]);
});

/** Prints, for each entry point, the rooms and packages it loads, and what of Node is for tests. */
const LOADED = `
  import { registerHooks } from "node:module";
  const root = ${JSON.stringify(new URL("../../", import.meta.url).href)};
  const loaded = new Set();
  registerHooks({
    resolve(name, context, next) {
      const found = next(name, context);
      if (!/^node:(?!assert|test)/.test(found.url)) loaded.add(found.url.replace(root, "").split("/").slice(0, 2).join("/"));
      return found;
    },
  });
  for (const name of ["bough/tree", "bough/session", "bough/session/conformance"]) {
    loaded.clear();
    await import(name);
    console.log(name, "loads", [...loaded].sort().join(", "));
  }
`;

test("[G3] no entry point of the engine loads a package or the agent, and only the kit loads a test library", () => {
  assert.equal(
    node("--input-type=module", "-e", LOADED),
    [
      "bough/tree loads dist/tree",
      "bough/session loads dist/session, dist/tree",
      "bough/session/conformance loads dist/session, dist/tree, node:assert/strict",
      "",
    ].join("\n"),
  );
});
