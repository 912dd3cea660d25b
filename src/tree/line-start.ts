/**
 * `LineStart`: what the usual beginning of an entry's line says, read from the bytes alone, so that opening a session
 * need not parse what nobody looks at.
 * Part of `tree/`: pure. Used by the reader for every line and by session/ for lists.
 */
import { readTime } from "./format.ts";

const bytesOf = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));

const OPEN_TYPE = bytesOf('{"type":"');
const ID = bytesOf(',"id":"');
const PARENT = bytesOf(',"parentId":');
const NULL = bytesOf("null");
const TIME = bytesOf(',"timestamp":"');
const ROLE = bytesOf(',"message":{"role":"');
const PARENT_KEY = bytesOf('"parentId":');

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const CR = 0x0d;

/** Positions in the bytes last read; a text runs from `…From` to before `…To`. */
export class LineStart {
  typeFrom = 0;
  typeTo = 0;
  idFrom = 0;
  idTo = 0;
  /** -1 for null. */
  parentFrom = 0;
  parentTo = 0;
  timeFrom = 0;
  timeTo = 0;
  /** Just after the timestamp's closing quote. */
  end = 0;
  /** The role of a message, if it comes right after; -1 when it does not. */
  roleFrom = 0;
  roleTo = 0;
  /** NaN when the timestamp has not the usual form. */
  #time = 0;

  /**
   * Whether the bytes begin as bough, pi and oh-my-pi begin an entry: `{"type":"…","id":"…","parentId":…,
   * "timestamp":"…"`, in printable ASCII without escapes, and a member or the end after it.
   */
  read(bytes: Uint8Array, from: number, to: number): boolean {
    // Most lines that begin otherwise are told by their first byte.
    if (bytes[from] !== OPEN || !holds(bytes, from, to, OPEN_TYPE)) return false;
    this.typeFrom = from + OPEN_TYPE.length;
    this.typeTo = plainEnd(bytes, this.typeFrom, to);
    if (this.typeTo < 0 || !holds(bytes, this.typeTo + 1, to, ID)) return false;
    this.idFrom = this.typeTo + 1 + ID.length;
    this.idTo = plainEnd(bytes, this.idFrom, to);
    if (this.idTo < 0 || !holds(bytes, this.idTo + 1, to, PARENT)) return false;
    const time = this.#readParent(bytes, this.idTo + 1 + PARENT.length, to);
    if (time < 0 || !holds(bytes, time, to, TIME)) return false;
    this.#readTime(bytes, time + TIME.length, to);
    this.end = this.timeTo + 1;
    if (this.timeTo < 0 || this.end >= to || (bytes[this.end] !== COMMA && bytes[this.end] !== CLOSE)) return false;
    this.roleFrom = this.end + ROLE.length;
    this.roleTo = this.isMessage(bytes) && holds(bytes, this.end, to, ROLE) ? plainEnd(bytes, this.roleFrom, to) : -1;
    return true;
  }

  isMessage(bytes: Uint8Array): boolean {
    return isText(bytes, this.typeFrom, this.typeTo, "message");
  }

  #readTime(bytes: Uint8Array, from: number, to: number): void {
    this.timeFrom = from;
    const end = from + USUAL_TIME;
    this.#time = end < to && bytes[end] === QUOTE ? usualTime(bytes, from) : Number.NaN;
    this.timeTo = Number.isNaN(this.#time) ? plainEnd(bytes, from, to) : end;
  }

  /** Returns where the timestamp must follow; -1 when the parent is neither null nor a plain text. */
  #readParent(bytes: Uint8Array, from: number, to: number): number {
    if (bytes[from] !== QUOTE) {
      this.parentFrom = this.parentTo = -1;
      return holds(bytes, from, to, NULL) ? from + NULL.length : -1;
    }
    this.parentFrom = from + 1;
    this.parentTo = plainEnd(bytes, this.parentFrom, to);
    return this.parentTo < 0 ? -1 : this.parentTo + 1;
  }

  /** The entry's time as `readTime` reads it. */
  time(bytes: Uint8Array): number {
    return Number.isNaN(this.#time) ? readTime(plainText(bytes, this.timeFrom, this.timeTo)) : this.#time;
  }
}

/** Where a line's record ends: before the CR of files from Windows. */
export function recordEnd(bytes: Uint8Array, from: number, to: number): number {
  return to > from && bytes[to - 1] === CR ? to - 1 : to;
}

/** Kinds whose content is part of what opening a session must know. */
const READ_AT_ONCE = ["session", "leaf", "label", "session_info", "title_change", "compaction"];

/**
 * Whether a whole line, which must hold no NUL, need not be parsed to know its place in the session: `start` then says
 * it. The line holds one record, which begins as usual; whether the rest of it is sound shows when it is read.
 */
export function isUsualLine(start: LineStart, bytes: Uint8Array, from: number, to: number): boolean {
  return bytes[to - 1] === CLOSE && start.read(bytes, from, to) && isUsualStart(start, bytes, to);
}

/** The same for a line of which `start` has read the beginning and that ends with a brace. */
export function isUsualStart(start: LineStart, bytes: Uint8Array, to: number): boolean {
  if (start.isMessage(bytes)) {
    if (start.roleTo < 0) return false;
  } else if (READ_AT_ONCE.some((kind) => isText(bytes, start.typeFrom, start.typeTo, kind))) return false;
  return !hasParentKey(bytes, start.end, to);
}

