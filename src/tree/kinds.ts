/**
 * The one table of entry kinds: all that any room needs to know of a kind, a column each. A new kind is a type in
 * entries.ts and a row here; the compiler asks for every column.
 * Part of `tree/`: pure. Used by the index (leaf), the fold (state), the context (message) and the outline (row).
 */
import type { EntryOfType, EntryType, ServiceTier, SessionEntry } from "./entries.ts";
import { textBlocks } from "./content.ts";
import { readTime } from "./format.ts";
import { isRecord } from "./json.ts";
import type { AgentMessage, Usage } from "./messages.ts";
import type { PathState } from "./path-state.ts";

export interface EntryKind<E> {
  /** Whether reading it moves the leaf wherever it stands ("always"), or only if it continues the leaf's own chain. */
  movesLeaf: "always" | "on-chain";
  /** Hidden by the outline's default filter. */
  bookkeeping: boolean;
  /** What is wrong with its fields, in a few words, or undefined. A wrong entry stays in the tree and adds nothing. */
  fault(entry: E): string | undefined;
  /** Its effect on the state of a path; `undefined` for none. */
  fold: ((state: PathState, entry: E) => void) | undefined;
  /** The message it adds to the context; `undefined` for none. */
  message: ((entry: E) => AgentMessage | undefined) | undefined;
  /** Tokens and money it records. */
  usage: ((entry: E) => Usage | undefined) | undefined;
}

type Kinds = { readonly [T in EntryType]: EntryKind<EntryOfType<T>> };

const none = undefined;
const sound = (): undefined => undefined;
const isString = (value: unknown): value is string => typeof value === "string";
const needs = (entry: object, field: string, type: "string" | "object" | "boolean"): string | undefined =>
  typeof Reflect.get(entry, field) === type && Reflect.get(entry, field) !== null ? undefined : `no ${field}`;
const needsList = (entry: object, field: string): string | undefined =>
  Array.isArray(Reflect.get(entry, field)) ? undefined : `no list ${field}`;
const needsContent = (value: unknown): string | undefined =>
  typeof value === "string" || Array.isArray(value) ? undefined : "no content";

/** A message's time from its entry's; 0 when that is unreadable. */
export function milliseconds(timestamp: string): number {
  const time = readTime(timestamp);
  return Number.isNaN(time) ? 0 : time;
}

/** Stands for every kind bough does not know. */
export const UNKNOWN_KIND: EntryKind<SessionEntry> = {
  movesLeaf: "on-chain",
  bookkeeping: true,
  fault: sound,
  fold: none,
  message: none,
  usage: none,
};

