/**
 * `/tree`: moving the leaf to another entry of the same session.
 * Part of `agent/`; AgentSession.navigateTree delegates to it.
 */
import { textOf } from "../tree/content.ts";
import type { BranchSummaryEntry, EntryType, SessionEntry } from "../tree/entries.ts";
import type { Retrace } from "../tree/moves.ts";
import { currentOrdinal } from "../tree/outline-layout.ts";
import type { SessionManager } from "../session/session-manager.ts";
import { moveLeaf } from "./branch-writer.ts";
import type { HookEvent, HookName, HookPort, HookResult, TreePreparation } from "./hook-port.ts";
import { needSummaryModel, soundAnswer, writeSummary } from "./jump-summary.ts";
import type { JumpSummary, SummaryOptions, SummaryWriter } from "./jump-summary.ts";
import { isPrompt } from "./prompt-entries.ts";
import * as notices from "./session-notices.ts";
import { recordUnusedSummary } from "./spent-tokens.ts";
import type { Spent } from "./spent-tokens.ts";
import { untilAborted } from "./until-aborted.ts";

/** For hooks, which expect an id: the place before the first entry. */
const BEFORE_FIRST = "root";

/** Kinds that a summary tells of. */
const TOLD_KINDS: ReadonlySet<string> = new Set<EntryType>([
  "message",
  "custom_message",
  "branch_summary",
  "compaction",
]);

export interface NavigateTreeOptions extends SummaryOptions {
  /** Stop a running turn first; without it a running turn refuses the jump. */
  abort?: boolean;
}

export interface NavigateTreeResult {
  /** A hook said no, or the jump was stopped; the leaf is where it was. */
  cancelled: boolean;
  /** It was stopped by `abort()`. */
  aborted?: boolean;
  /** For the editor: the text of the prompt that was chosen, to be sent anew. */
  editorText?: string;
  summaryEntry?: BranchSummaryEntry;
}

export interface RetraceResult {
  /** As in NavigateTreeResult. */
  cancelled: boolean;
  aborted?: boolean;
  /** Where the leaf is now, null for before the first entry; undefined when nothing was moved. */
  place: string | null | undefined;
}

/** What a jump needs of the session. */
export interface NavigationHost {
  readonly sessionManager: SessionManager;
  readonly hooks: Pick<HookPort, "has">;
  readonly signal: AbortSignal;
  readonly summaries: SummaryWriter;
  emitHook<N extends HookName>(name: N, event: HookEvent<N>): Promise<HookResult<N> | undefined>;
  /** Ends a running turn and waits until all of it is written. */
  stopTurn(): Promise<void>;
  appended(entryId: string): void;
  /** The leaf stands: save it, take over its path's model and thinking level, tell the listeners. */
  moved(): Promise<void>;
}

/**
 * Jumps to an entry: a user's or extension's message goes back to the editor and the leaf before it; any other entry
 * becomes the leaf. Choosing the current entry does nothing. Until the leaf moves, nothing is changed by any failure.
 */
