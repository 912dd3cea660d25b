/**
 * A tool call in a few words, for the row of its result.
 * Part of `tree/`: pure. Used by row-text. Arguments may be any value: models and other programs write all sorts.
 */
import { cutText } from "./content.ts";
import { isRecord } from "./json.ts";
import { oneLine } from "./one-line.ts";

export interface CallDescription {
  name: unknown;
  arguments: unknown;
}

const LONGEST_COMMAND = 50;
const LONGEST_ARGUMENTS = 40;

type Arguments = { readonly [name: string]: unknown };
type Describe = (args: Arguments, home: string | undefined) => string;

const fileOf: Describe = (args, home) => pathText(args.path ?? args.file_path, home);
const placeOf: Describe = (args, home) => pathText(args.path, home) || ".";

const KNOWN_TOOLS: ReadonlyMap<string, Describe> = new Map<string, Describe>([
  ["read", (args, home) => fileOf(args, home) + rangeText(args.offset, args.limit)],
  ["write", fileOf],
  ["edit", fileOf],
  ["bash", (args) => ellipsized(args.command, LONGEST_COMMAND)],
  ["grep", (args, home) => `/${oneLine(args.pattern)}/ in ${placeOf(args, home)}`],
  ["find", (args, home) => `${oneLine(args.pattern)} in ${placeOf(args, home)}`],
  ["ls", placeOf],
  ["task", (args) => ellipsized(args.description, LONGEST_COMMAND)],
]);

/** `[read: src/a.ts:10-29]`; `home` shows as `~`. */
export function describeToolCall(call: CallDescription, home: string | undefined): string {
  const name = oneLine(call.name) || "tool";
  const describe = KNOWN_TOOLS.get(name);
  const args = call.arguments;
  const text = describe !== undefined && isRecord(args) ? describe(args, home) : jsonText(args);
  return text === "" ? `[${name}]` : `[${name}: ${text}]`;
}

function pathText(path: unknown, home: string | undefined): string {
  const text = oneLine(path);
  if (!home || !text.startsWith(home)) return text;
  const rest = text.slice(home.length);
  return rest === "" || rest.startsWith("/") || rest.startsWith("\\") ? `~${rest}` : text;
}

function rangeText(offset: unknown, limit: unknown): string {
  if (typeof offset !== "number" && typeof limit !== "number") return "";
  const start = typeof offset === "number" ? offset : 1;
  return typeof limit === "number" ? `:${start}-${start + limit - 1}` : `:${start}`;
}

function ellipsized(value: unknown, limit: number): string {
  const text = oneLine(value, 2 * limit);
  return text.length > limit ? `${cutText(text, limit)}...` : text;
}

function jsonText(value: unknown): string {
  try {
    return ellipsized(JSON.stringify(value), LONGEST_ARGUMENTS);
  } catch {
    // JSON.stringify gives up on arguments nested thousands of levels deep.
    return "...";
  }
}
