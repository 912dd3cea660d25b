/**
 * Providers that extensions register while bough runs: new ones, and changes to those there are. Each lies over what
 * was there under its name and can be taken away again.
 * Part of `agent/`; ModelRegistry keeps them.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type {
  Api,
  ModelAuth,
  Provider,
  ProviderStreams,
  RefreshModelsContext,
  SimpleStreamOptions,
  TranscriptContext,
} from "@earendil-works/pi-ai";
import { isRecord } from "../tree/json.ts";
import { configValue, configValues, variablesIn } from "./config-values.ts";
import { deepCopy } from "./deep-copy.ts";
import { guardedStream } from "./guarded-stream.ts";
import { API_KINDS, NO_KEY, createProvider, fullModel, lazyStream, streamsFor } from "./providers.ts";
import type { Environment, Model } from "./providers.ts";

/** What an extension says of a provider, as pi has it. Keys and headers may name variables; see config-values.ts. */
export interface ProviderConfig {
  /** For people. Default: the provider's id. */
  name?: string;
  baseUrl?: string;
  /** Absent for servers that ask for none. */
  apiKey?: string;
  /** A protocol bough speaks, or the name of one that `streamSimple` speaks. */
  api?: Api;
  headers?: Record<string, string>;
  /** Send the key as "Authorization: Bearer", too. */
  authHeader?: boolean;
  /** In place of the provider's own. Default: those stay. */
  models?: readonly ProviderModelConfig[];
  /** Answers requests to models of `api`. */
  streamSimple?: StreamSimple;
  /** Asked once for the models, which stand in place of `models`. */
  refreshModels?(context: RefreshModelsContext): Promise<readonly ProviderModelConfig[]>;
  /** Of it only the name is used: bough has no logins. */
  oauth?: { name?: string };
}
/** One model. What is left out takes the defaults of `models.json`. */
export interface ProviderModelConfig extends Partial<Omit<Model, "id" | "provider" | "headers" | "type">> {
  id: string;
  headers?: Record<string, string>;
  /** Others than "chat" are left out. */
  type?: string;
}
export type StreamSimple = (model: Model, context: TranscriptContext, options?: SimpleStreamOptions) => unknown;

/** A registration that has been looked at. */
export interface RegisteredProvider {
  id: string;
  /** Why it cannot be used; undefined: it can. Absent: what lies under it decides. */
  keyProblem?: () => string | undefined;
  /** Puts it over what lies under its name. */
  over(base: Provider | undefined): Provider;
  /** Settles when it is what it will be; absent: at once. Never rejects. */
  ready?: Promise<void>;
}

/** How long a provider may look for its models, or for its key, in milliseconds. */
const READY_MS = 5_000;

/** Throws one plain sentence for what is no provider. */
export function registeredProvider(id: string, given: ProviderConfig, environment: Environment): RegisteredProvider {
  if (typeof id !== "string" || id.trim() === "") throw new TypeError("A provider must have a name.");
  const wrong = faultOf(given);
  if (wrong !== undefined) throw new TypeError(`The provider ${id} cannot be registered: ${wrong}.`);
  const config = configOf(given);
  const { apiKey, refreshModels, oauth, name = oauth?.name ?? id } = config;
  let { models } = config;
  const missingKey = (): string | undefined => {
    if (apiKey === undefined && oauth !== undefined) return `${name} needs a login, and bough has none.`;
    const missing = variablesIn(apiKey ?? "").find((variable) => !environment[variable]?.trim());
    return missing === undefined ? undefined : noKeyText(name, missing);
  };
  const refresh = async (): Promise<void> => {
    const key = apiKey === undefined || missingKey() !== undefined ? undefined : await configValue(apiKey, environment);
    const found: unknown = await refreshModels?.call(given, refreshContext(key));
    if (Array.isArray(found) && faultOf({ ...config, models: found }) === undefined)
      models = deepCopy(found as ProviderModelConfig[]);
  };
  const decides = [apiKey, models, refreshModels, oauth].some((given) => given !== undefined);
  return {
    id,
    ...(decides ? { keyProblem: missingKey } : {}),
    ...(typeof refreshModels === "function" ? { ready: inTime(refresh) } : {}),
    over: (base) =>
      composed(
        id,
        base,
        { ...config, name: config.name ?? base?.name ?? name, ...(models && { models }) },
        environment,
      ),
  };
}

/** What is changed later in the extension's own object does not count. */
function configOf({ streamSimple, refreshModels, ...plain }: ProviderConfig): ProviderConfig {
  return {
    ...deepCopy(plain),
    ...(streamSimple === undefined ? {} : { streamSimple }),
    ...(refreshModels === undefined ? {} : { refreshModels }),
  };
}

