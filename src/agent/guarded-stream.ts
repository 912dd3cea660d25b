/**
 * `guardedStream`: the answer of a provider that an extension has brought, made safe for the agent loop. Whatever the
 * provider does, exactly one answer of the right shape comes of it: one that throws or is silent for too long gives an
 * error with what had come, one that does not stop when it is told to is left, and what is no part of an answer is not
 * passed on. Nothing of the provider's own objects goes further, so it cannot change later what is kept.
 * Part of `agent/`; registered-providers.ts puts it in front of each.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { AssistantMessage, AssistantMessageEvent, ToolCall } from "@earendil-works/pi-ai";
import { reasonOf } from "../session/session-errors.ts";
import { isRecord } from "../tree/json.ts";
import { AssistantMessageEventStream, ToolCallArgumentsStream } from "./providers.ts";
import type { Model } from "./providers.ts";

/** Milliseconds. */
export interface StreamLimits {
  /** Between two events. */
  silenceMs: number;
  /** After it was told to stop, and for the answer after the last event. */
  endMs: number;
}
/** The clients of the built-in providers wait as long. */
export const STREAM_LIMITS: StreamLimits = { silenceMs: 600_000, endMs: 500 };
/** After so many events at once the terminal gets its turn: a flood must not keep the user from stopping it. */
const EVENTS_AT_ONCE = 64;

type Block = AssistantMessage["content"][number];
/** As the events' names have it. */
type BlockKind = keyof typeof BLOCK_TYPE;
const BLOCK_TYPE = { text: "text", thinking: "thinking", toolcall: "toolCall" } as const;
const STOP_REASONS = ["stop", "length", "toolUse"] as const;

/** `call` gives the provider's stream; it may throw, reject, or give anything. */
export function guardedStream(
  model: Model,
  call: () => unknown,
  signal: AbortSignal | undefined,
  limits: StreamLimits = STREAM_LIMITS,
): AssistantMessageEventStream {
  const target = new AssistantMessageEventStream();
  void new GuardedAnswer(model, target, signal, limits).take(call);
  return target;
}

class GuardedAnswer {
  readonly #target: AssistantMessageEventStream;
  readonly #signal: AbortSignal | undefined;
  readonly #limits: StreamLimits;
  /** What has come so far. */
  readonly #answer: AssistantMessage;
  /** The arguments of each call as they come. */
  readonly #pieces = new Map<number, ToolCallArgumentsStream>();
  #hasStarted = false;

