/**
 * `buildSessionContext`: what the model is sent for a path, and the state that holds at its end.
 * Part of `tree/`: pure. A path's context depends on its own entries alone.
 */
import type { CompactionEntry, ResetBoundaryEntry, ServiceTier } from "./entries.ts";
import type { AgentMessage, ImageContent, TextContent } from "./messages.ts";

/** What a walk from the root to the leaf collects; `kinds.ts` says how each kind changes it. */
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
  compaction: CompactionEntry | undefined;
  reset: ResetBoundaryEntry | undefined;
  edits: Map<string, null | { content: string | (TextContent | ImageContent)[] }>;
}

export interface SessionContext {
  messages: AgentMessage[];
  thinkingLevel: string;
  model: { provider: string; modelId: string } | null;
  serviceTier: ServiceTier | undefined;
  mode: string;
  modeData: Record<string, unknown> | undefined;
  injectedTtsrRules: string[];
  mcpToolSelection: string[] | undefined;
}
