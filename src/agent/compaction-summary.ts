/**
 * The text of a compaction: what was not summarised before, the beginning of a parted turn, and the files touched.
 * Part of `agent/`; used by compaction.
 */
import type { AgentMessage, Usage } from "../tree/messages.ts";
import type { CompactionPreparation } from "./compaction-preparation.ts";
import {
  HISTORY_INSTRUCTIONS,
  NO_PRIOR_HISTORY,
  TURN_CONTEXT,
  TURN_PREFIX_INSTRUCTIONS,
  UPDATE_INSTRUCTIONS,
} from "./compaction-prompts.ts";
import { conversationText, messageText } from "./conversation-text.ts";
import { digestOf } from "./digest.ts";
import { fileListText } from "./file-operations.ts";
import type { FileLists } from "./file-operations.ts";
import type { Model } from "./providers.ts";
import { sumOfUsages } from "./spent-tokens.ts";
import { summarise } from "./summariser.ts";
import type { SummaryOutcome, SummaryRequest } from "./summariser.ts";

export interface CompactionSummary {
  summary: string;
  details: FileLists;
  /** What the requests for it used; absent when there was none. */
  usage?: Usage;
}

export type CompactionSummaryOutcome =
  | ({ kind: "summary" } & CompactionSummary)
  | Exclude<SummaryOutcome, { kind: "summary" }>;

export interface CompactionSummaryRequest {
  preparation: CompactionPreparation;
  registry: SummaryRequest["registry"];
  model: Model;
  /** What the user wants to have most of. */
  focus?: string | undefined;
  /** Lines that extensions want the model to know. */
  context?: readonly string[] | undefined;
  /** Replaces the instructions. */
  prompt?: string | undefined;
  signal: AbortSignal;
}

/** Of the window: room for the instructions, the previous summary and the answer stays. */
const WINDOW_SHARE = 0.6;
/** As pi-ai estimates it. */
const CHARACTERS_PER_TOKEN = 3.5;

/** Asks a model. One that fails, or is stopped, gives no half a summary; what it used until then is told. */
export async function summariseCompaction(request: CompactionSummaryRequest): Promise<CompactionSummaryOutcome> {
  const { messagesToSummarize, turnPrefixMessages, previousSummary, isSplitTurn } = request.preparation;
  const usages: Usage[] = [];
  let history = previousSummary === undefined ? undefined : withoutFileLists(previousSummary);
  for (const piece of pieces(messagesToSummarize, request.model)) {
    const instructions = history === undefined ? HISTORY_INSTRUCTIONS : UPDATE_INSTRUCTIONS;
    const outcome = await ask(request, piece, instructions, history);
    if (outcome.usage !== undefined) usages.push(outcome.usage);
    if (outcome.kind !== "summary") return { ...outcome, ...used(usages) };
    history = outcome.text;
  }
  let prefix: string | undefined;
  for (const piece of isSplitTurn ? pieces(turnPrefixMessages, request.model) : []) {
    const outcome = await ask(request, piece, TURN_PREFIX_INSTRUCTIONS, prefix);
    if (outcome.usage !== undefined) usages.push(outcome.usage);
    if (outcome.kind !== "summary") return { ...outcome, ...used(usages) };
    prefix = outcome.text;
  }
  const parts = (history ?? NO_PRIOR_HISTORY) + (prefix === undefined ? "" : TURN_CONTEXT + prefix);
  return {
    kind: "summary",
    ...withFiles(parts, request.preparation),
    ...used(usages),
  };
}

/** Writes it without a model. */
export function compactionDigest(preparation: CompactionPreparation): CompactionSummary {
  const { previousSummary, tokensBefore, messagesToSummarize, turnPrefixMessages } = preparation;
  const earlier: AgentMessage[] =
    previousSummary === undefined
      ? []
      : [{ role: "compactionSummary", summary: withoutFileLists(previousSummary), tokensBefore, timestamp: 0 }];
  const text = digestOf([...earlier, ...messagesToSummarize, ...turnPrefixMessages], fileLists(preparation));
  return { summary: text === "" ? NO_PRIOR_HISTORY : text, details: fileLists(preparation) };
}

function ask(
  { registry, model, focus, context, prompt, signal }: CompactionSummaryRequest,
  messages: readonly AgentMessage[],
  instructions: string,
  previousSummary: string | undefined,
): Promise<SummaryOutcome> {
  return summarise({
    registry,
    model,
    conversation: conversationText(messages),
    instructions: prompt ?? instructions,
    signal,
    ...(previousSummary === undefined ? {} : { previousSummary }),
    ...(focus === undefined ? {} : { focus }),
    ...(context === undefined ? {} : { context }),
  });
}

/** The messages in parts that the model can read, one for each request; a message is never divided. */
function pieces(messages: readonly AgentMessage[], model: Model): AgentMessage[][] {
  const room = model.contextWindow > 0 ? model.contextWindow * WINDOW_SHARE * CHARACTERS_PER_TOKEN : Infinity;
  const parts: AgentMessage[][] = [];
  let size = Infinity;
  for (const message of messages) {
    const length = messageText(message).length;
    size += length;
    if (size <= room) parts.at(-1)!.push(message);
    else {
      parts.push([message]);
      size = length;
    }
  }
  return parts;
}

function withFiles(text: string, preparation: CompactionPreparation): CompactionSummary {
  const details = fileLists(preparation);
  const files = fileListText(details);
  return { summary: files === "" ? text : `${text}\n\n${files}`, details };
}

function fileLists({ fileOps: { read, written, edited } }: CompactionPreparation): FileLists {
  const modified = new Set([...written, ...edited]);
  return { readFiles: [...read].filter((path) => !modified.has(path)).sort(), modifiedFiles: [...modified].sort() };
}

/** The lists are kept in the details and written anew; left in the text, each update would repeat them. */
function withoutFileLists(summary: string): string {
  const text = summary.replace(/\n\n<(read|modified)-files>\n[\s\S]*?\n<\/\1-files>(?=\n\n|$)/g, "");
  return text.trim() === "" ? summary : text;
}

function used(usages: readonly Usage[]): { usage?: Usage } {
  const usage = sumOfUsages(usages);
  return usage === undefined ? {} : { usage };
}
