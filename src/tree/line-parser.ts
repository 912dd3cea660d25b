/**
 * One line's bytes in, the records in it and what was wrong with it out. Damaged lines give up the whole records
 * they hold: one bad line costs at most itself.
 * Part of `tree/`: pure. Used by the reader, and by the index for bodies.
 */
import { isRecord } from "./json.ts";
import { ENTRY_KINDS } from "./kinds.ts";
import { sealStart, sealState } from "./line-seal.ts";
import type { Checksum, SealState } from "./line-seal.ts";
import { LineStart, isText, isUsualLine, plainText, recordEnd } from "./line-start.ts";
import type { RawLine } from "./line-splitter.ts";
import { lineProblem } from "./problems.ts";
import type { Problem } from "./problems.ts";

/** A record, and what is wrong with it as a whole; then only its base fields are left in it. */
export interface Body {
  record: Record<string, unknown>;
  fault: string | undefined;
  /** Whether all its bytes are UTF-8; others read as U+FFFD. */
  utf8: boolean;
  /** Of a message, as its line begins; undefined when it has none. */
  role: string | undefined;
  /** That of its line, which `record` does not show. */
  seal: SealState;
}

export interface ParsedRecord extends Body {
  /** Where its bytes are in the file. */
  offset: number;
  length: number;
}

export interface ParsedLine {
  records: ParsedRecord[];
  problem: Problem | undefined;
}

/**
 * JSON.stringify and other recursive code overflow at some thousand levels; nothing an agent writes comes near this.
 */
const DEEPEST = 1000;
const BASE_FIELDS = ["type", "id", "parentId", "timestamp"];

/** In a few words, as `EntryKind.fault` has them. */
const TOO_DEEP = "nested too deeply";
const TWICE = "it says twice what it is";
const NOT_JSON = "its line is not valid JSON";

const OPEN = 0x7b;
const CLOSE = 0x7d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const strictUtf8 = new TextDecoder("utf-8", { fatal: true });
const lenientUtf8 = new TextDecoder("utf-8");

/**
 * Lines of white space alone hold nothing, and nothing is wrong with them. Seals are taken off, and checked where there
 * is a `checksum`.
 */
export function parseLine(line: RawLine, checksum?: Checksum): ParsedLine {
  if (line.tooLong) return { records: [], problem: lineProblem.tooLong(line.number) };
  const [from, to] = withoutSpace(line.bytes, 0, line.bytes.length);
  if (from === to) return { records: [], problem: line.nuls > 0 ? lineProblem.nulRun(line.number, false) : undefined };
  const whole = parse(line.bytes, from, to);
  if (whole === undefined) return damaged(line, from, to, checksum);
  if (!isRecord(whole.value)) return { records: [], problem: lineProblem.notAnObject(line.number) };
  const problem = line.nuls > 0 ? lineProblem.nulRun(line.number, true) : undefined;
  return { records: [asRecord(whole.value, whole.utf8, line, from, to, checksum)], problem };
}

/** The bytes of one record, found in a file before, as its body. */
export function parseBody(bytes: Uint8Array, checksum?: Checksum): Body {
  const whole = parse(bytes, 0, bytes.length);
  if (whole !== undefined && isRecord(whole.value))
    return soundBody(whole.value, whole.utf8, bytes, 0, bytes.length, checksum);
  const start = new LineStart();
  return brokenBody(start.read(bytes, 0, bytes.length) ? start : undefined, bytes, checksum);
}

/** The record itself; a timestamp that is no text becomes "". */
export function withTime(record: Record<string, unknown>): Record<string, unknown> {
  if (typeof record["timestamp"] !== "string") record["timestamp"] = "";
  return record;
}

/** A line that is not JSON still has its place when it begins as usual and nothing shows that it holds several. */
function damaged(line: RawLine, from: number, to: number, checksum: Checksum | undefined): ParsedLine {
  const { bytes } = line;
  const start = new LineStart();
  const isPlain = line.terminated && line.nuls === 0 && !bytes.includes(0) && to === recordEnd(bytes, 0, bytes.length);
  if (from > 0 || !isPlain || !isUsualLine(start, bytes, from, to)) return salvage(line, from, to, checksum);
  const body = brokenBody(start, bytes, checksum);
  return { records: [{ ...body, offset: line.offset + from, length: to - from }], problem: undefined };
}

function brokenBody(start: LineStart | undefined, bytes: Uint8Array, checksum: Checksum | undefined): Body {
  const seal = sealState(bytes, 0, recordEnd(bytes, 0, bytes.length), checksum);
  const broken = { fault: NOT_JSON, utf8: true, seal };
  if (start === undefined) return { ...broken, record: {}, role: undefined };
  return { ...broken, record: baseAtStart(start, bytes), role: roleAtStart(start, bytes) };
}

