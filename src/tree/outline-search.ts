/**
 * Search over what rows show.
 * Part of `tree/`: pure. Used by Outline. Keeps the text of each entry it has looked through.
 */
import type { OutlineSource } from "./outline-source.ts";
import { PROBLEM_MARKS } from "./outline-texts.ts";
import { searchText, type RowSurroundings } from "./row-text.ts";

/** Every word of the query must be in the row, in any case and order. */
export class EntrySearch {
  readonly #source: OutlineSource;
  readonly #around: RowSurroundings;
  readonly #texts: (string | undefined)[] = [];

  constructor(source: OutlineSource, around: RowSurroundings) {
    this.#source = source;
    this.#around = around;
  }

  /** A test for entries by ordinal; undefined when the query has no words and all entries match. */
  matcher(query: string, labels: ReadonlyMap<number, string>): ((n: number) => boolean) | undefined {
    const words = query
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== "");
    if (words.length === 0) return undefined;
    return (n) => {
      const text = this.#textOf(n);
      const label = labels.get(n)?.toLowerCase() ?? "";
      const problem = this.#source.treeProblemAt(n);
      const mark = problem === undefined ? "" : PROBLEM_MARKS[problem];
      return words.every((word) => text.includes(word) || label.includes(word) || mark.includes(word));
    };
  }

  #textOf(n: number): string {
    return (this.#texts[n] ??= searchText(this.#source.at(n), n, this.#around));
  }
}
