/**
 * `ModelRegistry`: the models that can be used now, and choosing one by what a person types.
 * Part of `agent/`; AgentSession sends requests through it, tui/ lists it, cli/ resolves `--model` with it.
 */
import { join } from "node:path";
import type {
  AssistantMessage,
  AssistantMessageEventStream,
  Context,
  ModelAuth,
  MutableModels,
  Provider,
  SimpleStreamOptions,
} from "@earendil-works/pi-ai";
import type { StreamFn } from "@earendil-works/pi-agent-core";
import { isRecord } from "../tree/json.ts";
import { baseUrlFault } from "./base-url.ts";
import type { ProviderKeys } from "./known-secrets.ts";
import { discoverLoopback, servedModels } from "./model-discovery.ts";
import type { LoopbackServer } from "./model-discovery.ts";
import { readModelsFile } from "./models-file.ts";
import {
  BUILT_IN_PROVIDERS,
  THINKING_LEVELS,
  clampThinkingLevel,
  clientIdentity,
  createModelSet,
  environmentKey,
  lazyStream,
  ownProvider,
} from "./providers.ts";
import type { ApiKind, BuiltInProvider, Environment, Model, OwnProvider, ThinkingLevel } from "./providers.ts";
import { untilAborted } from "./until-aborted.ts";
import { isVirtual } from "./virtual-models.ts";
import type { ModelRoute, ModelRouteRequest, VirtualModelDefinition } from "./virtual-models.ts";
import { ProviderLayers } from "./provider-layers.ts";
import { noKeyText } from "./registered-providers.ts";
import type { ProviderConfig } from "./registered-providers.ts";

export interface ModelRegistryOptions {
  /** Where `models.json` lies; absent: none is read. */
  stateDir?: string;
  /** Keys are looked for here. Default `process.env`. */
  environment?: Environment;
  /** bough's version, for the User-Agent of requests. */
  version?: string;
  /** Where `discover` looks. Default LOOPBACK_SERVERS. */
  loopbackServers?: readonly LoopbackServer[];
}

/** An endpoint given by flags. */
export interface Endpoint {
  baseUrl: string;
  /** Absent: the first model the server lists. */
  model?: string;
  apiKey?: string;
  /** Default "openai-completions". */
  api?: ApiKind;
  /** Tokens. */
  contextWindow?: number;
}

export type ModelChoice = { model: Model; thinkingLevel: ThinkingLevel | undefined } | { problem: string };

/** Provider id of the endpoint given by flags, as sessions record it. */
const ENDPOINT_PROVIDER = "endpoint";
const ENDPOINT_TIMEOUT_MS = 5_000;
/** A command that prints a key may take its time. Milliseconds. */
const KEYS_MS = 5_000;
const NAMED_IN_PROBLEM = 6;

export class ModelRegistry {
  readonly #environment: Environment;
  readonly #models: MutableModels;
  readonly #layers: ProviderLayers;
  readonly #options: ModelRegistryOptions;
  /** Ids of the user's own providers that can be used. */
  #own = new Set<string>();
  /** Own providers that cannot be used yet, and the variable each waits for. */
  readonly #waiting = new Map<string, { provider: OwnProvider; variable: string }>();
  #problems: readonly string[] = [];

  private constructor(options: ModelRegistryOptions) {
    this.#options = options;
    this.#environment = options.environment ?? process.env;
    this.#models = createModelSet(this.#environment, clientIdentity(options.version));
    this.#layers = new ProviderLayers(this.#models, this.#environment);
  }

  /** Loads the built-in providers whose key is set and the user's own; touches no network. */
  static async load(options: ModelRegistryOptions = {}): Promise<ModelRegistry> {
    const registry = new ModelRegistry(options);
    await registry.#loadBuiltIn(() => true);
    await registry.#readOwn();
    return registry;
  }

  /** What is wrong with `models.json`, one plain sentence each. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** Counts the changes: a model that was found before one may be another now. */
  get revision(): number {
    return this.#layers.revision;
  }

  /** Every model that can be used now. */
  available(): readonly Model[] {
    return this.#usable().flatMap(({ id }) => this.#models.getModels(id));
  }

  /** A usable model by its exact name. */
  find(provider: string, id: string): Model | undefined {
    return this.keyProblem(provider) === undefined ? this.#models.getModel(provider, id) : undefined;
  }

