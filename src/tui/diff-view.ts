/**
 * Changes of a file in colours: removed, added and context lines, and in a changed line the words that differ.
 * Part of `tui/`; used by the rows of the edit tool.
 */
import { diffWordsWithSpace, structuredPatch } from "diff";
import { theme } from "./theme.ts";

/** Longer lines are coloured whole; comparing their words would take longer than reading them. */
const MAX_WORD_DIFF = 500;

/** The changed places between two texts, each line beginning with "-", "+" or " "; places are parted by "…". */
export function changedLines(before: string, after: string): string[] {
  const { hunks } = structuredPatch("", "", before, after, "", "", { context: 3 });
  return hunks.flatMap((hunk, index) => {
    const lines = hunk.lines.filter((line) => !line.startsWith("\\"));
    return index === 0 ? lines : [" …", ...lines];
  });
}

/** Colours lines that begin with "-", "+" or anything else (context). */
export function colourDiff(lines: readonly string[]): string[] {
  const coloured: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const next = lines[at + 1] ?? "";
    if (isSingleChange(lines, at) && line.length <= MAX_WORD_DIFF && next.length <= MAX_WORD_DIFF) {
      coloured.push(...changedPair(line, next));
      at++;
    } else coloured.push(colourLine(line));
  }
  return coloured;
}

/** One removed line followed by one added line, which are then two forms of the same line. */
function isSingleChange(lines: readonly string[], at: number): boolean {
  const begins = (index: number, sign: string): boolean => lines[index]?.startsWith(sign) ?? false;
  return begins(at, "-") && begins(at + 1, "+") && !begins(at - 1, "-") && !begins(at + 2, "+");
}

function changedPair(removed: string, added: string): [string, string] {
  let before = "";
  let after = "";
  for (const part of diffWordsWithSpace(removed.slice(1), added.slice(1))) {
    if (part.added !== true) before += part.removed === true ? theme.inverse(part.value) : part.value;
    if (part.removed !== true) after += part.added === true ? theme.inverse(part.value) : part.value;
  }
  return [theme.fg("toolDiffRemoved", `-${before}`), theme.fg("toolDiffAdded", `+${after}`)];
}

function colourLine(line: string): string {
  if (line.startsWith("+")) return theme.fg("toolDiffAdded", line);
  if (line.startsWith("-")) return theme.fg("toolDiffRemoved", line);
  return theme.fg("toolDiffContext", line);
}
