/**
 * `glanceAtAnswer`: whether an answer of the model says something and calls tools, seen in the bytes of its line:
 * an outline must know the first of all answers before it can show the first row.
 * Part of `tree/`: pure. Used by the outline's traits.
 */
import { JsonCursor } from "./json-bytes.ts";
import { isText } from "./line-start.ts";

export interface AnswerGlance {
  /** Whether it says nothing and ended as usual: it was done, or calls tools. */
  isSilent: boolean;
  /** Undefined when that was not looked for. */
  hasCalls: boolean | undefined;
}

/** What the members that the cursor has passed tell. */
interface Found {
  text: boolean;
  call: boolean;
  earlyEnd: boolean;
}

const OPEN = 0x7b;
const COMMA = 0x2c;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const [LETTER_N, LETTER_R, LETTER_T] = [0x6e, 0x72, 0x74];
const MESSAGE = ',"message":';
const ROLE = `${MESSAGE}{"role":"assistant"`;

/**
 * Undefined when the bytes do not tell it for sure: they are written in another way, or a name stands there twice. What
 * an answer says comes first as a rule: no more is then looked at, and the first content counts.
 */
export function glanceAtAnswer(line: Uint8Array): AnswerGlance | undefined {
  // In a text quotes are escaped: what looks like this before the first nested object is a member of the entry.
  const start = line.indexOf(OPEN, 1) - MESSAGE.length;
  if (start < 0 || !isText(line, start, start + ROLE.length, ROLE)) return undefined;
  const found = { text: false, call: false, earlyEnd: false };
  const cursor = new JsonCursor(line, start + ROLE.length);
  const isSure = glanceAtMessage(line, cursor, found) && endsEntry(cursor) && cursor.at === line.length;
  if (found.text) return { isSilent: false, hasCalls: found.call || undefined };
  return isSure ? { isSilent: !found.earlyEnd, hasCalls: found.call } : undefined;
}

/** The members after the role. False when they are not for sure what they should be, and as soon as a text is found. */
function glanceAtMessage(line: Uint8Array, cursor: JsonCursor, found: Found): boolean {
  let contents = 0;
  let reasons = 0;
  while (cursor.take(COMMA)) {
    if (!cursor.takeName() || cursor.is("role")) return false;
    if (cursor.is("content")) {
      if (++contents > 1 || !glanceAtBlocks(line, cursor, found)) return false;
    } else if (cursor.is("stopReason")) {
      if (++reasons > 1 || !cursor.takePlainText()) return false;
      found.earlyEnd = !cursor.is("stop") && !cursor.is("toolUse");
    } else cursor.skip();
  }
  return contents === 1 && cursor.takeCloseObject();
}

/** The members after the message. */
function endsEntry(cursor: JsonCursor): boolean {
  while (cursor.take(COMMA)) {
    if (!cursor.takeName() || cursor.is("message")) return false;
    cursor.skip();
  }
  return cursor.takeCloseObject();
}

function glanceAtBlocks(line: Uint8Array, cursor: JsonCursor, found: Found): boolean {
  if (!cursor.takeOpenList()) return false;
  if (cursor.takeCloseList()) return true;
  do {
    if (!glanceAtBlock(line, cursor, found)) return false;
  } while (cursor.take(COMMA));
  return cursor.takeCloseList();
}

/** A block that begins with its type. */
function glanceAtBlock(line: Uint8Array, cursor: JsonCursor, found: Found): boolean {
  if (!cursor.takeOpenObject() || !cursor.takeName() || !cursor.is("type") || !cursor.takePlainText()) return false;
  if (!cursor.is("text")) {
    if (cursor.is("toolCall")) found.call = true;
    cursor.skipRest();
    return true;
  }
  let texts = 0;
  while (cursor.take(COMMA)) {
    if (!cursor.takeName() || cursor.is("type")) return false;
    if (cursor.is("text")) {
      const shows = ++texts > 1 ? undefined : showsText(line, cursor.at);
      if (shows === undefined) return false;
      found.text = shows;
      if (shows) return false;
    }
    cursor.skip();
  }
  return cursor.takeCloseObject();
}

/** Whether the text that begins at `quote` has a visible character; undefined when its first ones do not tell. */
function showsText(line: Uint8Array, quote: number): boolean | undefined {
  if (line[quote] !== QUOTE) return undefined;
  let at = quote + 1;
  for (;;) {
    const [byte, next] = [line[at], line[at + 1]];
    if (byte === QUOTE) return false;
    if (byte === SPACE) at++;
    else if (byte !== BACKSLASH) return isSurelyVisible(byte, next) || undefined;
    else if (next === QUOTE || next === BACKSLASH) return true;
    else if (next === LETTER_N || next === LETTER_R || next === LETTER_T) at += 2;
    else return undefined;
  }
}

/** Whether a character that begins with these bytes is no white space and no control character. */
function isSurelyVisible(first = 0, second = 0): boolean {
  if (first < 0x80) return first > SPACE && first < 0x7f;
  // Beyond ASCII those begin with C2 80 to C2 A0, E1 9A, E2 80, E2 81, E3 80 and EF BB.
  if (first === 0xc2) return second > 0xa0;
  if (first === 0xe1) return second !== 0x9a;
  if (first === 0xe2) return second > 0x81;
  if (first === 0xe3) return second > 0x80;
  if (first === 0xef) return second !== 0xbb;
  return first > 0xc2;
}
