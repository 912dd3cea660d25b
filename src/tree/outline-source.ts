/**
 * `OutlineSource`: what the outline must know of a session. SessionEntryIndex has this shape; so may any other tree.
 * Part of `tree/`: pure. Used by the outline's own files, and by whoever shows a tree that is no SessionEntryIndex.
 */
import type { SessionEntry } from "./entries.ts";
import type { TextPart } from "./row-text.ts";

/** What an outline needs of an entry's body. */
export interface RowGlance {
  /** As the row shows it. */
  text: TextPart[];
  /** Words that find the row although it does not show them; "" for none. */
  beyond: string;
  /** An answer that ended as usual and says nothing. */
  silent: boolean;
}

/** Entries are named by ordinals: 0..size-1 in file order. Growing at the end is the only change of what is there. */
export interface OutlineSource {
  readonly size: number;
  /** The ordinal of the leaf; -1 before the first entry. */
  readonly leafOrdinal: number;
  /**
   * May parse on demand: the outline asks for a body once per message whose role and bytes do not tell enough, and again
   * only for the rows it shows.
   */
  at(n: number): SessionEntry;
  /** The entry's `type`, without its body. */
  kindAt(n: number): string;
  /** The role of a message, without its body; undefined when that has to be looked at. A source may do without. */
  roleAt?(n: number): string | undefined;
  /** The line of the entry, as long as no other is asked for; undefined when only `at` has it. A source may do without. */
  bytesAt?(n: number): Uint8Array | undefined;
  /** What the outline needs of a body, known beforehand: then it asks for no body. A source may do without. */
  glanceAt?(n: number): RowGlance;
  /** -1 for a root, also for one whose parent is missing or would close a cycle. */
  parentOrdinal(n: number): number;
  /** The children of `n`, of the roots for -1, in the order of SPEC T4. */
  treeChildren(n: number): readonly number[];
  treeProblemAt(n: number): "missing-parent" | "cycle" | undefined;
  ordinal(id: string): number | undefined;
  /** The labels in effect, by entry id; ids that name no entry are passed over. */
  labels(): ReadonlyMap<string, string>;
}
