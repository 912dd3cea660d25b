// Installs what is missing, and nothing when all is there. Runs on Node 20 and npm alone, before every npm script.
import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** True when node_modules holds exactly what package-lock.json names, and the Node that runs bough. */
function installed() {
  const inner = join(root, "node_modules", ".package-lock.json");
  if (!existsSync(inner) || !existsSync(join(root, "node_modules", ".bin", "node"))) return false;
  const wanted = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
  const present = JSON.parse(readFileSync(inner, "utf8")).packages;
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === "") continue;
    if (present[path] === undefined ? !entry.optional : present[path].version !== entry.version) return false;
  }
  return Object.keys(present).every((path) => wanted[path] !== undefined);
}

if (!installed()) {
  // npm would empty the folder behind a link, which other checkouts use.
  if (lstatSync(join(root, "node_modules"), { throwIfNoEntry: false })?.isSymbolicLink()) {
    console.error(
      "bough: node_modules is a link to a folder that does not hold what package-lock.json names; " +
        "remove the link, or run npm ci where it leads.",
    );
    process.exit(1);
  }
  const npm = process.env.npm_execpath;
  const [command, ...prefix] = npm ? [process.execPath, npm] : ["npm"];
  const result = spawnSync(command, [...prefix, "ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: root,
    stdio: ["ignore", 2, 2],
  });
  if (result.status !== 0) {
    console.error(`bough: "npm ci" failed in ${root}; see above.`);
    process.exit(1);
  }
  if (!existsSync(join(root, "node_modules", ".bin", "node"))) {
    console.error(
      'bough: the npm package "node" was installed without its script, so Node 24 is missing. ' +
        "Run npm without --ignore-scripts.",
    );
    process.exit(1);
  }
}
