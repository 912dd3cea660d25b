/**
 * The question what becomes of a plan, in the place of the editor, when the turn that handed it in is over and whenever
 * the user asks for it again. Part of `tui/`; used by interactive-mode.
 */
import type { AgentSession } from "../agent/agent-session.ts";
import type { AgentSessionEvent } from "../agent/agent-session-events.ts";
import type { PlanChoice } from "../agent/plan-mode.ts";
import { reasonOf } from "../session/session-errors.ts";
import type { Questions } from "./questions.ts";
import { sanitiseLine } from "./sanitise.ts";
import type { SelectorHost } from "./selector-controller.ts";

const CHOICES: readonly { label: string; value: PlanChoice | undefined }[] = [
  { label: "Approve and execute", value: "execute" },
  { label: "Approve and compact context", value: "compact" },
  { label: "Approve and keep context", value: "keep" },
  { label: "Keep planning", value: undefined },
];

export interface PlanDecisionOptions {
  session: AgentSession;
  host: Pick<SelectorHost, "status" | "error">;
  questions: Pick<Questions, "choose">;
  /** The user is in another list and must not be torn from it. */
  isSelectorOpen(): boolean;
}

export class PlanDecision {
  readonly #options: PlanDecisionOptions;
  /** Handed in by the turn that runs. */
  #isNew = false;

  constructor(options: PlanDecisionOptions) {
    this.#options = options;
  }

  apply(event: AgentSessionEvent): void {
    if (event.type === "plan_submitted") this.#isNew = true;
    if (event.type !== "agent_settled" || !this.#isNew) return;
    this.#isNew = false;
    if (event.aborted || this.#options.session.plan.submitted === undefined) return;
    if (this.#options.isSelectorOpen()) this.#options.host.status("The plan is ready; /plan-review shows it.");
    else void this.#ask();
  }

  /** What to say when a session is opened in which a plan waits. */
  get reminder(): string | undefined {
    return this.#options.session.plan.submitted === undefined
      ? undefined
      : "A plan waits for your decision; /plan-review shows it.";
  }

  /** `/plan-review`: the plan as its file is now, in the chat, and the question. Throws when there is none. */
  review(show: (markdown: string) => void): void {
    show(this.#options.session.plan.read().plan);
    void this.#ask();
  }

  async #ask(): Promise<void> {
    const { session, host, questions } = this.#options;
    const { submitted } = session.plan;
    if (submitted === undefined) return;
    const choice = await questions.choose({
      title: `Plan: ${sanitiseLine(submitted.title)}`,
      text:
        `It lies in ${sanitiseLine(submitted.path)} and can be changed there first. ` +
        "To execute it starts a new session; the other two go on in this one.",
      choices: CHOICES,
    });
    if (choice === undefined) host.status("Say what should change; /plan-review shows the plan again.");
    else session.plan.approve(choice).catch((error: unknown) => host.error(reasonOf(error)));
  }
}
