/**
 * `Arrangement`: which entries are visible under a filter and a query, as a tree of their own. A change is done at once,
 * from what is known of a search so far, or in steps that leave the tree as it is until they are over.
 * Part of `tree/`: pure. Used by Outline.
 */
import { FILTERS, labelsByOrdinal, type FilterMode } from "./outline-filter.ts";
import { arrangeVisible, isVisibleIn, orderEntries, type TreeOrder, type VisibleTree } from "./outline-layout.ts";
import { EntrySearch, isNarrower, wordsOf } from "./outline-search.ts";
import type { OutlineSource } from "./outline-source.ts";
import type { EntryTraits } from "./outline-traits.ts";
import type { RowSurroundings } from "./row-text.ts";

export interface ArrangementOptions {
  filter: FilterMode;
  query: string;
  /** Entries that a query looks through at once; the tree is then of what was found so far. Infinity: all. */
  searchAtOnce: number;
  /** Whether a change leaves the tree as it is until `goOn` has got through. */
  keepsTree: boolean;
}

export class Arrangement {
  readonly #source: OutlineSource;
  readonly #traits: EntryTraits;
  readonly #search: EntrySearch;
  readonly #searchAtOnce: number;
  readonly #keepsTree: boolean;
  #filter: FilterMode;
  #query: string;
  #labels: ReadonlyMap<number, string>;
  #order: TreeOrder;
  #leaf: number;
  #tree: VisibleTree;
  /** What `#tree` holds all entries of; undefined when it is of another session or some are missing. */
  #complete: { filter: FilterMode; words: readonly string[] } | undefined;
  /** The next tree, in the making. */
  #coming: Generator<number, VisibleTree> | undefined;
  /** How much was looked through when the tree was made. */
  #arrangedAt = 0;

  constructor(source: OutlineSource, traits: EntryTraits, around: RowSurroundings, options: ArrangementOptions) {
    this.#source = source;
    this.#traits = traits;
    this.#search = new EntrySearch(source, around);
    this.#searchAtOnce = options.searchAtOnce;
    this.#keepsTree = options.keepsTree;
    this.#filter = options.filter;
    this.#query = options.query;
    this.#labels = labelsByOrdinal(source);
    this.#order = orderEntries(source);
    this.#leaf = source.leafOrdinal;
    this.#tree = this.#arrangeNow();
  }

  get filter(): FilterMode {
    return this.#filter;
  }
  get query(): string {
    return this.#query;
  }
  get labels(): ReadonlyMap<number, string> {
    return this.#labels;
  }
  get order(): TreeOrder {
    return this.#order;
  }
  get tree(): VisibleTree {
    return this.#tree;
  }
  /** Whether the tree is not that of filter and query yet, or not all of it. */
  get isUnfinished(): boolean {
    return this.#coming !== undefined || this.#isPartial;
  }

  /** True when the tree is another now, false when `goOn` is needed. */
  change(filter: FilterMode, query: string): boolean {
    this.#filter = filter;
    this.#query = query;
    if (this.#keepsTree) this.#coming = this.#arrange();
    else this.#tree = this.#arrangeNow();
    return !this.#keepsTree;
  }

  /** Goes through about `limit` further entries; true when the tree is another now. */
  goOn(limit: number): boolean {
    if (this.#coming !== undefined) return this.#arrangeOn(this.#coming, limit);
    if (!this.#isPartial) return false;
    this.#search.look(limit);
    // Arranging costs as much as looking through some thousand entries: it pays when there is much that is new.
    if (this.#isPartial && this.#search.looked < 2 * this.#arrangedAt) return false;
    this.#tree = this.#arrangeNow();
    return true;
  }

  /** Takes in what the session has become, at once; false when it has not changed. */
  refresh(): boolean {
    const { size, leafOrdinal } = this.#source;
    if (size === this.#order.ordinals.length && leafOrdinal === this.#leaf) return false;
    this.#leaf = leafOrdinal;
    this.#labels = labelsByOrdinal(this.#source);
    this.#order = orderEntries(this.#source);
    this.#complete = undefined;
    this.#coming = undefined;
    this.#tree = this.#arrangeNow();
    return true;
  }

  /** Whether entries are missing that were not looked through yet. */
  get #isPartial(): boolean {
    return this.#looksInSlices && wordsOf(this.#query).length > 0 && !this.#search.isComplete;
  }
  get #looksInSlices(): boolean {
    return this.#searchAtOnce !== Number.POSITIVE_INFINITY;
  }

  #arrangeOn(coming: Generator<number, VisibleTree>, limit: number): boolean {
    for (let left = limit; left > 0;) {
      const { done, value } = coming.next();
      if (done) {
        this.#coming = undefined;
        this.#tree = value;
        return true;
      }
      left -= value;
    }
    return false;
  }

  #arrangeNow(): VisibleTree {
    const steps = this.#arrange();
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
    }
  }

  *#arrange(): Generator<number, VisibleTree> {
    if (this.#isPartial) this.#search.look(this.#searchAtOnce);
    this.#arrangedAt = this.#search.looked;
    const [filter, words] = [this.#filter, wordsOf(this.#query)];
    const isIn = this.#filterWithin(filter, words);
    const matches = this.#search.matcher(words, this.#labels, this.#looksInSlices);
    const isVisible = matches === undefined ? isIn : (n: number) => isIn(n) && matches(n);
    const tree = yield* arrangeVisible(this.#order, this.#source, isVisible);
    this.#complete = this.#isPartial ? undefined : { filter, words };
    return tree;
  }

  /** The filter; where the present tree holds all that can be found, whether an entry is in that. */
  #filterWithin(filter: FilterMode, words: readonly string[]): (n: number) => boolean {
    const [complete, tree] = [this.#complete, this.#tree];
    if (complete?.filter === filter && isNarrower(words, complete.words)) return (n) => isVisibleIn(tree, n);
    const view = { source: this.#source, traits: this.#traits, labels: this.#labels, current: this.#order.current };
    const passes = FILTERS[filter];
    return (n) => passes(view, n);
  }
}
