/**
 * `SessionMcp`: the MCP servers of a session, and which of their tools the current branch uses.
 * Part of `agent/`; AgentSession has one, `/mcp` shows it.
 *
 * The choice is path state (`mcp_tool_selection`): a jump, a reload or a resume brings back the one of its branch. Where
 * the path says nothing, every tool of every server is used. A chosen tool whose server is gone stays chosen.
 */
import type { AgentTool } from "@earendil-works/pi-agent-core";
import type { AgentSessionEvent } from "../agent-session-events.ts";
import type { SessionState } from "../session-state.ts";
import type { McpConnection, McpServerStatus } from "./mcp-connection.ts";
import type { McpServerConfig } from "./mcp-config.ts";
import * as notices from "./mcp-notices.ts";
import { McpServers } from "./mcp-servers.ts";

export interface SessionMcpOptions {
  /** Default: none. */
  servers?: readonly McpServerConfig[] | undefined;
  /** bough's, for the servers. */
  version?: string | undefined;
  /** How long a prompt waits for servers that are being started, in milliseconds. Default 5000. */
  waitMs?: number | undefined;
  /** How long a server may take to start, in milliseconds. Default 60000. */
  startTimeoutMs?: number | undefined;
}

export interface SessionMcpHost {
  readonly state: SessionState;
  readonly cwd: string;
  /** Where the full text of a long result is kept. */
  readonly outputDir: string | undefined;
  emit(event: AgentSessionEvent): void;
}

export interface McpToolView {
  /** Under which the model calls it and the session records it. */
  name: string;
  /** As the server calls it. */
  tool: string;
  description: string;
  isSelected: boolean;
}
export interface McpServerView {
  name: string;
  /** The file that names it. */
  source: string;
  status: McpServerStatus;
  /** Why it does not work; one sentence or a reason. */
  problem: string | undefined;
  tools: readonly McpToolView[];
}

const WAIT_MS = 5000;

export class SessionMcp {
  readonly #host: SessionMcpHost;
  readonly #servers: McpServers;
  readonly #waitMs: number;
  readonly #told = new Set<string>();
  /** Names of those that extensions have added. */
  readonly #registered = new Set<string>();

  constructor(host: SessionMcpHost, options: SessionMcpOptions = {}) {
    const { servers = [], version, waitMs = WAIT_MS, startTimeoutMs } = options;
    this.#host = host;
    this.#waitMs = waitMs;
    this.#servers = new McpServers({
      servers,
      cwd: host.cwd,
      version,
      outputDir: host.outputDir,
      startTimeoutMs,
      changed: (server) => this.#changed(server),
    });
    this.#servers.start();
  }

  /** All servers with all their tools, in the order of the files. */
  get servers(): McpServerView[] {
    const selected = this.#selected();
    return this.#servers.all.map(({ config, status, problem, tools }) => ({
      name: config.name,
      source: config.source,
      status,
      problem,
      tools: tools.map(({ name, tool, description }) => ({ name, tool, description, isSelected: selected(name) })),
    }));
  }

  /**
   * Chooses what this branch uses, from the next request on. `names` are those of tools that are here; chosen ones that
   * are not here now stay chosen. Nothing is recorded when nothing changes.
   */
  select(names: Iterable<string>): void {
    const present = new Set(this.#servers.all.flatMap(({ tools }) => tools.map(({ name }) => name)));
    const wanted = new Set(names);
    const selected = this.#selected();
    if ([...present].every((name) => wanted.has(name) === selected(name))) return;
    const absent = (this.#host.state.mcpToolSelection ?? []).filter((name) => !present.has(name));
    this.#host.state.setMcpToolSelection([...absent, ...[...present].filter((name) => wanted.has(name))]);
  }

  /** What the model may call, waits a little for servers that are being started. */
  async tools(signal?: AbortSignal): Promise<AgentTool[]> {
    await this.#servers.settled(this.#waitMs, signal);
    this.#tellMissing();
    return this.current;
  }

  /** What the model may call of the servers that have started. */
  get current(): AgentTool[] {
    const selected = this.#selected();
    return this.#servers.tools().filter(({ name }) => selected(name));
  }

  /** Starts a server anew. How it went is in its status. */
  async restart(name: string): Promise<void> {
    await this.#servers.restart(name);
  }

  /**
   * Adds a server of an extension and starts it; the returned function ends it. One of the name in a file goes before it;
   * throws when another extension has one of the name.
   */
  register(config: McpServerConfig): () => void {
    const { name, source } = config;
    if (this.#registered.has(name)) throw new Error(notices.nameTaken(name, source));
    if (this.#servers.all.some((server) => server.config.name === name)) return () => undefined;
    const server = this.#servers.add(config);
    this.#registered.add(name);
    return () => {
      this.#registered.delete(name);
      void this.#servers.remove(server).then(() => this.#host.emit({ type: "mcp_changed" }));
    };
  }

  /** Ends all servers. */
  async dispose(): Promise<void> {
    await this.#servers.dispose();
  }

  #selected(): (name: string) => boolean {
    const selection = this.#host.state.mcpToolSelection;
    if (selection === undefined) return () => true;
    const names = new Set(selection);
    return (name) => names.has(name);
  }

  #changed({ config, status, problem, faults }: McpConnection): void {
    if (status === "failed") this.#tell(notices.startFailed(config.name, problem ?? ""));
    if (status === "ready" && faults.length > 0) this.#tell(notices.toolsLeftOut(config.name, faults));
    this.#host.emit({ type: "mcp_changed" });
  }

  #tellMissing(): void {
    const starting = this.#servers.all.filter(({ status }) => status === "starting");
    if (starting.length > 0) return this.#tell(notices.stillStarting(starting.map(({ config }) => config.name)));
    const present = new Set(this.#servers.all.flatMap(({ tools }) => tools.map(({ name }) => name)));
    const gone = (this.#host.state.mcpToolSelection ?? []).filter((name) => !present.has(name));
    if (gone.length > 0) this.#tell(notices.selectedGone(gone));
  }

  /** Each text once. */
  #tell(text: string): void {
    if (this.#told.has(text)) return;
    this.#told.add(text);
    this.#host.emit({ type: "notice", level: "warning", text });
  }
}
