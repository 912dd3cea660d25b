/**
 * `SessionFileError` and the texts of this room: what bough says when a session file cannot be used.
 * Part of `session/`. Thrown by SessionManager, file-store and catalog; shown as they are by cli/ and tui/.
 */
import type { Problem } from "../tree/problems.ts";

export type SessionFileErrorCode =
  | "missing"
  | "not-a-file"
  | "empty"
  | "not-a-session"
  | "newer-version"
  | "read-only"
  | "no-access"
  | "write-failed"
  | "sync-failed"
  | "in-use"
  | "file-changed"
  | "not-repaired"
  | "not-found"
  | "ambiguous";

/** A session file that cannot be used as asked. `message` is one plain sentence with the path in it. */
export class SessionFileError extends Error {
  override readonly name: string = "SessionFileError";
  /** The file in question; what the user typed when no file was found. */
  readonly path: string;
  readonly code: SessionFileErrorCode;

  constructor(code: SessionFileErrorCode, path: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.path = path;
  }
}

/** A session that another program is writing. The owner's members are undefined when it has not said who it is. */
export class SessionInUse extends SessionFileError {
  override readonly name = "SessionInUse";
  readonly pid: number | undefined;
  readonly host: string | undefined;
  /** ISO 8601 */
  readonly since: string | undefined;

  constructor(path: string, owner?: { pid: number; host: string; since: string }) {
    const who = owner === undefined ? "" : ` (process ${owner.pid} on ${owner.host}, since ${owner.since})`;
    super("in-use", path, `${path} is open in another bough${who}; close it there first.`);
    this.pid = owner?.pid;
    this.host = owner?.host;
    this.since = owner?.since;
  }
}

/** Lines that could not be written. */
export class WriteFailed extends SessionFileError {
  /** How many of the lines are in the file all the same. */
  readonly linesWritten: number;

  constructor(path: string, message: string, cause: unknown, linesWritten: number) {
    super("write-failed", path, message, cause);
    this.linesWritten = linesWritten;
  }
}

/** What another program has done to a file that was being written. */
export type FileLoss = "gone" | "replaced" | "shrunk";

const LOSSES: Readonly<Record<FileLoss, string>> = {
  gone: "was removed",
  replaced: "was replaced",
  shrunk: "was cut or rewritten",
};

/** A file that is no longer what this process has left: nothing more is written to it. */
export class FileLost extends SessionFileError {
  readonly loss: FileLoss;

  constructor(path: string, loss: FileLoss) {
    super("file-changed", path, `${path} ${LOSSES[loss]} by another program; nothing more is written to it.`);
    this.loss = loss;
  }
}

/** The operating system's codes that users meet, in words. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ["ENOSPC", "the disk is full"],
  ["EDQUOT", "the disk quota is used up"],
  ["EFBIG", "the file would be larger than allowed"],
  ["EACCES", "permission denied"],
  ["EPERM", "permission denied"],
  ["EROFS", "the file system is read-only"],
  ["EIO", "the disk reported an error"],
  ["EEXIST", "a file of that name is already there"],
  ["ENOENT", "there is no such file or folder"],
  ["ENOTDIR", "a part of the path is not a folder"],
  ["EISDIR", "it is a folder"],
  ["ELOOP", "it is a link that leads nowhere or in a circle"],
  ["EMFILE", "too many files are open"],
  ["ENAMETOOLONG", "the name is too long"],
]);

/** The code of a failed system call, "" for anything else. */
export function systemCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** Why a system call failed, in a few words. */
export function reasonOf(error: unknown): string {
  const code = systemCode(error);
  const words = REASONS.get(code);
  if (words !== undefined) return `${words} (${code})`;
  return error instanceof Error ? error.message : String(error);
}

export const missing = (path: string): SessionFileError =>
  new SessionFileError("missing", path, `There is no session file at ${path}; check the path.`);

export const notAFile = (path: string): SessionFileError =>
  new SessionFileError("not-a-file", path, `${path} is not a regular file, so it cannot be a session.`);

export const empty = (path: string): SessionFileError =>
  new SessionFileError("empty", path, `${path} is empty: it holds no session; nothing was changed.`);

export const notASession = (path: string, line: number, reason: string): SessionFileError =>
  new SessionFileError(
    "not-a-session",
    path,
    `${path} cannot be opened (line ${line}: ${reason}); nothing was changed.`,
  );

export const newerVersion = (path: string): SessionFileError =>
  new SessionFileError(
    "newer-version",
    path,
    `${path} was made by a newer version of bough, so it can only be read; update bough to continue it.`,
  );

export const oldVersion = (path: string, version: number): SessionFileError =>
  new SessionFileError(
    "read-only",
    path,
    `${path} holds format version ${version}, which is brought up to date in files only; it can only be read.`,
  );

export const readOnly = (path: string): SessionFileError =>
  new SessionFileError("read-only", path, `${path} is open for reading only; open it again to continue it.`);

export const noAccess = (path: string, cause: unknown): SessionFileError =>
  new SessionFileError("no-access", path, `Cannot open ${path}: ${reasonOf(cause)}.`, cause);

export const cannotRead = (path: string, cause: unknown): SessionFileError =>
  new SessionFileError("no-access", path, `Cannot read ${path}: ${reasonOf(cause)}.`, cause);

