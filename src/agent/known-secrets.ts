/**
 * The secrets this machine is known to hold: keys from the environment, from bough's own files, and those in use.
 * Part of `agent/`; given to exports, which must not contain them.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { stateDir } from "../session/locations.ts";
import { isRecord } from "../tree/json.ts";
import { readSmallFile } from "./bounded-file.ts";
import { readJson } from "./json-source.ts";
import { BUILT_IN_PROVIDERS } from "./providers.ts";
import type { Environment } from "./providers.ts";

export interface KnownSecret {
  value: string;
  /** The variable's name, or the file and the member. */
  kind: string;
}

export interface KnownSecretsOptions {
  /** Default `process.env`. */
  environment?: Environment;
  /** Where settings.json, models.json and mcp.json lie; default: the user's state folder. */
  stateDir?: string;
  /** What requests are sent with, whoever gave it. */
  inUse?: readonly ProviderKeys[];
}

/** What the requests to a provider are sent with. */
export interface ProviderKeys {
  /** For people. */
  name: string;
  apiKey?: string;
  headers?: Readonly<Record<string, string | null>>;
}

const FILES = ["settings.json", "models.json", "mcp.json"];
const MAX_BYTES = 4 * 1024 * 1024;
/** Names of what holds a secret, in whatever spelling. */
const SECRET_NAME = /(?:key|token|secret|password|passwd|credentials?|authorization|cookie)$/i;
/** Names of the objects in which any text may be a secret … */
const SECRET_OBJECT = /^(?:headers|env|apiKeys)$/;
/** … when it looks like one: `application/json` and `production` are none. */
const LOOKS_SECRET = /^(?!https?:)(?=.*\d)(?=.*[A-Za-z])\S{16,}$/;
/** Names of what names a variable that holds a secret: `apiKeyEnv`. */
const VARIABLE = /Env$/;
/** Shorter values, and plain words, stand in any text by chance. */
const SHORTEST = 8;
const PLAIN_WORD = /^[a-z]{1,15}$|^[A-Z]{1,15}$|^[0-9]{1,9}$/;

/** Values too short or too plain to be found again are left out; a file that cannot be read has none. Never throws. */
export function knownSecrets(options: KnownSecretsOptions = {}): KnownSecret[] {
  const { environment = process.env, stateDir: folder = stateDir(), inUse = [] } = options;
  const found = new Map<string, string>();
  const add = (value: string | undefined, kind: string): void => {
    const text = value?.trim() ?? "";
    if (text.length >= SHORTEST && !PLAIN_WORD.test(text) && !isReference(text) && !found.has(text))
      found.set(text, kind);
  };
  for (const { keyVariables } of BUILT_IN_PROVIDERS) for (const name of keyVariables) add(environment[name], name);
  for (const [name, value] of Object.entries(environment)) if (SECRET_NAME.test(name)) add(value, name);
  for (const file of FILES) {
    const text = readSmallFile(join(folder, file), MAX_BYTES);
    const json = text.kind === "text" ? readJson(text.text) : undefined;
    if (json?.ok === true)
      for (const { name, value } of secretMembers(json.value)) {
        // A variable that is named there may have any name.
        if (VARIABLE.test(name)) add(environment[value], value);
        else add(value, `${name} in ${file}`);
        for (const [, variable] of value.matchAll(/\$\{(\w+)/g)) add(environment[variable!], variable!);
        add(keyIn(value), `${name} in ${file}`);
      }
  }
  for (const { name: provider, apiKey, headers } of inUse)
    for (const { name, value } of secretMembers({ apiKey, headers })) {
      add(value, `${name} of ${provider}`);
      add(keyIn(value), `${name} of ${provider}`);
    }
  return [...found].map(([value, kind]) => ({ value, kind }));
}

/** Of "Bearer abc" the key alone, which may stand elsewhere. */
const keyIn = (value: string): string | undefined => /^\w+ (\S+)$/.exec(value)?.[1];

/** A path or a variable is where the secret is, and no secret. */
const isReference = (text: string): boolean => text.includes("${") || (/^[~.]*[/\\]/.test(text) && existsSync(text));

function* secretMembers(root: unknown): Generator<{ name: string; value: string }> {
  const waiting: { value: unknown; isSecret: boolean }[] = [{ value: root, isSecret: false }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (Array.isArray(next.value)) for (const value of next.value) waiting.push({ value, isSecret: false });
    if (!isRecord(next.value)) continue;
    for (const [name, value] of Object.entries(next.value)) {
      const isNamed = SECRET_NAME.test(name) || VARIABLE.test(name);
      if (typeof value !== "string") waiting.push({ value, isSecret: SECRET_OBJECT.test(name) });
      else if (isNamed || (next.isSecret && (LOOKS_SECRET.test(value) || value.includes("${")))) yield { name, value };
    }
  }
}
