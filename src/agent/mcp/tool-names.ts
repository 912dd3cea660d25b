/**
 * The names under which a model calls the tools of MCP servers: `mcp__<server>__<tool>`.
 * Part of `agent/`. Sessions record these names, so a name depends on server and tool alone, never on what else is there.
 */
import { createHash } from "node:crypto";

/** The shortest limit among providers: letters, digits, `_` and `-`, at most 64 (OpenAI, Anthropic, Bedrock). */
const MAX_NAME = 64;
const HASH_DIGITS = 8;
const SEPARATOR = "__";

/** A name every provider takes; two tools get two names. What had to be changed or cut ends with a hash of the original. */
export function mcpToolName(server: string, tool: string): string {
  const name = ["mcp", plain(server), plain(tool)].join(SEPARATOR);
  const isFaithful =
    plain(server) === server &&
    plain(tool) === tool &&
    tool !== "" &&
    name.length <= MAX_NAME &&
    // Else server "a" with tool "b__c" and server "a__b" with tool "c" would share a name.
    !`${server}_`.includes(SEPARATOR);
  if (isFaithful) return name;
  const hash = createHash("sha256")
    .update(JSON.stringify([server, tool]))
    .digest("hex");
  return `${name.slice(0, MAX_NAME - HASH_DIGITS - 1)}_${hash.slice(0, HASH_DIGITS)}`;
}

const plain = (text: string): string => text.replace(/[^A-Za-z0-9_-]/g, "_");
