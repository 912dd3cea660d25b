/**
 * `<state folder>/models.json`: the user's own providers.
 * Part of `agent/`; read by ModelRegistry.
 *
 *     {"providers": {"lab": {"baseUrl": "https://lab.example/v1", "api": "openai-completions", "apiKeyEnv": "LAB_KEY",
 *                            "models": [{"id": "big", "contextWindow": 200000, "reasoning": true}]}}}
 *
 * `api` is one of API_KINDS, default "openai-completions"; the key stands in `apiKey` or in the environment variable
 * that `apiKeyEnv` names; a server without a key has neither.
 */
import { arr, bool, compile, map, num, obj, oneOf, opt, str, unknown } from "@earendil-works/pi-schema";
import { baseUrlFault } from "./base-url.ts";
import { readSmallFile } from "./bounded-file.ts";
import { faultText, pointerStep, readJson } from "./json-source.ts";
import { API_KINDS, environmentKey } from "./providers.ts";
import type { Environment, OwnProvider } from "./providers.ts";

export interface OwnProviderListing {
  provider: OwnProvider;
  /** The variable that should hold the key and does not; such a provider is listed but cannot be used. */
  missingKey: string | undefined;
}
export interface ModelsFile {
  listings: OwnProviderListing[];
  /** One plain sentence each. */
  problems: string[];
}

/** Far more than any such file has. */
const MAX_BYTES = 4 * 1024 * 1024;

const price = num({ minimum: 0 });
const tokens = num({ exclusiveMinimum: 0 });
const PROVIDER = compile(
  obj({
    name: opt(str()),
    baseUrl: str(),
    api: opt(oneOf(API_KINDS)),
    apiKey: opt(str({ minLength: 1 })),
    apiKeyEnv: opt(str({ minLength: 1 })),
    headers: opt(map(str())),
    models: arr(
      obj({
        id: str({ minLength: 1 }),
        name: opt(str()),
        contextWindow: opt(tokens),
        maxTokens: opt(tokens),
        reasoning: opt(bool()),
        input: opt(arr(oneOf(["text", "image"]))),
        cost: opt(obj({ input: price, output: price, cacheRead: opt(price), cacheWrite: opt(price) })),
      }),
      { minItems: 1 },
    ),
  }),
);
const FILE = compile(obj({ providers: map(unknown()) }));

/** Reads the file; an absent one has no providers. A mistake costs the provider it is in, a broken file all of them. */
export function readModelsFile(path: string, environment: Environment): ModelsFile {
  const file = readSmallFile(path, MAX_BYTES);
  if (file.kind === "missing") return { listings: [], problems: [] };
  if (file.kind === "unreadable") return { listings: [], problems: [`${path} cannot be read: ${file.reason}.`] };
  return parseModelsFile(path, file.text, environment);
}

function parseModelsFile(path: string, text: string, environment: Environment): ModelsFile {
  const file: ModelsFile = { listings: [], problems: [] };
  const json = readJson(text);
  if (!json.ok) {
    file.problems.push(`${path} line ${json.line} is not JSON; your own models are left out until it is corrected.`);
    return file;
  }
  const report = (base: string, errors: readonly { path: string; message: string }[]): void => {
    const text = faultText(path, json, base, errors);
    if (text !== undefined) file.problems.push(text);
  };
  if (!FILE.check(json.value)) {
    report("", FILE.errors(json.value));
    return file;
  }
  for (const [id, value] of Object.entries(json.value.providers)) {
    const pointer = `/providers/${pointerStep(id)}`;
    if (!PROVIDER.check(value)) {
      report(pointer, PROVIDER.errors(value));
      continue;
    }
    const fault = baseUrlFault(value.baseUrl);
    if (fault !== undefined) {
      report(pointer, [{ path: "/baseUrl", message: fault }]);
      continue;
    }
    const { apiKeyEnv, apiKey: writtenKey, api = "openai-completions", name = id, ...rest } = value;
    const apiKey =
      writtenKey ?? (apiKeyEnv === undefined ? undefined : environmentKey([apiKeyEnv], environment)?.value);
    file.listings.push({
      provider: { ...rest, id, name, api, ...(apiKey === undefined ? {} : { apiKey }) },
      missingKey: apiKey === undefined ? apiKeyEnv : undefined,
    });
  }
  return file;
}
