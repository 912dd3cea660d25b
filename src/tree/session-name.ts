/**
 * The name of a session: names are given by header, title slot and entries; the last in file order wins, but an
 * automatic name never replaces a user's.
 * Part of `tree/`: pure. Used by the index.
 */
import type { SessionEntry } from "./entries.ts";

export interface SessionName {
  text: string;
  source: "auto" | "user";
}

/** `current` after one more name; an empty one clears it. Names are one line. */
export function renamed(current: SessionName | undefined, text: string, source: unknown): SessionName | undefined {
  const by = source === "auto" ? "auto" : "user";
  if (by === "auto" && current?.source === "user") return current;
  const line = text.replace(/[\r\n]+/g, " ").trim();
  return line === "" ? undefined : { text: line, source: by };
}

/** `current` after an entry, which must be sound (`kindOf(entry).fault`). */
export function nameAfter(current: SessionName | undefined, entry: SessionEntry): SessionName | undefined {
  if (entry.type === "session_info") return renamed(current, entry.name, entry.source);
  if (entry.type === "title_change") return renamed(current, entry.title, entry.source);
  return current;
}
