/**
 * Keys and headers as extensions give them: text with the names of environment variables in it, or a command whose
 * output is meant. The notation is that of pi's `models.json`: `$NAME`, `${NAME}`, `$$` for a dollar, `$!` for an
 * exclamation mark at the beginning, and `!command`.
 * Part of `agent/`; used for providers that are registered while bough runs.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Environment } from "./providers.ts";

const run = promisify(execFile);
const NAMED = /\$(?:([$!])|\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g;
/** Milliseconds. */
const COMMAND_TIMEOUT_MS = 10_000;

/** The variables a text needs. */
export function variablesIn(text: string): string[] {
  if (text.startsWith("!")) return [];
  return [...text.matchAll(NAMED)].flatMap(([, , braced, bare]) => braced ?? bare ?? []);
}

/** What is meant. Rejects with one plain sentence when a variable is not set or the command has no output. */
export async function configValue(text: string, environment: Environment, signal?: AbortSignal): Promise<string> {
  if (text.startsWith("!")) return outputOf(text.slice(1), signal);
  return text.replace(NAMED, (_, literal?: string, braced?: string, bare?: string) => {
    if (literal !== undefined) return literal;
    const name = braced ?? bare ?? "";
    const value = environment[name];
    if (value === undefined || value === "") throw new Error(`The environment variable ${name} is not set.`);
    return value;
  });
}

/** Every value of a record. */
export async function configValues(
  texts: Readonly<Record<string, string>>,
  environment: Environment,
  signal?: AbortSignal,
): Promise<Record<string, string>> {
  const entries = Object.entries(texts).map(
    async ([name, text]) => [name, await configValue(text, environment, signal)] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

async function outputOf(command: string, signal: AbortSignal | undefined): Promise<string> {
  const options = { timeout: COMMAND_TIMEOUT_MS, ...(signal === undefined ? {} : { signal }) };
  // Neither the command nor what it printed is for the screen: either may be the key.
  const { stdout } = await run("/bin/sh", ["-c", command], options).catch(() => ({ stdout: "" }));
  if (stdout.trim() === "") throw new Error("The command that should print a key has not done so.");
  return stdout.trim();
}
