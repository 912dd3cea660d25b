/**
 * Messages as a session stores them. The first four roles have the shape of pi-ai 1.6's `Message` (agent/message-types.ts
 * proves it); the others are omp's, and the roles that entries turn into.
 * Part of `tree/`: pure. Everyone imports these names from messages.ts.
 */

export interface TextContent {
  type: "text";
  text: string;
  textSignature?: string;
}
export interface ImageContent {
  type: "image";
  /** base64 */
  data: string;
  mimeType: string;
}
export interface ThinkingContent {
  type: "thinking";
  thinking: string;
  thinkingSignature?: string;
  redacted?: boolean;
}
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export type JsonObject = { [key: string]: JsonValue };

export interface ToolCall {
  type: "toolCall";
  id: string;
  name: string;
  /** An object when well-formed; files from elsewhere hold null, strings or nothing (readers must not trust it). */
  arguments: JsonObject;
  thoughtSignature?: string;
  namespace?: string;
  argumentsError?: string;
}

/** Tokens, and dollars under `cost`. */
export interface Usage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  cacheWrite1h?: number;
  reasoning?: number;
  totalTokens: number;
  cost: { input: number; output: number; cacheRead: number; cacheWrite: number; total: number };
}

export type StopReason = "pending" | "stop" | "length" | "toolUse" | "error" | "aborted" | "deferred";

/** Every `timestamp` of a message is in milliseconds since 1970, unlike the entry's ISO string. */
export interface SystemMessage {
  role: "system";
  content: string | TextContent[];
  sections?: Record<string, string | null>;
  toolsAdded?: { name: string; description: string; parameters: object }[];
  toolsRemoved?: { name: string }[];
  timestamp: number;
}
export interface UserMessage {
  role: "user";
  content: string | (TextContent | ImageContent)[];
  timestamp: number;
}
export interface AssistantMessage {
  role: "assistant";
  content: (TextContent | ThinkingContent | ToolCall)[];
  api: string;
  provider: string;
  model: string;
  usage: Usage;
  stopReason: StopReason;
  errorMessage?: string;
  timestamp: number;
  durationMs?: number;
}
export interface ToolResultMessage {
  role: "toolResult";
  toolCallId: string;
  toolName: string;
  content: (TextContent | ImageContent)[];
  details?: JsonValue;
  usage?: Usage;
  isError: boolean;
  timestamp: number;
  durationMs?: number;
}
/** What a provider may be sent. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolResultMessage;

/** omp's message from the program itself. */
export interface DeveloperMessage {
  role: "developer";
  content: string | (TextContent | ImageContent)[];
  timestamp: number;
}
/** `!command` run by the user. */
export interface BashExecutionMessage {
  role: "bashExecution";
  command: string;
  output: string;
  exitCode?: number;
  cancelled: boolean;
  truncated: boolean;
  fullOutputPath?: string;
  /** `!!command`: recorded, never sent. */
  excludeFromContext?: boolean;
  timestamp: number;
}
/** omp's `$ code`. */
export interface PythonExecutionMessage {
  role: "pythonExecution";
  code: string;
  output: string;
  exitCode?: number;
  cancelled: boolean;
  truncated?: boolean;
  excludeFromContext?: boolean;
  timestamp: number;
}
/** omp's files named in a prompt. */
export interface FileMentionMessage {
  role: "fileMention";
  files: { path: string; content?: string; lineCount?: number; image?: ImageContent }[];
  timestamp: number;
}
/** An extension's message; from a custom_message entry, or stored as a message by older programs. */
export interface CustomMessage {
  role: "custom" | "hookMessage";
  customType: string;
  content: string | (TextContent | ImageContent)[];
  display: boolean;
  details?: unknown;
  timestamp: number;
}
/** Derived from a branch_summary entry; never stored as a message. */
export interface BranchSummaryMessage {
  role: "branchSummary";
  summary: string;
  fromId: string;
  timestamp: number;
}
/** Derived from a compaction entry; never stored as a message. */
export interface CompactionSummaryMessage {
  role: "compactionSummary";
  summary: string;
  tokensBefore: number;
  timestamp: number;
}

export type AgentMessage =
  | Message
  | DeveloperMessage
  | BashExecutionMessage
  | PythonExecutionMessage
  | FileMentionMessage
  | CustomMessage
  | BranchSummaryMessage
  | CompactionSummaryMessage;
