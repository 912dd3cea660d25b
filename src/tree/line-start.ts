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
    this.timeFrom = time + TIME.length;
    this.timeTo = plainEnd(bytes, this.timeFrom, to);
    this.end = this.timeTo + 1;
    return this.timeTo >= 0 && this.end < to && (bytes[this.end] === COMMA || bytes[this.end] === CLOSE);
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

  /** Where the role of a message ends that comes right after the usual start; its first byte is at `roleFrom`. */
  roleTo(bytes: Uint8Array, to: number): number {
    return holds(bytes, this.end, to, ROLE) ? plainEnd(bytes, this.roleFrom, to) : -1;
  }
  get roleFrom(): number {
    return this.end + ROLE.length;
  }

  /** The entry's time as `readTime` reads it. */
  time(bytes: Uint8Array): number {
    const time = usualTime(bytes, this.timeFrom, this.timeTo);
    return Number.isNaN(time) ? readTime(plainText(bytes, this.timeFrom, this.timeTo)) : time;
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
  if (bytes[to - 1] !== CLOSE || !start.read(bytes, from, to)) return false;
  if (isText(bytes, start.typeFrom, start.typeTo, "message")) {
    if (start.roleTo(bytes, to) < 0) return false;
  } else if (READ_AT_ONCE.some((kind) => isText(bytes, start.typeFrom, start.typeTo, kind))) return false;
  return !hasParentKey(bytes, start.end, to);
}

/** By byte: how far a search for `PARENT_KEY` may move on when this byte stands at the key's end (Horspool). */
const SKIPS = new Uint8Array(256).fill(PARENT_KEY.length);
PARENT_KEY.forEach((byte, at) => (SKIPS[byte] = PARENT_KEY.length - 1 - at));

/** Whether `"parentId":` stands in the range: after a usual start that is a second record in the same line. */
export function hasParentKey(bytes: Uint8Array, from: number, to: number): boolean {
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

const ISO = bytesOf("0000-00-00T00:00:00.000Z");
const DIGIT = 0x30;

/** Milliseconds of `YYYY-MM-DDTHH:MM:SS.mmmZ`; NaN for every other form and on days that not every month has. */
function usualTime(bytes: Uint8Array, from: number, to: number): number {
  if (to - from !== ISO.length) return Number.NaN;
  for (let at = 0; at < ISO.length; at++) {
    const byte = bytes[from + at]!;
    if (ISO[at] === DIGIT ? byte < DIGIT || byte > DIGIT + 9 : byte !== ISO[at]) return Number.NaN;
  }
  const two = (at: number): number => (bytes[from + at]! - DIGIT) * 10 + bytes[from + at + 1]! - DIGIT;
  const year = two(0) * 100 + two(2);
  const month = two(5);
  const day = two(8);
  const hour = two(11);
  const minute = two(14);
  const second = two(17);
  const longest = month === 2 ? 28 : 30;
  if (month < 1 || month > 12 || day < 1 || day > longest || hour > 23 || minute > 59 || second > 59) return Number.NaN;
  const milliseconds = two(20) * 10 + bytes[from + 22]! - DIGIT;
  return (((daysBefore(year, month) + day - 1) * 24 + hour) * 60 + minute) * 60_000 + second * 1000 + milliseconds;
}

/** Days from 1970 to the first of a month, in the Gregorian calendar. */
function daysBefore(year: number, month: number): number {
  // Years that begin in March end with the leap day.
  const shifted = month <= 2 ? year - 1 : year;
  const months = month <= 2 ? month + 9 : month - 3;
  const leaps = Math.floor(shifted / 4) - Math.floor(shifted / 100) + Math.floor(shifted / 400);
  return shifted * 365 + leaps + Math.floor((153 * months + 2) / 5) - 719_468;
}