/** The value of a range of bytes without its seal, or undefined when it is not JSON. */
function parse(bytes: Uint8Array, from: number, to: number): { value: unknown; utf8: boolean } | undefined {
  const seal = sealStart(bytes, from, to);
  const range = from === 0 && seal === bytes.length ? bytes : bytes.subarray(from, seal);
  const closing = seal === to ? "" : "}";
  let text: string;
  let utf8 = true;
  try {
    text = strictUtf8.decode(range);
  } catch {
    utf8 = false;
    text = lenientUtf8.decode(range);
  }
  try {
    return { value: JSON.parse(text + closing) as unknown, utf8 };
  } catch {
    return undefined;
  }
}

function asRecord(
  value: Record<string, unknown>,
  utf8: boolean,
  line: RawLine,
  from: number,
  to: number,
  checksum: Checksum | undefined,
): ParsedRecord {
  return { ...soundBody(value, utf8, line.bytes, from, to, checksum), offset: line.offset + from, length: to - from };
}

/** One for all: nothing of it is left when `soundBody` returns. */
const bodyStart = new LineStart();

/** What a record's usual start says counts, also when later members say something else. */
export function soundBody(
  value: Record<string, unknown>,
  utf8: boolean,
  bytes: Uint8Array,
  from: number,
  to: number,
  checksum: Checksum | undefined,
): Body {
  const seal = sealState(bytes, from, to, checksum);
  const message = value["type"] === "message" ? value["message"] : undefined;
  const role = isRecord(message) && typeof message["role"] === "string" ? message["role"] : undefined;
  if (bodyStart.read(bytes, from, to) && !saysTheSame(bodyStart, bytes, value, role))
    return { record: baseAtStart(bodyStart, bytes), fault: TWICE, role: roleAtStart(bodyStart, bytes), utf8, seal };
  // Each level costs at least two bytes, so most lines need no look.
  if (to - from > 2 * DEEPEST && isDeeperThan(value, DEEPEST))
    return { record: baseOf(value), fault: TOO_DEEP, role, utf8, seal };
  return { record: value, fault: undefined, role, utf8, seal };
}

/** Compares bytes: this is asked of every body, and a text made for it would be thrown away. */
function saysTheSame(
  { typeFrom, typeTo, idFrom, idTo, parentFrom, parentTo, timeFrom, timeTo, roleFrom, roleTo }: LineStart,
  bytes: Uint8Array,
  { type, id, parentId, timestamp }: Record<string, unknown>,
  role: string | undefined,
): boolean {
  const says = (from: number, to: number, value: unknown): boolean =>
    typeof value === "string" && isText(bytes, from, to, value);
  return (
    says(typeFrom, typeTo, type) &&
    says(idFrom, idTo, id) &&
    (parentFrom < 0 ? parentId === null : says(parentFrom, parentTo, parentId)) &&
    says(timeFrom, timeTo, timestamp) &&
    (roleTo < 0 || says(roleFrom, roleTo, role))
  );
}

function baseAtStart(start: LineStart, bytes: Uint8Array): Record<string, unknown> {
  return {
    type: plainText(bytes, start.typeFrom, start.typeTo),
    id: plainText(bytes, start.idFrom, start.idTo),
    parentId: start.parentFrom < 0 ? null : plainText(bytes, start.parentFrom, start.parentTo),
    timestamp: plainText(bytes, start.timeFrom, start.timeTo),
  };
}

function roleAtStart({ roleFrom, roleTo }: LineStart, bytes: Uint8Array): string | undefined {
  return roleTo < 0 ? undefined : plainText(bytes, roleFrom, roleTo);
}

function baseOf(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    BASE_FIELDS.filter((field) => value[field] === null || typeof value[field] === "string").map((field) => [
      field,
      value[field],
    ]),
  );
}

function isDeeperThan(value: object, limit: number): boolean {
  let level: object[] = [value];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > limit) return true;
    const below: object[] = [];
    for (const parent of level)
      for (const child of Object.values(parent) as unknown[])
        if (typeof child === "object" && child !== null) below.push(child);
    level = below;
  }
  return false;
}

/**
 * Whole records at the start of a line that is not JSON (`{good}{frag`), then at its end (`{frag{good}`). Each byte is
 * scanned at most twice and each record parsed once, however many braces the line has.
 */
