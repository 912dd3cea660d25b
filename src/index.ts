/**
 * The public API of bough: sessions as trees, and an agent that works on one.
 */
export { CURRENT_SESSION_VERSION } from "./tree/entries.ts";
export type {
  BranchSummaryEntry,
  CompactionEntry,
  CompactionResult,
  ContextEditEntry,
  CredentialPinEntry,
  CustomEntry,
  CustomMessageEntry,
  LabelEntry,
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
} from "./tree/entries.ts";
export { convertToLlm } from "./tree/messages.ts";
export type { AgentMessage, ImageContent, Message, Repair, TextContent, Usage } from "./tree/messages.ts";
export type { Retrace } from "./tree/moves.ts";
export type { Problem, ProblemCode } from "./tree/problems.ts";
export { buildSessionContext } from "./tree/session-context.ts";
export type { ContextState, LatestMessages, SessionContext } from "./tree/session-context.ts";
export type { UsageTotals } from "./tree/usage.ts";
export { SessionManager } from "./session/session-manager.ts";
export { SessionFileError, SessionInUse } from "./session/session-errors.ts";
export type { SessionInfo } from "./session/catalog.ts";
export { AgentSession } from "./agent/agent-session.ts";
export type { AgentSessionOptions, PromptOptions } from "./agent/agent-session-options.ts";
export type { AgentSessionEvent, AgentSessionListener } from "./agent/agent-session-events.ts";
export { humanizePlanTitle } from "./agent/approved-plan.ts";
export { createAgentSession } from "./agent/create-agent-session.ts";
export type { CreateAgentSessionOptions } from "./agent/create-agent-session.ts";
export { NO_HOOKS, hooksFrom } from "./agent/hook-port.ts";
export type { HookFunctions, HookPort, SessionTreeEvent, TreePreparation } from "./agent/hook-port.ts";
export type { QueuedMessage } from "./agent/message-queue.ts";
export type { McpServerEntry } from "./agent/mcp/mcp-config.ts";
export { SummaryFailedError } from "./agent/jump-summary.ts";
export type { SummaryOptions } from "./agent/jump-summary.ts";
export { ModelRegistry } from "./agent/models.ts";
export type { Endpoint, ModelChoice, ModelRegistryOptions } from "./agent/models.ts";
export { collectEntriesForBranchSummary } from "./agent/navigation.ts";
export type { NavigateTreeOptions, NavigateTreeResult, RetraceResult } from "./agent/navigation.ts";
export type { PlanChoice, PlanMode } from "./agent/plan-mode.ts";
export type { Model, ThinkingLevel } from "./agent/providers.ts";
export type { ProviderConfig, ProviderModelConfig } from "./agent/registered-providers.ts";
export type { ModelRoute, ModelRouteRequest } from "./agent/virtual-models.ts";
export type { StreamRule } from "./agent/rule-files.ts";
export { Settings } from "./agent/settings.ts";
export { conversationText } from "./agent/conversation-text.ts";
export { defineTool } from "./extensions/api.ts";
export type {
  ExtensionAPI,
  ExtensionCommandContext,
  ExtensionContext,
  ExtensionFactory,
  ExtensionHandler,
  ExtensionVirtualModel,
  MarkdownTransformer,
  ToolDefinition,
} from "./extensions/api.ts";
export type { ExtensionError } from "./extensions/dispatch.ts";
export type { EventName, ExtensionEvent } from "./extensions/extension-events.ts";
export { foldBranch } from "./extensions/fold-branch.ts";
export { ExtensionHost } from "./extensions/host.ts";
export type { ExtensionHostOptions } from "./extensions/host.ts";
export { findExtensions } from "./extensions/places.ts";
export type { ExtensionPlace, FoundPlaces, PlacesOptions } from "./extensions/places.ts";
export { NO_UI } from "./extensions/ui-port.ts";
export type { ExtensionTheme, UiPort } from "./extensions/ui-port.ts";
