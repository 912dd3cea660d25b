/**
 * An answer of the model as a provider takes it back.
 * Part of `tree/`: pure. Used by `convertToLlm`.
 */
import { textBlocks } from "./content.ts";
import { isRecord } from "./json.ts";
import type { AssistantMessage, ToolCall, Usage } from "./message-types.ts";
import type { Report } from "./repairs.ts";
import { isSoundSignature, soundText, soundThinking, soundTime } from "./request-blocks.ts";
import type { CallLedger } from "./request-calls.ts";
import type { RequestTarget } from "./request-target.ts";

export interface Answer {
  message: AssistantMessage;
  calls: ToolCall[];
  /** The id in the file of each call. */
  sourceIds: unknown[];
}

type Content = AssistantMessage["content"];

const SENT_STOP_REASONS: ReadonlySet<unknown> = new Set(["stop", "length", "toolUse", "deferred"]);
const FAILED_STOP_REASONS: ReadonlySet<unknown> = new Set(["error", "aborted", "pending"]);

/** `undefined` for a turn that failed, was stopped, or holds neither text nor calls. */
export function soundAnswer(
  message: Record<string, unknown>,
  target: RequestTarget,
  ledger: CallLedger,
  report: Report,
): Answer | undefined {
  if (FAILED_STOP_REASONS.has(message["stopReason"])) {
    report("failed-turn");
    return undefined;
  }
  const own = target.wrote(message as unknown as AssistantMessage);
  const sourceIds: unknown[] = [];
  const content = soundContent(message["content"], own, target, ledger, sourceIds, report);
  const calls = content.filter((block) => block.type === "toolCall");
  if (calls.length === 0 && !content.some((block) => block.type === "text" && block.text.trim() !== "")) {
    report("empty-turn");
    return undefined;
  }
  const fields = soundFields(message, calls.length > 0);
  const sound =
    content === message["content"] && Object.entries(fields).every(([key, value]) => message[key] === value);
  return {
    message: (sound ? message : { ...message, ...fields, content }) as unknown as AssistantMessage,
    calls,
    sourceIds,
  };
}

function soundContent(
  content: unknown,
  own: boolean,
  target: RequestTarget,
  ledger: CallLedger,
  sourceIds: unknown[],
  report: Report,
): Content {
  const source: unknown[] = Array.isArray(content) ? content : textBlocks(content);
  const blocks: Content = [];
  let changed = source !== content;
  for (const block of source) {
    const sound = soundPart(block, own, target, ledger, report);
    if (sound !== undefined) blocks.push(sound);
    if (sound?.type === "toolCall") sourceIds.push((block as ToolCall).id);
    changed ||= sound === undefined || sound !== block;
  }
  // Providers refuse an answer whose last part is thinking.
  while (blocks.at(-1)?.type === "thinking") {
    blocks.pop();
    report("thinking");
    changed = true;
  }
  return changed ? blocks : (content as Content);
}

function soundPart(
  block: unknown,
  own: boolean,
  target: RequestTarget,
  ledger: CallLedger,
  report: Report,
): Content[number] | undefined {
  const type = isRecord(block) ? block["type"] : undefined;
  const fields = block as Record<string, unknown>;
  if (type === "toolCall") return ledger.soundCall(fields, own, report);
  if (type === "thinking") {
    const thinking = soundThinking(fields, own, target);
    if (thinking === undefined) report("thinking");
    return thinking;
  }
  if (type === "text") {
    const signsNothing = own && target.signsEmptyText && fields["text"] === "" && isSigned(fields["textSignature"]);
    return signsNothing ? (block as Content[number]) : soundText(fields, report);
  }
  report(type === "redactedThinking" ? "thinking" : "bad-block");
  return undefined;
}

const isSigned = (signature: unknown): boolean => isSoundSignature(signature) && signature.trim() !== "";

/** What pi-ai reads of an answer it is given back, and no provider is sent. */
function soundFields(message: Record<string, unknown>, hasCalls: boolean): Omit<AssistantMessage, "role" | "content"> {
  const { api, provider, model, usage, stopReason } = message;
  return {
    api: typeof api === "string" ? api : "",
    provider: typeof provider === "string" ? provider : "",
    model: typeof model === "string" ? model : "",
    usage: isUsage(usage) ? usage : noUsage(),
    stopReason: SENT_STOP_REASONS.has(stopReason)
      ? (stopReason as AssistantMessage["stopReason"])
      : hasCalls
        ? "toolUse"
        : "stop",
    timestamp: soundTime(message),
  };
}

const COUNTS = ["input", "output", "cacheRead", "cacheWrite", "totalTokens"] as const;

function isUsage(value: unknown): value is Usage {
  return isRecord(value) && COUNTS.every((field) => Number.isFinite(value[field]));
}

function noUsage(): Usage {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  return { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost };
}
