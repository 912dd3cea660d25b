// What the check scripts share: the project's TypeScript files and the imports they make.
import { readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** Paths of the .ts files under a folder of the project, relative to its root, sorted. */
export function sourceFiles(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split("\\").join("/"))
    .sort();
}

export const readSource = (path) => readFileSync(join(root, path), "utf8");

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s+(type\s+)?(?:[\w*{}\s,$]+?\sfrom\s+)?"([^"]+)"|\bimport\(\s*"([^"]+)"\s*\)/g;

/** Every module a file names: `{name, typeOnly, dynamic}`. `import type` inside a type position counts as dynamic. */
export function importsOf(text) {
  return [...text.matchAll(IMPORT)].map(([, type, name, dynamic]) => ({
    name: name ?? dynamic,
    typeOnly: type !== undefined,
    dynamic: dynamic !== undefined,
  }));
}

/** What others import of the package, as package.json lists it: `{name, types, source}`. */
export const entryPoints = Object.entries(JSON.parse(readSource("package.json")).exports).map(([path, { types }]) => ({
  name: `bough${path.slice(1)}`,
  types,
  source: types.replace(/^\.\/dist\/(.*)\.d\.ts$/, "src/$1.ts"),
}));
