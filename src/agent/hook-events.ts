/**
 * `HookEvents`: every hook with what it is told and what its listeners together may answer. The names and payloads are
 * those of the field's extensions (pi 1.6, omp 18 and the older hooks of both), one name for each occasion: the host
 * adds the second names. Owned by `agent/`, which emits; see hook-port.ts.
 *
 * Nothing here is filtered: messages, entries and inputs may be changed only where it is said. What listeners must not
 * be able to hurt, the host copies before it tells them.
 */
import type { AgentEvent, AgentToolResult } from "@earendil-works/pi-agent-core";
import type { BranchSummaryEntry, CompactionEntry, CompactionResult, SessionEntry } from "../tree/entries.ts";
import type {
  AgentMessage,
  BashExecutionMessage,
  CustomMessage,
  ImageContent,
  TextContent,
  ToolResultMessage,
  Usage,
} from "../tree/messages.ts";
import type { CompactionPreparation } from "./compaction-preparation.ts";
import type { Model, ThinkingLevel } from "./providers.ts";

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

/** How a session came to be the open one; `fork` is `/branch` and `/clone`. */
export type SessionStartReason = "startup" | "reload" | "new" | "resume" | "fork";
export type SessionShutdownReason = "quit" | "reload" | "new" | "resume" | "fork";

/** A message of an extension that is not in the session yet. */
export type CustomMessageDraft = Pick<CustomMessage, "customType" | "content" | "display" | "details">;

/** Where a prompt comes from: the keyboard or a command line, RPC, or an extension's sendUserMessage. */
export type InputSource = "interactive" | "rpc" | "extension";

/** Runs commands in place of the local shell. */
export interface BashOperations {
  /**
   * Runs one command to its end; a signal that ended it counts as 128 and its number. `timeout` in seconds. Rejects when
   * it could not be started.
   */
  exec(
    command: string,
    cwd: string,
    options: {
      onData: (data: Buffer) => void;
      signal?: AbortSignal;
      timeout?: number;
      env?: Record<string, string | undefined>;
    },
  ): Promise<{ exitCode: number | null }>;
}

/** What a command of the user printed, when an extension ran it. */
export type UserBashResult = Pick<BashExecutionMessage, "output" | "cancelled" | "truncated" | "fullOutputPath"> & {
  exitCode?: number | undefined;
};

/** An event of the agent loop without its name. */
type LoopEvent<T extends AgentEvent["type"]> = Omit<Extract<AgentEvent, { type: T }>, "type">;

/** Sessions, one file each, and jumps within one. */
export interface SessionHooks {
  /** A session is open and everything in place; the first listener to tell of it is the one who opened it. */
  session_start: { event: { reason: SessionStartReason; previousSessionFile?: string }; result: void };
  /** Before the session, or the program, is left. Nobody waits long. */
  session_shutdown: { event: { reason: SessionShutdownReason; targetSessionFile?: string }; result: void };
  session_before_switch: {
    event: { reason: "new" | "resume"; targetSessionFile?: string };
    result: { cancel?: boolean };
  };
  session_switch: { event: { reason: "new" | "resume"; previousSessionFile: string | undefined }; result: void };
  session_before_branch: {
    /** `position`: the new session ends before the entry (`/branch`) or with it (`/clone`). */
    event: { entryId: string; position: "before" | "at" };
    result: {
      cancel?: boolean;
      /** Keeps model and thinking level as they are instead of taking those of the new path. */
      skipConversationRestore?: boolean;
    };
  };
  session_branch: { event: { previousSessionFile: string | undefined }; result: void };
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
  /** After the new path and the context are in place. */
  session_tree: { event: SessionTreeEvent; result: void };
  session_info_changed: { event: { name: string | undefined }; result: void };
}

/** Before there is a session. */
export interface ProjectHooks {
  /** Whether the files with which the project at `cwd` can act may be used; the user is asked if nobody decides. */
  project_trust: {
    event: { cwd: string };
    /** `remember`: not for this run alone, as long as the files stay as they are. */
    result: { trusted: "yes" | "no"; remember?: boolean };
  };
}

export interface CompactionHooks {
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
  session_compact_failed: {
    event: {
      reason: CompactionReason;
      errorMessage?: string;
      /** By the user or an extension. */
      aborted: boolean;
      willRetry: boolean;
      fromExtension: boolean;
    };
    result: void;
  };
}

