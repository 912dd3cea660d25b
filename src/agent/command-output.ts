/**
 * `CommandOutput`: what a command printed. Keeps the end in memory for the model and the screen, and everything in a
 * private file as soon as the end is not all. Part of `agent/`; used by run-command.ts alone.
 */
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PRIVATE_FILE } from "../session/new-file.ts";
import { ensurePrivateDir } from "../session/locations.ts";
import { reasonOf } from "../session/session-errors.ts";
import { MAX_OUTPUT_BYTES, MAX_OUTPUT_LINES, nextCharacter, plainOutput, tailOf } from "./output-limits.ts";

/** Raw bytes kept in memory: escape sequences and progress bars make the raw end longer than the plain one. */
const MEMORY_BYTES = 5 * MAX_OUTPUT_BYTES;
/** Many small chunks are joined, so that dropping the oldest stays cheap. */
const MAX_CHUNKS = 128;
/** A command that never stops printing must not fill the disk. */
const FILE_BYTES = 512 * 1024 * 1024;
/** Kept outputs are for the session at hand; older ones are removed when a new one is made. */
const KEPT_DAYS = 7;
const LF = 10;

export interface OutputSnapshot {
  /** Plain text, within MAX_OUTPUT_LINES and MAX_OUTPUT_BYTES. */
  text: string;
  /** Lines in `text`, and lines the command printed in all. */
  shownLines: number;
  totalLines: number;
  truncated: boolean;
  /** `text` is the end of one overlong line. */
  partialLine: boolean;
}

export class CommandOutput {
  readonly #folder: string | undefined;
  #chunks: Buffer[] = [];
  #memory = 0;
  #dropped = false;
  #bytes = 0;
  #newlines = 0;
  #endsInNewline = true;
  #file: KeptFile | undefined;

  /** `folder` is where a full output may be kept; without one, a new folder under the system's temporary one. */
  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#bytes += chunk.length;
    for (let at = chunk.indexOf(LF); at >= 0; at = chunk.indexOf(LF, at + 1)) this.#newlines++;
    this.#endsInNewline = chunk[chunk.length - 1] === LF;
    this.#chunks.push(chunk);
    this.#memory += chunk.length;
    if (this.#file !== undefined) this.#file.append(chunk);
    else if (this.#bytes > MAX_OUTPUT_BYTES || this.#newlines > MAX_OUTPUT_LINES) this.#startFile();
    if (this.#chunks.length > MAX_CHUNKS || this.#memory > 2 * MEMORY_BYTES) this.#compact();
  }

  snapshot(): OutputSnapshot {
    this.#compact();
    const raw = this.#chunks[0] ?? Buffer.alloc(0);
    const tail = tailOf(plainOutput(raw.subarray(this.#dropped ? firstWhole(raw) : 0).toString()));
    return {
      text: tail.text,
      shownLines: tail.lines,
      totalLines: this.#newlines + (this.#endsInNewline ? 0 : 1),
      truncated: this.#dropped || tail.cut,
      partialLine: tail.partialLine,
    };
  }

  /**
   * The file with everything that was printed, or why there is none. Call once, at the end: a file that holds no more
   * than the snapshot is removed.
   */
  finish(truncated: boolean): { path?: string; problem?: string } {
    const file = this.#file;
    if (file === undefined) return {};
    file.close();
    if (!truncated) {
      file.remove();
      return {};
    }
    return file.problem === undefined ? { path: file.path } : { path: file.path, problem: file.problem };
  }

  /** Called before anything was dropped: the limits of the file are below those of the memory. */
  #startFile(): void {
    this.#file = new KeptFile(this.#folder);
    for (const chunk of this.#chunks) this.#file.append(chunk);
  }

  #compact(): void {
    if (this.#chunks.length <= 1 && this.#memory <= MEMORY_BYTES) return;
    const whole = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks, this.#memory);
    if (whole.length > MEMORY_BYTES) this.#dropped = true;
    // A copy, because a part of a buffer keeps all of it alive.
    const kept = Buffer.from(whole.subarray(Math.max(0, whole.length - MEMORY_BYTES)));
    this.#chunks = [kept];
    this.#memory = kept.length;
  }
}

/** Where the first whole line begins, else the first whole character. */
function firstWhole(raw: Buffer): number {
  const lineEnd = raw.indexOf(LF);
  return lineEnd >= 0 && lineEnd < raw.length - 1 ? lineEnd + 1 : nextCharacter(raw, 0);
}

/** A private file that takes what it can; `problem` says what it could not. */
class KeptFile {
  path: string | undefined;
  problem: string | undefined;
  #fd: number | undefined;
  #size = 0;

  constructor(folder: string | undefined) {
    try {
      const place = folder ?? fs.mkdtempSync(join(tmpdir(), "bough-output-"));
      ensurePrivateDir(place);
      removeOld(place);
      this.path = join(place, `${Date.now().toString(36)}-${randomBytes(6).toString("hex")}.log`);
      this.#fd = fs.openSync(this.path, "wx", PRIVATE_FILE);
      fs.fchmodSync(this.#fd, PRIVATE_FILE);
    } catch (error) {
      this.#fail(reasonOf(error));
    }
  }

  append(chunk: Buffer): void {
    if (this.#fd === undefined) return;
    const room = chunk.subarray(0, FILE_BYTES - this.#size);
    try {
      for (let done = 0; done < room.length;) done += fs.writeSync(this.#fd, room, done);
      this.#size += room.length;
    } catch (error) {
      this.#fail(reasonOf(error));
    }
    if (room.length < chunk.length) this.#fail("it reached its limit of 512 MB");
  }

  close(): void {
    if (this.#fd !== undefined) fs.closeSync(this.#fd);
    this.#fd = undefined;
  }

  remove(): void {
    if (this.path !== undefined) fs.rmSync(this.path, { force: true });
  }

  #fail(reason: string): void {
    this.problem = reason;
    this.close();
  }
}

function removeOld(folder: string): void {
  const limit = Date.now() - KEPT_DAYS * 24 * 60 * 60 * 1000;
  for (const name of fs.readdirSync(folder)) {
    const path = join(folder, name);
    const stat = name.endsWith(".log") ? fs.lstatSync(path, { throwIfNoEntry: false }) : undefined;
    if (stat?.isFile() && stat.mtimeMs < limit) fs.rmSync(path, { force: true });
  }
}
