/**
 * The words around an outline: names of filters, the counter, and what stands there when nothing else does.
 * Part of `tree/`: pure. Used by every view of an outline.
 */
import type { FilterMode } from "./outline-filter.ts";

/** Shown where a filter other than the default is on. */
export const FILTER_TAGS: { readonly [M in FilterMode]: string } = {
  default: "",
  "no-tools": "[no-tools]",
  "user-only": "[user]",
  "labeled-only": "[labeled]",
  all: "[all]",
};

export const PROBLEM_MARKS = { "missing-parent": "missing parent", cycle: "cycle" } as const;

export interface OutlineCounts {
  /** Rows on the screen or to be scrolled to. */
  rowCount: number;
  /** -1 when there are no rows. */
  selected: number;
  /** Entries of the session. */
  entryCount: number;
  filter: FilterMode;
  query: string;
  /** Rows may still be missing. */
  isSearching: boolean;
}

/** `(3/120) [user]` */
export function statusText({ selected, rowCount, filter, isSearching }: OutlineCounts): string {
  return withTag(`(${selected + 1}/${rowCount})${isSearching ? " searching…" : ""}`, filter);
}

/** Why there are no rows, and what to press; undefined while there are some. */
export function emptyText({
  rowCount,
  entryCount,
  filter,
  query,
  isSearching,
}: OutlineCounts): { text: string; hint: string | undefined } | undefined {
  if (rowCount > 0) return undefined;
  if (entryCount === 0) return { text: "No entries found", hint: undefined };
  if (isSearching) return { text: "Searching…", hint: undefined };
  if (query.trim() !== "")
    return {
      text: withTag(`No entries match search "${query}"`, filter),
      hint: "Backspace shortens the search, Escape clears it",
    };
  const hidden = entryCount === 1 ? "1 entry" : `${entryCount} entries`;
  return {
    text: withTag(`${hidden} hidden by the current filter`, filter),
    hint: "Alt+A shows all, Alt+D the default",
  };
}

function withTag(text: string, filter: FilterMode): string {
  const tag = FILTER_TAGS[filter];
  return tag === "" ? text : `${text} ${tag}`;
}
