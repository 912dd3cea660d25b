/**
 * `AgentSession`: a conversation with a model on a session: prompts, the queue, moves in the tree, model and name.
 * Part of `agent/`; the terminal, the other modes and programs that embed bough hold one. It mostly delegates: a turn
 * is an AgentRun, jumps are navigation.ts, changes of session branching.ts.
 */
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentTool } from "@earendil-works/pi-agent-core";
import type { AgentMessage, BashExecutionMessage, ImageContent, Repair, TextContent } from "../tree/messages.ts";
import type { CompactionEntry } from "../tree/entries.ts";
import type { UsageTotals } from "../tree/usage.ts";
import { stateDir } from "../session/locations.ts";
import { reasonOf } from "../session/session-errors.ts";
import type { SessionManager } from "../session/session-manager.ts";
import { AgentRun } from "./agent-run.ts";
import type { AgentSessionEvent, AgentSessionListener } from "./agent-session-events.ts";
import { BranchWriter } from "./branch-writer.ts";
import { branchBefore, cloneBranch, resumeSession, startNewSession } from "./branching.ts";
import type { BranchingHost, NewSessionOptions } from "./branching.ts";
import type { CompactOptions } from "./compaction.ts";
import { COMPACTION_RUNS } from "./compaction-notices.ts";
import { DEFAULT_COMPACTION } from "./compaction-settings.ts";
import type { CompactionSettings } from "./compaction-settings.ts";
import { contextUsage } from "./context-usage.ts";
import type { ContextUsage } from "./context-usage.ts";
import { Delivery } from "./delivery.ts";
import type { CustomMessageOptions, RunMessage } from "./delivery.ts";
import { NO_HOOKS } from "./hook-port.ts";
import type { CustomMessageDraft, HookPort, InputSource, SessionStartReason } from "./hook-port.ts";
import type { QueuedKind, QueuedMessage, QueueMode } from "./message-queue.ts";
import type { ModelRegistry } from "./models.ts";
import { SessionMcp } from "./mcp/session-mcp.ts";
import type { SessionMcpOptions } from "./mcp/session-mcp.ts";
import { navigateTree, retrace } from "./navigation.ts";
import type { NavigateTreeOptions, NavigateTreeResult, NavigationHost, RetraceResult } from "./navigation.ts";
import { PlanMode } from "./plan-mode.ts";
import { promptMessage, promptTexts } from "./prompt-entries.ts";
import type { Prompt } from "./prompt-entries.ts";
import type { Model, ThinkingLevel } from "./providers.ts";
import { DEFAULT_RETRY } from "./retry.ts";
import type { RetrySettings } from "./retry.ts";
import { RejectedHistory } from "./rejected-history.ts";
import { SessionCompaction } from "./session-compaction.ts";
import type { SessionCompactionHost } from "./session-compaction.ts";
import type { UnsentMessage } from "./queue-file.ts";
import type { StreamRule } from "./rule-files.ts";
import { StreamRules } from "./rule-injection.ts";
import { RunHooks } from "./run-hooks.ts";
import { withServiceTier } from "./service-tier.ts";
import { SessionHolding } from "./session-holding.ts";
import { SessionHooks } from "./session-hooks.ts";
import { SessionNaming } from "./session-naming.ts";
import * as notices from "./session-notices.ts";
import type { BranchSummarySettings } from "./settings.ts";
import { SessionState } from "./session-state.ts";
import type { SelectSource, SessionStateHost } from "./session-state.ts";
import { SessionTools } from "./session-tools.ts";
import { SessionSaving } from "./session-saving.ts";
import { askInput, runAsked } from "./user-input.ts";

