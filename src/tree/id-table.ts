/**
 * `IdTable`: the ids of a session's entries and what number each has, in typed arrays: a million ids as strings in a
 * Map take longer to put there than their lines take to read.
 * Part of `tree/`: pure. Used by TreeLinks.
 */
import { isText, plainText } from "./line-start.ts";
import { NumberColumn } from "./number-column.ts";

const FREE = -1;

export class IdTable {
  /** The ids of printable ASCII, one after the other; `#starts` has one number more than there are ids. */
  #bytes = new Uint8Array(1024);
  readonly #starts = NumberColumn.ofInt32();
  readonly #hashes = NumberColumn.ofInt32();
  /** Open addressing, never more than half full. */
  #slots = new Int32Array(256).fill(FREE);
  /** All other ids, both ways. */
  readonly #others = new Map<string, number>();
  readonly #otherIds = new Map<number, string>();

  constructor() {
    this.#starts.push(0);
  }

  get size(): number {
    return this.#hashes.size;
  }

  /** The number of an id; undefined when it has none, as what a file has in place of one. */
  find(id: unknown): number | undefined {
    if (typeof id !== "string") return undefined;
    if (!isPlain(id)) return this.#others.get(id);
    const n = this.findBytes(plain, 0, id.length);
    return n < 0 ? undefined : n;
  }

  /** The same for printable ASCII; -1 when it has none. */
  findBytes(bytes: Uint8Array, from: number, to: number): number {
    return this.#slots[this.#slotOf(hashOf(bytes, from, to), bytes, from, to)]!;
  }

  /** Where the id stands, or else the free slot where it would. */
  #slotOf(hash: number, bytes: Uint8Array, from: number, to: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const n = this.#slots[slot]!;
      if (n === FREE || (this.#hashes.at(n) === hash && this.isAt(n, bytes, from, to))) return slot;
    }
  }

  /** Whether this is the id of `n`. */
  isAt(n: number, bytes: Uint8Array, from: number, to: number): boolean {
    const start = this.#starts.at(n);
    if (this.#starts.at(n + 1) - start !== to - from) return false;
    for (let at = from; at < to; at++) if (bytes[at] !== this.#bytes[start + at - from]) return false;
    return !this.#otherIds.has(n);
  }

  id(n: number): string {
    return this.#otherIds.get(n) ?? plainText(this.#bytes, this.#starts.at(n), this.#starts.at(n + 1));
  }

  /** Whether this is the id of `n`; makes no text of it, since this is asked of every body that is looked at. */
  is(n: number, id: string): boolean {
    const other = this.#otherIds.get(n);
    if (other !== undefined) return other === id;
    return isText(this.#bytes, this.#starts.at(n), this.#starts.at(n + 1), id);
  }

  /** Gives the next number to an id, which must have none. */
  add(id: string): void {
    if (isPlain(id)) this.addBytes(plain, 0, id.length);
    else {
      this.#others.set(id, this.size);
      this.#otherIds.set(this.size, id);
      this.#starts.push(this.#starts.at(this.size));
      this.#hashes.push(0);
    }
  }

  /** The same for printable ASCII; false, and nothing added, when the id has a number. */
  addBytes(bytes: Uint8Array, from: number, to: number): boolean {
    const hash = hashOf(bytes, from, to);
    const slot = this.#slotOf(hash, bytes, from, to);
    if (this.#slots[slot] !== FREE) return false;
    const n = this.size;
    const start = this.#starts.at(n);
    const end = start + to - from;
    if (end > this.#bytes.length) {
      const larger = new Uint8Array(2 * end);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    for (let at = from; at < to; at++) this.#bytes[start + at - from] = bytes[at]!;
    this.#starts.push(end);
    this.#hashes.push(hash);
    this.#slots[slot] = n;
    if (2 * this.size > this.#slots.length) this.#rehash();
    return true;
  }

  #occupy(n: number): void {
    const mask = this.#slots.length - 1;
    let slot = this.#hashes.at(n) & mask;
    while (this.#slots[slot] !== FREE) slot = (slot + 1) & mask;
    this.#slots[slot] = n;
  }

  #rehash(): void {
    this.#slots = new Int32Array(4 * this.#slots.length).fill(FREE);
    for (let n = 0; n < this.size; n++) if (!this.#otherIds.has(n)) this.#occupy(n);
  }
}

/** 32-bit FNV-1a with a last mix, since the table looks at the low bits alone. */
function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0x811c9dc5 | 0;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  return hash ^ (hash >>> 15);
}

const shared = new Uint8Array(64);
/** The bytes of the id that `isPlain` was asked last: ids are looked up too often to make an array for each. */
let plain = shared;

/** Whether an id is all printable ASCII, its bytes then in `plain`. */
function isPlain(id: string): boolean {
  plain = id.length <= shared.length ? shared : new Uint8Array(id.length);
  for (let at = 0; at < id.length; at++) {
    const code = id.charCodeAt(at);
    if (code < 0x20 || code > 0x7e) return false;
    plain[at] = code;
  }
  return true;
}
