/**
 * How full the model's context window is.
 * Part of `agent/`; AgentSession.getContextUsage delegates to it.
 */
import type { SessionEntry } from "../tree/entries.ts";
import { isRecord } from "../tree/json.ts";
import type { Usage } from "../tree/messages.ts";
import { contextOfPath } from "../tree/session-context.ts";
import type { SessionManager } from "../session/session-manager.ts";
import { calculateContextTokens, estimateMessageTokens } from "./providers.ts";
import type { Model } from "./providers.ts";
import { requestMessages } from "./request.ts";

export interface ContextUsage {
  /** Of the next request: what the last answer reported and an estimate of what came after it. */
  tokens: number;
  /** Tokens the model takes. */
  window: number;
  /** 0 to 100, more when it no longer fits. */
  percent: number;
  /** No answer has come since the latest compaction: all is estimated, and the provider may count otherwise. */
  isCompacted: boolean;
}

/** The usage at the leaf. Looks no further back than to the last answer, unless nothing was reported. */
export function contextUsage(
  session: Pick<SessionManager, "getIndex" | "buildSessionContext">,
  model: Model,
): ContextUsage {
  const index = session.getIndex();
  const later: number[] = [];
  let reported: Usage | undefined;
  let isCompacted = false;
  for (let n = index.leafOrdinal; n >= 0 && reported === undefined; n = index.parentOrdinal(n)) {
    // Answers before a compaction were given to another context.
    if (index.kindAt(n) === "compaction") {
      isCompacted = true;
      break;
    }
    if ((index.roleAt(n) ?? "assistant") === "assistant") reported = reportOf(index.at(n));
    later.push(n);
  }
  // The answer itself goes along, since results belong to its calls, but it has been counted.
  const estimated =
    reported === undefined ? session.buildSessionContext() : contextOfPath(later.reverse().map((n) => index.at(n)));
  const messages = requestMessages(estimated.messages, model);
  const counted = reported === undefined ? 0 : messages.findIndex(({ role }) => role === "assistant") + 1;
  const tokens = messages
    .slice(counted)
    .reduce(
      (sum, message) => sum + estimateMessageTokens(message),
      reported === undefined ? 0 : calculateContextTokens(reported),
    );
  return { tokens, window: model.contextWindow, percent: (100 * tokens) / model.contextWindow, isCompacted };
}

/** What a finished answer says of the context it was given; an answer from a file may lack any of it. */
function reportOf(entry: SessionEntry): Usage | undefined {
  if (entry.type !== "message" || !isRecord(entry.message) || entry.message.role !== "assistant") return undefined;
  const { stopReason, usage } = entry.message as { stopReason: string; usage?: Usage | null };
  const isFinished = stopReason !== "error" && stopReason !== "aborted";
  return isFinished && isRecord(usage) && usage.totalTokens > 0 ? usage : undefined;
}
