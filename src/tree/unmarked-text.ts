/**
 * Text of a message as people read it, for one line: Markdown without its marks.
 * Part of `tree/`: pure. Used by row-text.
 */
import { cutText } from "./content.ts";
import { LONGEST, VISIBLE, isBlank, oneLine } from "./one-line.ts";

/** Marks take room as well: so much of a text is looked at for a line, in UTF-16 units. */
const LOOKED_AT = 1_000;
/** A text without any of these is as it is. */
const MAY_HAVE_MARKS = /[*`#>|]|\]\(|~~~|___|===|^[ \t]*[-+][ \t-]/m;

const FENCE = /^\s*(?:```|~~~)/;
/** A line across the page, under a heading or in a table. */
const RULE = /^[\s|:=*_-]+$/;
/** At the start of a line: quote, heading, bullet. */
const LINE_MARKS = /^\s*(?:>\s?)*(?:#{1,6}\s+|[-*+]\s+)?/;
/** Not the `**` of globs and powers. */
const BOLD = /(?<![\w/*])\*\*(?=\S)([^*]+?)(?<=\S)\*\*(?![\w/])/g;
const CODE = /`([^`]+)`/g;
/** Also of images. */
const LINK = /!?\[([^[\]]*)\]\((?:https?:|mailto:)[^()\s]*\)/g;

/** `oneLine` of the text without the marks of Markdown; of a block of code its first line. */
export function unmarkedLine(text: unknown, limit = LONGEST): string {
  return typeof text === "string" ? oneLine(unmarked(text, limit), limit) : "";
}

/** At least the first `enough` characters of a text; what is nothing but marks keeps them. */
function unmarked(text: string, enough: number): string {
  const from = Math.max(0, text.search(VISIBLE));
  const start = cutText(text.slice(from), LOOKED_AT);
  if (!MAY_HAVE_MARKS.test(start)) return start;
  let plain = "";
  /** In a block of code: whether its first line is still to come. */
  let code: "begins" | "goes on" | undefined;
  for (let at = 0, end = 0; at < start.length && plain.length <= enough; at = end + 1) {
    end = start.indexOf("\n", at);
    if (end < 0) end = start.length;
    const line = start.slice(at, end);
    if (isBlank(line)) continue;
    if (FENCE.test(line)) code = code === undefined ? "begins" : undefined;
    else if (code === "begins") {
      plain += `${line.trim()}\n`;
      code = "goes on";
    } else if (code === undefined && !RULE.test(line)) plain += `${withoutMarks(line)}\n`;
  }
  return isBlank(plain) ? start : plain;
}

function withoutMarks(line: string): string {
  let plain = line.replace(LINE_MARKS, "");
  if (plain.includes("**")) plain = plain.replace(BOLD, "$1");
  if (plain.includes("`")) plain = plain.replace(CODE, "$1");
  return plain.includes("](") ? plain.replace(LINK, "$1") : plain;
}
