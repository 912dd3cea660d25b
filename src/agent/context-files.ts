/**
 * The user's and the project's instructions for the model: AGENTS.md and CLAUDE.md.
 * Part of `agent/`; used by AgentSession for the system prompt, by tui/ to show what was loaded.
 *
 * They are text for the model and cannot act, so they are read before a project is trusted; but they never lead
 * outside of the project: a link to a private file would send that file to a provider.
 */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import { canonicalPath } from "../session/locations.ts";
import { readSmallFile } from "./bounded-file.ts";
import { formatSize } from "./output-limits.ts";

export interface ContextFile {
  /** Absolute, as found (a link is not resolved). */
  path: string;
  text: string;
}
export interface ContextFiles {
  /** General before special: the user's own, then from the project's root down to the working directory. */
  files: ContextFile[];
  /** One sentence per file that was not loaded. */
  problems: string[];
}

/** In this order; the first one in a directory is taken. */
const NAMES = ["AGENTS.md", "CLAUDE.md"];
/** About 16,000 tokens for one, twice that for all: more would crowd out the work. */
const MAX_FILE_BYTES = 64 * 1024;
const MAX_TOTAL_BYTES = 128 * 1024;

export interface ContextFileOptions {
  cwd: string;
  /** The state folder, where the user's own file is. */
  stateDir: string;
  /** The user's home folder; by default the system's word for it. */
  home?: string;
}

/**
 * Loads the file of the state folder and one of each directory from the root of the git repository down to `cwd`.
 * Outside of a repository the way starts below the home folder, and elsewhere it is `cwd` alone: what other users
 * put into directories above is no instruction of this one.
 */
export function loadContextFiles({ cwd, stateDir, home = homedir() }: ContextFileOptions): ContextFiles {
  const directories = projectDirectories(canonicalPath(cwd), canonicalPath(home));
  const loaded: ContextFiles = { files: [], problems: [] };
  const seen = new Set<string>();
  loadOne(stateDir, undefined, seen, loaded);
  for (const directory of directories) loadOne(directory, directories[0], seen, loaded);
  return withinTotal(loaded);
}

/** From the root of the project to `cwd`. */
function projectDirectories(cwd: string, home: string): string[] {
  const ancestors = [cwd];
  for (let above = dirname(cwd); above !== ancestors[0]; above = dirname(above)) ancestors.unshift(above);
  const repository = ancestors.findLastIndex((directory) => existsSync(join(directory, ".git")));
  if (repository >= 0) return ancestors.slice(repository);
  const homeAt = ancestors.indexOf(home);
  return homeAt >= 0 && homeAt < ancestors.length - 1 ? ancestors.slice(homeAt + 1) : [cwd];
}

/** `boundary` is the directory that links must not leave; the user's own file may be anywhere. */
function loadOne(directory: string, boundary: string | undefined, seen: Set<string>, loaded: ContextFiles): void {
  for (const path of NAMES.map((name) => join(directory, name))) {
    const file = readSmallFile(path, MAX_FILE_BYTES);
    if (file.kind === "missing") continue;
    const target = canonicalPath(path);
    if (boundary !== undefined && leaves(boundary, target)) {
      loaded.problems.push(`${path} was not loaded: it is a link that leads out of the project.`);
    } else if (file.kind === "unreadable") {
      loaded.problems.push(`${path} was not loaded: ${file.reason}.`);
    } else {
      if (!seen.has(target) && file.text.trim() !== "") loaded.files.push({ path, text: file.text });
      seen.add(target);
      return;
    }
  }
}

function leaves(boundary: string, target: string): boolean {
  const inside = relative(boundary, target);
  return inside === ".." || inside.startsWith(`..${sep}`);
}

/** The most special files are the ones to keep. */
function withinTotal({ files, problems }: ContextFiles): ContextFiles {
  const kept: ContextFile[] = [];
  let bytes = 0;
  for (const file of files.toReversed()) {
    bytes += Buffer.byteLength(file.text);
    if (bytes <= MAX_TOTAL_BYTES) kept.unshift(file);
    else
      problems.push(`${file.path} was not loaded: all of them together have more than ${formatSize(MAX_TOTAL_BYTES)}.`);
  }
  return { files: kept, problems };
}
