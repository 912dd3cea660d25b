/**
 * `follow`: a session that is open for reading grows with its file or store while another program writes it.
 * Part of `session/`; used by SessionManager.
 */
import * as fs from "node:fs";
import { takeAppended } from "../tree/appended-lines.ts";
import type { FilePlace } from "../tree/appended-lines.ts";
import type { SessionEntry } from "../tree/entries.ts";
import type { OpenSession } from "./open-session.ts";
import { checksum } from "./sealed-line.ts";
import { FileLost } from "./session-errors.ts";
import type { FileLoss } from "./session-errors.ts";
import type { SessionStore } from "./session-store.ts";

/** What has come since the last call: entries in the order of the file, or the end of the following. */
export type FollowNews = { type: "entries"; entries: SessionEntry[] } | { type: "lost"; error: FileLost };

/** Between two looks at the file where the system tells of no changes; milliseconds. */
const POLL_MS = 40;
const CHUNK_BYTES = 1 << 20;
const LF = 0x0a;

/**
 * Calls `listener` for all that is new in the store from now on, until the returned function is called. Throws when the
 * store has neither a file nor a way of its own to follow it.
 */
export function follow(session: OpenSession, listener: (news: FollowNews) => void): () => void {
  const { index, store } = session;
  const identity = identityOf(store);
  let place = endOfWholeLines(session);
  const look = (): void => {
    const loss = lossOf(store, identity, place);
    if (loss !== undefined) {
      stop();
      listener({ type: "lost", error: new FileLost(store.path ?? "the store", loss) });
      return;
    }
    const before = index.size;
    const leaf = index.leafId;
    place = takeNews(session, place);
    if (index.size === before && index.leafId === leaf) return;
    const entries = Array.from({ length: index.size - before }, (_, n) => index.at(before + n));
    listener({ type: "entries", entries });
  };
  const stop = changesOf(store, look);
  return stop;
}

function changesOf(store: SessionStore, changed: () => void): () => void {
  if (store.follow !== undefined) return store.follow(changed);
  if (store.path === undefined) throw new Error("This session lives in a store that cannot be followed");
  const watcher = watched(store.path, changed);
  // Following is work: it keeps a program alive until it is stopped.
  const timer = setInterval(changed, POLL_MS);
  return () => {
    clearInterval(timer);
    watcher?.close();
  };
}

/** Where reading has ended, but for a last line whose writer may not be done. */
function endOfWholeLines({ store, counted }: OpenSession): FilePlace {
  let start = counted.offset;
  while (start > 0) {
    const from = Math.max(0, start - CHUNK_BYTES);
    const at = store.read(from, start - from).lastIndexOf(LF);
    if (at >= 0) return { offset: from + at + 1, line: counted.line };
    start = from;
  }
  return { offset: 0, line: 0 };
}

/** Takes in all whole lines behind `place`, and returns the place behind them. */
function takeNews({ index, store }: OpenSession, place: FilePlace): FilePlace {
  let at = place;
  for (let length = CHUNK_BYTES; ; length *= 2) {
    const bytes = store.read(at.offset, length);
    const next = takeAppended(index, bytes, at, { checksum, wholeOnly: true });
    if (next.offset > at.offset) length = CHUNK_BYTES / 2;
    else if (bytes.length < length) return at;
    at = next;
  }
}

/** Polling goes on where the system has no watches left. */
function watched(path: string, changed: () => void): fs.FSWatcher | undefined {
  try {
    const watcher = fs.watch(path, { persistent: false }, changed);
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}

function lossOf(store: SessionStore, identity: string | undefined, { offset }: FilePlace): FileLoss | undefined {
  let now: string | undefined;
  try {
    now = identityOf(store);
  } catch {
    // A folder that may no longer be searched hides the file and takes nothing away.
    return undefined;
  }
  if (now !== identity) return now === undefined ? "gone" : "replaced";
  return store.size() < offset ? "shrunk" : undefined;
}

/** Of the file at the store's path; "" for a store without one. */
function identityOf({ path }: SessionStore): string | undefined {
  if (path === undefined) return "";
  const stats = fs.statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.dev}:${stats.ino}`;
}
