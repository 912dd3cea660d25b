// Bundles the exported page's own script and style: src/export/page/ → dist/export/viewer.js and viewer.css.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Script } from "node:vm";
import { build } from "esbuild";
import { root } from "./source-files.mjs";

/** What exported pages carry of others, as their licences ask to be told. */
const BANNER =
  "/*! bough's page. In it: lit (Copyright 2017 Google LLC, BSD-3-Clause), marked (Copyright 2018+ MarkedJS, " +
  "2011-2018 Christopher Jeffrey, MIT), highlight.js (Copyright 2006 Ivan Sagalaev, BSD-3-Clause). */";

const folder = join(root, "src/export/page");
const result = await build({
  absWorkingDir: root,
  entryPoints: { viewer: join(folder, "main.ts"), "viewer-style": join(folder, "page.css") },
  outdir: join(root, "dist/export"),
  write: false,
  bundle: true,
  minify: true,
  format: "iife",
  target: ["chrome123", "firefox120", "safari17.5"],
  charset: "ascii",
  legalComments: "none",
  logLevel: "warning",
});
const outputOf = (end) => result.outputFiles.find(({ path }) => path.endsWith(end)).text.trim();
// Inside a <script> these begin states of their own. Minified code has them in strings and patterns alone.
const script = `${BANNER}\n${outputOf("viewer.js").replace(/<(?=!--|\/?script)/gi, "\\x3C")}`;
new Script(script);
mkdirSync(join(root, "dist/export"), { recursive: true });
writeFileSync(join(root, "dist/export/viewer.js"), script);
writeFileSync(join(root, "dist/export/viewer.css"), outputOf("viewer-style.css"));
