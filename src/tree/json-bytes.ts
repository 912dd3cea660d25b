/**
 * Finding one's way in the bytes of JSON without parsing it. The bytes are taken to be sound: in others a place is found
 * that means nothing, never one outside of them.
 * Part of `tree/`: pure. Used by the outline to look at answers.
 */
import { isText } from "./line-start.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [COMMA, COLON] = [0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The members of one object or the items of one list, one after the other. No white space between the tokens. */
export class JsonCursor {
  readonly #bytes: Uint8Array;
  /** The next byte. */
  at: number;
  #textFrom = 0;
  #textTo = 0;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  /** Steps over this byte, if it comes next. */
  take(byte: number): boolean {
    if (this.#bytes[this.at] !== byte) return false;
    this.at++;
    return true;
  }
  takeOpenList(): boolean {
    return this.take(OPEN_LIST);
  }
  takeCloseList(): boolean {
    return this.take(CLOSE_LIST);
  }
  takeOpenObject(): boolean {
    return this.take(OPEN_OBJECT);
  }
  takeCloseObject(): boolean {
    return this.take(CLOSE_OBJECT);
  }

  /** Steps over a text without escapes, which `is` then compares; false when something else comes next. */
  takePlainText(): boolean {
    const bytes = this.#bytes;
    if (bytes[this.at] !== QUOTE) return false;
    for (let at = this.at + 1; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (byte === QUOTE) {
        this.#textFrom = this.at + 1;
        this.#textTo = at;
        this.at = at + 1;
        return true;
      }
      if (byte < 0x20 || byte > 0x7e || byte === BACKSLASH) return false;
    }
    return false;
  }
  /** Steps over a member's name, of plain text, and its colon. */
  takeName(): boolean {
    return this.takePlainText() && this.take(COLON);
  }
  /** Whether the text stepped over last is this one. */
  is(text: string): boolean {
    return isText(this.#bytes, this.#textFrom, this.#textTo, text);
  }

  /** Steps over a whole value. */
  skip(): void {
    this.#skip(0);
  }
  /** Steps over the rest of the object or list it is in. */
  skipRest(): void {
    this.#skip(1);
  }

  #skip(from: number): void {
    const bytes = this.#bytes;
    let { at } = this;
    for (let depth = from; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (byte === QUOTE) {
        at = closingQuote(bytes, at);
        if (depth > 0) continue;
        at++;
        break;
      }
      if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
      else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        if (depth === 0) break;
        if (--depth > 0) continue;
        at++;
        break;
      } else if (byte === COMMA && depth === 0) break;
    }
    this.at = Math.min(at, bytes.length);
  }
}

/** Names and most values are shorter than what a search by the platform costs. */
const SHORT_TEXT = 24;

/** Where the text that begins at `from` ends; the end of the bytes when it does not. */
function closingQuote(bytes: Uint8Array, from: number): number {
  for (let at = quoteAfter(bytes, from); at >= 0; at = quoteAfter(bytes, at)) {
    let escapes = 0;
    while (bytes[at - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return at;
  }
  return bytes.length;
}

function quoteAfter(bytes: Uint8Array, from: number): number {
  const near = Math.min(from + SHORT_TEXT, bytes.length);
  for (let at = from + 1; at < near; at++) if (bytes[at] === QUOTE) return at;
  return bytes.indexOf(QUOTE, near);
}
