/**
 * `SessionRuns`: one run after the other: what each is given of the session's parts, stopping it, and its end.
 * Part of `agent/`; AgentSession has one.
 */
import type { AgentTool } from "@earendil-works/pi-agent-core";
import type { Repair } from "../tree/messages.ts";
import { reasonOf } from "../session/session-errors.ts";
import { AgentRun } from "./agent-run.ts";
import type { RunHost } from "./agent-run.ts";
import type { AgentSessionOptions, PromptOptions, SessionSettings } from "./agent-session-options.ts";
import type { AgentSessionEvent } from "./agent-session-events.ts";
import type { Delivery, RunMessage } from "./delivery.ts";
import { ModelRouting } from "./model-routing.ts";
import type { PlanMode } from "./plan-mode.ts";
import { RejectedHistory } from "./rejected-history.ts";
import { DEFAULT_RETRY } from "./retry.ts";
import { StreamRules } from "./rule-injection.ts";
import { RunHooks } from "./run-hooks.ts";
import { withServiceTier } from "./service-tier.ts";
import type { SessionCompaction } from "./session-compaction.ts";
import type { SessionHooks } from "./session-hooks.ts";
import type { SessionState } from "./session-state.ts";
import type { SessionTools } from "./session-tools.ts";

/** The session's parts, which are made after this one. */
export interface SessionRunsHost extends Pick<RunHost, "sessionManager" | "paced" | "appended" | "saved"> {
  readonly options: Pick<AgentSessionOptions, "refusal" | "registry" | "rules" | "stopTimeoutMs" | "systemPrompt">;
  settings(): Pick<SessionSettings, "retry">;
  readonly hooks: SessionHooks;
  readonly state: SessionState;
  delivery(): Delivery;
  compaction(): SessionCompaction;
  plan(): PlanMode;
  tools(): SessionTools;
  emit(event: AgentSessionEvent): void;
}

/** Tools stop their processes within moments; what has not stopped by then never listens. */
const STOP_TIMEOUT_MS = 5_000;
/** Repairs that every change of model or failed answer brings; nothing is wrong with the session. */
const ROUTINE_REPAIRS: ReadonlySet<Repair["kind"]> = new Set(["call-id", "thinking", "failed-turn", "empty-turn"]);

export class SessionRuns {
  readonly #host: SessionRunsHost;
  readonly #rejected: RejectedHistory;
  /** Rules that read what the model writes. */
  readonly rules: StreamRules;
  readonly #toldRepairs = new Set<string>();
  #run: AgentRun | undefined;
  #runHooks: RunHooks | undefined;
  /** Hooks are told that a run has ended. */
  #settling: Promise<void> | undefined;

  constructor(host: SessionRunsHost) {
    this.#host = host;
    this.#rejected = new RejectedHistory(host);
    this.rules = new StreamRules({ ...host, rules: host.options.rules ?? [] });
  }

  /** The one that goes on. */
  get current(): AgentRun | undefined {
    return this.#run;
  }
  /** Hooks are told of the end of a run: nothing runs, and nothing new begins. */
  get isSettling(): boolean {
    return this.#settling !== undefined;
  }

  /** Runs until all is done, what extensions have sent for its end included. Rejects without a usable model. */
  async run(message: RunMessage, accepted?: PromptOptions["accepted"]): Promise<void> {
    const { state } = this.#host;
    const delivery = this.#host.delivery();
    state.usableModel();
    state.record();
    delivery.turnEnded();
    const run = this.#start([message, ...(message.role === "user" ? delivery.takeHeld() : [])]);
    accepted?.("started");
    try {
      await Promise.race([run.finished, run.released]);
    } finally {
      await this.#settle(run);
    }
    await delivery.wake();
  }

  /** Stops the run; one that does not end in time is let go, and its last results go to its own branch. */
  async stop(): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    run.abort();
    const timeout = Promise.withResolvers<void>();
    const timer = setTimeout(timeout.resolve, this.#host.options.stopTimeoutMs ?? STOP_TIMEOUT_MS);
    await Promise.race([run.finished.catch(() => undefined), timeout.promise]);
    clearTimeout(timer);
    await this.#settle(run);
    void this.wake();
  }

