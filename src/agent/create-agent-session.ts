/**
 * `createAgentSession`: an AgentSession with everything it needs, from what the user has set up.
 * Part of `agent/`; used by cli/ and by programs that embed bough.
 */
import { join } from "node:path";
import type { AgentTool } from "@earendil-works/pi-agent-core";
import { stateDir as defaultStateDir } from "../session/locations.ts";
import { SessionManager } from "../session/session-manager.ts";
import { AgentSession } from "./agent-session.ts";
import type { SessionSettings } from "./agent-session-options.ts";
import { loadContextFiles } from "./context-files.ts";
import type { HookPort } from "./hook-port.ts";
import { LOOPBACK_SERVERS } from "./model-discovery.ts";
import { readMcpConfig } from "./mcp/mcp-config.ts";
import type { McpConfig, McpServerConfig } from "./mcp/mcp-config.ts";
import { ModelRegistry } from "./models.ts";
import type { Model, ThinkingLevel } from "./providers.ts";
import { loadRules } from "./rule-files.ts";
import { Settings } from "./settings.ts";
import { TASK_INSTRUCTIONS, subagentTool } from "./subagent.ts";
import { buildSystemPrompt } from "./system-prompt.ts";
import { createTools, toolOutputDir } from "./tools/create-tools.ts";
import { projectTrust } from "./trust.ts";
import type { ProjectTrust } from "./trust.ts";

export interface CreateAgentSessionOptions {
  /** Working directory of a new session. Default `process.cwd()`. */
  cwd?: string;
  /** The session to work on. Default: a new one for `cwd`. */
  sessionManager?: SessionManager;
  /** Where settings and `models.json` lie. Default `$BOUGH_DIR`, else `~/.bough`. */
  stateDir?: string;
  /** Default: the providers whose key is in the environment, those of `models.json`, else servers on loopback. */
  registry?: ModelRegistry;
  /** What `projectTrust` found of the project, whose settings and servers count only when it is trusted. Default: looks now. */
  project?: ProjectTrust;
  /** The folder that `project` is of. Default: the session's. */
  projectDir?: string;
  /** Default: those of the state folder, and the project's if it is trusted. */
  settings?: Settings;
  /** MCP servers. Default: those of `mcp.json` in the state folder, and of the project's if it is trusted. */
  mcpServers?: readonly McpServerConfig[];
  /** bough's version, for MCP servers. */
  version?: string;
  /** A model, or what `ModelRegistry.choose` takes. Default: the session's, the settings', the registry's. */
  model?: Model | string;
  /** Default: the session's, else the settings'. */
  thinkingLevel?: ThinkingLevel;
  /** Default: read, write, edit, bash, grep, find, ls and task. */
  tools?: (cwd: string) => AgentTool[];
  /** Replaces the built-in instructions; context files and the working directory are added all the same. */
  instructions?: string;
  /** Added at the end of the system prompt. */
  appendSystemPrompt?: string;
  hooks?: HookPort;
  /** What extensions say about tools of theirs in the system prompt; "" for nothing. */
  toolNotes?: (tools: readonly AgentTool[]) => string;
  /** See AgentSessionOptions. */
  extendTools?: (tools: AgentTool[]) => AgentTool[];
  /** See AgentSessionOptions. Default false. */
  goesOnUnsaved?: boolean;
}

/** Assembles an AgentSession. Rejects with one plain sentence when `model` fits none. */
export async function createAgentSession(options: CreateAgentSessionOptions = {}): Promise<AgentSession> {
  const stateDir = options.stateDir ?? defaultStateDir();
  const sessionManager = options.sessionManager ?? SessionManager.create(options.cwd ?? process.cwd());
  const cwd = sessionManager.getCwd();
  const project = options.project ?? projectTrust(cwd, { stateDir });
  const settings = options.settings ?? new Settings({ stateDir, project });
  const { rules, problems: ruleProblems } = loadRules({ stateDir, project });
  const mcp = mcpConfig(stateDir, project, options);
  const registry = options.registry ?? (await ModelRegistry.load({ stateDir }));
  await discoverIfNeeded(registry, sessionManager);
  const wanted = chosen(registry, options.model);
  const model = wanted?.model ?? preferredModel(registry, settings);
  const settled = sessionSettings({ registry, settings, stateDir });
  const common = {
    registry,
    commandOutputDir: toolOutputDir(stateDir),
    goesOnUnsaved: options.goesOnUnsaved ?? false,
    rules,
    ...(options.hooks === undefined ? {} : { hooks: options.hooks }),
  };
  const task = subagentTool({
    ...common,
    model: () => modelFor("subagentModel", registry, settings),
    retry: () => settings.get("retry"),
    parent: () => session,
    systemPrompt: (about) => systemPrompt(about, stateDir, options, TASK_INSTRUCTIONS),
  });

  const session: AgentSession = new AgentSession({
    ...common,
    sessionManager,
    projectDir: options.projectDir ?? cwd,
    ...(model === undefined ? {} : { model }),
    thinkingLevel: options.thinkingLevel ?? wanted?.thinkingLevel ?? settings.get("defaultThinkingLevel"),
    tools: options.tools ?? ((directory) => [...createTools({ cwd: directory, stateDir }), task]),
    ...(options.extendTools === undefined ? {} : { extendTools: options.extendTools }),
    mcp: { servers: mcp.servers, version: options.version, waitMs: settings.get("mcpWaitMs") },
    systemPrompt: (about) => systemPrompt(about, stateDir, options),
    ...settled.values,
    notices: [
      ...registry.problems,
      ...settled.problems,
      ...settings.notices,
      ...ruleProblems,
      ...mcp.problems,
      ...loadContextFiles({ cwd, stateDir }).problems,
    ],
  });
  // What was asked for now counts more than what the session's path says.
  if (wanted !== undefined) session.setModel(wanted.model);
  const level = options.thinkingLevel ?? wanted?.thinkingLevel;
  if (level !== undefined) session.setThinkingLevel(level);
  return session;
}

