/** Columns of text for a terminal or a pipe. Part of `cli/`; used by `bough stats` and `bough list`. */
import { sanitiseLine } from "../tui/sanitise.ts";

/**
 * A blank line, the titles and the rows, in columns as wide as their cells; the last column is left-aligned and as long as
 * it is, all others right-aligned. No cell can drive a terminal. Nothing without rows.
 */
export function textTable(titles: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const all = [titles, ...rows].map((row) => row.map(sanitiseLine));
  const widths = titles.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const last = titles.length - 1;
  const lineOf = (row: readonly string[]): string =>
    row.map((cell, column) => (column === last ? cell : cell.padStart(widths[column] ?? 0))).join("  ");
  return ["", ...all.map((row) => lineOf(row).trimEnd())];
}
