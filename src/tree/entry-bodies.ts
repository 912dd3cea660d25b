/**
 * `EntryBodies`: the bodies of a session's entries, read from their lines when asked for. Held are those that stand in
 * no file, and as many others as fit.
 * Part of `tree/`: pure. Used by the index alone.
 */
import { BodyCache } from "./body-cache.ts";
import type { SessionEntry } from "./entries.ts";
import { parseBody } from "./line-parser.ts";
import type { Body } from "./line-parser.ts";
import type { Checksum } from "./line-seal.ts";
import type { LineSource } from "./line-source.ts";
import { ReadAhead } from "./read-ahead.ts";

/** Bytes of lines; a body takes about twice as much. */
const KEPT_BYTES = 16 * 1024 * 1024;

export class EntryBodies {
  readonly #lines: ReadAhead | undefined;
  readonly #checksum: Checksum | undefined;
  readonly #held = new Map<number, SessionEntry>();
  readonly #cache = new BodyCache(KEPT_BYTES);

  constructor(source: LineSource | undefined, checksum: Checksum | undefined) {
    this.#checksum = checksum;
    this.#lines = source && new ReadAhead(source, { reuse: true });
  }

  /** Whether bodies can be read again; if not, all must be held. */
  get canRead(): boolean {
    return this.#lines !== undefined;
  }

  /** The body, if it is in memory; `bytes`: the length of its line. */
  kept(n: number, bytes: number): SessionEntry | undefined {
    return this.#held.get(n) ?? this.#cache.get(n, bytes);
  }
  /** Keeps a body that can be read again as long as there is room. */
  keep(n: number, entry: SessionEntry, bytes: number): SessionEntry {
    this.#cache.put(n, entry, bytes);
    return entry;
  }
  /** Keeps a body for good. */
  hold(n: number, entry: SessionEntry): void {
    this.#held.set(n, entry);
  }

  /** Whether the body is what its line says, and nowhere else. */
  isInFile(n: number): boolean {
    return this.canRead && !this.#held.has(n);
  }

  /** What stands in the source, until the next call. */
  bytes(offset: number, length: number): Uint8Array {
    return this.#lines?.read(offset, length) ?? new Uint8Array(0);
  }
  read(offset: number, length: number): Body {
    return parseBody(this.bytes(offset, length), this.#checksum);
  }
}