  constructor(
    model: Model,
    target: AssistantMessageEventStream,
    signal: AbortSignal | undefined,
    limits: StreamLimits,
  ) {
    this.#target = target;
    this.#signal = signal;
    this.#limits = limits;
    const { api, provider, id } = model;
    this.#answer = {
      role: "assistant",
      content: [],
      api,
      provider,
      model: id,
      usage: usageOf(undefined),
      stopReason: "pending",
      timestamp: Date.now(),
    };
  }

  /** Never rejects. */
  async take(call: () => unknown): Promise<void> {
    const wait = new BoundedWait(this.#signal, this.#limits);
    try {
      const source = await wait.for(async () => call());
      if (!isStream(source)) throw new Error("The provider has given no stream.");
      this.#finish(await this.#read(source, wait));
    } catch (error) {
      this.#fail(reasonOf(error));
    } finally {
      wait.end();
    }
  }

  /** The provider's own last word. */
  async #read(source: AsyncIterable<unknown>, wait: BoundedWait): Promise<unknown> {
    const events = source[Symbol.asyncIterator]();
    try {
      for (let count = 1; ; count++) {
        const { done, value: event } = await wait.for<IteratorResult<unknown, unknown>>(() => events.next());
        if (done === true) break;
        if (isRecord(event) && event["type"] === "done") return event["message"];
        if (isRecord(event) && event["type"] === "error") return event["error"];
        if (isRecord(event)) this.#pass(event);
        if (count % EVENTS_AT_ONCE === 0) await nextTurn();
      }
      const result: unknown = Reflect.get(source, "result");
      return typeof result === "function" ? await wait.forLast(() => Reflect.apply(result, source, [])) : undefined;
    } finally {
      letGo(events);
    }
  }

  /** A piece of the answer; what is none is passed over. */
  #pass(event: Record<string, unknown>): void {
    if (event["type"] === "start") return this.#start();
    const [kind, step] = String(event["type"]).split("_");
    const index = event["contentIndex"];
    if (!isBlockKind(kind) || typeof index !== "number" || !(index in this.#answer.content || this.#isNext(index)))
      return;
    const block = this.#blockIn(event, kind, index);
    if (block === undefined) return;
    this.#start();
    this.#answer.content[index] = block;
    const told = { contentIndex: index, partial: this.#answer };
    if (step === "start") this.#tell({ type: `${kind}_start`, ...told });
    else if (step === "delta") this.#tell({ type: `${kind}_delta`, ...told, delta: textIn(event, "delta") });
    else if (step !== "end") return;
    else if (block.type === "toolCall") this.#tell({ type: "toolcall_end", ...told, toolCall: block });
    else if (block.type === "text") this.#tell({ type: "text_end", ...told, content: block.text });
    else this.#tell({ type: "thinking_end", ...told, content: block.thinking });
  }

  #isNext(index: number): boolean {
    return index === this.#answer.content.length;
  }

  /** The block as it is with this event. */
  #blockIn(event: Record<string, unknown>, kind: BlockKind, index: number): Block | undefined {
    const { partial, toolCall } = event;
    const content = isRecord(partial) && Array.isArray(partial["content"]) ? partial["content"] : [];
    const given: unknown = toolCall ?? content[index];
    const delta = textIn(event, "delta");
    // Read from the pieces: a copy of all arguments for each of them would be quadratic.
    if (kind === "toolcall" && delta !== "") return this.#callWith(given, index, delta);
    const block = this.#blockOf(given, index);
    if (block?.type === BLOCK_TYPE[kind]) return block;
    const before = this.#answer.content[index];
    if (kind === "text") return { type: "text", text: (before?.type === "text" ? before.text : "") + delta };
    if (kind !== "thinking") return undefined;
    return { type: "thinking", thinking: (before?.type === "thinking" ? before.thinking : "") + delta };
  }

  #callWith(given: unknown, index: number, delta: string): ToolCall | undefined {
    const before = this.#answer.content[index];
    const call = isRecord(given)
      ? callOf(given, this.#callId(index))
      : before?.type === "toolCall"
        ? before
        : undefined;
    if (call === undefined) return undefined;
    const pieces = this.#pieces.get(index) ?? new ToolCallArgumentsStream();
    this.#pieces.set(index, pieces);
    return { ...call, arguments: pieces.append(delta) };
  }

  #blockOf(given: unknown, index: number): Block | undefined {
    if (!isRecord(given)) return undefined;
    if (given["type"] !== "toolCall") return textBlockOf(given);
    return { ...callOf(given, this.#callId(index)), ...argumentsOf(given) };
  }

  /** For a call that has none. */
  #callId(index: number): string {
    return `call_${this.#answer.timestamp.toString(36)}_${index}`;
  }

  #start(): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    this.#tell({ type: "start", partial: this.#answer });
  }

  #tell(event: AssistantMessageEvent): void {
    this.#target.push(event);
  }

  /** Takes over what the provider says the answer is. */
  #finish(given: unknown): void {
    if (!isRecord(given)) throw new Error("The provider's stream has ended without an answer.");
    const { content, stopReason, errorMessage, usage } = given;
    const answer = this.#answer;
    if (Array.isArray(content))
      answer.content = withOwnIds(content.flatMap((block, n) => this.#blockOf(block, n) ?? []));
    answer.usage = usageOf(usage);
    Object.assign(answer, textsOf(given, ["responseId", "responseModel", "rawStopReason"]));
    const reason = STOP_REASONS.find((known) => known === stopReason);
    if (reason === undefined) {
      const isFailure = stopReason === "error" || stopReason === "aborted";
      const text = typeof errorMessage === "string" && errorMessage !== "" ? errorMessage : "It gave no reason.";
      return this.#fail(isFailure ? text : "The provider's stream has ended before its answer.");
    }
    answer.stopReason = reason;
    this.#start();
    this.#tell({ type: "done", reason, message: answer });
  }

  #fail(errorMessage: string): void {
    const reason = this.#signal?.aborted === true ? "aborted" : "error";
    Object.assign(this.#answer, { stopReason: reason, errorMessage });
    this.#tell({ type: "error", reason, error: this.#answer });
  }
}

/** Waits for a provider, and not longer than it may take. */
class BoundedWait {
  readonly #limits: StreamLimits;
  readonly #timer: NodeJS.Timeout;
  readonly #signal: AbortSignal | undefined;
  readonly #stopped = (): void => this.#endSoon("The answer was stopped.");
  #lastWait: NodeJS.Timeout | undefined;
  /** Why nothing is waited for any more. */
  #reason: Error | undefined;
  /** Ends the wait that is under way. */
  #giveUp: (reason: Error) => void = () => undefined;