export interface AgentSessionOptions {
  sessionManager: SessionManager;
  registry: ModelRegistry;
  /** The model where the session's path names none. */
  model?: Model;
  /** The level where the session's path names none. Default "off". */
  thinkingLevel?: ThinkingLevel;
  /** Made anew for each run, so that they work where the session works. Default: none. */
  tools?: (cwd: string) => AgentTool[];
  /** What extensions make of all tools: they add, replace and leave out. Asked before each request. Default: nothing. */
  extendTools?: (tools: AgentTool[]) => AgentTool[];
  /** MCP servers, started at once, whose tools are added. Default: none. */
  mcp?: SessionMcpOptions;
  /** Built anew for each run. */
  systemPrompt?: (about: { cwd: string; tools: readonly AgentTool[] }) => string | Promise<string>;
  hooks?: HookPort;
  retry?: RetrySettings;
  /** How many queued messages one delivery takes; default "one-at-a-time". */
  steeringMode?: QueueMode;
  followUpMode?: QueueMode;
  /** Names the sessions; undefined: they are named after the first line of the first prompt. */
  smallModel?: Model;
  /** Writes the summaries of branches and compactions; undefined: the session's model does. */
  summaryModel?: Model;
  branchSummary?: Pick<BranchSummarySettings, "reserveTokens">;
  compaction?: CompactionSettings;
  /** What the user should know from the start, such as mistakes in settings; told to the first listener. */
  notices?: readonly string[];
  /** Why a call is refused that this session's own mode allows; undefined: it is not. */
  refusal?: (toolName: string) => string | undefined;
  /** The folder whose settings, rules and servers are given here. Default: the session's at the start. */
  projectDir?: string;
  /** Rules that read what the model writes; see rule-files.ts. Default: none. */
  rules?: readonly StreamRule[];
  /** Where plans lie, relative to the working directory. Default `plans` in the state folder. */
  plansDir?: string;
  /** Folder for outputs of the user's commands that are too long to show; a new temporary one by default. */
  commandOutputDir?: string;
  /**
   * When the session cannot be written: true goes on in memory, with a notice, and saves as soon as that is possible;
   * false, the default, rejects and asks the model nothing more.
   */
  goesOnUnsaved?: boolean;
  /** How long a stopped turn is waited for, in milliseconds; a tool that takes longer finishes on its own branch. */
  stopTimeoutMs?: number;
}

export interface PromptOptions {
  images?: ImageContent[];
  /** Where it comes from; default "interactive". */
  source?: InputSource;
  /** While a turn runs: queue it, instead of rejecting. */
  streamingBehavior?: QueuedKind;
  /** Called when nothing can refuse it any more; "handled": an extension has dealt with it. */
  accepted?: (disposition: "started" | "queued" | "handled") => void;
}

/** Tools stop their processes within moments; what has not stopped by then never listens. */
const STOP_TIMEOUT_MS = 5_000;
/** Between two looks whether anything still runs; milliseconds. */
const IDLE_CHECK_MS = 50;
/** Repairs that every change of model or failed answer brings; nothing is wrong with the session. */
const ROUTINE_REPAIRS: ReadonlySet<Repair["kind"]> = new Set(["call-id", "thinking", "failed-turn", "empty-turn"]);

export class AgentSession {
  readonly sessionManager: SessionManager;
  /** Model, thinking level, service tier, mode and tool selection of the current path. */
  readonly state: SessionState;
  /** Planning before changing: the model looks, hands in a plan, the user decides. */
  readonly plan: PlanMode;
  /** Summaries in place of the older part of the conversation, and what the next request holds. */
  readonly compaction: SessionCompaction;
  readonly #rules: StreamRules;
  /** The MCP servers, and which of their tools this branch uses. */
  readonly mcp: SessionMcp;
  readonly #options: AgentSessionOptions;
  readonly #projectDir: string;
  readonly #hooks: SessionHooks;
  readonly #tools: SessionTools;
  readonly #delivery: Delivery;
  readonly #saving: SessionSaving;
  readonly #naming: SessionNaming;
  readonly #holding: SessionHolding;
  readonly #rejected: RejectedHistory;
  readonly #listeners = new Set<AgentSessionListener>();
  readonly #paces = new Set<() => Promise<void> | undefined>();
  readonly #unheard: AgentSessionEvent[] = [];
  readonly #toldRepairs = new Set<string>();
  #run: AgentRun | undefined;
  #runHooks: RunHooks | undefined;
  /** Hooks are told that a run has ended. */
  #settling: Promise<unknown> | undefined;
  #command: AbortController | undefined;
  /** A jump or a change of session under way. */
  #move: AbortController | undefined;
  #isDisposed = false;
  #usage: { key: string; value: ContextUsage } | undefined;

