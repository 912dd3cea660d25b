/** The package as others get it: packed, installed elsewhere, and run on the oldest and the newest Node it supports. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { cleanEnvironment, newFolder } from "../support/program.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const folder = newFolder("package");
const home = newFolder("home");
const session = join(root, "assets/example-session.jsonl");
const run = (command: string, args: string[], cwd: string): string =>
  execFileSync(command, args, { cwd, encoding: "utf8", env: process.env, stdio: ["ignore", "pipe", "pipe"] });

before(() => {
  if (!existsSync(join(root, "dist/cli/main.js"))) run("node", ["scripts/build.mjs"], root);
  const packed = JSON.parse(run("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], root));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, allowScripts: { node: true } }));
  const install = ["install", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
  run("npm", [...install, join(folder, packed[0].filename)], folder);
  mkdirSync(join(folder, "old"));
  writeFileSync(join(folder, "old/package.json"), JSON.stringify({ private: true, allowScripts: { node: true } }));
  run("npm", [...install, "-E", "node@22.19.0"], join(folder, "old"));
});

const nodes: [string, () => string][] = [
  ["22.19.0", () => join(folder, "old/node_modules/.bin/node")],
  [manifest.devDependencies.node, () => join(root, "node_modules/.bin/node")],
];
for (const [version, node] of nodes) {
  const bough = (...args: string[]): string =>
    execFileSync(node(), [join(folder, "node_modules/bough/dist/cli/main.js"), ...args], {
      cwd: folder,
      encoding: "utf8",
      env: cleanEnvironment(home),
    });

  test(`[G1] the packed bough runs on Node ${version}`, () => {
    assert.equal(run(node(), ["--version"], folder), `v${version}\n`);
    assert.equal(bough("--version"), `${manifest.version}\n`);
    assert.match(bough("tree", session), /cause found/);
  });

  test(`[G1] the packed library imports on Node ${version}`, () => {
    const program =
      'const { SessionManager } = await import("bough"); console.log(SessionManager.inMemory().getEntries())';
    assert.equal(
      execFileSync(node(), ["--input-type=module", "-e", program], { cwd: folder, encoding: "utf8" }),
      "[]\n",
    );
  });
}

test("[G1] the package holds no test, no source and no build state", () => {
  const listed = run("npm", ["pack", "--ignore-scripts", "--dry-run", "--json"], root);
  const paths: string[] = JSON.parse(listed)[0].files.map((file: { path: string }) => file.path);
  assert.deepEqual(
    paths.filter((path) => !/^(dist\/.*\.(js|d\.ts)|assets\/.*|docs\/format\.md|[^/]+)$/.test(path)),
    [],
  );
});

test("[G1] setup does nothing, and says nothing, when all is installed", () => {
  assert.equal(run("node", ["scripts/setup.mjs"], root), "");
});
