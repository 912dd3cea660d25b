/**
 * What an AgentSession is made of, and what a prompt may come with.
 * Part of `agent/`; see agent-session.ts.
 */
import type { AgentTool } from "@earendil-works/pi-agent-core";
import type { SessionManager } from "../session/session-manager.ts";
import type { ImageContent } from "../tree/messages.ts";
import type { CompactionSettings } from "./compaction-settings.ts";
import type { HookPort, InputSource } from "./hook-port.ts";
import type { SessionMcpOptions } from "./mcp/session-mcp.ts";
import type { QueuedKind, QueueMode } from "./message-queue.ts";
import type { ModelRegistry } from "./models.ts";
import type { Model, ThinkingLevel } from "./providers.ts";
import type { RetrySettings } from "./retry.ts";
import type { StreamRule } from "./rule-files.ts";
import type { BranchSummarySettings } from "./settings.ts";

/** What the user has settled about sessions; see `AgentSession.setSettings`. */
export interface SessionSettings {
  retry?: RetrySettings;
  /** How many queued messages one delivery takes; default "one-at-a-time". */
  steeringMode?: QueueMode;
  followUpMode?: QueueMode;
  /** Names the sessions; undefined: they are named after the first line of the first prompt. */
  smallModel?: Model;
  /** Writes the summaries of branches and compactions; undefined: the session's model does. */
  summaryModel?: Model;
  branchSummary?: Pick<BranchSummarySettings, "reserveTokens">;
  compaction?: CompactionSettings;
  /** Where plans lie, relative to the working directory. Default `plans` in the state folder. */
  plansDir?: string;
}

export interface AgentSessionOptions extends SessionSettings {
  sessionManager: SessionManager;
  registry: ModelRegistry;
  /** The model where the session's path names none. */
  model?: Model;
  /** The level where the session's path names none. Default "off". */
  thinkingLevel?: ThinkingLevel;
  /** Made anew for each run, so that they work where the session works. Default: none. */
  tools?: (cwd: string) => AgentTool[];
  /** What extensions make of all tools: they add, replace and leave out. Asked before each request. Default: nothing. */
  extendTools?: (tools: AgentTool[]) => AgentTool[];
  /** MCP servers, started at once, whose tools are added. Default: none. */
  mcp?: SessionMcpOptions;
  /** Built anew for each run. */
  systemPrompt?: (about: { cwd: string; tools: readonly AgentTool[] }) => string | Promise<string>;
  hooks?: HookPort;
  /** What the user should know from the start, such as mistakes in settings; told to the first listener. */
  notices?: readonly string[];
  /** Why a call is refused that this session's own mode allows; undefined: it is not. */
  refusal?: (toolName: string) => string | undefined;
  /** The folder whose settings, rules and servers are given here. Default: the session's at the start. */
  projectDir?: string;
  /** Rules that read what the model writes; see rule-files.ts. Default: none. */
  rules?: readonly StreamRule[];
  /** Folder for outputs of the user's commands that are too long to show; a new temporary one by default. */
  commandOutputDir?: string;
  /**
   * When the session cannot be written: true goes on in memory, with a notice, and saves as soon as that is possible;
   * false, the default, rejects and asks the model nothing more.
   */
  goesOnUnsaved?: boolean;
  /** How long a stopped turn is waited for, in milliseconds; a tool that takes longer finishes on its own branch. */
  stopTimeoutMs?: number;
}

export interface PromptOptions {
  images?: ImageContent[];
  /** Where it comes from; default "interactive". */
  source?: InputSource;
  /** While a turn runs: queue it, instead of rejecting. */
  streamingBehavior?: QueuedKind;
  /** Called when nothing can refuse it any more; "handled": an extension has dealt with it. */
  accepted?: (disposition: "started" | "queued" | "handled") => void;
}
