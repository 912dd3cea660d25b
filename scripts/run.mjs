// Runs the project's installed tools one after another; used by the other scripts.
import { spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { root } from "./source-files.mjs";

const bin = join(root, "node_modules", ".bin");
/** With it Node strips the types of each file once, not in every program that the tests start. */
const compileCache = join(root, "node_modules", ".cache", "node-compile");
export const env = {
  NODE_COMPILE_CACHE: compileCache,
  ...process.env,
  PATH: `${bin}${delimiter}${process.env.PATH ?? ""}`,
};

/** Runs a command in the project's folder with its output shown; true when it exits with 0. */
export function run(command, args) {
  const result = spawnSync(command, args, { cwd: root, env, stdio: "inherit", shell: process.platform === "win32" });
  if (result.error) console.error(`${command}: ${result.error.message}`);
  return result.status === 0;
}
