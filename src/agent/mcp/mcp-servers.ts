/**
 * `McpServers`: the MCP servers of one session and their tools as an agent calls them.
 * Part of `agent/`; SessionMcp has one. Servers start in the background; one that hangs or dies costs its own tools.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { AgentTool } from "@earendil-works/pi-agent-core";
import { McpConnection } from "./mcp-connection.ts";
import type { McpServerConfig } from "./mcp-config.ts";
import { McpFailure } from "./mcp-failure.ts";
import * as notices from "./mcp-notices.ts";
import type { McpTool } from "./mcp-tools.ts";
import { type McpCallDetails, toolResult } from "./tool-results.ts";

export interface McpServersOptions {
  servers: readonly McpServerConfig[];
  /** Where they work unless their entry says otherwise. */
  cwd: string;
  /** bough's, for the servers. Default "0". */
  version?: string | undefined;
  /** Where the full text of a long result is kept; see CommandOutput. */
  outputDir?: string | undefined;
  /** See McpConnectionOptions. */
  startTimeoutMs?: number | undefined;
  /** A server's status, tools or problem are others than before. */
  changed(server: McpConnection): void;
}

export class McpServers {
  readonly #options: McpServersOptions;
  #all: readonly McpConnection[];
  /** Starts under way that nobody has waited for in vain. */
  readonly #starts = new Set<Promise<void>>();

  constructor(options: McpServersOptions) {
    this.#options = options;
    this.#all = options.servers.map((config) => this.#connection(config));
  }

  get all(): readonly McpConnection[] {
    return this.#all;
  }

  /** One more, which is started at once. */
  add(config: McpServerConfig): McpConnection {
    const server = this.#connection(config);
    this.#all = [...this.#all, server];
    this.start();
    return server;
  }

  /** Ends one, with its tools. */
  async remove(server: McpConnection): Promise<void> {
    this.#all = this.#all.filter((other) => other !== server);
    await server.dispose();
  }

  /** Starts those that are idle, in the background; how it went is in their status. */
  start(): void {
    for (const server of this.all) if (server.status === "idle") void this.#follow(server.connect());
  }

  /** Starts one anew; how it went is in its status. */
  async restart(name: string): Promise<void> {
    const server = this.all.find(({ config }) => config.name === name);
    if (server?.config.endpoint !== undefined) await this.#follow(server.restart());
  }

  /**
   * Waits until no server is being started, but no longer than `milliseconds` or until `signal` aborts; a start that took
   * longer is not waited for again.
   */
  async settled(milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (this.#starts.size === 0) return;
    const timeUp = new AbortController();
    const ends = signal === undefined ? timeUp.signal : AbortSignal.any([timeUp.signal, signal]);
    await Promise.race([
      Promise.all(this.#starts),
      pause(milliseconds, undefined, { signal: ends }).catch(() => undefined),
    ]);
    timeUp.abort();
    this.#starts.clear();
  }

  /** Every tool of every server, in the order of the files. */
  tools(): AgentTool[] {
    return this.all.flatMap((server) => server.tools.map((tool) => this.#agentTool(server, tool)));
  }

  /** Ends all servers. */
  async dispose(): Promise<void> {
    await Promise.all(this.all.map((server) => server.dispose()));
  }

  #follow(start: Promise<void>): Promise<void> {
    const settled = start.then(
      () => undefined,
      () => undefined,
    );
    this.#starts.add(settled);
    return settled.then(() => void this.#starts.delete(settled));
  }

  #connection(config: McpServerConfig): McpConnection {
    const { cwd, version = "0", startTimeoutMs, changed } = this.#options;
    const connection: McpConnection = new McpConnection({
      config,
      cwd,
      version,
      startTimeoutMs,
      changed: () => changed(connection),
    });
    return connection;
  }

  #agentTool(connection: McpConnection, tool: McpTool): AgentTool<object, McpCallDetails> {
    const call = { server: tool.server, tool: tool.tool };
    return {
      name: tool.name,
      label: `${tool.server}: ${tool.tool}`,
      description: tool.description,
      parameters: tool.schema,
      execute: async (_id, args, signal, onUpdate) => {
        const onProgress = (text: string): void => onUpdate?.({ content: [{ type: "text", text }], details: call });
        try {
          const answer = await connection.call(tool, args as Record<string, unknown>, { signal, onProgress });
          return toolResult(answer, call, this.#options.outputDir);
        } catch (error) {
          if (!(error instanceof McpFailure) && signal?.aborted !== true) throw error;
          const text = error instanceof McpFailure ? failureText(tool.server, error) : notices.CALL_STOPPED;
          return { content: [{ type: "text", text }], details: call, isError: true };
        }
      },
    };
  }
}

const failureText = (server: string, { message, isRefusal }: McpFailure): string =>
  isRefusal ? notices.callRefused(server, message) : notices.callFailed(server, message);
