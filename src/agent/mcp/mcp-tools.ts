/**
 * The tools a server lists, checked one by one: a broken one costs itself, not the others and not the request.
 * Part of `agent/`; used by McpConnection.
 */
import { isRecord } from "../../tree/json.ts";
import { startOfLine } from "../output-limits.ts";
import { mcpToolName } from "./tool-names.ts";
import { schemaFault } from "./tool-schema.ts";

export interface McpTool {
  /** Under which the model calls it and sessions record it. */
  name: string;
  server: string;
  /** As the server calls it. */
  tool: string;
  description: string;
  /** JSON Schema of its arguments, as the server gave it. */
  schema: Record<string, unknown>;
}

/** A server with more is broken, or meant for something else than a model's tool list. */
const MAX_TOOLS = 500;
/** UTF-16 units; longer descriptions are cut. */
const MAX_DESCRIPTION = 8 * 1024;

/** Takes what a server said its tools are, in its order. `faults` says what is left out and why, a few words each. */
export function readTools(server: string, listed: readonly unknown[]): { tools: McpTool[]; faults: string[] } {
  const tools = new Map<string, McpTool>();
  const faults: string[] = [];
  for (const [index, value] of listed.entries()) {
    if (index >= MAX_TOOLS) {
      faults.push(`everything after the first ${MAX_TOOLS} of ${listed.length}`);
      break;
    }
    const tool = isRecord(value) ? value["name"] : undefined;
    if (!isRecord(value) || typeof tool !== "string" || tool === "") {
      faults.push(`number ${index + 1} has no name`);
      continue;
    }
    const name = mcpToolName(server, tool);
    const shown = startOfLine(tool, 60);
    const fault = tools.has(name) ? "is listed twice" : schemaFault(value["inputSchema"]);
    if (fault !== undefined) faults.push(`"${shown}" ${fault}`);
    else tools.set(name, { name, server, tool, description: descriptionOf(value), schema: schemaOf(value) });
  }
  return { tools: [...tools.values()], faults };
}

function descriptionOf(value: Record<string, unknown>): string {
  const { description, title } = value;
  const text = typeof description === "string" && description !== "" ? description : title;
  return startOfLine(typeof text === "string" ? text : "", MAX_DESCRIPTION).toWellFormed();
}

/** Providers want the properties named, also when there are none. */
function schemaOf(value: Record<string, unknown>): Record<string, unknown> {
  const schema = value["inputSchema"] as Record<string, unknown>;
  return Object.hasOwn(schema, "properties") ? schema : { ...schema, properties: {} };
}
