/**
 * Paths as models write them, made absolute, and shown again as the user knows them.
 * Part of `agent/`; used by every tool that takes a path.
 */
import { existsSync, lstatSync, readdirSync, readlinkSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import * as failures from "./failures.ts";

/**
 * The absolute path meant by `path`: `~` is the home folder, a leading `@` (as in the user's file mentions) is no part
 * of the name unless a file of that very name exists, all else is relative to `cwd`.
 */
export function resolveToolPath(cwd: string, path: string): string {
  if (path.includes("\0")) throw failures.badPath("it contains a NUL character");
  const literal = resolve(cwd, fromHome(path));
  if (!path.startsWith("@") || existsSync(literal)) return literal;
  return resolve(cwd, fromHome(path.slice(1)));
}

function fromHome(path: string): string {
  return path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path;
}

/** Relative to `cwd` when inside it, else absolute; "." for `cwd` itself. */
export function shownPath(cwd: string, absolute: string): string {
  const inside = relative(cwd, absolute);
  if (inside === "") return ".";
  return inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside) ? absolute : shownName(inside);
}

const CONTROL = new RegExp(String.raw`[\x00-\x1f\x7f]`);

/** A file name on one line: one with control characters is quoted as in JSON. */
export function shownName(name: string): string {
  return CONTROL.test(name) ? JSON.stringify(name) : name;
}

/** Names beside a missing file are compared up to this many. */
const MAX_COMPARED = 5000;
const MAX_SUGGESTED = 3;

/** What to say about a path where nothing is: where its link leads, or which names are close to it. */
export function missingPath(cwd: string, absolute: string): Error {
  const shown = shownPath(cwd, absolute);
  if (lstatSync(absolute, { throwIfNoEntry: false })?.isSymbolicLink()) {
    return failures.brokenLink(shown, readlinkSync(absolute));
  }
  return failures.missing(shown, similarPaths(cwd, absolute));
}

/** Paths whose name is the same but for case, extension or a few letters. */
function similarPaths(cwd: string, absolute: string): string[] {
  const folder = dirname(absolute);
  const wanted = basename(absolute).toLowerCase();
  return namesIn(folder)
    .slice(0, MAX_COMPARED)
    .map((name) => ({ name, distance: distance(wanted, name.toLowerCase()) }))
    .filter((candidate) => candidate.distance <= Math.max(1, Math.floor(wanted.length / 3)))
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_SUGGESTED)
    .map(({ name }) => shownPath(cwd, join(folder, name)));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Letters to insert, remove or replace (Levenshtein). File names have at most 255 characters. */
function distance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = above[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, above[column]! + 1, current[column - 1]! + 1));
    }
    above = current;
  }
  return above[b.length]!;
}
