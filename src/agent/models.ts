/**
 * `ModelRegistry`: the models that can be used now, and choosing one by what a person types.
 * Part of `agent/`; AgentSession sends requests through it, tui/ lists it, cli/ resolves `--model` with it.
 */
import { join } from "node:path";
import type { AssistantMessage, Context, MutableModels, SimpleStreamOptions } from "@earendil-works/pi-ai";
import type { StreamFn } from "@earendil-works/pi-agent-core";
import { discoverLoopback, servedModels } from "./model-discovery.ts";
import type { LoopbackServer } from "./model-discovery.ts";
import { readModelsFile } from "./models-file.ts";
import {
  BUILT_IN_PROVIDERS,
  THINKING_LEVELS,
  clientIdentity,
  createModelSet,
  environmentKey,
  ownProvider,
} from "./providers.ts";
import type { ApiKind, Environment, Model, OwnProvider, ThinkingLevel } from "./providers.ts";

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
const NAMED_IN_PROBLEM = 6;

export class ModelRegistry {
  /** What is wrong with `models.json`, one plain sentence each. */
  readonly problems: readonly string[];
  readonly #models: MutableModels;
  readonly #loopbackServers: readonly LoopbackServer[] | undefined;
  /** Own providers that cannot be used yet, and the variable each waits for. */
  readonly #waiting: ReadonlyMap<string, { provider: OwnProvider; variable: string }>;

  private constructor(
    models: MutableModels,
    loopbackServers: readonly LoopbackServer[] | undefined,
    problems: readonly string[],
    waiting: ReadonlyMap<string, { provider: OwnProvider; variable: string }>,
  ) {
    this.#models = models;
    this.#loopbackServers = loopbackServers;
    this.problems = problems;
    this.#waiting = waiting;
  }

  /** Loads the built-in providers whose key is set and the user's own; touches no network. */
  static async load(options: ModelRegistryOptions = {}): Promise<ModelRegistry> {
    const environment = options.environment ?? process.env;
    const models = createModelSet(environment, clientIdentity(options.version));
    const usable = BUILT_IN_PROVIDERS.filter((known) => environmentKey(known.keyVariables, environment) !== undefined);
    for (const provider of await Promise.all(usable.map((known) => known.load()))) models.setProvider(provider);

    const file =
      options.stateDir === undefined
        ? { listings: [], problems: [] }
        : readModelsFile(join(options.stateDir, "models.json"), environment);
    const waiting = new Map<string, { provider: OwnProvider; variable: string }>();
    for (const { provider, missingKey } of file.listings) {
      if (missingKey === undefined) models.setProvider(await ownProvider(provider));
      else waiting.set(provider.id, { provider, variable: missingKey });
    }
    return new ModelRegistry(models, options.loopbackServers, file.problems, waiting);
  }

  /** Every model that can be used now. */
  available(): readonly Model[] {
    return this.#models.getModels();
  }

  /** A usable model by its exact name. */
  find(provider: string, id: string): Model | undefined {
    return this.#models.getModel(provider, id);
  }

  /** The model to take when nobody has chosen: the usual one of the first provider that can be used. */
  defaultModel(): Model | undefined {
    const own = this.#models
      .getProviders()
      .find((provider) => !BUILT_IN_PROVIDERS.some(({ id }) => id === provider.id));
    if (own !== undefined) return own.getModels()[0];
    for (const { id, defaultModel } of BUILT_IN_PROVIDERS) {
      const model = this.find(id, defaultModel) ?? this.#models.getModels(id)[0];
      if (model !== undefined) return model;
    }
    return undefined;
  }

  /** Adds an endpoint from flags and returns its model, or a sentence that says why there is none. */
  async addEndpoint(endpoint: Endpoint): Promise<{ model: Model } | { problem: string }> {
    if (!/^https?:\/\/[^/]/.test(endpoint.baseUrl))
      return { problem: `The base URL ${endpoint.baseUrl} does not begin with http:// or https://.` };
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
    const found = await discoverLoopback(this.#loopbackServers);
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
    if (this.#models.getProvider(providerId) !== undefined) return undefined;
    const known = BUILT_IN_PROVIDERS.find(({ id }) => id === providerId);
    const waiting = this.#waiting.get(providerId);
    const name = waiting?.provider.name ?? known?.name;
    const variable = waiting?.variable ?? known?.keyVariables[0];
    if (name === undefined || variable === undefined) return `No provider named "${providerId}" is configured.`;
    return `There is no key for ${name}; set ${variable} and start bough again.`;
  }

  /** Sends a request; failures arrive as the answer's stopReason "error", never as an exception. */
  readonly stream: StreamFn = (model, context, options) => this.#models.streamSimple(model, context, options);

  /** One whole answer, for small tasks beside the conversation. */
  complete(model: Model, context: Context, options?: SimpleStreamOptions): Promise<AssistantMessage> {
    return this.#models.completeSimple(model, context, options);
  }

  async #add(provider: OwnProvider): Promise<void> {
    this.#models.setProvider(await ownProvider(provider));
  }

  #match(wanted: string): { model: Model } | { problem: string } {
    const models = this.available();
    const nameOf = (model: Model): string => `${model.provider}/${model.id}`;
    const exact = models.find((model) => nameOf(model) === wanted);
    if (exact !== undefined) return { model: exact };
    const sameId = models.filter((model) => model.id === wanted);
    if (sameId.length === 0) {
      const ofProvider = this.#models.getModels(wanted);
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
    const isKnown = BUILT_IN_PROVIDERS.some(({ id }) => id === provider) || this.#waiting.has(provider);
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
