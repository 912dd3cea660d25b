/**
 * New sessions out of old ones: one path of a session, or the whole of it, as the lines of another file.
 * Part of `session/`; used by SessionManager. Sources are only read.
 */
import { dirname, join } from "node:path";
import { CURRENT_SESSION_VERSION } from "../tree/entries.ts";
import type { CompactionEntry, LabelEntry, SessionEntry, SessionHeader, SessionInfoEntry } from "../tree/entries.ts";
import type { SessionEntryIndex } from "../tree/entry-index.ts";
import { LineStart, isText } from "../tree/line-start.ts";
import { versionOf } from "../tree/migrate.ts";
import { ReadAhead } from "../tree/read-ahead.ts";
import { LF, NEWLINE, copiedLines, headerBytes, headerLine, lineBytes, replacedLines } from "./copied-lines.ts";
import { FileStore } from "./file-store.ts";
import { withMembers } from "./line-members.ts";
import { canonicalPath, ensurePrivateDir, sessionFileName } from "./locations.ts";
import { MemoryStore } from "./memory-store.ts";
import { writeNewFile } from "./new-file.ts";
import { newHeader, readingOf, sessionOf } from "./open-session.ts";
import type { OpenSession } from "./open-session.ts";
import { createFailed, linesGone, newerVersion } from "./session-errors.ts";
import { sealedBytes } from "./sealed-line.ts";
import { newEntryId } from "./session-ids.ts";

/** Writes the path to an entry as a session file in `dir`, whole or not at all, and returns its path. */
export function branchedToFile(source: OpenSession, leafId: string, dir: string): string {
  if (isNewer(source.header)) throw newerVersion(source.store.path ?? "the session");
  const origin = source.held === undefined ? source.store.path : undefined;
  const header = headerOfCopy(source.header, source.header.cwd, origin);
  return writeSession(header, dir, branchedLines(source, leafId, header, true));
}

/** The path to an entry as a session in memory, which takes the place of its source. */
export function branchedInMemory(source: OpenSession, leafId: string): OpenSession {
  const header = headerOfCopy(source.header, source.header.cwd, undefined);
  const store = new MemoryStore(Buffer.concat([...branchedLines(source, leafId, header, false)]));
  return sessionOf(readingOf(store, "the session"), store, false);
}

/** Copies a session file with all branches into `dir`, for another working directory, and returns the copy's path. */
export function forkedToFile(sourcePath: string, cwd: string, dir: string): string {
  const store = FileStore.open(canonicalPath(sourcePath), { readOnly: true });
  try {
    const reading = readingOf(store, store.path);
    if (reading.newer) throw newerVersion(store.path);
    const header = headerOfCopy(reading.header, cwd, store.path);
    return writeSession(header, dir, forkedLines(store, reading, header));
  } finally {
    store.close();
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
 * The path's entries in order. Labels are left out and what followed one hangs below the entry before it; then come
 * new label entries for all labels in effect on what was kept, in a chain, and for a file of its own the marked name.
 */
function* branchedLines(
  source: OpenSession,
  leafId: string,
  header: SessionHeader,
  named: boolean,
): Generator<Uint8Array> {
  const { index } = source;
  yield headerBytes(header, source.hasSeals);
  const path = index.pathOrdinals(leafId);
  const kept = path.filter((n) => index.kindAt(n) !== "label");
  const lines = new OriginalLines(source, keptAnchors(index, path));
  let parentId: string | null = null;
  for (const n of kept) {
    yield lines.of(n, parentId);
    parentId = index.idAt(n);
  }
  const used = new Set<string>();
  const taken = (id: string): boolean => index.isTaken(id) || used.has(id);
  for (const label of labelsOf(index, kept, header.timestamp, parentId, taken)) {
    used.add(label.id);
    yield lineBytes(label);
    parentId = label.id;
  }
  const name = named ? nameOfCopy(index, parentId, taken, header.timestamp) : undefined;
  if (name !== undefined) yield lineBytes(name);
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

/** Entries as the very bytes they have in their file but for their links, so that nothing bough does not know is lost. */
class OriginalLines {
  readonly #index: SessionEntryIndex;
  readonly #lines: ReadAhead;
  readonly #anchors: ReadonlyMap<string, string>;
  readonly #start = new LineStart();

  /** @param anchors what compactions keep from in the copy where they kept from an entry that is left out */
  constructor(source: OpenSession, anchors: ReadonlyMap<string, string>) {
    this.#index = source.index;
    this.#lines = new ReadAhead(source.store);
    this.#anchors = anchors;
  }

  /** The entry's line, with its newline, below another parent. */
  of(n: number, parentId: string | null): Uint8Array {
    const index = this.#index;
    const origin = index.originAt(n);
    if (origin === undefined) return lineBytes(this.#changed(n, parentId));
    const line = this.#lines.read(origin.offset, origin.length + 1);
    // A compaction may point at an entry that is not copied.
    if (index.kindAt(n) !== "compaction" && line[origin.length] === LF && this.#isSame(n, line, parentId)) return line;
    return this.#withLinks(n, line.subarray(0, origin.length), origin.length, parentId);
  }

  /** Whether the line begins as usual and names the same id and parent as the copy must. */
  #isSame(n: number, line: Uint8Array, parentId: string | null): boolean {
    const start = this.#start;
    if (!start.read(line, 0, line.length - 1)) return false;
    const isSameParent =
      parentId === null ? start.parentFrom < 0 : isText(line, start.parentFrom, start.parentTo, parentId);
    return isSameParent && isText(line, start.idFrom, start.idTo, this.#index.idAt(n));
  }

  #withLinks(n: number, record: Uint8Array, length: number, parentId: string | null): Uint8Array {
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
