/**
 * Where a search goes and how its results are shown: the start of grep, find and ls.
 * Part of `agent/`.
 */
import { type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { systemCode } from "../../session/session-errors.ts";
import * as failures from "./failures.ts";
import { missingPath, resolveToolPath, shownName, shownPath } from "./tool-path.ts";

export interface SearchDetails {
  /** Absolute; where was searched. */
  path: string;
  /** Results shown. */
  count: number;
  /** There are more than shown. */
  truncated: boolean;
}

export interface SearchPlace {
  /** Absolute. */
  path: string;
  shown: string;
  isDirectory: boolean;
}

/** The existing file or directory that `asked` means; `cwd` when nothing was asked. */
export function searchPlace(cwd: string, asked: string | undefined): SearchPlace {
  const path = resolveToolPath(cwd, asked === undefined || asked === "" ? "." : asked);
  const shown = shownPath(cwd, path);
  let stats: Stats;
  try {
    stats = statSync(path);
  } catch (error) {
    if (systemCode(error) === "ENOENT") throw missingPath(cwd, path);
    throw failures.cannotRead(shown, error);
  }
  return { path, shown, isDirectory: stats.isDirectory() };
}

/** A path below a searched directory as the other tools take it: relative to `cwd`, or absolute outside of it. */
export function shownBelow(cwd: string, place: SearchPlace, below: string): string {
  if (place.path === cwd) return shownName(below);
  return place.isDirectory ? shownPath(cwd, join(place.path, below)) : place.shown;
}
