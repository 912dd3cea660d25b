/**
 * `SpendingColumn`: what each entry of a session has spent, six numbers for those that did and none for the others.
 * Part of `tree/`: pure. Used by the index.
 */
import { NumberColumn } from "./number-column.ts";
import { USAGE_FIELDS } from "./usage.ts";
import type { UsageSums } from "./usage.ts";

export class SpendingColumn {
  /** By ordinal: where its numbers begin, -1 for none. */
  readonly #starts = NumberColumn.ofInt32();
  readonly #numbers = NumberColumn.ofFloat64();

  /** That of the next ordinal. */
  push(sums: UsageSums | undefined): void {
    this.#starts.push(sums === undefined ? -1 : this.#numbers.size);
    if (sums !== undefined) for (const field of USAGE_FIELDS) this.#numbers.push(sums[field]);
  }

  at(n: number): UsageSums | undefined {
    const start = this.#starts.at(n);
    if (start < 0) return undefined;
    const at = (field: number): number => this.#numbers.at(start + field);
    return { input: at(0), output: at(1), cacheRead: at(2), cacheWrite: at(3), totalTokens: at(4), cost: at(5) };
  }
}
