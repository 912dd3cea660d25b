/**
 * One record's bytes with some of its members set anew and every other byte as it was.
 * Part of `session/`; used for branched sessions.
 */

interface Member {
  name: string;
  /** Where its value begins and ends. */
  start: number;
  end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [COMMA, COLON] = [0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const SPACE = 0x20;

/**
 * `record` must be one JSON object. Undefined when it does not have each of the members exactly once under its plain
 * name: it then has to be encoded anew.
 */
export function withMembers(record: Uint8Array, members: ReadonlyMap<string, string | null>): Uint8Array | undefined {
  const found = membersOf(record).filter(({ name }) => members.has(name));
  if (found.length !== members.size || new Set(found.map(({ name }) => name)).size !== members.size) return undefined;
  const pieces: Uint8Array[] = [];
  let done = 0;
  for (const { name, start, end } of found) {
    pieces.push(record.subarray(done, start), Buffer.from(JSON.stringify(members.get(name))));
    done = end;
  }
  return Buffer.concat([...pieces, record.subarray(done)]);
}

/** The object's own members in order; what their values hold is passed over. */
function membersOf(record: Uint8Array): Member[] {
  const members: Member[] = [];
  let depth = 0;
  let name = "";
  let start = -1;
  const end = (at: number): void => {
    if (start >= 0) members.push({ name, ...trimmed(record, start, at) });
    start = -1;
  };
  for (let at = 0; at < record.length; at++) {
    const byte = record[at];
    if (byte === QUOTE) {
      const close = closingQuote(record, at);
      if (depth === 1 && start < 0) name = Buffer.from(record.subarray(at + 1, close)).toString();
      at = close;
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      depth--;
      if (depth === 0) end(at);
    } else if (depth === 1 && byte === COLON) start = at + 1;
    else if (depth === 1 && byte === COMMA) end(at);
  }
  return members;
}

function trimmed(record: Uint8Array, from: number, to: number): { start: number; end: number } {
  let [start, end] = [from, to];
  while (start < end && record[start]! <= SPACE) start++;
  while (end > start && record[end - 1]! <= SPACE) end--;
  return { start, end };
}

function closingQuote(record: Uint8Array, open: number): number {
  for (let at = open + 1; ; at++) {
    at = record.indexOf(QUOTE, at);
    if (at < 0) return record.length;
    let escapes = 0;
    while (record[at - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return at;
  }
}
