/**
 * Virtual models: models one can choose that send each request to another one, which a function of an extension names.
 * What is chosen is recorded as the choice, what has answered in the answer; providers see physical models only. Names,
 * the entry of the router's state and the `api` are those of pi, so that either reads the other's sessions.
 * Part of `agent/`; provider-layers.ts keeps them, model-routing.ts asks them.
 */
import type { AssistantMessage, Message, Provider } from "@earendil-works/pi-ai";
import { isRecord } from "../tree/json.ts";
import { THINKING_LEVELS, createProvider, fullModel, lazyStream } from "./providers.ts";
import type { Model, ThinkingLevel } from "./providers.ts";
import { untilAborted } from "./until-aborted.ts";

/** Of models that are none themselves. */
const VIRTUAL_API = "pi-virtual";

export interface VirtualModelDefinition<State = unknown> {
  /** Where it is listed; may be a provider with models of its own. */
  provider: string;
  id: string;
  name?: string;
  /** To choose from; what they mean is up to `route`. Default: off alone. */
  thinkingLevels?: readonly ThinkingLevel[];
  /** Until the first answer; then those of the model that gave it. */
  contextWindow?: number;
  maxTokens?: number;
  input?: ("text" | "image")[];
  route(request: ModelRouteRequest<State>): ModelRoute<State> | Promise<ModelRoute<State>>;
}

/** What a model and a level were, of a request. */
interface Routed {
  model: Model;
  thinkingLevel?: ThinkingLevel;
}

export interface ModelRouteRequest<State = unknown> {
  /** The chosen one, and the level chosen for it. */
  model: Model;
  thinkingLevel: ThinkingLevel;
  /**
   * `user`: the first request after a message of the user; `retry`: the one before has failed; `continuation`: any other
   * of a run; `direct`: one beside the conversation, such as a summary.
   */
  reason: "user" | "continuation" | "retry" | "direct";
  /** Of the latest answer that did not fail. */
  previous?: Routed;
  /** Of the request that is tried again. */
  failed?: Routed & { message: AssistantMessage };
  /** What was given last on this branch; never for `direct`. */
  state?: State;
  messages: readonly Message[];
  signal?: AbortSignal;
}

/** Where a request goes. */
export interface ModelRoute<State = unknown> {
  model: Model;
  thinkingLevel: ThinkingLevel;
  /** Kept on the branch, when it is another than the request's; plain data. Not for `direct`. */
  state?: State;
}

export const isVirtual = ({ api }: { api: string }): boolean => api === VIRTUAL_API;

/** The model of a definition. Throws one plain sentence for what is none. */
function virtualModel(definition: VirtualModelDefinition): Model {
  const about: unknown = definition;
  const needs = (member: string): string => `A virtual model must have a ${member}.`;
  if (!isRecord(about)) throw new TypeError("A virtual model must be an object.");
  for (const member of ["provider", "id"])
    if (typeof about[member] !== "string" || about[member] === "") throw new TypeError(needs(member));
  if (typeof about["route"] !== "function") throw new TypeError(needs("function route"));
  const { provider, id, name, contextWindow, maxTokens, input = ["text", "image"], thinkingLevels } = definition;
  const levels = Array.isArray(thinkingLevels) ? thinkingLevels : ["off"];
  return fullModel({
    id,
    provider,
    api: VIRTUAL_API,
    baseUrl: "",
    ...(name === undefined ? {} : { name }),
    input,
    reasoning: levels.some((level) => level !== "off"),
    thinkingLevelMap: Object.fromEntries(
      THINKING_LEVELS.map((level) => [level, levels.includes(level) ? level : null]),
    ),
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  });
}

/** A provider with virtual models in its list, which hide its own of the same id. */
export function withVirtual(id: string, provider: Provider | undefined, models: readonly Model[]): Provider {
  const own = (): readonly Model[] =>
    provider?.getModels().filter((model) => !models.some((virtual) => virtual.id === model.id)) ?? [];
  const getModels = (): readonly Model[] => [...own(), ...models];
  if (provider !== undefined) return { ...provider, getModels };
  const unrouted: Provider["streamSimple"] = (model) => failingStream(model, "It was not routed.");
  return {
    ...createProvider({
      id,
      auth: { apiKey: { name: id, resolve: async () => ({ auth: {} }) } },
      models: [],
      api: { stream: unrouted, streamSimple: unrouted },
    }),
    getModels,
  };
}

/** In place of an answer: an error. */
export const failingStream = (model: Model, reason: string, signal?: AbortSignal) =>
  lazyStream(model, async () => Promise.reject(new Error(reason)), undefined, signal);

/** The virtual models that are registered, each once. */
export class VirtualModels {
  readonly #byName = new Map<string, { model: Model; definition: VirtualModelDefinition }>();

  get isEmpty(): boolean {
    return this.#byName.size === 0;
  }
  has(provider: string, id: string): boolean {
    return this.#byName.has(nameOf({ provider, id }));
  }
  /** Those of a provider. */
  of(provider: string): Model[] {
    return [...this.#byName.values()].flatMap(({ model }) => (model.provider === provider ? [model] : []));
  }

  /** One of the same name is replaced. Throws one plain sentence for what is none, and for a name that is taken. */
  add(definition: VirtualModelDefinition, isTaken: (provider: string, id: string) => boolean): Model {
    const model = virtualModel(definition);
    if (isTaken(model.provider, model.id))
      throw new TypeError(`${nameOf(model)} is a model already, and cannot be a virtual one.`);
    this.#byName.set(nameOf(model), { model, definition });
    return model;
  }
  /** Unless it was replaced. */
  remove(model: Model): void {
    if (this.#byName.get(nameOf(model))?.model === model) this.#byName.delete(nameOf(model));
  }

  /** What the router says, which may be anything. Rejects for a model that is not there any more. */
  async ask(model: Model, { signal, ...request }: Omit<ModelRouteRequest, "model">): Promise<unknown> {
    const definition = this.#byName.get(nameOf(model))?.definition;
    if (definition === undefined) throw new Error(`The virtual model ${nameOf(model)} is not there any more.`);
    if (signal === undefined) return definition.route({ ...request, model });
    return untilAborted(Promise.resolve(definition.route({ ...request, model, signal })), signal);
  }
}

const nameOf = ({ provider, id }: Pick<Model, "provider" | "id">): string => `${provider}/${id}`;
