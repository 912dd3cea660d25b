import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { projectTrust } from "../../src/agent/trust.ts";
import type { ProjectTrust } from "../../src/agent/trust.ts";
import { ExtensionModules } from "../../src/extensions/typescript-loading.ts";
import { moduleUrl, writeFiles } from "../support/extension-harness.ts";
import { temporaryFolder } from "../support/session-files.ts";

function setUp(t: TestContext, files: Record<string, string>, names: Record<string, string> = {}) {
  const folder = temporaryFolder();
  writeFiles(folder, files);
  const modules = new ExtensionModules(new Map(Object.entries(names)));
  t.after(() => modules.dispose());
  const warnings: string[] = [];
  const warned = (warning: Error): number => warnings.push(warning.message);
  process.on("warning", warned);
  t.after(() => process.off("warning", warned));
  const load = async (name: string, project?: ProjectTrust): Promise<unknown> =>
    (await modules.import(join(folder, name), project))["default"];
  return { folder, modules, load, warnings };
}

test("[X4] TypeScript as extensions write it: types alone, enums, parameter properties, .js that is .ts, no ending", async (t) => {
  const { load, warnings } = setUp(
    t,
    {
      "a.ts": `import { Api, Shout } from "@earendil-works/pi-coding-agent";
      import type { Shape } from "./shapes.js";
      import { Only, type Other } from "./shapes-alone.js";
      import low from "./inner/low.js";
      import high from "./inner";
      import data from "./inner/data.json" with { type: "json" };
      // Only and Api are types.
      enum Colour { Red = 3 }
      class Box { constructor(readonly size: number) {} }
      const shape: Shape | Only | Other | Api = 1 as never;
      export default [Shout, low, high, data.x, Colour.Red, new Box(4).size, shape, typeof __dirname, require("node:path").sep];`,
      "shapes.ts": "export type Shape = number;",
      "inner/low.ts": 'import { deep } from "./deep.js"; const text: string = deep; export default text;',
      "inner/deep.ts": 'export const deep = "deep" as const;',
      "inner/index.ts": 'export default "index";',
      "inner/data.json": '{"x":5}',
    },
    { "@earendil-works/pi-coding-agent": moduleUrl('export const Shout = "HEY";') },
  );
  assert.deepEqual(await load("a.ts"), ["HEY", "deep", "index", 5, 3, 4, 1, "string", "/"]);
  await new Promise(setImmediate);
  assert.deepEqual(warnings, []);
});

test("[X4] modules of the older kind, TypeScript inside node_modules, names in dependencies", async (t) => {
  const { load } = setUp(
    t,
    {
      "a.js":
        'const other = require("./other"); module.exports = () => [other, require("dep"), __filename.endsWith("a.js")];',
      "other.cjs": "module.exports = 7;",
      "b.ts": 'import { value } from "typed"; import whole, { dep } from "dep"; export default [value, dep, whole];',
      "node_modules/dep/package.json": '{"name":"dep","main":"main.js"}',
      "node_modules/dep/main.js": "exports.dep = true;",
      "node_modules/typed/package.json": '{"name":"typed","type":"module","exports":"./index.ts"}',
      "node_modules/typed/index.ts":
        'import { host } from "the-host"; enum One { A = 1 } export const value: unknown[] = [One.A, host];',
    },
    { "the-host": moduleUrl("export const host = 'host';") },
  );
  assert.deepEqual(((await load("a.js")) as () => unknown)(), [7, { dep: true }, true]);
  assert.deepEqual(await load("b.ts"), [[1, "host"], true, { dep: true }]);
});

test("[X4] every load reads all files anew; errors name the file", async (t) => {
  const { folder, load, modules } = setUp(t, {
    "a.ts": 'import { b } from "./b.ts"; export default b;',
    "b.ts": "export const b: number = 1;",
    "c.cjs": 'module.exports = require("./d.cjs");',
    "d.cjs": "module.exports = 1;",
    "broken.ts": "const = 1;",
    "enum-broken.ts": "enum { }",
    "lost.ts": 'import "./nowhere.ts";',
  });
  assert.equal(await load("a.ts"), 1);
  writeFileSync(join(folder, "b.ts"), "export const b: number = 2;");
  assert.equal(await load("c.cjs"), 1);
  writeFileSync(join(folder, "d.cjs"), "module.exports = 2;");
  modules.forget();
  assert.deepEqual([await load("a.ts"), await load("c.cjs")], [2, 2]);
  const failure = async (name: string): Promise<string> => load(name).then(String, (error: Error) => error.message);
  assert.match(await failure("broken.ts"), /^\S+broken\.ts: /);
  assert.match(await failure("enum-broken.ts"), /^\S+enum-broken\.ts: /);
  assert.match(await failure("lost.ts"), /nowhere\.ts/);
});

