/**
 * Where a conversation may be cut in two: what is before the cut is summarised, what is after it stays word for word.
 * Part of `agent/`; used by compaction-preparation. Pure.
 */
import type { AgentMessage } from "../tree/messages.ts";

/** One entry of the path. */
export interface CutItem {
  /** What it adds to a request; undefined for entries that add nothing. */
  message: AgentMessage | undefined;
  /** Size of the message. */
  tokens: number;
  /** A compaction or a reset: the kept part does not reach back over it for the sake of entries without a message. */
  isBoundary: boolean;
}

export interface Cut {
  /** The first item that stays; `start` when all of them do. */
  firstKept: number;
  /** Where the turn begins that the cut parts; undefined when the cut falls between two turns. */
  turnStart: number | undefined;
}

/**
 * The cut of the items from `start` on that keeps about `keepTokens`: from the end back to the item that makes it as
 * much, from there forward to a place where a cut is possible, else back to the last such place.
 */
export function findCut(items: readonly CutItem[], start: number, keepTokens: number): Cut {
  const isPossible = possibleCuts(items, start);
  const reached = whereReached(items, start, keepTokens);
  let cut = isPossible.indexOf(true, reached);
  if (cut < 0) cut = isPossible.lastIndexOf(true, reached);
  if (cut < 0) return { firstKept: start, turnStart: undefined };
  return { firstKept: withLeadingState(items, start, cut), turnStart: partedTurn(items, isPossible, start, cut) };
}

/** Every place where a call and its result end up on the same side, and which begins with neither result nor nothing. */
function possibleCuts(items: readonly CutItem[], start: number): boolean[] {
  const calls = new Map<string, number[]>();
  /** How many pairs of call and result begin before a place and end at it or behind; as differences. */
  const pairs = new Int32Array(items.length + 1);
  for (let at = start; at < items.length; at++) {
    const message = items[at]!.message;
    if (message?.role === "assistant") noteCalls(calls, message, at);
    if (message?.role !== "toolResult") continue;
    const call = calls.get(message.toolCallId)?.pop();
    if (call === undefined) continue;
    pairs[call + 1]! += 1;
    pairs[at + 1]! -= 1;
  }
  const isPossible: boolean[] = new Array<boolean>(items.length).fill(false);
  let open = 0;
  for (let at = start; at < items.length; at++) {
    open += pairs[at]!;
    const role = items[at]!.message?.role;
    isPossible[at] = open === 0 && role !== undefined && role !== "toolResult";
  }
  return isPossible;
}

/** A result belongs to the latest call of its id that has none yet. */
function noteCalls(calls: Map<string, number[]>, { content }: { content: readonly unknown[] }, at: number): void {
  for (const block of content as readonly ({ type?: unknown; id?: unknown } | null)[]) {
    if (block?.type !== "toolCall" || typeof block.id !== "string") continue;
    const known = calls.get(block.id);
    if (known === undefined) calls.set(block.id, [at]);
    else known.push(at);
  }
}

function whereReached(items: readonly CutItem[], start: number, keepTokens: number): number {
  let sum = 0;
  for (let at = items.length - 1; at >= start; at--) {
    sum += items[at]!.tokens;
    if (sum >= keepTokens && items[at]!.message !== undefined) return at;
  }
  return start;
}

/** Model changes, labels and the like right before the cut go with what follows them. */
function withLeadingState(items: readonly CutItem[], start: number, cut: number): number {
  let first = cut;
  while (first > start && items[first - 1]!.message === undefined && !items[first - 1]!.isBoundary) first--;
  return first;
}

function partedTurn(
  items: readonly CutItem[],
  isPossible: readonly boolean[],
  start: number,
  cut: number,
): number | undefined {
  for (let at = cut; at >= start; at--)
    if (isPossible[at] && items[at]!.message?.role !== "assistant") return at === cut ? undefined : at;
  return undefined;
}
