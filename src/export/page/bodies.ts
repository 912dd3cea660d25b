/**
 * `Bodies`: the bodies of entries, unpacked chunk by chunk when they are shown, the latest ones kept.
 * Part of the page. Used by the page's element; the way to read a chunk is given to it.
 */
import type { SessionEntry } from "../../tree/entries.ts";
import type { BodyChunk } from "./page-data.ts";
import type { PageTree } from "./page-tree.ts";

/** About 5 MB of bodies; a screen of a bushy session needs a dozen chunks. */
const KEPT_CHUNKS = 32;

export class Bodies {
  /** Chunks that were unpacked, all in all. */
  unpacked = 0;
  readonly #tree: PageTree;
  readonly #firsts: readonly number[];
  readonly #read: (chunk: number) => Promise<BodyChunk>;
  /** The one used last at the end. */
  readonly #chunks = new Map<number, BodyChunk>();
  readonly #coming = new Map<number, Promise<void>>();
  /** Chunks that are kept at most; printing needs all that it prints. */
  limit = KEPT_CHUNKS;
  readonly #lost = new Map<number, string>();

  /** @param firsts the first ordinal of each chunk */
  constructor(tree: PageTree, firsts: readonly number[], read: (chunk: number) => Promise<BodyChunk>) {
    this.#tree = tree;
    this.#firsts = firsts;
    this.#read = read;
  }

  has(n: number): boolean {
    return this.#chunks.has(this.#chunkOf(n));
  }

  /** Undefined until its chunk has been loaded. */
  get(n: number): SessionEntry | undefined {
    const chunk = this.#chunkOf(n);
    const bodies = this.#chunks.get(chunk);
    if (bodies === undefined) return undefined;
    this.#chunks.delete(chunk);
    this.#chunks.set(chunk, bodies);
    const body = bodies[n - this.#firsts[chunk]!];
    return { ...body, ...this.#tree.at(n) } as SessionEntry;
  }

  /** Why the body cannot be had. */
  faultAt(n: number): string | undefined {
    return this.#lost.get(this.#chunkOf(n));
  }

  /** Never rejects: a chunk that cannot be read is a fault of its entries. */
  load(n: number): Promise<void> {
    const chunk = this.#chunkOf(n);
    if (this.#chunks.has(chunk) || this.#lost.has(chunk)) return Promise.resolve();
    let coming = this.#coming.get(chunk);
    if (coming === undefined) this.#coming.set(chunk, (coming = this.#unpack(chunk)));
    return coming;
  }

  async #unpack(chunk: number): Promise<void> {
    this.unpacked++;
    try {
      this.#chunks.set(chunk, await this.#read(chunk));
      if (this.#chunks.size > this.limit) this.#chunks.delete(this.#chunks.keys().next().value!);
    } catch (error) {
      this.#lost.set(chunk, String(error));
    }
    this.#coming.delete(chunk);
  }

  /** The last chunk that begins at `n` or before. */
  #chunkOf(n: number): number {
    let [low, high] = [0, this.#firsts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#firsts[middle]! <= n) low = middle;
      else high = middle;
    }
    return low;
  }
}
