/**
 * What the model a request goes to will take. Without a model: what every provider takes.
 * Part of `tree/`: pure. Used by `convertToLlm` and its parts.
 */
import type { AssistantMessage } from "./message-types.ts";

/** The part of pi-ai's `Model` that decides how messages are sent. */
export interface RequestModel {
  provider: string;
  id: string;
  /** pi-ai's wire protocol, such as "anthropic-messages". */
  api: string;
  /** Absent: text and images. */
  input?: readonly ("text" | "image")[];
  /** pi-ai's `supportsMidConvoSystemMessages` and `allowEmptySignature` are read. */
  compat?: object | undefined;
}

export interface RequestTarget {
  takesImages: boolean;
  /** A system message may stand in mid-conversation. */
  takesSystem: boolean;
  /** The signature of thinking must be what OpenAI's Responses protocol stored: a JSON object. */
  storesReasoningItems: boolean;
  /** Thinking without a signature would reach the model as if it were its answer. */
  needsSignatures: boolean;
  /** Gemini's signatures also hang on empty text and must come back. */
  signsEmptyText: boolean;
  /** True also when the model is not known: nothing then speaks against it. */
  wrote(message: Pick<AssistantMessage, "provider" | "model" | "api">): boolean;
  acceptsCallId(id: string, own: boolean): boolean;
  acceptsToolName(name: string): boolean;
}

/** Taken by every provider, and left as it is by pi-ai's own mapping of ids between providers. */
const PORTABLE_ID = /^[a-zA-Z0-9_-]{0,39}[a-zA-Z0-9-]$/;
const PRINTABLE_ID = /^[\x21-\x7e]{1,1024}$/;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const ANTHROPIC_TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const GOOGLE_TOOL_NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

export function requestTarget(model: RequestModel | undefined): RequestTarget {
  const api = model?.api;
  const compat = (flag: string): boolean => model?.compat !== undefined && Reflect.get(model.compat, flag) === true;
  const isGoogle = api?.startsWith("google") ?? false;
  const isAnthropic = api === "anthropic-messages" || api === "bedrock-converse-stream";
  const toolName = isGoogle
    ? GOOGLE_TOOL_NAME
    : api === undefined || api === "anthropic-messages"
      ? ANTHROPIC_TOOL_NAME
      : TOOL_NAME;
  return {
    takesImages: model?.input?.includes("image") ?? true,
    takesSystem: compat("supportsMidConvoSystemMessages"),
    storesReasoningItems: api?.endsWith("-responses") ?? false,
    needsSignatures: isAnthropic && !compat("allowEmptySignature"),
    signsEmptyText: isGoogle,
    wrote: (message) =>
      model === undefined ||
      (message.provider === model.provider && message.model === model.id && message.api === model.api),
    acceptsCallId: (id, own) => (own && !isAnthropic ? PRINTABLE_ID : PORTABLE_ID).test(id),
    acceptsToolName: (name) => toolName.test(name),
  };
}
