/**
 * An AgentSession against a provider server on loopback, with its events and what its file holds; its session is
 * checked by the laws when the test is over.
 * Used by tests of agent/.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { AgentTool } from "@earendil-works/pi-agent-core";
import { AgentSession } from "../../src/agent/agent-session.ts";
import type { AgentSessionOptions } from "../../src/agent/agent-session-options.ts";
import type { AgentSessionEvent } from "../../src/agent/agent-session-events.ts";
import { ModelRegistry } from "../../src/agent/models.ts";
import type { Endpoint } from "../../src/agent/models.ts";
import type { Model } from "../../src/agent/providers.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import type { SessionEntry } from "../../src/tree/entries.ts";
import { textOf } from "../../src/tree/content.ts";
import { trackSession } from "./laws.ts";
import { startProvider } from "./provider-mock.ts";
import type { ProviderServer, ReceivedRequest, Reply } from "./provider-mock.ts";
import { temporaryFolder } from "./session-files.ts";

export interface Harness {
  session: AgentSession;
  manager: SessionManager;
  server: ProviderServer;
  registry: ModelRegistry;
  model: Model;
  events: AgentSessionEvent[];
  dir: string;
}

export interface HarnessOptions extends Partial<Omit<AgentSessionOptions, "sessionManager" | "registry">> {
  /** One that holds more models; the server's own is added to it. */
  registry?: ModelRegistry;
  replies?: Reply | readonly Reply[];
  /** Sees each request before it is answered. */
  onRequest?: (request: ReceivedRequest, n: number, harness: Harness) => void;
  manager?: SessionManager;
  /** Tokens the model takes. */
  contextWindow?: number;
  /** The test makes writing fail. */
  unsaved?: boolean;
  /** Another session writes the same file. */
  followed?: boolean;
}

/** A registry without keys whose only model is the endpoint's. */
export async function registryFor(
  endpoint: Endpoint,
  given?: ModelRegistry,
): Promise<{ registry: ModelRegistry; model: Model }> {
  const registry = given ?? (await ModelRegistry.load({ environment: {} }));
  const added = await registry.addEndpoint(endpoint);
  if ("problem" in added) throw new Error(added.problem);
  return { registry, model: added.model };
}

const FAST_RETRY = { enabled: true, maxRetries: 3, baseDelayMs: 1, maxDelayMs: 5 };

export async function startHarness(t: TestContext, options: HarnessOptions = {}): Promise<Harness> {
  const {
    replies = [],
    onRequest,
    manager: given,
    contextWindow,
    unsaved = false,
    followed = false,
    registry: _,
    ...sessionOptions
  } = options;
  const dir = temporaryFolder();
  const harness = {} as Harness;
  const server = await startProvider(replies, (request, n) => onRequest?.(request, n, harness));
  const { registry, model } = await registryFor(
    { baseUrl: server.baseUrl, model: "mock", ...(contextWindow === undefined ? {} : { contextWindow }) },
    options.registry,
  );
  const manager = given ?? SessionManager.create(dir, join(dir, "sessions"));
  const session = new AgentSession({ sessionManager: manager, registry, model, retry: FAST_RETRY, ...sessionOptions });
  const events: AgentSessionEvent[] = [];
  session.subscribe((event) => events.push(event));
  t.after(() => session.dispose().catch((error: unknown) => assert.ok(unsaved, String(error))));
  trackSession(t, manager, { unsaved, followed });
  t.after(() => server.close());
  return Object.assign(harness, { session, manager, server, registry, model, events, dir });
}

/** The lines of the session's file right now, parsed; the header first. */
export function fileLines(manager: SessionManager): { type: string; [field: string]: unknown }[] {
  const path = manager.getSessionFile();
  if (path === undefined) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/** One word or two for each entry: what a path or a file holds, in a form that can be compared whole. */
export function outlineOf(entries: readonly SessionEntry[]): string[] {
  return entries.map((entry) => {
    if (entry.type !== "message") return entry.type;
    const { message } = entry;
    if (message.role === "assistant") {
      const calls = message.content.flatMap((block) => (block.type === "toolCall" ? [`[${block.name}]`] : []));
      const said = [textOf(message.content), ...calls].filter((text) => text !== "").join(" ");
      return `assistant ${message.stopReason}: ${said}`;
    }
    if (message.role === "bashExecution") return `bash: ${message.command}`;
    if (message.role === "toolResult") return `result ${message.toolCallId}: ${textOf(message.content)}`;
    return `${message.role}: ${"content" in message ? textOf(message.content) : ""}`;
  });
}

/** What a request holds, message by message, the system prompt left out. */
export function sentMessages(request: ReceivedRequest | undefined): string[] {
  return (request?.body.messages ?? [])
    .filter((message) => message.role !== "system" && message.role !== "developer")
    .map(({ role, content, tool_calls: calls, tool_call_id: id }) =>
      [role, id, contentText(content), Array.isArray(calls) ? `[${calls.length} calls]` : undefined]
        .filter((part) => part !== undefined && part !== "")
        .join(" "),
    );
}

function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((block: { text?: string }) => block.text ?? "").join("") : "";
}

/** A tool of the name `name` that answers with what `execute` gives. */
export function tool(
  name: string,
  execute: (args: Record<string, unknown>, signal: AbortSignal | undefined) => string | Promise<string>,
): AgentTool {
  return {
    name,
    label: name,
    description: name,
    parameters: { type: "object", properties: { text: { type: "string" } } },
    execute: async (_id, args, signal) => ({
      content: [{ type: "text", text: await execute(args as Record<string, unknown>, signal) }],
      details: undefined,
    }),
  };
}

/** Resolves with the first event of a type from now on. */
export function nextEvent<T extends AgentSessionEvent["type"]>(
  session: AgentSession,
  type: T,
): Promise<Extract<AgentSessionEvent, { type: T }>> {
  return new Promise((resolve) => {
    const stop = session.subscribe((event) => {
      if (event.type !== type) return;
      stop();
      resolve(event as Extract<AgentSessionEvent, { type: T }>);
    });
  });
}

/** The notices so far. */
export const noticesOf = (events: readonly AgentSessionEvent[]): string[] =>
  events.flatMap((event) => (event.type === "notice" ? [`${event.level}: ${event.text}`] : []));
