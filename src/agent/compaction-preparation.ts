/**
 * What a compaction would summarise and what it would keep.
 * Part of `agent/`; used by compaction and the report of `/context`, given to extensions. Pure.
 */
import type { CompactionEntry, SessionEntry } from "../tree/entries.ts";
import { kindOf } from "../tree/kinds.ts";
import type { AgentMessage } from "../tree/messages.ts";
import { initialPathState } from "../tree/path-state.ts";
import type { PathState } from "../tree/path-state.ts";
import { foldEntry, messageOf } from "../tree/session-context.ts";
import type { SessionIndexView } from "../session/session-manager.ts";
import { findCut } from "./compaction-cut.ts";
import type { Cut, CutItem } from "./compaction-cut.ts";
import { ALREADY_COMPACTED, tooSmall } from "./compaction-notices.ts";
import type { CompactionSettings } from "./compaction-settings.ts";
import { FileOperations } from "./file-operations.ts";
import { sentTokens } from "./message-tokens.ts";
import type { Model } from "./providers.ts";

/** Field names and meaning are those of the field's extensions. */
export interface CompactionPreparation {
  firstKeptEntryId: string;
  /** What has not been summarised yet, oldest first, but for the beginning of a parted turn. */
  messagesToSummarize: AgentMessage[];
  /** The beginning of the turn that the cut parts; else empty. */
  turnPrefixMessages: AgentMessage[];
  isSplitTurn: boolean;
  /** Size of the context as it is. */
  tokensBefore: number;
  /** The summary that the new one takes further. */
  previousSummary?: string;
  /** Paths, those of the previous compaction included. A changed file is in `edited` alone, however it was changed. */
  fileOps: { read: Set<string>; written: Set<string>; edited: Set<string> };
  settings: CompactionSettings;
}

export interface PreparationOptions {
  settings: CompactionSettings;
  tokensBefore: number;
  /** Decides what of a message is sent, and so what it costs. */
  model?: Model;
}

export type Preparation =
  | {
      kind: "ready";
      preparation: CompactionPreparation;
      /** Size of what the summary replaces. */
      tokens: number;
    }
  | { kind: "nothing"; reason: string };

/** Prepares the compaction of a path; its part from `contextStart` on is enough. */
export function prepareCompaction(path: readonly SessionEntry[], options: PreparationOptions): Preparation {
  const { previous, start, state } = uncompacted(path);
  const items = path.map((entry, at) => cutItem(entry, at >= start, state, options.model));
  const compactedAt = previous === undefined ? -1 : path.lastIndexOf(previous);
  if (previous !== undefined && !items.some(({ message }, at) => at > compactedAt && message !== undefined))
    return { kind: "nothing", reason: ALREADY_COMPACTED };

  const cut = findCut(items, start, options.settings.keepRecentTokens);
  const [history, turnPrefix] = partsBefore(items, start, cut);
  const firstKept = path[cut.firstKept];
  if (firstKept === undefined || history.length + turnPrefix.length === 0)
    return { kind: "nothing", reason: tooSmall(tokensOf(items.slice(start)), options.settings.keepRecentTokens) };
  return {
    kind: "ready",
    tokens: tokensOf(items.slice(start, cut.firstKept)),
    preparation: {
      firstKeptEntryId: firstKept.id,
      messagesToSummarize: history,
      turnPrefixMessages: turnPrefix,
      isSplitTurn: cut.turnStart !== undefined,
      tokensBefore: options.tokensBefore,
      ...(previous === undefined ? {} : { previousSummary: previous.summary }),
      fileOps: fileOperations([...history, ...turnPrefix], previous),
      settings: options.settings,
    },
  };
}

/**
 * The ordinal where the entries begin that decide the context at the leaf: after the last reset, at what the latest
 * compaction kept, or at the root. -1 on an empty path.
 */