function salvage(line: RawLine, from: number, to: number, checksum: Checksum | undefined): ParsedLine {
  const { bytes } = line;
  const first: ParsedRecord[] = [];
  const last: ParsedRecord[] = [];
  let sawNul = line.nuls > 0;
  let restFrom = from;
  let restTo = to;
  const take = (start: number, end: number, into: ParsedRecord[]): boolean => {
    const parsed = parse(bytes, start, end);
    if (parsed === undefined || !looksLikeEntry(parsed.value)) return false;
    into.push(asRecord(parsed.value, parsed.utf8, line, start, end, checksum));
    const [nextFrom, nextTo] = into === first ? [end, restTo] : [restFrom, start];
    [restFrom, restTo] = withoutPadding(bytes, nextFrom, nextTo);
    sawNul ||= restFrom > nextFrom && bytes.subarray(nextFrom, restFrom).includes(0);
    sawNul ||= nextTo > restTo && bytes.subarray(restTo, nextTo).includes(0);
    return true;
  };
  for (let end = objectEnd(bytes, restFrom, restTo); end > 0 && take(restFrom, end, first);)
    end = objectEnd(bytes, restFrom, restTo);
  for (let start = objectStart(bytes, restFrom, restTo); start >= 0 && take(start, restTo, last);)
    start = objectStart(bytes, restFrom, restTo);

  const records = [...first, ...last.reverse()];
  if (records.length === 0)
    return {
      records,
      problem: line.terminated ? lineProblem.badLine(line.number) : lineProblem.tornTail(line.number),
    };
  const onlyPadding = sawNul && records.length === 1 && restFrom === restTo;
  return {
    records,
    problem: onlyPadding ? lineProblem.nulRun(line.number, true) : lineProblem.fusedLine(line.number, records.length),
  };
}

/** Parts of a torn record (a content block, a tool call) parse too, but only entries and headers have all of these. */
function looksLikeEntry(value: unknown): value is Record<string, unknown> {
  if (!isRecord(value) || typeof value.type !== "string" || typeof value.timestamp !== "string") return false;
  // Version 1 had no ids.
  if (typeof value.id !== "string") return value.id === undefined && Object.hasOwn(ENTRY_KINDS, value.type);
  return value.type === "session" || value.parentId === null || typeof value.parentId === "string";
}

/** Just after the `}` that closes the object at `from`; -1 when there is none. UTF-8 never repeats ASCII bytes. */
function objectEnd(bytes: Uint8Array, from: number, to: number): number {
  if (from >= to || bytes[from] !== OPEN) return -1;
  let depth = 0;
  let inString = false;
  for (let at = from; at < to; at++) {
    const byte = bytes[at];
    if (inString && byte === BACKSLASH) at++;
    else if (byte === QUOTE) inString = !inString;
    else if (!inString && byte === OPEN) depth++;
    else if (!inString && byte === CLOSE && --depth === 0) return at + 1;
  }
  return -1;
}

/** The `{` of the object whose `}` is the last byte before `to`; -1 when there is none. */
function objectStart(bytes: Uint8Array, from: number, to: number): number {
  if (from >= to || bytes[to - 1] !== CLOSE) return -1;
  let depth = 0;
  let inString = false;
  for (let at = to - 1; at >= from; at--) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      let escapes = 0;
      while (inString && at - escapes > from && bytes[at - escapes - 1] === BACKSLASH) escapes++;
      if (escapes % 2 === 0) inString = !inString;
      at -= escapes;
    } else if (!inString && byte === CLOSE) depth++;
    else if (!inString && byte === OPEN && --depth === 0) return at;
  }
  return -1;
}

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0d;

function withoutSpace(bytes: Uint8Array, from: number, to: number): [from: number, to: number] {
  return trimmed(bytes, skipByteOrderMark(bytes, from, to), to, isSpace);
}

function withoutPadding(bytes: Uint8Array, from: number, to: number): [from: number, to: number] {
  return trimmed(bytes, from, to, (byte) => byte === 0 || isSpace(byte));
}

function trimmed(
  bytes: Uint8Array,
  from: number,
  to: number,
  drop: (byte: number | undefined) => boolean,
): [from: number, to: number] {
  while (to > from && drop(bytes[to - 1])) to--;
  while (from < to && drop(bytes[from])) from++;
  return [from, to];
}

/** Editors put one at the start of a file; joined files have them at the start of later lines. */
function skipByteOrderMark(bytes: Uint8Array, from: number, to: number): number {
  return to - from >= 3 && bytes[from] === 0xef && bytes[from + 1] === 0xbb && bytes[from + 2] === 0xbf
    ? from + 3
    : from;
}
