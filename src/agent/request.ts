/**
 * What a model is sent: the system prompt with the tools, and the messages of a branch.
 * Part of `agent/`; used by AgentRun and for the context usage.
 */
import type { AgentTool } from "@earendil-works/pi-agent-core";
import { sendable, wellFormed } from "../tree/json.ts";
import { convertToLlm } from "../tree/messages.ts";
import type { AgentMessage, Message, Repair, SystemMessage } from "../tree/messages.ts";
import { toToolDeclaration } from "./providers.ts";
import type { Model } from "./providers.ts";

/** The leading message: the prompt, and what the model may call. Context files and servers may have put anything in either. */
export function systemMessage(prompt: string, tools: readonly AgentTool[]): SystemMessage {
  return {
    role: "system",
    content: wellFormed(prompt),
    ...(tools.length === 0 ? {} : { toolsAdded: tools.map(declaration) }),
    timestamp: Date.now(),
  };
}

const declaration = (tool: AgentTool): ReturnType<typeof toToolDeclaration> =>
  sendable(toToolDeclaration(tool)) as unknown as ReturnType<typeof toToolDeclaration>;

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
