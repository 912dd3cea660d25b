/**
 * `OpenSession`: all that SessionManager holds of the session it is on, and the ways to get one.
 * Part of `session/`; used by SessionManager, which swaps one for another when it switches sessions, and by exports.
 */
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { CURRENT_SESSION_VERSION } from "../tree/entries.ts";
import type { SessionHeader } from "../tree/entries.ts";
import { SessionEntryIndex } from "../tree/entry-index.ts";
import type { FilePlace } from "../tree/appended-lines.ts";
import type { LineSource } from "../tree/line-source.ts";
import type { Problem } from "../tree/problems.ts";
import { versionOf } from "../tree/migrate.ts";
import { readSession } from "../tree/reader.ts";
import type { SessionReader, SessionReading } from "../tree/reader.ts";
import { copiedLines, replacedLines } from "./copied-lines.ts";
import { FileStore } from "./file-store.ts";
import { Lease } from "./lease.ts";
import { canonicalPath, examplesDir, sessionFileName, sessionsDir } from "./locations.ts";
import { MemoryStore } from "./memory-store.ts";
import { ChangedMeanwhile, rewriteMigrated, stampOf } from "./replaced-file.ts";
import type { FileStamp } from "./replaced-file.ts";
import {
  changedDuringMigration,
  empty,
  migrationNotWritten,
  newerVersion,
  notASession,
  notWritable,
  oldVersion,
} from "./session-errors.ts";
import { checksum, sealedLine } from "./sealed-line.ts";
import { newSessionId } from "./session-ids.ts";
import type { SessionStore } from "./session-store.ts";
import { headerOf } from "./session-summary.ts";

export interface OpenSession {
  readonly header: SessionHeader;
  readonly index: SessionEntryIndex;
  readonly store: SessionStore;
  /** Whether bough has written the file from its start, with a seal on every line. */
  readonly hasSeals: boolean;
  /** Lines that could not be written, oldest first; their entries are in the index. */
  unsaved: string[];
  /** The folder for files made from this one; undefined in memory. */
  readonly dir: string | undefined;
  /** Lines that wait for the first content, the header first; undefined when the store holds all. */
  held: string[] | undefined;
  /** Up to where the newlines of the store have been counted, and how many there are. */
  counted: FilePlace;
  /**
   * Where readers of the written lines would find the leaf; undefined when they differ: pi and oh-my-pi take the last
   * line, bough lets a label that hangs elsewhere move nothing.
   */
  writtenLeaf: string | null | undefined;
  /** Why nothing may be appended; undefined when it may. */
  readonly refusal: Error | undefined;
  /** What this room found wrong; the index has its own. */
  readonly problems: Problem[];
  /** The right to write; undefined for what is not written, and until a new session's first write. */
  lease: Lease | undefined;
}

export type ReadSession = Extract<SessionReading, { kind: "session" }>;

/** A header for a session that starts now. */
export function newHeader(cwd: string, parentSession?: string): SessionHeader {
  const now = new Date();
  return {
    type: "session",
    version: CURRENT_SESSION_VERSION,
    id: newSessionId(now.getTime()),
    timestamp: now.toISOString(),
    cwd,
    ...(parentSession === undefined ? {} : { parentSession }),
  };
}

/** A session without entries. In `dir` its file appears with the first content; without a `dir` it stays in memory. */
export function startSession(cwd: string, dir: string | undefined, parentSession?: string): OpenSession {
  const header = newHeader(cwd, parentSession);
  if (dir !== undefined)
    return startedIn(FileStore.create(join(dir, sessionFileName(header.timestamp, header.id))), header, dir);
  const started = startedIn(new MemoryStore(), header, undefined);
  started.store.append(...(started.held ?? []));
  return { ...started, held: undefined, counted: { line: 1, offset: started.store.size() } };
}

function startedIn(store: SessionStore, header: SessionHeader, dir: string | undefined): OpenSession {
  return {
    header,
    index: new SessionEntryIndex({ source: store, checksum }),
    store,
    dir,
    held: [sealedLine(header)],
    counted: { line: 0, offset: 0 },
    unsaved: [],
    hasSeals: true,
    writtenLeaf: null,
    refusal: store.refusal,
    problems: [],
    lease: undefined,
  };
}

/** The session a store of any kind holds, a new one when it is empty. Throws SessionFileError. */
export function sessionIn(store: SessionStore, cwd: string): OpenSession {
  if (store.size() === 0) return startedIn(store, newHeader(cwd), undefined);
  const place = store.path ?? "the store";
  const reading = readingOf(store, place);
  const open = { ...sessionOf(reading, store, false), dir: undefined };
  return reading.migratedFrom === undefined ? open : { ...open, refusal: oldVersion(place, reading.migratedFrom) };
}

export interface OpenOptions {
  /** Nothing is written, not even a migration. Default false. */
  readOnly?: boolean;
  /** How a change of the file by others is noticed; tests bring their own. */
  stampOf?: (path: string) => FileStamp | undefined;
  /** A lease that is held already; it is used if it is that of the file's session. */
  lease?: Lease | undefined;
}

/**
 * The session of a file. Throws SessionFileError when there is none, SessionInUse when another program writes it; only a
 * migration changes the file. Nothing is read before the lease is held, or another program could write behind it.
 */
