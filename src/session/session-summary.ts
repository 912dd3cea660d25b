/**
 * `summarise`: what a list shows of one session file, read in a stream: however long the file and its lines are, only
 * the beginning of one line is held at a time.
 * Part of `session/`; used by the catalog.
 */
import { setImmediate } from "node:timers/promises";
import { CURRENT_SESSION_VERSION } from "../tree/entries.ts";
import type { SessionEntry, SessionHeader } from "../tree/entries.ts";
import { readTime } from "../tree/format.ts";
import { isRecord } from "../tree/json.ts";
import { kindOf } from "../tree/kinds.ts";
import { parseLine } from "../tree/line-parser.ts";
import { LineStart, hasParentKey, isText } from "../tree/line-start.ts";
import { versionOf } from "../tree/migrate.ts";
import { readSession } from "../tree/reader.ts";
import { nameAfter, renamed } from "../tree/session-name.ts";
import type { SessionName } from "../tree/session-name.ts";
import { FileStore } from "./file-store.ts";
import { LineHeads } from "./line-heads.ts";
import type { LineHead } from "./line-heads.ts";

export interface SessionSummary {
  /** "" when the file is no session. */
  id: string;
  /** As recorded; "" in old files. */
  cwd: string;
  name: string | undefined;
  parentSession: string | undefined;
  /** The header's time. */
  created: Date;
  /** The newest of the messages' and the header's times; never the file's, which copying and syncing change. */
  modified: Date;
  /** On all branches. */
  messageCount: number;
  /** The beginning of the first user message, on one line; "" when there is none. */
  firstMessage: string;
  /** Bytes. */
  size: number;
  kind: "ok" | "empty" | "damaged" | "newer";
  /** Why it is damaged. */
  reason: string | undefined;
  /** Whether another session has started it. */
  isSubagent: boolean;
}

const CHUNK_BYTES = 1 << 18;
/** How many are read before others get their turn. */
const CHUNKS_PER_TURN = 16;

/** Never rejects: a file that cannot be read or is no session is "empty" or "damaged". */
export async function summarise(path: string): Promise<SessionSummary> {
  try {
    const store = FileStore.open(path, { readOnly: true });
    try {
      return await summaryOf(store);
    } finally {
      store.close();
    }
  } catch (error) {
    return noSession(0, "damaged", error instanceof Error ? error.message : String(error));
  }
}

/** The header of a session file from its first bytes; undefined when it is none. Never throws. */
export function headerOf(path: string): SessionHeader | undefined {
  try {
    const store = FileStore.open(path, { readOnly: true });
    try {
      const scan = new Scan();
      const heads = new LineHeads((line) => scan.take(line));
      heads.push(store.read(0, CHUNK_BYTES));
      heads.finish();
      return scan.header;
    } finally {
      store.close();
    }
  } catch {
    return undefined;
  }
}

async function summaryOf(store: FileStore): Promise<SessionSummary> {
  const scan = new Scan();
  const heads = new LineHeads((line) => scan.take(line));
  let offset = 0;
  for (let turn = 1; !scan.refused; turn++) {
    const chunk = store.read(offset, CHUNK_BYTES);
    if (chunk.length === 0) break;
    heads.push(chunk);
    offset += chunk.length;
    if (turn % CHUNKS_PER_TURN === 0) await setImmediate();
  }
  heads.finish();
  if (scan.header !== undefined) return scan.summary(scan.header, offset);
  const reading = readSession(store);
  return reading.kind === "invalid"
    ? noSession(store.size(), "damaged", `line ${reading.line}: ${reading.reason}`)
    : noSession(store.size(), "empty", undefined);
}

function noSession(size: number, kind: "empty" | "damaged", reason: string | undefined): SessionSummary {
  return {
    id: "",
    cwd: "",
    name: undefined,
    parentSession: undefined,
    created: new Date(0),
    modified: new Date(0),
    messageCount: 0,
    firstMessage: "",
    size,
    kind,
    reason,
    isSubagent: false,
  };
}

/** What lines say that do not begin as usual and are too long to parse. */
const ANY_TYPE = /"type":"([^"\\]*)"/;
const ANY_TIME = /"timestamp":"([^"\\]*)"/;
const ANY_ROLE = /"role":"([^"\\]*)"/;
/** Kinds, beside messages, that a list tells of. */
const TOLD = ["session_init", "session_info", "title_change"];

class Scan {
  header: SessionHeader | undefined;
  /** True once it is clear that this is no session. */
  refused = false;
  readonly #start = new LineStart();
  #name: SessionName | undefined;
  #slot: { title: string; source: unknown } | undefined;
  #messages = 0;
  #newest = Number.NEGATIVE_INFINITY;
  #first: string | undefined;
  #isSubagent = false;

