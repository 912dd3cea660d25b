/**
 * `NumberColumn`: a growing typed array, so that a million entries cost bytes, not objects.
 * Part of `tree/`: pure. Used by the index.
 */
export class NumberColumn {
  #values: Int32Array | Float64Array;
  #size = 0;

  constructor(values: Int32Array | Float64Array) {
    this.#values = values;
  }

  /** Whole numbers of up to 32 bits. */
  static ofInt32(): NumberColumn {
    return new NumberColumn(new Int32Array(64));
  }
  /** The same, with as many of one value. */
  static filled(size: number, value: number): NumberColumn {
    const column = new NumberColumn(new Int32Array(Math.max(64, size)).fill(value));
    column.#size = size;
    return column;
  }
  static ofFloat64(): NumberColumn {
    return new NumberColumn(new Float64Array(64));
  }

  get size(): number {
    return this.#size;
  }
  /** The value at an index below `size`. */
  at(index: number): number {
    return this.#values[index] as number;
  }
  set(index: number, value: number): void {
    this.#values[index] = value;
  }
  push(value: number): void {
    if (this.#size === this.#values.length) {
      const larger =
        this.#values instanceof Int32Array ? new Int32Array(this.#size * 2) : new Float64Array(this.#size * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#size++] = value;
  }
}
