/**
 * Asking the program that writes a session to let go of it.
 * Part of `session/`; agent/ asks and answers. A request is a small file beside the lease's: whoever may write there is
 * the user, and a program that does not look leaves nothing but that file.
 */
import * as fs from "node:fs";
import { hostname } from "node:os";
import { leasePath, locksDir, writePrivately } from "./lease.ts";
import { ensurePrivateDir } from "./locations.ts";

export interface HandOverRequest {
  pid: number;
  host: string;
}

/** Between two looks for a request where the system tells of no changes; milliseconds. */
const POLL_MS = 250;

const requestPath = (sessionId: string): string => `${leasePath(sessionId)}.request.json`;

/** Asks; the returned function takes the request back, if it is still there. */
export function askForHandOver(sessionId: string): () => void {
  ensurePrivateDir(locksDir());
  const request: HandOverRequest = { pid: process.pid, host: hostname() };
  writePrivately(requestPath(sessionId), JSON.stringify(request));
  return () => fs.rmSync(requestPath(sessionId), { force: true });
}

/** Calls `asked` with each request for the session until the returned function is called. Old requests do not count. */
export function onHandOverAsked(sessionId: string, asked: (request: HandOverRequest) => void): () => void {
  const path = requestPath(sessionId);
  if (requestAt(path) !== undefined) fs.rmSync(path, { force: true });
  const look = (): void => {
    const request = requestAt(path);
    if (request === undefined) return;
    fs.rmSync(path, { force: true });
    asked(request);
  };
  const timer = setInterval(look, POLL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function requestAt(path: string): HandOverRequest | undefined {
  try {
    const { pid, host }: Partial<HandOverRequest> = JSON.parse(fs.readFileSync(path, "utf8"));
    return typeof pid === "number" && typeof host === "string" ? { pid, host } : undefined;
  } catch {
    return undefined;
  }
}