/** A whole provider, as the library has them: it knows its models, its key and how to ask. Throws as the other does. */
export function wholeProvider(given: Provider, environment: Environment): RegisteredProvider {
  const { id, auth } = given;
  if (typeof id !== "string" || id.trim() === "") throw new TypeError("A provider must have an id.");
  if (typeof given.getModels !== "function" || typeof given.streamSimple !== "function" || !isRecord(auth))
    throw new TypeError(`The provider ${id} cannot be registered: it must have getModels, streamSimple and auth.`);
  const name = typeof given.name === "string" ? given.name : id;
  let hasKey = false;
  const look = async (): Promise<void> => {
    const ctx = { env: async (variable: string) => environment[variable], fileExists: async () => false };
    const found = await given.auth.apiKey?.resolve({ ctx, signal: AbortSignal.timeout(READY_MS) });
    hasKey = found !== undefined;
    if (hasKey) await given.refreshModels?.(refreshContext(found?.auth.apiKey));
  };
  const models = listedModels(given);
  return {
    id,
    keyProblem: () => (hasKey ? undefined : `There is no key for ${name}; its extension says how to give it one.`),
    ready: inTime(look),
    over: () => ({
      ...createProvider({ id, name, auth, models: [], api: guarded(given.streamSimple.bind(given)) }),
      getModels: models,
    }),
  };
}

/** Its models as bough has them; it is asked each time, and looked at when it gives another list. */
function listedModels(given: Provider): () => readonly Model[] {
  let latest: unknown;
  let models: readonly Model[] = [];
  return () => {
    const list = listOf(given);
    if (list === latest) return models;
    const found = Array.isArray(list) ? (list as unknown[]) : [];
    models = found.flatMap((model) => {
      if (!isRecord(model) || typeof model["id"] !== "string") return [];
      return [fullModel({ ...deepCopy(model as unknown as Model), provider: given.id })];
    });
    latest = list;
    return models;
  };
}

/** What it throws leaves it without models. */
function listOf(given: Provider): unknown {
  try {
    return given.getModels();
  } catch {
    return undefined;
  }
}

const refreshContext = (key: string | undefined): RefreshModelsContext => ({
  allowNetwork: true,
  signal: AbortSignal.timeout(READY_MS),
  ...(key === undefined ? {} : { credential: { type: "api_key", key } }),
  publish: async ({ update }) => {
    update?.();
    return true;
  },
});

/** What fails or takes too long leaves things as they were. */
async function inTime(work: () => Promise<void>): Promise<void> {
  const clock = new AbortController();
  const late = sleep(READY_MS, undefined, { signal: clock.signal }).catch(() => undefined);
  await Promise.race([work().catch(() => undefined), late]);
  clock.abort();
}

export const noKeyText = (name: string, variable: string): string =>
  `There is no key for ${name}; set ${variable} and start bough again.`;

/** What is wrong with a config, for the end of a sentence. */
function faultOf(config: unknown): string | undefined {
  if (!isRecord(config)) return "there must be an object that describes it";
  for (const name of ["name", "baseUrl", "apiKey", "api"])
    if (config[name] !== undefined && typeof config[name] !== "string") return `its "${name}" must be a text`;
  const { api, streamSimple, models, headers, oauth } = config;
  if (oauth !== undefined && !isRecord(oauth)) return 'its "oauth" must be an object';
  if (config["refreshModels"] !== undefined && typeof config["refreshModels"] !== "function")
    return 'its "refreshModels" must be a function';
  if (!areTexts(headers)) return 'its "headers" must be texts';
  if (streamSimple !== undefined && typeof streamSimple !== "function") return 'its "streamSimple" must be a function';
  if (streamSimple !== undefined && api === undefined) return 'with "streamSimple" it must name its "api"';
  if (models === undefined) return undefined;
  if (!Array.isArray(models)) return 'its "models" must be a list';
  for (const model of models as unknown[]) {
    if (!isRecord(model) || typeof model["id"] !== "string" || model["id"] === "") return "each model must have an id";
    if (!areTexts(model["headers"])) return `the headers of its model ${model["id"]} must be texts`;
    if (api === undefined && typeof model["api"] !== "string")
      return `it must name an "api", such as ${API_KINDS[0]}, for its model ${model["id"]}`;
  }
  return undefined;
}

const areTexts = (headers: unknown): boolean =>
  headers === undefined || (isRecord(headers) && Object.values(headers).every((value) => typeof value === "string"));

