/**
 * What the drawing of an entry may need beyond its body.
 * Part of the page. Made by the page's element, used by the views of entries.
 */
import type { SessionEntry } from "../../tree/entries.ts";

export type Switch = "thinking" | "tools" | "hidden";

export interface EntryContext {
  n: number;
  /** Whether such parts are shown unfolded. */
  shows(part: Switch): boolean;
  /** Whether a part of this entry is open; `byDefault` until somebody has opened or closed it. */
  isOpen(part: string, byDefault: boolean): boolean;
  setOpen(part: string, open: boolean): void;
  /** The call that this tool result answers; undefined when it is not there, or not yet. */
  findCall(toolCallId: string): Record<string, unknown> | undefined;
  /** Ids of calls that are answered further down, each drawn with its answer. */
  answered(): ReadonlySet<unknown>;
  /** For `src`; undefined until it has been read. */
  imageUrl(image: number): string | undefined;
  entry: SessionEntry;
}