function mcpConfig(stateDir: string, project: ProjectTrust, { mcpServers }: CreateAgentSessionOptions): McpConfig {
  return mcpServers === undefined ? readMcpConfig({ stateDir, project }) : { servers: [...mcpServers], problems: [] };
}

function systemPrompt(
  about: { cwd: string; tools: readonly AgentTool[] },
  stateDir: string,
  { instructions, appendSystemPrompt, toolNotes }: CreateAgentSessionOptions,
  last?: string,
): string {
  const append = [toolNotes?.(about.tools), appendSystemPrompt, last].filter((text) => text).join("\n\n");
  return buildSystemPrompt({
    ...about,
    contextFiles: loadContextFiles({ cwd: about.cwd, stateDir }).files,
    date: new Date(),
    ...(instructions === undefined ? {} : { instructions }),
    append,
  });
}

/** Loopback is searched when nothing is configured, and when the session used a server that was found there. */
async function discoverIfNeeded(registry: ModelRegistry, sessionManager: SessionManager): Promise<void> {
  const recorded = sessionManager.getContextState().model;
  const isLocal = LOOPBACK_SERVERS.some(({ id }) => id === recorded?.provider);
  if (registry.available().length === 0 || isLocal) await registry.discover();
}

/** What the settings say about sessions now, and what is wrong with the models they name. */
export function sessionSettings({ registry, settings, stateDir }: SettledBy): {
  values: SessionSettings;
  problems: string[];
} {
  const problems: string[] = [];
  const [smallModel, summaryModel] = (["smallModel", "summaryModel"] as const).map((key) =>
    modelFor(key, registry, settings, problems),
  );
  modelFor("subagentModel", registry, settings, problems);
  const values = {
    retry: settings.get("retry"),
    steeringMode: settings.get("steeringMode"),
    followUpMode: settings.get("followUpMode"),
    ...(smallModel === undefined ? {} : { smallModel }),
    ...(summaryModel === undefined ? {} : { summaryModel }),
    branchSummary: settings.get("branchSummary"),
    compaction: settings.get("compaction"),
    plansDir: settings.get("plansDirectory") ?? join(stateDir, "plans"),
  };
  return { values, problems };
}
interface SettledBy {
  registry: ModelRegistry;
  settings: Settings;
  stateDir: string;
}

/** The model that the settings name for one task; without one the task has its default. */
function modelFor(
  key: "smallModel" | "summaryModel" | "subagentModel",
  registry: ModelRegistry,
  settings: Settings,
  problems: string[] = [],
): Model | undefined {
  const wanted = settings.get(key);
  const choice = wanted === undefined ? undefined : registry.choose(wanted);
  if (choice === undefined || "model" in choice) return choice?.model;
  problems.push(choice.problem);
  return undefined;
}

function chosen(
  registry: ModelRegistry,
  wanted: Model | string | undefined,
): { model: Model; thinkingLevel: ThinkingLevel | undefined } | undefined {
  if (wanted === undefined) return undefined;
  if (typeof wanted !== "string") return { model: wanted, thinkingLevel: undefined };
  const choice = registry.choose(wanted);
  if ("problem" in choice) throw new Error(choice.problem);
  return choice;
}

function preferredModel(registry: ModelRegistry, settings: Settings): Model | undefined {
  const [provider, id] = [settings.get("defaultProvider"), settings.get("defaultModel")];
  if (id !== undefined) {
    const choice = registry.choose(provider === undefined ? id : `${provider}/${id}`);
    if ("model" in choice) return choice.model;
  }
  return registry.defaultModel();
}
