/**
 * Which entries of a path its extensions draw, and between which messages. Part of `tui/`; used when a session is shown.
 */
import type { CustomEntry, SessionEntry } from "../tree/entries.ts";
import { kindOf } from "../tree/kinds.ts";
import type { ScreenExtensions } from "./screen-extensions.ts";

/** An entry, and how many of the messages that are shown come behind it. */
export interface PlacedEntry {
  entry: CustomEntry;
  behind: number;
}

/** Those among the last `messages` messages of `path`, root first. */
export function drawnEntries(
  extensions: ScreenExtensions,
  path: readonly SessionEntry[],
  messages: number,
): PlacedEntry[] {
  const placed: PlacedEntry[] = [];
  let behind = 0;
  for (let at = path.length - 1; at >= 0 && behind < messages; at--) {
    const entry = path[at]!;
    if (entry.type === "custom") {
      if (extensions.entryRenderer(entry.customType) !== undefined) placed.push({ entry, behind });
    } else if (entry.type !== "compaction" && kindOf(entry).message?.(entry) !== undefined) behind++;
  }
  return placed.reverse();
}
