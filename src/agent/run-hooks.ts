/**
 * `RunHooks`: what the hooks of a run are asked and told, in the loop's own order, and what becomes of their answers.
 * Part of `agent/`; AgentSession makes one for each run. An abort ends every wait for an answer.
 */
import { isDeepStrictEqual } from "node:util";
import type {
  AfterToolCallContext,
  AfterToolCallResult,
  AgentEvent,
  AgentLoopConfig,
  BeforeToolCallContext,
  BeforeToolCallResult,
} from "@earendil-works/pi-agent-core";
import { isRecord } from "../tree/json.ts";
import type { AgentMessage, CustomMessage } from "../tree/messages.ts";
import { reasonOf } from "../session/session-errors.ts";
import { deepCopy } from "./deep-copy.ts";
import { draftOf } from "./delivery.ts";
import type { RunMessage } from "./delivery.ts";
import type { BeforeAgentStartEvent, HookEvent, HookResult } from "./hook-port.ts";
import { isContent, promptOf } from "./prompt-entries.ts";
import { validateToolArguments } from "./providers.ts";
import type { SessionHooks } from "./session-hooks.ts";
import * as notices from "./session-notices.ts";
import { untilAborted } from "./until-aborted.ts";

export class RunHooks {
  readonly #hooks: SessionHooks;
  #turnIndex = 0;
  /** What stands in place of the session's for this run. */
  #systemPrompt: string | undefined;

  constructor(hooks: SessionHooks) {
    this.#hooks = hooks;
  }

  /** The run's own prompt; undefined: the session's. */
  get systemPrompt(): string | undefined {
    return this.#systemPrompt;
  }

