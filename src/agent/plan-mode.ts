/**
 * `PlanMode`: the model looks at everything and changes nothing, hands in a plan, and the user decides what becomes of it.
 * Part of `agent/`; AgentSession has one. The mode is state of the path (`mode_change`), so it follows every jump.
 */
import type { AgentTool } from "@earendil-works/pi-agent-core";
import { obj, opt, str } from "@earendil-works/pi-schema";
import { resolve } from "node:path";
import { reasonOf } from "../session/session-errors.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { AssistantMessage } from "../tree/messages.ts";
import type { AgentSessionEvent } from "./agent-session-events.ts";
import { approvedPrompt, humanizePlanTitle, planFocus, planTitle } from "./approved-plan.ts";
import { PlanFile } from "./plan-file.ts";
import * as notices from "./session-notices.ts";
import type { SessionState } from "./session-state.ts";

const PLAN = "plan";
export const SUBMIT_PLAN = "submit_plan";
/** What the model may use beside `submit_plan`. */
const READ_ONLY: ReadonlySet<string> = new Set(["read", "grep", "find", "ls"]);

/** Carry the plan out in a new session; in this one, compacted; or in this one as it is. */
export type PlanChoice = "execute" | "compact" | "keep";

export interface PlanModeHost {
  readonly sessionManager: SessionManager;
  readonly state: SessionState;
  /** Where plans lie; relative to the working directory. */
  plansDir(): string;
  isStreaming(): boolean;
  emit(event: AgentSessionEvent): void;
  /** The session has a new name, in this entry. */
  named(entryId: string): void;
  newSession(options: { parentSession?: string }): Promise<{ cancelled: boolean }>;
  /** Compacts the current path with a view to `focus`. */
  compact(focus: string): Promise<{ kind: "done" | "cancelled" } | { kind: "failed"; reason: string }>;
  prompt(text: string): Promise<void>;
  followUp(text: string): void;
}

const parameters = obj({
  title: opt(str({ description: "A short name for the plan, such as migrate-mcp-loader" })),
  plan: str({ description: "The whole plan, in Markdown" }),
});

export class PlanMode {
  readonly #host: PlanModeHost;
  /** Handed in during the turn that runs. */
  #handedIn: { title: string; plan: string; path: string } | undefined;
  /** Whether the tools of the run are those for planning. */
  #hasPlanningTools = false;
  #isDeciding = false;

  constructor(host: PlanModeHost) {
    this.#host = host;
  }

  get isOn(): boolean {
    return this.#host.state.mode === PLAN;
  }

