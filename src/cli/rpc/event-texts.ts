/**
 * The events of `--mode json` and `--mode rpc` in words; the compiler asks for every one. Part of `cli/`; used by
 * scripts/rpc-docs.mjs.
 */
import type { AgentSessionEvent } from "../../agent/agent-session-events.ts";

interface EventText {
  /** Its fields beside the type. */
  fields: string;
  says: string;
}

export const EVENT_TEXTS: Record<AgentSessionEvent["type"], EventText> = {
  agent_start: {
    fields: "",
    says: "The agent begins to work: on a prompt, on what was queued, or again after a failure.",
  },
  turn_start: { fields: "", says: "An answer and its tool calls begin." },
  message_start: { fields: "message", says: "A prompt, an answer or a tool's result begins." },
  message_update: {
    fields: "assistantMessageEvent",
    says:
      "More of an answer: text_start, text_delta, text_end, and the same with thinking_ and toolcall_; `delta` is what is " +
      "new, `contentIndex` the block it belongs to.",
  },
  message_end: { fields: "message", says: "It is complete, and in the file." },
  tool_execution_start: { fields: "toolCallId, toolName, args", says: "A tool runs." },
  tool_execution_update: {
    fields: "toolCallId, toolName, args, partialResult",
    says: "What it has given so far. A slow reader gets the newest alone.",
  },
  tool_execution_end: { fields: "toolCallId, toolName, result, isError", says: "Its result is in the file." },
  turn_end: { fields: "message, toolResults", says: "The answer and the results of its calls are saved." },
  agent_end: {
    fields: "messages",
    says: "The agent stops, with all it has added since agent_start. It goes on if auto_retry_start or agent_start follows.",
  },
  agent_settled: {
    fields: "aborted",
    says: "The prompt, its retries and everything queued behind it are done; nothing runs any more.",
  },
  auto_retry_start: {
    fields: "attempt, maxAttempts, delayMs, errorMessage",
    says: "A failed answer is asked for again after so many milliseconds.",
  },
  auto_retry_end: { fields: "success, attempt, finalError?", says: "The retries are over." },
  branch_summary_start: { fields: "", says: "Before a jump a model writes the summary of what is left behind." },
  branch_summary_end: { fields: "aborted", says: "It is written, or was stopped, and with it the jump." },
  compaction_start: {
    fields: "reason",
    says: 'The older part of the conversation is being summarised: "manual", "threshold" or "overflow".',
  },
  compaction_end: {
    fields: "reason, result?, aborted, willRetry, errorMessage?",
    says: "The compaction is in the session, or was stopped, or failed; with willRetry the turn goes on.",
  },
  history_rejected: {
    fields: "reason, entryId?, goodEntryId?",
    says: "The provider refused the conversation, also as plain text; navigate to goodEntryId to go on without entryId.",
  },
  entry_appended: { fields: "entry", says: "The session has one entry more." },
  queue_update: { fields: "steering, followUp", says: "The texts that are queued now." },
  session_changed: {
    fields: "reason, sessionId, sessionFile, leafId",
    says:
      "Another path is current: draw the conversation anew. The reason is new, resume, branch, clone, tree (a move), follow " +
      "(another program wrote) or take-over.",
  },
  session_info_changed: { fields: "name?", says: "The session has another name." },
  model_changed: { fields: "provider, modelId", says: "Another model is asked from now on." },
  thinking_level_changed: { fields: "level", says: "It thinks for longer or shorter from now on." },
  service_tier_changed: { fields: "", says: "The service tier asked of providers is another one." },
  mode_changed: { fields: "mode", says: 'The session is in another mode; "none" is outside any.' },
  tool_selection_changed: { fields: "", says: "Other tools of MCP servers are chosen." },
  ttsr_triggered: {
    fields: "rules, stopped",
    says: "Rules fitted what the model wrote, and it is told them; with `stopped` its answer was cut off and is asked for again.",
  },
  plan_submitted: {
    fields: "title, plan, path",
    says: "The model has handed in a plan, in Markdown and in this file, and the turn ends: the plan is the answer.",
  },
  mcp_changed: { fields: "", says: "An MCP server has another state, or other tools." },
  bash_update: {
    fields: "output",
    says: "All that the command of bash has written so far. A slow reader gets the newest alone.",
  },
  notice: { fields: "level, text", says: "Something to tell the user: info, warning or error." },
};