  take(line: LineHead): void {
    if (this.refused) return;
    if (this.header === undefined) {
      this.#takeFirst(line);
      return;
    }
    const { bytes } = line;
    const start = this.#start;
    const isUsual = start.read(bytes, 0, bytes.length) && !hasParentKey(bytes, start.end, bytes.length);
    if (isUsual && start.isMessage(bytes) && !this.#mayBeFirst(bytes)) this.#countMessage(start.time(bytes));
    else if (!isUsual || start.isMessage(bytes) || this.#isTold(bytes)) this.#takeUnusual(line);
  }

  /** Whether the message whose start was read may be the first of the user's. */
  #mayBeFirst(bytes: Uint8Array): boolean {
    const { roleFrom, roleTo } = this.#start;
    return this.#first === undefined && roleTo >= 0 && isText(bytes, roleFrom, roleTo, "user");
  }

  #isTold(bytes: Uint8Array): boolean {
    return TOLD.some((kind) => isText(bytes, this.#start.typeFrom, this.#start.typeTo, kind));
  }

  summary(header: SessionHeader, size: number): SessionSummary {
    const created = readTime(header.timestamp);
    // A branch of an old message is as new as its header.
    const modified = Math.max(created || 0, this.#newest);
    const newer = (versionOf(header) ?? CURRENT_SESSION_VERSION) > CURRENT_SESSION_VERSION;
    return {
      id: header.id,
      cwd: header.cwd,
      name: this.#name?.text,
      parentSession: header.parentSession,
      created: new Date(created || 0),
      modified: new Date(modified),
      messageCount: this.#messages,
      firstMessage: this.#first ?? "",
      size,
      kind: newer ? "newer" : "ok",
      reason: undefined,
      isSubagent: this.#isSubagent,
    };
  }

  /** The reader decides what is a session; here it is enough to find the header where the reader would. */
  #takeFirst(line: LineHead): void {
    for (const record of recordsOf(line)) {
      if (this.header !== undefined) this.#takeRecord(record);
      else if (record["type"] === "title" && line.number === 1 && typeof record["title"] === "string")
        this.#slot = { title: record["title"], source: record["source"] };
      else if (record["type"] === "session" && typeof record["id"] === "string" && record["id"] !== "")
        this.#begin(record as unknown as SessionHeader);
      else this.refused = true;
    }
  }

  #begin(header: SessionHeader): void {
    const text = (value: unknown): string => (typeof value === "string" ? value : "");
    const parent: unknown = header.parentSession;
    this.header = {
      ...header,
      cwd: text(header.cwd),
      timestamp: text(header.timestamp),
      parentSession: typeof parent === "string" ? parent : undefined,
    };
    const title = this.#slot ?? { title: text(header.title), source: header.titleSource };
    this.#name = renamed(undefined, title.title, title.source);
  }

  #takeUnusual(line: LineHead): void {
    if (line.whole) for (const record of recordsOf(line)) this.#takeRecord(record);
    else this.#takeLong(Buffer.from(line.bytes).toString());
  }

  #takeRecord(record: Record<string, unknown>): void {
    const entry = record as unknown as SessionEntry;
    if (kindOf(entry).fault(entry) !== undefined) return;
    this.#name = nameAfter(this.#name, entry);
    if (entry.type === "session_init") this.#isSubagent = true;
    if (entry.type !== "message") return;
    this.#countMessage(readTime(entry.timestamp));
    if (entry.message.role === "user") this.#first ??= shortened(textIn(entry.message.content));
  }

  /** A line of which only the beginning is at hand. */
  #takeLong(head: string): void {
    const type = ANY_TYPE.exec(head)?.[1];
    if (type === "session_init") this.#isSubagent = true;
    if (type !== "message") return;
    this.#countMessage(readTime(ANY_TIME.exec(head)?.[1]));
    if (ANY_ROLE.exec(head)?.[1] === "user") this.#first ??= shortened(firstTextOf(head));
  }

  /** @param time milliseconds; NaN when unreadable */
  #countMessage(time: number): void {
    this.#messages++;
    if (time > this.#newest) this.#newest = time;
  }
}

function recordsOf(line: LineHead): Record<string, unknown>[] {
  let [from, to] = [0, line.bytes.length];
  while (from < to && line.bytes[from] === 0) from++;
  while (to > from && line.bytes[to - 1] === 0) to--;
  const raw = { offset: 0, number: line.number, nuls: 0, terminated: true, tooLong: false };
  return parseLine({ ...raw, bytes: line.bytes.subarray(from, to) }).records.map(({ record }) => record);
}

function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const texts = content.map((block: unknown) => (isRecord(block) ? block["text"] : undefined));
  return texts.filter((text) => typeof text === "string").join(" ");
}

/** The first text of a message in the beginning of a line that was cut anywhere. */
function firstTextOf(head: string): string {
  const raw = /"(?:text|content)":"((?:[^"\\]|\\u[0-9a-fA-F]{4}|\\[^u]){0,800})/.exec(head)?.[1] ?? "";
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return "";
  }
}

const FIRST_MESSAGE_CHARACTERS = 200;

/** On one line, cut between characters. */
function shortened(text: string): string {
  const line = text
    .slice(0, 4 * FIRST_MESSAGE_CHARACTERS)
    .replace(/\s+/g, " ")
    .trim();
  const characters = [...line];
  return characters.length <= FIRST_MESSAGE_CHARACTERS
    ? line
    : `${characters.slice(0, FIRST_MESSAGE_CHARACTERS - 1).join("")}…`;
}
