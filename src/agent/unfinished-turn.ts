/**
 * Whether a turn of an earlier run was cut off. Part of `agent/`; used by the terminal when it opens a session.
 */
import type { SessionManager } from "../session/session-manager.ts";
import { kindNamed, kindOf } from "../tree/kinds.ts";
import type { AgentMessage } from "../tree/messages.ts";
import { UNFINISHED_TURN } from "./session-notices.ts";

/** That the last turn of an opened session has no answer, as after a kill; undefined when it has one, or nothing can be written. */
export function unfinishedNotice(session: SessionManager): string | undefined {
  if (session.isReadOnly()) return undefined;
  const index = session.getIndex();
  let n = index.leafOrdinal;
  // What adds no message to the context, such as a label, is no answer.
  while (n >= 0 && kindNamed(index.kindAt(n)).message === undefined) n = index.parentOrdinal(n);
  const last = n < 0 ? undefined : index.at(n);
  if (last?.type !== "message" || kindOf(last).fault(last) !== undefined) return undefined;
  return waitsForAnswer(last.message) ? UNFINISHED_TURN : undefined;
}

const waitsForAnswer = (message: AgentMessage): boolean =>
  message.role === "assistant"
    ? message.stopReason === "toolUse"
    : message.role === "user" || message.role === "toolResult";
