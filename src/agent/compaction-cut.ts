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
  const pairs = pairsFrom(items, start);
  const isPossible: boolean[] = Array.from(items, () => false);
  let open = 0;
  for (let at = start; at < items.length; at++) {
    open += pairs[at]!;
    const role = items[at]!.message?.role;
    isPossible[at] = open === 0 && role !== undefined && role !== "toolResult";
  }
  return isPossible;
}

/** How many pairs of call and result begin before a place and end at it or behind, as differences. */
function pairsFrom(items: readonly CutItem[], start: number): Int32Array {
  const pairs = new Int32Array(items.length + 1);
  const calls = new Map<string, number[]>();
  /** The answer whose results may still come. */
  let latest = -1;
  let waiting = 0;
  for (let at = start; at < items.length; at++) {
    const { message } = items[at]!;
    if (message?.role === "assistant") {
      const ids = callIds(message);
      for (const id of ids) noteCall(calls, id, at);
      [latest, waiting] = [at, ids.length];
    } else if (message?.role === "user") waiting = 0;
    if (message?.role !== "toolResult") continue;
    const call = calls.get(message.toolCallId)?.pop();
    if (call === undefined) continue;
    pairs[call + 1]! += 1;
    pairs[at + 1]! -= 1;
    if (call === latest) waiting--;
  }
  if (waiting > 0) pairs[latest + 1]! += 1;
  return pairs;
}

function callIds({ content }: { content: readonly unknown[] }): string[] {
  return (content as readonly ({ type?: unknown; id?: unknown } | null)[]).flatMap((block) =>
    block?.type === "toolCall" && typeof block.id === "string" ? [block.id] : [],
  );
}

/** A result belongs to the latest call of its id that has none yet. */
function noteCall(calls: Map<string, number[]>, id: string, at: number): void {
  const known = calls.get(id);
  if (known === undefined) calls.set(id, [at]);
  else known.push(at);
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
