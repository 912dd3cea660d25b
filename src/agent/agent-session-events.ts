/**
 * What AgentSession tells its listeners.
 * Part of `agent/`; the terminal, `--mode json` and programs that embed bough listen.
 */
import type { AgentEvent } from "@earendil-works/pi-agent-core";
import type { CompactionResult, SessionEntry } from "../tree/entries.ts";
import type { CompactionReason } from "./hook-port.ts";
import type { QueuedMessage } from "./message-queue.ts";
// The loop's events carry bough's own message roles, too.
import type {} from "./message-types.ts";

/**
 * The agent loop's own events, and those of the session. An entry is in the file before the event that shows it:
 * a prompt before its `message_start`, a tool's result before its `tool_execution_end`, an answer before its
 * `message_end`.
 */
export type AgentSessionEvent =
  | AgentEvent
  | { type: "entry_appended"; entry: SessionEntry }
  | { type: "queue_update"; queue: readonly QueuedMessage[] }
  /** A failed answer is asked for again after `delayMs`; `abortRetry()` ends the wait. */
  | { type: "auto_retry_start"; attempt: number; maxAttempts: number; delayMs: number; errorMessage: string }
  | { type: "auto_retry_end"; success: boolean; attempt: number; finalError?: string }
  | { type: "compaction_start"; reason: CompactionReason }
  /** `result`: it is in the session. `aborted`: by the user or an extension. `willRetry`: the turn goes on. */
  | {
      type: "compaction_end";
      reason: CompactionReason;
      result?: CompactionResult;
      aborted: boolean;
      willRetry: boolean;
      errorMessage?: string;
    }
  /** Before a jump a model writes the summary of what is left behind; `abort()` ends that and the jump. */
  | { type: "branch_summary_start" }
  | { type: "branch_summary_end"; aborted: boolean }
  /**
   * The provider refused the conversation, also in the form that was tried. `entryId`: what it refused; `goodEntryId`: from
   * there on the session can go on, by a jump.
   */
  | { type: "history_rejected"; reason: string; entryId?: string; goodEntryId?: string }
  /** The path shown is another one: redraw the conversation. */
  | { type: "session_changed"; reason: "new" | "resume" | "branch" | "clone" | "tree" | "follow" | "take-over" }
  | { type: "session_info_changed"; name: string | undefined }
  | { type: "model_changed" }
  | { type: "thinking_level_changed"; level: string }
  | { type: "service_tier_changed" }
  | { type: "mode_changed"; mode: string }
  /** Other MCP tools are chosen than before. */
  | { type: "tool_selection_changed" }
  /** Rules fitted what the model wrote, which it is told; `stopped`: its answer was cut off and it is asked again. */
  | { type: "ttsr_triggered"; rules: string[]; stopped: boolean }
  /** The model has handed in a plan, and waits for the user's decision. */
  | { type: "plan_submitted"; title: string; plan: string; path: string }
  /** An MCP server has another state, or other tools; see `AgentSession.mcp`. */
  | { type: "mcp_changed" }
  /** The whole output of the user's running command so far. */
  | { type: "bash_update"; output: string }
  | { type: "notice"; level: "info" | "warning" | "error"; text: string }
  /** The prompt, its retries and everything queued behind it are done; nothing runs any more. */
  | { type: "agent_settled"; aborted: boolean };

export type AgentSessionListener = (event: AgentSessionEvent) => void;
