/**
 * The one rewrite a session file ever gets: an old version is brought up to date in place, its original kept beside it.
 * Part of `session/`; used when a session is opened for writing.
 */
import * as fs from "node:fs";
import type { LineSource } from "../tree/line-source.ts";
import { copiedLines } from "./copied-lines.ts";
import type { Replacements } from "./copied-lines.ts";
import { PRIVATE_FILE, writeNewFile } from "./new-file.ts";
import { systemCode } from "./session-errors.ts";

/** What tells one state of a file from another. */
export type FileStamp = string;

/** Undefined when there is no file. */
export function stampOf(path: string): FileStamp | undefined {
  const stats = fs.statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}`;
}

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
  writeNewFile(path, copiedLines(source, changed), (temporary) => {
    if (!unchanged()) throw new ChangedMeanwhile(path);
    const backup = keepOriginal(path, version);
    try {
      fs.renameSync(temporary, path);
    } catch (error) {
      fs.unlinkSync(backup);
      throw error;
    }
  });
}

/** Gives the file a second name; where links are unknown, copies it. Never replaces an older backup. */
function keepOriginal(path: string, version: number): string {
  for (let number = 1; ; number++) {
    const backup = `${path}.v${version}.bak${number === 1 ? "" : `.${number}`}`;
    try {
      secondName(path, backup);
      fs.chmodSync(backup, PRIVATE_FILE);
      return backup;
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw error;
    }
  }
}

function secondName(path: string, backup: string): void {
  try {
    fs.linkSync(path, backup);
  } catch (error) {
    if (systemCode(error) === "EEXIST" || systemCode(error) === "ENOENT") throw error;
    fs.copyFileSync(path, backup, fs.constants.COPYFILE_EXCL);
  }
}
