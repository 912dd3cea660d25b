/**
 * What is said about MCP servers, to the user and to the model: one plain sentence each, and the reasons in them.
 * Part of `agent/`.
 */

export const startFailed = (server: string, reason: string): string =>
  `The MCP server "${server}" does not work: ${reason}. /mcp shows its state and starts it again.`;
export const toolsLeftOut = (server: string, faults: readonly string[]): string =>
  `Of the tools of the MCP server "${server}" some are left out: ${faults.slice(0, 3).join("; ")}` +
  `${faults.length > 3 ? `; and ${faults.length - 3} more` : ""}.`;
export const stillStarting = (servers: readonly string[]): string =>
  `Not ready yet: the MCP ${servers.length === 1 ? "server" : "servers"} ${servers.map((name) => `"${name}"`).join(", ")}; ` +
  `the model gets what ${servers.length === 1 ? "it offers" : "they offer"} with a later prompt.`;
export const selectedGone = (names: readonly string[]): string =>
  `Chosen on this branch, but not here now: ${names.join(", ")}. They stay chosen.`;

// To the model, as the result of a call.

export const callFailed = (server: string, reason: string): string =>
  `The MCP server "${server}" did not answer the call: ${reason}.`;
export const callRefused = (server: string, reason: string): string => `The MCP server "${server}" says: ${reason}`;
export const CALL_STOPPED = "Stopped by the user.";

// Reasons.

export const WAS_CLOSED = "the connection was closed";
export const IS_OFF = "it is switched off in mcp.json";
export const noAnswerWithin = (milliseconds: number): string =>
  `it gave no answer within ${milliseconds < 1000 ? `${milliseconds} milliseconds` : `${Math.round(milliseconds / 1000)} seconds`}`;
export const badAnswer = (asked: string): string => `its answer to ${asked} is no valid one`;
export const unauthorised = (status: number): string =>
  `it refuses access (HTTP ${status}); what it asks for goes into "headers" of its entry in mcp.json`;
export const httpFailed = (status: number | undefined): string => `it answers with HTTP ${status ?? "errors"}`;
export const withLastWords = (reason: string, output: string): string =>
  output === "" ? reason : `${reason}; its last words: ${output}`;

export const nameTaken = (name: string, source: string): string =>
  `There is an MCP server ${name} of another extension already, so that of ${source} is not used.`;
