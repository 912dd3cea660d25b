/**
 * `HookPort`: the named points where something outside may look or change what happens.
 * Owned by `agent/`, which emits; the extension host implements it, tests pass plain functions.
 */
import type { BranchSummaryEntry, CompactionEntry, CompactionResult, SessionEntry } from "../tree/entries.ts";
import type { AgentMessage, Usage } from "../tree/messages.ts";
import type { CompactionPreparation } from "./compaction-preparation.ts";

/** What a jump is about to do; entries are those that the old leaf has and the target's path has not, oldest first. */
export interface TreePreparation {
  /** Where `/back` and `/forward` lead before the first entry: "root". */
  targetId: string;
  oldLeafId: string | null;
  /** The deepest entry that both paths share; null for none. */
  commonAncestorId: string | null;
  entriesToSummarize: SessionEntry[];
  userWantsSummary: boolean;
  /** What the user asked the summary to have most of, where something was asked. */
  customInstructions?: string;
  replaceInstructions?: boolean;
  /** For the summary, or the target where none is made. */
  label?: string;
}

/** A jump that has happened. */
export interface SessionTreeEvent {
  /** The leaf after the jump: the summary, where one was made. */
  newLeafId: string | null;
  oldLeafId: string | null;
  summaryEntry?: BranchSummaryEntry;
  /** Only with a summary: whether a hook wrote it. */
  fromExtension?: boolean;
}

/** Asked for by the user, because the context is nearly full, or because the provider said that it is too large. */
export type CompactionReason = "manual" | "threshold" | "overflow";

/** Every hook: what it is told, and what it may answer. Names and payloads are those of the field's extensions. */
export interface HookEvents {
  session_before_tree: {
    event: { preparation: TreePreparation; signal: AbortSignal };
    result: {
      cancel?: boolean;
      /** Used if the user wants one. */
      summary?: { summary: string; details?: unknown; usage?: Usage };
      /** These stand in place of the user's. */
      customInstructions?: string;
      replaceInstructions?: boolean;
      label?: string;
    };
  };
  session_tree: { event: SessionTreeEvent; result: void };
  session_before_compact: {
    event: {
      preparation: CompactionPreparation;
      /** The whole path, root first. */
      branchEntries: SessionEntry[];
      customInstructions: string | undefined;
      signal: AbortSignal;
      reason: CompactionReason;
      /** The turn goes on with the request that did not fit. */
      willRetry: boolean;
    };
    result: { cancel?: boolean; compaction?: CompactionResult };
  };
  /** Before a model is asked for the summary; `prompt` replaces the instructions. */
  "session.compacting": {
    event: { sessionId: string; messages: AgentMessage[] };
    result: { context?: string[]; prompt?: string; preserveData?: Record<string, unknown> };
  };
  session_compact: {
    event: {
      compactionEntry: CompactionEntry;
      fromExtension: boolean;
      reason: CompactionReason;
      willRetry: boolean;
    };
    result: void;
  };
  session_before_branch: {
    event: { entryId: string };
    result: {
      cancel?: boolean;
      /** Keeps model and thinking level as they are instead of taking those of the new path. */
      skipConversationRestore?: boolean;
    };
  };
  session_branch: { event: { previousSessionFile: string | undefined }; result: void };
  session_before_switch: {
    event: { reason: "new" | "resume"; targetSessionFile?: string };
    result: { cancel?: boolean };
  };
  session_switch: { event: { reason: "new" | "resume"; previousSessionFile: string | undefined }; result: void };
}
export type HookName = keyof HookEvents;
export type HookEvent<N extends HookName> = HookEvents[N]["event"];
export type HookResult<N extends HookName> = HookEvents[N]["result"];

export interface HookPort {
  /** Whether anyone listens; payloads that cost something are built only then. */
  has(name: HookName): boolean;
  /** Tells the listeners and gives their merged answer. A rejection is reported to the user and counts as no answer. */
  emit<N extends HookName>(name: N, event: HookEvent<N>): Promise<HookResult<N> | undefined>;
}

/** Nobody listens. */
export const NO_HOOKS: HookPort = { has: () => false, emit: async () => undefined };

export type HookFunctions = {
  [N in HookName]?: (event: HookEvent<N>) => HookResult<N> | undefined | Promise<HookResult<N> | undefined>;
};

/** A port of one plain function for each hook of interest. */
export function hooksFrom(functions: HookFunctions): HookPort {
  return {
    has: (name) => functions[name] !== undefined,
    emit: async (name, event) => functions[name]?.(event),
  };
}
