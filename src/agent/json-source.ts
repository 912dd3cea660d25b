/**
 * `readJson`: JSON that people write by hand, with the line of a mistake and the line of every value.
 * Part of `agent/`; used for `models.json` and `mcp.json`.
 */

export interface JsonValueReading {
  ok: true;
  value: unknown;
  /** 1-based line where the value at a JSON Pointer begins; of an absent one, the nearest value around it. */
  lineOf(pointer: string): number;
}
export type JsonReading =
  | JsonValueReading
  | {
      ok: false;
      /** 1-based line of the first character that cannot stand there. */
      line: number;
    };

/** Reads one JSON text; a byte order mark is accepted. Never throws. */
export function readJson(source: string): JsonReading {
  const text = source.startsWith("\uFEFF") ? source.slice(1) : source;
  const scan = scanLines(text);
  try {
    const value: unknown = JSON.parse(text);
    return { ok: true, value, lineOf: (pointer) => nearestLine(scan.lines, pointer) };
  } catch {
    return { ok: false, line: scan.line };
  }
}

/**
 * One sentence about the first of the errors that a check of the value at the JSON Pointer `base` gave: where it is, what
 * is wrong, and that the value is left out. Undefined when there is none.
 */
export function faultText(
  path: string,
  json: JsonValueReading,
  base: string,
  errors: readonly { path: string; message: string }[],
): string | undefined {
  const error = errors[0];
  if (error === undefined) return undefined;
  const pointer = base + error.path;
  const place = pointer === "" ? "the file" : pointer.slice(1).replaceAll("/", ".");
  return `${path} line ${json.lineOf(pointer)}: ${place} is wrong (${error.message}), so it is left out.`;
}

/** One step of a JSON Pointer. */
export const pointerStep = (key: string | number): string => String(key).replaceAll("~", "~0").replaceAll("/", "~1");

function nearestLine(lines: ReadonlyMap<string, number>, pointer: string): number {
  for (let path = pointer; path !== ""; path = path.slice(0, path.lastIndexOf("/"))) {
    const line = lines.get(path);
    if (line !== undefined) return line;
  }
  return lines.get("") ?? 1;
}

const TOKEN = /[ \t\r\n]+|[{}[\],:]|"(?:[^"\\\n]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/y;

type Expected = "value" | "value or end" | "key" | "key or end" | "colon" | "comma or end" | "nothing";
interface Container {
  end: "}" | "]";
  pointer: string;
  /** The key or the index of the value that comes next. */
  at: string | number;
}

/** Goes over the tokens until one cannot stand where it stands. `line` is that token's line, or the last line. */
function scanLines(text: string): { line: number; lines: Map<string, number> } {
  const lines = new Map<string, number>();
  const open: Container[] = [];
  let expected: Expected = "value";
  let line = 1;
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const token = match[0];
    if (/^\s/.test(token)) line += token.split("\n").length - 1;
    else {
      const next = afterToken(token, expected, open, (pointer) => lines.set(pointer, line));
      if (next === undefined) break;
      expected = next;
    }
  }
  return { line, lines };
}

/** What may follow the token; undefined when the token itself may not stand there. */
function afterToken(
  token: string,
  expected: Expected,
  open: Container[],
  begin: (pointer: string) => void,
): Expected | undefined {
  const inside = open.at(-1);
  const afterValue = (): Expected => (open.length === 0 ? "nothing" : "comma or end");
  if (token === inside?.end && expected.endsWith("end")) {
    open.pop();
    return afterValue();
  }
  if (inside !== undefined && token.startsWith('"') && expected.startsWith("key")) {
    inside.at = token.slice(1, -1);
    return "colon";
  }
  if (token === ":") return expected === "colon" ? "value" : undefined;
  if (inside !== undefined && token === ",") {
    if (expected !== "comma or end") return undefined;
    if (typeof inside.at === "number") inside.at += 1;
    return inside.end === "}" ? "key" : "value";
  }
  if (!expected.startsWith("value") || token === "}" || token === "]" || token === ",") return undefined;
  const pointer = inside === undefined ? "" : `${inside.pointer}/${pointerStep(inside.at)}`;
  begin(pointer);
  if (token === "{") open.push({ end: "}", pointer, at: "" });
  else if (token === "[") open.push({ end: "]", pointer, at: 0 });
  else return afterValue();
  return token === "{" ? "key or end" : "value or end";
}
