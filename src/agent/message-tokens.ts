/**
 * How many tokens a message of a session costs in a request, estimated.
 * Part of `agent/`; used where a conversation is cut, and for the report of `/context`.
 */
import { convertToLlm } from "../tree/messages.ts";
import type { AgentMessage, Message } from "../tree/messages.ts";
import { estimateMessageTokens } from "./providers.ts";
import type { Model } from "./providers.ts";

/** Undefined for a message that is not sent: one the user excluded, a failed or empty answer, a stored system prompt. */
export function sentTokens(message: AgentMessage, model?: Model): number | undefined {
  if (message.role === "system") return undefined;
  const sent = converted(message, model);
  if (sent.length === 0) return undefined;
  return sent.reduce((sum, part) => sum + estimateMessageTokens(part), 0);
}

/** By itself an answer gets results and a beginning, and a result is nothing: neither is part of the message. */
function converted(message: AgentMessage, model: Model | undefined): Message[] {
  const { role } = message;
  if (role === "toolResult") {
    const { content, timestamp } = message;
    const parts = convertToLlm([{ role: "user", content, timestamp }], { model });
    return parts.length > 0 ? parts : [{ role: "user", content: "", timestamp }];
  }
  const parts = convertToLlm([message], { model });
  return role === "assistant" ? parts.filter((part) => part.role === "assistant") : parts;
}
