/**
 * `buildSessionContext`: what the model is sent for a path, and the state that holds at its end.
 * Part of `tree/`: pure. A path's context depends on its own entries alone. path-context.ts carries one along.
 */
import { textBlocks } from "./content.ts";
import type { CompactionEntry, ServiceTier, SessionEntry } from "./entries.ts";
import { readTime } from "./format.ts";
import { isRecord } from "./json.ts";
import { kindOf, milliseconds } from "./kinds.ts";
import type { AgentMessage, SystemMessage } from "./messages.ts";
import { initialPathState, type PathState } from "./path-state.ts";
import { entryProblem, type Problem } from "./problems.ts";
import { TreeLinks } from "./tree-links.ts";

export type { PathState } from "./path-state.ts";

export interface SessionContext {
  /** For `convertToLlm`; also of roles that only bough or other programs know. */
  messages: AgentMessage[];
  thinkingLevel: string;
  model: { provider: string; modelId: string } | null;
  serviceTier: ServiceTier | undefined;
  mode: string;
  modeData: Record<string, unknown> | undefined;
  injectedTtsrRules: string[];
  mcpToolSelection: string[] | undefined;
}

/** What a context says beside its messages. */
export type ContextState = Omit<SessionContext, "messages">;

/** The end of a context. */
export interface LatestMessages {
  messages: AgentMessage[];
  /** How many come before them. Those that have not been read count by their kind, also where one of them is broken. */
  earlier: number;
}

/**
 * The context at `leafId` among these entries. `null` is the place before the first entry: an empty context. Unknown or
 * left out: the last entry. A missing parent ends the path; parent cycles are cut where `SessionEntryIndex` cuts them.
 */
export function buildSessionContext(entries: readonly SessionEntry[], leafId?: string | null): SessionContext {
  if (leafId === null) return contextOfPath([]);
  const links = new TreeLinks();
  const bodies: SessionEntry[] = [];
  for (const entry of entries) {
    if (links.isTaken(entry.id)) continue;
    links.add(entry.id, entry.parentId, readTime(entry.timestamp));
    bodies.push(entry);
  }
  const leaf = (leafId === undefined ? undefined : links.ordinal(leafId)) ?? links.size - 1;
  return contextOfPath(links.path(leaf).map((n) => bodies[n]!));
}

/**
 * The context of a path from the root to the leaf. `onProblem` is told what in the path could not be used as it stands,
 * with the entry concerned; its `line` is 0, which only the index knows.
 */
export function contextOfPath(
  path: readonly SessionEntry[],
  onProblem?: (problem: Problem, entry: SessionEntry) => void,
): SessionContext {
  const state = initialPathState();
  for (const entry of path) foldEntry(state, entry);
  return contextWith(state, messagesOf(path, state, onProblem));
}

/** What a path's state says, and these messages. */
export function contextWith(state: PathState, messages: AgentMessage[]): SessionContext {
  return { messages, ...contextState(state) };
}

export function contextState(state: PathState): ContextState {
  const { thinkingLevel, model, serviceTier, mode, modeData, mcpToolSelection } = state;
  return {
    thinkingLevel,
    model,
    serviceTier,
    mode,
    modeData,
    injectedTtsrRules: [...state.injectedTtsrRules],
    mcpToolSelection,
  };
}

/** One more entry of the path. An entry whose fields are wrong changes nothing. */
export function foldEntry(state: PathState, entry: SessionEntry): void {
  const kind = kindOf(entry);
  if (kind.fold !== undefined && kind.fault(entry) === undefined) kind.fold(state, entry);
}

/** The message one entry adds under the state of its path, without regard to compaction and reset. */
export function messageOf(entry: SessionEntry, state: PathState): AgentMessage | undefined {
  const kind = kindOf(entry);
  if (kind.message === undefined || kind.fault(entry) !== undefined) return undefined;
  const message = kind.message(entry);
  const edit = state.edits.get(entry.id);
  return message === undefined || edit === undefined ? message : edited(message, edit);
}

/** A context_edit reaches the roles its writer (pi) lets it reach. */
function edited(message: AgentMessage, edit: { content: unknown } | null): AgentMessage | undefined {
  const { role } = message;
  if (role !== "user" && role !== "assistant" && role !== "toolResult" && role !== "custom") return message;
  if (edit === null) return undefined;
  const needsBlocks = role === "assistant" || role === "toolResult";
  const content = needsBlocks && typeof edit.content === "string" ? textBlocks(edit.content) : edit.content;
  return { ...message, content } as AgentMessage;
}

function messagesOf(
  path: readonly SessionEntry[],
  state: PathState,
  onProblem: ((problem: Problem, entry: SessionEntry) => void) | undefined,
): AgentMessage[] {
  const afterReset = state.reset === undefined ? 0 : path.lastIndexOf(state.reset) + 1;
  const compactedAt = state.compaction === undefined ? -1 : path.lastIndexOf(state.compaction);
  const messages: AgentMessage[] = [];
  const add = (from: number, to: number, isWanted: (message: AgentMessage) => boolean = () => true): void => {
    for (let at = from; at < to; at++) {
      const message = messageOf(path[at]!, state);
      if (message !== undefined && isWanted(message)) messages.push(message);
    }
  };

  if (state.compaction === undefined || compactedAt < afterReset) {
    add(afterReset, path.length);
    return messages;
  }
  messages.push(...summaryOf(state.compaction));
  const firstKept = firstKeptOf(path, compactedAt);
  if (firstKept === undefined) onProblem?.(entryProblem.badPointer(0, state.compaction.id), state.compaction);
  // pi's checkpoint, not the kept range, says which system messages hold.
  else add(Math.max(firstKept, afterReset), compactedAt, (message) => message.role !== "system");
  add(compactedAt + 1, path.length);
  return messages;
}

/** Where the kept range begins; at the compaction itself when it keeps nothing. `undefined`: it points nowhere. */
function firstKeptOf(path: readonly SessionEntry[], compactedAt: number): number | undefined {
  const { firstKeptEntryId } = path[compactedAt] as CompactionEntry;
  for (let at = compactedAt; at >= 0; at--) if (path[at]!.id === firstKeptEntryId) return at;
  return undefined;
}

/** pi stores with a compaction which system prompt and tools held; that comes ahead of the summary. */
export function summaryOf(entry: CompactionEntry): AgentMessage[] {
  const checkpoint = entry["systemMessage" as keyof CompactionEntry] as unknown;
  const summary: AgentMessage = {
    role: "compactionSummary",
    summary: entry.summary,
    tokensBefore: Number.isFinite(entry.tokensBefore) ? entry.tokensBefore : 0,
    timestamp: milliseconds(entry.timestamp),
  };
  return isRecord(checkpoint) && checkpoint["role"] === "system"
    ? [checkpoint as unknown as SystemMessage, summary]
    : [summary];
}
