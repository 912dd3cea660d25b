/**
 * The heights of a list's items and where each item stands, in pixels.
 * Part of the page; pure. Used by the virtual list.
 */

/** Of items that are all as high as each other. */
export class EvenHeights {
  readonly count: number;
  readonly #height: number;

  constructor(count: number, height: number) {
    this.count = count;
    this.#height = height;
  }

  get total(): number {
    return this.offset(this.count);
  }
  of(_item: number): number {
    return this.#height;
  }
  offset(item: number): number {
    return item * this.#height;
  }
  itemAt(offset: number): number {
    return Math.max(0, Math.min(Math.floor(offset / this.#height), this.count - 1));
  }
}

/**
 * Heights that are guessed until they are known. A Fenwick tree: a change and a question cost the logarithm of the
 * number of items.
 */
export class Heights {
  readonly #heights: Float64Array;
  /** At [i]: the sum of the heights of the items that the bits of i end. */
  readonly #sums: Float64Array;

  constructor(count: number, guess: (item: number) => number) {
    this.#heights = Float64Array.from({ length: count }, (_, item) => guess(item));
    this.#sums = new Float64Array(count + 1);
    for (let i = 1; i <= count; i++) {
      this.#sums[i]! += this.#heights[i - 1]!;
      const next = i + (i & -i);
      if (next <= count) this.#sums[next]! += this.#sums[i]!;
    }
  }

  get count(): number {
    return this.#heights.length;
  }
  get total(): number {
    return this.offset(this.count);
  }
  of(item: number): number {
    return this.#heights[item]!;
  }
  /** The sum of the heights of all items before this one. */
  offset(item: number): number {
    let sum = 0;
    for (let i = item; i > 0; i -= i & -i) sum += this.#sums[i]!;
    return sum;
  }
  set(item: number, height: number): void {
    const change = height - this.#heights[item]!;
    this.#heights[item] = height;
    for (let i = item + 1; i < this.#sums.length; i += i & -i) this.#sums[i]! += change;
  }
  /** The item that this point lies in; the first or the last one outside of all. */
  itemAt(offset: number): number {
    let item = 0;
    let rest = offset;
    for (let step = 1 << (31 - Math.clz32(Math.max(1, this.count))); step > 0; step >>= 1) {
      if (item + step > this.count || this.#sums[item + step]! > rest) continue;
      item += step;
      rest -= this.#sums[item]!;
    }
    return Math.max(0, Math.min(item, this.count - 1));
  }
}