  /** The plan that waits for the user's decision. */
  get submitted(): { title: string; path: string } | undefined {
    const title = this.#host.state.modeData?.["title"];
    return this.isOn && typeof title === "string" ? { title, path: this.#file.path } : undefined;
  }

  /** Takes effect with the next request; a call that is not allowed any more is refused at once. */
  start(): void {
    if (!this.isOn) this.#host.state.setMode(PLAN, { planFilePath: this.#fileFor("plan").path });
  }
  /** Throws while an approved plan is made ready: without the mode it could not come back if that comes to nothing. */
  stop(): void {
    if (this.#isDeciding) throw new Error(notices.PLAN_UNDER_WAY);
    this.#end();
  }
  #end(): void {
    if (this.isOn) this.#host.state.setMode("none");
  }

  /** Those of the session's tools that may be used now. */
  tools(all: readonly AgentTool[]): AgentTool[] {
    this.#handedIn = undefined;
    this.#hasPlanningTools = this.isOn;
    if (!this.isOn) return [...all];
    return [...all.filter(({ name }) => READ_ONLY.has(name)), this.#submitTool() as AgentTool];
  }

  /** Why a call is refused now; the mode may have changed after the model was told of its tools. */
  refusal(toolName: string): string | undefined {
    if (!this.isOn) return toolName === SUBMIT_PLAN ? notices.NOT_PLANNING : undefined;
    return READ_ONLY.has(toolName) || toolName === SUBMIT_PLAN ? undefined : notices.refusedWhilePlanning(toolName);
  }

  /** The system prompt with what holds while planning. */
  promptWith(systemPrompt: string): string {
    return this.isOn ? `${systemPrompt.trimEnd()}\n\n${INSTRUCTIONS}\n`.trimStart() : systemPrompt;
  }

  /** An answer is complete: a plan that came with it ends the turn; a change of the mode is told to the model. */
  afterTurn({ stopReason }: Pick<AssistantMessage, "stopReason">): "again" | "end" | undefined {
    const plan = this.#handedIn;
    this.#handedIn = undefined;
    if (plan !== undefined && this.isOn) {
      this.#host.state.setMode(PLAN, { planFilePath: plan.path, title: plan.title });
      this.#host.emit({ type: "plan_submitted", ...plan });
      return "end";
    }
    return stopReason === "toolUse" && this.isOn !== this.#hasPlanningTools ? "again" : undefined;
  }

  /** The submitted plan as its file holds it now. Throws when there is none, or it cannot be read. */
  read(): { title: string; path: string; plan: string } {
    const { submitted } = this;
    if (submitted === undefined) throw new Error(notices.NO_PLAN);
    const file = this.#file.read();
    if ("reason" in file) throw new Error(notices.planUnreadable(submitted.path, file.reason));
    return { ...submitted, plan: file.plan };
  }

  /**
   * Carries the plan out: first what the choice asks for, then an unnamed session gets the plan's title as its name, then
   * the model is asked. Settles when its work is done. A new session or a compaction that does not come about is a
   * warning, and nothing else happens. Rejects when there is no plan to approve.
   */
  async approve(choice: PlanChoice): Promise<void> {
    if (this.#isDeciding) throw new Error(notices.PLAN_DECIDED);
    const approved = this.read();
    this.#isDeciding = true;
    try {
      const refused = await this.#prepared(choice, approved.plan);
      if (refused !== undefined) return this.#host.emit({ type: "notice", level: "warning", text: refused });
    } finally {
      this.#isDeciding = false;
    }
    this.#nameSession(approved.title);
    const prompt = approvedPrompt(approved);
    if (this.#host.isStreaming()) this.#host.followUp(prompt);
    else await this.#host.prompt(prompt);
  }

  /** Why the plan is not carried out; undefined: all is ready for it. */
  async #prepared(choice: PlanChoice, plan: string): Promise<string | undefined> {
    if (choice === "execute") {
      const parentSession = this.#host.sessionManager.getSessionFile();
      const { cancelled } = await this.#host.newSession(parentSession === undefined ? {} : { parentSession });
      return cancelled ? notices.planNotExecuted("the new session was refused") : undefined;
    }
    if (choice === "compact") {
      const outcome = await this.#host.compact(planFocus(plan));
      if (outcome.kind === "cancelled") return notices.planNotExecuted("the compaction was cancelled");
      if (outcome.kind === "failed") return notices.planNotExecuted(outcome.reason);
    }
    this.#end();
    return undefined;
  }

  #nameSession(title: string): void {
    const { sessionManager } = this.#host;
    const name = humanizePlanTitle(title);
    if (name === "" || sessionManager.getSessionName() !== undefined) return;
    const id = sessionManager.setSessionName(name, "auto");
    if (id !== undefined) this.#host.named(id);
  }

  get #folder(): string {
    return resolve(this.#host.sessionManager.getCwd(), this.#host.plansDir());
  }
  #fileFor(title: string): PlanFile {
    return new PlanFile(this.#folder, this.#host.sessionManager.getSessionId(), title);
  }
  /** The one that the path names. */
  get #file(): PlanFile {
    const { sessionManager, state } = this.#host;
    return PlanFile.recorded(this.#folder, sessionManager.getSessionId(), state.modeData?.["planFilePath"]);
  }

  #submitTool(): AgentTool<typeof parameters> {
    return {
      name: SUBMIT_PLAN,
      label: SUBMIT_PLAN,
      description:
        "Hand in the whole plan. It is written to the plan file, the only file you can write, and the user decides: " +
        "it is carried out, or you are told what to change.",
      parameters,
      execute: async (_id, { title: given, plan }, signal) => {
        if (plan.trim() === "") throw new Error(notices.EMPTY_PLAN);
        if (signal?.aborted) throw new Error(notices.PLAN_NOT_TAKEN);
        const title = planTitle({ plan, path: this.#file.path, ...(given === undefined ? {} : { given }) });
        const file = this.#fileFor(title);
        try {
          file.write(plan);
        } catch (error) {
          throw new Error(notices.planNotWritten(file.path, reasonOf(error)), { cause: error });
        }
        this.#handedIn = { title, plan, path: file.path };
        return { content: [{ type: "text", text: notices.planTaken(file.path) }], details: undefined };
      },
    };
  }
}

const INSTRUCTIONS = `Plan mode is on: look at everything, change nothing. There are only ${[...READ_ONLY].join(", ")} and ${SUBMIT_PLAN}; whatever else the text above says about changing files or running commands does not hold now.
- Find out what you need to know. Ask the user where a decision is theirs.
- Then hand in one whole plan with ${SUBMIT_PLAN}: what changes, in which files and in which order, how it is checked, what stays open. It must be enough for somebody who knows nothing of this conversation.
- If the user asks for changes, hand in the whole plan again.`;