  /** Before the loop: messages to put behind what the run begins with. `systemPrompt` is asked for only if it is needed. */
  async beforeStart(
    message: RunMessage,
    systemPrompt: () => Promise<string>,
    signal: AbortSignal,
  ): Promise<CustomMessage[]> {
    if (!this.#hooks.has("before_agent_start")) return [];
    const event = startEvent(message, await systemPrompt());
    const answer: unknown = await untilAborted(this.#hooks.emit("before_agent_start", event), signal);
    if (answer === undefined || answer === null) return [];
    if (!isRecord(answer)) return this.#hooks.refused("before_agent_start", "is no object") ?? [];
    if (typeof answer["systemPrompt"] === "string") this.#systemPrompt = answer["systemPrompt"];
    const given = Array.isArray(answer["messages"]) ? answer["messages"] : [];
    return given.flatMap((draft) => {
      try {
        return [{ role: "custom" as const, ...draftOf(draft), timestamp: Date.now() }];
      } catch (error) {
        return this.#hooks.refused("before_agent_start", `has a wrong message: ${reasonOf(error)}`) ?? [];
      }
    });
  }

  /** The conversation as the hooks want it sent this once. They get copies; what is no conversation is refused. */
  async context(messages: AgentMessage[], signal: AbortSignal): Promise<AgentMessage[]> {
    if (!this.#hooks.has("context")) return messages;
    const answer: unknown = await untilAborted(this.#hooks.emit("context", { messages: deepCopy(messages) }), signal);
    const given = isRecord(answer) ? answer["messages"] : undefined;
    if (given === undefined) return messages;
    if (Array.isArray(given) && given.length > 0 && given.every(isMessage)) return deepCopy(given);
    this.#hooks.refused("context", "has no list of messages");
    return messages;
  }

  /** Before a tool runs. `args` is what it gets, checked, and is changed in place; whatever fails blocks the call. */
  async toolCall(
    { toolCall, args, context }: BeforeToolCallContext,
    signal: AbortSignal,
  ): Promise<BeforeToolCallResult | undefined> {
    if (!this.#hooks.has("tool_call") || !isRecord(args)) return undefined;
    const event = { toolName: toolCall.name, toolCallId: toolCall.id, input: structuredClone(args) };
    try {
      const answer = await untilAborted(this.#hooks.emitStrictly("tool_call", event), signal);
      if (answer?.block === true) return blocked(answer);
      const wanted = answer?.input ?? event.input;
      if (isDeepStrictEqual(wanted, args)) return undefined;
      const tool = context.tools?.find(({ name }) => name === toolCall.name);
      const { argumentsError: _, ...call } = toolCall;
      const checked: unknown =
        tool && validateToolArguments(tool, { ...call, arguments: wanted as typeof call.arguments });
      for (const name of Object.keys(args)) delete args[name];
      Object.assign(args, checked);
      return undefined;
    } catch (error) {
      return { block: true, reason: notices.callBlocked(reasonOf(error)) };
    }
  }

  /** After a tool has run: what replaces parts of its result. */
  async toolResult(
    { toolCall, args, result, isError }: AfterToolCallContext,
    signal: AbortSignal,
  ): Promise<AfterToolCallResult | undefined> {
    if (!this.#hooks.has("tool_result")) return undefined;
    const answer: unknown = await untilAborted(
      this.#hooks.emit("tool_result", {
        toolName: toolCall.name,
        toolCallId: toolCall.id,
        input: args as Record<string, unknown>,
        content: [...(result.content ?? [])],
        details: result.details,
        isError,
      }),
      signal,
    );
    if (!isRecord(answer)) return undefined;
    const patch: AfterToolCallResult = {};
    if (Array.isArray(answer["content"]) && isContent(answer["content"])) patch.content = answer["content"];
    else if (answer["content"] !== undefined)
      this.#hooks.refused("tool_result", "has content that is no list of blocks");
    if (answer["details"] !== undefined) patch.details = answer["details"];
    if (typeof answer["isError"] === "boolean") patch.isError = answer["isError"];
    return patch;
  }

  /** Told after the session has taken in what the event brings; undefined when nobody listens. */
  told(event: AgentEvent): Promise<unknown> | undefined {
    if (event.type === "agent_start") this.#turnIndex = 0;
    const turnIndex = event.type === "turn_end" ? this.#turnIndex++ : this.#turnIndex;
    if (!this.#hooks.has(event.type)) return undefined;
    const { type, ...told } = event;
    if (type === "turn_start") return this.#hooks.emit(type, { turnIndex, timestamp: Date.now() });
    const payload = type === "turn_end" ? { turnIndex, ...told } : told;
    return this.#hooks.emit(type, payload as HookEvent<typeof type>);
  }

  /** The body of a request as the hooks want it. */
  async request(payload: unknown, signal: AbortSignal): Promise<unknown> {
    if (!this.#hooks.has("before_provider_request")) return payload;
    const answer = await untilAborted(this.#hooks.emit("before_provider_request", { payload }), signal);
    return answer === undefined ? payload : answer;
  }

  async response({ status, headers }: HookEvent<"after_provider_response">, signal: AbortSignal): Promise<void> {
    if (!this.#hooks.has("after_provider_response")) return;
    await untilAborted(this.#hooks.emit("after_provider_response", { status, headers: { ...headers } }), signal);
  }

  /** Hears of each piece of an answer as the provider sends it; undefined when nobody listens. */
  streamListener(signal: AbortSignal): AgentLoopConfig["onProviderStreamEvent"] {
    if (!this.#hooks.has("provider_stream_event")) return undefined;
    return async (data, { provider, api, id }) => {
      await untilAborted(this.#hooks.emit("provider_stream_event", { provider, api, model: id, data }), signal);
    };
  }
}

function startEvent(message: RunMessage, systemPrompt: string): BeforeAgentStartEvent {
  const { text, images } = promptOf(message.content);
  if (message.role !== "user") return { messageType: "custom", message: deepCopy(message), prompt: text, systemPrompt };
  return { messageType: "user", prompt: text, ...(images === undefined ? {} : { images }), systemPrompt };
}

function blocked({ reason, terminate }: NonNullable<HookResult<"tool_call">>): BeforeToolCallResult {
  const shown = typeof reason === "string" && reason !== "" ? reason : notices.BLOCKED_WITHOUT_REASON;
  return { block: true, reason: shown, ...(terminate === true ? { terminate } : {}) };
}

const isMessage = (given: unknown): given is AgentMessage => isRecord(given) && typeof given["role"] === "string";
