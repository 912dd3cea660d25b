/**
 * From the command line's choice to an open session. Part of `cli/`; used by main.ts.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { findSession } from "../session/catalog.ts";
import { examplesDir, canonicalPath } from "../session/locations.ts";
import { SessionManager } from "../session/session-manager.ts";
import { UsageError } from "./arguments.ts";
import type { SessionChoice } from "./arguments.ts";

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

/** What the user should know about the session that was opened, one plain line each. */
export function sessionNotices(session: SessionManager, cwd: string): string[] {
  const notices: string[] = [];
  const path = session.getSessionFile();
  const recorded = session.getCwd();
  const problems = session.getProblems();
  if (problems.length > 0 && path !== undefined) {
    const [first] = problems;
    const rest = problems.length === 1 ? "" : ` (and ${problems.length - 1} more)`;
    notices.push(`${first?.text}${rest} bough doctor ${path} shows all.`);
  }
  if (path === undefined || path.startsWith(examplesDir())) return notices;
  if (recorded === "" || !existsSync(recorded))
    notices.push(
      `The folder this session was made in is gone: ${recorded || "(none recorded)"}. To go on here: bough --fork ${path}`,
    );
  else if (canonicalPath(recorded) !== canonicalPath(cwd)) notices.push(`This session works in ${recorded}.`);
  return notices;
}
