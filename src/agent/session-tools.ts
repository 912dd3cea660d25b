/**
 * `SessionTools`: what the model may call: bough's own tools and those of MCP servers, what extensions make of them, and
 * in plan mode what that leaves.
 * Part of `agent/`; AgentSession has one.
 */
import type { AgentTool } from "@earendil-works/pi-agent-core";
import type { SessionMcp } from "./mcp/session-mcp.ts";
import type { PlanMode } from "./plan-mode.ts";

export interface SessionToolsHost {
  /** Made anew, so that they work where the session works. */
  own(): AgentTool[];
  /** See AgentSessionOptions. */
  readonly extended: ((tools: AgentTool[]) => AgentTool[]) | undefined;
  readonly mcp: Pick<SessionMcp, "tools" | "current">;
  readonly plan: Pick<PlanMode, "tools">;
}

export class SessionTools {
  readonly #host: SessionToolsHost;
  /** Names of what the last request was given to choose from. */
  #given = "";

  constructor(host: SessionToolsHost) {
    this.#host = host;
  }

  /** What the model may call outside of plan mode, as far as it is here now. */
  get current(): AgentTool[] {
    return this.#extended(this.#host.mcp.current);
  }

  /** The same, after a little wait for MCP servers that are being started. */
  async available(signal?: AbortSignal): Promise<AgentTool[]> {
    return this.#extended(await this.#host.mcp.tools(signal));
  }

  /** What the model may call now. */
  async forRequest(signal?: AbortSignal): Promise<AgentTool[]> {
    const available = await this.available(signal);
    this.#given = namesOf(available);
    return this.#host.plan.tools(available);
  }

  /** Whether extensions have changed them since `forRequest`. */
  get haveChanged(): boolean {
    return this.#host.extended !== undefined && namesOf(this.current) !== this.#given;
  }

  #extended(mcp: readonly AgentTool[]): AgentTool[] {
    const tools = [...this.#host.own(), ...mcp];
    return this.#host.extended?.(tools) ?? tools;
  }
}

const namesOf = (tools: readonly AgentTool[]): string => JSON.stringify(tools.map(({ name }) => name));
