/**
 * Model providers: which ones exist, how each is loaded, and the few functions bough uses of the library that talks
 * to them. The only file of bough that imports pi-ai's runtime; everything else sees the names exported here.
 * Part of `agent/`. A provider's module is loaded when its key is there: all of them together would cost the start
 * most of a second.
 */
import { lazyStream } from "@earendil-works/pi-ai/api/lazy";
import {
  clampThinkingLevel,
  createModels,
  createProvider,
  getSupportedThinkingLevels,
} from "@earendil-works/pi-ai/models";
import { calculateContextTokens, estimateMessageTokens } from "@earendil-works/pi-ai/utils/estimate";
import { AssistantMessageEventStream } from "@earendil-works/pi-ai/utils/event-stream";
import { isContextOverflow } from "@earendil-works/pi-ai/utils/overflow";
import { isRetryableAssistantError, retryDelayMs } from "@earendil-works/pi-ai/utils/retry";
import { ToolCallArgumentsStream } from "@earendil-works/pi-ai/utils/streaming-json";
import { toToolDeclaration } from "@earendil-works/pi-ai/utils/transcript";
import { validateToolArguments } from "@earendil-works/pi-ai/utils/validation";
import type {
  Api,
  ClientIdentity,
  Model as ProviderModel,
  ModelThinkingLevel,
  MutableModels,
  Provider,
  ProviderStreams,
} from "@earendil-works/pi-ai";
import { isRecord } from "../tree/json.ts";

export {
  AssistantMessageEventStream,
  ToolCallArgumentsStream,
  calculateContextTokens,
  clampThinkingLevel,
  createProvider,
  estimateMessageTokens,
  getSupportedThinkingLevels,
  isContextOverflow,
  isRetryableAssistantError,
  lazyStream,
  retryDelayMs,
  toToolDeclaration,
  validateToolArguments,
};

/** A model of any provider: id, prices, context window, what it accepts. */
export type Model = ProviderModel<Api>;
/** How much a model thinks before it answers. */
export type ThinkingLevel = ModelThinkingLevel;
export const THINKING_LEVELS: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];

export interface BuiltInProvider {
  id: string;
  name: string;
  /** Environment variables that may hold the key; the first is the one to recommend. */
  keyVariables: readonly [string, ...string[]];
  /** The model taken when only the provider is known. */
  defaultModel: string;
  load(): Promise<Provider>;
}

