/**
 * The lines of a session file, format version 3, as types: the header, every kind of entry, and the leaf record.
 * Part of `tree/`: pure, runs in a browser. Field names are those of pi 1.6 and oh-my-pi 18, whose files bough reads
 * and which read bough's; `docs/format.md` describes the same for people.
 */
import type { AgentMessage, ImageContent, TextContent, Usage } from "./messages.ts";

export const CURRENT_SESSION_VERSION = 3;

/** The first record of a file; not part of the tree. */
export interface SessionHeader {
  type: "session";
  /** Absent in version 1. */
  version?: number;
  id: string;
  /** ISO 8601, when the session was made. */
  timestamp: string;
  /** Working directory; missing or empty in old files. */
  cwd: string;
  /** Where the session came from: a path (pi, bough) or an id (omp). Lineage only, never followed blindly. */
  parentSession?: string;
  title?: string;
  titleSource?: "auto" | "user";
  [field: string]: unknown;
}

export interface SessionEntryBase {
  type: string;
  /** 8 hexadecimal characters when bough made it; opaque to readers. */
  id: string;
  parentId: string | null;
  /** ISO 8601 */
  timestamp: string;
}

export interface SessionMessageEntry extends SessionEntryBase {
  type: "message";
  message: AgentMessage;
}
export interface CompactionEntry<Details = unknown> extends SessionEntryBase {
  type: "compaction";
  summary: string;
  /** The first entry before the compaction that stays in the context. */
  firstKeptEntryId: string;
  tokensBefore: number;
  details?: Details;
  preserveData?: Record<string, unknown>;
  fromExtension?: boolean;
  /** pi's name for fromExtension. */
  fromHook?: boolean;
  usage?: Usage;
  /** bough: the provider and the model whose `usage` it is. */
  provider?: string;
  model?: string;
}
export interface BranchSummaryEntry<Details = unknown> extends SessionEntryBase {
  type: "branch_summary";
  /** bough and omp: the branch point, "root" for none. pi 1.6: the leaf that was left. Never a parent. */
  fromId: string;
  summary: string;
  details?: Details;
  fromExtension?: boolean;
  fromHook?: boolean;
  usage?: Usage;
  /** bough: the provider and the model whose `usage` it is. */
  provider?: string;
  model?: string;
}
/** Extension state; the model never sees it. */
export interface CustomEntry<Data = unknown> extends SessionEntryBase {
  type: "custom";
  customType: string;
  data?: Data;
}
/** An extension's message to the model; `display: false` hides it from the screen, not from the model. */
export interface CustomMessageEntry<Details = unknown> extends SessionEntryBase {
  type: "custom_message";
  customType: string;
  content: string | (TextContent | ImageContent)[];
  display: boolean;
  details?: Details;
}
export interface LabelEntry extends SessionEntryBase {
  type: "label";
  targetId: string;
  /** Absent or empty clears. */
  label?: string;
}
export interface ModelChangeEntry extends SessionEntryBase {
  type: "model_change";
  /** pi's fields; omp writes only `model`. */
  provider?: string;
  modelId?: string;
  /** omp's field: "provider/modelId". bough writes all three. */
  model?: string;
  /** omp: which of its roles changed; absent = "default". */
  role?: string;
}
export interface ThinkingLevelChangeEntry extends SessionEntryBase {
  type: "thinking_level_change";
  thinkingLevel: string | null;
  configured?: string | null;
}
export interface ServiceTierChangeEntry extends SessionEntryBase {
  type: "service_tier_change";
  /** Per provider; older files hold one string; null clears. */
  serviceTier: ServiceTier | string | null;
}
export type ServiceTier = Record<string, string>;
export interface ModeChangeEntry extends SessionEntryBase {
  type: "mode_change";
  /** "none" on leaving a mode. */
  mode: string;
  data?: Record<string, unknown>;
}
export interface McpToolSelectionEntry extends SessionEntryBase {
  type: "mcp_tool_selection";
  selectedToolNames: string[];
}
export interface TtsrInjectionEntry extends SessionEntryBase {
  type: "ttsr_injection";
  injectedRules: string[];
}
/** First entry of a subagent's own session. */
export interface SessionInitEntry extends SessionEntryBase {
  type: "session_init";
  systemPrompt: string;
  task: string;
  tools: string[];
  outputSchema?: unknown;
}
export interface SessionInfoEntry extends SessionEntryBase {
  type: "session_info";
  /** Empty clears. */
  name: string;
  /** Absent in pi's files: read as "user". */
  source?: "auto" | "user";
}
/** omp 18's name change. */
export interface TitleChangeEntry extends SessionEntryBase {
  type: "title_change";
  title: string;
  source: "auto" | "user";
}
/** pi 1.6: tokens spent outside messages. */
export interface UsageEntry extends SessionEntryBase {
  type: "usage";
  kind: string;
  provider: string;
  model: string;
  usage: Usage;
}
/** omp 18: tokens spent outside messages. */
export interface ModelUsageEntry extends SessionEntryBase {
  type: "model_usage";
  purpose: string;
  provider: string;
  model: string;
  usage: Usage;
}
/** pi 1.6: replaces (or, with null, leaves out) one message of the context. */
export interface ContextEditEntry extends SessionEntryBase {
  type: "context_edit";
  targetId: string;
  replacement: null | { content: string | (TextContent | ImageContent)[] };
}
/** omp 18's /clear: the context starts after it. */
export interface ResetBoundaryEntry extends SessionEntryBase {
  type: "reset_boundary";
}
export interface CredentialPinEntry extends SessionEntryBase {
  type: "credential_pin";
  provider: string;
  hash: string;
}

/** Every kind bough knows. */
export type KnownEntry =
  | SessionMessageEntry
  | CompactionEntry
  | BranchSummaryEntry
  | CustomEntry
  | CustomMessageEntry
  | LabelEntry
  | ModelChangeEntry
  | ThinkingLevelChangeEntry
  | ServiceTierChangeEntry
  | ModeChangeEntry
  | McpToolSelectionEntry
  | TtsrInjectionEntry
  | SessionInitEntry
  | SessionInfoEntry
  | TitleChangeEntry
  | UsageEntry
  | ModelUsageEntry
  | ContextEditEntry
  | ResetBoundaryEntry
  | CredentialPinEntry;
export type EntryType = KnownEntry["type"];
export type EntryOfType<T extends EntryType> = Extract<KnownEntry, { type: T }>;

/**
 * An entry of the tree. Files from other programs also hold kinds bough does not know: they sit in the tree under
 * their own `type` string, with their place and bytes kept. `kindOf` (kinds.ts) answers for both.
 */
export type SessionEntry = KnownEntry;

/** Journal record of a move of the leaf; not an entry. `parentId` is the target, null for "before the first entry". */
export interface LeafRecord {
  type: "leaf";
  id: string;
  parentId: string | null;
  timestamp: string;
  via: "jump" | "back" | "forward";
}

export interface SessionTreeNode {
  entry: SessionEntry;
  children: SessionTreeNode[];
  label: string | undefined;
  /** Why a node with a parentId is a root. */
  problem?: "missing-parent" | "cycle";
}

/** What `appendCompaction` stores, as a hook may supply it. */
export interface CompactionResult<Details = unknown> {
  summary: string;
  firstKeptEntryId: string;
  tokensBefore: number;
  details?: Details;
  preserveData?: Record<string, unknown>;
}
