/**
 * `SessionReader`: a session file's bytes in, its header, index and problems out. Only "not a session" refuses a file;
 * after a valid header everything wrong becomes a `Problem`.
 * Part of `tree/`: pure. Used by session/ over files and by the export page over memory.
 */
import { CURRENT_SESSION_VERSION } from "./entries.ts";
import type { LeafRecord, SessionEntry, SessionHeader } from "./entries.ts";
import { SessionEntryIndex } from "./entry-index.ts";
import type { KnownOfEntry, Origin } from "./entry-index.ts";
import { parseLine, withTime } from "./line-parser.ts";
import type { ParsedRecord } from "./line-parser.ts";
import { SealNotes, isDamagedSeal } from "./line-seal.ts";
import type { Checksum, SealState } from "./line-seal.ts";
import type { LineSource } from "./line-source.ts";
import { LineStart, isText, isUsualLine, isUsualStart, plainText, recordEnd } from "./line-start.ts";
import { LineSplitter } from "./line-splitter.ts";
import type { RawLine } from "./line-splitter.ts";
import { Migration, repeatableIds, versionOf } from "./migrate.ts";
import type { NewId } from "./migrate.ts";
import { findOtherTip } from "./other-tip.ts";
import { entryProblem, headerProblem, invalidReason, lineProblem } from "./problems.ts";
import type { Problem } from "./problems.ts";
import { renamed } from "./session-name.ts";

export type SessionReading =
  | {
      kind: "session";
      header: SessionHeader;
      index: SessionEntryIndex;
      bytes: number;
      lines: number;
      /** Whether the last byte ends a line; if not, the next write must begin with a newline. */
      sealed: boolean;
      /** Whether the header has a seal: then bough has written the file from its start. */
      hasSeals: boolean;
      /** The file's version, when its records were migrated in memory. */
      migratedFrom: 1 | 2 | undefined;
      /** Made by a newer version of the format: to be opened for reading only. */
      newer: boolean;
      /** What a migration changed, by 1-based line: all that a rewrite of the file has to encode again. */
      changedLines: Map<number, SessionHeader | SessionEntry>;
    }
  /** Nothing but white space and NUL bytes. */
  | { kind: "empty" }
  | { kind: "invalid"; line: number; reason: string };

export interface ReaderOptions {
  /** Makes ids for the entries of version 1 files; by default the same ids at every reading. */
  newId?: NewId;
  /** Checks the seals of lines; without it they are only taken off. */
  checksum?: Checksum;
  /**
   * Parse every line at once instead of only its start, and hold all bodies. A slower way to the same session, for
   * who has the bytes only once; default false.
   */
  eager?: boolean;
}

const CHUNK = 1024 * 1024;
/** Most files are small, and memory has to be cleared. */
const FIRST_CHUNK = 64 * 1024;
const FREQUENT_KINDS = 16;
const CLOSE = 0x7d;
/** Damaged lines accepted before the header; a file of another kind is given up after as many. */
const LINES_BEFORE_HEADER = 8;

/** Reads a whole source, after its beginning in chunks of 1 MiB. Bodies are read from it later, when the index is asked for them. */
export function readSession(source: LineSource, options?: ReaderOptions): SessionReading {
  const reader = new SessionReader(options, source);
  let memory = new Uint8Array(FIRST_CHUNK);
  for (let offset = 0; !reader.refused;) {
    const chunk = source.read(offset, memory.length, memory);
    if (chunk.length === 0) break;
    if (offset === 0 && chunk.length === FIRST_CHUNK) memory = new Uint8Array(CHUNK);
    reader.push(chunk);
    offset += chunk.length;
  }
  return reader.finish();
}

interface Started {
  header: SessionHeader;
  index: SessionEntryIndex;
  migration: Migration;
}