/** Providers that need nothing but a key in the environment, in the order in which a default model is looked for. */
export const BUILT_IN_PROVIDERS: readonly BuiltInProvider[] = [
  {
    id: "anthropic",
    name: "Anthropic",
    keyVariables: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_OAUTH_TOKEN"],
    defaultModel: "claude-sonnet-5-5",
    load: async () => (await import("@earendil-works/pi-ai/providers/anthropic")).anthropicProvider(),
  },
  {
    id: "openai",
    name: "OpenAI",
    keyVariables: ["OPENAI_API_KEY"],
    defaultModel: "gpt-6.2-sol",
    load: async () => (await import("@earendil-works/pi-ai/providers/openai")).openaiProvider(),
  },
  {
    id: "google",
    name: "Google",
    keyVariables: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    defaultModel: "gemini-pro-latest",
    load: async () => (await import("@earendil-works/pi-ai/providers/google")).googleProvider(),
  },
  {
    id: "openrouter",
    name: "OpenRouter",
    keyVariables: ["OPENROUTER_API_KEY"],
    defaultModel: "~anthropic/claude-sonnet-latest",
    load: async () => (await import("@earendil-works/pi-ai/providers/openrouter")).openrouterProvider(),
  },
  {
    id: "deepseek",
    name: "DeepSeek",
    keyVariables: ["DEEPSEEK_API_KEY"],
    defaultModel: "deepseek-v4-pro",
    load: async () => (await import("@earendil-works/pi-ai/providers/deepseek")).deepseekProvider(),
  },
  {
    id: "xai",
    name: "xAI",
    keyVariables: ["XAI_API_KEY"],
    defaultModel: "grok-4.7",
    load: async () => (await import("@earendil-works/pi-ai/providers/xai")).xaiProvider(),
  },
  {
    id: "mistral",
    name: "Mistral",
    keyVariables: ["MISTRAL_API_KEY"],
    defaultModel: "devstral-latest",
    load: async () => (await import("@earendil-works/pi-ai/providers/mistral")).mistralProvider(),
  },
  {
    id: "groq",
    name: "Groq",
    keyVariables: ["GROQ_API_KEY"],
    defaultModel: "openai/gpt-oss-120b",
    load: async () => (await import("@earendil-works/pi-ai/providers/groq")).groqProvider(),
  },
  {
    id: "cerebras",
    name: "Cerebras",
    keyVariables: ["CEREBRAS_API_KEY"],
    defaultModel: "qwen-3.8-27b",
    load: async () => (await import("@earendil-works/pi-ai/providers/cerebras")).cerebrasProvider(),
  },
  {
    id: "moonshotai",
    name: "Moonshot AI",
    keyVariables: ["MOONSHOT_API_KEY"],
    defaultModel: "kimi-k3.1-pro",
    load: async () => (await import("@earendil-works/pi-ai/providers/moonshotai")).moonshotaiProvider(),
  },
  {
    id: "kimi-coding",
    name: "Kimi For Coding",
    keyVariables: ["KIMI_API_KEY"],
    defaultModel: "kimi-for-coding",
    load: async () => (await import("@earendil-works/pi-ai/providers/kimi-coding")).kimiCodingProvider(),
  },
  {
    id: "zai",
    name: "Z.ai",
    keyVariables: ["ZAI_API_KEY"],
    defaultModel: "glm-5.3",
    load: async () => (await import("@earendil-works/pi-ai/providers/zai")).zaiProvider(),
  },
  {
    id: "minimax",
    name: "MiniMax",
    keyVariables: ["MINIMAX_API_KEY"],
    defaultModel: "MiniMax-M3",
    load: async () => (await import("@earendil-works/pi-ai/providers/minimax")).minimaxProvider(),
  },
  {
    id: "meta",
    name: "Meta",
    keyVariables: ["META_API_KEY"],
    defaultModel: "muse-spark-1.3",
    load: async () => (await import("@earendil-works/pi-ai/providers/meta")).metaProvider(),
  },
  {
    id: "together",
    name: "Together AI",
    keyVariables: ["TOGETHER_API_KEY"],
    defaultModel: "moonshotai/Kimi-K3.1-Pro",
    load: async () => (await import("@earendil-works/pi-ai/providers/together")).togetherProvider(),
  },
  {
    id: "fireworks",
    name: "Fireworks",
    keyVariables: ["FIREWORKS_API_KEY"],
    defaultModel: "accounts/fireworks/routers/kimi-latest",
    load: async () => (await import("@earendil-works/pi-ai/providers/fireworks")).fireworksProvider(),
  },
  {
    id: "baseten",
    name: "Baseten",
    keyVariables: ["BASETEN_API_KEY"],
    defaultModel: "moonshotai/Kimi-K3.1-Pro",
    load: async () => (await import("@earendil-works/pi-ai/providers/baseten")).basetenProvider(),
  },
  {
    id: "huggingface",
    name: "Hugging Face",
    keyVariables: ["HF_TOKEN"],
    defaultModel: "moonshotai/Kimi-K3.1-Pro",
    load: async () => (await import("@earendil-works/pi-ai/providers/huggingface")).huggingfaceProvider(),
  },
  {
    id: "vercel-ai-gateway",
    name: "Vercel AI Gateway",
    keyVariables: ["AI_GATEWAY_API_KEY"],
    defaultModel: "anthropic/claude-sonnet-5.5",
    load: async () => (await import("@earendil-works/pi-ai/providers/vercel-ai-gateway")).vercelAIGatewayProvider(),
  },
  {
    id: "opencode",
    name: "OpenCode Zen",
    keyVariables: ["OPENCODE_API_KEY"],
    defaultModel: "claude-sonnet-5-5",
    load: async () => (await import("@earendil-works/pi-ai/providers/opencode")).opencodeProvider(),
  },
  {
    id: "nvidia",
    name: "NVIDIA",
    keyVariables: ["NVIDIA_API_KEY"],
    defaultModel: "z-ai/glm-5.3-flash",
    load: async () => (await import("@earendil-works/pi-ai/providers/nvidia")).nvidiaProvider(),
  },
];

/** Wire protocols an endpoint of the user's own may speak. */
export const API_KINDS = ["openai-completions", "openai-responses", "anthropic-messages"] as const;
export type ApiKind = (typeof API_KINDS)[number];

const API_LOADERS: Readonly<Record<ApiKind, () => Promise<ProviderStreams>>> = {
  "openai-completions": async () =>
    (await import("@earendil-works/pi-ai/api/openai-completions.lazy")).openAICompletionsApi(),
  "openai-responses": async () =>
    (await import("@earendil-works/pi-ai/api/openai-responses.lazy")).openAIResponsesApi(),
  "anthropic-messages": async () =>
    (await import("@earendil-works/pi-ai/api/anthropic-messages.lazy")).anthropicMessagesApi(),
};

/** The clients of a protocol, by its name; undefined for one that nobody knows. */
export async function streamsFor(api: Api): Promise<Pick<ProviderStreams, "stream" | "streamSimple"> | undefined> {
  const own = API_KINDS.find((known) => known === api);
  if (own !== undefined) return API_LOADERS[own]();
  // All there are, which takes its time; and those that extensions have added to the library itself.
  return (await import("@earendil-works/pi-ai/compat")).getApiProvider(api);
}

