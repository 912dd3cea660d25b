/**
 * What a repair would do to a session file, line by line, without doing it: which bytes stay, and which are moved out.
 * Part of `session/`; used by repair.ts.
 *
 * Whole records stay, each on a line of its own, byte for byte. What no reader can use is moved out: fragments, lines
 * that are no JSON or no record, runs of NUL, headers after the first, and records that repeat an earlier one.
 */
import type { CompactionEntry } from "../tree/entries.ts";
import { parseLine } from "../tree/line-parser.ts";
import type { ParsedLine, ParsedRecord } from "../tree/line-parser.ts";
import type { LineSource } from "../tree/line-source.ts";
import { LineSplitter } from "../tree/line-splitter.ts";
import type { RawLine } from "../tree/line-splitter.ts";
import type { ProblemCode } from "../tree/problems.ts";
import type { ReadSession } from "./open-session.ts";
import { NEWLINE, chunksOf } from "./copied-lines.ts";

/** Bytes of a file. */
export interface Range {
  offset: number;
  length: number;
}

/** Bytes that are moved out. */
export interface Removal extends Range {
  /** 1-based line of the file as it is before the repair. */
  line: number;
  code: ProblemCode;
}

/** A line that does not stay as it is. */
interface Edit {
  start: number;
  /** Behind its newline. */
  end: number;
  /** Each becomes a line. */
  kept: Range[];
  /** When nothing of the line is kept: whether an empty line takes its place. */
  leavesLine: boolean;
}

export interface RepairPlan {
  edits: Edit[];
  removals: Removal[];
  /** Offsets of the whole records that are moved out. */
  moved: Set<number>;
  /** The last line stays as it is but for the newline it lacks. */
  sealsTail: boolean;
}

const LF = 0x0a;
const CHUNK_BYTES = 1 << 20;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
/** Lines with these problems hold something that is no record. The other codes concern whole records, which stay. */
const DAMAGE: ReadonlySet<ProblemCode> = new Set(["torn-tail", "bad-line", "fused-line", "nul-run", "not-an-object"]);

/** Calls `take` for every line but those without a byte; `start` and `end` are where it is, without its newline. */
export function eachLine(source: LineSource, take: (line: RawLine, start: number, end: number) => void): void {
  let start = 0;
  let end = 0;
  const splitter = new LineSplitter((line) => take(line, start, line.terminated ? end - 1 : end));
  for (const chunk of chunksOf(source)) {
    for (let from = 0; from < chunk.length;) {
      const newline = chunk.indexOf(LF, from);
      const to = newline < 0 ? chunk.length : newline + 1;
      end += to - from;
      splitter.push(chunk.subarray(from, to));
      if (newline >= 0) start = end;
      from = to;
    }
  }
  splitter.finish();
}

export function planRepair(source: LineSource, reading: ReadSession): RepairPlan {
  const planner = new Planner(source, reading);
  eachLine(source, (line, start, end) => planner.take(line, start, end));
  return planner.plan;
}

/** The file's content as planned. */
export function* repairedContent(source: LineSource, plan: RepairPlan): Generator<Uint8Array> {
  let done = 0;
  for (const { start, end, kept, leavesLine } of plan.edits) {
    yield* bytesOf(source, done, start);
    for (const { offset, length } of kept) {
      yield* bytesOf(source, offset, offset + length);
      yield NEWLINE;
    }
    if (leavesLine) yield NEWLINE;
    done = end;
  }
  yield* bytesOf(source, done, Number.POSITIVE_INFINITY);
  if (plan.sealsTail) yield NEWLINE;
}

/** The bytes from `from` to `to` or the end, in pieces. */
export function* bytesOf(source: LineSource, from: number, to: number): Generator<Uint8Array> {
  for (let at = from; at < to;) {
    const piece = source.read(at, Math.min(CHUNK_BYTES, to - at));
    if (piece.length === 0) return;
    yield piece;
    at += piece.length;
  }
}

/** A record, with the white space around it. */
interface Span extends Range {
  /** Why it is moved out; undefined when it stays. */
  moved: ProblemCode | undefined;
  record: ParsedRecord;
}

class Planner {
  readonly plan: RepairPlan = { edits: [], removals: [], moved: new Set(), sealsTail: false };
  readonly #source: LineSource;
  readonly #index: ReadSession["index"];
  readonly #movesHeaders: boolean;
  /** Lines in which the reader found a record that repeats another. */
  readonly #repeating: Set<number>;
  /** The last line with an entry that is known by its line number: up to there line numbers must not change. */
  readonly #lastNumbered: number;
  readonly #leafRecords = new Map<string, Range>();
  #sawHeader = false;

