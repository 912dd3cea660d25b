// The public API as a reviewed text: docs/api.txt must equal what dist/index.d.ts exports. `--write` updates it.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { root } from "./source-files.mjs";

const entry = join(root, "dist/index.d.ts");
if (!existsSync(entry)) {
  console.error("api: dist/index.d.ts is missing; run npm run build");
  process.exit(1);
}

const beside = (file, from) => join(dirname(file), from.replace(/\.(ts|js)$/, ".d.ts"));
const FROM = /export (?:type )?\{([^}]*)\} from "([^"]+)"/g;

/** What a .d.ts file passes on from others: `{name, file}`. */
const passedOn = (file) =>
  [...readFileSync(file, "utf8").matchAll(FROM)].flatMap(([, names, from]) =>
    names
      .split(",")
      .map((name) => name.trim().replace(/^type /, ""))
      .filter(Boolean)
      .map((name) => ({ name, file: beside(file, from) })),
  );

/** The text of one exported declaration in a .d.ts file, or in the file it comes from, without comments. */
function declarationOf(file, name) {
  const text = readFileSync(file, "utf8")
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/^\s*\/\/.*$/gm, "");
  const start = new RegExp(
    `^export (?:declare )?(?:abstract )?(?:class|function|const|interface|type) ${name}\\b`,
    "m",
  ).exec(text);
  if (!start) {
    const all = [...text.matchAll(/export (?:type )?\* from "([^"]+)"/g)].map(([, from]) => beside(file, from));
    const origin = passedOn(file).find((other) => other.name === name)?.file ?? all[0];
    if (origin !== undefined) return declarationOf(origin, name);
    console.error(`api: no declaration of ${name} in ${relative(root, file)}`);
    process.exit(1);
  }
  const rest = text.slice(start.index);
  const end = /\n(?=export )/.exec(rest);
  return rest
    .slice(0, end ? end.index : undefined)
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.includes("private ") && !/^\s*#/.test(line))
    .join("\n");
}

const exports = passedOn(entry);
const snapshot = `${exports
  .sort((a, b) => (a.name < b.name ? -1 : 1))
  .map(({ name, file }) => declarationOf(file, name))
  .join("\n\n")}\n`;

const path = join(root, "docs/api.txt");
if (process.argv.includes("--write")) {
  writeFileSync(path, snapshot);
} else if (!existsSync(path) || readFileSync(path, "utf8") !== snapshot) {
  console.error("api: the public API differs from docs/api.txt; if that is meant, run npm run fix and review the diff");
  process.exit(1);
}
console.log(`api: ${exports.length} exports`);
