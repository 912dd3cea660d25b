/**
 * The difference between two states of a file, for the screen and the session: a unified diff.
 * Part of `agent/`; used by write and edit.
 */
import { FILE_HEADERS_ONLY, formatPatch, structuredPatch, type StructuredPatchHunk } from "diff";
import { BoundedLines, counted } from "../output-limits.ts";

export interface FileDiff {
  /** Unified, with three lines of context. A very long one ends in a line that says how much is left out. */
  diff: string;
  /** 1-based, in the new state. */
  firstChangedLine: number;
  added: number;
  removed: number;
}

/** More than this in both states together is not compared. */
const MAX_COMPARED_CHARACTERS = 16 * 1024 * 1024;
/** Time grows with the square of the changed lines: a tenth of a second for these. */
const MAX_MATCHED_LINES = 1000;
/** A diff is stored in the session for good. */
const MAX_DIFF_LINES = 2000;
const MAX_DIFF_BYTES = 128 * 1024;
const CONTEXT_LINES = 3;

/** Undefined when the two are the same or too large to compare. `path` goes into the header. */
export function fileDiff(path: string, before: string, after: string): FileDiff | undefined {
  if (before === after || before.length + after.length > MAX_COMPARED_CHARACTERS) return undefined;
  const options = { context: CONTEXT_LINES, maxEditLength: MAX_MATCHED_LINES };
  const hunks = structuredPatch("", "", before, after, undefined, undefined, options)?.hunks ?? [
    oneHunk(before, after),
  ];
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const names = { oldFileName: path, newFileName: path, oldHeader: undefined, newHeader: undefined };
  return {
    diff: bounded(formatPatch({ ...names, hunks }, FILE_HEADERS_ONLY)),
    firstChangedLine: firstChange(hunks[0]!),
    added: lines.filter((line) => line.startsWith("+")).length,
    removed: lines.filter((line) => line.startsWith("-")).length,
  };
}

/** For states with little in common: everything between the first and the last difference is replaced. */
function oneHunk(before: string, after: string): StructuredPatchHunk {
  const [old, now] = [patchLines(before), patchLines(after)];
  const shorter = Math.min(old.length, now.length);
  let start = 0;
  while (start < shorter && old[start] === now[start]) start++;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const first = Math.max(0, start - CONTEXT_LINES);
  const last = Math.max(0, end - CONTEXT_LINES);
  return {
    oldStart: first + 1,
    oldLines: old.length - last - first,
    newStart: first + 1,
    newLines: now.length - last - first,
    lines: [
      ...marked(" ", old.slice(first, start)),
      ...marked("-", old.slice(start, old.length - end)),
      ...marked("+", now.slice(start, now.length - end)),
      ...marked(" ", old.slice(old.length - end, old.length - last)),
    ],
  };
}

const NO_NEWLINE = "\\ No newline at end of file";

/** Lines without their newline; a last one that has none carries the diff's remark about that. */
function patchLines(text: string): string[] {
  const lines = text.split("\n");
  const last = lines.pop()!;
  return last === "" ? lines : [...lines, `${last}\n${NO_NEWLINE}`];
}

const marked = (mark: string, lines: string[]): string[] => lines.flatMap((line) => `${mark}${line}`.split("\n"));

function firstChange(hunk: StructuredPatchHunk): number {
  const context = hunk.lines.findIndex((line) => !line.startsWith(" "));
  return Math.max(1, hunk.newStart + context);
}

function bounded(diff: string): string {
  const lines = diff.split("\n");
  const kept = new BoundedLines(MAX_DIFF_LINES, MAX_DIFF_BYTES);
  const next = lines.findIndex((line) => !kept.add(line));
  // Programs that read diffs skip lines that begin with a backslash.
  return next < 0 ? diff : `${kept.toString()}\n\\ ${counted(lines.length - next, "more line")} left out\n`;
}
