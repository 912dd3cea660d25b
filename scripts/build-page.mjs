// Bundles the exported page's own script and style: src/export/page/ → dist/export/viewer.js and viewer.css.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Script } from "node:vm";
import { build } from "esbuild";
import { root } from "./source-files.mjs";

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
  metafile: true,
  logLevel: "warning",
});
const outputOf = (end) => result.outputFiles.find(({ path }) => path.endsWith(end)).text.trim();

/** The licences of all packages whose code is in the page, as they ask for it: whole, with every copy. */
function licences() {
  const packages = new Map();
  for (const input of Object.keys(result.metafile.inputs)) {
    const [, name] = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input) ?? [];
    if (name === undefined) continue;
    const where = join(root, "node_modules", name);
    const text = readFileSync(
      join(
        where,
        readdirSync(where).find((each) => /^licen[cs]e/i.test(each)),
      ),
      "utf8",
    ).trim();
    packages.set(text, (packages.get(text) ?? new Set()).add(name));
  }
  return [...packages].map(([text, names]) => `${[...names].join(", ")}:\n\n${text}`).join("\n\n\n");
}
const notice = `/*! bough's page. It holds code of others, under these licences.\n\n${licences().replaceAll("*/", "* /")}\n*/`;
// Inside a <script> these begin states of their own. Minified code has them in strings and patterns alone.
const script = `${notice}\n${outputOf("viewer.js")}`.replace(/<(?=!--|\/?script)/gi, "\\x3C");
new Script(script);
mkdirSync(join(root, "dist/export"), { recursive: true });
writeFileSync(join(root, "dist/export/viewer.js"), script);
writeFileSync(join(root, "dist/export/viewer.css"), outputOf("viewer-style.css"));
