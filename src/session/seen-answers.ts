/**
 * `SeenAnswers`: which answers were counted already, eight bytes each, so that all of a user's sessions can be added up.
 * Part of `session/`; used by spending.ts.
 */
import { hash } from "node:crypto";

export class SeenAnswers {
  /** The first 64 bits of each key's SHA-256, in two halves; both 0 is a free place. Never more than half full. */
  #high = new Uint32Array(1 << 10);
  #low = new Uint32Array(1 << 10);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** False when the key was added before. */
  add(key: string): boolean {
    const digest = hash("sha256", key, "buffer");
    const [high, low] = [digest.readUInt32LE(0), digest.readUInt32LE(4) || 1];
    const place = this.#placeOf(high, low);
    if (this.#low[place] !== 0) return false;
    this.#put(place, high, low);
    if (2 * ++this.#size > this.#low.length) this.#grow();
    return true;
  }

  /** Where it stands, or would. */
  #placeOf(high: number, low: number): number {
    const mask = this.#low.length - 1;
    let place = high & mask;
    while (this.#low[place] !== 0 && (this.#low[place] !== low || this.#high[place] !== high))
      place = (place + 1) & mask;
    return place;
  }

  #put(place: number, high: number, low: number): void {
    this.#high[place] = high;
    this.#low[place] = low;
  }

  #grow(): void {
    const [highs, lows] = [this.#high, this.#low];
    this.#high = new Uint32Array(2 * highs.length);
    this.#low = new Uint32Array(2 * lows.length);
    for (const [at, low] of lows.entries()) if (low !== 0) this.#put(this.#placeOf(highs[at]!, low), highs[at]!, low);
  }
}
