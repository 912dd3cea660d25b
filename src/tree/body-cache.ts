/**
 * `BodyCache`: the bodies of entries looked at lately, up to a number of bytes.
 * Part of `tree/`: pure. Used by the index.
 */
import type { SessionEntry } from "./entries.ts";

export class BodyCache {
  readonly #limit: number;
  /** Two generations: what is asked for stays in the younger one, and the older one goes as a whole. */
  #young = new Map<number, SessionEntry>();
  #old = new Map<number, SessionEntry>();
  #youngBytes = 0;

  /** @param limit bytes of the lines whose bodies are kept; beyond it at most one more line */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @param bytes the length of the entry's line */
  get(n: number, bytes: number): SessionEntry | undefined {
    const young = this.#young.get(n);
    if (young !== undefined) return young;
    const old = this.#old.get(n);
    if (old !== undefined) this.put(n, old, bytes);
    return old;
  }

  put(n: number, entry: SessionEntry, bytes: number): void {
    this.#young.set(n, entry);
    this.#youngBytes += bytes;
    if (this.#youngBytes <= this.#limit / 2) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngBytes = 0;
  }
}
