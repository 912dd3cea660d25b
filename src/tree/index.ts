/**
 * `bough/tree`: what a session is, for programs that have its bytes or its entries: reading, the tree, the context for
 * a model, rows for a view of it. Runs wherever JavaScript does, a browser included.
 * Part of `tree/`: its public face, used from outside only; `docs/library.md` shows it at work.
 */
export { usageByBranch } from "./branch-usage.ts";
export type { BranchUsage, BranchUsageSource } from "./branch-usage.ts";
export { CURRENT_SESSION_VERSION } from "./entries.ts";
export type {
  BranchSummaryEntry,
  CompactionEntry,
  CompactionResult,
  ContextEditEntry,
  CredentialPinEntry,
  CustomEntry,
  CustomMessageEntry,
  EntryOfType,
  EntryType,
  KnownEntry,
  LabelEntry,
  LeafRecord,
  McpToolSelectionEntry,
  ModeChangeEntry,
  ModelChangeEntry,
  ModelUsageEntry,
  ResetBoundaryEntry,
  ServiceTier,
  ServiceTierChangeEntry,
  SessionEntry,
  SessionEntryBase,
  SessionHeader,
  SessionInfoEntry,
  SessionInitEntry,
  SessionMessageEntry,
  SessionTreeNode,
  ThinkingLevelChangeEntry,
  TitleChangeEntry,
  TtsrInjectionEntry,
  UsageEntry,
} from "./entries.ts";
export type { Origin, SessionEntryIndex } from "./entry-index.ts";
export { encodeLine } from "./format.ts";
export type { LineSource } from "./line-source.ts";
export { convertToLlm } from "./messages.ts";
export type {
  AgentMessage,
  AssistantMessage,
  BashExecutionMessage,
  BranchSummaryMessage,
  CompactionSummaryMessage,
  CustomMessage,
  DeveloperMessage,
  FileMentionMessage,
  ImageContent,
  JsonObject,
  JsonValue,
  Message,
  PythonExecutionMessage,
  Repair,
  RepairKind,
  RequestModel,
  StopReason,
  SystemMessage,
  TextContent,
  ThinkingContent,
  ToolCall,
  ToolResultMessage,
  Usage,
  UserMessage,
} from "./messages.ts";
export type { NewId } from "./migrate.ts";
export { FILTER_MODES, isFilterMode } from "./outline-filter.ts";
export { drawnLine, lineParts, numberedLine, plainText } from "./outline-lines.ts";
export { emptyText, statusText } from "./outline-texts.ts";
export type { OutlineCounts } from "./outline-texts.ts";
export { Outline } from "./outline.ts";
export type {
  FilterMode,
  OutlineOptions,
  OutlineRow,
  OutlineSource,
  OutlineToken,
  RowsOptions,
  TextPart,
} from "./outline.ts";
export type { Problem, ProblemCode } from "./problems.ts";
export { SessionReader, readSession } from "./reader.ts";
export type { ReaderOptions, SessionReading } from "./reader.ts";
export { buildSessionContext, contextOfPath } from "./session-context.ts";
export type { ContextState, LatestMessages, SessionContext } from "./session-context.ts";
export type { SessionName } from "./session-name.ts";
export type { TreeProblem } from "./tree-links.ts";
export type { UsageSums, UsageTotals } from "./usage.ts";
