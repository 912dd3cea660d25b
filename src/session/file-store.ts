/**
 * `FileStore`: the lines of a session in a file, one write per append.
 * Part of `session/`; made by SessionManager. What the kernel has accepted survives the end of this process; what
 * `flush` has confirmed survives a power cut. Nothing is ever cut off a file: a line that was written in part is
 * closed by the newline with which the next write begins.
 */
import * as fs from "node:fs";
import { dirname } from "node:path";
import { ensurePrivateDir } from "./locations.ts";
import { PRIVATE_FILE, syncFolder } from "./new-file.ts";
import {
  FileLost,
  WriteFailed,
  createFailed,
  missing,
  noAccess,
  notAFile,
  readOnly,
  syncFailed,
  systemCode,
  writeFailed,
  cannotRead,
} from "./session-errors.ts";
import type { FileLoss } from "./session-errors.ts";
import type { Appended, ForeignBytes, SessionStore } from "./session-store.ts";

const LF = 0x0a;
const OPEN = 0x7b;
const CLOSE = 0x7d;
// The path was resolved before: a link found now was put there by someone else. Windows has no such flags.
const SAFELY = (fs.constants.O_NOFOLLOW ?? 0) | (fs.constants.O_NONBLOCK ?? 0);
const APPEND = fs.constants.O_RDWR | fs.constants.O_APPEND | SAFELY;
const CREATE = APPEND | fs.constants.O_CREAT | fs.constants.O_EXCL;
/** How a file in a folder of sessions is opened to be read. */
export const READ = fs.constants.O_RDONLY | SAFELY;
/** Milliseconds for which a look at the file is enough: far less than any program needs that is started by a person. */
const FRESH_MS = 10;
const NEVER = Number.NEGATIVE_INFINITY;

export class FileStore implements SessionStore {
  readonly path: string;
  #fd: number | undefined;
  #closed = false;
  /** Why nothing can be written; undefined when it can. */
  #refusal: Error | undefined;
  /** Opened for reading, which is the refusal then; made when asked for, as lists open thousands of files. */
  #isForReading = false;
  /** What closes an unfinished last line, before the next one. */
  #closing = "";
  /** The file's size as this process knows it: all before was read, or written by it. */
  #end = 0;
  #dirty = false;
  /** Which file is open. */
  #file: Pick<fs.Stats, "dev" | "ino"> = { dev: 0, ino: 0 };
  /** When an append was last seen to be where it belongs, in milliseconds. */
  #lookedAt = NEVER;
  #lost: FileLost | undefined;
  /** What others have put before the next write. */
  #foreign: ForeignBytes | undefined;
  #appended: Appended | undefined;
  /** Folders with new names in them. */
  #unsyncedFolders: string[] = [];
  /** All syncs so far, one after the other; once one has failed, all later ones fail: the kernel may have dropped the pages. */
  #synced: Promise<void> = Promise.resolve();
  #syncs = 0;

  private constructor(path: string) {
    this.path = path;
  }

  /** A store whose file does not exist: the first append makes it, and fails if it is there by then. */
  static create(path: string): FileStore {
    return new FileStore(path);
  }

  /**
   * The store of a file that exists. `path` must be resolved: a link is refused. A file that may not be written is
   * opened for reading, and `refusal` says why. Throws SessionFileError.
   */
  static open(path: string, options: { readOnly?: boolean } = {}): FileStore {
    const store = new FileStore(path);
    store.#openExisting(options.readOnly ?? false);
    return store;
  }

  #openExisting(forReading: boolean): void {
    this.#isForReading = forReading;
    try {
      this.#fd = fs.openSync(this.path, forReading ? READ : APPEND);
    } catch (error) {
      const code = systemCode(error);
      if (code === "ENOENT" || code === "ENOTDIR") throw missing(this.path);
      if (code === "EISDIR") throw notAFile(this.path);
      if (forReading || !["EACCES", "EPERM", "EROFS"].includes(code)) throw noAccess(this.path, error);
      this.#openExisting(true);
      this.#refusal = noAccess(this.path, error);
      return;
    }
    const stats = fs.fstatSync(this.#fd);
    if (!stats.isFile()) {
      this.close();
      throw notAFile(this.path);
    }
    this.#file = stats;
    this.#lookAtEnd(stats.size);
  }

