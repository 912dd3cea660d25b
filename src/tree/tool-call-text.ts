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
/** What other tools' calls are about, the most telling first. */
const MAIN_FIELDS = "command query pattern url path file_path file title name description prompt text".split(" ");

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
  const text = describe !== undefined && isRecord(args) ? describe(args, home) : mainArgument(args, home);
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

/** The one argument that says most; else all that are no lists and objects. */
function mainArgument(args: unknown, home: string | undefined): string {
  if (!isRecord(args)) return plainList(Array.isArray(args) ? args : [args]);
  const texts = [
    ...MAIN_FIELDS.map((name) => (Object.hasOwn(args, name) ? args[name] : undefined)),
    ...Object.values(args),
  ];
  const main = texts.find((value) => oneLine(value) !== "");
  if (main !== undefined) return ellipsized(pathText(main, home), LONGEST_COMMAND);
  return plainList(Object.entries(args).flatMap(([name, value]) => plainText(value).map((text) => `${name} ${text}`)));
}

const plainList = (values: readonly unknown[]): string =>
  ellipsized(values.flatMap(plainText).join(", "), LONGEST_COMMAND);

/** Lists and objects have none. */
const plainText = (value: unknown): string[] =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? [String(value)] : [];
