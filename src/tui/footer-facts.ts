/**
 * What the footer shows, taken from the session.
 * Part of `tui/`; used by session-screen.
 */
import { homedir } from "node:os";
import type { AgentSession } from "../agent/agent-session.ts";
import type { Model } from "../agent/providers.ts";
import type { FooterFacts } from "./footer.ts";
import { gitBranch } from "./git-branch.ts";

export interface FooterFactsOptions {
  /** False leaves out what would read every branch of a session just opened. */
  countUsage: boolean;
  /** What extensions say. */
  statuses: readonly string[];
}

export function footerFacts(session: AgentSession, options: FooterFactsOptions): FooterFacts {
  const { cwd, model } = session;
  const home = homedir();
  const usage = session.getContextUsage();
  return {
    cwd: cwd === home || cwd.startsWith(`${home}/`) ? `~${cwd.slice(home.length)}` : cwd,
    gitBranch: gitBranch(cwd),
    sessionName: session.sessionManager.getSessionName(),
    usage: options.countUsage ? session.getUsage() : undefined,
    context: usage === undefined || !usage.isCompacted ? usage : { window: usage.window, percent: undefined },
    model: model === undefined ? undefined : modelFacts(session, model),
    thinkingLevel: session.thinkingLevel,
    mode: session.state.mode,
    isFollowing: session.isFollowing,
    unsaved: session.sessionManager.getUnsavedCount(),
    statuses: options.statuses,
  };
}

function modelFacts(session: AgentSession, model: Model): FooterFacts["model"] {
  const { answering } = session.state;
  return {
    provider: model.provider,
    id: model.id,
    hasThinking: session.availableThinkingLevels().length > 1,
    ...(answering === model || answering === undefined ? {} : { answering: answering.id }),
  };
}
