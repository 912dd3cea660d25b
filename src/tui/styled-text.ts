/**
 * The sink for what extensions draw: their colours may pass, nothing else that a terminal obeys.
 * Part of `tui/`; used for every component, text and title of an extension. Text of files, models and tools has the
 * stricter sanitise.ts.
 */
import { CURSOR_MARKER, renderFakeCursor } from "@earendil-works/pi-tui";
import { sanitise } from "./sanitise.ts";

/** Select Graphic Rendition (ECMA-48, 8.3.117): colours and weights, with any number of parameters. */
const GRAPHIC_RENDITION = String.raw`\x1b\[[0-9;:]{0,100}m`;
/** pi-tui's own marks for cursors, which it takes out again. */
const MARKS = [CURSOR_MARKER, ...renderFakeCursor("\n").split("\n")].map((mark) => mark.replace("\x1b", "\\x1b"));
const STYLES = new RegExp(`(${GRAPHIC_RENDITION})`);
const STYLES_AND_MARKS = new RegExp(`(${[GRAPHIC_RENDITION, ...MARKS].join("|")})`);

/** Text whose only escape sequences set colours and weights; newlines stay. */
export const styledText = (text: string): string => onlyPassing(text, STYLES);

/** `styledText` for a place that has one line. */
export const styledLine = (text: string): string => joined(styledText(text));

/** A line of a component that may have the keyboard, and so a cursor. */
export const styledLineWithCursor = (text: string): string => joined(onlyPassing(text, STYLES_AND_MARKS));

function onlyPassing(text: string, passes: RegExp): string {
  if (!text.includes("\x1b")) return sanitise(text);
  // Every second part is one that passes; what is left of other sequences between two of them is plain text.
  return text
    .split(passes)
    .map((part, index) => (index % 2 === 1 ? part : sanitise(part)))
    .join("");
}

const joined = (text: string): string => text.replace(/[\n ]*\n[\n ]*/g, " ");