function composed(id: string, base: Provider | undefined, config: ProviderConfig, environment: Environment): Provider {
  const { baseUrl, models } = config;
  const own = models?.filter(({ type = "chat" }) => type === "chat").map((given) => modelOf(id, given, config, base));
  const changed = (model: Model): Model => (baseUrl === undefined ? model : { ...model, baseUrl });
  return {
    ...createProvider({
      id,
      name: config.name ?? id,
      auth: { apiKey: keyOf(id, base, config, environment) },
      models: [],
      api: streamsOf(id, base, config, environment),
    }),
    getModels: () => own ?? base?.getModels().map(changed) ?? [],
  };
}

function modelOf(
  id: string,
  given: ProviderModelConfig,
  { api, baseUrl }: ProviderConfig,
  base: Provider | undefined,
): Model {
  // Resolved for each request.
  const { headers: _, ...about } = given;
  return fullModel({
    ...deepCopy(about),
    type: "chat",
    provider: id,
    api: given.api ?? api ?? "",
    baseUrl: given.baseUrl ?? baseUrl ?? base?.baseUrl ?? "",
  });
}

/** The key of the config, else what lies under it; with the headers of the config. */
function keyOf(id: string, base: Provider | undefined, config: ProviderConfig, environment: Environment) {
  const { apiKey, headers, authHeader } = config;
  const inherited = base?.auth.apiKey;
  type Resolve = NonNullable<Provider["auth"]["apiKey"]>["resolve"];
  const resolve: Resolve = async (input) => {
    const { credential, signal } = input;
    const key = credential?.key ?? (apiKey === undefined ? undefined : await configValue(apiKey, environment, signal));
    const asked = key === undefined ? input : { ...input, credential: { type: "api_key" as const, key } };
    const found = inherited === undefined ? { auth: { apiKey: key ?? NO_KEY } } : await inherited.resolve(asked);
    if (found === undefined) return undefined;
    const auth: ModelAuth = { ...found.auth };
    if (headers !== undefined)
      auth.headers = { ...auth.headers, ...(await configValues(headers, environment, signal)) };
    if (authHeader === true) auth.headers = { ...auth.headers, Authorization: `Bearer ${auth.apiKey}` };
    return { ...found, auth };
  };
  return { name: `${config.name ?? id} API key`, resolve };
}

/** The two ways to ask: with options that all providers have, and with those of the model's own. */
type Streams = Pick<ProviderStreams, "stream" | "streamSimple">;

function streamsOf(id: string, base: Provider | undefined, config: ProviderConfig, environment: Environment): Streams {
  const asking =
    (way: keyof Streams) =>
    (model: Model, context: TranscriptContext, options: SimpleStreamOptions = {}) =>
      lazyStream(
        model,
        async () => {
          const texts = config.models?.find((given) => given.id === model.id)?.headers;
          const own = texts && (await configValues(texts, environment, options.signal));
          const streams = await answering(model, id, base, config);
          return streams[way](model, context, { ...options, headers: { ...own, ...options.headers } });
        },
        undefined,
        options.signal,
      );
  return { stream: asking("stream"), streamSimple: asking("streamSimple") };
}

/** Who answers: the extension for models of its protocol, else the provider it lies over, else bough for a known one. */
async function answering(
  { api }: Model,
  id: string,
  base: Provider | undefined,
  config: ProviderConfig,
): Promise<Streams> {
  if (config.streamSimple !== undefined && api === config.api) return guarded(config.streamSimple);
  if (base?.getModels().some((known) => known.api === api) === true) return base;
  const streams = await streamsFor(api);
  if (streams === undefined) throw new Error(`The provider ${id} speaks "${api}", which bough does not know.`);
  return streams;
}

/** What an extension answers with; it gets copies. */
function guarded(streamSimple: StreamSimple): Streams {
  const ask: Streams["streamSimple"] = (model, context, options = {}) => {
    let isOver = false;
    const given = forExtension(options, () => isOver);
    const call = (): unknown => streamSimple(deepCopy(model), deepCopy(context), given);
    const stream = guardedStream(model, call, options.signal);
    void stream.result().then(() => (isOver = true));
    return stream;
  };
  return { stream: ask, streamSimple: ask };
}

const CALLBACKS: ReadonlySet<string> = new Set(["onPayload", "onResponse", "onProviderStreamEvent"]);

/**
 * The agent loop passes on all of its own functions, such as the one that takes from the queue. Of those for the request
 * none does anything once that is over: a provider that was left may still call them.
 */
function forExtension(options: SimpleStreamOptions, isOver: () => boolean): SimpleStreamOptions {
  const given: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    if (typeof value !== "function") given[name] = value;
    else if (CALLBACKS.has(name))
      given[name] = (...args: unknown[]) => (isOver() ? undefined : Reflect.apply(value, undefined, args));
  }
  return given;
}
