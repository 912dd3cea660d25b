/**
 * `FactsCount`: what the head of a page tells of a session, gathered while its entries go through.
 * Part of `export/`; used by html.ts.
 */
import type { SessionEntry } from "../tree/entries.ts";
import { addSpending, emptyUsage } from "../tree/usage.ts";
import type { Spending } from "../tree/usage.ts";
import type { PageFacts } from "./page/page-data.ts";
import { roleOf } from "./page-rows.ts";

export type CountedFacts = Pick<PageFacts, "times" | "counts" | "usage" | "byModel">;

const COUNTED: ReadonlyMap<string | undefined, keyof PageFacts["counts"]> = new Map([
  ["user", "prompts"],
  ["assistant", "answers"],
  ["toolResult", "toolResults"],
]);

export class FactsCount {
  readonly #counts = { prompts: 0, answers: 0, toolResults: 0 };
  readonly #usage = emptyUsage();
  #first = Number.POSITIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;

  /** @param time of its timestamp; NaN when that cannot be read */
  add(entry: SessionEntry, time: number, spending: Spending | undefined): void {
    if (!Number.isNaN(time)) {
      this.#first = Math.min(this.#first, time);
      this.#last = Math.max(this.#last, time);
    }
    const counted = COUNTED.get(roleOf(entry));
    if (counted !== undefined) this.#counts[counted]++;
    if (spending !== undefined) addSpending(this.#usage, spending);
  }

  get facts(): CountedFacts {
    const { byModel, ...usage } = this.#usage;
    const times = this.#last < this.#first ? undefined : { first: this.#first, last: this.#last };
    return { times, counts: this.#counts, usage, byModel: [...byModel] };
  }
}
