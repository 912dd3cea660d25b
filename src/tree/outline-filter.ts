/**
 * Which entries an outline shows: the five filters.
 * Part of `tree/`: pure. Used by Outline.
 */
import type { SessionEntry } from "./entries.ts";
import { ENTRY_KINDS, UNKNOWN_KIND } from "./kinds.ts";
import { oneLine } from "./one-line.ts";
import type { OutlineSource } from "./outline-source.ts";
import { SILENT, TOOL_RESULT, USER, type EntryTraits } from "./outline-traits.ts";

export type FilterMode = "default" | "no-tools" | "user-only" | "labeled-only" | "all";
/** In the order in which they are cycled. */
export const FILTER_MODES: readonly FilterMode[] = ["default", "no-tools", "user-only", "labeled-only", "all"];

export const isFilterMode = (text: string): text is FilterMode => (FILTER_MODES as readonly string[]).includes(text);

/** What decides over an entry beside its own content. */
export interface FilterView {
  source: OutlineSource;
  traits: EntryTraits;
  /** By ordinal. */
  labels: ReadonlyMap<number, string>;
  current: number;
}

const byDefault = ({ source, traits, labels, current }: FilterView, n: number): boolean => {
  const kind = source.kindAt(n);
  const { bookkeeping } = Object.hasOwn(ENTRY_KINDS, kind) ? ENTRY_KINDS[kind as SessionEntry["type"]] : UNKNOWN_KIND;
  return !bookkeeping && (!traits.has(n, SILENT) || labels.has(n) || n === current);
};

/** Whether a filter lets an entry through. */
export const FILTERS: { readonly [M in FilterMode]: (view: FilterView, n: number) => boolean } = {
  default: byDefault,
  "no-tools": (view, n) => byDefault(view, n) && !view.traits.has(n, TOOL_RESULT),
  "user-only": (view, n) => view.traits.has(n, USER),
  "labeled-only": (view, n) => view.labels.has(n),
  all: () => true,
};

/** The labels in effect by ordinal, as rows show them. */
export function labelsByOrdinal(source: OutlineSource): ReadonlyMap<number, string> {
  const labels = new Map<number, string>();
  for (const [id, label] of source.labels()) {
    const n = source.ordinal(id);
    const text = oneLine(label);
    if (n !== undefined && text !== "") labels.set(n, text);
  }
  return labels;
}
