/**
 * From the command line to a session at work: trust, settings, models. Part of `cli/`; used by every mode.
 */
import type { AgentSession } from "../agent/agent-session.ts";
import { createAgentSession } from "../agent/create-agent-session.ts";
import { ModelRegistry } from "../agent/models.ts";
import { API_KINDS, THINKING_LEVELS } from "../agent/providers.ts";
import type { Model, ThinkingLevel } from "../agent/providers.ts";
import { Settings } from "../agent/settings.ts";
import { projectTrust } from "../agent/trust.ts";
import { stateDir as defaultStateDir } from "../session/locations.ts";
import type { SessionManager } from "../session/session-manager.ts";
import { UsageError } from "./arguments.ts";
import type { Arguments } from "./arguments.ts";

export interface Workplace {
  cwd: string;
  stateDir: string;
  settings: Settings;
  registry: ModelRegistry;
  /** What the command line asks for, which goes before what a session was using. */
  model: Model | undefined;
  thinkingLevel: ThinkingLevel | undefined;
  name: string | undefined;
  /** What the user should know about the project, one plain sentence each. */
  notices: string[];
}

/** Throws UsageError when the command line asks for what is not there. */
export async function prepare(args: Arguments, version: string): Promise<Workplace> {
  const cwd = process.cwd();
  const stateDir = defaultStateDir();
  const trust = projectTrust(cwd, { stateDir, trustThisRun: args.trust });
  const settings = new Settings({ stateDir, project: trust });
  const registry = await ModelRegistry.load({ stateDir, version });
  const asked = await askedModel(args, registry);
  const untrusted = `${cwd}/.bough is not used until you trust it: read it, then start with --trust.`;
  return {
    cwd,
    stateDir,
    settings,
    registry,
    model: asked?.model,
    thinkingLevel: thinkingLevelOf(args) ?? asked?.thinkingLevel,
    name: args.name,
    notices: trust.problem !== undefined ? [trust.problem] : trust.needed && !trust.trusted ? [untrusted] : [],
  };
}

/** The session at work. */
export async function putToWork(sessionManager: SessionManager, place: Workplace): Promise<AgentSession> {
  const { stateDir, settings, registry, model, thinkingLevel, name } = place;
  const session = await createAgentSession({
    sessionManager,
    stateDir,
    settings,
    registry,
    ...(model === undefined ? {} : { model }),
    ...(thinkingLevel === undefined ? {} : { thinkingLevel }),
  });
  if (name !== undefined) session.setSessionName(name);
  return session;
}

function thinkingLevelOf(args: Arguments): ThinkingLevel | undefined {
  if (args.thinking === undefined) return undefined;
  const level = THINKING_LEVELS.find((known) => known === args.thinking);
  if (level === undefined)
    throw new UsageError(`--thinking takes ${THINKING_LEVELS.join(", ")}, not "${args.thinking}".`);
  return level;
}

async function askedModel(
  { model, provider, baseUrl, apiKey, api = "openai-completions" }: Arguments,
  registry: ModelRegistry,
): Promise<{ model: Model; thinkingLevel?: ThinkingLevel | undefined } | undefined> {
  if (baseUrl !== undefined) {
    const kind = API_KINDS.find((known) => known === api);
    if (kind === undefined) throw new UsageError(`--api takes ${API_KINDS.join(", ")}, not "${api}".`);
    return accepted(
      await registry.addEndpoint({
        baseUrl,
        api: kind,
        ...(model === undefined ? {} : { model }),
        ...(apiKey === undefined ? {} : { apiKey }),
      }),
    );
  }
  if (registry.available().length === 0) await registry.discover();
  const wanted = [provider, model].filter((part) => part !== undefined).join("/");
  return wanted === "" ? undefined : accepted(registry.choose(wanted));
}

function accepted<Found extends object>(choice: Found | { problem: string }): Found {
  if ("problem" in choice) throw new UsageError(choice.problem);
  return choice;
}
