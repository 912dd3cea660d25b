/**
 * `AgentSession`: a conversation with a model on a session: prompts, the queue, moves in the tree, model and name.
 * Part of `agent/`; the terminal, the other modes and programs that embed bough hold one. It mostly delegates: a turn
 * is an AgentRun, jumps are navigation.ts, changes of session branching.ts.
 */
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentTool } from "@earendil-works/pi-agent-core";
import type { AgentMessage, BashExecutionMessage, ImageContent, TextContent } from "../tree/messages.ts";
import type { CompactionEntry } from "../tree/entries.ts";
import type { UsageTotals } from "../tree/usage.ts";
import { stateDir } from "../session/locations.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { AgentSessionEvent, AgentSessionListener } from "./agent-session-events.ts";
import type { AgentSessionOptions, PromptOptions, SessionSettings } from "./agent-session-options.ts";
import { BranchWriter } from "./branch-writer.ts";
import { branchBefore, cloneBranch, resumeSession, startNewSession } from "./branching.ts";
import type { BranchingHost, NewSessionOptions } from "./branching.ts";
import type { CompactOptions } from "./compaction.ts";
import { COMPACTION_RUNS } from "./compaction-notices.ts";
import { DEFAULT_COMPACTION } from "./compaction-settings.ts";
import { contextUsage } from "./context-usage.ts";
import type { ContextUsage } from "./context-usage.ts";
import { Delivery } from "./delivery.ts";
import type { CustomMessageOptions } from "./delivery.ts";
import { NO_HOOKS } from "./hook-port.ts";
import type { CustomMessageDraft, SessionStartReason } from "./hook-port.ts";
import type { ProviderKeys } from "./known-secrets.ts";
import type { QueuedKind, QueuedMessage } from "./message-queue.ts";
import { SessionMcp } from "./mcp/session-mcp.ts";
import { navigateTree, retrace } from "./navigation.ts";
import type { NavigateTreeOptions, NavigateTreeResult, NavigationHost, RetraceResult } from "./navigation.ts";
import { PlanMode } from "./plan-mode.ts";
import { promptMessage, promptTexts } from "./prompt-entries.ts";
import type { Prompt } from "./prompt-entries.ts";
import type { Model, ThinkingLevel } from "./providers.ts";
import type { StreamRule } from "./rule-files.ts";
import { SessionCompaction } from "./session-compaction.ts";
import type { SessionCompactionHost } from "./session-compaction.ts";
import type { UnsentMessage } from "./queue-file.ts";
import { SessionEvents } from "./session-events.ts";
import { SessionHolding } from "./session-holding.ts";
import { SessionHooks } from "./session-hooks.ts";
import { SessionNaming } from "./session-naming.ts";
import * as notices from "./session-notices.ts";
import { SessionState } from "./session-state.ts";
import type { SelectSource, SessionStateHost } from "./session-state.ts";
import { SessionRuns } from "./session-runs.ts";
import { SessionTools } from "./session-tools.ts";
import { SessionSaving } from "./session-saving.ts";
import { askInput, runAsked } from "./user-input.ts";

/** Between two looks whether anything still runs; milliseconds. */
const IDLE_CHECK_MS = 50;
export class AgentSession {
  readonly sessionManager: SessionManager;
  /** Model, thinking level, service tier, mode and tool selection of the current path. */
  readonly state: SessionState;
  /** Planning before changing: the model looks, hands in a plan, the user decides. */
  readonly plan: PlanMode;
  /** Summaries in place of the older part of the conversation, and what the next request holds. */
  readonly compaction: SessionCompaction;
  /** The MCP servers, and which of their tools this branch uses. */
  readonly mcp: SessionMcp;
  readonly #options: AgentSessionOptions;
  #settings: SessionSettings;
  readonly #projectDir: string;
  readonly #hooks: SessionHooks;
  readonly #tools: SessionTools;
  readonly #delivery: Delivery;
  readonly #saving: SessionSaving;
  readonly #naming: SessionNaming;
  readonly #holding: SessionHolding;
  readonly #runs: SessionRuns;
  readonly #events = new SessionEvents();
  #command: AbortController | undefined;
  /** A jump or a change of session under way. */
  #move: AbortController | undefined;
  #isDisposed = false;
  #usage: { key: string; value: ContextUsage } | undefined;