  /**
   * The model to take when nobody has chosen: the usual one of the first provider that can be used. What extensions
   * bring comes last: it is there for who asks for it.
   */
  defaultModel(): Model | undefined {
    const usable = this.#usable();
    const isBuiltIn = ({ id }: Provider): boolean => BUILT_IN_PROVIDERS.some((known) => known.id === id);
    const own = usable.find((provider) => this.#layers.hasBase(provider.id) && !isBuiltIn(provider));
    if (own !== undefined) return own.getModels()[0];
    for (const { id, defaultModel } of BUILT_IN_PROVIDERS) {
      if (!usable.some((provider) => provider.id === id)) continue;
      const model = this.find(id, defaultModel) ?? this.#models.getModels(id)[0];
      if (model !== undefined) return model;
    }
    return this.available()[0];
  }

  /**
   * Puts a provider, a whole one or a change to one, over what has its name; the returned function takes it away again.
   * Throws one plain sentence for what is no provider. What it has to look for first counts once `settled`.
   */
  register(id: string, config: ProviderConfig): () => void {
    return this.#layers.register(id, config);
  }
  registerWhole(provider: Provider): () => void {
    return this.#layers.registerWhole(provider);
  }
  /** Lists a model that sends its requests to others. Throws one plain sentence for what is none; see `register`. */
  registerVirtual(definition: VirtualModelDefinition): () => void {
    return this.#layers.registerVirtual(definition);
  }
  /** When everything registered so far counts. Never rejects. */
  async settled(): Promise<void> {
    await this.#layers.settled();
  }

  get hasVirtual(): boolean {
    return !this.#layers.virtual.isEmpty;
  }
  /** Whether there is a virtual model of the name. */
  isVirtual(provider: string, id: string): boolean {
    return this.#layers.virtual.has(provider, id);
  }

  /** Asks a virtual model's router. Rejects with one plain sentence when it names no model that can be asked. */
  async route(model: Model, request: Omit<ModelRouteRequest, "model">): Promise<ModelRoute> {
    const route = await this.#layers.virtual.ask(model, request);
    const named = isRecord(route) && isRecord(route["model"]) ? route["model"] : {};
    const target = this.#models.getModel(String(named["provider"]), String(named["id"]));
    const name = `${model.provider}/${model.id}`;
    if (!isRecord(route) || target === undefined || isVirtual(target))
      throw new Error(`The virtual model ${name} has named no model.`);
    const keyProblem = this.keyProblem(target.provider);
    if (keyProblem !== undefined) throw new Error(`The virtual model ${name} cannot be asked: ${keyProblem}`);
    const level = THINKING_LEVELS.find((known) => known === route["thinkingLevel"]) ?? "off";
    return { model: target, thinkingLevel: clampThinkingLevel(target, level), state: route["state"] };
  }

  /**
   * The model that a request beside the conversation goes to: another one where `model` is virtual. Rejects as `route`
   * does.
   */
  async physical(model: Model, signal: AbortSignal): Promise<Model> {
    if (!isVirtual(model)) return model;
    return (await this.route(model, { reason: "direct", thinkingLevel: "off", messages: [], signal })).model;
  }

  /** Reads `models.json` anew. */
  async reread(): Promise<void> {
    const before = this.#own;
    this.#own = new Set();
    this.#waiting.clear();
    await this.#readOwn();
    for (const id of before) {
      if (this.#own.has(id)) continue;
      this.#layers.removeBase(id);
      await this.#loadBuiltIn((known) => known.id === id);
    }
  }

  /** Adds an endpoint from flags and returns its model, or a sentence that says why there is none. */
  async addEndpoint(endpoint: Endpoint): Promise<{ model: Model } | { problem: string }> {
    const fault = baseUrlFault(endpoint.baseUrl);
    if (fault !== undefined) return { problem: `The base URL ${fault}.` };
    const served =
      endpoint.model === undefined
        ? (await servedModels(endpoint.baseUrl, ENDPOINT_TIMEOUT_MS, endpoint.apiKey))[0]
        : { id: endpoint.model };
    if (served === undefined) return { problem: `${endpoint.baseUrl} lists no models; name one with --model.` };
    const { contextWindow } = endpoint;
    await this.#add({
      id: ENDPOINT_PROVIDER,
      name: new URL(endpoint.baseUrl).host,
      baseUrl: endpoint.baseUrl,
      api: endpoint.api ?? "openai-completions",
      ...(endpoint.apiKey === undefined ? {} : { apiKey: endpoint.apiKey }),
      models: [{ ...served, ...(contextWindow === undefined ? {} : { contextWindow }) }],
    });
    const model = this.find(ENDPOINT_PROVIDER, served.id);
    return model === undefined ? { problem: `${endpoint.baseUrl} cannot be used.` } : { model };
  }