  constructor(source: LineSource, { index }: ReadSession) {
    const { problems } = index;
    const linesWith = (code: ProblemCode): number[] =>
      problems.filter((problem) => problem.code === code).map(({ line }) => line);
    this.#source = source;
    this.#index = index;
    this.#repeating = new Set(linesWith("duplicate-line"));
    this.#lastNumbered = linesWith("duplicate-id").reduce((last, line) => Math.max(last, line), 0);
    this.#movesHeaders = linesWith("second-header").length > 0 && !countsRecords(source);
  }

  take(line: RawLine, start: number, end: number): void {
    const parsed = parseLine(line);
    const spans = this.#spans(line, parsed);
    const isDamaged = parsed.problem !== undefined && DAMAGE.has(parsed.problem.code) && !line.tooLong;
    const kept = spans.filter(({ moved }) => moved === undefined);
    const mustStay = kept.length > 1 && line.number <= this.#lastNumbered;
    if (mustStay || (!isDamaged && kept.length === spans.length)) {
      this.plan.sealsTail = !line.terminated;
      return;
    }
    const leavesLine = kept.length === 0 && line.number < this.#lastNumbered;
    this.plan.edits.push({ start, end: line.terminated ? end + 1 : end, kept, leavesLine });
    this.#removeRest(line, start, end, spans, parsed.problem?.code ?? "bad-line");
  }

  #spans(line: RawLine, { records }: ParsedLine): Span[] {
    const spans: Span[] = [];
    let before = 0;
    for (const [n, record] of records.entries()) {
      const next = records[n + 1]?.offset ?? line.offset + line.bytes.length;
      const { from, to } = withSpace(line, record, before, next - line.offset);
      spans.push({ offset: line.offset + from, length: to - from, moved: this.#whyMoved(line, record), record });
      before = to;
    }
    return spans;
  }

  #whyMoved(line: RawLine, parsed: ParsedRecord): ProblemCode | undefined {
    const { type, id } = parsed.record;
    if (type === "session") {
      const isFirst = !this.#sawHeader;
      this.#sawHeader = true;
      return isFirst || !this.#movesHeaders ? undefined : "second-header";
    }
    if (typeof id !== "string") return undefined;
    const { offset, length } = parsed;
    if (type === "leaf" && !this.#leafRecords.has(id)) this.#leafRecords.set(id, { offset, length });
    if (!this.#repeating.has(line.number)) return undefined;
    const first = type === "leaf" ? this.#leafRecords.get(id) : this.#index.originOf(id);
    if (first === undefined || first.offset >= offset || first.length !== length) return undefined;
    const bytes = line.bytes.subarray(offset - line.offset, offset - line.offset + length);
    return Buffer.compare(this.#source.read(first.offset, length), bytes) === 0 ? "duplicate-line" : undefined;
  }

  /** All of the line that stays nowhere. */
  #removeRest(line: RawLine, start: number, end: number, spans: readonly Span[], code: ProblemCode): void {
    let done = start;
    for (const { offset, length, moved, record } of spans) {
      this.#remove(line, done, offset, code);
      done = offset + length;
      if (moved === undefined) continue;
      this.plan.moved.add(record.offset);
      this.#remove(line, offset, done, moved);
    }
    this.#remove(line, done, end, code);
  }

  /** NULs at the ends are told apart: there may be millions. */
  #remove(line: RawLine, from: number, to: number, code: ProblemCode): void {
    const isNul = (offset: number): boolean => (line.bytes[offset - line.offset] ?? 0) === 0;
    let first = from;
    let last = to;
    while (first < to && isNul(first)) first++;
    while (last > first && isNul(last - 1)) last--;
    const add = (offset: number, behind: number, why: ProblemCode): void => {
      if (offset < behind) this.plan.removals.push({ line: line.number, offset, length: behind - offset, code: why });
    };
    add(from, first, "nul-run");
    add(first, last, code);
    add(last, to, "nul-run");
  }
}

/** Where a record and the white space around it are in the line's bytes, between `before` and `next`. */
function withSpace(
  { bytes, offset }: RawLine,
  record: ParsedRecord,
  before: number,
  next: number,
): { from: number; to: number } {
  const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0d;
  let from = record.offset - offset;
  let to = from + record.length;
  while (from > before && isSpace(bytes[from - 1])) from--;
  while (to < next && isSpace(bytes[to])) to++;
  if (before === 0 && from === 3 && BYTE_ORDER_MARK.every((byte, at) => bytes[at] === byte)) from = 0;
  return { from, to };
}

/** Whether a compaction counts the records before it, as version 1 did: a record moved out would shift its pointer. */
function countsRecords(source: LineSource): boolean {
  let counts = false;
  const kind: CompactionEntry["type"] = "compaction";
  eachLine(source, (line) => {
    counts ||= parseLine(line).records.some(
      ({ record }) => record.type === kind && typeof record.firstKeptEntryIndex === "number",
    );
  });
  return counts;
}