test("[X4] what is no extension's import is left alone", async (t) => {
  const { folder, load } = setUp(
    t,
    { "a.ts": "export default 1;", "own.mjs": 'export * from "the-host";' },
    {
      "the-host": moduleUrl("export const host = 1;"),
    },
  );
  assert.equal(await load("a.ts"), 1);
  await assert.rejects(import(join(folder, "own.mjs")), { code: "ERR_MODULE_NOT_FOUND" });
});

test("[X5] of a project only the bytes that were trusted are loaded, and none beside its folder", async (t) => {
  const { folder, load, modules } = setUp(t, {
    ".bough/extensions/a.ts": 'import { b } from "./b.js"; import c from "./c.cjs"; export default [b, c];',
    ".bough/extensions/b.ts": "export const b = 1;",
    ".bough/extensions/c.cjs": 'module.exports = require("./d.cjs");',
    ".bough/extensions/d.cjs": "module.exports = 2;",
    ".bough/extensions/out.cjs": 'module.exports = () => undefined; require("../../secret.cjs");',
    "secret.cjs": "",
    ".bough/extensions/out.ts": 'import "../../secret.ts"; export default 1;',
    ".bough/extensions/package.ts": 'import "dep"; export default 1;',
    ".bough/extensions/late.ts": 'export default import("./new.ts");',
    "secret.ts": "export default 1;",
    "node_modules/dep/package.json": '{"name":"dep","main":"main.js"}',
    "node_modules/dep/main.js": "",
  });
  const trust = (trustThisRun: boolean): ProjectTrust =>
    projectTrust(folder, { stateDir: temporaryFolder(), trustThisRun });
  const trusted = trust(true);
  const failure = async (name: string, project: ProjectTrust): Promise<string> =>
    load(`.bough/extensions/${name}`, project).then(JSON.stringify, (error: Error) => error.message);
  const outside = (path: string): string =>
    `${join(folder, path)} lies outside of ${join(folder, ".bough")} and so is not covered by the project's trust; move it there.`;
  const other = (name: string): string =>
    `${join(folder, ".bough/extensions", name)} is not as it was when the project was trusted; start bough again to be asked about it.`;

  assert.equal(await failure("a.ts", trusted), "[1,2]");
  assert.equal(await failure("out.ts", trusted), outside("secret.ts"));
  assert.equal(await failure("out.cjs", trusted), outside("secret.cjs"));
  assert.equal(await failure("package.ts", trusted), outside("node_modules/dep/main.js"));
  assert.equal(
    await failure("a.ts", trust(false)),
    `${join(folder, ".bough/extensions/a.ts")} is not used until the project is trusted.`,
  );
  writeFileSync(join(folder, ".bough/extensions/b.ts"), "export const b = 2;");
  writeFileSync(join(folder, ".bough/extensions/new.ts"), "export const added = 1;");
  assert.equal(await failure("a.ts", trusted), other("b.ts"));
  writeFileSync(join(folder, ".bough/extensions/d.cjs"), "module.exports = 3;");
  modules.forget();
  assert.equal(await failure("c.cjs", trusted), other("d.cjs"));
  assert.equal(await failure("late.ts", trusted), other("new.ts"));
});

test("[X5] a link that leads out of the project's folder is no way around", async (t) => {
  const { folder, load } = setUp(t, { ".bough/extensions/a.ts": 'import "./link/x.ts"; export default 1;' });
  const project = projectTrust(folder, { stateDir: temporaryFolder(), trustThisRun: true });
  mkdirSync(join(folder, "elsewhere"));
  writeFileSync(join(folder, "elsewhere/x.ts"), "export {};");
  symlinkSync("../../elsewhere", join(folder, ".bough/extensions/link"));
  await assert.rejects(load(".bough/extensions/a.ts", project), {
    message: `${join(folder, "elsewhere/x.ts")} lies outside of ${join(folder, ".bough")} and so is not covered by the project's trust; move it there.`,
  });
});
