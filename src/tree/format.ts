/**
 * How a record becomes a line, and how the time of an entry is read. Lines become records in line-splitter.ts and
 * line-parser.ts.
 * Part of `tree/`: pure. Used by the index and by every room that writes lines.
 */

/**
 * One record as a line, without its newline. An entry's `type`, `id`, `parentId` and `timestamp` come first, in that
 * order, then the rest in insertion order; members that are undefined are left out; a header keeps its own order.
 * Lone surrogates are escaped, so a line is always well-formed UTF-8.
 */
export function encodeLine(record: object): string {
  if (isInOrder(record)) return JSON.stringify(record);
  const { type, id, parentId, timestamp, ...rest } = record as Record<string, unknown>;
  if (type === "session") return JSON.stringify(record);
  // Two pieces, because keys that look like array indexes ("0") would otherwise come before `type`.
  const base = JSON.stringify({ type, id, parentId, timestamp });
  const others = JSON.stringify(rest);
  if (others === "{}") return base;
  return base === "{}" ? others : `${base.slice(0, -1)},${others.slice(1)}`;
}

const BASE = ["type", "id", "parentId", "timestamp"];

/** Whether the members stand as a line must have them, which those of every entry made here do. */
function isInOrder(record: object): boolean {
  let at = 0;
  for (const name in record) {
    if (name !== BASE[at]) return false;
    if (++at === BASE.length) return true;
  }
  return false;
}

const ISO_DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;

/** Milliseconds since 1970 of an entry's or header's ISO timestamp; NaN for everything else. */
export function readTime(timestamp: unknown): number {
  return typeof timestamp === "string" && ISO_DATE.test(timestamp) ? Date.parse(timestamp) : Number.NaN;
}
