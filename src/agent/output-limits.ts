/**
 * How much text a tool may hand to the model, and the ways to cut it there: from the front, from the back, and within
 * a line. Part of `agent/`; used by every tool and by command-output.ts.
 */

/** Of one tool result. Enough for a long source file, and about 13,000 tokens. */
export const MAX_OUTPUT_LINES = 2000;
export const MAX_OUTPUT_BYTES = 50 * 1024;

/** Collects lines until one does not fit. */
export class BoundedLines {
  readonly #maxLines: number;
  readonly #maxBytes: number;
  readonly #lines: string[] = [];
  #bytes = 0;

  constructor(maxLines = MAX_OUTPUT_LINES, maxBytes = MAX_OUTPUT_BYTES) {
    this.#maxLines = maxLines;
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#lines.length;
  }

  /** False when the line did not fit; nothing was added then. */
  add(line: string): boolean {
    const bytes = Buffer.byteLength(line) + 1;
    if (this.#lines.length >= this.#maxLines || this.#bytes + bytes > this.#maxBytes) return false;
    this.#lines.push(line);
    this.#bytes += bytes;
    return true;
  }

  toString(): string {
    return this.#lines.join("\n");
  }
}

export interface Tail {
  text: string;
  /** Lines in `text`. */
  lines: number;
  /** Something before `text` was left out. */
  cut: boolean;
  /** The first line of `text` lacks its beginning, because that line alone is over the limit. */
  partialLine: boolean;
}

/** The last lines of a text that fit in both limits. One final newline is no line of its own. */
export function tailOf(text: string, maxLines = MAX_OUTPUT_LINES, maxBytes = MAX_OUTPUT_BYTES): Tail {
  const body = text.endsWith("\n") ? text.slice(0, -1) : text;
  let start = body.length;
  let lines = 0;
  let bytes = 0;
  while (start > 0 && lines < maxLines) {
    const lineStart = body.lastIndexOf("\n", start - 1 - (lines > 0 ? 1 : 0)) + 1;
    const size = Buffer.byteLength(body.slice(lineStart, start));
    if (bytes + size > maxBytes) break;
    bytes += size;
    lines++;
    start = lineStart;
    if (lineStart === 0) break;
  }
  if (lines === 0 && body !== "") {
    return {
      text: lastBytes(body.slice(body.lastIndexOf("\n") + 1), maxBytes),
      lines: 1,
      cut: true,
      partialLine: true,
    };
  }
  return { text: body.slice(start), lines, cut: start > 0, partialLine: false };
}

function lastBytes(line: string, maxBytes: number): string {
  const bytes = Buffer.from(line);
  return bytes.subarray(nextCharacter(bytes, bytes.length - maxBytes)).toString();
}

/** The first position from `offset` on that does not lie within a character of UTF-8. */
export function nextCharacter(bytes: Uint8Array, offset: number): number {
  let position = Math.max(0, offset);
  // A character has at most three continuation bytes; more of them is not UTF-8, where any cut is as good.
  for (let step = 0; step < 3 && isContinuation(bytes[position]); step++) position++;
  return position;
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** The beginning of a line: at most `max` UTF-16 units, never half a surrogate pair. */
export function startOfLine(line: string, max: number): string {
  if (line.length <= max) return line;
  const last = line.charCodeAt(max - 1);
  return line.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max);
}

/** A result's text and, set apart, what the tool says about it. */
export function withNotes(text: string, notes: readonly string[]): string {
  const said = notes.map((note) => `[${note}]`).join("\n");
  return [text, said].filter((part) => part !== "").join("\n\n");
}

/** "512 bytes", "50.0 KB", "3.2 MB": units of 1,024. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KB`;
  if (bytes < 1024 ** 3) return `${(bytes / 1024 ** 2).toFixed(1)} MB`;
  return `${(bytes / 1024 ** 3).toFixed(1)} GB`;
}

/** "1 line", "2,000 lines". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
}

/**
 * Escape sequences of terminals (ECMA-48): strings such as OSC up to their end or the end of the line, CSI, and
 * two-byte escapes, any of them possibly broken off. No alternative fails once begun, so the scan is linear.
 */
const ESCAPES = new RegExp(
  [
    String.raw`\x1b[\]PX^_][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?`,
    String.raw`(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?`,
    String.raw`\x1b[ -/]*[0-~]?`,
  ].join("|"),
  "g",
);
const CONTROLS = new RegExp(String.raw`[\x00-\x08\x0b-\x1f\x7f-\x9f]`, "g");

/**
 * What a program printed as plain text: no escape sequences, no control characters but newline and tab, and of a line
 * that was redrawn with carriage returns (a progress bar) only its last state.
 */
export function plainOutput(text: string): string {
  const drawn = text.replace(ESCAPES, "");
  const settled = drawn.includes("\r") ? drawn.split("\n").map(lastDrawing).join("\n") : drawn;
  return settled.replace(CONTROLS, "");
}

function lastDrawing(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === "\r") end--;
  return line.slice(line.lastIndexOf("\r", end - 1) + 1, end);
}
