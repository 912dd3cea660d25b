/**
 * Finding the places that edits mean in a text, and changing them: pure, on strings.
 * Part of `agent/`; used by the edit tool.
 *
 * Line ends never decide whether a text is found: both are compared with LF alone, and what is put in gets the line
 * ends of the place it goes to.
 */
import * as failures from "./failures.ts";
import { counted, startOfLine } from "../output-limits.ts";

export interface TextEdit {
  oldText: string;
  newText: string;
}

interface Place {
  /** "Edit 2", as messages call it. */
  which: string;
  start: number;
  end: number;
  newText: string;
}

/**
 * `text` with all edits made. Every oldText must occur exactly once in `text` as it was, and no two may overlap;
 * otherwise throws one plain sentence with `path` in it.
 */
export function applyEdits(path: string, text: string, edits: readonly TextEdit[]): string {
  const lf = new LfView(text);
  const places = edits.map((edit, index) => findPlace(path, lf, edit, `Edit ${index + 1}`));
  places.sort((a, b) => a.start - b.start);
  for (let index = 1; index < places.length; index++) {
    const [previous, next] = [places[index - 1]!, places[index]!];
    if (next.start < previous.end) throw failures.editsOverlap(path, previous.which, next.which);
  }
  const parts: string[] = [];
  let done = 0;
  for (const place of places) {
    const [start, end] = [lf.original(place.start), lf.original(place.end)];
    parts.push(text.slice(done, start), place.newText.replaceAll("\n", lf.lineEndAt(place.start)));
    done = end;
  }
  return parts.join("") + text.slice(done);
}

function findPlace(path: string, lf: LfView, edit: TextEdit, which: string): Place {
  const [oldText, newText] = [withLf(edit.oldText), withLf(edit.newText)];
  if (oldText === "") throw failures.emptyOldText(path, which);
  if (oldText === newText) throw failures.sameText(path, which);
  const start = lf.text.indexOf(oldText);
  if (start < 0) throw failures.textNotFound(path, which, nearestPlace(lf.text, oldText));
  if (lf.text.indexOf(oldText, start + 1) >= 0) {
    const { count, lines } = occurrences(lf.text, oldText);
    throw failures.textNotUnique(path, which, count, lines);
  }
  return { which, start, end: start + oldText.length, newText };
}

const withLf = (text: string): string => text.replaceAll("\r\n", "\n");

/** A text with LF line ends, and the way back to the text as it was. */
class LfView {
  readonly text: string;
  readonly #crlf: boolean;
  /** Positions in `text` of the newlines that had a carriage return before them, ascending. */
  readonly #returns: number[] = [];

  constructor(original: string) {
    this.#crlf = original.includes("\r\n");
    this.text = this.#crlf ? withLf(original) : original;
    for (let at = original.indexOf("\r\n"); at >= 0; at = original.indexOf("\r\n", at + 2)) {
      this.#returns.push(at - this.#returns.length);
    }
  }

  original(position: number): number {
    return position + this.#returnsBefore(position);
  }

  /** The line end of the line at a position, else of the one before it; a single line takes the file's first. */
  lineEndAt(position: number): "\n" | "\r\n" {
    if (!this.#crlf) return "\n";
    const after = this.text.indexOf("\n", position);
    const newline = after >= 0 ? after : this.text.lastIndexOf("\n", position);
    return this.#returns[this.#returnsBefore(newline)] === newline ? "\r\n" : "\n";
  }

  /** Binary search: a text may have a million lines. */
  #returnsBefore(position: number): number {
    let [low, high] = [0, this.#returns.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#returns[middle]! < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const MAX_LINES_NAMED = 10;
const MAX_COUNTED = 1000;

/** Overlapping occurrences count one by one, up to MAX_COUNTED. */
function occurrences(text: string, part: string): { count: number; lines: number[] } {
  const lines: number[] = [];
  let [count, line, seen] = [0, 1, 0];
  for (let at = text.indexOf(part); at >= 0 && count < MAX_COUNTED; at = text.indexOf(part, at + 1)) {
    count++;
    if (lines.length >= MAX_LINES_NAMED) continue;
    for (let newline = text.indexOf("\n", seen); newline >= 0 && newline < at; newline = text.indexOf("\n", seen)) {
      line++;
      seen = newline + 1;
    }
    lines.push(line);
  }
  return { count, lines };
}

/** A sentence about the place that is most like a text that does not occur. */
function nearestPlace(text: string, wanted: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  const wantedLines = wanted.split("\n").map((line) => line.trim());
  const start = bestStart(lines, wantedLines);
  if (start === undefined) return nearestLine(text, lines, wantedLines.find((line) => line !== "") ?? "");
  const different = wantedLines.findIndex((line, index) => line !== lines[start + index]);
  if (different < 0) {
    return `Lines ${start + 1}-${start + wantedLines.length} have the same words but other white space; read them and copy exactly.`;
  }
  const number = start + different;
  const found = number < lines.length ? quoted(text, number) : "the end of the file";
  return `The nearest place is at line ${start + 1}; the first difference is line ${number + 1}: ${found}.`;
}

/** Where most of the wanted lines stand in their order; undefined when not one of them occurs. Counts from 0. */
function bestStart(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const offsets = new Map<string, number>();
  wanted.forEach((line, index) => {
    if (line !== "" && !offsets.has(line)) offsets.set(line, index);
  });
  const votes = new Map<number, number>();
  let best: number | undefined;
  lines.forEach((line, index) => {
    const offset = offsets.get(line);
    if (offset === undefined || offset > index) return;
    const start = index - offset;
    votes.set(start, (votes.get(start) ?? 0) + 1);
    if (best === undefined || votes.get(start)! > votes.get(best)!) best = start;
  });
  return best;
}

/** Lines that share this part of a wanted line with it at both ends together are worth a hint. */
const LIKENESS = 0.5;

function nearestLine(text: string, lines: readonly string[], wanted: string): string {
  let [best, bestLikeness] = [-1, LIKENESS];
  lines.forEach((line, index) => {
    const likeness = likenessOf(line, wanted);
    if (likeness > bestLikeness) [best, bestLikeness] = [index, likeness];
  });
  if (best < 0) return `No part of it is there (${counted(lines.length, "line")}); read the file again.`;
  return `The nearest line is ${best + 1}: ${quoted(text, best)}.`;
}

/** The part of the longer text that both have at their beginning and at their end, from 0 to 1. */
function likenessOf(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start++;
  let end = 0;
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  return (start + end) / Math.max(1, a.length, b.length);
}

const MAX_QUOTED = 200;

function quoted(text: string, line: number): string {
  const whole = text.split("\n", line + 1)[line] ?? "";
  return JSON.stringify(startOfLine(whole, MAX_QUOTED)) + (whole.length > MAX_QUOTED ? "…" : "");
}
