/**
 * `OpenSession`: all that SessionManager holds of the session it is on, and the ways to get one.
 * Part of `session/`; used by SessionManager alone, which swaps one for another when it switches sessions.
 */
import { dirname, join } from "node:path";
import { CURRENT_SESSION_VERSION } from "../tree/entries.ts";
import type { SessionHeader } from "../tree/entries.ts";
import { SessionEntryIndex } from "../tree/entry-index.ts";
import { encodeLine } from "../tree/format.ts";
import type { LineSource } from "../tree/line-source.ts";
import type { Problem } from "../tree/problems.ts";
import { readSession } from "../tree/reader.ts";
import type { SessionReading } from "../tree/reader.ts";
import { copiedLines, replacedLines } from "./copied-lines.ts";
import { FileStore } from "./file-store.ts";
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
} from "./session-errors.ts";
import { newSessionId } from "./session-ids.ts";
import type { SessionStore } from "./session-store.ts";

export interface OpenSession {
  readonly header: SessionHeader;
  readonly index: SessionEntryIndex;
  readonly store: SessionStore;
  /** The folder for files made from this one; undefined in memory. */
  readonly dir: string | undefined;
  /** Lines that wait for the first content, the header first; undefined when the store holds all. */
  held: string[] | undefined;
  /** Lines of the session so far, held ones included. */
  lines: number;
  /**
   * Where readers of the written lines would find the leaf; undefined when they differ: pi and oh-my-pi take the last
   * line, bough lets a label that hangs elsewhere move nothing.
   */
  writtenLeaf: string | null | undefined;
  /** Why nothing may be appended; undefined when it may. */
  readonly refusal: Error | undefined;
  /** What this room found wrong; the index has its own. */
  readonly problems: readonly Problem[];
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
  const line = encodeLine(header);
  const store =
    dir === undefined ? new MemoryStore() : FileStore.create(join(dir, sessionFileName(header.timestamp, header.id)));
  if (dir === undefined) store.append(line);
  return {
    header,
    index: new SessionEntryIndex({ source: store }),
    store,
    dir,
    held: dir === undefined ? undefined : [line],
    lines: 1,
    writtenLeaf: null,
    refusal: undefined,
    problems: [],
  };
}

export interface OpenOptions {
  /** Nothing is written, not even a migration. Default false. */
  readOnly?: boolean;
  /** How a change of the file by others is noticed; tests bring their own. */
  stampOf?: (path: string) => FileStamp | undefined;
}

/** The session of a file. Throws SessionFileError when there is none; only a migration changes the file. */
export function openSession(path: string, options: OpenOptions = {}): OpenSession {
  const resolved = canonicalPath(path);
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
  const reading = readSession(store);
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
    lines: reading.lines,
    writtenLeaf: reading.index.leafId,
    refusal,
    problems: unwritable ? [notWritable(path, store.refusal?.cause)] : [],
  };
}

/** Where a new session beside others goes: into their folder, unless that is the examples', which is never "recent". */
export function folderForNew(dir: string | undefined, cwd: string): string | undefined {
  return dir === canonicalPath(examplesDir()) ? canonicalPath(sessionsDir(cwd)) : dir;
}
