/**
 * `ModelRouting`: which model each request of a run goes to. For one that is virtual its router is asked, and what that
 * wants to remember is kept on the branch.
 * Part of `agent/`; SessionRuns makes one for each run.
 */
import { isDeepStrictEqual } from "node:util";
import type { StreamFn } from "@earendil-works/pi-agent-core";
import type { AssistantMessage, Message } from "@earendil-works/pi-ai";
import type { SessionManager } from "../session/session-manager.ts";
import { reasonOf } from "../session/session-errors.ts";
import { isRecord } from "../tree/json.ts";
import type { AgentMessage } from "../tree/messages.ts";
import type { BranchWriter } from "./branch-writer.ts";
import type { ModelRegistry } from "./models.ts";
import { clampThinkingLevel } from "./providers.ts";
import type { Model, ThinkingLevel } from "./providers.ts";
import type { SessionState } from "./session-state.ts";
import { failingStream, isVirtual } from "./virtual-models.ts";
import type { ModelRouteRequest } from "./virtual-models.ts";

export interface ModelRoutingHost {
  readonly sessionManager: SessionManager;
  readonly registry: Pick<ModelRegistry, "find" | "route" | "stream">;
  readonly state: Pick<SessionState, "answering" | "thinkingLevel" | "usableModel">;
  appended(entryId: string): void;
}

/** A request that is about to be made. */
export interface RequestAhead {
  branch: BranchWriter;
  /** The answer that is tried for again. */
  failed: AssistantMessage | undefined;
  /** What will be sent. */
  messages: () => readonly Message[];
  signal: AbortSignal;
}

/** The custom entry with what a router remembers. */
const STATE_ENTRY = "pi.virtual-model-state";

export class ModelRouting {
  readonly #host: ModelRoutingHost;
  /** For the latest request; by now it may be gone. */
  #chosen: Model | undefined;
  #routed: { model: Model; thinkingLevel: ThinkingLevel } | undefined;
  /** Why no model was found for it. */
  #problem: string | undefined;

  constructor(host: ModelRoutingHost) {
    this.#host = host;
  }

  /** The one that answers, or has answered last. */
  get model(): Model {
    const chosen = this.#chosen ?? this.#host.state.usableModel();
    return isVirtual(chosen) ? (this.#routed?.model ?? this.#host.state.answering ?? chosen) : chosen;
  }
  get thinkingLevel(): ThinkingLevel {
    return this.#routed?.thinkingLevel ?? clampThinkingLevel(this.model, this.#host.state.thinkingLevel);
  }

  /** Sends a request; one that no model was found for fails. */
  readonly stream: StreamFn = (model, context, options) =>
    this.#problem === undefined
      ? this.#host.registry.stream(model, context, options)
      : failingStream(this.#chosen ?? model, this.#problem, options?.signal);

  /** Finds the model for a request. Never rejects. */
  async route(ahead: RequestAhead): Promise<void> {
    this.#routed = undefined;
    this.#problem = undefined;
    try {
      const chosen = this.#host.state.usableModel();
      this.#chosen = chosen;
      if (!isVirtual(chosen)) return;
      const { branch, failed } = ahead;
      const path = this.#host.sessionManager.buildSessionContext(branch.tail).messages;
      const state = this.#stateOf(chosen, branch.tail);
      const { state: wanted, ...routed } = await this.#host.registry.route(chosen, {
        thinkingLevel: this.#host.state.thinkingLevel,
        reason: failed === undefined ? reasonFor(path) : "retry",
        ...this.#about("previous", path.findLast(isGoodAnswer)),
        ...this.#about("failed", failed),
        ...(state === undefined ? {} : { state }),
        messages: ahead.messages(),
        signal: ahead.signal,
      });
      if (wanted !== undefined && !isDeepStrictEqual(wanted, state)) this.#keep(chosen, wanted, branch);
      this.#routed = routed;
    } catch (error) {
      this.#problem = reasonOf(error);
    }
  }

  /** A request that was answered, as routers are told of it. */
  #about(name: "previous" | "failed", message: AssistantMessage | undefined): Partial<ModelRouteRequest> {
    const model = message && this.#host.registry.find(message.provider, message.model);
    if (message === undefined || model === undefined || isVirtual(model)) return {};
    const { thinkingLevel } = message;
    const routed = { model, ...(thinkingLevel === undefined ? {} : { thinkingLevel }) };
    return name === "failed" ? { failed: { ...routed, message } } : { previous: routed };
  }

  #keep({ provider, id }: Model, state: unknown, branch: BranchWriter): void {
    const data = { provider, modelId: id, state };
    const entry = branch.write((manager) => manager.appendCustomEntry(STATE_ENTRY, data));
    if (entry !== undefined) this.#host.appended(entry);
  }

  /** What the router of a model has given last on the path to an entry. */
  #stateOf({ provider, id }: Model, tail: string | null): unknown {
    const index = this.#host.sessionManager.getIndex();
    for (let n = tail === null ? -1 : (index.ordinal(tail) ?? -1); n >= 0; n = index.parentOrdinal(n)) {
      if (index.kindAt(n) !== "custom") continue;
      const entry = index.at(n);
      if (entry.type !== "custom" || entry.customType !== STATE_ENTRY || !isRecord(entry.data)) continue;
      if (entry.data["provider"] === provider && entry.data["modelId"] === id) return entry.data["state"];
    }
    return undefined;
  }
}

const isAnswer = (message: AgentMessage): message is AssistantMessage => message.role === "assistant";
const isGoodAnswer = (message: AgentMessage): message is AssistantMessage =>
  isAnswer(message) && message.stopReason !== "error" && message.stopReason !== "aborted";

/** Messages of extensions may follow the user's. */
function reasonFor(path: readonly AgentMessage[]): "user" | "continuation" {
  const isOfUser = path.slice(path.findLastIndex(isAnswer) + 1).some(({ role }) => role === "user");
  return isOfUser ? "user" : "continuation";
}