export async function navigateTree(
  host: NavigationHost,
  targetId: string,
  options: NavigateTreeOptions,
): Promise<NavigateTreeResult> {
  const { sessionManager } = host;
  const target = sessionManager.getEntry(targetId);
  if (target === undefined) throw new Error(notices.entryNotFound(targetId));
  const { summarize = false } = options;
  if (summarize !== false && sessionManager.isReadOnly()) throw new Error(notices.READ_ONLY);
  if (summarize === true) needSummaryModel(host.summaries);
  if (isCurrent(sessionManager, targetId)) return { cancelled: false };
  if (options.abort === true) {
    await host.stopTurn();
    if (isCurrent(sessionManager, targetId)) return { cancelled: false };
  }

  const oldLeafId = sessionManager.getLeafId();
  const { entries, answer } = await askHooks(host, targetId, options);
  const refused = refusal(host, oldLeafId, answer);
  if (refused !== undefined) return refused;
  let summary: JumpSummary | undefined;
  if (summarize !== false && answer.summary !== undefined) summary = { ...answer.summary, fromExtension: true };
  else if (summarize !== false && entries.length > 0) {
    const wanted = { ...options, ...instructionsOf(answer) };
    const wasted = (spent: Spent | undefined): void => recordUnusedSummary(host, spent);
    summary = await writeSummary(host.summaries, entries, wanted, host.signal, wasted);
    if (!host.signal.aborted && !isOnlyExtended(sessionManager, oldLeafId)) wasted(spentOn(summary));
    const late = refusal(host, oldLeafId, {});
    if (late !== undefined) return late;
  }

  const leaf = leafFor(target);
  const summaryEntry = apply(host, leaf.id, summary);
  const label = answer.label ?? options.label ?? "";
  try {
    if (label !== "" && !sessionManager.isReadOnly())
      host.appended(sessionManager.appendLabelChange(summaryEntry?.id ?? targetId, label));
  } finally {
    // The leaf has moved, also when the label could not be written.
    await tellMoved(host, oldLeafId, summaryEntry);
  }
  return {
    cancelled: false,
    ...(leaf.editorText === undefined ? {} : { editorText: leaf.editorText }),
    ...(summaryEntry === undefined ? {} : { summaryEntry }),
  };
}

/** Goes one step back or forward in the history of moves. No text goes to the editor; hooks see it as any jump. */
export async function retrace(
  host: NavigationHost,
  via: Retrace,
  options: Pick<NavigateTreeOptions, "abort">,
): Promise<RetraceResult> {
  const { sessionManager } = host;
  if (sessionManager.getRetraceTarget(via) === undefined) return { cancelled: false, place: undefined };
  if (options.abort === true) await host.stopTurn();
  const oldLeafId = sessionManager.getLeafId();
  const place = sessionManager.getRetraceTarget(via);
  if (place === undefined) return { cancelled: false, place };

  const refused = refusal(host, oldLeafId, (await askHooks(host, place, {})).answer);
  if (refused !== undefined) return { ...refused, place: undefined };
  // A hook may have moved the leaf and brought it back.
  if (sessionManager.getRetraceTarget(via) !== place) throw new Error(notices.MOVED_MEANWHILE);
  if (via === "back") sessionManager.back();
  else sessionManager.forward();
  await tellMoved(host, oldLeafId, undefined);
  return { cancelled: false, place };
}

/**
 * What a jump leaves behind: the entries of the old leaf's path that the target's path has not, oldest first, and the
 * deepest entry on both. Compactions on the way are included.
 */
export function collectEntriesForBranchSummary(
  session: Pick<SessionManager, "getIndex">,
  oldLeafId: string | null,
  targetId: string | null,
): { entries: SessionEntry[]; commonAncestorId: string | null } {
  const index = session.getIndex();
  if (oldLeafId === null) return { entries: [], commonAncestorId: null };
  const kept = new Set(index.pathOrdinals(targetId));
  const left: number[] = [];
  let n = index.ordinal(oldLeafId) ?? -1;
  for (; n >= 0 && !kept.has(n); n = index.parentOrdinal(n)) left.push(n);
  return { entries: left.reverse().map((m) => index.at(m)), commonAncestorId: n < 0 ? null : index.at(n).id };
}

/** Whether a jump there leaves anything behind that a summary could tell. Reads no entry. */
export function leavesConversation(session: Pick<SessionManager, "getIndex">, targetId: string): boolean {
  const index = session.getIndex();
  const kept = new Set(index.pathOrdinals(targetId));
  for (let n = index.leafOrdinal; n >= 0 && !kept.has(n); n = index.parentOrdinal(n))
    if (TOLD_KINDS.has(index.kindAt(n))) return true;
  return false;
}

/** Where the leaf goes for a chosen entry, and the text that goes to the editor. */
export function leafFor(target: SessionEntry): { id: string | null; editorText?: string } {
  if (isPrompt(target)) return { id: target.parentId, editorText: textOf(target.message.content) };
  if (target.type === "custom_message") return { id: target.parentId, editorText: textOf(target.content) };
  return { id: target.id };
}

