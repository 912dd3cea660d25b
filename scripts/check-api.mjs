// The public API as a reviewed text: docs/api.txt must equal what the entry points of package.json export. `--write`
// updates it. A name that several entry points export is declared under the first of them and listed under the others.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { entryPoints, root } from "./source-files.mjs";

const beside = (file, from) => join(dirname(file), from.replace(/\.(ts|js)$/, ".d.ts"));
const FROM = /export (?:type )?\{([^}]*)\} from "([^"]+)"/g;

function fail(text) {
  console.error(`api: ${text}`);
  process.exit(1);
}

/** The text of a .d.ts file without comments. */
const textOf = (file) =>
  readFileSync(file, "utf8")
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/^\s*\/\/.*$/gm, "");

/** What a .d.ts file passes on from others: `{name, file}`, and the name there. */
const passedOn = (file) =>
  [...textOf(file).matchAll(FROM)].flatMap(([, names, from]) =>
    names
      .split(",")
      .map((name) => name.trim().replace(/^type /, ""))
      .filter(Boolean)
      .map((names) => names.split(" as "))
      .map(([own, name = own]) => ({ name, own, file: beside(file, from) })),
  );

const DECLARED = "export (?:declare )?(?:abstract )?(?:class|function|const|interface|type)";

/** What a .d.ts file exports: what it passes on, and what it declares itself. */
const exportsOf = (file) => [
  ...passedOn(file),
  ...[...textOf(file).matchAll(new RegExp(`^${DECLARED} (\\w+)`, "gm"))].map(([, name]) => ({ name, own: name, file })),
];

/** The text of one exported declaration in a .d.ts file, or in the file it comes from. */
function declarationOf(file, name) {
  const text = textOf(file);
  const start = new RegExp(`^${DECLARED} ${name}\\b`, "m").exec(text);
  if (!start) {
    const all = [...text.matchAll(/export (?:type )?\* from "([^"]+)"/g)].map(([, from]) => beside(file, from));
    const origin = passedOn(file).find((other) => other.name === name) ?? { file: all[0], own: name };
    return origin.file === undefined
      ? fail(`no declaration of ${name} in ${relative(root, file)}`)
      : declarationOf(origin.file, origin.own);
  }
  const rest = text.slice(start.index);
  const end = /\n(?=export )/.exec(rest);
  return rest
    .slice(0, end ? end.index : undefined)
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.includes("private ") && !/^\s*#/.test(line))
    .join("\n");
}

/** One entry point: its own declarations, after the names that stand under an earlier one. */
function sectionOf({ name, types }, declared) {
  const known = [];
  const own = [];
  const exports = exportsOf(join(root, types)).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const exported of exports) {
    const { name, own: ownName, file } = exported;
    const renamed = name === ownName ? "" : `export { ${ownName} as ${name} }\n`;
    const declaration = `${renamed}${declarationOf(file, ownName)}`;
    if (declared.has(declaration)) known.push(`\n    ${exported.name}`);
    else own.push(declaration);
    declared.add(declaration);
  }
  const listed = known.length === 0 ? [] : [`As declared above:${known.join("")}`];
  return { count: exports.length, text: [`# ${name}`, ...listed, ...own].join("\n\n") };
}

const missing = entryPoints.find(({ types }) => !existsSync(join(root, types)));
if (missing !== undefined) fail(`${missing.types} is missing; run npm run build`);
const declared = new Set();
const sections = entryPoints.map((entry) => sectionOf(entry, declared));
const snapshot = `${sections.map(({ text }) => text).join("\n\n")}\n`;

const path = join(root, "docs/api.txt");
if (process.argv.includes("--write")) writeFileSync(path, snapshot);
else if (!existsSync(path) || readFileSync(path, "utf8") !== snapshot)
  fail("the public API differs from docs/api.txt; if that is meant, run npm run fix and review the diff");
console.log(`api: ${sections.map(({ count }, n) => `${entryPoints[n].name} ${count}`).join(", ")} exports`);
