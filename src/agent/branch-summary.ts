/**
 * The summary of a branch that a jump leaves behind: what of it is told to a model, and what is asked of the model.
 * Part of `agent/`; used by jumps, and by programs that want a summary without a jump.
 */
import { cutText } from "../tree/content.ts";
import type { SessionEntry } from "../tree/entries.ts";
import { kindOf } from "../tree/kinds.ts";
import type { AgentMessage, Usage } from "../tree/messages.ts";
import { initialPathState } from "../tree/path-state.ts";
import type { PathState } from "../tree/path-state.ts";
import { foldEntry, messageOf, summaryOf } from "../tree/session-context.ts";
import { conversationText, messageText } from "./conversation-text.ts";
import { digestOf } from "./digest.ts";
import { FileOperations, fileListText } from "./file-operations.ts";
import type { FileLists } from "./file-operations.ts";
import type { ModelRegistry } from "./models.ts";
import type { Model, ThinkingLevel } from "./providers.ts";
import { DEFAULT_BRANCH_SUMMARY } from "./settings.ts";
import { sumOfUsages } from "./spent-tokens.ts";
import { summarise } from "./summariser.ts";

export interface BranchEntries {
  /** Oldest first. */
  messages: AgentMessage[];
  /** Of all entries, those beyond the budget included. */
  files: FileLists;
  /** An estimate for `messages` as text. */
  totalTokens: number;
}

/** Below this part of the budget a summary that does not fit is taken all the same: it stands for much. */
const ROOM_FOR_SUMMARY = 0.9;
/** Bytes of UTF-8 in a token, by the estimate that requests use; other scripts than ASCII take more of both. */
const BYTES_PER_TOKEN = 3.5;

/**
 * The part of a branch that is told: messages and earlier summaries, newest first until the next one would pass `budget`
 * tokens (0: no limit), and the newest in any case. `entries` are oldest first. Files are those of the calls and of
 * earlier summaries, if no extension wrote them.
 */
export function prepareBranchEntries(entries: readonly SessionEntry[], budget = 0): BranchEntries {
  const state = initialPathState();
  for (const entry of entries) foldEntry(state, entry);
  const files = filesOf(entries, state);
  const messages: AgentMessage[] = [];
  let totalTokens = 0;
  for (const entry of entries.toReversed()) {
    const message = toldMessage(entry, state);
    const tokens = message === undefined ? 0 : textTokens(messageText(message));
    if (message === undefined || tokens === 0) continue;
    const fits = budget <= 0 || totalTokens + tokens <= budget || messages.length === 0;
    const isSummary = entry.type === "compaction" || entry.type === "branch_summary";
    if (!fits && !(isSummary && totalTokens < ROOM_FOR_SUMMARY * budget)) break;
    messages.push(message);
    totalTokens += tokens;
    if (!fits) break;
  }
  return { messages: messages.reverse(), files, totalTokens };
}

function filesOf(entries: readonly SessionEntry[], state: PathState): FileLists {
  const files = new FileOperations();
  for (const entry of entries) {
    if (entry.type === "branch_summary" && entry.fromExtension !== true && entry.fromHook !== true)
      files.addDetails(entry.details);
    const message = messageOf(entry, state);
    if (message !== undefined) files.noteMessage(message);
  }
  return files.lists();
}

function toldMessage(entry: SessionEntry, state: PathState): AgentMessage | undefined {
  if (entry.type !== "compaction") return messageOf(entry, state);
  return kindOf(entry).fault(entry) === undefined ? summaryOf(entry).at(-1) : undefined;
}

const textTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);

export interface BranchSummaryOptions {
  registry: Pick<ModelRegistry, "complete">;
  model: Model;
  signal: AbortSignal;
  /** What the user wants to have most of. */
  customInstructions?: string | undefined;
  /** They stand in place of bough's instructions rather than behind them. */
  replaceInstructions?: boolean | undefined;
  /** Tokens of the window kept for instructions and summary. Default 16,384; never more than half the window. */
  reserveTokens?: number | undefined;
  thinkingLevel?: ThinkingLevel;
}

export type BranchSummaryOutcome =
  | { kind: "summary"; summary: string; details: FileLists; usage: Usage }
  /** The branch holds no conversation. */
  | { kind: "nothing" }
  | { kind: "aborted" }
  /** `usage`: what was used all the same. */
  | { kind: "failed"; reason: string; usage?: Usage };

const DEFAULT_WINDOW = 128_000;
/** Of the reserve, for the summary; the rest is for the instructions. */
const SUMMARY_PART = 0.8;
/** Each time with half of the conversation, since a window may be smaller than its model says. */
const ATTEMPTS = 3;

const INSTRUCTIONS = `The conversation above is a branch that the user now leaves, to go on from an earlier point. \
Whoever goes on there has not seen the branch. Write what they have to know of it, under these headings and in this \
order; leave out a heading under which there is nothing to say:

## Goal
What the user wanted to reach.

## Constraints
Requirements, limits and preferences that were stated.

## Progress
What is done, what was begun, what failed or is blocked, and why.

## Key decisions
Each decision with its reason.

## Next steps
What was to be done next, in order.

Use short points. Keep paths, names, commands and error messages exactly as they are.`;

/** Asks a model for the summary; the files read and changed stand at its end. Failures are outcomes. */
export async function generateBranchSummary(
  entries: readonly SessionEntry[],
  options: BranchSummaryOptions,
): Promise<BranchSummaryOutcome> {
  const window = options.model.contextWindow || DEFAULT_WINDOW;
  const reserve = Math.min(options.reserveTokens ?? DEFAULT_BRANCH_SUMMARY.reserveTokens, Math.floor(window / 2));
  const custom = options.customInstructions?.trim() ?? "";
  const replaced = options.replaceInstructions === true && custom !== "";
  const usages: Usage[] = [];
  for (let budget = window - reserve, attempt = 1; ; budget = Math.floor(budget / 2), attempt++) {
    const { messages, files } = prepareBranchEntries(entries, budget);
    if (messages.length === 0) return { kind: "nothing" };
    const outcome = await summarise({
      ...options,
      // Only a single message that is too long by itself is cut.
      conversation: cutText(conversationText(messages), Math.floor(budget * BYTES_PER_TOKEN)),
      instructions: replaced ? custom : INSTRUCTIONS,
      ...(replaced ? {} : { focus: custom }),
      maxTokens: Math.max(1, Math.floor(SUMMARY_PART * reserve)),
    });
    if (outcome.usage !== undefined) usages.push(outcome.usage);
    if (outcome.kind === "failed" && outcome.isOverflow && attempt < ATTEMPTS) continue;
    const usage = sumOfUsages(usages);
    if (outcome.kind !== "summary") return { ...outcome, ...(usage === undefined ? {} : { usage }) };
    const summary = [outcome.text, fileListText(files)].filter((part) => part !== "").join("\n\n");
    return { kind: "summary", summary, details: files, usage: usage ?? outcome.usage };
  }
}

/** The summary of a branch without a model; undefined when there is nothing to say. */
export function digestBranch(entries: readonly SessionEntry[]): { summary: string; details: FileLists } | undefined {
  const { messages, files } = prepareBranchEntries(entries);
  const summary = digestOf(messages, files);
  return summary === "" ? undefined : { summary, details: files };
}
