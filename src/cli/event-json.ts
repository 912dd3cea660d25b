/**
 * The events of a session as the objects that other programs read. Part of `cli/`; used by `--mode json` and
 * `--mode rpc`, whose events are the same.
 */
import type { AgentSession } from "../agent/agent-session.ts";
import type { AgentSessionEvent } from "../agent/agent-session-events.ts";
import type { QueuedKind, QueuedMessage } from "../agent/message-queue.ts";

/** What `session` tells, in plain JSON values. What only says that something changed carries what it is now. */
export function eventJson(event: AgentSessionEvent, session: AgentSession): { type: string; [field: string]: unknown } {
  const { model, sessionManager } = session;
  switch (event.type) {
    case "message_update":
      return withoutPartial(event);
    case "queue_update":
      return { type: event.type, ...queueJson(event.queue) };
    case "model_changed":
      return { type: event.type, ...(model && { provider: model.provider, modelId: model.id }) };
    case "session_changed":
      return {
        ...event,
        sessionId: sessionManager.getSessionId(),
        sessionFile: sessionManager.getSessionFile(),
        leafId: sessionManager.getLeafId(),
      };
    default:
      return event;
  }
}

/** Queued messages as their texts. */
export function queueJson(queue: readonly QueuedMessage[]): { steering: string[]; followUp: string[] } {
  const textsOf = (wanted: QueuedKind): string[] => queue.filter(({ kind }) => kind === wanted).map(({ text }) => text);
  return { steering: textsOf("steer"), followUp: textsOf("followUp") };
}

/** The growing message is left out of updates: each would repeat all of it, and the deltas say the same. */
function withoutPartial(event: Extract<AgentSessionEvent, { type: "message_update" }>): { type: string } {
  const delta = Object.fromEntries(Object.entries(event.assistantMessageEvent).filter(([name]) => name !== "partial"));
  return { type: event.type, assistantMessageEvent: delta } as { type: string };
}
