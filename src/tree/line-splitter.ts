/**
 * `LineSplitter`: chunks of a file in, lines out. LF alone ends a line; chunk borders fall anywhere.
 * Part of `tree/`: pure. Used by the reader.
 */

export interface RawLine {
  /** Without its newline and without NUL bytes at its two ends. Valid during the call only. */
  bytes: Uint8Array;
  /** Where `bytes` starts in the file. */
  offset: number;
  /** 1-based */
  number: number;
  /** NUL bytes cut from the two ends. */
  nuls: number;
  /** False for a last line without LF. */
  terminated: boolean;
  /** Too long to become one string; `bytes` is then empty. */
  tooLong: boolean;
}

/**
 * Gets a line that lies within one chunk, ends with LF and holds no NUL: a range of bytes, without a view being made of
 * it, which costs more than many a line. Returns whether that was enough; if not, the line is reported as any other.
 */
export type TakeWhole = (bytes: Uint8Array, from: number, to: number, offset: number, number: number) => boolean;

/** V8's longest string, in characters; a longer line cannot be decoded. */
const LONGEST_STRING = 0x1fffffe8;
const LF = 0x0a;

export class LineSplitter {
  /** Bytes pushed so far. */
  bytes = 0;
  /** Lines seen so far, blank ones included. */
  lines = 0;
  readonly #onLine: (line: RawLine) => void;
  readonly #longest: number;
  readonly #takeWhole: TakeWhole | undefined;
  /** Copies of the parts of a line that began in an earlier chunk. */
  #held: Uint8Array[] = [];
  #heldLength = 0;
  /** NUL bytes before and after what is held; not stored, so that a long run costs no memory. */
  #nulsBefore = 0;
  #nulsAfter = 0;
  #tooLong = false;
  #lineStart = 0;

  /**
   * @param onLine gets every line but those of length 0, which are only counted
   * @param longest bytes of a line that can still be read, NULs at its ends not included; default: V8's longest string
   */
  constructor(onLine: (line: RawLine) => void, longest: number = LONGEST_STRING, takeWhole?: TakeWhole) {
    this.#onLine = onLine;
    this.#longest = longest;
    this.#takeWhole = takeWhole;
  }

  /** Whether the last byte ends a line; true before the first byte. */
  get sealed(): boolean {
    return this.#lineStart === this.bytes;
  }

  /** `chunk` may be reused afterwards. */
  push(chunk: Uint8Array): void {
    const base = this.bytes;
    let start = 0;
    let nul = this.#takeWhole === undefined ? -1 : chunk.indexOf(0);
    while (start < chunk.length) {
      if (this.#lineStart === base + start && chunk[start] === LF) {
        start = this.#skipBlankLines(chunk, start);
        this.#lineStart = base + start;
        continue;
      }
      const end = chunk.indexOf(LF, start);
      if (nul >= 0 && nul < start) nul = chunk.indexOf(0, start);
      const isWhole = end >= 0 && this.#lineStart === base + start && (nul < 0 || nul > end);
      if (isWhole && this.#takeWhole?.(chunk, start, end, base + start, this.lines + 1)) {
        this.lines++;
        start = end + 1;
        this.#lineStart = base + start;
        continue;
      }
      const part = chunk.subarray(start, end < 0 ? chunk.length : end);
      start += part.length + 1;
      if (end < 0) this.#hold(part);
      else this.#endLine(part, base + start);
    }
    this.bytes = base + chunk.length;
  }

  /** Counts a whole line of so many bytes, its newline included, that need not be looked at; all before it must be `sealed`. */
  pass(length: number): void {
    this.lines++;
    this.bytes += length;
    this.#lineStart = this.bytes;
  }

  /** Reports the last line if it has no LF. */
  finish(): void {
    if (!this.sealed) this.#emit(new Uint8Array(0), false);
  }

  /** A file may hold hundreds of millions of empty lines: they are counted in the tightest loop. */
  #skipBlankLines(chunk: Uint8Array, start: number): number {
    let at = start;
    while (at < chunk.length && chunk[at] === LF) at++;
    this.lines += at - start;
    return at;
  }

  #endLine(lastPart: Uint8Array, nextStart: number): void {
    this.#emit(lastPart, true);
    if (this.#held.length > 0) this.#held = [];
    this.#heldLength = this.#nulsBefore = this.#nulsAfter = 0;
    this.#tooLong = false;
    this.#lineStart = nextStart;
  }

  #hold(part: Uint8Array): void {
    const [from, to] = withoutNuls(part);
    if (from === to) {
      if (this.#heldLength === 0) this.#nulsBefore += part.length;
      else this.#nulsAfter += part.length;
      return;
    }
    if (this.#heldLength === 0) this.#nulsBefore += from;
    const content = part.subarray(this.#heldLength === 0 ? from : 0, to);
    this.#keep(content);
    this.#nulsAfter = part.length - to;
  }

  #keep(content: Uint8Array): void {
    this.#heldLength += this.#nulsAfter + content.length;
    if (this.#heldLength > this.#longest) {
      this.#tooLong = true;
      this.#held = [];
    }
    if (this.#tooLong) return;
    if (this.#nulsAfter > 0) this.#held.push(new Uint8Array(this.#nulsAfter));
    // Not slice: a Node Buffer's shares the memory that the caller will reuse.
    this.#held.push(Uint8Array.from(content));
  }

  #emit(lastPart: Uint8Array, terminated: boolean): void {
    this.lines++;
    let bytes = lastPart;
    if (this.#heldLength > 0 || this.#nulsBefore > 0) {
      this.#hold(lastPart);
      bytes = this.#tooLong ? new Uint8Array(0) : joined(this.#held);
    }
    const [from, to] = withoutNuls(bytes);
    this.#onLine({
      bytes: bytes.subarray(from, to),
      offset: this.#lineStart + this.#nulsBefore + from,
      number: this.lines,
      nuls: this.#nulsBefore + this.#nulsAfter + from + bytes.length - to,
      terminated,
      tooLong: this.#tooLong,
    });
  }
}

/** The range left without NUL bytes at the ends; empty when there is nothing else. */
function withoutNuls(bytes: Uint8Array): [from: number, to: number] {
  let from = 0;
  let to = bytes.length;
  while (to > 0 && bytes[to - 1] === 0) to--;
  while (from < to && bytes[from] === 0) from++;
  return [from, to];
}

function joined(parts: Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0] as Uint8Array;
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
