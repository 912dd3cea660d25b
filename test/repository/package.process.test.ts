/** The package as others get it: packed, installed elsewhere, and run on the oldest and the newest Node it supports. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
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

  test(`[G3] the packed engine's examples run on Node ${version}`, () => {
    // Without an argument they take the example session of the package, wherever they are started.
    const example = (name: string): string =>
      execFileSync(node(), [join(folder, "node_modules/bough/examples", name)], {
        cwd: folder,
        encoding: "utf8",
        env: cleanEnvironment(home),
      });
    assert.match(example("walk.mjs"), /is labelled "cause found"/);
    assert.match(example("context.mjs"), /messages up to the fork at 7b7193d6/);
    assert.match(example("outline.mjs"), /3 rows with "deadline"/);
    assert.match(example("own-store.mjs"), /^\d+ laws hold\n1 entry came back\n$/);
  });
}

test("[G1] the package holds no test, no source and no build state", () => {
  const listed = run("npm", ["pack", "--ignore-scripts", "--dry-run", "--json"], root);
  const paths: string[] = JSON.parse(listed)[0].files.map((file: { path: string }) => file.path);
  assert.deepEqual(
    paths.filter(
      (path) =>
        !/^(dist\/.*\.(js|d\.ts)|dist\/export\/viewer\.css|assets\/.*|docs\/(extensions|format|library|mcp|rpc|rules|sdk|settings)\.md|examples\/.*\.mjs|examples\/extensions\/.*\.ts|[^/]+)$/.test(
          path,
        ),
    ),
    [],
  );
});

test("[G1] the package holds every document that its README links to", () => {
  const linked = [...readFileSync(join(root, "README.md"), "utf8").matchAll(/\]\((docs\/[^)#]+)/g)].map(
    ([, path]) => path,
  );
  assert.deepEqual(
    linked.filter((path) => !manifest.files.includes(path)),
    [],
  );
});

test("[G1] setup does nothing, and says nothing, when all is installed", () => {
  const env = { ...process.env, npm_execpath: join(folder, "no-npm.js") };
  const setup = spawnSync(process.execPath, ["scripts/setup.mjs"], { cwd: root, encoding: "utf8", env });
  assert.deepEqual([setup.status, setup.stdout, setup.stderr], [0, "", ""]);
});

test("[G1] setup never installs through a link to another folder", () => {
  const clone = newFolder("clone");
  mkdirSync(join(clone, "scripts"));
  mkdirSync(join(clone, "shared/kept"), { recursive: true });
  for (const name of ["scripts/setup.mjs", "package.json", "package-lock.json"])
    copyFileSync(join(root, name), join(clone, name));
  symlinkSync("shared", join(clone, "node_modules"));
  const setup = spawnSync(process.execPath, ["scripts/setup.mjs"], { cwd: clone, encoding: "utf8" });
  assert.deepEqual(
    [setup.status, setup.stderr],
    [
      1,
      "bough: node_modules is a link to a folder that does not hold what package-lock.json names; " +
        "remove the link, or run npm ci where it leads.\n",
    ],
  );
  assert.ok(existsSync(join(clone, "shared/kept")));
});
