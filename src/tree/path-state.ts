/**
 * `PathState`: what a walk from the root to the leaf collects, one entry at a time. kinds.ts says how each kind
 * changes it.
 * Part of `tree/`: pure. Used by the context.
 */
import type { CompactionEntry, ContextEditEntry, ResetBoundaryEntry, ServiceTier } from "./entries.ts";

export interface PathState {
  /** "off" until changed. */
  thinkingLevel: string;
  model: { provider: string; modelId: string } | null;
  serviceTier: ServiceTier | undefined;
  /** "none" outside any mode. */
  mode: string;
  modeData: Record<string, unknown> | undefined;
  injectedTtsrRules: Set<string>;
  mcpToolSelection: string[] | undefined;
  /** The latest of its kind. */
  compaction: CompactionEntry | undefined;
  reset: ResetBoundaryEntry | undefined;
  /** The latest edit of each target id. */
  edits: Map<string, ContextEditEntry["replacement"]>;
}

/** The state of an empty path. */
export function initialPathState(): PathState {
  return {
    thinkingLevel: "off",
    model: null,
    serviceTier: undefined,
    mode: "none",
    modeData: undefined,
    injectedTtsrRules: new Set(),
    mcpToolSelection: undefined,
    compaction: undefined,
    reset: undefined,
    edits: new Map(),
  };
}
