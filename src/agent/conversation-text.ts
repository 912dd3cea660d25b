/**
 * `conversationText`: messages as plain text, for a model that is to summarise them and not to go on with them.
 * Part of `agent/`; used by branch summaries and compaction.
 */
import { cutText, textOf } from "../tree/content.ts";
import { isRecord, sendable, wellFormed } from "../tree/json.ts";
import { convertToLlm } from "../tree/messages.ts";
import type { AgentMessage } from "../tree/messages.ts";

/** Of a tool's result, and of each argument of a call; UTF-16 units. What users and models said is never cut. */
const LONGEST_VALUE = 2_000;

/**
 * The messages in order, a blank line between two blocks: `[User]: …`, `[Assistant]: …`,
 * `[Assistant tool calls]: name(arg=JSON, …); …`, `[Tool result]: …`. Thinking, system prompts and what the user keeps
 * from the model are left out. Every string is well-formed, whatever the messages hold.
 */
export function conversationText(messages: readonly AgentMessage[]): string {
  return messages
    .map(messageText)
    .filter((text) => text !== "")
    .join("\n\n");
}

/** What one message adds to the conversation's text; "" for nothing. */
export function messageText(message: AgentMessage): string {
  const given: unknown = message;
  if (!isRecord(given) || given["role"] === "system") return "";
  if (given["role"] === "assistant") return answerText(given["content"]);
  if (given["role"] === "toolResult") return headed("Tool result", shortened(contentText(given["content"])));
  // Summaries, commands and named files read as they do in a request.
  const sent = convertToLlm([message]).map(({ content }) => contentText(content));
  return headed("User", sent.join("\n\n"));
}

function answerText(content: unknown): string {
  const calls = Array.isArray(content)
    ? content.filter((block) => isRecord(block) && block["type"] === "toolCall")
    : [];
  const parts = [
    headed("Assistant", wellFormed(textOf(content))),
    headed("Assistant tool calls", calls.map(callText).join("; ")),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

function callText(call: Record<string, unknown>): string {
  const args = sendable(call["arguments"]);
  const written = isRecord(args)
    ? Object.entries(args).map(([name, value]) => `${name}=${shortened(JSON.stringify(value))}`)
    : args === null
      ? []
      : [shortened(JSON.stringify(args))];
  const name = typeof call["name"] === "string" && call["name"] !== "" ? call["name"] : "tool";
  return `${wellFormed(name)}(${written.join(", ")})`;
}

/** The text of any content; an image leaves a word where it stood. */
function contentText(content: unknown): string {
  if (!Array.isArray(content)) return wellFormed(textOf(content));
  const parts = content.map((block: unknown) =>
    isRecord(block) && block["type"] === "image" ? "[image]" : textOf([block]),
  );
  return wellFormed(parts.filter((part) => part !== "").join("\n"));
}

function shortened(text: string): string {
  const kept = cutText(text, LONGEST_VALUE);
  return kept === text ? text : `${kept}\n\n(… ${text.length - kept.length} more characters left out)`;
}

const headed = (name: string, text: string): string => (text.trim() === "" ? "" : `[${name}]: ${text}`);

/** Every tag that a prompt for a summary, or a summary itself, is built of. */
const PROMPT_TAGS = [
  "conversation",
  "previous-summary",
  "additional-context",
  "summary",
  "read-files",
  "modified-files",
] as const;
export type PromptTag = (typeof PROMPT_TAGS)[number];

// Invisible characters inside a tag do not make it another one for a model. No two of the starred parts can match at
// the same place, so a long run of spaces costs its length once.
const INVISIBLE = String.raw`\p{Cf}*`;
const GAP = String.raw`[\s\p{Cf}]*`;
const LOOKALIKE = new RegExp(
  `<(?=${GAP}(?:/${GAP})?(?:${PROMPT_TAGS.map((tag) => [...tag].join(INVISIBLE)).join("|")}))`,
  "giu",
);

/** The text with the `<` of everything that could open or close a tag of the prompt as `&lt;`. */
export function escapePromptTags(text: string): string {
  return text.replace(LOOKALIKE, "&lt;");
}

/** The text between `<tag>` lines, which it can neither close nor open again. */
export function promptPart(tag: PromptTag, text: string): string {
  return `<${tag}>\n${escapePromptTags(text)}\n</${tag}>`;
}