  /** Begins what extensions sent while nothing could be begun. */
  async wake(): Promise<void> {
    try {
      await this.#host.delivery().wake();
    } catch (error) {
      this.#host.emit({ type: "notice", level: "error", text: reasonOf(error) });
    }
  }

  /** Another session is open: what was told of the one before is told again. */
  sessionChanged(): void {
    this.#toldRepairs.clear();
  }

  async systemPrompt(tools: readonly AgentTool[]): Promise<string> {
    return this.#host.plan().promptWith(await this.#ownPrompt(tools));
  }
  /** As far as it is known without waiting; "" where it is not. */
  systemPromptNow(): string {
    const own = this.#ownPrompt(this.#host.tools().current);
    return typeof own === "string" ? this.#host.plan().promptWith(own) : "";
  }

  /** What hooks have put in place for the run, else the session's. */
  #ownPrompt(tools: readonly AgentTool[]): string | Promise<string> {
    const { options, sessionManager } = this.#host;
    return this.#runHooks?.systemPrompt ?? options.systemPrompt?.({ cwd: sessionManager.getCwd(), tools }) ?? "";
  }

  #start(messages: [RunMessage, ...RunMessage[]]): AgentRun {
    this.#rejected.begin();
    this.rules.begin();
    this.#runHooks = new RunHooks(this.#host.hooks);
    this.#run = new AgentRun(this.#hostFor(this.#runHooks), messages);
    return this.#run;
  }

  #hostFor(hooks: RunHooks): RunHost {
    const { sessionManager, options, state, emit, paced, appended, saved } = this.#host;
    const [delivery, tools, plan] = [this.#host.delivery(), this.#host.tools(), this.#host.plan()];
    const routing = new ModelRouting({ ...this.#host, registry: options.registry });
    const compaction = this.#host.compaction().forRun(() => routing.model);
    return {
      sessionManager,
      hooks,
      retry: this.#host.settings().retry ?? DEFAULT_RETRY,
      stream: routing.stream,
      route: (ahead) => routing.route(ahead),
      model: () => routing.model,
      thinkingLevel: () => routing.thinkingLevel,
      tools: (signal) => tools.forRequest(signal),
      haveToolsChanged: () => tools.haveChanged,
      take: (kind) => delivery.take(kind),
      delivered: (message) => delivery.written(message),
      turnEnded: (branch) => delivery.turnEnded(branch),
      beforeRequest: (branch, signal) => compaction.beforeRequest(branch, signal),
      recover: async (answer, branch, signal) =>
        (await compaction.recover(answer, branch, signal)) || this.#rejected.recover(answer),
      interruption: (event, branch) => this.rules.interruption(event, branch),
      refusal: (name) => options.refusal?.(name) ?? plan.refusal(name),
      afterTurn: (answer, branch) => {
        const told = this.rules.afterTurn(branch);
        return plan.afterTurn(answer) ?? told;
      },
      payload: (payload, model) => withServiceTier(payload, model, state.serviceTier),
      sent: (payload) => this.#rejected.sent(payload),
      basePrompt: (available) => this.#ownPrompt(available),
      systemPrompt: (available) => this.systemPrompt(available),
      emit,
      paced,
      appended,
      saved,
      repaired: (repair) => this.#repaired(repair),
      amended: (conversation) => this.#rejected.repaired(conversation),
    };
  }

  /** Whoever comes second waits until the hooks know, too. */
  async #settle(run: AgentRun): Promise<void> {
    if (this.#run === run) {
      run.release();
      this.#run = undefined;
      this.#runHooks = undefined;
      this.#host.delivery().runEnded();
      this.#host.emit({ type: "agent_settled", aborted: run.aborted });
      if (this.#host.hooks.has("agent_settled")) this.#settling = this.#tellSettled(run.aborted);
    }
    await this.#settling;
  }

  async #tellSettled(aborted: boolean): Promise<void> {
    // What a hook does at once must find the session settling already.
    await Promise.resolve();
    await this.#host.hooks.emit("agent_settled", { aborted });
    this.#settling = undefined;
  }

  #repaired(repair: Repair): void {
    if (ROUTINE_REPAIRS.has(repair.kind) || this.#toldRepairs.has(repair.kind)) return;
    this.#toldRepairs.add(repair.kind);
    this.#host.emit({ type: "notice", level: "warning", text: repair.text });
  }
}
