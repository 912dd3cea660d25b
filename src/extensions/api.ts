/**
 * What an extension is given: `ExtensionAPI`, the argument of its factory, and the contexts its handlers get. Names and
 * shapes are those of pi 1.6 and of omp's where they agree, so that what was written for them runs here.
 * Part of `extensions/`; extensions import these types from bough, host.ts gives the objects.
 */
import type { AgentToolResult, AgentToolUpdateCallback } from "@earendil-works/pi-agent-core";
import type {
  AssistantMessage,
  AssistantMessageEventStream,
  Context,
  Provider,
  SimpleStreamOptions,
} from "@earendil-works/pi-ai";
import type { AutocompleteItem, Component, KeyId } from "@earendil-works/pi-tui";
import type { Static, TSchema } from "typebox";
import type { BranchSummaryEntry, CompactionEntry, CustomEntry } from "../tree/entries.ts";
import type { CustomMessage, ImageContent, TextContent } from "../tree/messages.ts";
import type { McpServerEntry } from "../agent/mcp/mcp-config.ts";
import type { CustomMessageDraft } from "../agent/hook-port.ts";
import type { Model, ThinkingLevel } from "../agent/providers.ts";
import type { ProviderConfig } from "../agent/registered-providers.ts";
import type { SettingValues } from "../agent/settings.ts";
import type { ModelRoute, ModelRouteRequest, VirtualModelDefinition } from "../agent/virtual-models.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { EventBus } from "./event-bus.ts";
import type { ExecOptions, ExecResult } from "./exec.ts";
import type { AnswerTo, EventName, ExtensionEvent } from "./extension-events.ts";
import type { ReadonlySession } from "./session-facade.ts";
import type { ExtensionMode, ExtensionTheme, UiPort } from "./ui-port.ts";

/** The default export of an extension. What it returns is awaited before anything else goes on, for at most 30 s. */
export type ExtensionFactory = (pi: ExtensionAPI) => void | Promise<void>;

/** Hears of an event. What it throws is reported and disturbs nobody; see SPEC.md for time limits. */
export type ExtensionHandler<N extends EventName> = (
  event: ExtensionEvent<N>,
  ctx: ExtensionContext,
) => AnswerTo<N> | void | Promise<AnswerTo<N> | void>;