/** What is sent to the model. */
export interface RequestHooks {
  /** Before each request; the answer replaces the messages for this request and is not kept. */
  context: { event: { messages: AgentMessage[] }; result: { messages: AgentMessage[] } };
  /** After the prompt, before the loop. */
  before_agent_start: {
    event: BeforeAgentStartEvent;
    result: {
      /** Behind the prompt, in this order. */
      messages?: CustomMessageDraft[];
      /** For this prompt. */
      systemPrompt?: string;
    };
  };
  /** The body in the provider's own form; any answer but undefined replaces it. */
  before_provider_request: { event: { payload: unknown }; result: unknown };
  after_provider_response: { event: { status: number; headers: Record<string, string> }; result: void };
  /** Each piece of an answer in the provider's own form, before anything is made of it. */
  provider_stream_event: {
    event: { provider: string; api: string; model: string; data: unknown };
    result: void;
  };
}

export type BeforeAgentStartEvent =
  | { messageType: "user"; prompt: string; images?: ImageContent[]; systemPrompt: string }
  /** A message of an extension starts the run; `prompt` is its text. */
  | { messageType: "custom"; message: CustomMessage; prompt: string; systemPrompt: string };

/** The agent loop. */
export interface LoopHooks {
  agent_start: { event: LoopEvent<"agent_start">; result: void };
  agent_end: { event: { messages: AgentMessage[] }; result: void };
  /** Nothing runs any more, retries and the queue included. */
  agent_settled: { event: { aborted: boolean }; result: void };
  /** `turnIndex` counts from 0 in each run; `timestamp` in milliseconds since 1970. */
  turn_start: { event: { turnIndex: number; timestamp: number }; result: void };
  turn_end: {
    event: { turnIndex: number; message: AgentMessage; toolResults: ToolResultMessage[] };
    result: void;
  };
  message_start: { event: { message: AgentMessage }; result: void };
  message_update: { event: LoopEvent<"message_update">; result: void };
  message_end: { event: { message: AgentMessage }; result: void };
  tool_execution_start: { event: LoopEvent<"tool_execution_start">; result: void };
  tool_execution_update: { event: LoopEvent<"tool_execution_update">; result: void };
  tool_execution_end: { event: LoopEvent<"tool_execution_end">; result: void };
  /**
   * Before a tool runs. Listeners may change `input` in place or answer another one; the agent checks what comes of it
   * against the tool's parameters. A rejection blocks the call.
   */
  tool_call: {
    event: { toolName: string; toolCallId: string; input: Record<string, unknown> };
    result: {
      block?: boolean;
      /** For the model. */
      reason?: string;
      /** In place of the event's. */
      input?: Record<string, unknown>;
      /** With `block`: the run ends after these calls. */
      terminate?: boolean;
    };
  };
  /** After a tool has run; what the answer has replaces the result's. */
  tool_result: {
    event: {
      toolName: string;
      toolCallId: string;
      input: Record<string, unknown>;
      content: (TextContent | ImageContent)[];
      details: unknown;
      isError: boolean;
    };
    result: Partial<Pick<AgentToolResult<unknown>, "content" | "details" | "isError">>;
  };
}

/** What the user does. */
export interface UserHooks {
  /** Before anything is made of what was typed; commands of bough and of extensions do not come here. */
  input: {
    event: { text: string; images?: ImageContent[]; source: InputSource; streamingBehavior?: "steer" | "followUp" };
    result:
      | { action: "continue" }
      | { action: "transform"; text: string; images?: ImageContent[] }
      /** The extension has done all there is to do. */
      | { action: "handled" };
  };
  /** `!command` and `!!command`. A rejection blocks it. */
  user_bash: {
    event: { command: string; excludeFromContext: boolean; cwd: string };
    /** The command has been run, or with what to run it. */
    result: { result: UserBashResult } | { operations: BashOperations };
  };
  /** `restore`: the path says so. */
  model_select: {
    event: { model: Model; previousModel: Model | undefined; source: "set" | "cycle" | "restore" };
    result: void;
  };
  thinking_level_select: { event: { level: ThinkingLevel; previousLevel: ThinkingLevel }; result: void };
  /** Folders and files of extensions; absolute, or relative to `cwd`. */
  resources_discover: {
    event: { cwd: string; reason: "startup" | "reload" };
    result: { skillPaths?: string[]; promptPaths?: string[]; themePaths?: string[] };
  };
}

export interface HookEvents extends ProjectHooks, SessionHooks, CompactionHooks, RequestHooks, LoopHooks, UserHooks {}
export type HookName = keyof HookEvents;
export type HookEvent<N extends HookName> = HookEvents[N]["event"];
export type HookResult<N extends HookName> = HookEvents[N]["result"];
