/**
 * `SessionSummary`: what a list tells of a session; `SessionScan` gathers it from the beginnings of its lines.
 * Part of `session/`; used by session-summary.ts.
 */
import { CURRENT_SESSION_VERSION } from "../tree/entries.ts";
import type { SessionEntry, SessionHeader } from "../tree/entries.ts";
import { readTime } from "../tree/format.ts";
import { isRecord } from "../tree/json.ts";
import { kindOf } from "../tree/kinds.ts";
import { parseLine } from "../tree/line-parser.ts";
import { LineStart, hasParentKey, isText, recordEnd } from "../tree/line-start.ts";
import { versionOf } from "../tree/migrate.ts";
import { nameAfter, renamed } from "../tree/session-name.ts";
import type { SessionName } from "../tree/session-name.ts";
import type { LineHead } from "./line-heads.ts";

export interface SessionSummary {
  /** "" when the file is no session. */
  id: string;
  /** As recorded; "" in old files. */
  cwd: string;
  /** Also undefined as long as the summary is not complete. */
  name: string | undefined;
  parentSession: string | undefined;
  /** The header's time. */
  created: Date;
  /**
   * The newest of the messages' and the header's times; never the file's, which copying and syncing change. As long as
   * the summary is not complete, of the first and the last messages: who appends in the order of time has no newer one.
   */
  modified: Date;
  /** On all branches; undefined as long as the summary is not complete. */
  messageCount: number | undefined;
  /** The beginning of the first user message, on one line; "" when there is none, or none found yet. */
  firstMessage: string;
  /** Bytes. */
  size: number;
  kind: "ok" | "empty" | "damaged" | "newer";
  /** Why it is damaged. */
  reason: string | undefined;
  /** Whether another session has started it, which a session says before its first message. */
  isSubagent: boolean;
  /** Whether all of the file has been read. */
  isComplete: boolean;
}

/** What lines say that do not begin as usual and are too long to parse. */
const ANY_TYPE = /"type":"([^"\\]*)"/;
const ANY_TIME = /"timestamp":"([^"\\]*)"/;
const ANY_ROLE = /"role":"([^"\\]*)"/;
const CLOSE = 0x7d;
/** Kinds, beside messages, that a list tells of. */
const TOLD = ["session_init", "session_info", "title_change"];

export class SessionScan {
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

  /** @param header when the lines are some from far behind it, where nobody looks for the first message */
  constructor(header?: SessionHeader) {
    this.header = header;
    if (header !== undefined) this.#first = "";
  }

  /** Whether the first message of the user's has been among the lines. */
  get hasFirst(): boolean {
    return this.#first !== undefined;
  }
  /** Whether a message has been whose time can be read. */
  get hasTime(): boolean {
    return this.#newest > Number.NEGATIVE_INFINITY;
  }

  take(line: LineHead): void {
    if (this.refused) return;
    if (this.header === undefined) {
      this.#takeFirst(line);
      return;
    }
    const { bytes } = line;
    const start = this.#start;
    // A line that was cut off is no entry.
    const isEnded = !line.whole || bytes[recordEnd(bytes, 0, bytes.length) - 1] === CLOSE;
    const isUsual = isEnded && start.read(bytes, 0, bytes.length) && !hasParentKey(bytes, start.end, bytes.length);
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

  /**
   * What is known of the session when all its lines were taken; or the first ones, and its last ones by another scan.
   * @param size of the file
   */
  summary(header: SessionHeader, size: number, last?: SessionScan): SessionSummary {
    const created = readTime(header.timestamp);
    const newest = Math.max(this.#newest, last === undefined ? Number.NEGATIVE_INFINITY : last.#newest);
    const newer = (versionOf(header) ?? CURRENT_SESSION_VERSION) > CURRENT_SESSION_VERSION;
    const isComplete = last === undefined;
    return {
      id: header.id,
      cwd: header.cwd,
      name: isComplete ? this.#name?.text : undefined,
      parentSession: header.parentSession,
      created: new Date(created || 0),
      // A branch of an old message is as new as its header.
      modified: new Date(Math.max(created || 0, newest)),
      messageCount: isComplete ? this.#messages : undefined,
      firstMessage: this.#first ?? "",
      size,
      kind: newer ? "newer" : "ok",
      reason: undefined,
      isSubagent: this.#isSubagent,
      isComplete,
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

/** On one line, cut between characters; a text of its own, which does not hold on to the one it is from. */
function shortened(text: string): string {
  return Buffer.from(beginningOf(text)).toString();
}

function beginningOf(text: string): string {
  const line = text
    .slice(0, 4 * FIRST_MESSAGE_CHARACTERS)
    .replace(/[^\S ]\s*| \s+/g, " ")
    .trim();
  if (line.length <= FIRST_MESSAGE_CHARACTERS) return line;
  let end = 0;
  for (let n = 1; n < FIRST_MESSAGE_CHARACTERS; n++) end += (line.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  const isLonger = end + String.fromCodePoint(line.codePointAt(end) ?? 0).length < line.length;
  return isLonger ? `${line.slice(0, end)}…` : line;
}
