/**
 * What a list shows of one session file: `summarise` reads all of it in a stream, however long the file and its lines
 * are; `glance` only its beginning and its end.
 * Part of `session/`; used by the listing.
 */
import * as fs from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { SessionHeader } from "../tree/entries.ts";
import { readSession } from "../tree/reader.ts";
import { FileStore, READ } from "./file-store.ts";
import { LineHeads } from "./line-heads.ts";
import { SessionFileError, reasonOf } from "./session-errors.ts";
import { SessionScan } from "./session-scan.ts";
import type { SessionSummary } from "./session-scan.ts";

const CHUNK_BYTES = 1 << 18;
/** How many are read before others get their turn. */
const CHUNKS_PER_TURN = 16;

/** A glance reads this much at once of a file that is not larger than `SMALL_BYTES`, and more until it knows enough. */
const HEAD_BYTES = 1 << 12;
const TAIL_BYTES = 1 << 12;
const SMALL_BYTES = 1 << 14;

/** Of all glances, which are over before another begins. */
const memory = new Uint8Array(CHUNK_BYTES);

/** Never rejects: a file that cannot be read or is no session is "empty" or "damaged". */
export async function summarise(path: string): Promise<SessionSummary> {
  try {
    const store = FileStore.open(path, { readOnly: true });
    try {
      return await summaryOf(store);
    } finally {
      store.close();
    }
  } catch (error) {
    return unreadable(error);
  }
}

/**
 * What the first and the last bytes of a file tell: a summary that is complete only for small files. Undefined when
 * 256 KiB at either end are not enough, or the file is no session or cannot be read: `summarise` then says more.
 * @param size of the file
 */
export function glance(path: string, size: number): SessionSummary | undefined {
  try {
    const fd = fs.openSync(path, READ);
    try {
      return glanceAt(fd, size);
    } finally {
      fs.closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

function glanceAt(fd: number, size: number): SessionSummary | undefined {
  const scan = new SessionScan();
  const heads = new LineHeads((line) => scan.take(line));
  let offset = 0;
  const push = (length: number): void => {
    const count = fs.readSync(fd, memory, 0, Math.min(length, size - offset), offset);
    if (count === 0) throw new Error("The file was cut short");
    heads.push(memory.subarray(0, count));
    offset += count;
  };
  push(size <= SMALL_BYTES ? size : HEAD_BYTES);
  while (!scan.hasFirst && !scan.refused && offset < size && offset < CHUNK_BYTES) push(offset);
  while (size - offset <= TAIL_BYTES && offset < size) push(size - offset);
  const isWhole = offset === size;
  if (isWhole) heads.finish();
  const { header } = scan;
  if (header === undefined) return undefined;
  const last = isWhole ? undefined : lastLines(fd, offset, size, header);
  return isWhole || last !== undefined ? scan.summary(header, size, last) : undefined;
}

/** As many of the last lines, from behind `from`, as are needed to know the time of a message. */
function lastLines(fd: number, from: number, size: number, header: SessionHeader): SessionScan | undefined {
  for (let length = TAIL_BYTES; length <= CHUNK_BYTES && length <= size - from; length *= 8) {
    const scan = new SessionScan(header);
    const heads = new LineHeads((line) => scan.take(line));
    const end = memory.subarray(0, fs.readSync(fd, memory, 0, length, size - length));
    const firstLine = end.indexOf(LF) + 1;
    if (firstLine > 0) heads.push(end.subarray(firstLine));
    heads.finish();
    if (scan.hasTime) return scan;
  }
  return undefined;
}

const LF = 0x0a;

/** The header of a session file from its first bytes; undefined when it is none. Never throws. */
export function headerOf(path: string): SessionHeader | undefined {
  try {
    const store = FileStore.open(path, { readOnly: true });
    try {
      const scan = new SessionScan();
      const heads = new LineHeads((line) => scan.take(line));
      heads.push(store.read(0, CHUNK_BYTES));
      heads.finish();
      return scan.header;
    } finally {
      store.close();
    }
  } catch {
    return undefined;
  }
}

async function summaryOf(store: FileStore): Promise<SessionSummary> {
  const scan = new SessionScan();
  const heads = new LineHeads((line) => scan.take(line));
  let offset = 0;
  for (let turn = 1; !scan.refused; turn++) {
    const chunk = store.read(offset, CHUNK_BYTES);
    if (chunk.length === 0) break;
    heads.push(chunk);
    offset += chunk.length;
    if (turn % CHUNKS_PER_TURN === 0) await setImmediate();
  }
  heads.finish();
  return scan.header === undefined ? refusalOf(store) : scan.summary(scan.header, offset);
}

/** Of a file that is no session: the reader says why. */
function refusalOf(store: FileStore): SessionSummary {
  const reading = readSession(store);
  return reading.kind === "invalid"
    ? noSession(store.size(), "damaged", `line ${reading.line}: ${reading.reason}`)
    : noSession(store.size(), "empty", undefined);
}

function unreadable(error: unknown): SessionSummary {
  const cause = error instanceof SessionFileError ? (error.cause ?? error) : error;
  return noSession(0, "damaged", reasonOf(cause));
}

function noSession(size: number, kind: "empty" | "damaged", reason: string | undefined): SessionSummary {
  return {
    id: "",
    cwd: "",
    name: undefined,
    parentSession: undefined,
    created: new Date(0),
    modified: new Date(0),
    messageCount: 0,
    firstMessage: "",
    size,
    kind,
    reason,
    isSubagent: false,
    isComplete: true,
  };
}