  /** Takes over the model and thinking level of the session's path. */
  constructor(options: AgentSessionOptions) {
    this.#options = options;
    this.#settings = options;
    this.sessionManager = options.sessionManager;
    this.#projectDir = options.projectDir ?? this.cwd;
    this.#hooks = new SessionHooks(options.hooks ?? NO_HOOKS, (event) => this.#events.emit(event));
    const host = {
      sessionManager: this.sessionManager,
      registry: options.registry,
      hooks: this.#hooks,
      emit: (event: AgentSessionEvent) => this.#events.emit(event),
      appended: (id: string) => this.#appended(id),
    };
    this.state = new SessionState(host, options.model, options.thinkingLevel ?? "off");
    this.#runs = new SessionRuns({
      ...host,
      options,
      settings: () => this.#settings,
      state: this.state,
      delivery: () => this.#delivery,
      compaction: () => this.compaction,
      plan: () => this.plan,
      tools: () => this.#tools,
      paced: () => this.#events.paced(),
      saved: () => this.#saving.workSaved(),
    });
    this.compaction = this.#newCompaction(host);
    this.plan = this.#newPlan(host);
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
      smallModel: () => this.#settings.smallModel,
      named: (id) => this.#named(id),
    });
    this.#saving = new SessionSaving(host, options.goesOnUnsaved ?? false);
    this.#holding = new SessionHolding({
      sessionManager: this.sessionManager,
      emit: (event) => this.#events.emit(event),
      changed: (reason) => {
        this.state.takeOver();
        if (reason === "take-over") this.#delivery.restore();
        this.#events.emit({ type: "session_changed", reason });
      },
      whenIdle: (change) => this.#whenIdle(change),
    });
    this.#holding.attend();
    for (const text of options.notices ?? []) this.#events.emit({ type: "notice", level: "warning", text });
    this.state.takeOver();
    this.#delivery.restore();
  }

  #newPlan(host: Pick<SessionStateHost, "sessionManager" | "emit">): PlanMode {
    return new PlanMode({
      ...host,
      state: this.state,
      plansDir: () => this.#settings.plansDir ?? join(stateDir(), "plans"),
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
  }

  #newDelivery(host: Pick<SessionStateHost, "sessionManager" | "emit" | "appended">): Delivery {
    return new Delivery({
      ...host,
      mode: (kind) => this.#settings[kind === "steer" ? "steeringMode" : "followUpMode"] ?? "one-at-a-time",
      shown: (message) => {
        for (const type of ["message_start", "message_end"] as const) {
          this.#events.emit({ type, message });
          void this.#hooks.emit(type, { message });
        }
      },
      isRunning: () => this.isStreaming,
      isStopping: () => this.isStopping,
      isBusy: () => this.#move !== undefined || this.#runs.isSettling || this.#isDisposed,
      isFollowing: () => this.isFollowing,
      input: (prompt, source, queuedAs) => askInput(this.#hooks, prompt, source, queuedAs),
      run: (message) => this.#runs.run(message),
    });
  }

  #newCompaction(host: SessionStateHost & Pick<SessionCompactionHost, "registry">): SessionCompaction {
    return new SessionCompaction({
      ...host,
      settings: () => this.#settings.compaction ?? DEFAULT_COMPACTION,
      summaryModel: () => this.#settings.summaryModel,
      model: () => this.model,
      answering: () => this.state.answering,
      usableModel: () => this.state.usableModel(),
      contextTokens: () => this.getContextUsage()?.tokens ?? 0,
      emitHook: (name, event) => this.#hooks.emit(name, event),
      saved: () => this.#saving.workSaved(),
      isFollowing: () => this.isFollowing,
      stopTurn: () => (this.isStreaming ? this.#runs.stop() : undefined),
      moving: (move) => this.#moving(move),
      navigateTree: (targetId, given) => this.navigateTree(targetId, given),
      sendQueued: () => this.#delivery.sendQueued(),
      tools: () => this.#tools.forRequest(),
      systemPrompt: (tools) => this.#runs.systemPrompt(tools),
    });
  }

  get #summaryModel(): Model | undefined {
    return this.#settings.summaryModel ?? this.model;
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
    return this.#runs.current !== undefined;
  }
  /** The turn was stopped, and ends. */
  get isStopping(): boolean {
    return this.#runs.current?.aborted ?? false;
  }
  /** Aborted when the turn is stopped; undefined when none runs. */
  get signal(): AbortSignal | undefined {
    return this.#runs.current?.signal;
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
  /** What requests are sent with: no export may hold it. */
  keysInUse(): Promise<ProviderKeys[]> {
    return this.#options.registry.keysInUse();
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
  /**
   * Tells the hooks to let go, does what makes them anew, and begins again. Rejects while anything runs. The signal is
   * aborted by `abort`.
   */
  async reload(renew: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (this.isStreaming) throw new Error(notices.TURN_RUNS);
    await this.#moving((signal) => this.#hooks.replacing({ reason: "reload" }, undefined, () => renew(signal)));
  }

  /**
   * Tells `listener` of everything that happens, and of notices nobody has heard, until the returned function is called.
   * A turn waits for `pace` after each of its events, unless it is stopped: for who passes them on to a slow reader.
   */
  subscribe(listener: AgentSessionListener, options: { pace?: () => Promise<void> | undefined } = {}): () => void {
    return this.#events.subscribe(listener, options.pace);
  }

  /**
   * Sends a prompt and settles when its answer, the tools, retries and everything queued behind it are done. A provider
   * that fails does not reject: the answer says so. Waits for a turn that was stopped. Rejects while a turn or a jump is
   * under way, without a usable model, and, unless it goes on unsaved, when the session cannot be written; the model is
   * not asked then.
   */
  async prompt(text: string, options: PromptOptions = {}): Promise<void> {
    const { images, source = "interactive", streamingBehavior, accepted } = options;
    if (this.isStopping) await this.#runs.stop();
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
    await this.#runs.run(promptMessage(prompt), accepted);
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
    if (this.isStreaming) await this.#runs.stop();
    else this.#move?.abort();
  }
  /** Ends the wait before a retry: the failed answer stands. */
  abortRetry(): void {
    this.#runs.current?.abortRetry();
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
        onOutput: (output) => this.#events.emit({ type: "bash_update", output }),
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

  /** What the user has settled, anew: all of it, for what begins from now on. */
  setSettings(settings: SessionSettings): void {
    this.#settings = settings;
  }
  /** Rules that read what the model writes, from the next answer on. */
  setRules(rules: readonly StreamRule[]): void {
    this.#runs.rules.replace(rules);
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
    return this.#runs.systemPromptNow();
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
    const model = this.state.answering;
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
    await Promise.all([this.#runs.stop(), this.#naming.dispose()]);
    await Promise.all([this.#hooks.leaving({ reason: "quit" }), this.mcp.dispose()]);
    this.#delivery.dispose();
    await this.sessionManager.flush();
  }

  /** When nothing runs any more: no turn, no command of the user, no jump. */
  async waitForIdle(): Promise<void> {
    while (!this.isIdle) await sleep(IDLE_CHECK_MS);
  }
  async #whenIdle(change: () => Promise<void>): Promise<void> {
    await this.waitForIdle();
    await this.#moving(change);
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
      void this.#runs.wake();
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
          reserveTokens: this.#settings.branchSummary?.reserveTokens,
          emit: (event) => this.#events.emit(event),
        },
        emitHook: (name, event) => this.#hooks.emit(name, event),
        stopTurn: () => this.#runs.stop(),
        appended: (id) => this.#appended(id),
        moved: async () => {
          await this.#saving.saved();
          this.state.takeOver();
          this.#events.emit({ type: "session_changed", reason: "tree" });
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
        emit: (event) => this.#events.emit(event),
        appended: (id) => this.#appended(id),
        saved: () => this.#saving.saved(),
        dropQueue: () => this.#delivery.drop(),
        changed: async (reason, keepState) => {
          this.#runs.sessionChanged();
          await this.#saving.saved();
          if (!keepState) this.state.takeOver();
          this.#holding.attend();
          this.#delivery.restore();
          this.#events.emit({ type: "session_changed", reason });
        },
      }),
    );
  }

  #named(entryId: string): void {
    this.#appended(entryId);
    const name = this.sessionManager.getSessionName();
    this.#events.emit({ type: "session_info_changed", name });
    void this.#hooks.emit("session_info_changed", { name });
  }

  #appended(id: string): void {
    const entry = this.sessionManager.getEntry(id);
    if (entry === undefined) return;
    this.#delivery.appended(entry);
    this.#events.emit({ type: "entry_appended", entry });
    this.#naming.consider(entry);
  }
}
