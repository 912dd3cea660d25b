/**
 * `glanceAtAnswer`: whether an answer of the model says something and calls tools, seen in the bytes of its line:
 * an outline must know that of all answers before it can show the first row.
 * Part of `tree/`: pure. Used by the outline's traits.
 */
import { JsonCursor } from "./json-bytes.ts";
import { LineStart } from "./line-start.ts";

export interface AnswerGlance {
  saysSomething: boolean;
  hasCalls: boolean;
  /** Whether it stopped for a reason other than that it was done or calls tools. */
  endedEarly: boolean;
}

const COMMA = 0x2c;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Undefined when the bytes do not tell it for sure: they are written in another way, or a name stands there twice. */
export function glanceAtAnswer(line: Uint8Array): AnswerGlance | undefined {
  const start = new LineStart();
  if (!start.read(line, 0, line.length) || start.roleTo < 0) return undefined;
  const found: AnswerGlance = { saysSomething: false, hasCalls: false, endedEarly: false };
  const cursor = new JsonCursor(line, start.roleTo + 1);
  return glanceAtMessage(line, cursor, found) && endsEntry(cursor) && cursor.at === line.length ? found : undefined;
}

/** The members after the role. */
function glanceAtMessage(line: Uint8Array, cursor: JsonCursor, found: AnswerGlance): boolean {
  let contents = 0;
  let reasons = 0;
  while (cursor.take(COMMA)) {
    if (!cursor.takeName() || cursor.is("role")) return false;
    if (cursor.is("content")) {
      if (++contents > 1 || !glanceAtBlocks(line, cursor, found)) return false;
    } else if (cursor.is("stopReason")) {
      if (++reasons > 1 || !cursor.takePlainText()) return false;
      found.endedEarly = !cursor.is("stop") && !cursor.is("toolUse");
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

function glanceAtBlocks(line: Uint8Array, cursor: JsonCursor, found: AnswerGlance): boolean {
  if (!cursor.takeOpenList()) return false;
  if (cursor.takeCloseList()) return true;
  do {
    if (!glanceAtBlock(line, cursor, found)) return false;
  } while (cursor.take(COMMA));
  return cursor.takeCloseList();
}

/** A block that begins with its type. */
function glanceAtBlock(line: Uint8Array, cursor: JsonCursor, found: AnswerGlance): boolean {
  if (!cursor.takeOpenObject() || !cursor.takeName() || !cursor.is("type") || !cursor.takePlainText()) return false;
  const isText = cursor.is("text");
  if (cursor.is("toolCall")) found.hasCalls = true;
  let texts = 0;
  while (cursor.take(COMMA)) {
    if (!cursor.takeName() || cursor.is("type")) return false;
    if (isText && cursor.is("text")) {
      const first = line[cursor.at + 1];
      if (++texts > 1 || line[cursor.at] !== QUOTE || !isSurelyVisible(first)) return false;
      if (first !== QUOTE) found.saysSomething = true;
    }
    cursor.skip();
  }
  return cursor.takeCloseObject();
}

/** A first character that is no white space, or the quote that ends an empty text. */
const isSurelyVisible = (byte: number | undefined): boolean =>
  byte !== undefined && byte > 0x20 && byte < 0x7f && byte !== BACKSLASH;
