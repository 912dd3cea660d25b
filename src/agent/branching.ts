/**
 * `/branch`, `/clone`, `/new` and `/resume`: changing to another session.
 * Part of `agent/`; AgentSession's methods of these names delegate to it.
 */
import { textOf } from "../tree/content.ts";
import { canonicalPath } from "../session/locations.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { AgentSessionEvent } from "./agent-session-events.ts";
import type { HookEvent } from "./hook-port.ts";
import { isPrompt } from "./prompt-entries.ts";
import type { SessionHooks } from "./session-hooks.ts";
import * as notices from "./session-notices.ts";

/** What a change of session needs of the AgentSession. */
export interface BranchingHost {
  readonly sessionManager: SessionManager;
  /** The folder whose settings, rules and servers are in use. */
  readonly projectDir: string;
  readonly hooks: Pick<SessionHooks, "emit" | "replacing">;
  emit(event: AgentSessionEvent): void;
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

/** A new session with the path to an entry; default the leaf. */
export async function cloneBranch(
  host: BranchingHost,
  entryId = host.sessionManager.getLeafId(),
): Promise<{ cancelled: boolean }> {
  if (entryId === null) throw new Error(notices.NOTHING_TO_CLONE);
  if (host.sessionManager.getEntry(entryId) === undefined) throw new Error(notices.entryNotFound(entryId));
  return { cancelled: !(await branchAt(host, entryId, entryId, "clone")) };
}

async function branchAt(
  host: BranchingHost,
  entryId: string,
  newLeafId: string | null,
  reason: "branch" | "clone",
): Promise<boolean> {
  const { sessionManager } = host;
  const answer = await host.hooks.emit("session_before_branch", {
    entryId,
    position: reason === "branch" ? "before" : "at",
  });
  if (answer?.cancel === true) return false;

  const previousSessionFile = sessionManager.getSessionFile();
  await host.hooks.replacing({ reason: "fork" }, previousSessionFile, async () => {
    // A copy is the way out of a file that can no longer be written.
    await host.saved();
    if (newLeafId !== null) await branchOut(sessionManager, newLeafId);
    else if (previousSessionFile === undefined) sessionManager.newSession();
    else sessionManager.newSession({ parentSession: previousSessionFile });
    host.dropQueue();
    await host.changed(reason, answer?.skipConversationRestore === true);
  });
  await host.hooks.emit("session_branch", { previousSessionFile });
  return true;
}

/** A session that is only followed stays as it is: its branch is copied, and the copy opened. */
async function branchOut(sessionManager: SessionManager, leafId: string): Promise<void> {
  if (sessionManager.isFollower()) await sessionManager.setSessionFile(sessionManager.exportBranch(leafId));
  else sessionManager.createBranchedSession(leafId);
}

export interface NewSessionOptions {
  /** Where it came from. */
  parentSession?: string;
  /** Writes what the session begins with, before anybody is told of it. */
  setup?: (sessionManager: SessionManager) => unknown;
}

/** An empty session in the same folder. */
export async function startNewSession(
  host: BranchingHost,
  { setup, ...options }: NewSessionOptions,
): Promise<{ cancelled: boolean }> {
  return switchTo(host, { reason: "new" }, async () => {
    host.sessionManager.newSession(options);
    await setup?.(host.sessionManager);
  });
}

/** The session of a file. Rejects with the reason when it cannot be opened; the current session then stays. */
export async function resumeSession(
  host: BranchingHost,
  path: string,
  options: { readOnly: boolean },
): Promise<{ cancelled: boolean }> {
  const { sessionManager, projectDir } = host;
  const change = (): Promise<void> => sessionManager.setSessionFile(path, options);
  const result = await switchTo(host, { reason: "resume", targetSessionFile: path }, change);
  const cwd = sessionManager.getCwd();
  if (!result.cancelled && canonicalPath(cwd) !== canonicalPath(projectDir))
    host.emit({ type: "notice", level: "info", text: notices.worksElsewhere(cwd, projectDir) });
  return result;
}

async function switchTo(
  host: BranchingHost,
  event: HookEvent<"session_before_switch">,
  change: () => Promise<void>,
): Promise<{ cancelled: boolean }> {
  const { sessionManager } = host;
  const answer = await host.hooks.emit("session_before_switch", event);
  if (answer?.cancel === true) return { cancelled: true };
  const previousSessionFile = sessionManager.getSessionFile();
  await host.hooks.replacing(event, previousSessionFile, async () => {
    await sessionManager.flush();
    await change();
    host.dropQueue();
    await host.changed(event.reason, false);
  });
  await host.hooks.emit("session_switch", { reason: event.reason, previousSessionFile });
  return { cancelled: false };
}
