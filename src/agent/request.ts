/**
 * What a model is sent: the system prompt with the tools, and the messages of a branch.
 * Part of `agent/`; used by AgentRun and for the context usage.
 */
import type { AgentTool } from "@earendil-works/pi-agent-core";
import { convertToLlm } from "../tree/messages.ts";
import type { AgentMessage, Message, Repair, SystemMessage } from "../tree/messages.ts";
import { toToolDeclaration } from "./providers.ts";
import type { Model } from "./providers.ts";

/** The leading message: the prompt, and what the model may call. */
export function systemMessage(prompt: string, tools: readonly AgentTool[]): SystemMessage {
  return {
    role: "system",
    content: prompt,
    ...(tools.length === 0 ? {} : { toolsAdded: tools.map(toToolDeclaration) }),
    timestamp: Date.now(),
  };
}

/**
 * The conversation. Stored system messages stay behind: they hold the prompt and the tools of the pi that wrote them, and
 * a model that gets two prompts calls tools that are not here.
 */
export function requestMessages(
  messages: readonly AgentMessage[],
  model: Model,
  onRepair?: (repair: Repair) => void,
): Message[] {
  const conversation = messages.filter(({ role }) => role !== "system");
  return convertToLlm(conversation, { model, ...(onRepair === undefined ? {} : { onRepair }) });
}