/** One model of an endpoint that no catalogue knows. Absent fields take the defaults of `fullModel`. */
export interface OwnModel {
  id: string;
  name?: string;
  /** Tokens. */
  contextWindow?: number;
  /** Tokens of one answer. */
  maxTokens?: number;
  /** Whether it can think; needed for thinking levels. */
  reasoning?: boolean;
  input?: ("text" | "image")[];
  /** Dollars for a million tokens. */
  cost?: { input: number; output: number; cacheRead?: number; cacheWrite?: number };
}

/** An endpoint that is no built-in provider: from `models.json`, from flags, or found on loopback. */
export interface OwnProvider {
  id: string;
  name: string;
  baseUrl: string;
  api: ApiKind;
  /** Absent for servers that ask for none. */
  apiKey?: string;
  headers?: Record<string, string>;
  models: readonly OwnModel[];
}

const DEFAULT_CONTEXT_WINDOW = 128_000;
const DEFAULT_MAX_TOKENS = 16_384;
/**
 * Smallest window a model is given: the library asks for `window − input − 4096` tokens of answer, so a smaller one
 * would ask for a single token.
 */
const MIN_CONTEXT_WINDOW = 8_192;
/** Sent where a server asks for no key: the client libraries refuse to send a request without any. */
export const NO_KEY = "none";

/** The full description of an endpoint's model. */
export const ownModel = (provider: OwnProvider, own: OwnModel): Model =>
  fullModel({ ...own, api: provider.api, provider: provider.id, baseUrl: requestUrl(provider) });

/** A model with what was said of it, the rest by default. What was said may be anything. */
export function fullModel(
  given: Partial<Omit<Model, "cost">> &
    Pick<Model, "id" | "api" | "provider" | "baseUrl"> & { cost?: Partial<Model["cost"]> },
): Model {
  const { name, baseUrl, input, reasoning, contextWindow, maxTokens } = given;
  const count = (value: number | undefined, fallback: number): number =>
    typeof value === "number" && value > 0 && value < Infinity ? value : fallback;
  const text = (value: string | undefined, fallback: string): string => (typeof value === "string" ? value : fallback);
  const window = Math.max(MIN_CONTEXT_WINDOW, count(contextWindow, DEFAULT_CONTEXT_WINDOW));
  const cost: Partial<Model["cost"]> = isRecord(given.cost) ? given.cost : {};
  return {
    ...given,
    name: text(name, given.id),
    baseUrl: text(baseUrl, ""),
    input: Array.isArray(input) ? input : ["text"],
    cost: {
      ...cost,
      input: count(cost.input, 0),
      output: count(cost.output, 0),
      cacheRead: count(cost.cacheRead, 0),
      cacheWrite: count(cost.cacheWrite, 0),
    },
    reasoning: reasoning === true,
    contextWindow: window,
    maxTokens: Math.min(count(maxTokens, DEFAULT_MAX_TOKENS), window),
  };
}

/** Anthropic's client adds the version to the URL itself, the others expect it there; people write it for all. */
const requestUrl = ({ api, baseUrl }: OwnProvider): string =>
  baseUrl.replace(api === "anthropic-messages" ? /(?:\/v1)?\/*$/ : /\/+$/, "");

/** A provider the library can send requests to, made from an endpoint's description. */
export async function ownProvider(own: OwnProvider): Promise<Provider> {
  return createProvider({
    id: own.id,
    name: own.name,
    baseUrl: own.baseUrl,
    ...(own.headers === undefined ? {} : { headers: own.headers }),
    auth: {
      apiKey: { name: `${own.name} API key`, resolve: async () => ({ auth: { apiKey: own.apiKey ?? NO_KEY } }) },
    },
    models: own.models.map((model) => ownModel(own, model)),
    api: await API_LOADERS[own.api](),
  });
}

/** How requests name their sender. */
export const clientIdentity = (version: string | undefined): ClientIdentity => ({
  userAgent: { custom: version === undefined ? "bough" : `bough/${version}` },
  attribution: null,
});

/** The value of the first variable that is set to something, and its name. */
export function environmentKey(
  variables: readonly string[],
  environment: Environment,
): { variable: string; value: string } | undefined {
  for (const variable of variables) {
    const value = environment[variable]?.trim();
    if (value) return { variable, value };
  }
  return undefined;
}
export type Environment = Readonly<Record<string, string | undefined>>;

/** The set of providers that requests go through; keys are read from `environment` when a request is made. */
export function createModelSet(environment: Environment, identity: ClientIdentity): MutableModels {
  return createModels({
    identity,
    authContext: {
      // Google's key has two names in use; the library asks for one of them.
      env: async (name) => {
        const known = BUILT_IN_PROVIDERS.find((provider) => provider.keyVariables[0] === name);
        return environmentKey(known?.keyVariables ?? [name], environment)?.value;
      },
      fileExists: async () => false,
    },
  });
}