export function openSession(path: string, options: OpenOptions = {}): OpenSession {
  const resolved = canonicalPath(path);
  const wants = options.readOnly !== true;
  const takeLease = (id: string): Lease => (options.lease?.sessionId === id ? options.lease : Lease.take(id, resolved));
  const found = wants ? headerOf(resolved) : undefined;
  const isNewer = found !== undefined && (versionOf(found) ?? 0) > CURRENT_SESSION_VERSION;
  const id = isNewer ? undefined : found?.id;
  const lease = id === undefined ? undefined : takeLease(id);
  let session: OpenSession | undefined;
  try {
    session = openUnderLease(resolved, options);
    if (wants && session.refusal === undefined && session.store.path !== undefined)
      session.lease = lease ?? takeLease(session.header.id);
    return session;
  } finally {
    if (session?.lease !== lease && lease !== options.lease) lease?.release();
  }
}

/** The session of a file just made; a file that cannot be opened is taken away again. */
export function openMade(path: string, lease?: Lease): OpenSession {
  try {
    return openSession(path, { lease });
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
}

/** What a file that is being written will hold, for a reader that is told of its bytes before they can be read there. */
export class FutureFile implements LineSource {
  store: FileStore | undefined;
  /** The reader has asked for what was not there yet, as it does to compare two lines with one id. */
  wasMissing = false;

  read(offset: number, length: number, memory?: Uint8Array): Uint8Array {
    if (this.store !== undefined) return this.store.read(offset, length, memory);
    this.wasMissing = true;
    return new Uint8Array(0);
  }
}

/** The session of a file just made, all bytes of which `reader` has been given; taken away again on an error. */
export function openWritten(path: string, reader: SessionReader, file: FutureFile): OpenSession {
  try {
    const store = (file.store = FileStore.open(path));
    const reading = file.wasMissing ? readingOf(store, path) : sessionRead(reader.finish(), path);
    store.haveRead(reading.bytes);
    const session = sessionOf(reading, store, false);
    if (session.refusal === undefined) session.lease = Lease.take(reading.header.id, path);
    return session;
  } catch (error) {
    file.store?.close();
    rmSync(path, { force: true });
    throw error;
  }
}

function openUnderLease(resolved: string, options: OpenOptions): OpenSession {
  const stamp = options.stampOf ?? stampOf;
  const first = openOnce(resolved, options.readOnly ?? false, stamp);
  if (!("failure" in first)) return first;
  const again = stamp(resolved) === undefined ? first : openOnce(resolved, false, stamp);
  return "failure" in again ? inMemory(again.content, resolved, again.failure) : again;
}

interface FailedMigration {
  failure: unknown;
  /** What the migrated file would have held. */
  content: Uint8Array;
}

function openOnce(
  path: string,
  forReading: boolean,
  stamp: (path: string) => FileStamp | undefined,
): OpenSession | FailedMigration {
  const before = stamp(path);
  const store = FileStore.open(path, { readOnly: forReading });
  let kept = false;
  try {
    const reading = readingOf(store, path);
    store.haveRead(reading.bytes);
    kept = reading.migratedFrom === undefined || reading.newer || store.refusal !== undefined;
    if (kept) return sessionOf(reading, store, forReading);
    const failure = migrationFailure(path, store, reading, () => stamp(path) === before);
    if (failure !== undefined)
      return { failure, content: Buffer.concat([...copiedLines(store, replacedLines(reading))]) };
  } finally {
    if (!kept) store.close();
  }
  return openOnce(path, forReading, stamp);
}

/** Undefined when the file is up to date now. */
function migrationFailure(path: string, source: LineSource, reading: ReadSession, unchanged: () => boolean): unknown {
  try {
    rewriteMigrated(path, source, replacedLines(reading), reading.migratedFrom ?? 1, unchanged);
    return undefined;
  } catch (error) {
    return error;
  }
}

/** A session that cannot go on in its file: all of it is there, and nothing more is saved. */
function inMemory(content: Uint8Array, path: string, failure: unknown): OpenSession {
  const store = new MemoryStore(content);
  const problem =
    failure instanceof ChangedMeanwhile ? changedDuringMigration(path) : migrationNotWritten(path, failure);
  return { ...sessionOf(readingOf(store, path), store, false), problems: [problem] };
}

/** What a store holds. Throws SessionFileError, naming `path`, when that is no session. */
export function readingOf(store: SessionStore, path: string): ReadSession {
  return sessionRead(readSession(store, { checksum }), path);
}

function sessionRead(reading: SessionReading, path: string): ReadSession {
  if (reading.kind === "empty") throw empty(path);
  if (reading.kind === "invalid") throw notASession(path, reading.line, reading.reason);
  return reading;
}

export function sessionOf(reading: ReadSession, store: SessionStore, forReading: boolean): OpenSession {
  const path = store.path ?? "the session";
  const refusal = reading.newer ? newerVersion(path) : store.refusal;
  const unwritable = store.refusal !== undefined && !forReading;
  return {
    header: reading.header,
    index: reading.index,
    store,
    dir: store.path === undefined ? undefined : dirname(store.path),
    held: undefined,
    counted: { line: reading.sealed ? reading.lines : reading.lines - 1, offset: reading.bytes },
    hasSeals: reading.hasSeals,
    unsaved: [],
    writtenLeaf: reading.index.leafId,
    refusal,
    lease: undefined,
    problems: unwritable ? [notWritable(path, store.refusal?.cause)] : [],
  };
}

/** Where a new session beside others goes: into their folder, unless that is the examples', which is never "recent". */
export function folderForNew(dir: string | undefined, cwd: string): string | undefined {
  return dir === canonicalPath(examplesDir()) ? canonicalPath(sessionsDir(cwd)) : dir;
}
