/**
 * The MCP client library, loaded when the first server is started: nobody who has no server waits for it.
 * Part of `agent/`; the only file that imports the library's code.
 */
import type * as library from "@modelcontextprotocol/client";

export type ClientLibrary = typeof library;

export const loadClientLibrary = (): Promise<ClientLibrary> => import("@modelcontextprotocol/client");