  #lookAtEnd(size: number): void {
    this.#end = size;
    this.#closing = size > 0 ? closingAfter(this.read(size - 1, 1)[0]) : "";
  }

  /** Undefined when appends are accepted, else the error they throw. */
  get refusal(): Error | undefined {
    if (this.#isForReading) this.#refusal ??= readOnly(this.path);
    return this.#refusal;
  }

  size(): number {
    const fd = this.#fd;
    return fd === undefined ? 0 : this.#reading(() => fs.fstatSync(fd).size);
  }

  read(offset: number, length: number, memory?: Uint8Array): Uint8Array {
    const fd = this.#fd;
    if (fd !== undefined) return this.#reading(() => readRange(fd, offset, length, memory));
    return this.#closed ? this.#readClosed(offset, length, memory) : new Uint8Array(0);
  }

  /** A disk that fails is named with the file, as in every other error. */
  #reading<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw cannotRead(this.path, error);
    }
  }

  /** A session that was left may still be on the screen, and its entries are read when they are looked at. */
  #readClosed(offset: number, length: number, memory?: Uint8Array): Uint8Array {
    try {
      const fd = fs.openSync(this.path, READ);
      try {
        return readRange(fd, offset, length, memory);
      } finally {
        fs.closeSync(fd);
      }
    } catch {
      return new Uint8Array(0);
    }
  }

  get appended(): Appended | undefined {
    return this.#appended;
  }

  /** The first `size` bytes have been read: what comes after them is news. */
  haveRead(size: number): void {
    this.#lookAtEnd(size);
  }

  append(...lines: string[]): void {
    if (this.#closed) throw new Error(`The store of ${this.path} is closed`);
    const hindrance = this.refusal ?? this.#lost;
    if (hindrance !== undefined) throw hindrance;
    const text = `${lines.join("\n")}\n`;
    if (this.#fd === undefined) {
      this.#createWith(text);
      this.#appended = { start: 0, end: this.#end };
      return;
    }
    const now = performance.now();
    if (now - this.#lookedAt > FRESH_MS) this.#lookBefore();
    const closing = this.#closing;
    const bytes = Buffer.from(closing + text);
    this.#write(this.#fd, bytes);
    this.#appended = this.#lookAround(bytes, bytes.length - closing.length);
    this.#lookedAt = now;
  }

  /**
   * What others have cut, replaced or left unfinished since the last append is seen before anything is added to it. In
   * a burst of appends the look after the one before is as good.
   */
  #lookBefore(): void {
    const size = this.#sizeInPlace();
    if (size < this.#end) throw this.#lose("shrunk");
    if (size === this.#end) return;
    const offset = this.#foreign?.offset ?? this.#end;
    this.#foreign = { offset, length: size - offset };
    this.#lookAtEnd(size);
  }

  /**
   * Whether the file is still what this process has left, and what others have put around `written`.
   * @param length of its lines, which are its end
   */
  #lookAround(written: Uint8Array, length: number): Appended {
    const start = this.#end - written.length;
    const size = this.#sizeInPlace();
    if (size === this.#end) return this.#found(size, length, size);
    const news = Buffer.from(this.read(start, size - start));
    const at = news.indexOf(written);
    if (at < 0) throw this.#lose("shrunk");
    if (at > 0) {
      const offset = this.#foreign?.offset ?? start;
      this.#foreign = { offset, length: start + at - offset };
    }
    this.#lookAtEnd(size);
    return this.#found(start + at + written.length, length, size);
  }

  #found(end: number, length: number, size: number): Appended {
    const start = end - length;
    const before = this.#foreign;
    if (before === undefined && end === size) return { start, end };
    this.#foreign = undefined;
    return {
      start,
      end,
      ...(before === undefined ? {} : { before }),
      ...(end < size ? { after: { offset: end, length: size - end } } : {}),
    };
  }

  /** The file's size by its path, in one stat. Throws FileLost when the path does not lead to the open file any more. */
  #sizeInPlace(): number {
    let stats: fs.Stats;
    try {
      stats = fs.lstatSync(this.path);
    } catch (error) {
      if (["ENOENT", "ENOTDIR"].includes(systemCode(error))) throw this.#lose("gone");
      // A folder that may no longer be searched hides the file and takes nothing away.
      return this.size();
    }
    if (stats.ino !== this.#file.ino || stats.dev !== this.#file.dev) throw this.#lose("replaced");
    return stats.size;
  }

  #lose(loss: FileLoss): FileLost {
    this.#lost = new FileLost(this.path, loss);
    return this.#lost;
  }

  /** A file whose first write failed holds nothing that was confirmed, so it goes again. */
  #createWith(text: string): void {
    let fd: number;
    let folders: string[];
    try {
      folders = ensurePrivateDir(dirname(this.path));
      fd = fs.openSync(this.path, CREATE, PRIVATE_FILE);
    } catch (error) {
      throw createFailed(this.path, error);
    }
    try {
      fs.fchmodSync(fd, PRIVATE_FILE);
      this.#write(fd, Buffer.from(text));
    } catch (error) {
      fs.rmSync(this.path, { force: true });
      fs.closeSync(fd);
      this.#closing = "";
      this.#end = 0;
      throw error instanceof WriteFailed ? writeFailed(this.path, error.cause, 0) : error;
    }
    this.#fd = fd;
    this.#file = fs.fstatSync(fd);
    this.#unsyncedFolders = [dirname(this.path), ...folders];
  }

  /** One call; a second one only asks the kernel why the first wrote less than all. */
  #write(fd: number, bytes: Uint8Array): void {
    let done = 0;
    try {
      while (done < bytes.length) done += fs.writeSync(fd, bytes, done);
    } catch (error) {
      if (done > 0) this.#closing = closingAfter(bytes[done - 1]);
      this.#end += done;
      this.#lookedAt = NEVER;
      throw writeFailed(this.path, error, linesIn(bytes.subarray(0, done)));
    }
    this.#closing = "";
    this.#end += bytes.length;
    this.#dirty = true;
  }

  flush(): Promise<void> {
    const fd = this.#fd;
    if (fd !== undefined && this.#dirty) {
      this.#dirty = false;
      this.#syncs++;
      this.#synced = this.#synced.then(() => this.#sync(fd)).finally(() => this.#syncs--);
    }
    return this.#synced;
  }

  async #sync(fd: number): Promise<void> {
    try {
      await new Promise<void>((done, failed) => {
        fs.fdatasync(fd, (error) => (error === null ? done() : failed(error)));
      });
      for (const folder of this.#unsyncedFolders) syncFolder(folder);
      this.#unsyncedFolders = [];
    } catch (error) {
      throw syncFailed(this.path, error);
    }
  }

  close(): void {
    this.#closed = true;
    const fd = this.#fd;
    if (fd === undefined) return;
    this.#fd = undefined;
    const release = (): void => fs.closeSync(fd);
    if (this.#syncs === 0) release();
    else void this.#synced.then(release, release);
  }
}

/** Whole lines; a newline that only closes an older line ends none. */
function linesIn(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) if (byte === LF) count++;
  return bytes[0] === OPEN ? count : Math.max(0, count - 1);
}

function readRange(fd: number, offset: number, length: number, memory: Uint8Array | undefined): Uint8Array {
  const buffer =
    memory === undefined
      ? Buffer.allocUnsafe(Math.max(0, Math.min(length, fs.fstatSync(fd).size - offset)))
      : Buffer.from(memory.buffer, memory.byteOffset, length);
  let done = 0;
  while (done < buffer.length) {
    const count = fs.readSync(fd, buffer, done, buffer.length - done, offset + done);
    if (count === 0) break;
    done += count;
  }
  return buffer.subarray(0, done);
}

/**
 * A newline after any byte but one. A part of a record that ends like a whole one would be taken for it by readers that
 * look at the two ends of a line; a space before the newline makes them read all of it.
 */
function closingAfter(last: number | undefined): string {
  if (last === LF) return "";
  return last === CLOSE ? " \n" : "\n";
}
