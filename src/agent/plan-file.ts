/**
 * The plan as a file of the user's own, which can be read and changed before it is approved:
 * `<plans>/<session>/<title>.md`. Part of `agent/`; used by plan mode.
 *
 * A path is always made here, never taken from a session file: that could name any file of the user's.
 */
import { createHash } from "node:crypto";
import { basename, join } from "node:path";
import { ensurePrivateDir } from "../session/locations.ts";
import { writePrivately } from "../session/lease.ts";
import { readSmallFile } from "./bounded-file.ts";

/** Far more than a model writes at once. */
const MAX_PLAN_BYTES = 1024 * 1024;

export class PlanFile {
  readonly path: string;

  /** `folder` holds the plans of all sessions. */
  constructor(folder: string, sessionId: string, title: string) {
    this.path = join(folder, folderOf(sessionId), `${title}.md`);
  }

  /** The file that a session has recorded, if it is one of that session's plans; only its name is believed. */
  static recorded(folder: string, sessionId: string, path: unknown): PlanFile {
    return new PlanFile(folder, sessionId, typeof path === "string" ? titleIn(path) : "plan");
  }

  /** Replaces what was there. Throws the system's error. */
  write(plan: string): void {
    ensurePrivateDir(join(this.path, ".."));
    writePrivately(this.path, `${plan.trim()}\n`);
  }

  /** The plan as it is now, or why it cannot be read, which completes the sentence "… cannot be read: ". */
  read(): { plan: string } | { reason: string } {
    const file = readSmallFile(this.path, MAX_PLAN_BYTES);
    if (file.kind === "text") return { plan: file.text.trim() };
    return { reason: file.kind === "missing" ? "it is gone" : file.reason };
  }
}

function titleIn(path: string): string {
  const title = basename(path.replaceAll("\\", "/"), ".md");
  return /^[^\p{Cc}]{1,80}$/u.test(title) && !title.startsWith(".") ? title : "plan";
}

/** Ids of foreign sessions are any text. */
const folderOf = (sessionId: string): string =>
  /^[\w-]{1,80}$/.test(sessionId) ? sessionId : createHash("sha256").update(sessionId).digest("hex");
