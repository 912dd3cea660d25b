/**
 * New sessions out of old ones: one path of a session, or the whole of it, as the lines of another file.
 * Part of `session/`; used by SessionManager. Sources are only read.
 */
import { dirname, join } from "node:path";
import { CURRENT_SESSION_VERSION } from "../tree/entries.ts";
import type { LabelEntry, SessionEntry, SessionHeader, SessionInfoEntry } from "../tree/entries.ts";
import type { SessionEntryIndex } from "../tree/entry-index.ts";
import { versionOf } from "../tree/migrate.ts";
import { LineReader, NEWLINE, copiedLines, headerLine, lineBytes, replacedLines } from "./copied-lines.ts";
import { FileStore } from "./file-store.ts";
import { withMembers } from "./line-members.ts";
import { canonicalPath, ensurePrivateDir, sessionFileName } from "./locations.ts";
import { MemoryStore } from "./memory-store.ts";
import { writeNewFile } from "./new-file.ts";
import { newHeader, readingOf, sessionOf } from "./open-session.ts";
import type { OpenSession } from "./open-session.ts";
import { createFailed, newerVersion } from "./session-errors.ts";
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
  yield lineBytes(header);
  const old = headerLine(store);
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
  yield lineBytes(header);
  const path = index.path(leafId);
  const kept = path.filter((entry) => entry.type !== "label");
  const anchors = keptAnchors(path);
  const lines = new OriginalLines(source);
  let parentId: string | null = null;
  for (const entry of kept) {
    yield lines.of(entry, changesOf(entry, parentId, anchors));
    parentId = entry.id;
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
function keptAnchors(path: readonly SessionEntry[]): ReadonlyMap<string, string> {
  const anchors = new Map<string, string>();
  let waiting: string[] = [];
  for (const entry of path) {
    if (entry.type === "label") waiting.push(entry.id);
    else {
      for (const label of waiting) anchors.set(label, entry.id);
      waiting = [];
    }
  }
  return anchors;
}

/** What of an entry is set anew in the copy. */
interface Changes {
  parentId: string | null;
  firstKeptEntryId?: string;
}

function changesOf(entry: SessionEntry, parentId: string | null, anchors: ReadonlyMap<string, string>): Changes {
  const anchor = entry.type === "compaction" ? anchors.get(entry.firstKeptEntryId) : undefined;
  return anchor === undefined ? { parentId } : { parentId, firstKeptEntryId: anchor };
}

function* labelsOf(
  index: SessionEntryIndex,
  kept: readonly SessionEntry[],
  timestamp: string,
  firstParentId: string | null,
  taken: (id: string) => boolean,
): Generator<LabelEntry> {
  let parentId = firstParentId;
  const ids = new Set(kept.map((entry) => entry.id));
  for (const [targetId, label] of index.labels()) {
    if (!ids.has(targetId)) continue;
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
  readonly #reader: LineReader;

  constructor(source: OpenSession) {
    this.#index = source.index;
    this.#reader = new LineReader(source.store);
  }

  of(entry: SessionEntry, changes: Changes): Uint8Array {
    const changed = { ...entry, ...changes };
    const origin = this.#index.originOf(entry.id);
    if (origin === undefined) return lineBytes(changed);
    const members = new Map<string, string | null>([
      ["id", changed.id],
      ["parentId", changed.parentId],
    ]);
    // Old files count lines instead, which are others in the copy.
    if (changed.type === "compaction" && typeof changed.firstKeptEntryId === "string")
      members.set("firstKeptEntryId", changed.firstKeptEntryId);
    const bytes = this.#reader.read(origin.offset, origin.length);
    // Less than the line: another program has cut the file short, and the entry is only in memory now.
    const line = bytes.length < origin.length ? undefined : withMembers(bytes, members);
    return line === undefined ? lineBytes(changed) : Buffer.concat([line, NEWLINE]);
  }
}
