/**
 * `ListCache`: what lists have learned of the session files of one folder, so that a file that has not changed is not
 * read again. It lies in the state folder and is never the truth: one that is broken, of another folder or from another
 * version of bough counts as none.
 * Part of `session/`; used by the listing. See docs/decisions/4-list-cache.md.
 */
import { createHash, randomBytes } from "node:crypto";
import { lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import { ensurePrivateDir, stateDir } from "./locations.ts";
import { PRIVATE_FILE } from "./new-file.ts";
import type { SessionSummary } from "./session-scan.ts";

/** One state of a file: bytes, inode, and the times of its content and of its inode, in milliseconds with fractions. */
export interface FileState {
  readonly size: number;
  readonly ino: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

/** A file, the state in which it was read, and what it said. */
export interface KnownFile {
  readonly path: string;
  readonly state: FileState;
  readonly summary: SessionSummary;
}

/** @param state of the file before it was read; of it nothing else is kept */
export const fileKnown = (
  path: string,
  { size, ino, mtimeMs, ctimeMs }: FileState,
  summary: SessionSummary,
): KnownFile => ({ path, state: { size, ino, mtimeMs, ctimeMs }, summary });

/** To be changed with everything that a summary is made of or by. */
const FORMAT = "bough list 1";
const HASH_DIGITS = 32;

export class ListCache {
  readonly #dir: string;
  readonly #path: string;
  readonly #known: ReadonlyMap<string, KnownFile>;
  /** Those of the known ones that were asked for. */
  readonly #found: KnownFile[] = [];
  readonly #news = new Map<string, KnownFile>();

  /** @param dir a folder of session files */
  constructor(dir: string) {
    this.#dir = dir;
    this.#path = pathOf(dir);
    this.#known = remembered(this.#path) ?? byPath(linesIn(this.#path, dir));
    remember(this.#path, this.#known);
  }

  /** What is known of a file that is in this state; to be asked once. */
  find(path: string, state: FileState): KnownFile | undefined {
    const file = this.#known.get(path);
    if (file === undefined || !isSame(file.state, state)) return undefined;
    this.#found.push(file);
    return file;
  }

  put(file: KnownFile): void {
    this.#news.set(file.path, file);
  }

  /**
   * Writes it if there is news. Where nothing can be written there is no cache; of two programs the later one wins.
   * @param isWhole whether all files that there are were asked for: then the others are forgotten
   */
  save(isWhole: boolean): void {
    if (this.#news.size === 0 && (!isWhole || this.#found.length === this.#known.size)) return;
    const old = isWhole ? this.#found : this.#known.values();
    const files = byPath([...old, ...this.#news.values()]);
    try {
      replace(this.#path, bytesOf(this.#dir, [...files.values()]));
      remember(this.#path, files);
    } catch {
      // The next list reads the files again.
    }
  }
}

/** Of two with one path the later one. */
const byPath = (files: readonly KnownFile[]): ReadonlyMap<string, KnownFile> =>
  new Map(files.map((file) => [file.path, file]));

/** More files than this are not held between two lists. */
const REMEMBERED_FILES = 5000;
/** The cache that was used last, as it is on disk. */
let latest: { path: string; state: FileState; lines: ReadonlyMap<string, KnownFile> } | undefined;

function remembered(path: string): ReadonlyMap<string, KnownFile> | undefined {
  const state = latest?.path === path ? stateOf(path) : undefined;
  return latest !== undefined && state !== undefined && isSame(latest.state, state) ? latest.lines : undefined;
}

function remember(path: string, lines: ReadonlyMap<string, KnownFile>): void {
  const state = stateOf(path);
  latest = state === undefined || lines.size > REMEMBERED_FILES ? undefined : { path, state, lines };
}

/** Undefined for what is gone, or no regular file. */
export function stateOf(path: string): FileState | undefined {
  try {
    const stats = lstatSync(path);
    return stats.isFile() ? stats : undefined;
  } catch {
    return undefined;
  }
}

const isSame = (a: FileState, b: FileState): boolean =>
  a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs && a.ino === b.ino;

function pathOf(dir: string): string {
  const name = createHash("sha256").update(dir).digest("hex").slice(0, HASH_DIGITS);
  return join(stateDir(), "cache", "lists", `${name}.json`);
}

/** Times as numbers: lists are read more often than anything else here. */
const encoded = ({ path, state, summary }: KnownFile): object => ({
  path,
  state,
  summary: { ...summary, created: summary.created.getTime(), modified: summary.modified.getTime() },
});

/** How many are made into text at once: one text of all would be the largest thing in memory. */
const FILES_PER_TEXT = 64;

function* textsOf(dir: string, files: readonly KnownFile[]): Generator<string> {
  yield `{"dir":${JSON.stringify(dir)},"lines":[`;
  for (let n = 0; n < files.length; n += FILES_PER_TEXT) {
    const lines = JSON.stringify(files.slice(n, n + FILES_PER_TEXT).map(encoded)).slice(1, -1);
    yield n === 0 ? lines : `,${lines}`;
  }
  yield "]}";
}

/** The first line says what the rest is, and the CRC-32 of it. */
function bytesOf(dir: string, files: readonly KnownFile[]): Uint8Array {
  const pieces = Array.from(textsOf(dir, files), (text) => Buffer.from(text));
  const checksum = pieces.reduce((value, piece) => crc32(piece, value), 0);
  return Buffer.concat([Buffer.from(`${FORMAT} ${checksum}\n`), ...pieces]);
}

function linesIn(path: string, dir: string): KnownFile[] {
  try {
    const text = readFileSync(path, "utf8");
    const end = text.indexOf("\n");
    const body = text.slice(end + 1);
    if (text.slice(0, end) !== `${FORMAT} ${crc32(body)}`) return [];
    const read = JSON.parse(body) as { dir: string; lines: KnownFile[] };
    return read.dir === dir ? read.lines.map(({ summary, ...line }) => ({ ...line, summary: restored(summary) })) : [];
  } catch {
    return [];
  }
}

/** JSON has no dates and leaves out what is undefined. */
function restored(summary: SessionSummary): SessionSummary {
  const { id, cwd, name, parentSession, messageCount, firstMessage, size, kind, reason, isSubagent } = summary;
  return {
    id,
    cwd,
    name,
    parentSession,
    created: new Date(summary.created),
    modified: new Date(summary.modified),
    messageCount,
    firstMessage,
    size,
    kind,
    reason,
    isSubagent,
    isComplete: summary.isComplete,
  };
}

/** Not synced: what a power cut leaves of it is whole or is not used. */
function replace(path: string, bytes: Uint8Array): void {
  ensurePrivateDir(dirname(path));
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    writeFileSync(temporary, bytes, { mode: PRIVATE_FILE, flag: "wx" });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
