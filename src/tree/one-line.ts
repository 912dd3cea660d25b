/**
 * Text of any origin as the start of one line: what lists and outlines show of a message.
 * Part of `tree/`: pure. Used by row-text, tool-call-text and outline.
 */
import { cutText } from "./content.ts";

/** Of a message, in UTF-16 units; never half a character. */
export const LONGEST = 200;
// C0, DEL, C1 (Unicode's category Cc) and the two line separators: none of them may reach a row or a query.
const CONTROL = /[\p{Cc}\u2028\u2029]/gu;
export const VISIBLE = /[^\s\p{Cc}]/u;

/** Text as someone types it into a line: white space of any sort becomes a space, control characters are dropped. */
export function typedLine(text: string): string {
  return text.replace(/\s/g, " ").replace(CONTROL, "");
}

export function isBlank(text: string): boolean {
  return !VISIBLE.test(text);
}

/**
 * The start of `value`, at most `limit` UTF-16 units and whole characters, trimmed; each control character becomes a space and half a character
 * U+FFFD. "" for anything but a string.
 */
export function oneLine(value: unknown, limit = LONGEST): string {
  if (typeof value !== "string") return "";
  const start = value.search(VISIBLE);
  return start < 0 ? "" : cutText(value.slice(start), limit).replace(CONTROL, " ").toWellFormed().trimEnd();
}

/** The start of the text blocks of `content`, or of `content` itself, each as `line` gives it. */
export function startOfText(content: unknown, limit = LONGEST, line = oneLine): string {
  if (!Array.isArray(content)) return line(content, limit);
  let text = "";
  for (const block of content) {
    if (block?.type !== "text") continue;
    const more = line(block.text, limit);
    if (more === "") continue;
    text = text === "" ? more : `${text} ${more}`;
    if (text.length >= limit) break;
  }
  return oneLine(text, limit);
}