export const writeFailed = (path: string, cause: unknown, linesWritten: number): WriteFailed =>
  new WriteFailed(
    path,
    `Cannot write to ${path}: ${reasonOf(cause)}; the entry was not saved, so remove the cause and try again.`,
    cause,
    linesWritten,
  );

/** What could not be saved in its file is in another one. */
export const rescued = (cause: unknown, path: string): SessionFileError =>
  new SessionFileError("write-failed", path, `${reasonOf(cause)} All of this session is in ${path}.`, cause);

/** Thrown while a session is copied; `createFailed` says which. */
export const linesGone = (): Error =>
  new Error(
    "another program has changed or cut short the session it is made from, and entries cannot be read any more",
  );

export const createFailed = (path: string, cause: unknown): SessionFileError =>
  new SessionFileError(
    "write-failed",
    path,
    `Cannot make the session file ${path}: ${reasonOf(cause)}; nothing was changed.`,
    cause,
  );

export const syncFailed = (path: string, cause: unknown): SessionFileError =>
  new SessionFileError(
    "sync-failed",
    path,
    `The disk did not confirm what was written to ${path}: ${reasonOf(cause)}; ` +
      "the last entries may not survive a power cut, so copy the session elsewhere.",
    cause,
  );

export const changedDuringRepair = (path: string): SessionFileError =>
  new SessionFileError(
    "file-changed",
    path,
    `${path} was changed by another program while it was repaired, so it stays as it is; close the program and try again.`,
  );

/** The repaired file, before it got its name, was not what it should be. */
export const repairNotProven = (path: string): SessionFileError =>
  new SessionFileError(
    "not-repaired",
    path,
    `${path} was not repaired: what was written, read again, is not the same session; nothing was changed.`,
  );

export const repairFailed = (path: string, cause: unknown): SessionFileError =>
  new SessionFileError("write-failed", path, `Cannot repair ${path}: ${reasonOf(cause)}; nothing was changed.`, cause);

export const notFound = (asked: string): SessionFileError =>
  new SessionFileError(
    "not-found",
    asked,
    `No session matches "${asked}"; bough -r lists the sessions of this folder, and with Tab those of all folders.`,
  );

export const ambiguous = (asked: string, paths: readonly string[]): SessionFileError =>
  new SessionFileError(
    "ambiguous",
    asked,
    `"${asked}" matches ${paths.length} sessions; give more of the id or one of these paths:\n${paths.join("\n")}`,
  );

/** Problems that only this room can see. */
export const changedDuringMigration = (path: string): Problem => ({
  code: "changed-while-open",
  line: 0,
  text:
    `${path} was changed by another program while it was brought up to date, ` +
    "so this session goes on in memory and is not saved to that file.",
});

export const migrationNotWritten = (path: string, cause: unknown): Problem => ({
  code: "not-writable",
  line: 0,
  text: `${path} could not be brought up to date: ${reasonOf(cause)}; this session goes on in memory and is not saved.`,
});

/** A file that `-c` cannot continue. `isNew`: there is no session that it can. */
export function passedOver({ path, kind, reason }: UnusableFile, isNew: boolean): Problem {
  const why = {
    ok: "",
    empty: "it is empty",
    damaged: `it cannot be read (${reason ?? "unknown"})`,
    newer: "it was made by a newer version of bough",
  }[kind];
  const advice = kind === "newer" ? "update bough to continue it" : `bough doctor ${path} tells more`;
  const instead = isNew ? "this is a new session" : "an older one is continued";
  return {
    code: "passed-over",
    line: 0,
    text: `${path} is the newest session here, but ${why}, so ${instead}; ${advice}.`,
  };
}

interface UnusableFile {
  path: string;
  kind: "ok" | "empty" | "damaged" | "newer";
  reason: string | undefined;
}

export const notWritable = (path: string, cause: unknown): Problem => ({
  code: "not-writable",
  line: 0,
  text: `${path} cannot be written: ${reasonOf(cause)}; it is open for reading only.`,
});

export const noLease = (folder: string, cause: unknown): Problem => ({
  code: "no-lease",
  line: 0,
  text:
    `No lock could be made in ${folder}: ${reasonOf(cause)}; ` +
    "the session is used without one, so do not open it in a second bough.",
});

/** `lost`: how many entries could not be read any more. */
export const movedOut = ({ path, loss }: FileLost, to: string, lost: number): Problem => ({
  code: "file-changed",
  line: 0,
  text:
    `${path} ${LOSSES[loss]} by another program; all of this session is in ${to}, where it goes on` +
    (lost === 0 ? "." : `, but for ${lost === 1 ? "1 entry" : `${lost} entries`} that could not be read any more.`),
});

export const entriesLost = (path: string, count: number): Problem => ({
  code: "file-changed",
  line: 0,
  text:
    `Another program has cut off ${count === 1 ? "1 entry" : `${count} entries`} of this session, ` +
    `which could not be read any more and so ${count === 1 ? "is" : "are"} not in ${path}.`,
});

export const foreignLines = (path: string, count: number): Problem => ({
  code: "foreign-lines",
  line: 0,
  text:
    `Another program has written to ${path} (${count === 1 ? "1 entry" : `${count} entries`}); ` +
    "what it wrote is a branch of its own in /tree.",
});
