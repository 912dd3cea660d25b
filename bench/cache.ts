/** Where the bench keeps what it makes once and uses again: generated sessions and the peers' packages. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** A folder of the user's cache, made when missing; never in the repository. */
export function cacheFolder(name: string): string {
  const base = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  const folder = join(base, "bough-bench", name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** An empty folder on the same disk as the sessions, gone when the bench ends. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(cacheFolder(""), "scratch-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
  return folder;
}
