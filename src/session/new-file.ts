/**
 * Making a whole file appear at once: written beside its place, synced, then given its name.
 * Part of `session/`; used for branched and forked sessions and for the one rewrite a migration needs.
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
 * (0600 whatever the umask), syncs it, and calls `publish` with its name, which must give it its place. On any error the temporary file is removed and the error thrown.
 */
export function writeNewFile(
  path: string,
  pieces: Iterable<Uint8Array>,
  publish: (temporary: string) => void = (temporary) => nameExclusively(temporary, path),
): void {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
  const fd = fs.openSync(temporary, "wx", PRIVATE_FILE);
  let open = true;
  try {
    fs.fchmodSync(fd, PRIVATE_FILE);
    writePieces(fd, pieces);
    fs.fsyncSync(fd);
    fs.closeSync(fd);
    open = false;
    publish(temporary);
    syncFolder(dirname(path));
  } catch (error) {
    if (open) fs.closeSync(fd);
    fs.rmSync(temporary, { force: true });
    throw error;
  }
}

/** Small pieces are gathered: a session has many short lines. */
function writePieces(fd: number, pieces: Iterable<Uint8Array>): void {
  const batch = Buffer.allocUnsafeSlow(BATCH_BYTES);
  let held = 0;
  for (const piece of pieces) {
    if (held + piece.length > batch.length) {
      writeAll(fd, batch.subarray(0, held));
      held = 0;
    }
    if (piece.length > BATCH_BYTES / 16) {
      writeAll(fd, batch.subarray(0, held));
      writeAll(fd, piece);
      held = 0;
    } else {
      batch.set(piece, held);
      held += piece.length;
    }
  }
  writeAll(fd, batch.subarray(0, held));
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
