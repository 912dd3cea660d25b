/**
 * Where sessions live on disk: the state folder, one folder per working directory, and the names of files.
 * Part of `session/`; used by SessionManager, the catalog and cli/.
 *
 *     <state>/sessions/<directory key>/<timestamp>_<session id>.jsonl
 */
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { systemCode } from "./session-errors.ts";

/** The folder of everything bough keeps: `$BOUGH_DIR`, else `~/.bough`. Read anew at each call. */
export function stateDir(): string {
  const chosen = process.env["BOUGH_DIR"];
  return chosen ? resolve(chosen) : join(homedir(), ".bough");
}

/** The folder that holds the folders of all working directories. */
export const allSessionsDir = (): string => join(stateDir(), "sessions");

/** Sessions that show bough off; never continued by themselves. */
export const examplesDir = (): string => join(stateDir(), "examples");

/** The example of a working directory: commands typed in it run there, and two directories never share one. */
export const examplePath = (cwd: string): string =>
  join(examplesDir(), `example-${directoryKey(canonicalPath(cwd))}.jsonl`);

/** The folder for the sessions of a working directory; two directories never share one. */
export const sessionsDir = (cwd: string): string => join(allSessionsDir(), directoryKey(canonicalPath(cwd)));

/**
 * The one spelling of a path: absolute and without links. Of a path that is gone, the part that still exists is
 * resolved and the rest is kept as written.
 */
export function canonicalPath(path: string): string {
  const absolute = resolve(path);
  const rest: string[] = [];
  for (let existing = absolute; ; existing = dirname(existing)) {
    try {
      return join(realpathSync.native(existing), ...rest);
    } catch {
      if (dirname(existing) === existing) return absolute;
      rest.unshift(basename(existing));
    }
  }
}

/** Bytes of the readable part of a directory key: with the hash it stays far below the 255 a name may have. */
const READABLE_BYTES = 80;
const HASH_DIGITS = 12;

/**
 * The folder name for a canonical path: its readable end and a hash of all of it, such as `a-b-3f9c2a1bd04e`.
 * On systems whose file names ignore case, spellings of one directory get one key.
 */
export function directoryKey(canonical: string, platform: NodeJS.Platform = process.platform): string {
  const identity = spelledOnce(canonical, platform);
  const hash = createHash("sha256").update(identity).digest("hex").slice(0, HASH_DIGITS);
  const words = identity.replace(/[^\p{L}\p{N}._]+/gu, "-").replace(/^[-.]+|-+$/g, "");
  const readable = lastBytes(words, READABLE_BYTES).replace(/^[-.]+/, "");
  return readable === "" ? hash : `${readable}-${hash}`;
}

function spelledOnce(canonical: string, platform: NodeJS.Platform): string {
  if (platform === "win32") return canonical.replaceAll("/", "\\").toLowerCase();
  if (platform === "darwin") return canonical.normalize("NFC").toLowerCase();
  return canonical;
}

/** The end of a text in at most `limit` bytes of UTF-8, cut between characters. */
function lastBytes(text: string, limit: number): string {
  const characters = [...text];
  let bytes = 0;
  let start = characters.length;
  while (start > 0) {
    bytes += Buffer.byteLength(characters[start - 1]!);
    if (bytes > limit) break;
    start--;
  }
  return characters.slice(start).join("");
}

/** `timestamp` is the header's ISO time; `:` and `.` are not allowed in names everywhere. */
export const sessionFileName = (timestamp: string, id: string): string =>
  `${timestamp.replace(/[:.]/g, "-")}_${id}.jsonl`;

/**
 * Makes a folder and its missing parents, each for the user alone (0700) whatever the umask; existing ones stay as
 * they are. Returns the folders in which one was made: they must be synced for the new one to survive a power cut.
 */
export function ensurePrivateDir(path: string): string[] {
  const missing: string[] = [];
  let folder = resolve(path);
  let outcome = makeDir(folder);
  while (outcome === "no parent" && dirname(folder) !== folder) {
    missing.push(folder);
    folder = dirname(folder);
    outcome = makeDir(folder);
  }
  const changed = outcome === "made" ? [dirname(folder)] : [];
  for (let below = missing.pop(); below !== undefined; below = missing.pop()) {
    outcome = makeDir(below);
    if (outcome === "made") changed.push(dirname(below));
    else if (outcome === "no parent") throw leadsNowhere(dirname(below));
  }
  return changed;
}

/** A link to what does not exist is there and still no parent; so is a folder that another program took away again. */
function leadsNowhere(folder: string): Error {
  return Object.assign(new Error(`${folder} leads to a folder that does not exist`), { code: "ENOENT" });
}

function makeDir(folder: string): "made" | "there" | "no parent" {
  try {
    mkdirSync(folder, { mode: 0o700 });
    chmodSync(folder, 0o700);
    return "made";
  } catch (error) {
    if (systemCode(error) === "EEXIST") return "there";
    if (systemCode(error) === "ENOENT" && dirname(folder) !== folder) return "no parent";
    throw error;
  }
}
