/**
 * `readFrontMatter`: the head of a Markdown file, between two lines `---`, with the line of each value.
 * Part of `agent/`; used for rule files.
 *
 * Of YAML it knows what such heads consist of: `key: value`, a list of `- value` lines below `key:`, values in single
 * or double quotes, and comments on lines of their own. A bare value is all of the rest of its line, `#` included.
 */

export interface HeadValue {
  text: string;
  /** 1-based, in the file. */
  line: number;
}

export interface FrontMatter {
  /** By key, in the order of the file; a key without a list has one value. */
  values: ReadonlyMap<string, readonly HeadValue[]>;
  /** 1-based line of a key. */
  lineOf(key: string): number;
  /** What follows the head, without blank lines around it. */
  body: string;
}

/** Without a head everything is body. `problem` completes the sentence "FILE:LINE: …". */
export function readFrontMatter(text: string): FrontMatter | { problem: string; line: number } {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  const lineOfKey = new Map<string, number>();
  const values = new Map<string, HeadValue[]>();
  const found = (body: string): FrontMatter => ({ values, lineOf: (key) => lineOfKey.get(key) ?? 1, body });
  if (lines[0]?.trimEnd() !== "---") return found(text.trim());
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === "---");
  if (end < 0) return { problem: "the head that begins with --- has no end; close it with another ---", line: 1 };

  let current: HeadValue[] | undefined;
  for (const [index, line] of lines.slice(1, end).entries()) {
    const number = index + 2;
    if (/^\s*(#|$)/.test(line)) continue;
    const item = /^\s*-\s+(.*)$/.exec(line);
    const pair = /^([\w-]+):(?:\s+(.*))?$/.exec(line.trimEnd());
    if (item === null && pair === null)
      return { problem: 'this is neither "key: value" nor a "- value" of a list', line: number };
    if (item !== null && current === undefined) return { problem: "this value belongs to no key", line: number };
    if (pair !== null) {
      const key = pair[1]!;
      if (values.has(key)) return { problem: `"${key}" stands here twice`, line: number };
      current = [];
      values.set(key, current);
      lineOfKey.set(key, number);
    }
    const written = (item?.[1] ?? pair?.[2] ?? "").trim();
    if (written === "") continue;
    const value = unquoted(written);
    if (value === undefined)
      return { problem: "this value cannot be read; write it on one line, in single quotes if need be", line: number };
    current!.push({ text: value, line: number });
    // A value behind its key is the only one.
    if (pair !== null) current = undefined;
  }
  return found(
    lines
      .slice(end + 1)
      .join("\n")
      .trim(),
  );
}

/** Undefined for quotes that do not close and for YAML's texts of several lines. */
function unquoted(written: string): string | undefined {
  if (/^[|>][+-]?$/.test(written)) return undefined;
  if (written.startsWith("'"))
    return /^'(?:[^']|'')*'$/.test(written) ? written.slice(1, -1).replaceAll("''", "'") : undefined;
  if (!written.startsWith('"')) return written;
  try {
    const value: unknown = JSON.parse(written);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
