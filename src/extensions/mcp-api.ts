/**
 * The part of an extension's object with which it brings MCP servers. Part of `extensions/`; see extension-api.ts.
 */
import { describedServer } from "../agent/mcp/mcp-config.ts";
import type { ExtensionAPI } from "./api.ts";
import type { Extension, RegisteredServer } from "./extension.ts";
import type { ExtensionSession } from "./session-port.ts";

export interface McpApiHost {
  /** undefined before there is one. */
  openSession(): Pick<ExtensionSession, "mcp"> | undefined;
}
export type McpApi = Pick<ExtensionAPI, "registerMcpServer" | "unregisterMcpServer">;

/** Allowed at any time. */
export function bringingServers(extension: Extension, host: McpApiHost): McpApi {
  const unregister = (name: string): void => {
    extension.mcpServers.get(name)?.end?.();
    extension.mcpServers.delete(name);
  };
  return {
    registerMcpServer: (name, entry) => {
      extension.mustExist();
      const server: RegisteredServer = { config: describedServer(extension.path, name, entry) };
      unregister(name);
      startServer(server, host.openSession());
      extension.mcpServers.set(name, server);
    },
    unregisterMcpServer: (name) => {
      extension.mustExist();
      unregister(name);
    },
  };
}

/** Throws when another extension has one of the name. */
export function startServer(server: RegisteredServer, session: Pick<ExtensionSession, "mcp"> | undefined): void {
  if (session !== undefined) server.end ??= session.mcp.register(server.config);
}
