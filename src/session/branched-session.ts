/**
 * New sessions out of old ones: one path of a session, or the whole of it, as the lines of another file.
 * Part of `session/`; used by SessionManager and by exports. Sources are only read.
 */
import { dirname, join } from "node:path";
import { CURRENT_SESSION_VERSION } from "../tree/entries.ts";
import type { CompactionEntry, LabelEntry, SessionEntry, SessionHeader, SessionInfoEntry } from "../tree/entries.ts";
import type { Origin, SessionEntryIndex } from "../tree/entry-index.ts";
import { LineStart, isText } from "../tree/line-start.ts";
import type { LineSource } from "../tree/line-source.ts";
import { versionOf } from "../tree/migrate.ts";
import { SessionReader } from "../tree/reader.ts";
import { LF, NEWLINE, copiedLines, headerBytes, headerLine, lineBytes, replacedLines } from "./copied-lines.ts";
import { FileStore } from "./file-store.ts";
import { withMembers } from "./line-members.ts";
import { canonicalPath, ensurePrivateDir, sessionFileName } from "./locations.ts";
import { MemoryStore } from "./memory-store.ts";
import { writeNewFile } from "./new-file.ts";
import { FutureFile, newHeader, openWritten, readingOf, sessionOf } from "./open-session.ts";
import type { OpenSession } from "./open-session.ts";
import { createFailed, linesGone, newerVersion } from "./session-errors.ts";
import { checksum, sealedBytes } from "./sealed-line.ts";
import { newEntryId } from "./session-ids.ts";

/**
 * Writes the path to an entry as a session file in `dir`, whole or not at all, and returns its path.
 * @param reader is given all that is written
 */
export function branchedToFile(source: OpenSession, leafId: string, dir: string, reader?: SessionReader): string {
  if (isNewer(source.header)) throw newerVersion(source.store.path ?? "the session");
  const origin = source.held === undefined ? source.store.path : undefined;
  const header = headerOfCopy(source.header, source.header.cwd, origin);
  const path = source.index.pathOrdinals(leafId);
  return writeSession(header, dir, branchedLines(source, path, header, { named: true, reader }));
}

/**
 * A stretch of a path as the lines of a session of its own, which names the source as its parent; the pieces last until
 * the next one is asked for. Throws for a source of a newer format.
 * @param path ordinals, each the parent of the next
 */
export function stretchLines(source: OpenSession, path: readonly number[]): Generator<Uint8Array> {
  if (isNewer(source.header)) throw newerVersion(source.store.path ?? "the session");
  const header = headerOfCopy(source.header, source.header.cwd, source.store.path);
  return branchedLines(source, path, header, { named: true });
}

/** The same, open for writing; what was just written is not read for that. */
export function branchedSession(source: OpenSession, leafId: string, dir: string): OpenSession {
  const file = new FutureFile();
  const reader = new SessionReader({ checksum }, file);
  return openWritten(branchedToFile(source, leafId, dir, reader), reader, file);
}

/** The path to an entry as a session in memory, which takes the place of its source. */
export function branchedInMemory(source: OpenSession, leafId: string): OpenSession {
  const header = headerOfCopy(source.header, source.header.cwd, undefined);
  const lines = branchedLines(source, source.index.pathOrdinals(leafId), header, { named: false });
  const pieces = Array.from(lines, (piece) => new Uint8Array(piece));
  const store = new MemoryStore(Buffer.concat(pieces));
  return sessionOf(readingOf(store, "the session"), store, false);
}

/** A copy of a session file with all branches in `dir`, for another working directory, open for writing. */
export function forkedSession(sourcePath: string, cwd: string, dir: string): OpenSession {
  const store = FileStore.open(canonicalPath(sourcePath), { readOnly: true });
  try {
    const reading = readingOf(store, store.path);
    if (reading.newer) throw newerVersion(store.path);
    const header = headerOfCopy(reading.header, cwd, store.path);
    const file = new FutureFile();
    const reader = new SessionReader({ checksum }, file);
    return openWritten(writeSession(header, dir, told(forkedLines(store, reading, header), reader)), reader, file);
  } finally {
    store.close();
  }
}

/** The pieces, of which `reader` is given each before it is handed on. */
function* told(pieces: Iterable<Uint8Array>, reader: SessionReader): Generator<Uint8Array> {
  for (const piece of pieces) {
    reader.push(piece);
    yield piece;
  }
}

/** Lines of a newer format do not belong under a header of this one. */
const isNewer = (header: SessionHeader): boolean =>
  (versionOf(header) ?? CURRENT_SESSION_VERSION) > CURRENT_SESSION_VERSION;

function* forkedLines(
  store: FileStore,
  reading: ReturnType<typeof readingOf>,
  header: SessionHeader,
): Generator<Uint8Array> {
  const old = headerLine(store);
  yield headerBytes(header, reading.hasSeals);
  for (const { offset, length } of old.fused) yield* wholeLine(store.read(offset, length));
  yield* copiedLines(store, replacedLines(reading), old.line + 1);
  const { index } = reading;
  const name = nameOfCopy(index, index.leafId, (id) => index.isTaken(id), header.timestamp);
  if (name !== undefined) yield lineBytes(name);
}

