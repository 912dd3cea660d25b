/**
 * `Lease`: the right to write a session, held by one program at a time. The kernel gives it back when the program ends,
 * however it ends.
 * Part of `session/`; held by an open session, see open-session.ts.
 *
 * The lock is SQLite's on `<state>/locks/<SHA-256 of the session id>.lock`, a file without content. It must never be
 * opened by `fs`: closing any descriptor of a file drops all locks this process has on it (POSIX). It is never removed
 * either, or two programs could lock two files of one name. A `.json` beside it says who holds it, for messages only.
 */
import { createHash, randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type * as sqlite from "node:sqlite";
import type { Problem } from "../tree/problems.ts";
import { ensurePrivateDir, stateDir } from "./locations.ts";
import { PRIVATE_FILE } from "./new-file.ts";
import { SessionInUse, noLease, systemCode } from "./session-errors.ts";

/** Who holds a lease. */
export interface LeaseOwner {
  pid: number;
  host: string;
  /** ISO 8601 */
  since: string;
  /** The session's file as the owner opened it. */
  path: string;
}

const SQLITE_BUSY = 5;

/** The folder of all locks. */
export const locksDir = (): string => join(stateDir(), "locks");

/** The path of everything that concerns the lease of a session, without the ending. */
export const leasePath = (sessionId: string): string =>
  join(locksDir(), createHash("sha256").update(sessionId).digest("hex"));

export class Lease {
  readonly sessionId: string;
  /** Why there is no lock: the session is written without one. */
  readonly problem: Problem | undefined;
  #lock: sqlite.DatabaseSync | undefined;
  readonly #sidecar: string;

  private constructor(sessionId: string, lock: sqlite.DatabaseSync | undefined, problem: Problem | undefined) {
    this.sessionId = sessionId;
    this.problem = problem;
    this.#lock = lock;
    this.#sidecar = `${leasePath(sessionId)}.json`;
  }

  /**
   * Takes the lease of a session for its file at `path`. Throws SessionInUse when another program, or this one, has it.
   * Where no lock can be made (a state folder that cannot be written) the lease is one in name, and `problem` says so.
   */
  static take(sessionId: string, path: string): Lease {
    let lock: sqlite.DatabaseSync;
    try {
      ensurePrivateDir(locksDir());
      lock = lockedFile(`${leasePath(sessionId)}.lock`);
    } catch (error) {
      if (isBusy(error)) throw new SessionInUse(path, leaseOwner(sessionId));
      return new Lease(sessionId, undefined, noLease(locksDir(), error));
    }
    const lease = new Lease(sessionId, lock, undefined);
    lease.#sayWho(path);
    return lease;
  }

  release(): void {
    const lock = this.#lock;
    if (lock === undefined) return;
    this.#lock = undefined;
    fs.rmSync(this.#sidecar, { force: true });
    lock.close();
  }

  /** Messages are worse without it, and that is all. */
  #sayWho(path: string): void {
    const stats = fs.statSync(path, { throwIfNoEntry: false });
    const file = stats === undefined ? {} : { dev: stats.dev, ino: stats.ino };
    const owner: LeaseOwner = { pid: process.pid, host: hostname(), since: new Date().toISOString(), path };
    try {
      writePrivately(this.#sidecar, JSON.stringify({ ...owner, ...file }));
    } catch {
      fs.rmSync(this.#sidecar, { force: true });
    }
  }
}

/** What the sidecar says; undefined when it is missing, unreadable, or left over from a program that is gone. */
export function leaseOwner(sessionId: string): LeaseOwner | undefined {
  try {
    const said: Partial<LeaseOwner> = JSON.parse(fs.readFileSync(`${leasePath(sessionId)}.json`, "utf8"));
    const { pid, host, since, path } = said;
    if (typeof pid !== "number" || typeof host !== "string" || typeof since !== "string" || typeof path !== "string")
      return undefined;
    return host === hostname() && !isAlive(pid) ? undefined : { pid, host, since, path };
  } catch {
    return undefined;
  }
}

/** Replaces a small file at once. */
export function writePrivately(path: string, text: string): void {
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    fs.writeFileSync(temporary, text, { mode: PRIVATE_FILE, flag: "wx" });
    fs.chmodSync(temporary, PRIVATE_FILE);
    fs.renameSync(temporary, path);
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw error;
  }
}

function lockedFile(path: string): sqlite.DatabaseSync {
  const { DatabaseSync } = loadSqlite();
  const lock = new DatabaseSync(path);
  try {
    fs.chmodSync(path, PRIVATE_FILE);
    lock.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** Node 22 warns that SQLite is experimental; what is used of it here has not changed since, and users cannot act on it. */
function loadSqlite(): typeof sqlite {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule("node:sqlite");
  } finally {
    process.emitWarning = emitWarning;
  }
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY;

/** Whether a process of this machine is running. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === "EPERM";
  }
}
