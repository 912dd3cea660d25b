/**
 * Models, MCP servers and the state of the session as the JSON values that `--mode rpc` gives. Part of `cli/`; used by the handlers.
 */
import type { AgentSession } from "../../agent/agent-session.ts";
import type { McpServerView } from "../../agent/mcp/session-mcp.ts";
import { getSupportedThinkingLevels } from "../../agent/providers.ts";
import type { Model } from "../../agent/providers.ts";
import { usageByBranch } from "../../tree/branch-usage.ts";
import type { UsageSums } from "../../tree/usage.ts";
import type { Given } from "./commands.ts";

type ModelJson = Given<"set_model">["model"];

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

export const serverJson = ({ problem, tools, ...server }: McpServerView): Given<"get_mcp">["servers"][number] => ({
  ...server,
  ...(problem === undefined ? {} : { problem }),
  tools: tools.map((tool) => ({ ...tool })),
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
