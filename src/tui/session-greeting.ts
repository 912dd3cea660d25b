/**
 * `SessionGreeting`: what the user is given and told of a session when it is opened: its prompts for the Up key, what
 * was never sent, a plan that waits, a turn that was cut off, and what is wrong in its file.
 * Part of `tui/`; used by interactive-mode.
 */
import type { AgentSession } from "../agent/agent-session.ts";
import { latestPrompts } from "../agent/prompt-entries.ts";
import { unsentReturned } from "../agent/session-notices.ts";
import { unfinishedNotice } from "../agent/unfinished-turn.ts";
import type { InputController } from "./input-controller.ts";
import type { PlanDecision } from "./plan-decision.ts";
import type { SessionScreen } from "./session-screen.ts";
import { shownText } from "./shown-text.ts";

/** Prompts of the path that the Up key brings back. */
const HISTORY = 100;

export interface SessionGreetingOptions {
  session: AgentSession;
  screen: Pick<SessionScreen, "chat" | "editor">;
  input: Pick<InputController, "takeBack">;
  plan: Pick<PlanDecision, "reminder">;
}

export class SessionGreeting {
  readonly #options: SessionGreetingOptions;
  /** What was said of what is wrong in this session. */
  readonly #toldProblems = new Set<string>();

  constructor(options: SessionGreetingOptions) {
    this.#options = options;
  }

  /** Once for each session that is opened. */
  greet(): void {
    const { session, screen, plan } = this.#options;
    for (const { message } of latestPrompts(session.sessionManager, HISTORY))
      screen.editor.addToHistory(shownText(message.content));
    this.#returnUnsent();
    if (plan.reminder !== undefined) screen.chat.addNotice("info", plan.reminder);
    this.#toldProblems.clear();
    this.tellProblems();
  }

  /** For a session as an earlier run has left it. */
  tellUnfinished(): void {
    const { session, screen } = this.#options;
    const notice = unfinishedNotice(session.sessionManager);
    if (notice !== undefined) screen.chat.addNotice("info", notice);
  }

  /** Each once, those at the beginning together; more are found when more of the session is read. */
  tellProblems(): void {
    const { session, screen } = this.#options;
    const manager = session.sessionManager;
    const problems = manager.getProblems().filter(({ text }) => !this.#toldProblems.has(text));
    for (const { text } of problems) this.#toldProblems.add(text);
    const [first] = problems;
    if (first === undefined) return;
    const others = `${problems.length - 1} more: bough doctor ${manager.getSessionFile() ?? ""} lists them.`;
    screen.chat.addNotice("warning", problems.length === 1 ? first.text : `${first.text} ${others}`);
  }

  /** Queued before a crash: back in the editor, before what the user has typed. */
  #returnUnsent(): void {
    const { session, screen, input } = this.#options;
    const unsent = session.takeUnsent();
    if (unsent.length === 0) return;
    screen.chat.addNotice("info", unsentReturned(unsent.length));
    input.takeBack(unsent);
  }
}
