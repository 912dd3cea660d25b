/**
 * From the command line to a session at work: trust, settings, models. Part of `cli/`; used by every mode.
 */
import type { AgentSession } from "../agent/agent-session.ts";
import type { AgentSessionOptions } from "../agent/agent-session-options.ts";
import { createAgentSession } from "../agent/create-agent-session.ts";
import type { HookResult } from "../agent/hook-port.ts";
import { ModelRegistry, NO_MODEL } from "../agent/models.ts";
import { API_KINDS, THINKING_LEVELS } from "../agent/providers.ts";
import type { Model, ThinkingLevel } from "../agent/providers.ts";
import { Settings } from "../agent/settings.ts";
import { projectTrust, trustProject, withheld } from "../agent/trust.ts";
import type { ProjectTrust } from "../agent/trust.ts";
import type { UiFor } from "../extensions/ui-port.ts";
import { stateDir as defaultStateDir } from "../session/locations.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { Arguments } from "./arguments.ts";
import { loadExtensions, loadUserExtensions } from "./load-extensions.ts";
import type { LoadOptions } from "./load-extensions.ts";
import type { LoadedExtensions } from "./loaded-extensions.ts";
import { UsageError } from "./usage.ts";

export interface Workplace {
  cwd: string;
  stateDir: string;
  version: string;
  /** The project's own files, and whether they may be used. */
  project: ProjectTrust;
  settings: Settings;
  registry: ModelRegistry;
  /** What the command line asks for, which goes before what a session was using. */
  model: Model | undefined;
  thinkingLevel: ThinkingLevel | undefined;
  name: string | undefined;
  /** Begin in plan mode. */
  plan: boolean;
  /** What the user should know about the project, one plain sentence each. */
  notices: string[];
  /** Those that are loaded; undefined when there are none. */
  extensions?: LoadedExtensions | undefined;
}

export interface PrepareOptions extends LoadOptions {
  /** Asked whether the project's files may be used, when they wait for that. Default: they may not. */
  ask?: (project: ProjectTrust, cwd: string) => Promise<boolean>;
  /** With what extensions ask before the screen is there. Default: nothing. */
  dialogs?: UiFor;
}

/**
 * Trust, settings, extensions, and then the model, which may be one of theirs. Gives the arguments as they read with the
 * options of extensions. Rejects with UsageError when the command line asks for what is not there.
 */
export async function prepare(
  given: Arguments,
  version: string,
  { ask = async () => false, dialogs, ...loading }: PrepareOptions,
): Promise<{ args: Arguments; place: Workplace }> {
  const cwd = process.cwd();
  const stateDir = defaultStateDir();
  const found = projectTrust(cwd, { stateDir, trustThisRun: given.trust });
  const registry = await ModelRegistry.load({ stateDir, version });
  const where = { cwd, stateDir, version, registry };
  const isOpen = found.digest !== undefined && !given.trust;
  const earlier = isOpen ? await loadUserExtensions(given, { ...where, project: found }, loading) : undefined;
  const { project, notices } = isOpen
    ? await decided(found, { cwd, stateDir, ask, extension: await decisionOf(earlier, cwd, dialogs) })
    : { project: found, notices: found.problem === undefined ? [] : [found.problem] };
  const settings = new Settings({ stateDir, project });
  const about = { ...where, project, settings };
  const { args, extensions } = await loadExtensions(given, about, loading, earlier);
  const asked = await askedModel(args, registry);
  const place: Workplace = {
    ...about,
    model: asked?.model,
    thinkingLevel: thinkingLevelOf(args) ?? asked?.thinkingLevel,
    name: args.name,
    plan: args.plan,
    notices,
    extensions,
  };
  return { args, place };
}

interface TrustDecision {
  cwd: string;
  stateDir: string;
  ask: (project: ProjectTrust, cwd: string) => Promise<boolean>;
  /** What an extension of the user's has decided. */
  extension: HookResult<"project_trust"> | undefined;
}

/** What the user's extensions say of the project; undefined: nothing. */
async function decisionOf(
  extensions: LoadedExtensions | undefined,
  cwd: string,
  dialogs: UiFor | undefined,
): Promise<TrustDecision["extension"]> {
  if (extensions?.host.has("project_trust") !== true) return undefined;
  const { host } = extensions;
  host.setUi(dialogs);
  const decision = await host.emit("project_trust", { cwd });
  host.setUi();
  return decision;
}

/** The project's files after an extension or the user has decided, and what to say about them. */
async function decided(
  project: ProjectTrust,
  { cwd, stateDir, ask, extension }: TrustDecision,
): Promise<{ project: ProjectTrust; notices: string[] }> {
  if (extension?.trusted === "no")
    return { project: withheld(project), notices: [`${cwd}/.bough is not used: an extension has decided so.`] };
  if (extension === undefined && project.trusted) return { project, notices: [] };
  const unused = `${cwd}/.bough is not used until you trust it: read it, then start with --trust.`;
  if (extension === undefined && !(await ask(project, cwd))) return { project, notices: [unused] };
  const { digest = "" } = project;
  const isRemembered = extension?.remember ?? true;
  try {
    if (isRemembered) trustProject(cwd, digest, stateDir);
  } catch (error) {
    return { project, notices: [error instanceof Error ? error.message : String(error), unused] };
  }
  // Looked at anew: what has changed since the question is not what the answer was about.
  const now = projectTrust(cwd, { stateDir, trustedDigest: isRemembered ? undefined : digest });
  return { project: now, notices: now.trusted ? [] : [now.problem ?? unused] };
}

/** What to do when there is no model, and what may be the reason. */
export const noModelText = (registry: ModelRegistry): string => [NO_MODEL, ...registry.problems].join(" ");

/** The session at work. */
export async function putToWork(
  sessionManager: SessionManager,
  place: Workplace,
  options: Pick<AgentSessionOptions, "goesOnUnsaved"> = {},
): Promise<AgentSession> {
  const { cwd, stateDir, version, project, settings, registry, model, thinkingLevel, name, plan, extensions } = place;
  const session = await createAgentSession({
    ...options,
    ...extensions?.sessionOptions,
    sessionManager,
    stateDir,
    version,
    project,
    projectDir: cwd,
    settings,
    registry,
    ...(model === undefined ? {} : { model }),
    ...(thinkingLevel === undefined ? {} : { thinkingLevel }),
  });
  extensions?.host.attach(session);
  if (name !== undefined) session.setSessionName(name);
  if (plan && !session.isFollowing) session.plan.start();
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
    const choice = await registry.addEndpoint({
      baseUrl,
      api: kind,
      ...(model === undefined ? {} : { model }),
      ...(apiKey === undefined ? {} : { apiKey }),
    });
    return accepted(choice, registry);
  }
  if (registry.available().length === 0) await registry.discover();
  const wanted = [provider, model].filter((part) => part !== undefined).join("/");
  return wanted === "" ? undefined : accepted(registry.choose(wanted), registry);
}

/** A model may be missing because models.json is broken. */
function accepted<Found extends object>(choice: Found | { problem: string }, registry: ModelRegistry): Found {
  if ("problem" in choice) throw new UsageError([choice.problem, ...registry.problems].join(" "));
  return choice;
}