  /** Looks for model servers on loopback and returns the models found; they are usable from then on. */
  async discover(): Promise<readonly Model[]> {
    const found = await discoverLoopback(this.#options.loopbackServers);
    for (const provider of found) await this.#add(provider);
    return found.flatMap(({ id }) => this.#models.getModels(id));
  }

  /**
   * The model a person means by "provider/id", an id, a beginning of either that fits one model only, or a provider's
   * name; each may end in ":" and a thinking level.
   */
  choose(text: string): ModelChoice {
    const wanted = text.trim();
    const whole = this.#match(wanted);
    if ("model" in whole) return { model: whole.model, thinkingLevel: undefined };
    const colon = wanted.lastIndexOf(":");
    const level = THINKING_LEVELS.find((known) => known === wanted.slice(colon + 1));
    if (colon <= 0 || level === undefined) return whole;
    const part = this.#match(wanted.slice(0, colon));
    return "model" in part ? { model: part.model, thinkingLevel: level } : part;
  }

  /** Why a provider cannot be used, as a sentence that names the variable to set; undefined for one that can. */
  keyProblem(providerId: string): string | undefined {
    const decision = this.#layers.decisionOn(providerId);
    if (decision !== undefined) return decision.problem;
    const known = BUILT_IN_PROVIDERS.find(({ id }) => id === providerId);
    const waiting = this.#waiting.get(providerId);
    const name = waiting?.provider.name ?? known?.name;
    const variable = waiting?.variable ?? known?.keyVariables[0];
    if (name !== undefined && variable !== undefined) return noKeyText(name, variable);
    const isVirtual = this.#layers.virtual.of(providerId).length > 0;
    return isVirtual ? undefined : `No provider named "${providerId}" is configured.`;
  }

  /** Sends a request; failures arrive as the answer's stopReason "error", never as an exception. */
  readonly stream: StreamFn = (model, context, options) => this.streamSimple(model, context, options);
  streamSimple(model: Model, context: Context, options?: SimpleStreamOptions): AssistantMessageEventStream {
    if (!isVirtual(model)) return this.#models.streamSimple(model, context, options);
    return this.#directly(model, context, options, (target, given) =>
      this.#models.streamSimple(target, context, given),
    );
  }
  /** The same, with options of the model's own provider. */
  streamNatively(
    model: Model,
    context: Context,
    options?: SimpleStreamOptions & Record<string, unknown>,
  ): AssistantMessageEventStream {
    if (!isVirtual(model)) return this.#models.stream(model, context, options);
    return this.#directly(model, context, options, (target, given) => this.#models.stream(target, context, given));
  }

  /** A request to a virtual model outside of a run. */
  #directly(
    model: Model,
    { messages }: Context,
    options: SimpleStreamOptions = {},
    ask: (target: Model, options: SimpleStreamOptions) => AssistantMessageEventStream,
  ): AssistantMessageEventStream {
    const { signal, reasoning = "off", maxTokens, apiKey, headers, env, ...others } = options;
    const work = async (): Promise<AssistantMessageEventStream> => {
      const about = { reason: "direct", thinkingLevel: reasoning, messages } as const;
      const target = await this.route(model, { ...about, ...(signal === undefined ? {} : { signal }) });
      // A key that was given is for the provider that was asked.
      const auth = target.model.provider === model.provider ? { apiKey, headers, env } : {};
      const level = target.thinkingLevel === "off" ? {} : { reasoning: target.thinkingLevel };
      const limit = maxTokens === undefined ? {} : { maxTokens: Math.min(maxTokens, target.model.maxTokens) };
      return ask(target.model, { ...others, ...auth, ...level, ...limit, signal } as SimpleStreamOptions);
    };
    return lazyStream(model, work, undefined, signal);
  }

