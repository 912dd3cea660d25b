/**
 * `RowBlocks`: the rows of a page, gathered by column into blocks.
 * Part of `export/`; used by html.ts. Columns of one sort compress to a fraction of rows.
 */
import type { SessionEntry } from "../tree/entries.ts";
import { isRecord } from "../tree/json.ts";
import type { OutlineSource, RowGlance } from "../tree/outline-source.ts";

import { ROW_HIDDEN, ROW_SILENT } from "./page/page-data.ts";
import type { RowBlock } from "./page/page-data.ts";

const ROWS_PER_BLOCK = 2048;

export class RowBlocks {
  readonly #source: Pick<OutlineSource, "parentOrdinal">;
  #block = emptyBlock();
  #lastTime = 0;

  constructor(source: Pick<OutlineSource, "parentOrdinal">) {
    this.#source = source;
  }

  /**
   * Takes the next entry. Returns a block when one is full.
   * @param time of its timestamp; NaN when that cannot be read
   */
  add(n: number, entry: SessionEntry, time: number, glance: RowGlance): RowBlock | undefined {
    const block = this.#block;
    block.ids.push(entry.id);
    block.parents.push(this.#parentOf(n, entry));
    block.times.push(this.#timeSinceLast(time));
    block.kinds.push(this.#nameIndex(entry.type));
    const role = roleOf(entry);
    block.roles.push(role === undefined ? -1 : this.#nameIndex(role));
    block.flags.push((glance.silent ? ROW_SILENT : 0) | (isHidden(entry) ? ROW_HIDDEN : 0));
    block.texts.push(glance.text);
    block.beyond.push(glance.beyond);
    return block.ids.length === ROWS_PER_BLOCK ? this.take() : undefined;
  }

  /** What is not in a full block yet; undefined when nothing is. */
  take(): RowBlock | undefined {
    const block = this.#block;
    if (block.ids.length === 0) return undefined;
    this.#block = emptyBlock();
    return block;
  }

  /** A parent that is not in the page, or would close a cycle, by its id: the page finds out again what is wrong. */
  #parentOf(n: number, entry: SessionEntry): number | string | null {
    const parent = this.#source.parentOrdinal(n);
    return parent < 0 ? entry.parentId : parent - n;
  }

  #timeSinceLast(time: number): number | null {
    if (Number.isNaN(time)) return null;
    const since = time - this.#lastTime;
    this.#lastTime = time;
    return since;
  }

  #nameIndex(name: string): number {
    const { names } = this.#block;
    const known = names.indexOf(name);
    return known < 0 ? names.push(name) - 1 : known;
  }
}

const emptyBlock = (): RowBlock => ({
  ids: [],
  parents: [],
  times: [],
  kinds: [],
  roles: [],
  names: [],
  flags: [],
  texts: [],
  beyond: [],
});

function messageOf(entry: SessionEntry): Record<string, unknown> | undefined {
  const message: unknown = entry.type === "message" ? entry.message : undefined;
  return isRecord(message) ? message : undefined;
}

export function roleOf(entry: SessionEntry): string | undefined {
  const role = messageOf(entry)?.["role"];
  return typeof role === "string" ? role : undefined;
}

/** Custom messages, also of the older shape, that ask not to be shown. */
function isHidden(entry: SessionEntry): boolean {
  if (entry.type === "custom_message") return entry.display === false;
  const message = messageOf(entry);
  return (message?.["role"] === "custom" || message?.["role"] === "hookMessage") && message["display"] === false;
}
