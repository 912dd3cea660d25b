/**
 * Rows of an outline as whole lines: in runs of colour for a screen, drawn or numbered as plain text.
 * Part of `tree/`: pure. Used by the selector and by `bough tree`.
 */
import type { OutlineRow } from "./outline.ts";
import type { TextPart } from "./row-text.ts";

/** One line: cursor, lines of the tree, `•` on the active path, label, text. The cursor stands at `marked`. */
export function lineParts(
  row: Pick<OutlineRow, "prefix" | "active" | "label" | "problem" | "text">,
  marked: boolean,
): TextPart[] {
  const parts: TextPart[] = [marked ? { text: "› ", token: "accent" } : { text: "  " }];
  if (row.prefix !== "") parts.push({ text: row.prefix, token: "dim" });
  if (row.active) parts.push({ text: "• ", token: "accent" });
  if (row.label !== undefined) parts.push({ text: `[${row.label}] `, token: "warning" });
  if (row.problem !== undefined) parts.push({ text: `(${row.problem}) `, token: "error" });
  parts.push(...row.text);
  return parts;
}

export const plainText = (parts: readonly TextPart[]): string => parts.map(({ text }) => text).join("");

/** `› ├─ • [name] user: text`, the cursor where the user stands. */
export function drawnLine(row: OutlineRow): string {
  return plainText(lineParts(row, row.current)).trimEnd();
}

/**
 * `7. user: text (after 3, branch 2 of 2, active)`: a line that reads well aloud. "after" names the row it continues
 * when that is not the row before.
 */
export function numberedLine(row: OutlineRow): string {
  const notes: string[] = [];
  if (row.parent !== row.index - 1) notes.push(row.parent < 0 ? "a new start" : `after ${row.parent + 1}`);
  if (row.branches > 1) notes.push(`branch ${row.branch} of ${row.branches}`);
  if (row.label !== undefined) notes.push(`label ${row.label}`);
  if (row.problem !== undefined) notes.push(row.problem);
  if (row.current) notes.push("current");
  else if (row.active) notes.push("active");
  const text = `${row.index + 1}. ${plainText(row.text)}`.trimEnd();
  return notes.length === 0 ? text : `${text} (${notes.join(", ")})`;
}
