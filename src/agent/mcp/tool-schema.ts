/**
 * What is wrong with the JSON Schema of a tool's arguments, as far as providers refuse a whole request for it.
 * Part of `agent/`; used for the tools of MCP servers.
 */
import { compile } from "@earendil-works/pi-schema";
import { formats } from "@earendil-works/pi-schema/formats";
import { isRecord } from "../../tree/json.ts";
import { formatSize } from "../output-limits.ts";

const MAX_BYTES = 128 * 1024;
const TYPES: ReadonlySet<unknown> = new Set(["object", "array", "string", "number", "integer", "boolean", "null"]);

/** Where in a schema other schemas stand (JSON Schema 2020-12 and draft 7). */
const SCHEMA_MAPS = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
const SCHEMA_LISTS = ["anyOf", "oneOf", "allOf", "prefixItems"];
const SCHEMAS = ["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"];

/** A few words that follow the tool's name; undefined for a schema that can be sent. */
export function schemaFault(schema: unknown): string | undefined {
  if (!isRecord(schema) || schema["type"] !== "object") return "has no schema of an object";
  try {
    const size = Buffer.byteLength(JSON.stringify(schema));
    if (size > MAX_BYTES) return `has a schema of ${formatSize(size)}`;
    // As it is compiled before each call; it refuses what is no schema at all, and patterns that are none.
    compile(schema, { formats, coerce: true, unresolvedRefs: "reject" });
  } catch {
    return "has a broken schema";
  }
  return hasUnknownTypes(schema) ? "has a broken schema" : undefined;
}

function hasUnknownTypes(root: Record<string, unknown>): boolean {
  const pending: unknown[] = [root];
  for (let schema = pending.pop(); schema !== undefined; schema = pending.pop()) {
    if (!isRecord(schema)) continue;
    const { type, required } = schema;
    if (type !== undefined && !(Array.isArray(type) ? type : [type]).every((each) => TYPES.has(each))) return true;
    if (required !== undefined && !Array.isArray(required)) return true;
    for (const key of SCHEMA_MAPS) if (isRecord(schema[key])) pending.push(...Object.values(schema[key]));
    for (const key of SCHEMA_LISTS) if (Array.isArray(schema[key])) pending.push(...(schema[key] as unknown[]));
    for (const key of SCHEMAS) pending.push(...(Array.isArray(schema[key]) ? schema[key] : [schema[key] ?? true]));
  }
  return false;
}