export class SessionReader {
  readonly #newId: NewId | undefined;
  readonly #checksum: Checksum | undefined;
  /** Where lines can be read again; undefined when each must be read to its end now. */
  readonly #source: LineSource | undefined;
  readonly #splitter: LineSplitter;
  readonly #start = new LineStart();
  /** The first kinds of the file, which are nearly always all of them. */
  readonly #kinds: { type: string; role: string | undefined; code: number }[] = [];
  readonly #changedLines = new Map<number, SessionHeader | SessionEntry>();
  /** Until there is an index to report them to. */
  readonly #earlyProblems: Problem[] = [];
  readonly #seals = new SealNotes((problem) => this.#report(problem));
  #damagedLines = 0;
  #slot: { title: string; source: unknown } | undefined;
  #session: Started | undefined;
  #invalid: { kind: "invalid"; line: number; reason: string } | undefined;

  /** @param source the bytes that will be pushed, to be read again; without it all bodies are held in memory */
  constructor(options: ReaderOptions = {}, source?: LineSource) {
    this.#newId = options.newId;
    this.#checksum = options.checksum;
    this.#source = options.eager === true ? undefined : source;
    this.#splitter = new LineSplitter(
      (line) => this.#takeLine(line),
      undefined,
      this.#source && ((bytes, from, to, offset, number) => this.#takeUsual(bytes, from, to, offset, number)),
    );
  }

  /** True once it is clear that this is no session; the rest of the file need not be read. */
  get refused(): boolean {
    return this.#invalid !== undefined;
  }

  /** The next bytes of the file; `chunk` may be reused afterwards. */
  push(chunk: Uint8Array): void {
    if (!this.refused) this.#splitter.push(chunk);
  }

  /**
   * The same for a line without NUL bytes whose newline is at `to`, and of which `start` has read the beginning: who
   * copies lines has looked at them already.
   */
  pushStarted(bytes: Uint8Array, from: number, to: number, start: LineStart): void {
    const { sealed, bytes: offset, lines } = this.#splitter;
    const isUsual = sealed && bytes[to - 1] === CLOSE && isUsualStart(start, bytes, to);
    if (isUsual && this.#takeStarted(bytes, from, to, offset, lines + 1, start)) this.#splitter.pass(to + 1 - from);
    else this.push(bytes.subarray(from, to + 1));
  }

  finish(): SessionReading {
    if (!this.refused) this.#splitter.finish();
    if (this.#invalid !== undefined) return this.#invalid;
    if (this.#session === undefined) return this.#withoutHeader();
    const { header, index, migration } = this.#session;
    this.#seals.finish();
    const tip = findOtherTip(index);
    if (tip !== undefined) {
      const id = index.idAt(tip.n);
      index.report(entryProblem.otherTip(index.originOf(id)?.line ?? 0, id, tip.messages));
    }
    return {
      kind: "session",
      header,
      index,
      bytes: this.#splitter.bytes,
      lines: this.#splitter.lines,
      sealed: this.#splitter.sealed,
      hasSeals: this.#seals.headerIsSealed,
      migratedFrom: migration.version === 1 || migration.version === 2 ? migration.version : undefined,
      newer: migration.version > CURRENT_SESSION_VERSION,
      changedLines: this.#changedLines,
    };
  }

  #withoutHeader(): SessionReading {
    const damaged = this.#firstDamage();
    if (damaged !== undefined) return { kind: "invalid", line: damaged.line, reason: invalidReason.notJson };
    if (this.#slot !== undefined) return { kind: "invalid", line: 1, reason: invalidReason.noHeader };
    return { kind: "empty" };
  }

  /** Takes an entry by the start of its line; false when the line has to be looked at. */
  #takeUsual(bytes: Uint8Array, from: number, lineEnd: number, offset: number, line: number): boolean {
    if (this.#session === undefined || this.#session.migration.version < CURRENT_SESSION_VERSION) return false;
    const to = recordEnd(bytes, from, lineEnd);
    const start = this.#start;
    return isUsualLine(start, bytes, from, to) && this.#takeStarted(bytes, from, to, offset, line, start);
  }

  #takeStarted(bytes: Uint8Array, from: number, to: number, offset: number, line: number, start: LineStart): boolean {
    if (this.#session === undefined || this.#session.migration.version < CURRENT_SESSION_VERSION) return false;
    const { index, migration } = this.#session;
    if (!index.replayStart(bytes, start, this.#kindAt(index, bytes, start), line, offset, to - from)) return false;
    migration.count(index.size - 1);
    this.#seals.takeUsual(line, bytes, from, to);
    return true;
  }

  #kindAt(index: SessionEntryIndex, bytes: Uint8Array, start: LineStart): number {
    const { typeFrom, typeTo, roleFrom, roleTo } = start;
    for (const { type, role, code } of this.#kinds) {
      const isSameRole = role === undefined ? roleTo < 0 : roleTo >= 0 && isText(bytes, roleFrom, roleTo, role);
      if (isSameRole && isText(bytes, typeFrom, typeTo, type)) return code;
    }
    const type = plainText(bytes, typeFrom, typeTo);
    const role = roleTo < 0 ? undefined : plainText(bytes, roleFrom, roleTo);
    const code = index.kindCode(type, role);
    if (this.#kinds.length < FREQUENT_KINDS) this.#kinds.push({ type, role, code });
    return code;
  }

  #takeLine(line: RawLine): void {
    if (this.refused) return;
    const { bytes, terminated, nuls, tooLong } = line;
    const mayBeUsual = this.#source !== undefined && terminated && nuls === 0 && !tooLong && !bytes.includes(0);
    if (mayBeUsual && this.#takeUsual(bytes, 0, bytes.length, line.offset, line.number)) return;
    const { records, problem } = parseLine(line, this.#checksum);
    if (problem !== undefined) this.#report(problem);
    for (const parsed of records) {
      const origin: Origin = { line: line.number, offset: parsed.offset, length: parsed.length };
      if (this.#session !== undefined) {
        this.#takeRecord(this.#session, parsed, origin);
        this.#seals.take(line.number, parsed.seal, false);
      } else if (!this.refused) {
        if (!parsed.utf8) this.#earlyProblems.push(lineProblem.notUtf8(line.number));
        const seal = sealOfFirst(parsed, line);
        if (seal === "changed") this.#earlyProblems.push(lineProblem.changedLine(line.number));
        this.#takeFirst(withSealedVersion({ ...parsed, seal }), line.number);
        if (this.#session !== undefined) this.#seals.take(line.number, seal, true);
      }
    }
  }

  #report(problem: Problem): void {
    if (this.#session !== undefined) return this.#session.index.report(problem);
    this.#earlyProblems.push(problem);
    if (problem.code !== "nul-run" && ++this.#damagedLines > LINES_BEFORE_HEADER)
      this.#refuse(this.#firstDamage()?.line ?? problem.line, invalidReason.notJson);
  }

  #firstDamage(): Problem | undefined {
    return this.#earlyProblems.find((problem) => problem.code !== "nul-run");
  }

  #refuse(line: number, reason: string): void {
    this.#invalid = { kind: "invalid", line, reason };
  }

  /** A record before the header: oh-my-pi's title slot in line 1, or the header, or this is no session. */
  #takeFirst(record: Record<string, unknown>, line: number): void {
    if (line === 1 && isTitleSlot(record)) this.#slot = { title: String(record.title), source: record.source };
    else if (record.type !== "session")
      this.#refuse(line, invalidReason.notAHeader(JSON.stringify(record.type) ?? "none"));
    else if (typeof record.id !== "string" || record.id === "") this.#refuse(line, invalidReason.noHeaderId);
    else this.#begin(soundHeader(record), line);
  }

  #begin(header: SessionHeader, line: number): void {
    const version = versionOf(header);
    const migration = new Migration(version ?? CURRENT_SESSION_VERSION, this.#newId ?? repeatableIds(header.id));
    const title = this.#slot ?? { title: header.title ?? "", source: header.titleSource };
    const index = new SessionEntryIndex({
      name: renamed(undefined, title.title, title.source),
      source: this.#source,
      checksum: this.#checksum,
    });
    for (const problem of this.#earlyProblems) index.report(problem);
    if (version === undefined) index.report(headerProblem.badVersion(line));
    else if (version > CURRENT_SESSION_VERSION) index.report(headerProblem.newerVersion(line, header.version));
    const migrated = migration.header(header);
    if (migrated !== header) this.#changedLines.set(line, migrated);
    this.#session = { header: migrated, index, migration };
  }

  #takeRecord({ index, migration }: Started, parsed: ParsedRecord, origin: Origin): void {
    const { record } = parsed;
    const { changed, lostIndex } = migration.record(record, index);
    if (lostIndex !== undefined) index.report(entryProblem.migrationIndex(origin.line, lostIndex));
    if (parsed.seal === "changed" && !isEntry(record)) index.report(lineProblem.changedLine(origin.line));
    if (record.type === "session") index.report(lineProblem.secondHeader(origin.line));
    else if (!hasBase(record)) index.report(lineProblem.noId(origin.line));
    else {
      if (changed && migration.version < CURRENT_SESSION_VERSION) this.#changedLines.set(origin.line, record);
      if (record.type === ("leaf" as string)) index.replayLeaf(record as unknown as LeafRecord, origin.line);
      else index.replay(record, origin, knownOf(parsed, migration, changed));
    }
  }
}

/** What a migration has changed stands nowhere but here; a renamed role alone is renamed again when it is read. */
function knownOf({ fault, role, utf8, seal }: ParsedRecord, migration: Migration, changed: boolean): KnownOfEntry {
  const rereadable = migration.version >= CURRENT_SESSION_VERSION && (!changed || role === "hookMessage");
  return { fault, role, utf8, seal, rereadable };
}

/** A record with a type and an id is an entry or a leaf record; an unreadable timestamp becomes "". */
export function hasBase(record: Record<string, unknown>): record is Record<string, unknown> & SessionEntry {
  withTime(record);
  return typeof record.type === "string" && typeof record.id === "string";
}

/** Whether the index takes it in, with its seal. */
export const isEntry = ({ type, id }: Record<string, unknown>): boolean =>
  typeof type === "string" && typeof id === "string" && type !== "session" && type !== "leaf";

/** All seals of a file hang on the header's, which one changed byte must not take away. */
function sealOfFirst({ record, seal, offset, length }: ParsedRecord, { bytes, offset: start }: RawLine): SealState {
  const from = offset - start;
  const isDamaged = seal === "none" && record.type === "session" && isDamagedSeal(bytes, from, from + length);
  return isDamaged ? "changed" : seal;
}

/** No older version has seals: a sealed header that names one was damaged, and must not have its file migrated. */
function withSealedVersion({ record, seal }: ParsedRecord): Record<string, unknown> {
  const { type, version = 1 } = record;
  const isOlder = typeof version === "number" && version < CURRENT_SESSION_VERSION;
  return isOlder && seal !== "none" && type === "session" ? { ...record, version: CURRENT_SESSION_VERSION } : record;
}

/** The fields that the program relies on, whatever the file holds. */
function soundHeader(record: Record<string, unknown>): SessionHeader {
  const text = (value: unknown): string => (typeof value === "string" ? value : "");
  const header = { ...record, timestamp: text(record.timestamp), cwd: text(record.cwd) } as SessionHeader;
  for (const field of ["parentSession", "title"]) if (typeof header[field] !== "string") delete header[field];
  return header;
}

/** oh-my-pi 18 keeps the name in a first line of fixed width that it overwrites in place. */
function isTitleSlot(record: Record<string, unknown>): boolean {
  const { type, v, title, updatedAt, pad, source } = record;
  const texts = [title, updatedAt, pad].every((value) => typeof value === "string");
  return type === "title" && v === 1 && texts && (source === undefined || source === "auto" || source === "user");
}
