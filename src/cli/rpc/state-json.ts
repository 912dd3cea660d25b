/**
 * Models, sessions and the state of one as the JSON values that `--mode rpc` gives. Part of `cli/`; used by the handlers.
 */
import type { AgentSession } from "../../agent/agent-session.ts";
import { getSupportedThinkingLevels } from "../../agent/providers.ts";
import type { Model } from "../../agent/providers.ts";
import type { SessionInfo } from "../../session/catalog.ts";
import { usageByBranch } from "../../tree/branch-usage.ts";
import type { UsageSums } from "../../tree/usage.ts";
import type { Given } from "./commands.ts";

type ModelJson = Given<"set_model">["model"];
type SessionJson = Given<"list_sessions">["sessions"][number];

/** Branches that are told of at once. */
const BRANCHES = 1000;
const PROBLEMS = 100;

export const modelJson = (model: Model): ModelJson => ({
  provider: model.provider,
  id: model.id,
  name: model.name,
  contextWindow: model.contextWindow,
  thinkingLevels: getSupportedThinkingLevels(model),
});

export function stateJson(session: AgentSession): Given<"get_state"> {
  const { sessionManager: manager, model } = session;
  const name = manager.getSessionName();
  return {
    sessionId: manager.getSessionId(),
    sessionFile: manager.getSessionFile() ?? null,
    ...(name === undefined ? {} : { sessionName: name }),
    cwd: session.cwd,
    leafId: manager.getLeafId(),
    model: model === undefined ? null : modelJson(model),
    thinkingLevel: session.thinkingLevel,
    mode: session.state.mode,
    isStreaming: session.isStreaming,
    isCompacting: session.isCompacting,
    isBashRunning: session.isBashRunning,
    isIdle: session.isIdle,
    isFollowing: session.isFollowing,
    messageCount: session.messages.length,
    pendingMessageCount: session.queue.length,
    unsavedEntries: manager.getUnsavedCount(),
    canGoBack: manager.canGoBack(),
    canGoForward: manager.canGoForward(),
    problems: manager
      .getProblems()
      .slice(0, PROBLEMS)
      .map(({ text }) => text),
  };
}

export function statsJson(session: AgentSession): Given<"get_stats"> {
  const { byModel, ...total } = session.getUsage();
  const index = session.sessionManager.getIndex();
  const idAt = (n: number): string => index.idAt(n);
  const branches = usageByBranch(index).sort((a, b) => Number(b.active) - Number(a.active));
  return {
    total,
    byModel: Object.fromEntries<UsageSums>(byModel),
    branches: branches.slice(0, BRANCHES).map(({ tip, fork, label, active, entries, path, own }) => ({
      tipId: idAt(tip),
      forkId: fork < 0 ? null : idAt(fork),
      ...(label === undefined ? {} : { label }),
      active,
      entries,
      path,
      own,
    })),
    branchCount: branches.length,
    context: session.getContextUsage() ?? null,
  };
}

export const sessionJson = (info: SessionInfo): SessionJson => ({
  path: info.path,
  id: info.id,
  ...(info.name === undefined ? {} : { name: info.name }),
  cwd: info.cwd,
  cwdMissing: info.cwdMissing,
  created: info.created.toISOString(),
  modified: info.modified.toISOString(),
  ...(info.messageCount === undefined ? {} : { messages: info.messageCount }),
  firstMessage: info.firstMessage,
  ...(info.parentSession === undefined ? {} : { parentSession: info.parentSession }),
  size: info.size,
  kind: info.kind,
  ...(info.reason === undefined ? {} : { reason: info.reason }),
});
