/**
 * The programs bough is compared with, each with the runtime it is made for, installed with npm into the cache.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "./cache.ts";

const DEPENDENCIES = {
  node: "24.21.0",
  "@earendil-works/pi-coding-agent": "1.6.0",
  bun: "1.4.5",
  "@oh-my-pi/pi-coding-agent": "18.2.3",
};
export const PI_VERSION = DEPENDENCIES["@earendil-works/pi-coding-agent"];
export const OMP_VERSION = DEPENDENCIES["@oh-my-pi/pi-coding-agent"];

/**
 * The folder with the peers' packages (their node_modules). What could not be installed is missing in it; programs
 * are installed apart, so that one that fails takes nothing from the other.
 */
export function installPeers(): { pi: string; omp: string } {
  return {
    pi: install("pi", ["node", "@earendil-works/pi-coding-agent"]),
    omp: install("omp", ["bun", "@oh-my-pi/pi-coding-agent"]),
  };
}

function install(name: string, packages: readonly (keyof typeof DEPENDENCIES)[]): string {
  const folder = cacheFolder(`peers/${name}`);
  const modules = join(folder, "node_modules");
  if (packages.every((wanted) => installedVersion(modules, wanted) === DEPENDENCIES[wanted])) return modules;
  process.stderr.write(`installing ${packages.map((wanted) => `${wanted}@${DEPENDENCIES[wanted]}`).join(" ")}\n`);
  rmSync(modules, { recursive: true, force: true });
  const manifest = {
    private: true,
    type: "module",
    // The runtimes come as packages whose script fetches the program; npm runs no script it was not told of.
    allowScripts: { node: true, bun: true },
    dependencies: Object.fromEntries(packages.map((wanted) => [wanted, DEPENDENCIES[wanted]])),
  };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  const npm = process.env["npm_execpath"];
  const [command, ...first] = npm === undefined ? ["npm"] : [process.execPath, npm];
  // The caller's settings of `npm run` would be taken for settings of this install.
  const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^npm_(package|lifecycle)/.test(key)));
  spawnSync(command, [...first, "install", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    env,
    stdio: ["ignore", 2, 2],
  });
  return modules;
}

function installedVersion(modules: string, name: string): string | undefined {
  const manifest = join(modules, name, "package.json");
  if (!existsSync(manifest)) return undefined;
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}
