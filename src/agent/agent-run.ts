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
import type { Repair, ToolResultMessage, UserMessage } from "../tree/messages.ts";
import type { SessionManager, StorableMessage } from "../session/session-manager.ts";
import { reasonOf } from "../session/session-errors.ts";
import type { AgentSessionEvent } from "./agent-session-events.ts";
import { BranchWriter } from "./branch-writer.ts";
import type { MessageQueue, QueuedKind, QueueMode } from "./message-queue.ts";
import { promptMessage } from "./prompt-entries.ts";
import { clampThinkingLevel, isContextOverflow } from "./providers.ts";
import type { Model, ThinkingLevel } from "./providers.ts";
import { requestMessages, systemMessage } from "./request.ts";
import { countdown, retryDelay } from "./retry.ts";
import type { RetrySettings } from "./retry.ts";
import * as notices from "./session-notices.ts";

/** What a run needs of its session; the functions are asked anew before each request. */
export interface RunHost {
  readonly sessionManager: SessionManager;
  readonly queue: MessageQueue;
  readonly queueModes: Readonly<Record<QueuedKind, QueueMode>>;
  readonly retry: RetrySettings;
  readonly stream: StreamFn;
  model(): Model;
  thinkingLevel(): ThinkingLevel;
  tools(signal: AbortSignal): AgentTool[] | Promise<AgentTool[]>;
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
  readonly #stopped = Promise.withResolvers<void>();
  #countdown: AbortController | undefined;
  /** Ends the current loop, not the run. */
  #interrupter = new AbortController();
  #interruption: Interruption | undefined;
  #next: "again" | "end" | undefined;
  readonly #release = Promise.withResolvers<void>();
  #isReleased = false;
  #answer: AssistantMessage | undefined;
  #attempt = 0;

  /** Starts with a prompt that is not in the session yet. */
  constructor(host: RunHost, prompt: UserMessage) {
    this.#host = host;
    this.#writer = new BranchWriter(host.sessionManager);
    this.released = this.#release.promise;
    this.finished = this.#go(prompt);
  }

  get aborted(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Stops the request, the tools and the waits for listeners and for a retry. */
  abort(): void {
    this.#controller.abort();
    this.#stopped.resolve();
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

  async #go(prompt: UserMessage): Promise<void> {
    try {
      await this.#untilQuiet(prompt);
    } catch (error) {
      // Tools that still run must not go on when their results cannot be written.
      this.abort();
      if (this.#isReleased) this.#notice("error", notices.notSaved(reasonOf(error)));
      throw error;
    }
  }

  async #untilQuiet(prompt: UserMessage): Promise<void> {
    const { runAgentLoop, runAgentLoopContinue } = await import("@earendil-works/pi-agent-core");
    let prompts: UserMessage[] = [prompt];
    for (;;) {
      this.#interrupter = new AbortController();
      this.#next = undefined;
      const signal = AbortSignal.any([this.#controller.signal, this.#interrupter.signal]);
      const tools = await this.#host.tools(signal);
      const system = systemMessage(await this.#host.systemPrompt(tools), tools);
      const config = this.#config(system);
      const context = { messages: [system], tools };
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

  #config(system: Message): AgentLoopConfig {
    const host = this.#host;
    return {
      model: host.model(),
      sessionId: host.sessionManager.getSessionId(),
      maxRetries: 0,
      // The session is the only memory: whatever the loop has collected, the request is what the branch says.
      convertToLlm: () => [system, ...this.#requestMessages()],
      prepareRequest: async () => {
        await host.beforeRequest(this.#writer, this.#controller.signal);
        return { model: host.model(), thinkingLevel: clampThinkingLevel(host.model(), host.thinkingLevel()) };
      },
      getSteeringMessages: async () => this.#take("steer"),
      getFollowUpMessages: async () => this.#take("followUp"),
      beforeToolCall: async ({ toolCall }) => {
        const reason = host.refusal(toolCall.name);
        return reason === undefined ? undefined : { block: true, reason };
      },
      finishTurn: ({ message }) => this.#finishTurn(message),
      onPayload: (payload, model) => host.payload(payload, model),
    };
  }

  #finishTurn(answer: AssistantMessage): AgentTurnDecision | undefined {
    if (this.aborted || this.#interruption !== undefined) return { action: "end" };
    if (answer.stopReason !== "error") this.#next = this.#host.afterTurn(answer, this.#writer);
    return this.#next === undefined ? undefined : { action: "end" };
  }

  #requestMessages(): Message[] {
    const host = this.#host;
    const { messages } = host.sessionManager.buildSessionContext(this.#writer.tail);
    return host.amended(requestMessages(messages, host.model(), (repair) => host.repaired(repair)));
  }

  #take(kind: QueuedKind): UserMessage[] {
    if (this.aborted) return [];
    return this.#host.queue.take(kind, this.#host.queueModes[kind]).map(promptMessage);
  }

  readonly #sink = async (event: AgentEvent): Promise<void> => {
    await this.#keep(event);
    if (this.#isReleased) return;
    this.#host.emit(event);
    const paced = this.#host.paced();
    if (paced !== undefined) await Promise.race([paced, this.#stopped.promise]);
    this.#interruption ??= this.#host.interruption(event, this.#writer);
    if (this.#interruption !== undefined) this.#interrupter.abort();
  };

  /** Writes what the event brings before anybody is told of it. */
  async #keep(event: AgentEvent): Promise<void> {
    switch (event.type) {
      case "message_start":
        if (event.message.role === "user") await this.#append(event.message, "synced");
        break;
      case "message_end":
        if (event.message.role === "assistant") {
          if (this.#interruption !== undefined && !this.aborted) markStopped(event.message, this.#interruption.reason);
          await this.#append(event.message, "synced");
          this.#answered(event.message);
        }
        break;
      case "tool_execution_end":
        await this.#append(toolResult(event), "written");
        break;
      case "turn_end":
        await this.#host.saved();
        break;
      default:
    }
  }

  async #append(message: StorableMessage, durability: "written" | "synced"): Promise<void> {
    const id = this.#writer.append(message);
    if (id === undefined) this.#notice("warning", notices.STRAGGLER_LOST);
    else {
      if (this.#isReleased && !this.#writer.holdsLeaf) this.#notice("info", notices.STRAGGLER);
      this.#host.appended(id);
    }
    // A result on another branch moves the leaf away and back, which is durable only by a flush.
    if (durability === "synced" || this.#isReleased) await this.#host.saved();
  }

  #answered(answer: AssistantMessage): void {
    this.#answer = answer;
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
    const delayMs = retryDelay(host.retry, answer, this.#attempt + 1);
    if (delayMs === undefined) {
      this.#endRetries(errorMessage);
      return false;
    }
    this.#attempt += 1;
    this.#countdown = new AbortController();
    host.emit({
      type: "auto_retry_start",
      attempt: this.#attempt,
      maxAttempts: host.retry.maxRetries,
      delayMs,
      errorMessage,
    });
    const elapsed = await countdown(delayMs, this.#countdown.signal);
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
