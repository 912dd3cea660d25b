/**
 * What a model is sent: the system prompt with the tools, and the messages of a branch.
 * Part of `agent/`; used by AgentRun.
 */
import type { AgentTool } from "@earendil-works/pi-agent-core";
import type { SystemMessage } from "../tree/messages.ts";
import { toToolDeclaration } from "./providers.ts";

/** The leading message: the prompt, and what the model may call. */
export function systemMessage(prompt: string, tools: readonly AgentTool[]): SystemMessage {
  return {
    role: "system",
    content: prompt,
    ...(tools.length === 0 ? {} : { toolsAdded: tools.map(toToolDeclaration) }),
    timestamp: Date.now(),
  };
}
