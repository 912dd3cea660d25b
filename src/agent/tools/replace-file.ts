/**
 * `replaceFile`: gives a file of the user's new content in one step, so that nobody ever sees half of it.
 * Part of `agent/`; used by write and edit.
 */
import * as fs from "node:fs";
import { dirname, resolve } from "node:path";
import { writeNewFile } from "../../session/new-file.ts";
import { systemCode } from "../../session/session-errors.ts";

/** Links followed before a path counts as a circle (Linux: path_resolution(7)). */
const MAX_LINKS = 40;

/**
 * Writes `content` to `path`, whose folder must exist. An existing file keeps its mode and, where allowed, its owner;
 * a new one gets what the umask leaves. A link stays a link: its target is written, also when that is still missing.
 * Throws the system's error, and then the file is as before.
 */
export function replaceFile(path: string, content: Uint8Array): void {
  const target = endOfLinks(path);
  const before = fs.statSync(target, { throwIfNoEntry: false });
  // A rename would also replace a file that its owner has made read-only.
  if (before !== undefined) fs.accessSync(target, fs.constants.W_OK);
  try {
    writeNewFile(target, [content], (temporary) => {
      fs.chmodSync(temporary, before === undefined ? 0o666 & ~process.umask() : before.mode & 0o7777);
      if (before !== undefined) keepOwner(temporary, before);
      fs.renameSync(temporary, target);
    });
  } catch (error) {
    if (before === undefined || !cannotRename(error)) throw error;
    fs.writeFileSync(target, content, { flag: "r+" });
    fs.truncateSync(target, content.length);
  }
}

function endOfLinks(path: string): string {
  let target = path;
  for (let links = 0; links < MAX_LINKS; links++) {
    if (!fs.lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink()) return target;
    target = resolve(dirname(target), fs.readlinkSync(target));
  }
  return target;
}

/** A folder that takes no new files, or a file that is a mount of its own, still lets the file itself be written. */
const cannotRename = (error: unknown): boolean => ["EACCES", "EPERM", "EBUSY", "EXDEV"].includes(systemCode(error));

function keepOwner(temporary: string, { uid, gid, mode }: fs.Stats): void {
  const own = fs.statSync(temporary);
  if (own.uid === uid && own.gid === gid) return;
  try {
    fs.chownSync(temporary, uid, gid);
    // A change of owner clears the set-uid and set-gid bits.
    fs.chmodSync(temporary, mode & 0o7777);
  } catch (error) {
    // Only root may give files away; the content matters more than the owner.
    if (systemCode(error) !== "EPERM") throw error;
  }
}
