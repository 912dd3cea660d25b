// Checks the import table of the rooms (folders of src/), that no imports form a cycle, and prints what is largest.
// Sizes are no law: they are for readers who ask whether a piece is still one thing.
import { dirname, join, normalize } from "node:path";
import { entryPoints, importsOf, readSource, sourceFiles } from "./source-files.mjs";

/**
 * room -> rooms it may import, npm packages it may import (`types`: only their types), whether Node's own modules are
 * allowed. `files`: of rooms that it may not import otherwise, the files that it may.
 */
const ROOMS = {
  tree: { rooms: [], packages: [], node: false },
  session: { rooms: ["tree"], packages: [], node: true },
  agent: {
    rooms: ["tree", "session"],
    packages: [
      "@earendil-works/pi-ai",
      "@earendil-works/pi-agent-core",
      "@earendil-works/pi-schema",
      "@modelcontextprotocol/client",
      "@vscode/ripgrep",
      "diff",
      "ignore",
    ],
    node: true,
  },
  extensions: {
    rooms: ["tree", "session", "agent"],
    packages: [],
    types: ["@earendil-works/pi-agent-core", "@earendil-works/pi-ai", "@earendil-works/pi-tui", "typebox"],
    node: true,
  },
  export: {
    rooms: ["tree", "session"],
    packages: ["@secretlint/core", "@secretlint/profiler", "@secretlint/secretlint-rule-preset-recommend"],
    files: ["src/export/page/page-data.ts"],
    node: true,
  },
  // Runs in browsers.
  "export/page": { rooms: ["tree"], packages: ["highlight.js", "lit", "marked"], node: false },
  importers: { rooms: ["tree"], packages: [], node: false },
  tui: {
    rooms: ["tree", "session", "agent", "extensions", "export"],
    packages: ["@earendil-works/pi-tui", "diff", "highlight.js"],
    node: true,
  },
  cli: {
    rooms: ["tree", "session", "agent", "extensions", "export", "importers", "tui"],
    // pi-ai and typebox: handed on to extensions.
    packages: ["@earendil-works/pi-ai", "@earendil-works/pi-schema", "@earendil-works/pi-tui", "typebox"],
    types: ["@earendil-works/pi-agent-core"],
    node: true,
  },
  // src/index.ts: the public API.
  "": { rooms: ["tree", "session", "agent", "extensions"], packages: [], node: false },
};
/** A library behind one file of ours: package -> the only files that may import its code (types are free). */
const BEHIND = {
  "@earendil-works/pi-ai": ["src/agent/providers.ts", "src/cli/for-extensions/ai.ts"],
  "@modelcontextprotocol/client": ["src/agent/mcp/client-library.ts"],
};

const faults = [];
const edges = new Map();
/** The innermost folder that is a room; else the folder in src/. */
function roomOf(path) {
  const [, ...folders] = dirname(path).split("/");
  const rooms = folders.map((_, i) => folders.slice(0, i + 1).join("/")).filter((name) => ROOMS[name]);
  return rooms.at(-1) ?? folders[0] ?? "";
}
const packageOf = (name) =>
  name
    .split("/")
    .slice(0, name.startsWith("@") ? 2 : 1)
    .join("/");

/** The faces of rooms to the outside. Inside, files are imported themselves: a face would tie each of them to all. */
const faces = entryPoints.map(({ source }) => source);

const files = sourceFiles("src");
for (const { name, source } of entryPoints)
  if (!files.includes(source)) faults.push(`package.json: ${name} has no source ${source}`);
for (const file of files) {
  const rules = ROOMS[roomOf(file)];
  const targets = [];
  edges.set(file, targets);
  if (!rules) {
    faults.push(`${file}: src/${roomOf(file)} is not a room`);
    continue;
  }
  for (const { name, typeOnly } of importsOf(readSource(file))) {
    if (name.startsWith(".")) {
      const target = normalize(join(dirname(file), name))
        .split("\\")
        .join("/");
      targets.push(target);
      if (faces.includes(target)) faults.push(`${file}: may not import ${target}, which is for users of the package`);
      const room = roomOf(target);
      if (room !== roomOf(file) && !rules.rooms.includes(room) && !rules.files?.includes(target))
        faults.push(`${file}: room ${roomOf(file) || "src"} may not import from ${room || "src"} (${name})`);
    } else if (name.startsWith("node:")) {
      if (!rules.node) faults.push(`${file}: room ${roomOf(file) || "src"} may not use Node (${name})`);
    } else {
      const library = packageOf(name);
      if (!rules.packages.includes(library) && !(typeOnly && rules.types?.includes(library)))
        faults.push(`${file}: room ${roomOf(file) || "src"} may not use the package ${library}`);
      if (!typeOnly && BEHIND[library] && !BEHIND[library].includes(file))
        faults.push(`${file}: the code of ${library} is used through ${BEHIND[library].join(", ")} alone`);
    }
  }
}

/** The first import cycle, as the files on it, or undefined. Depth-first with an explicit stack. */
function findCycle() {
  const state = new Map();
  for (const start of files) {
    if (state.has(start)) continue;
    const stack = [{ file: start, next: 0 }];
    state.set(start, "open");
    while (stack.length > 0) {
      const top = stack.at(-1);
      const target = (edges.get(top.file) ?? [])[top.next++];
      if (target === undefined) {
        state.set(top.file, "done");
        stack.pop();
      } else if (state.get(target) === "open") {
        return [...stack.slice(stack.findIndex((item) => item.file === target)).map((item) => item.file), target];
      } else if (!state.has(target) && edges.has(target)) {
        state.set(target, "open");
        stack.push({ file: target, next: 0 });
      }
    }
  }
  return undefined;
}
const cycle = findCycle();
if (cycle) faults.push(`import cycle: ${cycle.join(" -> ")}`);

/** Functions and classes with their length in lines; the formatter guarantees that a block ends at its own indent. */
function blocks(file) {
  const lines = readSource(file).split("\n");
  const found = [];
  lines.forEach((line, start) => {
    const head =
      /^(\s*)(?:export )?(?:default )?(?:abstract )?(class|(?:async )?function\*?)\s+([\w$]+)/.exec(line) ??
      /^(\s*)(?:(?:static|async|override|private|protected|public|get|set) )*()(#?[\w$]+)\(.*\{$/.exec(line);
    if (!head || ["if", "for", "while", "switch", "catch"].includes(head[3])) return;
    const end = lines.findIndex((other, i) => i > start && other.startsWith(`${head[1]}}`));
    if (end > start)
      found.push({ size: end - start + 1, name: `${file}:${start + 1} ${head[3]}`, class: head[2] === "class" });
  });
  return found;
}
const all = files.flatMap(blocks);
const largest = (title, items) => {
  console.log(`  ${title}`);
  for (const { size, name } of items.sort((a, b) => b.size - a.size).slice(0, 5)) console.log(`    ${size}  ${name}`);
};
console.log("rooms: largest, in lines");
largest(
  "files",
  files.map((file) => ({ size: readSource(file).split("\n").length - 1, name: file })),
);
largest(
  "functions",
  all.filter((block) => !block.class),
);
largest(
  "classes",
  all.filter((block) => block.class),
);
largest(
  "import lists",
  files.map((file) => ({ size: importsOf(readSource(file)).length, name: file })),
);

for (const fault of faults) console.error(`rooms: ${fault}`);
process.exit(faults.length === 0 ? 0 : 1);
