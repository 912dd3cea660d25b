/**
 * What an outline says of an entry: one table for all kinds, with the row's text and what search finds beyond it.
 * Part of `tree/`: pure. Used by the outline's rows and its search. Never trusts the shape of a body.
 */
import type { EntryOfType, EntryType, SessionEntry } from "./entries.ts";
import { modelOf } from "./kinds.ts";
import { isRecord } from "./json.ts";
import type { AgentMessage, CustomMessage } from "./messages.ts";
import { describeToolCall, type CallDescription } from "./tool-call-text.ts";
import { oneLine, startOfText } from "./one-line.ts";
import { unmarkedLine } from "./unmarked-text.ts";

/** Theme tokens; a row names its colours and leaves them to who draws it. */
export type OutlineToken =
  | "accent"
  | "success"
  | "muted"
  | "dim"
  | "warning"
  | "error"
  | "customMessageLabel"
  | "borderAccent";

/** A run of text in one colour; without a token, in the usual one. One line, no control characters. */
export interface TextPart {
  text: string;
  token?: OutlineToken;
}

/** What a row may need beyond its own entry. */
export interface RowSurroundings {
  /** Shown as `~` at the start of paths. */
  home: string | undefined;
  /** The call that the tool result at `n` answers. */
  findCall(n: number, toolCallId: string): CallDescription | undefined;
}

interface RowText<E> {
  row(entry: E, n: number, around: RowSurroundings): TextPart[];
  /** Words that find the row although it does not show them; "" for none. */
  search(entry: E, n: number): string;
}

const LONGEST_ERROR = 80;

const part = (text: string, token?: OutlineToken): TextPart => (token === undefined ? { text } : { text, token });
const dim = (text: string): TextPart[] => [part(text, "dim")];
const nothing = (): string => "";
const startOfMarkdown = (content: unknown): string => startOfText(content, undefined, unmarkedLine);
const listed = (value: unknown): string =>
  Array.isArray(value) && value.length > 0 ? value.map((item) => oneLine(item)).join(", ") : "(none)";

type Role = AgentMessage["role"];
type MessageOfRole<R extends Role> = Extract<AgentMessage, { role: R }>;
/** Any value may stand where a file should have a message: each field is looked at before it is used. */
type Unchecked<M> = { readonly [K in keyof M]?: unknown };

/** The customType of the message that tells the model a rule, as oh-my-pi writes it. */
export const RULE_REMINDER = "ttsr-injection";

/** The name of an extension's message, in words where bough itself has written it. */
export const customTypeText = (customType: unknown): string =>
  customType === RULE_REMINDER ? "rule reminder" : oneLine(customType);

const custom: RowText<Unchecked<Pick<CustomMessage, "customType" | "content" | "details">>> = {
  row: ({ customType, content, details }) =>
    customType === RULE_REMINDER
      ? dim(`[${customTypeText(customType)}: ${listed(isRecord(details) ? details["rules"] : undefined)}]`)
      : [part(`[${customTypeText(customType)}]: `, "customMessageLabel"), part(startOfMarkdown(content))],
  search: ({ customType, content }) => (customType === RULE_REMINDER ? `${RULE_REMINDER} ${startOfText(content)}` : ""),
};

const ENTRY_TEXTS: { readonly [T in EntryType]: RowText<EntryOfType<T>> } = {
  message: {
    row: (entry, n, around) => messageText(entry.message).row(entry.message ?? {}, n, around),
    search: (entry, n) => messageText(entry.message).search(entry.message ?? {}, n),
  },
  compaction: {
    row: (entry) => [part(compactionText(entry.tokensBefore), "borderAccent")],
    search: nothing,
  },
  branch_summary: {
    row: (entry) => [part("[branch summary]: ", "warning"), part(unmarkedLine(entry.summary))],
    search: nothing,
  },
  custom: { row: (entry) => dim(`[custom: ${oneLine(entry.customType)}]`), search: nothing },
  custom_message: custom,
  label: { row: (entry) => dim(`[label: ${oneLine(entry.label) || "(cleared)"}]`), search: nothing },
  model_change: {
    row: (entry) => dim(`[model: ${oneLine(modelOf(entry)?.modelId) || "(none)"}]`),
    search: (entry) => oneLine(modelOf(entry)?.provider),
  },
  thinking_level_change: {
    row: (entry) => dim(`[thinking: ${oneLine(entry.thinkingLevel) || "off"}]`),
    search: nothing,
  },
  service_tier_change: { row: (entry) => dim(`[service tier: ${tierText(entry.serviceTier)}]`), search: nothing },
  mode_change: { row: (entry) => dim(`[mode: ${oneLine(entry.mode)}]`), search: nothing },
  mcp_tool_selection: { row: (entry) => dim(`[mcp tools: ${listed(entry.selectedToolNames)}]`), search: nothing },
  ttsr_injection: { row: (entry) => dim(`[rules told: ${listed(entry.injectedRules)}]`), search: () => "ttsr" },
  session_init: { row: (entry) => dim(`[session init: ${oneLine(entry.task)}]`), search: nothing },
  session_info: { row: (entry) => dim(`[title: ${oneLine(entry.name) || "(cleared)"}]`), search: nothing },
  title_change: { row: (entry) => dim(`[title: ${oneLine(entry.title) || "(cleared)"}]`), search: nothing },
  usage: { row: (entry) => dim(`[usage: ${oneLine(entry.kind)}]`), search: (entry) => oneLine(entry.model) },
  model_usage: {
    row: (entry) => dim(`[model usage: ${oneLine(entry.purpose)}]`),
    search: (entry) => oneLine(entry.model),
  },
  context_edit: {
    row: (entry) => dim(`[context ${entry.replacement ? "replace" : "omit"}: ${oneLine(entry.targetId)}]`),
    search: nothing,
  },
  reset_boundary: { row: () => dim("[reset boundary]"), search: nothing },
  credential_pin: { row: (entry) => dim(`[credential pin: ${oneLine(entry.provider)}]`), search: nothing },
};

