/**
 * `follow`: a session that is open for reading grows with its file while another program writes it.
 * Part of `session/`; used by SessionManager.
 */
import * as fs from "node:fs";
import { takeAppended } from "../tree/appended-lines.ts";
import type { FilePlace } from "../tree/appended-lines.ts";
import type { SessionEntry } from "../tree/entries.ts";
import type { OpenSession } from "./open-session.ts";
import { checksum } from "./sealed-line.ts";
import { FileLost } from "./session-errors.ts";

/** What has come since the last call: entries in the order of the file, or the end of the following. */
export type FollowNews = { type: "entries"; entries: SessionEntry[] } | { type: "lost"; error: FileLost };

/** Between two looks at the file where the system tells of no changes; milliseconds. */
const POLL_MS = 40;
const CHUNK_BYTES = 1 << 20;
const LF = 0x0a;

/** Calls `listener` for all that is new in the file from now on, until the returned function is called. */
export function follow(session: OpenSession, listener: (news: FollowNews) => void): () => void {
  const { index, store } = session;
  const path = store.path ?? "";
  const identity = identityOf(fs.statSync(path, { throwIfNoEntry: false }));
  let place = endOfWholeLines(session);
  const look = (): void => {
    const loss = lossOf(path, identity, place);
    if (loss !== undefined) {
      stop();
      listener({ type: "lost", error: loss });
      return;
    }
    const before = index.size;
    const leaf = index.leafId;
    place = takeNews(session, place);
    if (index.size === before && index.leafId === leaf) return;
    const entries = Array.from({ length: index.size - before }, (_, n) => index.at(before + n));
    listener({ type: "entries", entries });
  };
  const watcher = watched(path, look);
  // Following is work: it keeps a program alive until it is stopped.
  const timer = setInterval(look, POLL_MS);
  const stop = (): void => {
    clearInterval(timer);
    watcher?.close();
  };
  return stop;
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

function lossOf(path: string, identity: string, place: FilePlace): FileLost | undefined {
  const stats = fs.statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return new FileLost(path, "gone");
  if (identityOf(stats) !== identity) return new FileLost(path, "replaced");
  return stats.size < place.offset ? new FileLost(path, "shrunk") : undefined;
}

const identityOf = (stats: fs.Stats | undefined): string => `${stats?.dev}:${stats?.ino}`;