  /** Takes over the model and thinking level of the session's path. */
  constructor(options: AgentSessionOptions) {
    this.#options = options;
    this.sessionManager = options.sessionManager;
    this.#projectDir = options.projectDir ?? this.cwd;
    this.#hooks = new SessionHooks(options.hooks ?? NO_HOOKS, (event) => this.#emit(event));
    const host = {
      sessionManager: this.sessionManager,
      registry: options.registry,
      hooks: this.#hooks,
      emit: (event: AgentSessionEvent) => this.#emit(event),
      appended: (id: string) => this.#appended(id),
    };
    this.state = new SessionState(host, options.model, options.thinkingLevel ?? "off");
    this.#rejected = new RejectedHistory(host);
    this.compaction = this.#newCompaction(host);
    this.#rules = new StreamRules({ ...host, rules: options.rules ?? [] });
    this.plan = new PlanMode({
      ...host,
      state: this.state,
      plansDir: options.plansDir ?? join(stateDir(), "plans"),
      isStreaming: () => this.isStreaming,
      named: (id) => this.#named(id),
      newSession: (about) => this.newSession(about),
      compact: async (focus) => {
        const outcome = await this.compaction.run({ focus });
        // What is too small to be compacted needs it not.
        return outcome.kind === "written" || outcome.kind === "nothing" ? { kind: "done" } : outcome;
      },
      prompt: (text) => this.prompt(text),
      followUp: (text) => this.followUp(text),
    });
    const { cwd } = this;
    this.mcp = new SessionMcp({ ...host, cwd, state: this.state, outputDir: options.commandOutputDir }, options.mcp);
    this.#tools = new SessionTools({
      own: () => options.tools?.(this.cwd) ?? [],
      extended: options.extendTools,
      mcp: this.mcp,
      plan: this.plan,
    });
    this.#delivery = this.#newDelivery(host);
    this.#naming = new SessionNaming({
      ...host,
      smallModel: () => options.smallModel,
      named: (id) => this.#named(id),
    });
    this.#saving = new SessionSaving(host, options.goesOnUnsaved ?? false);
    this.#holding = new SessionHolding({
      sessionManager: this.sessionManager,
      emit: (event) => this.#emit(event),
      changed: (reason) => {
        this.state.takeOver();
        if (reason === "take-over") this.#delivery.restore();
        this.#emit({ type: "session_changed", reason });
      },
      whenIdle: (change) => this.#whenIdle(change),
    });
    this.#holding.attend();
    for (const text of options.notices ?? []) this.#emit({ type: "notice", level: "warning", text });
    this.state.takeOver();
    this.#delivery.restore();
  }

  #newDelivery(host: Pick<SessionStateHost, "sessionManager" | "emit" | "appended">): Delivery {
    const { steeringMode: steer = "one-at-a-time", followUpMode: followUp = "one-at-a-time" } = this.#options;
    return new Delivery({
      ...host,
      modes: { steer, followUp },
      shown: (message) => {
        for (const type of ["message_start", "message_end"] as const) {
          this.#emit({ type, message });
          void this.#hooks.emit(type, { message });
        }
      },
      isRunning: () => this.isStreaming,
      isStopping: () => this.isStopping,
      isBusy: () => this.#move !== undefined || this.#settling !== undefined,
      isFollowing: () => this.isFollowing,
      input: (prompt, source, queuedAs) => askInput(this.#hooks, prompt, source, queuedAs),
      run: (message) => this.#runWith(message),
    });
  }

  #newCompaction(host: SessionStateHost & Pick<SessionCompactionHost, "registry">): SessionCompaction {
    const { compaction = DEFAULT_COMPACTION, summaryModel } = this.#options;
    return new SessionCompaction({
      ...host,
      settings: compaction,
      summaryModel,
      model: () => this.model,
      usableModel: () => this.state.usableModel(),
      contextTokens: () => this.getContextUsage()?.tokens ?? 0,
      emitHook: (name, event) => this.#hooks.emit(name, event),
      saved: () => this.#saving.workSaved(),
      isFollowing: () => this.isFollowing,
      stopTurn: () => (this.isStreaming ? this.#stopTurn() : undefined),
      moving: (move) => this.#moving(move),
      navigateTree: (targetId, given) => this.navigateTree(targetId, given),
      sendQueued: () => this.#delivery.sendQueued(),
      tools: () => this.#tools.forRequest(),
      systemPrompt: (tools) => this.#systemPrompt(tools),
    });
  }

  get #summaryModel(): Model | undefined {
    return this.#options.summaryModel ?? this.model;
  }

  get cwd(): string {
    return this.sessionManager.getCwd();
  }
  get model(): Model | undefined {
    return this.state.model;
  }
  get thinkingLevel(): ThinkingLevel {
    return this.state.thinkingLevel;
  }
  /** Whether a prompt is being worked on, waits for retries included. */
  get isStreaming(): boolean {
    return this.#run !== undefined;
  }
  /** The turn was stopped, and ends. */
  get isStopping(): boolean {
    return this.#run?.aborted ?? false;
  }
  /** Aborted when the turn is stopped; undefined when none runs. */
  get signal(): AbortSignal | undefined {
    return this.#run?.signal;
  }
  get isBashRunning(): boolean {
    return this.#command !== undefined;
  }
  /** The older part of the conversation is being summarised, by `compact` or in the middle of a turn. */
  get isCompacting(): boolean {
    return this.compaction.isRunning;
  }
  /** Another program writes the session; this one shows it as it grows. */
  get isFollowing(): boolean {
    return this.#holding.isFollowing;
  }
  /** Nothing runs: no turn, no command of the user, no jump. */
  get isIdle(): boolean {
    return !this.isStreaming && !this.isBashRunning && this.#move === undefined;
  }
  /** Whether a jump may leave a summary: there is a model for it, and the session is written here. */
  get canSummarise(): boolean {
    return this.#summaryModel !== undefined && !this.sessionManager.isReadOnly();
  }
  /** The conversation of the current path. */
  get messages(): AgentMessage[] {
    return this.sessionManager.buildSessionContext().messages;
  }
  /** What waits to be sent, oldest first. */
  get queue(): readonly QueuedMessage[] {
    return this.#delivery.typed;
  }
  /** Whether anything waits to be sent, of extensions as well. */
  get hasPendingMessages(): boolean {
    return this.#delivery.hasWaiting;
  }

  /** The session is in place: told to the hooks, once. Modes call it when they can show what the hooks want shown. */
  async begin(reason: SessionStartReason = "startup"): Promise<void> {
    await this.#hooks.opened({ reason });
  }
  /** Tells the hooks to let go, does what makes them anew, and begins again. Rejects while anything runs. */
  async reload(renew: () => Promise<void>): Promise<void> {
    if (this.isStreaming) throw new Error(notices.TURN_RUNS);
    await this.#moving(() => this.#hooks.replacing({ reason: "reload" }, undefined, renew));
  }

  /**
   * Tells `listener` of everything that happens, and of notices nobody has heard, until the returned function is called.
   * A turn waits for `pace` after each of its events, unless it is stopped: for who passes them on to a slow reader.
   */
  subscribe(listener: AgentSessionListener, options: { pace?: () => Promise<void> | undefined } = {}): () => void {
    const { pace } = options;
    this.#listeners.add(listener);
    if (pace !== undefined) this.#paces.add(pace);
    for (const notice of this.#unheard.splice(0)) this.#emit(notice);
    return () => {
      this.#listeners.delete(listener);
      if (pace !== undefined) this.#paces.delete(pace);
    };
  }

  /**
   * Sends a prompt and settles when its answer, the tools, retries and everything queued behind it are done. A provider
   * that fails does not reject: the answer says so. Waits for a turn that was stopped. Rejects while a turn or a jump is
   * under way, without a usable model, and, unless it goes on unsaved, when the session cannot be written; the model is
   * not asked then.
   */
  async prompt(text: string, options: PromptOptions = {}): Promise<void> {
    const { images, source = "interactive", streamingBehavior, accepted } = options;
    if (this.isStopping) await this.#stopTurn();
    const given = { text, ...(images === undefined ? {} : { images }) };
    this.#refuse(given, streamingBehavior);
    let prompt: Prompt | undefined = given;
    if (this.#hooks.has("input")) {
      prompt = await askInput(this.#hooks, given, source, this.isStreaming ? streamingBehavior : undefined);
      if (prompt === undefined) return accepted?.("handled");
      this.#refuse(prompt, streamingBehavior);
    }
    if (this.isStreaming && streamingBehavior !== undefined) {
      this.#delivery.queue(streamingBehavior, prompt.text, prompt.images);
      return accepted?.("queued");
    }
    await this.#runWith(promptMessage(prompt), accepted);
  }

  /** Throws what keeps a prompt from being taken. */
  #refuse({ text, images }: Prompt, streamingBehavior: QueuedKind | undefined): void {
    if (this.isStreaming && streamingBehavior === undefined) throw new Error(notices.PROMPT_WHILE_RUNNING);
    if (this.#move !== undefined) throw new Error(this.isCompacting ? COMPACTION_RUNS : notices.JUMP_RUNS);
    if (this.isFollowing) throw new Error(notices.FOLLOWING);
    if (text.trim() === "" && !images?.length) throw new Error(notices.EMPTY_PROMPT);
  }

  /** Queues a message that goes in after the current tool calls, or behind the next prompt. Returns its id. */
  steer(text: string, images?: readonly ImageContent[]): string {
    return this.#delivery.queue("steer", text, images);
  }
  /** Queues a message that goes in when the agent would stop. Returns its id. */
  followUp(text: string, images?: readonly ImageContent[]): string {
    return this.#delivery.queue("followUp", text, images);
  }
  /** A message of an extension, for the model and, unless hidden, the user; see `Delivery.sendCustom`. */
  async sendCustomMessage(message: CustomMessageDraft, options?: CustomMessageOptions): Promise<void> {
    await this.#delivery.sendCustom(message, options);
  }
  /** A message of an extension in the user's name; it always brings an answer. See `Delivery.sendUser`. */
  async sendUserMessage(
    content: string | (TextContent | ImageContent)[],
    options?: { deliverAs?: QueuedKind },
  ): Promise<void> {
    await this.#delivery.sendUser(content, options);
  }
  /**
   * The queued messages of this session that were never sent because its program ended: they are for the editor, and are
   * given once.
   */
  takeUnsent(): UnsentMessage[] {
    return this.#delivery.takeUnsent();
  }
  /** Takes what was typed out of the queue, for the editor. */
  takeQueue(): QueuedMessage[] {
    return this.#delivery.takeTyped();
  }
  /** False when it has been sent or taken already. */
  removeQueued(id: string): boolean {
    return this.#delivery.remove(id);
  }

  /** Stops the turn and waits until all its results are written; stops the question to extensions before a jump. */
  async abort(): Promise<void> {
    if (this.isStreaming) await this.#stopTurn();
    else this.#move?.abort();
  }
  /** Ends the wait before a retry: the failed answer stands. */
  abortRetry(): void {
    this.#run?.abortRetry();
  }

  /** Runs a shell command of the user and records it. Rejects while another one runs, and when it cannot be started. */
  async runBash(command: string, options: { excludeFromContext?: boolean } = {}): Promise<BashExecutionMessage> {
    if (this.isBashRunning) throw new Error(notices.COMMAND_RUNS);
    const controller = new AbortController();
    this.#command = controller;
    try {
      const writer = new BranchWriter(this.sessionManager);
      const message = await runAsked(this.#hooks, command, {
        ...options,
        cwd: this.cwd,
        signal: controller.signal,
        outputDir: this.#options.commandOutputDir,
        onOutput: (output) => this.#emit({ type: "bash_update", output }),
      });
      const id = writer.append(message);
      await this.#saving.workSaved();
      if (id !== undefined) this.#appended(id);
      return message;
    } finally {
      this.#command = undefined;
    }
  }
  abortBash(): void {
    this.#command?.abort();
  }

  /** Takes effect with the next request; recorded when it differs from what the path says. */
  setModel(model: Model, source?: SelectSource): void {
    this.state.setModel(model, source);
  }
  /** Sets the nearest level the model has. */
  setThinkingLevel(level: ThinkingLevel): void {
    this.state.setThinkingLevel(level);
  }
  /** Goes to the next level; undefined when the model has no other. */
  cycleThinkingLevel(): ThinkingLevel | undefined {
    const levels = this.availableThinkingLevels();
    const next = levels[(levels.indexOf(this.thinkingLevel) + 1) % levels.length];
    if (next === undefined || levels.length < 2) return undefined;
    this.setThinkingLevel(next);
    return next;
  }
  availableThinkingLevels(): ThinkingLevel[] {
    return this.state.availableThinkingLevels();
  }

  /** Moves to another entry of this session; see navigation.ts. Rejects while a turn runs unless `abort` is given. */
  async navigateTree(targetId: string, options: NavigateTreeOptions = {}): Promise<NavigateTreeResult> {
    return this.#navigating(options, (host) => navigateTree(host, targetId, options));
  }
  /** Moves to where the leaf was before the latest move, if there was one; otherwise like `navigateTree`. */
  async back(options: { abort?: boolean } = {}): Promise<RetraceResult> {
    return this.#navigating(options, (host) => retrace(host, "back", options));
  }
  /** Undoes the latest `back()`; otherwise like it. */
  async forward(options: { abort?: boolean } = {}): Promise<RetraceResult> {
    return this.#navigating(options, (host) => retrace(host, "forward", options));
  }

  /** Summarises the older part of the conversation; see `SessionCompaction.compact`. */
  async compact(options: CompactOptions = {}): Promise<{ cancelled: boolean; entry?: CompactionEntry }> {
    return this.compaction.compact(options);
  }

  /** A new session that ends before the user's message `entryId`, whose text is returned for the editor. */
  async branch(entryId: string): Promise<{ selectedText: string; cancelled: boolean }> {
    return this.#changingSession((host) => branchBefore(host, entryId));
  }
  /** A new session with a copy of the path to an entry; default the leaf. */
  async clone(entryId?: string): Promise<{ cancelled: boolean }> {
    return this.#changingSession((host) => cloneBranch(host, entryId));
  }
  /** An empty session. */
  async newSession(options: NewSessionOptions = {}): Promise<{ cancelled: boolean }> {
    return this.#changingSession((host) => startNewSession(host, options));
  }
  /**
   * The session of a file; on an error the current one stays. With `follow` one that another program may write is only
   * read, and shown as it grows.
   */
  async switchSession(path: string, options: { follow?: boolean } = {}): Promise<{ cancelled: boolean }> {
    return this.#changingSession((host) => resumeSession(host, path, { readOnly: options.follow === true }));
  }

  /**
   * Makes this program the one that writes the session it follows: at once when the other is gone, else the other is asked
   * and waited for. Rejects when `abort` ends the wait.
   */
  async takeOver(): Promise<void> {
    await this.#moving((signal) => this.#holding.takeOver(signal));
  }

  /** What the model may call outside of plan mode. Waits a little for MCP servers that are being started. */
  async availableTools(signal?: AbortSignal): Promise<AgentTool[]> {
    return this.#tools.available(signal);
  }

  /** The system prompt of the run, or of the next one as far as it is known without waiting; "" where it is not. */
  getSystemPrompt(): string {
    const own = this.#runHooks?.systemPrompt ?? this.#ownPrompt(this.#tools.current);
    return typeof own === "string" ? this.plan.promptWith(own) : "";
  }

  /** All prompts with text, on all branches, in the order of the file. */
  getUserMessages(): { entryId: string; text: string }[] {
    return promptTexts(this.sessionManager);
  }
  /** Names the session; "" clears. */
  setSessionName(name: string): void {
    const id = this.sessionManager.setSessionName(name, "user");
    if (id !== undefined) this.#named(id);
  }
  /** Labels an entry; undefined or "" clears. */
  setLabel(entryId: string, label: string | undefined): void {
    this.#appended(this.sessionManager.appendLabelChange(entryId, label));
  }
  /** Records state of an extension, which the model never sees. Returns the entry's id. */
  appendCustomEntry(customType: string, data?: unknown): string {
    const id = this.sessionManager.appendCustomEntry(customType, data);
    this.#appended(id);
    return id;
  }
  /** How full the context is; undefined without a model. */
  getContextUsage(): ContextUsage | undefined {
    const { model } = this;
    if (model === undefined) return undefined;
    const key = `${this.sessionManager.getSessionId()} ${this.sessionManager.getLeafId()} ${model.provider}/${model.id}`;
    if (this.#usage?.key !== key) this.#usage = { key, value: contextUsage(this.sessionManager, model) };
    return this.#usage.value;
  }
  /** Tokens and money of all branches. */
  getUsage(): UsageTotals {
    return this.sessionManager.getUsage();
  }

  /** Writes all of the session to a new file and goes on in it; see `SessionManager.saveAs`. Returns the path. */
  saveAs(path: string): string {
    if (this.#move !== undefined) throw new Error(notices.JUMP_RUNS);
    return this.sessionManager.saveAs(resolve(this.cwd, path));
  }

  /** Stops everything and saves; rejects when something is unsaved. The SessionManager stays open: whoever made it closes it. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    this.abortBash();
    this.#move?.abort();
    this.#holding.dispose();
    await Promise.all([this.#stopTurn(), this.#naming.dispose()]);
    await Promise.all([this.#hooks.leaving({ reason: "quit" }), this.mcp.dispose()]);
    this.#delivery.dispose();
    await this.sessionManager.flush();
  }

  async #runWith(message: RunMessage, accepted?: PromptOptions["accepted"]): Promise<void> {
    if (this.#move !== undefined) throw new Error(notices.JUMP_RUNS);
    this.state.usableModel();
    this.state.record();
    this.#delivery.turnEnded();
    const run = this.#startRun([message, ...(message.role === "user" ? this.#delivery.takeHeld() : [])]);
    accepted?.("started");
    try {
      await Promise.race([run.finished, run.released]);
    } finally {
      await this.#settle(run);
    }
    await this.#delivery.wake();
  }

  #startRun(messages: [RunMessage, ...RunMessage[]]): AgentRun {
    const { registry, retry = DEFAULT_RETRY } = this.#options;
    const compaction = this.compaction.forRun();
    const hooks = new RunHooks(this.#hooks);
    this.#rejected.begin();
    this.#rules.begin();
    this.#runHooks = hooks;
    this.#run = new AgentRun(
      {
        sessionManager: this.sessionManager,
        hooks,
        retry,
        stream: registry.stream,
        model: () => this.state.usableModel(),
        thinkingLevel: () => this.thinkingLevel,
        tools: (signal) => this.#tools.forRequest(signal),
        haveToolsChanged: () => this.#tools.haveChanged,
        take: (kind) => this.#delivery.take(kind),
        delivered: (message) => this.#delivery.written(message),
        turnEnded: (branch) => this.#delivery.turnEnded(branch),
        beforeRequest: (branch, signal) => compaction.beforeRequest(branch, signal),
        recover: async (answer, branch, signal) =>
          (await compaction.recover(answer, branch, signal)) || this.#rejected.recover(answer),
        interruption: (event, branch) => this.#rules.interruption(event, branch),
        refusal: (name) => this.#options.refusal?.(name) ?? this.plan.refusal(name),
        afterTurn: (answer, branch) => {
          const told = this.#rules.afterTurn(branch);
          return this.plan.afterTurn(answer) ?? told;
        },
        payload: (payload, model) => withServiceTier(payload, model, this.state.serviceTier),
        sent: (payload) => this.#rejected.sent(payload),
        basePrompt: (available) => this.#ownPrompt(available),
        systemPrompt: (available) => this.#systemPrompt(available),
        emit: (event) => this.#emit(event),
        paced: () => this.#paced(),
        appended: (id) => this.#appended(id),
        saved: () => this.#saving.workSaved(),
        repaired: (repair) => this.#repaired(repair),
        amended: (conversation) => this.#rejected.repaired(conversation),
      },
      messages,
    );
    return this.#run;
  }

  #ownPrompt(tools: readonly AgentTool[]): string | Promise<string> {
    return this.#options.systemPrompt?.({ cwd: this.cwd, tools }) ?? "";
  }
  async #systemPrompt(tools: readonly AgentTool[]): Promise<string> {
    return this.plan.promptWith(this.#runHooks?.systemPrompt ?? (await this.#ownPrompt(tools)));
  }

  /** Stops the turn; one that does not end in time is let go, and its last results go to its own branch. */
  async #stopTurn(): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    run.abort();
    const timeout = Promise.withResolvers<void>();
    const timer = setTimeout(timeout.resolve, this.#options.stopTimeoutMs ?? STOP_TIMEOUT_MS);
    await Promise.race([run.finished.catch(() => undefined), timeout.promise]);
    clearTimeout(timer);
    await this.#settle(run);
    void this.#wake();
  }

  /** Whoever comes second waits until the hooks know, too. */
  async #settle(run: AgentRun): Promise<void> {
    if (this.#run === run) {
      run.release();
      this.#run = undefined;
      this.#runHooks = undefined;
      this.#delivery.runEnded();
      this.#emit({ type: "agent_settled", aborted: run.aborted });
      if (this.#hooks.has("agent_settled")) this.#settling = this.#tellSettled(run.aborted);
    }
    await this.#settling;
  }

  async #tellSettled(aborted: boolean): Promise<void> {
    // What a hook does at once must find the session settling already.
    await Promise.resolve();
    await this.#hooks.emit("agent_settled", { aborted });
    this.#settling = undefined;
  }

  /** When nothing runs any more: no turn, no command of the user, no jump. */
  async waitForIdle(): Promise<void> {
    while (!this.isIdle) await sleep(IDLE_CHECK_MS);
  }
  async #whenIdle(change: () => Promise<void>): Promise<void> {
    await this.waitForIdle();
    await this.#moving(change);
  }

  /** What extensions sent while nothing could be begun. */
  async #wake(): Promise<void> {
    try {
      await this.#delivery.wake();
    } catch (error) {
      this.#emit({ type: "notice", level: "error", text: reasonOf(error) });
    }
  }

  /** One jump or change of session at a time. */
  async #moving<T>(move: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#move !== undefined) throw new Error(notices.JUMP_RUNS);
    const controller = new AbortController();
    this.#move = controller;
    try {
      return await move(controller.signal);
    } finally {
      this.#move = undefined;
      if (!this.#isDisposed) void this.#wake();
    }
  }

  async #navigating<T>(options: { abort?: boolean }, move: (host: NavigationHost) => Promise<T>): Promise<T> {
    if (this.isStreaming && options.abort !== true) throw new Error(notices.TURN_RUNS);
    return this.#moving((signal) =>
      move({
        sessionManager: this.sessionManager,
        hooks: this.#hooks,
        signal,
        summaries: {
          registry: this.#options.registry,
          model: () => this.#summaryModel,
          thinkingLevel: () => this.thinkingLevel,
          reserveTokens: this.#options.branchSummary?.reserveTokens,
          emit: (event) => this.#emit(event),
        },
        emitHook: (name, event) => this.#hooks.emit(name, event),
        stopTurn: () => this.#stopTurn(),
        appended: (id) => this.#appended(id),
        moved: async () => {
          await this.#saving.saved();
          this.state.takeOver();
          this.#emit({ type: "session_changed", reason: "tree" });
        },
      }),
    );
  }

  async #changingSession<T>(change: (host: BranchingHost) => Promise<T>): Promise<T> {
    if (this.isStreaming) throw new Error(notices.TURN_RUNS);
    if (this.isBashRunning) throw new Error(notices.COMMAND_RUNS);
    return this.#moving(() =>
      change({
        sessionManager: this.sessionManager,
        projectDir: this.#projectDir,
        hooks: this.#hooks,
        emit: (event) => this.#emit(event),
        appended: (id) => this.#appended(id),
        saved: () => this.#saving.saved(),
        dropQueue: () => this.#delivery.drop(),
        changed: async (reason, keepState) => {
          this.#toldRepairs.clear();
          await this.#saving.saved();
          if (!keepState) this.state.takeOver();
          this.#holding.attend();
          this.#delivery.restore();
          this.#emit({ type: "session_changed", reason });
        },
      }),
    );
  }

  #paced(): Promise<unknown> | undefined {
    const waits = [...this.#paces].map((pace) => pace()).filter((wait) => wait !== undefined);
    return waits.length === 0 ? undefined : Promise.all(waits);
  }

  #repaired(repair: Repair): void {
    if (ROUTINE_REPAIRS.has(repair.kind) || this.#toldRepairs.has(repair.kind)) return;
    this.#toldRepairs.add(repair.kind);
    this.#emit({ type: "notice", level: "warning", text: repair.text });
  }

  #named(entryId: string): void {
    this.#appended(entryId);
    const name = this.sessionManager.getSessionName();
    this.#emit({ type: "session_info_changed", name });
    void this.#hooks.emit("session_info_changed", { name });
  }

  #appended(id: string): void {
    const entry = this.sessionManager.getEntry(id);
    if (entry === undefined) return;
    this.#delivery.appended(entry);
    this.#emit({ type: "entry_appended", entry });
    this.#naming.consider(entry);
  }

  /** A listener that throws is a mistake of its own; it must not stop a turn. */
  #emit(event: AgentSessionEvent): void {
    if (this.#listeners.size === 0 && event.type === "notice") this.#unheard.push(event);
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : String(error));
      }
    }
  }
}
