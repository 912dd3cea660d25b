/**
 * `EntryBodies`: where the bodies of a session's entries stand, and the bodies, read from their lines when asked for.
 * Held are those that stand in no file, and as many others as fit.
 * Part of `tree/`: pure. Used by the index alone.
 */
import { BodyCache } from "./body-cache.ts";
import type { SessionEntry } from "./entries.ts";
import { parseBody } from "./line-parser.ts";
import type { Body } from "./line-parser.ts";
import { LARGEST_RUN, LONGEST_RUN, parseRun } from "./line-run.ts";
import type { Checksum } from "./line-seal.ts";
import type { LineSource } from "./line-source.ts";
import { NumberColumn } from "./number-column.ts";
import { ReadAhead } from "./read-ahead.ts";

/** Where a record's bytes are: 1-based line, byte offset and length without line end. */
export interface Origin {
  line: number;
  offset: number;
  length: number;
}

/** Bytes of lines; a body takes about twice as much. */
const KEPT_BYTES = 16 * 1024 * 1024;

export class EntryBodies {
  readonly #source: ReadAhead | undefined;
  readonly #checksum: Checksum | undefined;
  /** 0 for an entry that came from no file. */
  readonly #lines = NumberColumn.ofInt32();
  readonly #offsets = NumberColumn.ofFloat64();
  readonly #lengths = NumberColumn.ofInt32();
  readonly #held = new Map<number, SessionEntry>();
  readonly #cache = new BodyCache(KEPT_BYTES);

  constructor(source: LineSource | undefined, checksum: Checksum | undefined) {
    this.#checksum = checksum;
    this.#source = source && new ReadAhead(source, { reuse: true });
  }

  /** The next entry; undefined when it comes from no file. */
  add(origin: Origin | undefined): void {
    this.#lines.push(origin?.line ?? 0);
    this.#offsets.push(origin?.offset ?? 0);
    this.#lengths.push(origin?.length ?? 0);
  }
  /** 0 for an entry that came from no file. */
  line(n: number): number {
    return this.#lines.at(n);
  }
  origin(n: number): Origin | undefined {
    const line = this.#lines.at(n);
    return line === 0 ? undefined : { line, offset: this.#offsets.at(n), length: this.#lengths.at(n) };
  }

  /** The body, if it is in memory. */
  kept(n: number): SessionEntry | undefined {
    return this.#held.get(n) ?? this.#cache.get(n, this.#lengths.at(n));
  }
  /** Keeps a body that can be read again as long as there is room. */
  keep(n: number, entry: SessionEntry): SessionEntry {
    this.#cache.put(n, entry, this.#lengths.at(n));
    return entry;
  }
  /** Keeps a new body: for good, unless the very same one can be read again. */
  hold(n: number, entry: SessionEntry, rereadable: boolean): void {
    if (rereadable && this.#source !== undefined) this.keep(n, entry);
    else this.#held.set(n, entry);
  }

  /**
   * The bytes of the entry's line, until the next call that reads; undefined when they are not in a file, or not there
   * any more.
   */
  bytes(n: number): Uint8Array | undefined {
    if (this.#lines.at(n) === 0 || this.#source === undefined || this.#held.has(n)) return undefined;
    const bytes = this.#bytes(this.#offsets.at(n), this.#lengths.at(n));
    return bytes.length === this.#lengths.at(n) ? bytes : undefined;
  }
  #bytes(offset: number, length: number): Uint8Array {
    return this.#source?.read(offset, length) ?? new Uint8Array(0);
  }

  read(n: number): Body {
    return parseBody(this.#bytes(this.#offsets.at(n), this.#lengths.at(n)), this.#checksum);
  }

  /**
   * The bodies of the ordinals from `ns[from]` on, as far as their lines follow one another and are not in memory: one
   * at least, and no more than are read with one call.
   */
  readRun(ns: readonly number[], from: number): Body[] {
    const first = ns[from]!;
    const start = this.#offsets.at(first);
    const lengths = [this.#lengths.at(first)];
    let end = start + this.#lengths.at(first);
    for (let n = ns[from + 1]; n !== undefined && lengths.length < LONGEST_RUN; n = ns[from + lengths.length]) {
      const length = this.#lengths.at(n);
      const follows = this.#offsets.at(n) === end + 1 && end + 1 + length - start <= LARGEST_RUN;
      if (!follows || this.kept(n) !== undefined) break;
      lengths.push(length);
      end += 1 + length;
    }
    return this.#parseRun(start, end, lengths) ?? lengths.map((_, at) => this.read(ns[from + at]!));
  }

  #parseRun(start: number, end: number, lengths: readonly number[]): Body[] | undefined {
    if (lengths.length === 1) return undefined;
    const bytes = this.#bytes(start, end - start);
    return bytes.length === end - start ? parseRun(bytes, lengths, this.#checksum) : undefined;
  }
}
