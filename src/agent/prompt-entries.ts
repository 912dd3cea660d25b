/**
 * The user's prompts: as messages to store, and as entries of a session.
 * Part of `agent/`; used by AgentRun, navigation, branching and naming, and by the editor's history.
 */
import { textOf } from "../tree/content.ts";
import type { SessionEntry, SessionMessageEntry } from "../tree/entries.ts";
import { isRecord } from "../tree/json.ts";
import type { ImageContent, UserMessage } from "../tree/messages.ts";
import type { SessionManager } from "../session/session-manager.ts";

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

/** The prompts on all branches, in the order of the file, without those that have no text. */
export function promptTexts(session: Pick<SessionManager, "getEntries">): { entryId: string; text: string }[] {
  return session
    .getEntries()
    .filter(isPrompt)
    .map((entry) => ({ entryId: entry.id, text: textOf(entry.message.content) }))
    .filter(({ text }) => text.trim() !== "");
}

/** The last prompts on the path to the leaf, at most `limit`, oldest first. Reads no other entry. */
export function latestPrompts(session: Pick<SessionManager, "getIndex">, limit: number): UserMessage[] {
  const index = session.getIndex();
  const prompts: UserMessage[] = [];
  for (let n = index.leafOrdinal; n >= 0 && prompts.length < limit; n = index.parentOrdinal(n)) {
    if (index.kindAt(n) !== "message" || (index.roleAt(n) ?? "user") !== "user") continue;
    const entry = index.at(n);
    if (isPrompt(entry)) prompts.push(entry.message);
  }
  return prompts.reverse();
}
