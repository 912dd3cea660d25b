/**
 * Text out of message content, and text put safely into other text.
 * Part of `tree/`: pure. Used by the context, the outline, exports and summaries.
 */
import { isRecord } from "./json.ts";
import type { TextContent } from "./message-types.ts";

/** The text of any content: a string itself, the joined text blocks of a list, "" for everything else. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  let text = "";
  for (const block of content)
    if (isRecord(block) && block["type"] === "text" && typeof block["text"] === "string") text += block["text"];
  return text;
}

/** A text as the one block of a list, which some roles have instead of a string; none for anything else. */
export function textBlocks(text: unknown): TextContent[] {
  return typeof text === "string" ? [{ type: "text", text }] : [];
}

/** At most `length` UTF-16 units from the start, never ending in half a character. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff && text.charCodeAt(length) >= 0xdc00;
  return text.slice(0, Math.max(0, splitsPair ? length - 1 : length));
}

/** The text between `<tag>` lines; what looks like that tag inside the text can neither close nor open it. */
export function inTags(tag: string, text: string, attributes = ""): string {
  return `<${tag}${attributes}>\n${unclosable(tag, text)}\n</${tag}>`;
}

/** The text with the `<` of what could open or close `tag`, a plain word, as `&lt;`; all other markup stays. */
export function unclosable(tag: string, text: string): string {
  // Each gap can be matched in one way only: a `<` before a megabyte of spaces costs that megabyte once.
  return text.replace(new RegExp(`<(?=\\s*(?:/\\s*)?${tag}\\b)`, "gi"), "&lt;");
}

/** The text as a fenced Markdown block whose fence is longer than any run of backticks inside. */
export function fenced(text: string, language = ""): string {
  let longest = 2;
  for (const run of text.matchAll(/`{3,}/g)) longest = Math.max(longest, run[0].length);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`;
}
