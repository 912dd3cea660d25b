/**
 * `ExtensionSession`: what extensions can do to a session. AgentSession is one; the host is given it once there is one.
 * Part of `extensions/`.
 */
import type { BranchSummaryEntry, CompactionEntry } from "../tree/entries.ts";
import type { CustomMessageDraft } from "../agent/hook-port.ts";
import type { SessionMcp } from "../agent/mcp/session-mcp.ts";
import type { Model, ThinkingLevel } from "../agent/providers.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { Content, Moved, SendOptions } from "./api.ts";

export interface ExtensionSession {
  readonly sessionManager: SessionManager;
  readonly cwd: string;
  readonly model: Model | undefined;
  readonly thinkingLevel: ThinkingLevel;
  readonly isIdle: boolean;
  /** Whether anything waits to be sent. */
  readonly hasPendingMessages: boolean;
  /** Aborted when the run that goes on is stopped. */
  readonly signal: AbortSignal | undefined;
  readonly mcp: Pick<SessionMcp, "register">;
  abort(): Promise<void>;
  waitForIdle(): Promise<void>;
  compact(options: { focus?: string }): Promise<Moved & { entry?: CompactionEntry }>;
  getContextUsage(): { tokens: number; window: number; percent: number } | undefined;
  getSystemPrompt(): string;
  setModel(model: Model): void;
  setThinkingLevel(level: ThinkingLevel): void;
  setSessionName(name: string): void;
  setLabel(entryId: string, label: string | undefined): void;
  /** Delivers or queues it, as ExtensionAPI.sendMessage says. */
  sendCustomMessage(message: CustomMessageDraft, options: SendOptions): Promise<void>;
  sendUserMessage(content: Content, options: { deliverAs?: "steer" | "followUp" }): Promise<void>;
  /** Writes a `custom` entry at the leaf; returns its id. */
  appendCustomEntry(customType: string, data: unknown): string;
  newSession(options: { parentSession?: string; setup?: (session: SessionManager) => unknown }): Promise<Moved>;
  branch(entryId: string): Promise<Moved & { selectedText: string }>;
  /** A new session that ends with an entry; by default the leaf. */
  clone(entryId?: string): Promise<Moved>;
  navigateTree(
    targetId: string,
    options: { summarize?: boolean; customInstructions?: string; replaceInstructions?: boolean; label?: string },
  ): Promise<Moved & { aborted?: boolean; editorText?: string; summaryEntry?: BranchSummaryEntry }>;
  switchSession(path: string): Promise<Moved>;
  /** Says goodbye to extensions, calls `renew`, which makes them anew, and begins again. Rejects while something runs. */
  reload(renew: (signal: AbortSignal) => Promise<void>): Promise<void>;
}
