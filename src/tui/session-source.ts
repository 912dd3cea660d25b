/**
 * The sessions on this machine as `/resume` needs them: read one after the other, and renamed where they lie.
 * Part of `tui/`; made by interactive-mode for selector-controller.
 */
import type { AgentSession } from "../agent/agent-session.ts";
import { listAllSessions, listExamples, listSessions } from "../session/catalog.ts";
import type { ListOptions } from "../session/catalog.ts";
import { SessionManager } from "../session/session-manager.ts";
import type { SessionSource } from "./session-picker.ts";

/** Sessions of the folder in which `session` works, or of all folders, and its example. */
export function sessionSource(session: Pick<AgentSession, "cwd" | "sessionManager" | "setSessionName">): SessionSource {
  return {
    async load(scope, found, signal) {
      const options: ListOptions = { found, signal, complete: true };
      if (scope === "folder") await listSessions(session.cwd, undefined, options);
      else await listAllSessions(options);
      await listExamples(session.cwd, options);
    },
    async rename({ path }, name) {
      if (path === session.sessionManager.getSessionFile()) {
        session.setSessionName(name ?? "");
        return session.sessionManager.flush();
      }
      const manager = await SessionManager.open(path);
      try {
        manager.setSessionName(name ?? "", "user");
        await manager.flush();
      } finally {
        await manager.close();
      }
    },
  };
}
