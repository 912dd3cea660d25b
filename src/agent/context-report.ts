/**
 * What the next request holds, entry by entry, and what of the session it does not hold.
 * Part of `agent/`; AgentSession.contextReport gives it, `/context` shows it.
 */
import type { CompactionEntry, SessionEntry } from "../tree/entries.ts";
import { isRecord } from "../tree/json.ts";
import { startOfText } from "../tree/one-line.ts";
import type { AgentMessage, Repair, RepairKind, SystemMessage } from "../tree/messages.ts";
import { messageOf, summaryOf } from "../tree/session-context.ts";
import type { SessionIndexView } from "../session/session-manager.ts";
import { contextStart, recentPath, uncompacted } from "./compaction-preparation.ts";
import { sentTokens } from "./message-tokens.ts";
import { estimateMessageTokens } from "./providers.ts";
import type { Model } from "./providers.ts";
import { requestMessages } from "./request.ts";

/** All sizes in tokens, estimated. */
export interface ContextReport {
  systemPrompt: number;
  tools: { count: number; tokens: number };
  /** What is sent of the path, in order: the latest summary, what it kept, what came later. */
  entries: ContextPart[];
  dropped: {
    /** Entries of the path with something in them that a summary or a reset took out of the context. */
    summarised: number;
    /** The newest prompts among them, oldest first. */
    prompts: { entryId: string; text: string }[];
    /** What was left out of a message or changed, so that the request is valid. */
    repairs: { entryId: string; kind: RepairKind; text: string }[];
  };
}

export interface ContextPart {
  kind: "summary" | "kept" | "later";
  entryId: string;
  /** Role and the first words. */
  text: string;
  tokens: number;
}

/** Prompts that are named of those that were summarised. */
const NAMED_PROMPTS = 10;
const LONGEST_TEXT = 60;
const WITH_CONTENT: ReadonlySet<string> = new Set(["message", "custom_message", "branch_summary", "compaction"]);

/** `system`: the leading message as a request has it. */
export function contextReport(index: SessionIndexView, model: Model, system: SystemMessage): ContextReport {
  const path = recentPath(index);
  const parts = sources(path);
  const repairs: ContextReport["dropped"]["repairs"] = [];
  const note = ({ index: at, kind, text }: Repair): void =>
    void repairs.push({ entryId: parts[at]!.entry.id, kind, text });
  requestMessages(
    parts.map(({ message }) => message),
    model,
    note,
  );
  const { toolsAdded = [], ...prompt } = system;
  const systemPrompt = estimateMessageTokens(prompt);
  return {
    systemPrompt,
    tools: { count: toolsAdded.length, tokens: estimateMessageTokens(system) - systemPrompt },
    entries: parts.flatMap(({ kind, entry, message }) => {
      const tokens = sentTokens(message, model);
      return tokens === undefined ? [] : [{ kind, entryId: entry.id, text: partText(message), tokens }];
    }),
    dropped: { ...summarised(index, path), repairs },
  };
}

interface Source {
  kind: ContextPart["kind"];
  entry: SessionEntry;
  message: AgentMessage;
}

/** The messages of the context with the entries they come from. */
function sources(path: readonly SessionEntry[]): Source[] {
  const { previous, start, state } = uncompacted(path);
  const compactedAt = previous === undefined ? -1 : path.lastIndexOf(previous);
  const parts: Source[] = previous === undefined ? [] : [summarySource(previous)];
  for (let at = start; at < path.length; at++) {
    const entry = path[at]!;
    const message = messageOf(entry, state);
    if (message !== undefined && message.role !== "system")
      parts.push({ kind: at < compactedAt ? "kept" : "later", entry, message });
  }
  return parts;
}

const summarySource = (entry: CompactionEntry): Source => ({
  kind: "summary",
  entry,
  message: summaryOf(entry).at(-1)!,
});

function partText(message: AgentMessage): string {
  switch (message.role) {
    case "compactionSummary":
    case "branchSummary":
      return `summary: ${startOfText(message.summary, LONGEST_TEXT)}`;
    case "bashExecution":
      return `command: ${startOfText(message.command, LONGEST_TEXT)}`;
    case "toolResult":
      return `result of ${startOfText(message.toolName, LONGEST_TEXT)}: ${startOfText(message.content, LONGEST_TEXT)}`;
    case "assistant": {
      // From a file it may hold anything.
      const blocks = (message.content as unknown[]).filter(isRecord);
      const calls = blocks.flatMap(({ type, name }) => (type === "toolCall" ? [`[${String(name)}]`] : []));
      return `assistant: ${startOfText([startOfText(message.content, LONGEST_TEXT), ...calls].join(" "), LONGEST_TEXT)}`;
    }
    default:
      return `${message.role}: ${"content" in message ? startOfText(message.content, LONGEST_TEXT) : ""}`;
  }
}

/** What lies above the part of the path that the context is made of. */
function summarised(index: SessionIndexView, path: readonly SessionEntry[]): Omit<ContextReport["dropped"], "repairs"> {
  const first = path.length === 0 ? -1 : contextStart(index, index.leafOrdinal);
  const prompts: { entryId: string; text: string }[] = [];
  let count = 0;
  for (let n = first < 0 ? -1 : index.parentOrdinal(first); n >= 0; n = index.parentOrdinal(n)) {
    if (WITH_CONTENT.has(index.kindAt(n))) count++;
    if (prompts.length >= NAMED_PROMPTS || index.roleAt(n) !== "user") continue;
    const entry = index.at(n);
    if (entry.type === "message" && entry.message.role === "user")
      prompts.push({ entryId: entry.id, text: startOfText(entry.message.content, LONGEST_TEXT) });
  }
  return { summarised: count, prompts: prompts.reverse() };
}
