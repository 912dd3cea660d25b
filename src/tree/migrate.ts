/**
 * Older files, and older shapes in newer files, read as version 3: record by record, in file order.
 * Part of `tree/`: pure. Used by the reader. The rules are those of pi and oh-my-pi, whose old files these are.
 */
import { CURRENT_SESSION_VERSION } from "./entries.ts";
import type { SessionHeader } from "./entries.ts";
import { isRecord } from "./json.ts";
import { NumberColumn } from "./number-column.ts";

/** A fresh id for an entry, not `taken`. */
export type NewId = (taken: (id: string) => boolean) => string;

/** What the entries so far have for ids. */
export interface KnownIds {
  isTaken(id: string): boolean;
  idAt(ordinal: number): string;
}

const NO_ENTRY = -1;

/**
 * The version a header states: absent or below 2 is 1; above 3 is a newer program's; undefined when it is no number at
 * all. A number in a string counts.
 */
export function versionOf(header: { version?: unknown }): number | undefined {
  const stated = header.version ?? 1;
  const version = typeof stated === "string" && stated.trim() !== "" ? Number(stated) : stated;
  if (typeof version !== "number" || Number.isNaN(version)) return undefined;
  return version > CURRENT_SESSION_VERSION ? version : Math.max(1, Math.floor(version));
}

export class Migration {
  /** 1 or 2 when every record passes a migration; 3 and newer only have old shapes read as new ones. */
  readonly version: number;
  readonly #newId: NewId;
  /**
   * The records by their place in the file, the header's at 0: what a version 1 compaction counts by. Ordinals of
   * entries that were only counted, and the ids of all others.
   */
  readonly #ordinals = NumberColumn.ofInt32();
  readonly #ids = new Map<number, string>();
  #previousId: string | null = null;

  constructor(version: number, newId: NewId) {
    this.version = version;
    this.#newId = newId;
    this.#ordinals.push(NO_ENTRY);
  }

  header(header: SessionHeader): SessionHeader {
    if (this.version >= CURRENT_SESSION_VERSION) return header;
    const { type, version: _old, ...rest } = header;
    return { type, version: CURRENT_SESSION_VERSION, ...rest };
  }

  /**
   * Changes one record, in place, to the shape of version 3. To be called for every record after the header, in file
   * order. `lostIndex` is a compaction's old pointer that names no earlier entry; the record is then without pointer.
   */
  record(record: Record<string, unknown>, known: KnownIds): { changed: boolean; lostIndex?: number } {
    const chained = this.version < 2 && this.#chain(record, (id) => known.isTaken(id));
    if (typeof record.id === "string" && record.type !== "session") this.#ids.set(this.#ordinals.size, record.id);
    this.#ordinals.push(NO_ENTRY);
    const renamed = renameHookMessage(record);
    const lostIndex = typeof record.firstKeptEntryIndex === "number" ? record.firstKeptEntryIndex : undefined;
    if (record.type !== "compaction" || lostIndex === undefined) return { changed: chained || renamed };
    return this.#resolveFirstKept(record, lostIndex, known) ? { changed: true } : { changed: true, lostIndex };
  }

  /** In place of `record`, for an entry of version 3 that is known by its ordinal. */
  count(ordinal: number): void {
    this.#ordinals.push(ordinal);
  }

  /** Version 1 to 2: entries get ids and form one chain; an id they may have had is replaced. */
  #chain(record: Record<string, unknown>, taken: (id: string) => boolean): boolean {
    if (typeof record.type !== "string" || record.type === "session") return false;
    const id = this.#newId(taken);
    record.id = id;
    record.parentId = this.#previousId;
    this.#previousId = id;
    return true;
  }

  /** Version 1 to 2: `firstKeptEntryIndex` counts records from the header on. An id that is already there wins. */
  #resolveFirstKept(record: Record<string, unknown>, index: number, known: KnownIds): boolean {
    delete record.firstKeptEntryIndex;
    if (typeof record.firstKeptEntryId === "string") return true;
    const isPlace = Number.isInteger(index) && index >= 0 && index < this.#ordinals.size;
    const ordinal = isPlace ? this.#ordinals.at(index) : NO_ENTRY;
    const id = ordinal === NO_ENTRY ? this.#ids.get(index) : known.idAt(ordinal);
    if (id === undefined) return false;
    record.firstKeptEntryId = id;
    return true;
  }
}

/** Version 2 to 3: the message role hookMessage became custom. */
export function renameHookMessage(record: Record<string, unknown>): boolean {
  if (record.type !== "message" || !isRecord(record.message) || record.message.role !== "hookMessage") return false;
  record.message.role = "custom";
  return true;
}

/**
 * Ids that are the same every time the same file is read: 8 hexadecimal characters from the session's id and a count.
 */
export function repeatableIds(sessionId: string): NewId {
  let count = 0;
  return (taken) => {
    for (;;) {
      const id = hash(`${sessionId}:${count++}`);
      if (!taken(id)) return id;
    }
  };
}

/** 32-bit FNV-1a with a final mix, as 8 hexadecimal characters. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value ^= value >>> 13;
  return (value >>> 0).toString(16).padStart(8, "0");
}
