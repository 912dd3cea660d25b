/**
 * Calls one of the agent's tools as the agent loop does: arguments prepared, checked against the schema, then run.
 */
import { type AgentTool, type AgentToolResult, runToolCall } from "@earendil-works/pi-agent-core";
import { assistant } from "./session-files.ts";

export interface ToolOutcome {
  /** The text blocks, joined. */
  text: string;
  isError: boolean;
  details: unknown;
  content: AgentToolResult<unknown>["content"];
}

export interface ToolCallOptions {
  signal?: AbortSignal;
  onUpdate?: (text: string) => void;
}

export async function callTool(tool: AgentTool, args: object, options: ToolCallOptions = {}): Promise<ToolOutcome> {
  const { onUpdate, signal } = options;
  const call = {
    type: "toolCall" as const,
    id: "call-1",
    name: tool.name,
    arguments: JSON.parse(JSON.stringify(args)),
  };
  const { result, isError } = await runToolCall(call, {
    tools: [tool],
    assistantMessage: { ...assistant("calling"), content: [call] },
    context: { messages: [] },
    ...(signal === undefined ? {} : { signal }),
    ...(onUpdate === undefined ? {} : { onUpdate: (partial) => onUpdate(textOf(partial.content)) }),
  });
  return { text: textOf(result.content), isError, details: result.details, content: result.content };
}

function textOf(content: AgentToolResult<unknown>["content"]): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}
