/**
 * `LineScanner`: splits a file into lines chunk by chunk, keeping only the lines that are wanted.
 * Part of `agent/`; used by the read tool.
 */
import { TextDecoder } from "node:util";
import type { Encoding } from "./file-content.ts";

const LF = 10;
const CR = 13;
/** A character is at most four bytes of UTF-8. */
const CHARACTER_BYTES = 4;

/** Gets a line without its line end; false when no more lines are wanted. */
export type LineTaker = (line: string) => boolean;

export class LineScanner {
  readonly #decoder: TextDecoder | undefined;
  readonly #maxBytes: number;
  readonly #first: number;
  readonly #take: LineTaker;
  #pieces: Buffer[] = [];
  #kept = 0;
  /** Of the line that has begun, kept or not. */
  #length = 0;
  #lastByte = 0;
  #complete = 0;
  #full = false;
  #withCr = 0;
  #withoutCr = 0;

  /**
   * Lines from number `first` (1-based) on go to `take`, each at least `maxCharacters` long before it may be cut.
   * They are cut only for memory's sake: a line longer than that is told from its length.
   */
  constructor(encoding: Encoding, maxCharacters: number, first: number, take: LineTaker) {
    this.#decoder = encoding === "utf-8" ? undefined : new TextDecoder(encoding, { ignoreBOM: true });
    this.#maxBytes = maxCharacters * CHARACTER_BYTES;
    this.#first = first;
    this.#take = take;
  }

  /** `take` has refused a line; the rest is only counted. */
  get full(): boolean {
    return this.#full;
  }

  /** Whether the lines taken ended in CRLF. */
  get carriageReturns(): "none" | "all" | "some" {
    if (this.#withCr === 0) return "none";
    return this.#withoutCr === 0 ? "all" : "some";
  }

  /** `chunk` may be reused afterwards. */
  push(chunk: Buffer): void {
    this.#scan(this.#decoder === undefined ? chunk : Buffer.from(this.#decoder.decode(chunk, { stream: true })));
  }

  /** Ends the last line, if it has no newline, and returns the number of lines. */
  finish(): number {
    if (this.#decoder !== undefined) this.#scan(Buffer.from(this.#decoder.decode()));
    if (this.#length > 0) this.#endLine(false);
    return this.#complete;
  }

  #scan(bytes: Buffer): void {
    let start = 0;
    for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, start)) {
      this.#add(bytes, start, end);
      this.#endLine(true);
      start = end + 1;
    }
    this.#add(bytes, start, bytes.length);
  }

  #add(bytes: Buffer, start: number, end: number): void {
    if (start === end) return;
    this.#length += end - start;
    this.#lastByte = bytes[end - 1]!;
    const room = Math.min(end - start, this.#maxBytes - this.#kept);
    if (!this.#wanted() || room === 0) return;
    this.#pieces.push(Buffer.from(bytes.subarray(start, start + room)));
    this.#kept += room;
  }

  #wanted(): boolean {
    return !this.#full && this.#complete + 1 >= this.#first;
  }

  #endLine(newline: boolean): void {
    if (this.#wanted()) this.#takeLine(newline);
    this.#complete++;
    this.#pieces = [];
    this.#kept = 0;
    this.#length = 0;
    this.#lastByte = 0;
  }

  #takeLine(newline: boolean): void {
    const text = Buffer.concat(this.#pieces, this.#kept).toString();
    const cr = newline && this.#lastByte === CR;
    const line = cr && text.endsWith("\r") ? text.slice(0, -1) : text;
    // A NUL ends strings in many programs on the way to the model.
    this.#full = !this.#take(line.replaceAll("\0", "␀"));
    if (this.#full || !newline) return;
    if (cr) this.#withCr++;
    else this.#withoutCr++;
  }
}