  /** What a request to the model, or to its provider, is sent with; undefined without a key. May reject. */
  async authFor(target: Model | string): Promise<Pick<ModelAuth, "apiKey" | "headers"> | undefined> {
    const found = await (typeof target === "string" ? this.#models.getAuth(target) : this.#models.getAuth(target));
    if (found === undefined) return undefined;
    const { apiKey, headers } = found.auth;
    return { ...(apiKey === undefined ? {} : { apiKey }), ...(headers === undefined ? {} : { headers }) };
  }

  /** What requests to each provider are sent with now; those that cannot tell in time have nothing. Never rejects. */
  async keysInUse(withinMs = KEYS_MS): Promise<ProviderKeys[]> {
    const late = new AbortController();
    // Not AbortSignal.timeout: a program that waits for nothing else would end.
    const timer = setTimeout(() => late.abort(), withinMs);
    const keys = this.#usable().map(async ({ id, name }) => ({
      name,
      ...(await untilAborted(this.authFor(id), late.signal)),
    }));
    const found = await Promise.allSettled(keys);
    clearTimeout(timer);
    return found.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  }

  /** A provider's name for people. */
  nameOf(providerId: string): string {
    return this.#models.getProvider(providerId)?.name ?? providerId;
  }

  /** One whole answer, for small tasks beside the conversation. */
  complete(model: Model, context: Context, options?: SimpleStreamOptions): Promise<AssistantMessage> {
    return this.streamSimple(model, context, options).result();
  }

  async #add(provider: OwnProvider): Promise<void> {
    this.#layers.setBase(await ownProvider(provider));
  }

  /** Those of them whose key is set. */
  async #loadBuiltIn(wanted: (known: BuiltInProvider) => boolean): Promise<void> {
    const hasKey = ({ keyVariables }: BuiltInProvider): boolean =>
      environmentKey(keyVariables, this.#environment) !== undefined;
    const usable = BUILT_IN_PROVIDERS.filter((known) => wanted(known) && hasKey(known));
    for (const provider of await Promise.all(usable.map((known) => known.load()))) this.#layers.setBase(provider);
  }

  async #readOwn(): Promise<void> {
    const { stateDir } = this.#options;
    if (stateDir === undefined) return;
    const { listings, problems } = readModelsFile(join(stateDir, "models.json"), this.#environment);
    this.#problems = problems;
    for (const { provider, missingKey } of listings) {
      if (missingKey === undefined) {
        await this.#add(provider);
        this.#own.add(provider.id);
      } else this.#waiting.set(provider.id, { provider, variable: missingKey });
    }
  }

  #usable(): Provider[] {
    return this.#models.getProviders().filter(({ id }) => this.keyProblem(id) === undefined);
  }

  #match(wanted: string): { model: Model } | { problem: string } {
    const models = this.available();
    const nameOf = (model: Model): string => `${model.provider}/${model.id}`;
    const exact = models.find((model) => nameOf(model) === wanted);
    if (exact !== undefined) return { model: exact };
    const sameId = models.filter((model) => model.id === wanted);
    if (sameId.length === 0) {
      const ofProvider = models.filter(({ provider }) => provider === wanted);
      const usual = BUILT_IN_PROVIDERS.find(({ id }) => id === wanted)?.defaultModel;
      const model = ofProvider.find(({ id }) => id === usual) ?? ofProvider[0];
      if (model !== undefined) return { model };
    }
    const begins = (name: string): boolean => wanted !== "" && name.toLowerCase().startsWith(wanted.toLowerCase());
    const fitting = sameId.length > 0 ? sameId : models.filter((model) => begins(model.id) || begins(nameOf(model)));
    const [only] = fitting;
    if (only !== undefined && fitting.length === 1) return { model: only };
    if (only !== undefined) return { problem: `"${wanted}" fits several models: ${listed(fitting.map(nameOf))}.` };
    return { problem: this.#absence(wanted) };
  }

  /** Why nothing fits: most often the key of the provider that has it. */
  #absence(wanted: string): string {
    const provider = wanted.split("/", 1)[0] ?? "";
    const isKnown = [BUILT_IN_PROVIDERS.map(({ id }) => id), [...this.#waiting.keys()], this.#layers.registeredIds]
      .flat()
      .includes(provider);
    const keyProblem = isKnown ? this.keyProblem(provider) : undefined;
    if (keyProblem !== undefined) return keyProblem;
    if (this.available().length === 0) return NO_MODEL;
    return `No model is named "${wanted}"; /model lists those you can use.`;
  }
}

/** What to do when there is no model at all. */
export const NO_MODEL = `No model is connected; set a key such as ${BUILT_IN_PROVIDERS.slice(0, 3)
  .map(({ keyVariables }) => keyVariables[0])
  .join(", ")}, or start a local server, or give --base-url and --model.`;

const listed = (names: readonly string[]): string =>
  names.length <= NAMED_IN_PROBLEM
    ? names.join(", ")
    : `${names.slice(0, NAMED_IN_PROBLEM).join(", ")} and ${names.length - NAMED_IN_PROBLEM} more`;
