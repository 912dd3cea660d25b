/**
 * `AgentRun`: one prompt and everything that follows from it: answers, tool calls, retries, what was queued behind it.
 * Part of `agent/`; AgentSession starts one at a time. The loop itself is pi-agent-core's; it waits for our sink, so
 * each entry is in the file before the loop, the screen or a tool goes on from it.
 */
import type {
  AgentEvent,
  AgentLoopConfig,
  AgentTool,
  AgentToolResult,
  AgentTurnDecision,
  StreamFn,
} from "@earendil-works/pi-agent-core";
import type { AssistantMessage, Message } from "@earendil-works/pi-ai";
import type { AgentMessage, CustomMessage, Repair, SystemMessage, ToolResultMessage } from "../tree/messages.ts";
import type { SessionManager, StorableMessage } from "../session/session-manager.ts";
import { reasonOf } from "../session/session-errors.ts";
import type { AgentSessionEvent } from "./agent-session-events.ts";
import { BranchWriter } from "./branch-writer.ts";
import { appending } from "./delivery.ts";
import type { RunMessage } from "./delivery.ts";
import type { QueuedKind } from "./message-queue.ts";
import type { RequestAhead } from "./model-routing.ts";
import { namedAddress } from "./provider-error.ts";
import { isContextOverflow } from "./providers.ts";
import type { Model, ThinkingLevel } from "./providers.ts";
import { requestMessages, systemMessage } from "./request.ts";
import { countdown, hasNotArrived, nextRetry } from "./retry.ts";
import type { RetrySettings } from "./retry.ts";
import type { RunHooks } from "./run-hooks.ts";
import * as notices from "./session-notices.ts";
import { untilAborted } from "./until-aborted.ts";

/** What a run needs of its session; the functions are asked anew before each request. */
export interface RunHost {
  readonly sessionManager: SessionManager;
  readonly hooks: RunHooks;
  readonly retry: RetrySettings;
  readonly stream: StreamFn;
  /** Finds the model for the next request, as `model` then gives it. Never rejects. */
  route(ahead: RequestAhead): Promise<void>;
  model(): Model;
  thinkingLevel(): ThinkingLevel;
  tools(signal: AbortSignal): AgentTool[] | Promise<AgentTool[]>;
  /** There are other tools than `tools` gave last. */
  haveToolsChanged(): boolean;
  /** What has waited to be sent now. */
  take(kind: QueuedKind): RunMessage[];
  /** A message of the run or of the queue is in the session. */
  delivered(message: RunMessage): void;
  /** The turn's answer and results are written: what was to come behind them is written to its branch. */
  turnEnded(branch: BranchWriter): void;
  /** What hooks may replace for the run. */
  basePrompt(tools: readonly AgentTool[]): string | Promise<string>;
  systemPrompt(tools: readonly AgentTool[]): string | Promise<string>;
  /**
   * Awaited before every request, between tool calls as well. What it writes to the run's branch is in the request.
   */
  beforeRequest(branch: BranchWriter, signal: AbortSignal): Promise<void>;
  /** An answer failed: true when the reason is removed and it can be asked for again at once. */
  recover(answer: AssistantMessage, branch: BranchWriter, signal: AbortSignal): Promise<boolean>;
  /** Looks at what the model says while it says it, on the run's branch; what it returns stops the answer. */
  interruption(event: AgentEvent, branch: BranchWriter): Interruption | undefined;
  /** Why a call that the model has made is refused; undefined: it is not. */
  refusal(toolName: string): string | undefined;
  /**
   * A complete answer and the results of its calls are written. "again": the model is asked once more, with tools and
   * prompt as they are by then; "end": it is not, whatever it has called; undefined: as the calls want it.
   */
  afterTurn(answer: AssistantMessage, branch: BranchWriter): "again" | "end" | undefined;
  /** The request as its provider takes it, changed; undefined: as it is. */
  payload(payload: unknown, model: Model): unknown;
  /** What goes over the wire in the end. */
  sent(payload: unknown): void;
  emit(event: AgentSessionEvent): void;
  /** Settles when the listeners have taken in what they were told; undefined when they have. */
  paced(): Promise<unknown> | undefined;
  /** An entry was appended by this run. */
  appended(id: string): void;
  /** Settles when all is synced that must be before the work goes on. */
  saved(): Promise<void>;
  repaired(repair: Repair): void;
  /** The last word on the conversation as it is sent. */
  amended(messages: Message[]): Message[];
}