/** The source's header under a new id and time; what names the session is written as an entry instead. */
function headerOfCopy(source: SessionHeader, cwd: string, parentSession: string | undefined): SessionHeader {
  const { type, version, id, timestamp, ...fresh } = newHeader(cwd, parentSession);
  const { title: _title, titleSource: _source, parentSession: _parent, ...kept } = source;
  return { ...kept, type, version, id, timestamp, ...fresh };
}

function writeSession(header: SessionHeader, dir: string, lines: Iterable<Uint8Array>): string {
  const path = join(dir, sessionFileName(header.timestamp, header.id));
  try {
    ensurePrivateDir(dirname(path));
    writeNewFile(path, lines);
  } catch (error) {
    throw createFailed(path, error);
  }
  return path;
}

/**
 * The path's entries in order, in pieces that last until the next one is asked for. Labels are left out and what
 * followed one hangs below the entry before it; then come new label entries for all labels in effect on what was kept,
 * in a chain, and for a file of its own the marked name.
 */
function* branchedLines(
  source: OpenSession,
  path: readonly number[],
  header: SessionHeader,
  { named, reader }: { named: boolean; reader?: SessionReader | undefined },
): Generator<Uint8Array> {
  const { index } = source;
  const told = (line: Uint8Array): Uint8Array => {
    reader?.push(line);
    return line;
  };
  yield told(headerBytes(header, source.hasSeals));
  const kept = path.filter((n) => index.kindAt(n) !== "label");
  yield* new OriginalLines(source, keptAnchors(index, path), reader).chained(kept);
  const last = kept.at(-1);
  let parentId = last === undefined ? null : index.idAt(last);
  const used = new Set<string>();
  const taken = (id: string): boolean => index.isTaken(id) || used.has(id);
  for (const label of labelsOf(index, kept, header.timestamp, parentId, taken)) {
    used.add(label.id);
    yield told(lineBytes(label));
    parentId = label.id;
  }
  const name = named ? nameOfCopy(index, parentId, taken, header.timestamp) : undefined;
  if (name !== undefined) yield told(lineBytes(name));
}

/** For each label on a path, the entry that a compaction which keeps "from the label on" keeps from. */
function keptAnchors(index: SessionEntryIndex, path: readonly number[]): ReadonlyMap<string, string> {
  const anchors = new Map<string, string>();
  let waiting: number[] = [];
  for (const n of path) {
    if (index.kindAt(n) === "label") waiting.push(n);
    else if (waiting.length > 0) {
      for (const label of waiting) anchors.set(index.idAt(label), index.idAt(n));
      waiting = [];
    }
  }
  return anchors;
}

function* labelsOf(
  index: SessionEntryIndex,
  kept: readonly number[],
  timestamp: string,
  firstParentId: string | null,
  taken: (id: string) => boolean,
): Generator<LabelEntry> {
  let parentId = firstParentId;
  const isKept = new Uint8Array(index.size);
  for (const n of kept) isKept[n] = 1;
  for (const [targetId, label] of index.labels()) {
    const target = index.ordinal(targetId);
    if (target === undefined || isKept[target] === 0) continue;
    const id = newEntryId(taken);
    yield { type: "label", id, parentId, timestamp, targetId, label };
    parentId = id;
  }
}

/** Two sessions of one name cannot be told apart in a list: "Fix the parser", "… (fork)", "… (fork 2)". */
function nameOfCopy(
  index: SessionEntryIndex,
  parentId: string | null,
  taken: (id: string) => boolean,
  timestamp: string,
): SessionInfoEntry | undefined {
  if (index.name === undefined) return undefined;
  const { text, source } = index.name;
  const mark = / \(fork(?: (\d+))?\)$/.exec(text);
  const name = mark === null ? `${text} (fork)` : `${text.slice(0, mark.index)} (fork ${Number(mark[1] ?? 1) + 1})`;
  return { type: "session_info", id: newEntryId(taken), parentId, timestamp, name, source };
}

function* wholeLine(bytes: Uint8Array): Generator<Uint8Array> {
  yield bytes;
  yield NEWLINE;
}

/** How much of the source is read at once. */
const WINDOW_BYTES = 1 << 20;
/** So many bytes that nobody wants are cheaper to read than to leave out. */
const GAP_BYTES = 1 << 13;

/** Entries as the very bytes they have in their file but for their links, so that nothing bough does not know is lost. */
class OriginalLines {
  readonly #index: SessionEntryIndex;
  readonly #source: LineSource;
  readonly #anchors: ReadonlyMap<string, string>;
  readonly #reader: SessionReader | undefined;
  readonly #start = new LineStart();
  readonly #memory = new Uint8Array(WINDOW_BYTES);
  /** A part of the source, and where it begins there. */
  #window: Uint8Array = new Uint8Array(0);
  #from = 0;

