import assert from "node:assert/strict";
import { test } from "node:test";
import { javaScriptOf } from "../../src/extensions/typescript-source.ts";

test("[X4] imports of which nothing is used are dropped, and every line stays where it was", () => {
  const { format, source } = javaScriptOf(`#!/usr/bin/env node
/* Only, in a comment */
import "./effect.js";
import Default, { Only, used as mine, type T } from "./a.js"; // Only
import * as all from './b.js'
import {
  First,
  Second,
} from "./c.js";
import data from "./d.json" with { type: "json" };
import { wanted } from "./e.js" with { x: "y" };
let x: Only | First | Second | T;
/** Default and Second */
export const text = \`
import { Third } from "kept";
// \${all}
\`;
mine(wanted);
`);
  assert.equal(format, "module");
  assert.equal(
    source,
    `#!/usr/bin/env node
/* Only, in a comment */
import "./effect.js";
import { used as mine } from "./a.js"; // Only
import * as all from './b.js'



;
;
import { wanted } from "./e.js" with { x: "y" };
let x                           ;
/** Default and Second */
export const text = \`
import { Third } from "kept";
// \${all}
\`;
mine(wanted);
`,
  );
});

test("[X4] what is a module and what is of the older kind; the older kind's names in modules", () => {
  assert.deepEqual(javaScriptOf("module.exports = (pi: unknown) => pi;"), {
    format: "commonjs",
    source: "module.exports = (pi         ) => pi;",
  });
  assert.equal(javaScriptOf("exports.default = 1;").format, "commonjs");
  for (const text of ["export default 1;", "1;", "  import x from 'y'; module.exports = x;"])
    assert.equal(javaScriptOf(text).format, "module", text);
  const { source } = javaScriptOf("#!node\nexport const a = [require('x'), b.__dirname];");
  assert.equal(
    source,
    "const require = process.getBuiltinModule('module').createRequire(import.meta.url); //node\nexport const a = [require('x'), b.__dirname];",
  );
  const own =
    "import { createRequire } from 'module'; const require = createRequire(import.meta.url); export default require('x');";
  assert.equal(javaScriptOf(own).source, own);
});

test("[X4] a program that begins with something else keeps its imports", () => {
  const text = "const a = 1;\nimport { b } from './b.js';\n";
  assert.equal(javaScriptOf(text).source, text);
});
