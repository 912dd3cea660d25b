/**
 * Content of messages as text that may be drawn: sanitised, bounded, and never an exception, whatever a file holds.
 * Part of `tui/`; used by the chat rows.
 */
import { cutText } from "../tree/content.ts";
import { sanitise } from "./sanitise.ts";

/** More of one text is not drawn: a terminal that scrolls for minutes helps nobody. The session keeps all of it. */
const MAX_CHARACTERS = 200_000;
/** Of one line, while the row is collapsed. */
const MAX_LINE = 1000;

/** The blocks of a message's content; text alone is one block, anything else that is no list has none. */
export function blocksOf(content: unknown): Record<string, unknown>[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [];
  return content.filter((block): block is Record<string, unknown> => typeof block === "object" && block !== null);
}

/** Text and images of a content, images as one line each. */
export function shownText(content: unknown): string {
  return blocksOf(content)
    .map((block) => (block["type"] === "image" ? imageNote(block) : bounded(block["text"])))
    .filter((text) => text !== "")
    .join("\n");
}

/** `value` as drawable text; "" for what is no text. */
export function bounded(value: unknown): string {
  if (typeof value !== "string") return "";
  if (value.length <= MAX_CHARACTERS) return sanitise(value);
  const start = cutText(value, MAX_CHARACTERS);
  return `${sanitise(start)}\n… ${value.length - start.length} more characters are in the session file`;
}

/** Arguments of a tool call as one short line; anything JSON cannot hold is named by its type. */
export function argumentsText(args: unknown): string {
  if (args === undefined || args === null) return "";
  let json: string | undefined;
  try {
    json = JSON.stringify(args);
  } catch {
    json = undefined;
  }
  const text = json ?? typeof args;
  return text === "{}" ? "" : cutText(text, MAX_LINE);
}

/** The lines a collapsed row shows and how many it leaves out; `from` says which end matters. */
export function collapseLines(
  lines: readonly string[],
  limit: number,
  from: "head" | "tail",
): { lines: string[]; hidden: number } {
  const kept = from === "head" ? lines.slice(0, limit) : lines.slice(-limit);
  return {
    lines: kept.map((line) => (line.length > MAX_LINE ? `${cutText(line, MAX_LINE)}…` : line)),
    hidden: lines.length - kept.length,
  };
}

/** What stands in place of the lines that `collapseLines` has left out: "… 7 earlier lines (Ctrl+O to expand)". */
export function hiddenLinesNote(hidden: number, from: "head" | "tail", expandKey: string): string {
  return `… ${hidden} ${from === "head" ? "more" : "earlier"} line${hidden === 1 ? "" : "s"} (${expandKey} to expand)`;
}

function imageNote(block: Record<string, unknown>): string {
  const type = typeof block["mimeType"] === "string" ? sanitise(block["mimeType"]).slice(0, 40) : "unknown type";
  const bytes = typeof block["data"] === "string" ? Math.floor((block["data"].length * 3) / 4) : 0;
  return `[image: ${type}, ${Math.ceil(bytes / 1024)} KB]`;
}

/** What has happened more than once, behind its text. */
export const times = (count: number): string => (count === 1 ? "" : ` (${count} times)`);