  /**
   * @param anchors what compactions keep from in the copy where they kept from an entry that is left out
   * @param reader is given the lines
   */
  constructor(source: OpenSession, anchors: ReadonlyMap<string, string>, reader: SessionReader | undefined) {
    this.#index = source.index;
    this.#source = source.store;
    this.#anchors = anchors;
    this.#reader = reader;
  }

  /** The entries as lines, each below the one before it. Lines that follow one another in the source are one piece. */
  *chained(entries: readonly number[]): Generator<Uint8Array> {
    for (let next = 0; next < entries.length;) {
      const first = next;
      next = this.#read(entries, first);
      yield* this.#copies(entries, first, next);
    }
  }

  /** Reads the lines of the entries from `first` on that stand close together; returns the number of the next one. */
  #read(entries: readonly number[], first: number): number {
    const origin = this.#index.originAt(entries[first]!);
    if (origin === undefined) return first + 1;
    this.#from = origin.offset;
    let end = origin.offset + origin.length + 1;
    let next = first + 1;
    for (; next < entries.length; next++) {
      const { offset, length } = this.#index.originAt(entries[next]!) ?? { offset: -1, length: 0 };
      if (offset < end || offset - end > GAP_BYTES || offset + length - this.#from >= WINDOW_BYTES) break;
      end = offset + length + 1;
    }
    const wanted = end - this.#from;
    this.#window = this.#source.read(this.#from, wanted, wanted > WINDOW_BYTES ? undefined : this.#memory);
    return next;
  }

  *#copies(entries: readonly number[], first: number, next: number): Generator<Uint8Array> {
    const index = this.#index;
    let parentId = first === 0 ? null : index.idAt(entries[first - 1]!);
    const hasNul = this.#window.includes(0);
    /** Lines in the window that are the same in the copy, and have not been handed on. */
    let [start, end] = [0, 0];
    for (let each = first; each < next; each++) {
      const n = entries[each]!;
      const origin = index.originAt(n);
      const at = origin === undefined ? 0 : origin.offset - this.#from;
      const isSame = origin !== undefined && this.#isSame(n, at, at + origin.length, parentId);
      if (end > start && (!isSame || at !== end)) yield this.#window.subarray(start, end);
      if (!isSame || at !== end) start = end = at;
      if (isSame) {
        end = at + origin.length + 1;
        if (hasNul) this.#reader?.push(this.#window.subarray(at, end));
        else this.#reader?.pushStarted(this.#window, at, end - 1, this.#start);
      } else {
        const line =
          origin === undefined ? lineBytes(this.#changed(n, parentId)) : this.#withLinks(n, origin, parentId);
        this.#reader?.push(line);
        yield line;
      }
      parentId = index.idAt(n);
    }
    if (end > start) yield this.#window.subarray(start, end);
  }

  /** Whether the line from `at` to `end` begins as usual and names the same id and parent as the copy must. */
  #isSame(n: number, at: number, end: number, parentId: string | null): boolean {
    const [line, start] = [this.#window, this.#start];
    // A compaction may point at an entry that is not copied.
    if (line[end] !== LF || this.#index.kindAt(n) === "compaction" || !start.read(line, at, end)) return false;
    const isSameParent =
      parentId === null ? start.parentFrom < 0 : isText(line, start.parentFrom, start.parentTo, parentId);
    return isSameParent && isText(line, start.idFrom, start.idTo, this.#index.idAt(n));
  }

  #withLinks(n: number, { offset, length }: Origin, parentId: string | null): Uint8Array {
    const record = this.#window.subarray(offset - this.#from, offset - this.#from + length);
    const members = new Map<string, string | null>([
      ["id", this.#index.idAt(n)],
      ["parentId", parentId],
    ]);
    if (this.#index.kindAt(n) === "compaction") {
      const { firstKeptEntryId } = this.#changed(n, parentId) as CompactionEntry;
      // Old files count lines instead, which are others in the copy.
      if (typeof firstKeptEntryId === "string") members.set("firstKeptEntryId", firstKeptEntryId);
    }
    // Less than the line: another program has cut the file short, and the entry is in memory at best.
    const line = record.length < length ? undefined : withMembers(record, members);
    if (line !== undefined)
      return Buffer.concat([Buffer.compare(line, record) === 0 ? line : sealedBytes(line), NEWLINE]);
    const changed = this.#changed(n, parentId);
    if (this.#index.isGone(n)) throw linesGone();
    return lineBytes(changed);
  }

  #changed(n: number, parentId: string | null): SessionEntry {
    const entry = this.#index.at(n);
    const anchor = entry.type === "compaction" ? this.#anchors.get(entry.firstKeptEntryId) : undefined;
    return { ...entry, parentId, ...(anchor === undefined ? {} : { firstKeptEntryId: anchor }) } as SessionEntry;
  }
}