  constructor(signal: AbortSignal | undefined, limits: StreamLimits) {
    this.#limits = limits;
    this.#signal = signal;
    const silence = `Nothing has come from the provider for ${Math.round(limits.silenceMs / 1000)} seconds.`;
    this.#timer = setTimeout(() => this.#stopWaiting(silence), limits.silenceMs);
    if (signal?.aborted === true) this.#stopped();
    else signal?.addEventListener("abort", this.#stopped, { once: true });
  }

  /** A promise of its own for each wait: in a race with one for all, that one would hold on to every event. */
  async for<T>(work: () => PromiseLike<T>): Promise<T> {
    if (this.#reason !== undefined) throw this.#reason;
    this.#timer.refresh();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#giveUp = reject;
    void (async () => work())().then(resolve, reject);
    return promise;
  }

  /** For what should be there already. */
  async forLast(work: () => unknown): Promise<unknown> {
    this.#endSoon("The provider's stream has ended without an answer.");
    return this.for(async () => work());
  }

  end(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#lastWait);
    this.#signal?.removeEventListener("abort", this.#stopped);
  }

  #endSoon(reason: string): void {
    this.#lastWait ??= setTimeout(() => this.#stopWaiting(reason), this.#limits.endMs);
  }

  #stopWaiting(reason: string): void {
    this.#reason ??= new Error(reason);
    this.#giveUp(this.#reason);
  }
}

/** A provider that is written as a generator closes its connection now. Nobody waits for it. */
function letGo(events: AsyncIterator<unknown>): void {
  void (async () => events.return?.())().catch(() => undefined);
}

const isStream = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === "object" && value !== null && typeof Reflect.get(value, Symbol.asyncIterator) === "function";

const isBlockKind = (kind: string | undefined): kind is BlockKind =>
  kind !== undefined && Object.hasOwn(BLOCK_TYPE, kind);

const textIn = (record: Record<string, unknown>, name: string): string => {
  const text = record[name];
  return typeof text === "string" ? text : "";
};

/** Each call with an id that no other has: results find their call by it. */
function withOwnIds(blocks: Block[]): Block[] {
  const taken = new Set<string>();
  return blocks.map((block, index) => {
    if (block.type !== "toolCall") return block;
    const id = taken.has(block.id) ? `${block.id}_${index}` : block.id;
    taken.add(id);
    return { ...block, id };
  });
}

/** Text or thinking; undefined for what is neither. */
function textBlockOf(given: Record<string, unknown>): Block | undefined {
  if (given["type"] === "text")
    return { type: "text", text: textIn(given, "text"), ...textsOf(given, ["textSignature"]) };
  if (given["type"] !== "thinking") return undefined;
  const redacted = given["redacted"] === true ? { redacted: true } : {};
  return {
    type: "thinking",
    thinking: textIn(given, "thinking"),
    ...textsOf(given, ["thinkingSignature"]),
    ...redacted,
  };
}

const callOf = (given: Record<string, unknown>, fallbackId: string): ToolCall => ({
  type: "toolCall",
  id: textIn(given, "id") || fallbackId,
  name: textIn(given, "name"),
  arguments: {},
  ...textsOf(given, ["thoughtSignature", "namespace"]),
});

/** Those of the members that are text. */
const textsOf = (given: Record<string, unknown>, names: readonly string[]): object =>
  Object.fromEntries(names.flatMap((name) => (typeof given[name] === "string" ? [[name, given[name]]] : [])));

/** Plain data: what cannot be written to the session is no argument. */
function argumentsOf(given: Record<string, unknown>): Pick<ToolCall, "arguments" | "argumentsError"> {
  const argumentsError = textIn(given, "argumentsError");
  const plain = jsonOf(given["arguments"]);
  if (!isRecord(plain)) return { arguments: {}, argumentsError: argumentsError || "The arguments are no JSON object." };
  return { arguments: plain as ToolCall["arguments"], ...(argumentsError === "" ? {} : { argumentsError }) };
}

function jsonOf(value: unknown): unknown {
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function usageOf(given: unknown): AssistantMessage["usage"] {
  const usage = isRecord(given) ? given : {};
  const cost = isRecord(usage["cost"]) ? usage["cost"] : {};
  const count = (record: Record<string, unknown>, name: string): number => {
    const value = record[name];
    return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : 0;
  };
  const [input, output] = [count(usage, "input"), count(usage, "output")];
  const [cacheRead, cacheWrite] = [count(usage, "cacheRead"), count(usage, "cacheWrite")];
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
    ...(usage["reasoning"] === undefined ? {} : { reasoning: count(usage, "reasoning") }),
    totalTokens: count(usage, "totalTokens") || input + output + cacheRead + cacheWrite,
    cost: {
      input: count(cost, "input"),
      output: count(cost, "output"),
      cacheRead: count(cost, "cacheRead"),
      cacheWrite: count(cost, "cacheWrite"),
      total: count(cost, "total"),
    },
  };
}
