/**
 * `ReadAhead`: single lines out of a source, most of which follow one another: one read then serves many of them.
 * Part of `tree/`: pure. Used by the index for bodies and by session/ for copies.
 */
import type { LineSource } from "./line-source.ts";

const SMALLEST = 1 << 16;
const LARGEST = 1 << 20;

export class ReadAhead {
  readonly #source: LineSource;
  /** For all windows, one after the other; as large as the largest of them, since most sessions are small. */
  #memory: Uint8Array | undefined;
  readonly #reuses: boolean;
  #window: Uint8Array = new Uint8Array(0);
  #start = 0;
  /** Where the line asked for last ended. */
  #last = -1;
  /** How much to read at once: more while the lines go on one after the other. */
  #ahead = SMALLEST;

  /** @param options.reuse what was read is used up before the next call, so that all reads can share their memory */
  constructor(source: LineSource, { reuse = false }: { reuse?: boolean } = {}) {
    this.#source = source;
    this.#reuses = reuse;
  }

  /** Fewer bytes than `length` where the source ends. */
  read(offset: number, length: number): Uint8Array {
    const follows = offset >= this.#last && offset - this.#last < SMALLEST;
    this.#last = offset + length;
    if (offset < this.#start || offset + length > this.#start + this.#window.length) {
      const wanted = follows ? Math.max(length, this.#ahead) : length;
      if (this.#reuses && wanted <= LARGEST && (this.#memory?.length ?? 0) < wanted)
        this.#memory = new Uint8Array(Math.max(wanted, SMALLEST));
      this.#start = offset;
      this.#window = this.#source.read(offset, wanted, wanted > LARGEST ? undefined : this.#memory);
      this.#ahead = follows ? Math.min(2 * this.#ahead, LARGEST) : SMALLEST;
    }
    return this.#window.subarray(offset - this.#start, offset - this.#start + length);
  }
}
