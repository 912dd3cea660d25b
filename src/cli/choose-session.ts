/**
 * From the command line's choice to an open session. Part of `cli/`; used by the modes.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { worksElsewhere } from "../agent/session-notices.ts";
import { findSession } from "../session/catalog.ts";
import { canonicalPath } from "../session/locations.ts";
import { SessionManager } from "../session/session-manager.ts";
import type { SessionChoice } from "./arguments.ts";
import { UsageError } from "./usage.ts";

/** Opens or makes the session. Rejects with SessionFileError or UsageError; nothing is made then. */
export async function chooseSession(choice: SessionChoice, cwd: string): Promise<SessionManager> {
  switch (choice.kind) {
    case "new":
      return SessionManager.create(cwd);
    case "continue":
      return SessionManager.continueRecent(cwd);
    case "resume":
      if (choice.session === undefined)
        throw new UsageError("Name the session to resume: an id, its beginning, or a path.");
      return SessionManager.open(findSession(choice.session, cwd));
    case "file":
      return SessionManager.open(resolve(cwd, choice.path));
    case "fork":
      return SessionManager.forkFrom(resolve(cwd, choice.path), cwd);
    case "memory":
      return SessionManager.inMemory(cwd);
    default:
      return choice satisfies never;
  }
}

/** The file that a command's argument names: a path, or the id of a session or its beginning. Throws SessionFileError. */
export function namedFile(asked: string, cwd: string): string {
  return existsSync(resolve(cwd, asked)) || /[/\\]|\.jsonl$/.test(asked) ? asked : findSession(asked, cwd);
}

/** What is wrong in the file of an open session, in one plain sentence; undefined when nothing is. */
export function damageNotice(session: SessionManager): string | undefined {
  const [first, ...others] = session.getProblems();
  if (first === undefined) return undefined;
  const path = session.getSessionFile() ?? "";
  return others.length === 0 ? first.text : `${first.text} ${others.length} more: bough doctor ${path} lists them.`;
}

/** Where an open session works, if that is not here; undefined when it is. */
export function folderNotice(session: SessionManager, cwd: string): string | undefined {
  const path = session.getSessionFile();
  if (path === undefined) return undefined;
  const recorded = session.getCwd();
  if (recorded === "" || !existsSync(recorded))
    return `The folder this session was made in is gone: ${recorded || "(none recorded)"}. To go on here: bough --fork ${path}`;
  return canonicalPath(recorded) === canonicalPath(cwd) ? undefined : worksElsewhere(recorded, cwd);
}