export const ENTRY_KINDS: Kinds = {
  message: {
    movesLeaf: "always",
    bookkeeping: false,
    fault: (entry) =>
      !isRecord(entry.message) ? "no message" : typeof entry.message.role !== "string" ? "message without role" : none,
    fold: (state, entry) => {
      const message = entry.message;
      if (message.role !== "assistant") return;
      const { provider, model } = message;
      if (isString(provider) && provider !== "" && isString(model) && model !== "")
        state.model = { provider, modelId: model };
    },
    message: (entry) => withContent(entry.message),
    usage: (entry) =>
      entry.message.role === "assistant" || entry.message.role === "toolResult" ? entry.message.usage : none,
  },
  compaction: {
    movesLeaf: "always",
    bookkeeping: false,
    fault: (entry) => needs(entry, "summary", "string"),
    fold: (state, entry) => {
      state.compaction = entry;
    },
    // Emitted by the context itself: only the latest one counts, and ahead of what it kept.
    message: none,
    usage: (entry) => entry.usage,
  },
  branch_summary: {
    movesLeaf: "always",
    bookkeeping: false,
    fault: (entry) => needs(entry, "summary", "string"),
    fold: none,
    message: (entry) =>
      entry.summary === ""
        ? none
        : {
            role: "branchSummary",
            summary: entry.summary,
            fromId: isString(entry.fromId) ? entry.fromId : "",
            timestamp: milliseconds(entry.timestamp),
          },
    usage: (entry) => entry.usage,
  },
  custom: {
    movesLeaf: "on-chain",
    bookkeeping: true,
    fault: (entry) => needs(entry, "customType", "string"),
    fold: none,
    message: none,
    usage: none,
  },
  custom_message: {
    movesLeaf: "always",
    bookkeeping: false,
    fault: (entry) => needs(entry, "customType", "string") ?? needsContent(entry.content),
    fold: none,
    message: (entry) => ({
      role: "custom",
      customType: entry.customType,
      content: entry.content,
      display: entry.display !== false,
      ...(entry.details === undefined ? {} : { details: entry.details }),
      timestamp: milliseconds(entry.timestamp),
    }),
    usage: none,
  },
  label: {
    movesLeaf: "on-chain",
    bookkeeping: true,
    fault: (entry) => needs(entry, "targetId", "string"),
    fold: none,
    message: none,
    usage: none,
  },
  model_change: {
    movesLeaf: "always",
    bookkeeping: true,
    fault: (entry) => (modelOf(entry) === undefined ? "no model" : none),
    fold: (state, entry) => {
      if ((entry.role ?? "default") === "default") state.model = modelOf(entry) ?? state.model;
    },
    message: none,
    usage: none,
  },
  thinking_level_change: {
    movesLeaf: "always",
    bookkeeping: true,
    fault: sound,
    fold: (state, entry) => {
      state.thinkingLevel = typeof entry.thinkingLevel === "string" ? entry.thinkingLevel : "off";
    },
    message: none,
    usage: none,
  },
  service_tier_change: {
    movesLeaf: "always",
    bookkeeping: true,
    fault: sound,
    fold: (state, entry) => {
      state.serviceTier = serviceTierOf(entry.serviceTier);
    },
    message: none,
    usage: none,
  },
  mode_change: {
    movesLeaf: "always",
    bookkeeping: true,
    fault: (entry) => needs(entry, "mode", "string"),
    fold: (state, entry) => {
      state.mode = entry.mode;
      state.modeData = isRecord(entry.data) ? entry.data : undefined;
    },
    message: none,
    usage: none,
  },
  mcp_tool_selection: {
    movesLeaf: "always",
    bookkeeping: true,
    fault: (entry) => needsList(entry, "selectedToolNames"),
    fold: (state, entry) => {
      state.mcpToolSelection = entry.selectedToolNames.filter(isString);
    },
    message: none,
    usage: none,
  },
  ttsr_injection: {
    movesLeaf: "always",
    bookkeeping: true,
    fault: (entry) => needsList(entry, "injectedRules"),
    fold: (state, entry) => {
      for (const rule of entry.injectedRules.filter(isString)) state.injectedTtsrRules.add(rule);
    },
    message: none,
    usage: none,
  },
  session_init: { movesLeaf: "always", bookkeeping: true, fault: sound, fold: none, message: none, usage: none },
  session_info: {
    movesLeaf: "on-chain",
    bookkeeping: true,
    fault: (entry) => needs(entry, "name", "string"),
    fold: none,
    message: none,
    usage: none,
  },
  title_change: {
    movesLeaf: "on-chain",
    bookkeeping: true,
    fault: (entry) => needs(entry, "title", "string"),
    fold: none,
    message: none,
    usage: none,
  },
  usage: {
    movesLeaf: "on-chain",
    bookkeeping: true,
    fault: (entry) => needs(entry, "usage", "object"),
    fold: none,
    message: none,
    usage: (entry) => entry.usage,
  },
  model_usage: {
    movesLeaf: "on-chain",
    bookkeeping: true,
    fault: (entry) => needs(entry, "usage", "object"),
    fold: none,
    message: none,
    usage: (entry) => entry.usage,
  },
  context_edit: {
    movesLeaf: "on-chain",
    bookkeeping: true,
    fault: (entry) =>
      needs(entry, "targetId", "string") ??
      (entry.replacement === null ? none : needsContent(entry.replacement?.content)),
    fold: (state, entry) => {
      state.edits.set(entry.targetId, entry.replacement);
    },
    message: none,
    usage: none,
  },
  reset_boundary: {
    movesLeaf: "always",
    bookkeeping: true,
    fault: sound,
    fold: (state, entry) => {
      state.reset = entry;
    },
    message: none,
    usage: none,
  },
  credential_pin: { movesLeaf: "on-chain", bookkeeping: true, fault: sound, fold: none, message: none, usage: none },
};

/** The row of any entry, also of kinds bough does not know. */
export const kindOf = (entry: SessionEntry): EntryKind<SessionEntry> => kindNamed(entry.type);

/** The row of a kind by its name alone. */
export function kindNamed(type: string): EntryKind<SessionEntry> {
  return Object.hasOwn(ENTRY_KINDS, type)
    ? (ENTRY_KINDS[type as EntryType] as unknown as EntryKind<SessionEntry>)
    : UNKNOWN_KIND;
}

/** The message with content of the kind its role has; old and foreign files also hold null, nothing, or a bare string. */
function withContent(message: AgentMessage): AgentMessage {
  switch (message.role) {
    case "system":
      return needsContent(message.content) === none ? message : { ...message, content: "" };
    case "user":
    case "developer":
    case "custom":
    case "hookMessage":
      return needsContent(message.content) === none ? message : { ...message, content: [] };
    case "assistant":
    case "toolResult":
      return Array.isArray(message.content)
        ? message
        : ({ ...message, content: textBlocks(message.content) } as AgentMessage);
    default:
      return message;
  }
}

/** Provider and model of a model_change, from pi's fields or omp's "provider/modelId"; undefined when neither is there. */
export function modelOf(entry: {
  provider?: string;
  modelId?: string;
  model?: string;
}): { provider: string; modelId: string } | undefined {
  if (typeof entry.provider === "string" && typeof entry.modelId === "string")
    return { provider: entry.provider, modelId: entry.modelId };
  if (typeof entry.model !== "string") return undefined;
  const slash = entry.model.indexOf("/");
  return slash <= 0 ? undefined : { provider: entry.model.slice(0, slash), modelId: entry.model.slice(slash + 1) };
}

/** omp's older single strings ("flex", "openai-only", …) apply to the providers they name. */
function serviceTierOf(value: ServiceTier | string | null): ServiceTier | undefined {
  if (isRecord(value)) return Object.fromEntries(Object.entries(value).filter(([, tier]) => isString(tier)));
  if (typeof value !== "string") return undefined;
  if (value === "openai-only") return { openai: "priority" };
  if (value === "claude-only") return { anthropic: "priority" };
  return { openai: value, anthropic: value, google: value };
}
