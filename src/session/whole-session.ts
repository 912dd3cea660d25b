/**
 * All of an open session as the lines of a new file, whatever has become of its own.
 * Part of `session/`; used for recovery files and for saving a session elsewhere.
 */
import type { LeafRecord, SessionEntry, SessionHeader } from "../tree/entries.ts";
import type { SessionEntryIndex } from "../tree/entry-index.ts";
import { readSession } from "../tree/reader.ts";
import { copiedLines, lineBytes } from "./copied-lines.ts";
import type { OpenSession } from "./open-session.ts";

/**
 * What the store still holds, byte for byte; then every entry that is not in it, and the lines that wait to be written.
 * Entries that another program has cut off, and that are not in memory either, are left out: what followed one hangs
 * below the entry before it.
 */
export function* wholeSession({ header, index, store, held, unsaved }: OpenSession): Generator<Uint8Array> {
  const reading = readSession(store);
  const inStore = reading.kind === "session" ? reading.index : undefined;
  if (inStore === undefined) yield lineBytes(header);
  else yield* copiedLines(store);
  const waiting = [...(held ?? []), ...unsaved].map(recordIn);
  const waits = new Set(waiting.map(({ id }) => id));
  const links = new LinksWithoutLost(index);
  for (let n = 0; n < index.size; n++) {
    if (inStore?.has(index.idAt(n)) === true || waits.has(index.idAt(n))) continue;
    const entry = index.at(n);
    if (index.isGone(n)) links.lose(n);
    else yield lineBytes(links.of(entry));
  }
  for (const record of waiting) if (record.type !== "session") yield lineBytes(links.of(record));
}

function recordIn(line: string): SessionHeader | SessionEntry | LeafRecord {
  const { c: _seal, ...record } = JSON.parse(line) as Record<string, unknown>;
  return record as unknown as SessionHeader | SessionEntry | LeafRecord;
}

class LinksWithoutLost {
  readonly #index: SessionEntryIndex;
  /** Lost entries, with the ordinal of the entry before each; -1 for none. */
  readonly #lost = new Map<number, number>();

  constructor(index: SessionEntryIndex) {
    this.#index = index;
  }

  lose(n: number): void {
    this.#lost.set(n, this.#kept(this.#index.parentOrdinal(n)));
  }

  of<T extends SessionEntry | LeafRecord>(record: T): T {
    const parent = record.parentId === null ? undefined : this.#index.ordinal(record.parentId);
    if (parent === undefined || !this.#lost.has(parent)) return record;
    const kept = this.#kept(parent);
    return { ...record, parentId: kept < 0 ? null : this.#index.idAt(kept) };
  }

  #kept(n: number): number {
    let kept = n;
    for (let before = this.#lost.get(kept); before !== undefined; before = this.#lost.get(kept)) kept = before;
    return kept;
  }
}
