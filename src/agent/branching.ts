/**
 * `/branch`, `/clone`, `/new` and `/resume`: changing to another session.
 * Part of `agent/`; AgentSession's methods of these names delegate to it.
 */
import { textOf } from "../tree/content.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { HookEvent, HookName, HookResult } from "./hook-port.ts";
import { isPrompt } from "./prompt-entries.ts";
import * as notices from "./session-notices.ts";

/** What a change of session needs of the AgentSession. */
export interface BranchingHost {
  readonly sessionManager: SessionManager;
  emitHook<N extends HookName>(name: N, event: HookEvent<N>): Promise<HookResult<N> | undefined>;
  appended(entryId: string): void;
  /** Saves; a failure becomes a notice. */
  saved(): Promise<void>;
  /** Messages held for the session that is left are dropped, with a notice. */
  dropQueue(): void;
  /** Another session is open: take over its model and thinking level unless `keepState`, tell the listeners. */
  changed(reason: "new" | "resume" | "branch" | "clone", keepState: boolean): Promise<void>;
}

/** A new session that ends right before a user's message; the message's text goes to the editor. */
export async function branchBefore(
  host: BranchingHost,
  entryId: string,
): Promise<{ selectedText: string; cancelled: boolean }> {
  const entry = host.sessionManager.getEntry(entryId);
  if (!isPrompt(entry)) throw new Error(notices.NOT_A_USER_MESSAGE);
  const selectedText = textOf(entry.message.content);
  const done = await branchAt(host, entryId, entry.parentId, "branch");
  return { selectedText, cancelled: !done };
}

/** A new session with the whole current branch. */
export async function cloneBranch(host: BranchingHost): Promise<{ cancelled: boolean }> {
  const leafId = host.sessionManager.getLeafId();
  if (leafId === null) throw new Error(notices.NOTHING_TO_CLONE);
  return { cancelled: !(await branchAt(host, leafId, leafId, "clone")) };
}

async function branchAt(
  host: BranchingHost,
  entryId: string,
  newLeafId: string | null,
  reason: "branch" | "clone",
): Promise<boolean> {
  const { sessionManager } = host;
  const answer = await host.emitHook("session_before_branch", {
    entryId,
    position: reason === "branch" ? "before" : "at",
  });
  if (answer?.cancel === true) return false;

  // A copy is the way out of a file that can no longer be written.
  await host.saved();
  const previousSessionFile = sessionManager.getSessionFile();
  if (newLeafId !== null) await branchOut(sessionManager, newLeafId);
  else if (previousSessionFile === undefined) sessionManager.newSession();
  else sessionManager.newSession({ parentSession: previousSessionFile });
  host.dropQueue();
  await host.changed(reason, answer?.skipConversationRestore === true);
  await host.emitHook("session_branch", { previousSessionFile });
  return true;
}

/** A session that is only followed stays as it is: its branch is copied, and the copy opened. */
async function branchOut(sessionManager: SessionManager, leafId: string): Promise<void> {
  if (sessionManager.isFollower()) await sessionManager.setSessionFile(sessionManager.exportBranch(leafId));
  else sessionManager.createBranchedSession(leafId);
}

/** An empty session in the same folder. */
export async function startNewSession(
  host: BranchingHost,
  options: { parentSession?: string },
): Promise<{ cancelled: boolean }> {
  return switchTo(host, { reason: "new" }, () => {
    host.sessionManager.newSession(options);
  });
}

/** The session of a file. Rejects with the reason when it cannot be opened; the current session then stays. */
export async function resumeSession(
  host: BranchingHost,
  path: string,
  options: { readOnly: boolean },
): Promise<{ cancelled: boolean }> {
  const change = (): Promise<void> => host.sessionManager.setSessionFile(path, options);
  return switchTo(host, { reason: "resume", targetSessionFile: path }, change);
}

async function switchTo(
  host: BranchingHost,
  event: HookEvent<"session_before_switch">,
  change: () => void | Promise<void>,
): Promise<{ cancelled: boolean }> {
  const { sessionManager } = host;
  const answer = await host.emitHook("session_before_switch", event);
  if (answer?.cancel === true) return { cancelled: true };
  const previousSessionFile = sessionManager.getSessionFile();
  await sessionManager.flush();
  await change();
  host.dropQueue();
  await host.changed(event.reason, false);
  await host.emitHook("session_switch", { reason: event.reason, previousSessionFile });
  return { cancelled: false };
}
