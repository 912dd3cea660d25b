/**
 * Asking the program that writes a session to let go of it.
 * Part of `session/`; agent/ asks and answers. A request is a small file beside the lease's: whoever may write there is
 * the user. It stands until the asker takes it back or the writer has let go; of an asker that is gone it means nothing,
 * and the writer removes it.
 */
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { hostname } from "node:os";
import { isAlive, leasePath, locksDir, writePrivately } from "./lease.ts";
import { ensurePrivateDir } from "./locations.ts";

/** What an asker holds. */
export interface AskedHandOver {
  /** Asks again if the request is gone: a writer that has begun since takes all it finds for old ones. */
  repeat(): void;
  takeBack(): void;
}

/** What the writer is told. */
export interface HandOverRequest {
  pid: number;
  host: string;
  /** Whether the asker still wants the session; a request of one that has died is removed. */
  stands(): boolean;
  /** The session is the asker's now. */
  answered(): void;
}

interface RequestFile {
  id: string;
  pid: number;
  host: string;
}

/** Between two looks for a request; milliseconds. */
const POLL_MS = 250;

const requestPath = (sessionId: string): string => `${leasePath(sessionId)}.request.json`;

export function askForHandOver(sessionId: string): AskedHandOver {
  const path = requestPath(sessionId);
  const request: RequestFile = { id: randomBytes(6).toString("hex"), pid: process.pid, host: hostname() };
  const ask = (): void => {
    ensurePrivateDir(locksDir());
    writePrivately(path, JSON.stringify(request));
  };
  ask();
  return {
    repeat() {
      if (!fs.existsSync(path)) ask();
    },
    takeBack: () => remove(path, request.id),
  };
}

/** Calls `asked` once with each request for the session until the returned function is called. */
export function onHandOverAsked(sessionId: string, asked: (request: HandOverRequest) => void): () => void {
  const path = requestPath(sessionId);
  // Who still waits asks again, and of the others nobody knows how old they are.
  removeFile(path);
  let known: string | undefined;
  const look = (): void => {
    const request = standing(path);
    if (request === undefined || request.id === known) return;
    const { id, pid, host } = request;
    known = id;
    asked({
      pid,
      host,
      stands: () => standing(path)?.id === id,
      answered: () => remove(path, id),
    });
  };
  const timer = setInterval(look, POLL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** The request at a path; one whose asker has died goes. */
function standing(path: string): RequestFile | undefined {
  const request = requestAt(path);
  if (request === undefined || request.host !== hostname() || isAlive(request.pid)) return request;
  removeFile(path);
  return undefined;
}

function remove(path: string, id: string): void {
  if (requestAt(path)?.id === id) removeFile(path);
}

/** Without a folder for locks nobody can ask, and a session is used all the same. */
function removeFile(path: string): void {
  try {
    fs.rmSync(path, { force: true });
  } catch {
    // It stays, and is asked about again.
  }
}

function requestAt(path: string): RequestFile | undefined {
  try {
    const { id, pid, host }: Partial<RequestFile> = JSON.parse(fs.readFileSync(path, "utf8"));
    const isRequest = typeof id === "string" && typeof pid === "number" && typeof host === "string";
    return isRequest ? { id, pid, host } : undefined;
  } catch {
    return undefined;
  }
}