/** A reason to stop an answer that still streams in. */
export interface Interruption {
  /** One sentence; it is stored with the part that came. */
  reason: string;
  /** Called when that part is written and before the model is asked again. */
  stopped(branch: BranchWriter): void;
}

export class AgentRun {
  /** Settles when nothing of the run is left. Rejects only when an entry could not be written or saved. */
  readonly finished: Promise<void>;
  /** Settles when `release` was called. */
  readonly released: Promise<void>;
  readonly #host: RunHost;
  readonly #writer: BranchWriter;
  readonly #controller = new AbortController();
  #countdown: AbortController | undefined;
  /** Ends the current loop, not the run. */
  #interrupter = new AbortController();
  #interruption: Interruption | undefined;
  #next: "again" | "end" | undefined;
  readonly #release = Promise.withResolvers<void>();
  #isReleased = false;
  #answer: AssistantMessage | undefined;
  #attempt = 0;
  /** Some request of this run has arrived: what is unreachable now has been there. */
  #isReached = false;
  /** Where the latest request went. */
  #baseUrl = "";
  #tools: AgentTool[] = [];
  #system: SystemMessage | undefined;

  /** Starts with messages that are not in the session yet; the first is what it is about. */
  constructor(host: RunHost, messages: readonly [RunMessage, ...RunMessage[]]) {
    this.#host = host;
    this.#writer = new BranchWriter(host.sessionManager);
    this.released = this.#release.promise;
    this.finished = this.#go(messages);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }
  get aborted(): boolean {
    return this.signal.aborted;
  }

  /** Stops the request, the tools and the waits for listeners and for a retry. */
  abort(): void {
    this.#controller.abort();
    this.#countdown?.abort();
  }

  /** Ends the wait for a retry; the failed answer stands. */
  abortRetry(): void {
    this.#countdown?.abort();
  }

  /** Lets the session go on without waiting: what still comes goes to this run's own branch, and nothing is shown. */
  release(): void {
    this.#isReleased = true;
    this.#writer.release();
    this.#release.resolve();
  }

  async #go(messages: readonly [RunMessage, ...RunMessage[]]): Promise<void> {
    try {
      await this.#untilQuiet(messages);
    } catch (error) {
      // Tools that still run must not go on when their results cannot be written.
      this.abort();
      if (this.#isReleased) this.#notice("error", notices.notSaved(reasonOf(error)));
      throw error;
    }
  }

  async #untilQuiet(messages: readonly [RunMessage, ...RunMessage[]]): Promise<void> {
    const { runAgentLoop, runAgentLoopContinue } = await import("@earendil-works/pi-agent-core");
    let prompts: RunMessage[] = [...messages, ...(await this.#beforeStart(messages[0]))];
    for (;;) {
      this.#interrupter = new AbortController();
      this.#next = undefined;
      const signal = AbortSignal.any([this.#controller.signal, this.#interrupter.signal]);
      await this.#prepareTools(signal);
      const config = this.#config(signal);
      const context = this.#context();
      if (prompts.length > 0) await runAgentLoop(prompts, context, config, this.#sink, signal, this.#host.stream);
      else await runAgentLoopContinue(context, config, this.#sink, signal, this.#host.stream);
      if (this.aborted) return;
      if (this.#interruption !== undefined) {
        this.#interruption.stopped(this.#writer);
        this.#interruption = undefined;
        prompts = [];
      } else if (this.#next === "again") {
        prompts = this.#take("steer");
      } else if (this.#answer === undefined || !this.#hasFailed(this.#answer)) {
        // Typed after the loop had looked for the last time.
        prompts = this.#take("steer");
        if (prompts.length === 0) prompts = this.#take("followUp");
        if (prompts.length === 0) return;
      } else {
        if (!(await this.#mayRetry(this.#answer))) return;
        prompts = [];
      }
    }
  }

  #beforeStart(message: RunMessage): Promise<CustomMessage[]> {
    const { signal } = this.#controller;
    const systemPrompt = async (): Promise<string> => this.#host.basePrompt(await this.#host.tools(signal));
    return this.#host.hooks.beforeStart(message, systemPrompt, signal);
  }

  /** What the next request offers and says of it. */
  async #prepareTools(signal: AbortSignal): Promise<void> {
    this.#tools = await this.#host.tools(signal);
    this.#system = systemMessage(await this.#host.systemPrompt(this.#tools), this.#tools);
  }

  #context(): { messages: AgentMessage[]; tools: AgentTool[] } {
    return { messages: this.#system === undefined ? [] : [this.#system], tools: this.#tools };
  }

  #config(signal: AbortSignal): AgentLoopConfig {
    const host = this.#host;
    const onProviderStreamEvent = host.hooks.streamListener(signal);
    return {
      model: host.model(),
      sessionId: host.sessionManager.getSessionId(),
      maxRetries: 0,
      // The session is the only memory: whatever the loop has collected, the request is what the branch says.
      convertToLlm: () => this.#requestMessages(signal),
      prepareRequest: async () => {
        await this.#route();
        await host.beforeRequest(this.#writer, this.#controller.signal);
        const [model, thinkingLevel] = [host.model(), host.thinkingLevel()];
        this.#baseUrl = model.baseUrl;
        if (!host.haveToolsChanged()) return { model, thinkingLevel };
        await this.#prepareTools(signal);
        return { model, thinkingLevel, context: this.#context() };
      },
      getSteeringMessages: async () => this.#take("steer"),
      getFollowUpMessages: async () => this.#take("followUp"),
      beforeToolCall: async (call) => {
        const reason = host.refusal(call.toolCall.name);
        return reason === undefined ? host.hooks.toolCall(call, signal) : { block: true, reason };
      },
      afterToolCall: (call) => host.hooks.toolResult(call, signal),
      finishTurn: ({ message }) => this.#finishTurn(message),
      onPayload: async (payload, model) => {
        const changed = host.payload(payload, model) ?? payload;
        const sent = await host.hooks.request(changed, signal);
        host.sent(sent);
        return sent;
      },
      onResponse: (response) => host.hooks.response(response, signal),
      ...(onProviderStreamEvent === undefined ? {} : { onProviderStreamEvent }),
    };
  }

  async #route(): Promise<void> {
    const answer = this.#answer;
    const failed = answer !== undefined && this.#hasFailed(answer) ? answer : undefined;
    const messages = (): Message[] => {
      const path = this.#host.sessionManager.buildSessionContext(this.#writer.tail).messages;
      const sent = requestMessages(path, this.#host.model());
      return this.#system === undefined ? sent : [this.#system, ...sent];
    };
    await this.#host.route({ branch: this.#writer, failed, messages, signal: this.#controller.signal });
  }

  #finishTurn(answer: AssistantMessage): AgentTurnDecision | undefined {
    if (this.aborted || this.#interruption !== undefined) return { action: "end" };
    if (answer.stopReason !== "error") this.#next = this.#host.afterTurn(answer, this.#writer);
    return this.#next === undefined ? undefined : { action: "end" };
  }

  async #requestMessages(signal: AbortSignal): Promise<Message[]> {
    const host = this.#host;
    const { messages } = host.sessionManager.buildSessionContext(this.#writer.tail);
    const wanted = await host.hooks.context(messages, signal);
    const sent = host.amended(requestMessages(wanted, host.model(), (repair) => host.repaired(repair)));
    return this.#system === undefined ? sent : [this.#system, ...sent];
  }

  #take(kind: QueuedKind): RunMessage[] {
    return this.aborted ? [] : this.#host.take(kind);
  }

  readonly #sink = async (event: AgentEvent): Promise<void> => {
    await this.#keep(event);
    if (this.#isReleased) return;
    this.#host.emit(event);
    const paced = this.#host.paced();
    if (paced !== undefined) await untilAborted(paced, this.signal);
    this.#interruption ??= this.#host.interruption(event, this.#writer);
    if (this.#interruption !== undefined) this.#interrupter.abort();
    const told = this.#host.hooks.told(event);
    // What hangs when the turn is stopped is left behind; what happens from then on is told in order.
    if (told !== undefined) await (this.aborted ? told : untilAborted(told, this.signal));
  };

  /** Writes what the event brings before anybody is told of it. */
  async #keep(event: AgentEvent): Promise<void> {
    switch (event.type) {
      case "message_start":
        if (event.message.role === "user" || event.message.role === "custom") {
          await this.#append(event.message, "synced");
        }
        break;
      case "message_end":
        if (event.message.role === "assistant") {
          if (this.#interruption !== undefined && !this.aborted) markStopped(event.message, this.#interruption.reason);
          nameAddress(event.message, this.#baseUrl);
          await this.#append(event.message, "synced");
          this.#answered(event.message);
        }
        break;
      case "tool_execution_end":
        await this.#append(toolResult(event), "written");
        break;
      case "turn_end":
        this.#host.turnEnded(this.#writer);
        await this.#host.saved();
        break;
      default:
    }
  }

  async #append(message: StorableMessage, durability: "written" | "synced"): Promise<void> {
    const id = message.role === "custom" ? this.#writer.write(appending(message)) : this.#writer.append(message);
    if (id === undefined) this.#notice("warning", notices.STRAGGLER_LOST);
    else {
      if (message.role === "user" || message.role === "custom") this.#host.delivered(message);
      if (this.#isReleased && !this.#writer.holdsLeaf) this.#notice("info", notices.STRAGGLER);
      this.#host.appended(id);
    }
    // A result on another branch moves the leaf away and back, which is durable only by a flush.
    if (durability === "synced" || this.#isReleased) await this.#host.saved();
  }

  #answered(answer: AssistantMessage): void {
    this.#answer = answer;
    this.#isReached ||= !hasNotArrived(answer);
    if (answer.stopReason === "error" || this.#attempt === 0) return;
    if (answer.stopReason === "aborted") this.#endRetries(answer.errorMessage);
    else {
      this.#host.emit({ type: "auto_retry_end", success: true, attempt: this.#attempt });
      this.#attempt = 0;
    }
  }

  /** Some servers cut a request that does not fit, and stop at the limit before the first word. */
  #hasFailed(answer: AssistantMessage): boolean {
    const { stopReason } = answer;
    if (stopReason === "length") return isContextOverflow(answer, this.#host.model().contextWindow);
    return stopReason === "error";
  }

  /** Waits before the next attempt; false when there is none. */
  async #mayRetry(answer: AssistantMessage): Promise<boolean> {
    const host = this.#host;
    const { name, contextWindow } = host.model();
    const errorMessage = answer.errorMessage ?? "";
    if (await host.recover(answer, this.#writer, this.#controller.signal)) return !this.aborted;
    if (isContextOverflow(answer, contextWindow)) {
      this.#notice("error", notices.overflow(name, contextWindow));
      return false;
    }
    const retry = nextRetry(host.retry, answer, this.#attempt, this.#isReached);
    if (retry === undefined) {
      this.#endRetries(errorMessage);
      return false;
    }
    this.#attempt = retry.attempt;
    this.#countdown = new AbortController();
    host.emit({ type: "auto_retry_start", ...retry, errorMessage });
    const elapsed = await countdown(retry.delayMs, this.#countdown.signal);
    this.#countdown = undefined;
    if (!elapsed) this.#endRetries(errorMessage);
    return elapsed;
  }

  #endRetries(finalError: string | undefined): void {
    if (this.#attempt === 0) return;
    const attempt = this.#attempt;
    this.#attempt = 0;
    this.#host.emit({
      type: "auto_retry_end",
      success: false,
      attempt,
      ...(finalError === undefined ? {} : { finalError }),
    });
  }

  #notice(level: "info" | "warning" | "error", text: string): void {
    this.#host.emit({ type: "notice", level, text });
  }
}

/**
 * A provider can have sent the rest of an answer before it is stopped. The message is the loop's own: marked like this
 * it runs no tools.
 */
function markStopped(answer: AssistantMessage, reason: string): void {
  answer.stopReason = "aborted";
  answer.errorMessage = reason;
}

/** The error of a client says why there is no connection, seldom where to. */
function nameAddress(answer: AssistantMessage, baseUrl: string): void {
  if (answer.stopReason === "error" && answer.errorMessage !== undefined)
    answer.errorMessage = namedAddress(answer.errorMessage, baseUrl);
}

/** The result as it is kept: made when the tool is done, since with several calls the loop makes its own only after the last. */
function toolResult(event: Extract<AgentEvent, { type: "tool_execution_end" }>): ToolResultMessage {
  const result = event.result as AgentToolResult;
  return {
    role: "toolResult",
    toolCallId: event.toolCallId,
    toolName: event.toolName,
    // Tools of extensions are untyped and may return no content at all.
    content: result.content ?? [],
    ...(result.details === undefined ? {} : { details: result.details }),
    ...(result.usage === undefined ? {} : { usage: result.usage }),
    isError: event.isError,
    timestamp: Date.now(),
    ...(event.durationMs === undefined ? {} : { durationMs: event.durationMs }),
  };
}