/** The byte of `PARENT_KEY` that is rare in any text, and its place there. */
const RARE = 0x49;
const RARE_AT = PARENT_KEY.indexOf(RARE);
/** Looks for it in one line, after which another way is faster: base64 is full of it. */
const LOOKS = 16;

/** Whether `"parentId":` stands in the range: after a usual start that is a second record in the same line. */
export function hasParentKey(bytes: Uint8Array, from: number, to: number): boolean {
  let at = bytes.indexOf(RARE, from + RARE_AT);
  for (let looks = 0; at >= 0 && at < to; looks++) {
    if (holds(bytes, at - RARE_AT, to, PARENT_KEY)) return true;
    if (looks === LOOKS) return hasParentKeySlowly(bytes, at - RARE_AT + 1, to);
    at = bytes.indexOf(RARE, at + 1);
  }
  return false;
}

/** By byte: how far the search may move on when this byte stands at the key's end (Horspool). */
const SKIPS = new Uint8Array(256).fill(PARENT_KEY.length);
PARENT_KEY.forEach((byte, at) => (SKIPS[byte] = PARENT_KEY.length - 1 - at));

function hasParentKeySlowly(bytes: Uint8Array, from: number, to: number): boolean {
  const last = PARENT_KEY.length - 1;
  for (let at = from + last; at < to;) {
    const skip = SKIPS[bytes[at]!]!;
    if (skip > 0) at += skip;
    else if (holds(bytes, at - last, to, PARENT_KEY)) return true;
    else at++;
  }
  return false;
}

/** Whether `text` stands at `from`. */
function holds(bytes: Uint8Array, from: number, to: number, text: Uint8Array): boolean {
  if (from + text.length > to) return false;
  for (let at = 0; at < text.length; at++) if (bytes[from + at] !== text[at]) return false;
  return true;
}

/** The closing quote of a text of printable ASCII without escapes; -1 when it is anything else. */
function plainEnd(bytes: Uint8Array, from: number, to: number): number {
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!;
    if (byte === QUOTE) return at;
    if (byte < 0x20 || byte > 0x7e || byte === BACKSLASH) return -1;
  }
  return -1;
}

const decoder = new TextDecoder();

/** A range of ASCII as a string that does not keep the bytes alive. */
export function plainText(bytes: Uint8Array, from: number, to: number): string {
  // Ids have 8 characters as a rule, and a session has many.
  if (to - from !== 8) return decoder.decode(bytes.subarray(from, to));
  return String.fromCharCode(
    bytes[from]!,
    bytes[from + 1]!,
    bytes[from + 2]!,
    bytes[from + 3]!,
    bytes[from + 4]!,
    bytes[from + 5]!,
    bytes[from + 6]!,
    bytes[from + 7]!,
  );
}

/** Whether a range of ASCII is this text. */
export function isText(bytes: Uint8Array, from: number, to: number, text: string): boolean {
  if (to - from !== text.length) return false;
  for (let at = 0; at < text.length; at++) if (bytes[from + at] !== text.charCodeAt(at)) return false;
  return true;
}

/** Characters of `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
const USUAL_TIME = 24;
const [DASH, LETTER_T, COLON, POINT, LETTER_Z] = bytesOf("-T:.Z") as unknown as [
  number,
  number,
  number,
  number,
  number,
];
/** More than any field may be. */
const NO_NUMBER = 10_000;

/** Milliseconds of a timestamp of that form; NaN for every other form and on days that not every month has. */
function usualTime(bytes: Uint8Array, from: number): number {
  const year = twoDigits(bytes, from) * 100 + twoDigits(bytes, from + 2);
  const month = twoDigits(bytes, from + 5);
  const day = twoDigits(bytes, from + 8);
  const hour = twoDigits(bytes, from + 11);
  const minute = twoDigits(bytes, from + 14);
  const second = twoDigits(bytes, from + 17);
  const milliseconds = twoDigits(bytes, from + 20) * 10 + (twoDigits(bytes, from + 21) % 10);
  const isPunctuated =
    bytes[from + 4] === DASH &&
    bytes[from + 7] === DASH &&
    bytes[from + 10] === LETTER_T &&
    bytes[from + 13] === COLON &&
    bytes[from + 16] === COLON &&
    bytes[from + 19] === POINT &&
    bytes[from + 23] === LETTER_Z;
  const isDate = year <= 9999 && month >= 1 && month <= 12 && day >= 1 && day <= (month === 2 ? 28 : 30);
  const isTime = hour <= 23 && minute <= 59 && second <= 59 && milliseconds <= 999;
  if (!isPunctuated || !isDate || !isTime || twoDigits(bytes, from + 21) === NO_NUMBER) return Number.NaN;
  return (((daysBefore(year, month) + day - 1) * 24 + hour) * 60 + minute) * 60_000 + second * 1000 + milliseconds;
}

function twoDigits(bytes: Uint8Array, at: number): number {
  const tens = bytes[at]! - 0x30;
  const ones = bytes[at + 1]! - 0x30;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? 10 * tens + ones : NO_NUMBER;
}

/** Days from 1970 to the first of a month, in the Gregorian calendar. */
function daysBefore(year: number, month: number): number {
  // Years that begin in March end with the leap day.
  const shifted = month <= 2 ? year - 1 : year;
  const months = month <= 2 ? month + 9 : month - 3;
  const leaps = Math.floor(shifted / 4) - Math.floor(shifted / 100) + Math.floor(shifted / 400);
  return shifted * 365 + leaps + Math.floor((153 * months + 2) / 5) - 719_468;
}
