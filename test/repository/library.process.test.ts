/** docs/library.md: its examples are the files of examples/, and they print what it says. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { cleanEnvironment, newFolder } from "../support/program.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const home = newFolder("home");
const node = (...args: string[]): string =>
  execFileSync(process.execPath, args, { cwd: root, encoding: "utf8", env: cleanEnvironment(home) });
const EXAMPLE = /`examples\/(.+?\.mjs)`:\n\n```js\n(.*?)```\n\nIt prints:\n\n```text\n(.*?)```\n/gs;

const names = readdirSync(join(root, "examples")).filter((name) => name.endsWith(".mjs"));
const shown = new Map(
  [...readFileSync(join(root, "docs/library.md"), "utf8").matchAll(EXAMPLE)].map(([, name = "", code, output]) => [
    name,
    { code, output },
  ]),
);

before(() => {
  if (!existsSync(join(root, "dist/session/index.js"))) node("scripts/build.mjs");
});

test("[G3] docs/library.md shows every example and no other", () => {
  assert.deepEqual([...shown.keys()].sort(), names.sort());
});

for (const name of names)
  test(`[G3] examples/${name} is quoted word for word and prints what docs/library.md says`, () => {
    const code = readFileSync(join(root, "examples", name), "utf8");
    assert.deepEqual({ code, output: node(join("examples", name)) }, shown.get(name));
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
