/** Messages and entries for the tests of the context and of requests. Not a test. */
import type { KnownEntry, SessionEntry } from "../../src/tree/entries.ts";
import type {
  AgentMessage,
  AssistantMessage,
  RequestModel,
  ToolCall,
  ToolResultMessage,
  Usage,
  UserMessage,
} from "../../src/tree/messages.ts";

export const TIME = 1_767_225_600_000;
export const ISO = "2026-01-01T00:00:00.000Z";

/** A whole PNG of one pixel. */
export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export const CLAUDE = { provider: "anthropic", id: "claude-x", api: "anthropic-messages" } satisfies RequestModel;
export const GPT = { provider: "openai", id: "gpt-x", api: "openai-responses" } satisfies RequestModel;

export const USAGE: Usage = {
  input: 1,
  output: 2,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 3,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

export const user = (content: UserMessage["content"]): UserMessage => ({ role: "user", content, timestamp: TIME });

export const call = (id: string, name = "read", args: unknown = { path: "a" }): ToolCall => ({
  type: "toolCall",
  id,
  name,
  arguments: args as ToolCall["arguments"],
});

/** An answer of `CLAUDE` with this text, or these blocks. */
export function answer(content: string | unknown[], fields: Partial<AssistantMessage> = {}): AssistantMessage {
  const blocks = (
    typeof content === "string" ? [{ type: "text", text: content }] : content
  ) as AssistantMessage["content"];
  return {
    role: "assistant",
    content: blocks,
    api: CLAUDE.api,
    provider: CLAUDE.provider,
    model: CLAUDE.id,
    usage: USAGE,
    stopReason: blocks.some((block) => block?.type === "toolCall") ? "toolUse" : "stop",
    timestamp: TIME,
    ...fields,
  };
}

export const result = (toolCallId: string, text = "done", toolName = "read"): ToolResultMessage => ({
  role: "toolResult",
  toolCallId,
  toolName,
  content: [{ type: "text", text }],
  isError: false,
  timestamp: TIME,
});

export const interrupted = (toolCallId: string, toolName = "read"): ToolResultMessage => ({
  ...result(toolCallId, "interrupted, no result", toolName),
  isError: true,
});

/** Anything at all in the place of a message. */
export const hostile = (message: unknown): AgentMessage => message as AgentMessage;

/** An entry of any type; `fields` are not checked, as those of a file are not. */
export const entry = (id: string, parentId: string | null, type: string, fields: object = {}): SessionEntry =>
  ({ type, id, parentId, timestamp: ISO, ...fields }) as KnownEntry;

export const messageEntry = (id: string, parentId: string | null, message: AgentMessage): SessionEntry =>
  entry(id, parentId, "message", { message });

/** Entries in a straight line, each under the one before. */
export function chain(...links: [id: string, type: string, fields?: object][]): SessionEntry[] {
  return links.map(([id, type, fields], at) => entry(id, at === 0 ? null : links[at - 1]![0], type, fields));
}