/** One signature for each event, as a single generic one would not let the compiler see what a handler may answer. */
export type Listen = Together<{ [N in EventName]: (event: N, handler: ExtensionHandler<N>) => () => void }[EventName]>;
type Together<Union> = (Union extends unknown ? (member: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

export type Content = string | (TextContent | ImageContent)[];

export interface SendOptions {
  /** Idle: begin a run with this message. Running: false adds it behind the current turn. Default false when idle. */
  triggerTurn?: boolean;
  /**
   * While a run goes on: `steer` (the default) puts it before the next request, `followUp` where the agent would stop.
   * `nextTurn`, also when idle, holds it for the user's next prompt.
   */
  deliverAs?: "steer" | "followUp" | "nextTurn";
}

/**
 * The object of one extension. While its factory runs it may register things, listen, use `exec`, `getFlag` and
 * `events`; the methods that act on the session throw until the session is there. After a reload every method throws.
 */
export interface ExtensionAPI {
  /** Returns a function that ends it. Handlers hear in the order of the extensions, then of these calls. */
  readonly on: Listen;

  /** A tool for the model; of one name the first counts, also before bough's own. May come at any time. */
  registerTool<P extends TSchema = TSchema, Details = unknown, State = unknown>(
    tool: ToolDefinition<P, Details, State>,
  ): void;
  /** `/name`. bough's own of that name goes before it; of extensions, two of a name become `name:1` and `name:2`. */
  registerCommand(name: string, options: CommandOptions): void;
  /** A key, such as "ctrl+shift+p". bough's own keys that matter are refused; of others the last counts. */
  registerShortcut(key: KeyId, options: ShortcutOptions): void;
  /** `--name` or `--name value` on the command line. Of one name the first counts. */
  registerFlag(name: string, options: FlagOptions): void;
  /** What the command line says, else the default. Only an extension's own flags. */
  getFlag(name: string): boolean | string | undefined;
  /** Draws messages of that `customType`; the first counts. One that throws or gives nothing leaves the usual box. */
  registerMessageRenderer<Details = unknown>(customType: string, renderer: MessageRenderer<Details>): void;
  /** Draws `custom` entries of that type, which are not shown otherwise. */
  registerEntryRenderer<Data = unknown>(customType: string, renderer: EntryRenderer<Data>): void;
  /**
   * Changes texts of the chat before they are drawn, and nothing else of them; those of several extensions one after the
   * other. One for each extension, the latest. Default: prompts, answers and thinking.
   */
  registerMarkdownTransformer(
    transformer: MarkdownTransformer,
    options?: { messageTypes?: readonly MarkdownMessageType[] },
  ): void;

  /**
   * A provider of models, or a change to one: with `models` it has these alone, else those it has; `baseUrl` and
   * `headers` lead its requests elsewhere; `streamSimple` answers them. Counts at once; what was there under the name is
   * back when this is taken away. Throws for what is no provider.
   */
  registerProvider(name: string, config: ProviderConfig): void;
  /** A whole one, as pi-ai has them. */
  registerProvider(provider: Provider): void;
  /** Takes away what this extension has registered; nothing if there is none. */
  unregisterProvider(name: string): void;

  /**
   * A model that sends each of its requests to another one, which `route` names; see virtual-models.ts. One of the same
   * name takes the place of this extension's former. Throws for what is none, and for the name of another model.
   */
  registerVirtualModel<State = unknown>(model: ExtensionVirtualModel<State>): void;
  unregisterVirtualModel(provider: string, id: string): void;

  /**
   * An MCP server, described like one in `mcp.json`, where one of the name goes before it. It is started at once, or when
   * there is a session. One of the same name takes the place of this extension's former. Throws for what is none.
   */
  registerMcpServer(name: string, server: McpServerEntry): void;
  unregisterMcpServer(name: string): void;

  /** A message of this extension, for the model and, with `display`, the user. */
  sendMessage<Details = unknown>(message: DraftOf<Details>, options?: SendOptions): void;
  /** A message in the user's name; always brings an answer. While a run goes on it is queued, by default as `steer`. */
  sendUserMessage(
    content: Content,
    options?: { deliverAs?: "steer" | "followUp"; expandPromptTemplates?: boolean },
  ): void;
  /** Keeps state in the session, at the leaf; the model never sees it. */
  appendEntry<Data = unknown>(customType: string, data?: Data): void;
  /** Labels an entry; undefined or "" clears. Throws `Entry <id> not found`. */
  setLabel(entryId: string, label: string | undefined): void;
  setSessionName(name: string): void;
  getSessionName(): string | undefined;

  /** Runs a program without a shell. Resolves however it ends; rejects only when it cannot be started. */
  exec(command: string, args?: readonly string[], options?: ExecOptions): Promise<ExecResult>;

  /** Names of the tools the model may call. */
  getActiveTools(): string[];
  getAllTools(): ToolInfo[];
  /** Names that no tool has are ignored. Counts from the next request on, until changed again or reloaded. */
  setActiveTools(names: readonly string[]): void;
  /** Commands of extensions, and prompts and skills where there are some; bough's own are not among them. */
  getCommands(): CommandInfo[];
  /** False, and nothing changed, when there is no key for its provider. */
  setModel(model: Model): Promise<boolean>;
  /** A copy of what bough's settings say now. */
  getSettings(): SettingValues;
  getThinkingLevel(): ThinkingLevel;
  /** Sets the nearest level the model has. */
  setThinkingLevel(level: ThinkingLevel): void;
  /** Shared by all extensions. */
  readonly events: EventBus;
}

export interface ExtensionVirtualModel<State = unknown> extends Omit<VirtualModelDefinition<State>, "route"> {
  /** Has the time of a handler. What it throws is the answer's error. */
  route(request: ModelRouteRequest<State>, ctx: ExtensionContext): ModelRoute<State> | Promise<ModelRoute<State>>;
}

/** `details` is for renderers and for the extension itself; the model does not see it. */
export type DraftOf<Details> = Omit<CustomMessageDraft, "details"> & { details?: Details };

export interface ToolDefinition<P extends TSchema = TSchema, Details = unknown, State = unknown> {
  name: string;
  /** For people. */
  label: string;
  /** For the model. */
  description: string;
  /** TypeBox or any other JSON Schema. */
  parameters: P;
  /** One line about it for the system prompt. */
  promptSnippet?: string;
  promptGuidelines?: string[];
  /** Mends arguments before they are checked. */
  prepareArguments?: (args: unknown) => Static<P>;
  /** `sequential`: never beside another call of the same answer. */
  executionMode?: "sequential" | "parallel";
  /** A rejection, or a result with `isError`, tells the model that it failed. */
  execute(
    toolCallId: string,
    params: Static<P>,
    signal: AbortSignal | undefined,
    onUpdate: AgentToolUpdateCallback<Details> | undefined,
    ctx: ExtensionContext,
  ): Promise<AgentToolResult<Details>>;
  /** `self`: without bough's frame. */
  renderShell?: "default" | "self";
  renderCall?: (args: Static<P>, theme: ExtensionTheme, context: ToolRenderContext<State, Static<P>>) => Component;
  renderResult?: (
    result: AgentToolResult<Details>,
    options: { expanded: boolean; isPartial: boolean },
    theme: ExtensionTheme,
    context: ToolRenderContext<State, Static<P>>,
  ) => Component;
}

/** One call of a tool, for its renderers. */
export interface ToolRenderContext<State = unknown, Args = unknown> {
  args: Args;
  toolCallId: string;
  /** Draw this call again. */
  invalidate: () => void;
  /** What the renderer gave last time. */
  lastComponent: Component | undefined;
  /** Kept between the renderers of one call. */
  state: State;
  cwd: string;
  executionStarted: boolean;
  argsComplete: boolean;
  isPartial: boolean;
  expanded: boolean;
  showImages: boolean;
  isError: boolean;
  durationMs: number | undefined;
}

export interface CommandOptions {
  description?: string;
  getArgumentCompletions?: (prefix: string) => AutocompleteItem[] | null | Promise<AutocompleteItem[] | null>;
  /** `args` is the text behind the name. What it returns is ignored; a turn begins only by sendMessage and the like. */
  handler: (args: string, ctx: ExtensionCommandContext) => unknown;
}
export interface ShortcutOptions {
  description?: string;
  handler: (ctx: ExtensionContext) => unknown;
}
export type FlagOptions =
  | { description?: string; type: "boolean"; default?: boolean }
  | { description?: string; type: "string"; default?: string };

export type MarkdownMessageType = "user" | "assistant" | "assistant-thinking";
export type MarkdownTransformer = (markdown: string, context: MarkdownTransformContext) => string;
export interface MarkdownTransformContext {
  messageType: MarkdownMessageType;
  /** More of it will come. */
  isStreaming: boolean;
  /** Columns. */
  availableWidth: number;
}

/** The keys an action has, such as "app.tools.expand", for hints. */
export interface KeyHints {
  /** "ctrl+o"; "" for none. */
  keyText(action: string): string;
  /** "ctrl+o to expand", coloured. */
  keyHint(action: string, description: string): string;
}
export type MessageRenderer<Details = unknown> = (
  message: CustomMessage & { details?: Details },
  options: { expanded: boolean; outputPad: number } & KeyHints,
  theme: ExtensionTheme,
) => Component | undefined;
export type EntryRenderer<Data = unknown> = (
  entry: CustomEntry<Data>,
  options: { expanded: boolean } & KeyHints,
  theme: ExtensionTheme,
) => Component | undefined;

/** Where something comes from. */
export interface SourceInfo {
  /** Of the extension's file; "builtin:<name>" for bough's own tools. */
  path: string;
  /** As it was named: a path, a package, "project" or "user" for the folders. */
  source: string;
  scope: "user" | "project" | "temporary";
  origin: "package" | "top-level";
}
export interface ToolInfo {
  name: string;
  description: string;
  parameters: object;
  sourceInfo: SourceInfo;
}
export interface CommandInfo {
  /** As it is called: with `:1` where several have the name. */
  name: string;
  description?: string;
  source: "extension" | "prompt" | "skill";
  sourceInfo: SourceInfo;
}

/** How full the context is; null where that is not known. */
export interface ContextUsageInfo {
  tokens: number | null;
  contextWindow: number;
  percent: number | null;
}
export interface CompactRequest {
  customInstructions?: string;
  onComplete?: (result: CompactionEntry) => void;
  onError?: (error: Error) => void;
}

/** Options of a request; beside those that all providers have, a provider's own. */
export type RequestOptions = SimpleStreamOptions & Record<string, unknown>;

/** The models with which requests can be made. Failures of a request arrive as the answer's stopReason "error". */
export interface ExtensionModels {
  find(provider: string, id: string): Model | undefined;
  /** Those with a key. */
  getAvailable(): Model[];
  getAll(): Model[];
  hasConfiguredAuth(model: Model): boolean;
  /** One whole answer. */
  complete(model: Model, context: Context, options?: RequestOptions): Promise<AssistantMessage>;
  completeSimple(model: Model, context: Context, options?: SimpleStreamOptions): Promise<AssistantMessage>;
  stream(model: Model, context: Context, options?: RequestOptions): AssistantMessageEventStream;
  streamSimple(model: Model, context: Context, options?: SimpleStreamOptions): AssistantMessageEventStream;
  /** For requests that the extension makes itself; undefined without one. */
  getApiKey(model: Model): Promise<string | undefined>;
  getApiKeyForProvider(provider: string): Promise<string | undefined>;
  getApiKeyAndHeaders(
    model: Model,
  ): Promise<{ ok: true; apiKey?: string; headers?: Record<string, string | null> } | { ok: false; error: string }>;
  getProviderDisplayName(provider: string): string;
  /** Models of other kinds; bough has none. */
  findOfType(type: string, provider: string, id: string): undefined;
  getModelsOfType(type: string, provider?: string): [];
  /** What is read anew at `/reload` alone. */
  refresh(): Promise<void>;
}

/** What every handler is given: always the session as it is now. After a reload everything of it throws. */
export interface ExtensionContext {
  readonly ui: UiPort;
  readonly mode: ExtensionMode;
  /** Whether dialogs are answered by someone: in the terminal and in RPC. */
  readonly hasUI: boolean;
  readonly cwd: string;
  readonly sessionManager: ReadonlySession;
  readonly modelRegistry: ExtensionModels;
  readonly model: Model | undefined;
  readonly thinkingLevel: ThinkingLevel;
  /** Empty: every available model may be used. */
  readonly scopedModels: readonly { model: Model }[];
  /** Of the run that goes on. */
  readonly signal: AbortSignal | undefined;
  isIdle(): boolean;
  isProjectTrusted(): boolean;
  /** Stops the run. */
  abort(): void;
  hasPendingMessages(): boolean;
  /** The same, as older extensions call it. */
  hasQueuedMessages(): boolean;
  /** Ends the program as soon as nothing runs. */
  shutdown(): void;
  /** undefined without a model. */
  getContextUsage(): ContextUsageInfo | undefined;
  /** Begins a compaction. A text is the instructions. The returned promise never rejects. */
  compact(request?: CompactRequest | string): Promise<void>;
  getSystemPrompt(): string;
}

export type Moved = { cancelled: boolean };
/** Runs in the session that has become the open one. */
export type WithSession = (ctx: ReplacedSessionContext) => unknown;

/** What commands are given. Events are not: who changes the session inside of a run's event waits for itself. */
export interface ExtensionCommandContext extends ExtensionContext {
  waitForIdle(): Promise<void>;
  /** `setup` may write into it before anyone hears of it. */
  newSession(options?: {
    parentSession?: string;
    setup?: (session: SessionManager) => unknown;
    withSession?: WithSession;
  }): Promise<Moved>;
  /** A new session that ends before the user's message `entryId`; its text goes to the editor. */
  branch(entryId: string, options?: { withSession?: WithSession }): Promise<Moved>;
  /** The same as `branch`. `at`: the new session ends with the entry, which may be any. */
  fork(entryId: string, options?: { position?: "before" | "at"; withSession?: WithSession }): Promise<Moved>;
  /** Moves the leaf; the text of a user's message goes to the editor. */
  navigateTree(
    targetId: string,
    options?: { summarize?: boolean; customInstructions?: string; replaceInstructions?: boolean; label?: string },
  ): Promise<Moved & { aborted?: boolean; summaryEntry?: BranchSummaryEntry }>;
  switchSession(path: string, options?: { withSession?: WithSession }): Promise<Moved>;
  /** Loads every extension anew. This context and its extension's object throw afterwards. */
  reload(): Promise<void>;
}

export interface ReplacedSessionContext extends ExtensionCommandContext {
  /** As in ExtensionAPI; resolves when it has been delivered or queued. */
  sendMessage<Details = unknown>(message: DraftOf<Details>, options?: SendOptions): Promise<void>;
  sendUserMessage(content: Content, options?: { deliverAs?: "steer" | "followUp" }): Promise<void>;
}

/** Gives a tool's definition its types. */
export const defineTool = <P extends TSchema, Details = unknown, State = unknown>(
  tool: ToolDefinition<P, Details, State>,
): ToolDefinition<P, Details, State> => tool;
