/**
 * `MemoryStore`: the lines of a session that is kept nowhere.
 * Part of `session/`; used by SessionManager for in-memory sessions, and for sessions whose file cannot be written.
 */
import type { SessionStore } from "./session-store.ts";

const FIRST_CAPACITY = 4096;

export class MemoryStore implements SessionStore {
  readonly path = undefined;
  readonly refusal = undefined;
  #bytes: Uint8Array;
  #size = 0;
  #closed = false;

  /** `initial` is copied; it must be empty or end with a newline. */
  constructor(initial: Uint8Array = new Uint8Array(0)) {
    this.#bytes = new Uint8Array(Math.max(FIRST_CAPACITY, initial.length));
    this.#bytes.set(initial);
    this.#size = initial.length;
  }

  size(): number {
    return this.#size;
  }

  read(offset: number, length: number): Uint8Array {
    return this.#bytes.slice(offset, Math.min(offset + length, this.#size));
  }

  append(...lines: string[]): void {
    if (this.#closed) throw new Error("The store is closed");
    const added = Buffer.from(lines.map((line) => `${line}\n`).join(""));
    this.#reserve(this.#size + added.length);
    this.#bytes.set(added, this.#size);
    this.#size += added.length;
  }

  #reserve(needed: number): void {
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
    grown.set(this.#bytes.subarray(0, this.#size));
    this.#bytes = grown;
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }

  close(): void {
    this.#closed = true;
  }
}
