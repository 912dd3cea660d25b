/**
 * Search over what rows show.
 * Part of `tree/`: pure. Used by Outline. Keeps the text of each entry it has looked through.
 */
import type { OutlineSource } from "./outline-source.ts";
import { PROBLEM_MARKS } from "./outline-texts.ts";
import { rowText, searchText, wordsBeyond, type RowSurroundings } from "./row-text.ts";

/** Every word of the query must be in the row, in any case and order. */
export class EntrySearch {
  readonly #source: OutlineSource;
  readonly #around: RowSurroundings;
  readonly #texts: (string | undefined)[] = [];
  /** Entries between these two have their text in `#texts`. */
  #from = 0;
  #to = 0;

  constructor(source: OutlineSource, around: RowSurroundings) {
    this.#source = source;
    this.#around = around;
  }

  /** Whether the text of each entry is known. */
  get isComplete(): boolean {
    return this.#from === 0 && this.#to === this.#source.size;
  }
  /** How many texts are known from `look`. */
  get looked(): number {
    return this.#to - this.#from;
  }

  /** Looks through up to `limit` further entries, the newest first. */
  look(limit: number): void {
    if (this.#to === 0) this.#from = this.#to = this.#source.size;
    let left = limit;
    for (; left > 0 && this.#to < this.#source.size; left--) this.#textOf(this.#to++);
    for (; left > 0 && this.#from > 0; left--) this.#textOf(--this.#from);
  }

  /**
   * A test for entries by ordinal; undefined when there are no words and all entries match.
   * @param knownOnly entries not looked through yet do not match, instead of being read
   */
  matcher(
    words: readonly string[],
    labels: ReadonlyMap<number, string>,
    knownOnly: boolean,
  ): ((n: number) => boolean) | undefined {
    if (words.length === 0) return undefined;
    return (n) => {
      const text = knownOnly ? this.#texts[n] : this.#textOf(n);
      if (text === undefined) return false;
      return words.every((word) => text.includes(word) || this.#isBeside(n, word, labels));
    };
  }

  /** Whether the word is in what a row shows beside its text. */
  #isBeside(n: number, word: string, labels: ReadonlyMap<number, string>): boolean {
    const problem = this.#source.treeProblemAt(n);
    if (problem !== undefined && PROBLEM_MARKS[problem].includes(word)) return true;
    return labels.get(n)?.toLowerCase().includes(word) ?? false;
  }

  #textOf(n: number): string {
    return (this.#texts[n] ??= this.#look(n));
  }

  #look(n: number): string {
    const glance = this.#source.glanceAt?.(n);
    if (glance !== undefined) return searchText(glance.text, glance.beyond);
    const entry = this.#source.at(n);
    return searchText(rowText(entry, n, this.#around), wordsBeyond(entry, n));
  }
}

/** In lower case; none for a query of white space. */
export function wordsOf(query: string): string[] {
  return query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
}

/** Whether every entry that holds all of `words` holds all of `others`, too. */
export function isNarrower(words: readonly string[], others: readonly string[]): boolean {
  return others.every((other) => words.some((word) => word.includes(other)));
}