const UNKNOWN_ENTRY: RowText<SessionEntry> = {
  row: (entry) => dim(`[${oneLine(entry.type).replace(/[_-]+/g, " ")}]`),
  search: (entry) => oneLine(entry.type),
};

const byRoleAlone: RowText<Unchecked<{ role: string; content: unknown }>> = {
  row: (message) => dim(`[${oneLine(message.role) || "message"}]`),
  search: (message) => startOfText(message.content),
};

const MESSAGE_TEXTS: { readonly [R in Role]: RowText<Unchecked<MessageOfRole<R>>> } = {
  user: {
    row: (message) => [part("user: ", "accent"), userText(message.content)],
    search: nothing,
  },
  assistant: {
    row: (message) => [part("assistant: ", "success"), assistantText(message)],
    search: nothing,
  },
  toolResult: {
    row: (message, n, around) => {
      const id = message.toolCallId;
      const call = typeof id === "string" ? around.findCall(n, id) : undefined;
      const name = oneLine(message.toolName) || "tool";
      return [part(call === undefined ? `[${name}]` : describeToolCall(call, around.home), "muted")];
    },
    search: (message) => `toolResult ${startOfText(message.content)}`,
  },
  bashExecution: { row: (message) => dim(`[bash]: ${oneLine(message.command)}`), search: nothing },
  pythonExecution: { row: (message) => dim(`[python]: ${oneLine(message.code)}`), search: nothing },
  fileMention: { row: byRoleAlone.row, search: (message) => mentionedPaths(message.files) },
  system: byRoleAlone,
  developer: byRoleAlone,
  custom,
  hookMessage: custom,
  branchSummary: { row: byRoleAlone.row, search: (message) => oneLine(message.summary) },
  compactionSummary: { row: byRoleAlone.row, search: (message) => oneLine(message.summary) },
};

/** The runs of a row's text. */
export function rowText(entry: SessionEntry, n: number, around: RowSurroundings): TextPart[] {
  return textsOf(entry).row(entry, n, around);
}

/** Words that find the row although it does not show them; "" for none. */
export function wordsBeyond(entry: SessionEntry, n: number): string {
  return textsOf(entry).search(entry, n);
}

/** All that search looks through for an entry, its label apart: what the row shows and the words that belong to it. */
export function searchText(row: readonly TextPart[], beyond: string): string {
  let shown = "";
  for (const { text } of row) shown += text;
  return (beyond === "" ? shown : `${shown} ${beyond}`).toLowerCase();
}

function textsOf(entry: SessionEntry): RowText<SessionEntry> {
  return Object.hasOwn(ENTRY_TEXTS, entry.type)
    ? (ENTRY_TEXTS[entry.type] as unknown as RowText<SessionEntry>)
    : UNKNOWN_ENTRY;
}

function messageText(message: { role?: unknown } | null | undefined): RowText<object> {
  const role = message?.role;
  return typeof role === "string" && Object.hasOwn(MESSAGE_TEXTS, role)
    ? (MESSAGE_TEXTS[role as Role] as RowText<object>)
    : (byRoleAlone as RowText<object>);
}

function compactionText(tokensBefore: unknown): string {
  return typeof tokensBefore === "number" && Number.isFinite(tokensBefore)
    ? `[compaction: ${Math.round(tokensBefore / 1000)}k tokens]`
    : "[compaction]";
}

function userText(content: unknown): TextPart {
  const text = startOfMarkdown(content);
  if (text !== "") return part(text);
  const pictured = Array.isArray(content) && content.some((block) => block?.type === "image");
  return part(pictured ? "(image)" : "(no content)", "muted");
}

function assistantText(message: { content?: unknown; stopReason?: unknown; errorMessage?: unknown }): TextPart {
  const text = startOfMarkdown(message.content);
  if (text !== "") return part(text);
  if (message.stopReason === "aborted") return part("(aborted)", "muted");
  const error = oneLine(message.errorMessage, LONGEST_ERROR);
  return error === "" ? part("(no content)", "muted") : part(error, "error");
}

function tierText(tier: unknown): string {
  if (typeof tier === "string" && tier !== "") return oneLine(tier);
  if (typeof tier !== "object" || tier === null) return "(default)";
  const named = Object.entries(tier).map(([provider, value]) => `${oneLine(provider)}:${oneLine(value)}`);
  return named.length === 0 ? "(default)" : named.join(" ");
}

function mentionedPaths(files: unknown): string {
  return Array.isArray(files) ? files.map((file) => oneLine(file?.path)).join(" ") : "";
}
