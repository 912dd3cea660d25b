/**
 * The user's prompts: as messages to store, and as entries of a session.
 * Part of `agent/`; used by AgentRun, navigation, branching and naming, and by the editor's history.
 */
import { textOf } from "../tree/content.ts";
import type { SessionEntry, SessionMessageEntry } from "../tree/entries.ts";
import { isRecord } from "../tree/json.ts";
import type { ImageContent, TextContent, UserMessage } from "../tree/messages.ts";
import type { SessionManager } from "../session/session-manager.ts";

export interface Prompt {
  text: string;
  images?: ImageContent[];
}

export type PromptEntry = SessionMessageEntry & { message: UserMessage };

/** Entries come from files: one of type "message" may hold no message at all. */
export const isPrompt = (entry: SessionEntry | undefined): entry is PromptEntry =>
  entry?.type === "message" && isRecord(entry.message) && entry.message.role === "user";

/** A prompt as the session stores it: text and images in blocks, as providers take them. */
export function promptMessage(prompt: { text: string; images?: readonly ImageContent[] }): UserMessage {
  return {
    role: "user",
    content: [...(prompt.text === "" ? [] : [{ type: "text" as const, text: prompt.text }]), ...(prompt.images ?? [])],
    timestamp: Date.now(),
  };
}

/** Text and images of content, the texts joined by line ends. */
export function promptOf(content: string | readonly (TextContent | ImageContent)[]): Prompt {
  if (typeof content === "string") return { text: content };
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const images = content.flatMap((block) => (block.type === "image" ? [block] : []));
  return { text: texts.join("\n"), ...(images.length === 0 ? {} : { images }) };
}

/** Whether all are blocks of text and images; what comes from extensions and files is untyped. */
export const isContent = (blocks: readonly unknown[]): blocks is (TextContent | ImageContent)[] =>
  blocks.every(
    (block) => isImage(block) || (isRecord(block) && block["type"] === "text" && typeof block["text"] === "string"),
  );

export const isImage = (block: unknown): block is ImageContent =>
  isRecord(block) &&
  block["type"] === "image" &&
  typeof block["data"] === "string" &&
  typeof block["mimeType"] === "string";

/** The prompts on all branches, in the order of the file, without those that have no text. */
export const promptTexts = (session: Pick<SessionManager, "getEntries">): PromptText[] =>
  session.getEntries().filter(isPrompt).flatMap(withText);

/** Those on the path to the leaf, oldest first. Reads no entry of another kind. */
export const pathPromptTexts = (session: Pick<SessionManager, "getIndex">): PromptText[] =>
  latestPrompts(session).flatMap(withText);

export interface PromptText {
  entryId: string;
  text: string;
}

function withText({ id, message }: PromptEntry): PromptText[] {
  const text = textOf(message.content);
  return text.trim() === "" ? [] : [{ entryId: id, text }];
}

/** The last prompts on the path to the leaf, at most `limit`, oldest first. Reads no other entry. */
export function latestPrompts(session: Pick<SessionManager, "getIndex">, limit = Infinity): PromptEntry[] {
  const index = session.getIndex();
  const prompts: PromptEntry[] = [];
  for (let n = index.leafOrdinal; n >= 0 && prompts.length < limit; n = index.parentOrdinal(n)) {
    if (index.kindAt(n) !== "message" || (index.roleAt(n) ?? "user") !== "user") continue;
    const entry = index.at(n);
    if (isPrompt(entry)) prompts.push(entry);
  }
  return prompts.reverse();
}
