/**
 * Making a whole file appear at once: written beside its place, synced, then given its name.
 * Part of `session/`; used for branched and forked sessions, for the one rewrite a migration needs, and for exports.
 */
import * as fs from "node:fs";
import { randomBytes } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { systemCode } from "./session-errors.ts";

/** Only the user may read or write what bough keeps. */
export const PRIVATE_FILE = 0o600;

const BATCH_BYTES = 1 << 20;

/**
 * Writes `pieces`, each of which is used up before the next is asked for, to a temporary file in the folder of `path`
 * (0600 whatever the umask), syncs it, and calls `publish` with its name, which must give it its place. On any error
 * the temporary file is removed and the error thrown.
 */
export function writeNewFile(path: string, pieces: Iterable<Uint8Array>, publish?: (temporary: string) => void): void {
  const file = new NewFile(path);
  try {
    for (const piece of pieces) file.write(piece);
    file.publish(publish);
  } catch (error) {
    file.discard();
    throw error;
  }
}

/** A file that is written piece by piece and has no name until it is whole; `writeNewFile` for who cannot write at once. */
export class NewFile {
  readonly #path: string;
  readonly #temporary: string;
  /** Small pieces are gathered: a session has many short lines. */
  readonly #batch = Buffer.allocUnsafeSlow(BATCH_BYTES);
  #fd: number | undefined;
  #held = 0;

  /** Makes the temporary file beside `path`. Throws the system's error. */
  constructor(path: string) {
    this.#path = path;
    this.#temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
    this.#fd = fs.openSync(this.#temporary, "wx", PRIVATE_FILE);
    try {
      fs.fchmodSync(this.#fd, PRIVATE_FILE);
    } catch (error) {
      this.discard();
      throw error;
    }
  }

  /** The piece is used up when it returns. */
  write(piece: Uint8Array): void {
    const fd = this.#open();
    if (this.#held + piece.length > this.#batch.length) this.#writeHeld(fd);
    if (piece.length > BATCH_BYTES / 16) {
      this.#writeHeld(fd);
      writeAll(fd, piece);
    } else {
      this.#batch.set(piece, this.#held);
      this.#held += piece.length;
    }
  }

  /** Syncs what was written and gives it its name; by default one that is not taken, else the system's error. */
  publish(publish: (temporary: string) => void = (temporary) => nameExclusively(temporary, this.#path)): void {
    const fd = this.#open();
    this.#writeHeld(fd);
    fs.fsyncSync(fd);
    this.#fd = undefined;
    fs.closeSync(fd);
    publish(this.#temporary);
    syncFolder(dirname(this.#path));
  }

  /** Removes what was written, unless it has its name. */
  discard(): void {
    if (this.#fd !== undefined) fs.closeSync(this.#fd);
    this.#fd = undefined;
    fs.rmSync(this.#temporary, { force: true });
  }

  #open(): number {
    if (this.#fd === undefined) throw new Error(`${this.#path} is not being written any more`);
    return this.#fd;
  }

  #writeHeld(fd: number): void {
    writeAll(fd, this.#batch.subarray(0, this.#held));
    this.#held = 0;
  }
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) done += fs.writeSync(fd, bytes, done);
}

/** A link, unlike a rename, never replaces a file that is already there; some file systems know no links. */
function nameExclusively(temporary: string, path: string): void {
  try {
    fs.linkSync(temporary, path);
  } catch (error) {
    if (systemCode(error) === "EEXIST" || fs.existsSync(path)) throw error;
    fs.renameSync(temporary, path);
    return;
  }
  fs.unlinkSync(temporary);
}

/** Makes the names in a folder survive a power cut. Windows cannot open folders and needs no such call. */
export function syncFolder(folder: string): void {
  if (process.platform === "win32") return;
  const fd = fs.openSync(folder, "r");
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}