export function contextStart(index: SessionIndexView, leaf: number): number {
  let first = -1;
  let keptFrom: number | undefined;
  for (let n = leaf; n >= 0; n = index.parentOrdinal(n)) {
    const kind = index.kindAt(n);
    if (kind === "reset_boundary") break;
    first = n;
    if (n === keptFrom) break;
    if (kind !== "compaction" || keptFrom !== undefined) continue;
    const entry = index.at(n) as CompactionEntry;
    if (kindOf(entry).fault(entry) !== undefined) continue;
    keptFrom = index.ordinal(entry.firstKeptEntryId);
    // A pointer that leads nowhere keeps nothing.
    if (keptFrom === undefined || keptFrom === n || !isAbove(index, keptFrom, n)) break;
  }
  return first;
}

/** The latest compaction on the leaf's path, whatever it holds. */
export function latestCompaction(index: SessionIndexView): CompactionEntry | undefined {
  let n = index.leafOrdinal;
  while (n >= 0 && index.kindAt(n) !== "compaction") n = index.parentOrdinal(n);
  return n < 0 ? undefined : (index.at(n) as CompactionEntry);
}

/** The entries from `contextStart` to the leaf. */
export function recentPath(index: SessionIndexView, leaf: number = index.leafOrdinal): SessionEntry[] {
  const first = contextStart(index, leaf);
  const ordinals: number[] = [];
  for (let n = leaf; n >= 0; n = index.parentOrdinal(n)) {
    ordinals.push(n);
    if (n === first) break;
  }
  return ordinals.reverse().map((n) => index.at(n));
}

function isAbove(index: SessionIndexView, above: number, n: number): boolean {
  let at = n;
  while (at >= 0 && at !== above) at = index.parentOrdinal(at);
  return at === above;
}

/** The latest compaction that counts, and where what it did not summarise begins. */
export function uncompacted(path: readonly SessionEntry[]): {
  previous: CompactionEntry | undefined;
  start: number;
  state: PathState;
} {
  const state = initialPathState();
  for (const entry of path) foldEntry(state, entry);
  const afterReset = state.reset === undefined ? 0 : path.lastIndexOf(state.reset) + 1;
  const compactedAt = state.compaction === undefined ? -1 : path.lastIndexOf(state.compaction);
  if (state.compaction === undefined || compactedAt < afterReset)
    return { previous: undefined, start: afterReset, state };
  const { firstKeptEntryId } = state.compaction;
  const kept = path.findLastIndex(({ id }, at) => at < compactedAt && id === firstKeptEntryId);
  const start = kept < 0 ? compactedAt + 1 : Math.max(kept, afterReset);
  return { previous: state.compaction, start, state };
}

/** An entry of the path; one that is not in the context has no message. */
export function cutItem(
  entry: SessionEntry,
  isInContext: boolean,
  state: PathState,
  model: Model | undefined,
): CutItem {
  const isBoundary = entry.type === "compaction" || entry.type === "reset_boundary";
  const message = isInContext ? messageOf(entry, state) : undefined;
  const tokens = message === undefined ? undefined : sentTokens(message, model);
  return tokens === undefined ? { message: undefined, tokens: 0, isBoundary } : { message, tokens, isBoundary };
}

const tokensOf = (items: readonly CutItem[]): number => items.reduce((sum, { tokens }) => sum + tokens, 0);

/** What is summarised: the turns before the cut, and the beginning of the one it parts. */
function partsBefore(
  items: readonly CutItem[],
  start: number,
  { firstKept, turnStart }: Cut,
): [AgentMessage[], AgentMessage[]] {
  const historyEnd = turnStart ?? firstKept;
  const messages = (from: number, to: number): AgentMessage[] =>
    items.slice(from, to).flatMap(({ message }) => message ?? []);
  return [messages(start, historyEnd), messages(historyEnd, firstKept)];
}

function fileOperations(
  messages: readonly AgentMessage[],
  previous: CompactionEntry | undefined,
): CompactionPreparation["fileOps"] {
  const operations = new FileOperations();
  // The details of an extension's compaction are its own.
  if (previous !== undefined && previous.fromExtension !== true && previous.fromHook !== true)
    operations.addDetails(previous.details);
  for (const message of messages) operations.noteMessage(message);
  const { readFiles, modifiedFiles } = operations.lists();
  return { read: new Set(readFiles), written: new Set(), edited: new Set(modifiedFiles) };
}
