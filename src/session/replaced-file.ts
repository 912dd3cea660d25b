/**
 * Replacing a session file by a rewritten one, at once, with the original kept beside it: for a migration and for a
 * repair, and for nothing else.
 * Part of `session/`; used when an old session is opened for writing, and by repair.ts.
 */
import * as fs from "node:fs";
import { dirname } from "node:path";
import type { LineSource } from "../tree/line-source.ts";
import { copiedLines } from "./copied-lines.ts";
import type { Replacements } from "./copied-lines.ts";
import { PRIVATE_FILE, syncFolder, writeNewFile } from "./new-file.ts";
import { systemCode } from "./session-errors.ts";

/** What tells one state of a file from another. */
export type FileStamp = string;

/** Undefined when there is no file, or none that can be reached: opening it says why. */
export function stampOf(path: string): FileStamp | undefined {
  try {
    const { dev, ino, size, mtimeNs } = fs.statSync(path, { bigint: true });
    return `${dev}:${ino}:${size}:${mtimeNs}`;
  } catch {
    return undefined;
  }
}

/** Whether both are states of one file, and not of two that had the same name. */
export const isSameFile = (a: FileStamp | undefined, b: FileStamp | undefined): boolean =>
  a?.split(":", 2).join(":") === b?.split(":", 2).join(":");

/** The file is no longer what was read. */
export class ChangedMeanwhile extends Error {}

/**
 * Replaces the file at `path` by its lines with `changed` ones replaced. The original keeps its bytes under
 * `<path>.v<version>.bak` (numbered when that name is taken). `unchanged` is asked last of all, just before the new
 * file gets its name: when it says no, nothing was changed and ChangedMeanwhile is thrown.
 */
export function rewriteMigrated(
  path: string,
  source: LineSource,
  changed: Replacements,
  version: number,
  unchanged: () => boolean,
): void {
  replaceFile(path, copiedLines(source, changed), `v${version}.bak`, () => {
    if (!unchanged()) throw new ChangedMeanwhile(path);
  });
}

/** What holds a file's old bytes. */
export interface Backup {
  path: string;
  /** It is the old file itself under another name, and not a copy of it. */
  isOriginal: boolean;
}

/**
 * Replaces the file at `path` by one made of `pieces`. `check` gets the path of the new file when it is written and
 * synced; if it throws, nothing was changed. The old one keeps its bytes under `<path>.<ending>`, numbered when that
 * name is taken.
 */
export function replaceFile(
  path: string,
  pieces: Iterable<Uint8Array>,
  ending: string,
  check: (temporary: string) => void,
): Backup {
  let backup: Backup | undefined;
  writeNewFile(path, pieces, (temporary) => {
    check(temporary);
    backup = keepOriginal(path, ending);
    try {
      // Else a power cut could find the new name and not the backup's.
      syncFolder(dirname(path));
      fs.renameSync(temporary, path);
    } catch (error) {
      fs.unlinkSync(backup.path);
      throw error;
    }
  });
  return backup!;
}

/** Gives the file a second name; where links are unknown, copies it. Never replaces an older backup. */
function keepOriginal(path: string, ending: string): Backup {
  for (let number = 1; ; number++) {
    const backup = `${path}.${ending}${number === 1 ? "" : `.${number}`}`;
    let isOriginal: boolean;
    try {
      isOriginal = secondName(path, backup);
    } catch (error) {
      if (systemCode(error) === "EEXIST") continue;
      throw error;
    }
    try {
      fs.chmodSync(backup, PRIVATE_FILE);
      return { path: backup, isOriginal };
    } catch (error) {
      fs.unlinkSync(backup);
      throw error;
    }
  }
}

/** True for a link, false for a copy. */
function secondName(path: string, backup: string): boolean {
  try {
    fs.linkSync(path, backup);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST" || systemCode(error) === "ENOENT") throw error;
  }
  fs.copyFileSync(path, backup, fs.constants.COPYFILE_EXCL);
  syncCopy(backup);
  return false;
}

function syncCopy(path: string): void {
  const fd = fs.openSync(path, "r+");
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}