/** Whether an entry is where the user stands: the leaf, or what it only labels. */
function isCurrent(session: SessionManager, id: string): boolean {
  const index = session.getIndex();
  return id === session.getLeafId() || index.ordinal(id) === currentOrdinal(index);
}

interface HookAnswer {
  /** What is left behind; not collected where nobody asks for it. */
  entries: SessionEntry[];
  answer: NonNullable<HookResult<"session_before_tree">>;
}

async function askHooks(host: NavigationHost, targetId: string | null, options: SummaryOptions): Promise<HookAnswer> {
  const { sessionManager, signal } = host;
  const { summarize = false, customInstructions, replaceInstructions, label } = options;
  const isHeard = host.hooks.has("session_before_tree");
  if (!isHeard && summarize === false) return { entries: [], answer: {} };
  const oldLeafId = sessionManager.getLeafId();
  const { entries, commonAncestorId } = collectEntriesForBranchSummary(sessionManager, oldLeafId, targetId);
  if (!isHeard) return { entries, answer: {} };
  const preparation: TreePreparation = {
    targetId: targetId ?? BEFORE_FIRST,
    oldLeafId,
    commonAncestorId,
    entriesToSummarize: [...entries],
    userWantsSummary: summarize !== false,
    ...(customInstructions === undefined ? {} : { customInstructions }),
    ...(replaceInstructions === undefined ? {} : { replaceInstructions }),
    ...(label === undefined ? {} : { label }),
  };
  const answer = await untilAborted(host.emitHook("session_before_tree", { preparation, signal }), signal);
  return { entries, answer: soundAnswer(answer, summarize !== false) };
}

/** What the hooks put in place of the user's instructions. */
function instructionsOf({ customInstructions, replaceInstructions }: HookAnswer["answer"]): SummaryOptions {
  return {
    ...(customInstructions === undefined ? {} : { customInstructions }),
    ...(replaceInstructions === undefined ? {} : { replaceInstructions }),
  };
}

/** Whether the jump ends here, after the hooks were asked. Throws when there is another leaf than they were asked about. */
function refusal(
  { sessionManager, signal }: NavigationHost,
  oldLeafId: string | null,
  { cancel }: HookAnswer["answer"],
): { cancelled: true; aborted?: true } | undefined {
  if (signal.aborted) return { cancelled: true, aborted: true };
  if (cancel === true) return { cancelled: true };
  if (!isOnlyExtended(sessionManager, oldLeafId)) throw new Error(notices.MOVED_MEANWHILE);
  return undefined;
}

async function tellMoved(
  host: NavigationHost,
  oldLeafId: string | null,
  summaryEntry: BranchSummaryEntry | undefined,
): Promise<void> {
  await host.moved();
  await host.emitHook("session_tree", {
    newLeafId: host.sessionManager.getLeafId(),
    oldLeafId,
    ...(summaryEntry === undefined ? {} : { summaryEntry, fromExtension: summaryEntry.fromExtension === true }),
  });
}

const spentOn = (summary: JumpSummary | undefined): Spent | undefined =>
  summary?.usage === undefined || summary.model === undefined ? undefined : (summary as Spent);

/** Whether all that has come since is state of extensions or a label: a hook may record something while it is asked. */
function isOnlyExtended(session: SessionManager, oldLeafId: string | null): boolean {
  const index = session.getIndex();
  const old = oldLeafId === null ? -1 : index.ordinal(oldLeafId);
  let n = index.leafOrdinal;
  while (n >= 0 && n !== old && (index.kindAt(n) === "custom" || index.kindAt(n) === "label"))
    n = index.parentOrdinal(n);
  return n === old;
}

function apply(
  host: NavigationHost,
  leafId: string | null,
  written: JumpSummary | undefined,
): BranchSummaryEntry | undefined {
  const { sessionManager } = host;
  if (written === undefined) {
    moveLeaf(sessionManager, leafId);
    return undefined;
  }
  const { summary, details, usage, model, fromExtension } = written;
  const id = sessionManager.branchWithSummary(leafId, summary, details, fromExtension || undefined, usage, model);
  host.appended(id);
  return sessionManager.getEntry(id) as BranchSummaryEntry;
}
