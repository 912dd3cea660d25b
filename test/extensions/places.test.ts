import assert from "node:assert/strict";
import { join, relative } from "node:path";
import { test } from "node:test";
import { projectTrust } from "../../src/agent/trust.ts";
import { findExtensions } from "../../src/extensions/places.ts";
import type { PlacesOptions } from "../../src/extensions/places.ts";
import { writeFiles } from "../support/extension-harness.ts";
import { temporaryFolder } from "../support/session-files.ts";

const FILES = {
  "project/.bough/extensions/b.ts": "",
  "project/.bough/extensions/a.js": "",
  "project/.bough/extensions/types.d.ts": "",
  "project/.bough/extensions/notes.md": "",
  "project/.bough/extensions/deep/inner/too-deep.ts": "",
  "project/.bough/extensions/indexed/index.ts": "",
  "project/.bough/extensions/listed/package.json": '{"pi":{"extensions":["./src/one.ts","./gone.ts"]}}',
  "project/.bough/extensions/listed/src/one.ts": "",
  "project/.bough/extensions/listed/index.ts": "",
  "state/extensions/u.mts": "",
  "state/extensions/broken/package.json": "{oops",
  "state/extensions/broken/index.js": "",
  "state/named.ts": "",
  "state/more/x.ts": "",
  "state/packages/node_modules/@me/pack/package.json":
    '{"bough":{"extensions":["./ext"]},"pi":{"extensions":["./pi.ts"]}}',
  "state/packages/node_modules/@me/pack/ext/p.ts": "",
  "state/packages/node_modules/@me/pack/pi.ts": "",
  "state/packages/node_modules/plain/extensions/q.ts": "",
  "state/packages/node_modules/empty/readme.md": "",
  "cwd/mine.ts": "",
};

function find(options: Partial<PlacesOptions> & { trusted?: boolean } = {}) {
  const { trusted = true, ...rest } = options;
  const root = temporaryFolder();
  writeFiles(root, FILES);
  const project = projectTrust(join(root, "project"), { stateDir: join(root, "state"), trustThisRun: trusted });
  const { places, problems } = findExtensions({
    cwd: join(root, "cwd"),
    stateDir: join(root, "state"),
    project,
    ...rest,
  });
  return {
    places: places.map(({ path, source }) => [relative(root, path), source.source, source.scope, source.origin]),
    problems: problems.map((problem) => problem.replaceAll(`${root}/`, "")),
  };
}

test("[X1] extensions are found in the project, the state folder, the settings, packages and -e, one level deep", () => {
  const { places, problems } = find({
    extensions: ["named.ts", "more", "gone.ts"],
    packages: ["npm:@me/pack@1.2.0", "plain", "empty", "absent"],
    paths: ["mine.ts", "../state/named.ts", "nothing.ts"],
  });
  assert.deepEqual(places, [
    ["project/.bough/extensions/a.js", "project", "project", "top-level"],
    ["project/.bough/extensions/b.ts", "project", "project", "top-level"],
    ["project/.bough/extensions/indexed/index.ts", "project", "project", "top-level"],
    ["project/.bough/extensions/listed/src/one.ts", "project", "project", "top-level"],
    ["state/extensions/broken/index.js", "user", "user", "top-level"],
    ["state/extensions/u.mts", "user", "user", "top-level"],
    ["state/named.ts", "named.ts", "user", "top-level"],
    ["state/more/x.ts", "more", "user", "top-level"],
    ["state/packages/node_modules/@me/pack/ext/p.ts", "npm:@me/pack@1.2.0", "user", "package"],
    ["state/packages/node_modules/plain/extensions/q.ts", "plain", "user", "package"],
    ["cwd/mine.ts", "mine.ts", "temporary", "top-level"],
  ]);
  const [listed, broken, ...others] = problems;
  assert.equal(
    listed,
    "project/.bough/extensions/listed/package.json lists the extension ./gone.ts, which does not exist.",
  );
  assert.match(broken!, /^state\/extensions\/broken\/package\.json cannot be used: /);
  assert.deepEqual(others, [
    "The extension gone.ts is not there: state/gone.ts does not exist.",
    "The package state/packages/node_modules/empty has no extensions: its package.json lists none, and there is no extensions folder.",
    'The package absent is not there: state/packages/node_modules/absent does not exist; install it, or take it out of "packages" in settings.json.',
    "The extension nothing.ts is not there: cwd/nothing.ts does not exist.",
  ]);
});

test("[X5] nothing of a project counts until it is trusted; --no-extensions leaves what -e names", () => {
  assert.deepEqual(
    find({ trusted: false }).places.map(([path]) => path),
    ["state/extensions/broken/index.js", "state/extensions/u.mts"],
  );
  const only = find({ onlyPaths: true, extensions: ["named.ts"], packages: ["plain"], paths: ["mine.ts"] });
  assert.deepEqual(only, { places: [["cwd/mine.ts", "mine.ts", "temporary", "top-level"]], problems: [] });
});
