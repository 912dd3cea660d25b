/**
 * `Outline`: a session's tree as rows, with a filter, a search, folds and a selection. The one tree logic of the
 * terminal's selector, `bough tree` and the HTML page.
 * Part of `tree/`: pure strings and numbers; who draws it adds colours and cuts lines to the screen.
 */
import type { SessionEntry } from "./entries.ts";
import { typedLine } from "./one-line.ts";
import { Arrangement } from "./outline-arrangement.ts";
import { FILTER_MODES, type FilterMode } from "./outline-filter.ts";
import { drawPrefix, isFoldable, levelsWithin, opensBranch, showRows } from "./outline-layout.ts";
import type { ShownRows, TreeOrder, VisibleTree } from "./outline-layout.ts";
import type { OutlineSource } from "./outline-source.ts";
import { PROBLEM_MARKS } from "./outline-texts.ts";
import { ASSISTANT, EntryTraits, USER } from "./outline-traits.ts";
import { rowText, type RowSurroundings, type TextPart } from "./row-text.ts";

export type { FilterMode } from "./outline-filter.ts";
export type { OutlineSource } from "./outline-source.ts";
export type { OutlineToken, TextPart } from "./row-text.ts";

export interface OutlineRow {
  /** Its number among the rows, from 0. */
  index: number;
  /** Looked up when it is asked for. */
  readonly entry: SessionEntry;
  /** The entry's ordinal. */
  n: number;
  /** The row of its nearest visible ancestor; -1 for a visible root. */
  parent: number;
  /** Which of its parent's visible children it is, from 1, … */
  branch: number;
  /** … and how many there are. */
  branches: number;
  /** In levels, before any is cut off. */
  indent: number;
  /** The lines of the tree: three cells a level. */
  prefix: string;
  /** Whether it can be folded, and is. */
  fold: "open" | "folded" | undefined;
  /** On the path from the root to the leaf. */
  active: boolean;
  /** Where the user stands: the leaf, labels and extension state apart. */
  current: boolean;
  selected: boolean;
  label: string | undefined;
  /** Why an entry that has a parentId is a root. */
  problem: "missing parent" | "cycle" | undefined;
  /** Made of the entry when it is asked for; of one entry always the same. */
  readonly text: TextPart[];
}

export interface OutlineOptions {
  /** Default: "default". */
  filter?: FilterMode;
  query?: string;
  /** The entry to start on; default: the current one. */
  selectedId?: string;
  /** A folder shown as `~` at the start of paths. */
  home?: string;
  /**
   * Entries that a query looks through at once; then rows are what was found so far, and `searchOn` goes on. Default:
   * all of them.
   */
  searchAtOnce?: number;
  /**
   * Another filter or query leaves the rows as they are until `searchOn` has found all of the new ones. Default: those
   * are there at once.
   */
  keepsRows?: boolean;
}

export interface RowsOptions {
  /** Cells of the screen: deep indents are shifted left, together, to leave room for text. Default: 24 levels a page. */
  width?: number;
  /** `⊟` and `⊞` in the connectors of rows that can be folded; default false. */
  foldMarks?: boolean;
}

const LEVELS_PER_PAGE = 24;

export class Outline {
  readonly #source: OutlineSource;
  readonly #traits: EntryTraits;
  readonly #around: RowSurroundings;
  readonly #arrangement: Arrangement;
  readonly #folds = new Set<number>();
  /** What was selected before a search that is not over, and what it has selected since. */
  #beforeSearch: { anchor: number; since: number } | undefined;
  #shown: ShownRows;
  /** The ordinal to select: survives results that do not hold it. */
  #anchor: number;
  #selected = -1;

  /** Throws `Entry <id> not found` when `selectedId` names no entry. */
  constructor(source: OutlineSource, options: OutlineOptions = {}) {
    this.#source = source;
    this.#traits = new EntryTraits(source);
    this.#around = { home: options.home, findCall: (n, id) => this.#traits.findCall(n, id) };
    this.#arrangement = new Arrangement(source, this.#traits, this.#around, {
      filter: options.filter ?? "default",
      query: typedLine(options.query ?? ""),
      searchAtOnce: options.searchAtOnce ?? Number.POSITIVE_INFINITY,
      keepsTree: options.keepsRows ?? false,
    });
    this.#anchor = options.selectedId === undefined ? this.#order.current : this.#ordinalOf(options.selectedId);
    this.#shown = this.#show();
  }

  get filter(): FilterMode {
    return this.#arrangement.filter;
  }
  get query(): string {
    return this.#arrangement.query;
  }
  get rowCount(): number {
    return this.#shown.places.length;
  }
  get entryCount(): number {
    return this.#order.ordinals.length;
  }
  /** The number of the selected row; -1 when there are no rows. */
  get selected(): number {
    return this.#selected;
  }
  get selectedEntry(): SessionEntry | undefined {
    return this.#selected < 0 ? undefined : this.#source.at(this.#ordinalAt(this.#selected));
  }
  /** Where the user stands (SPEC L4), visible or not; undefined before the first entry. */
  get currentEntry(): SessionEntry | undefined {
    return this.#order.current < 0 ? undefined : this.#source.at(this.#order.current);
  }

  setFilter(filter: FilterMode): void {
    if (filter !== this.filter) this.#change(filter, this.query);
  }

  /** Sets a filter, or goes back to the default one if it is set. */
  toggleFilter(filter: FilterMode): void {
    this.setFilter(filter === this.filter ? "default" : filter);
  }

  cycleFilter(step: 1 | -1): void {
    this.setFilter(FILTER_MODES[modulo(FILTER_MODES.indexOf(this.filter) + step, FILTER_MODES.length)]!);
  }

  /** Words that rows must hold, all of them; control characters are dropped, "" shows all rows. */
  setQuery(query: string): void {
    const clean = typedLine(query);
    if (clean !== this.query) this.#change(this.filter, clean);
  }

  /** Whether the rows are not those of filter and query yet, or not all of them: `searchOn` has not got through. */
  get isSearching(): boolean {
    return this.#arrangement.isUnfinished;
  }

  /** Goes through about `limit` further entries; true when that has changed the rows. */
  searchOn(limit: number): boolean {
    const changed = this.#arrangement.goOn(limit);
    if (changed) this.#showFound();
    return changed;
  }

  /** Takes in what the session has become: new entries, labels, another leaf. Filter, folds and selection stay. */
  refresh(): void {
    if (this.#arrangement.refresh()) this.#showFound();
  }

  /** Selects an entry, or its nearest ancestor on the screen. Throws `Entry <id> not found`. */
  select(id: string): void {
    const anchor = (this.#anchor = this.#ordinalOf(id));
    this.#settle(this.#shown);
    if (this.isSearching) this.#beforeSearch = { anchor, since: this.#anchor };
  }

  /** Up or down; wraps around. */
  move(rows: number): void {
    if (this.rowCount > 0) this.#selectRow(modulo(this.#selected + rows, this.rowCount));
  }

  /** Up or down, stopping at either end. */
  page(rows: number): void {
    this.#selectRow(this.#selected + rows);
  }
  home(): void {
    this.#selectRow(0);
  }
  end(): void {
    this.#selectRow(this.rowCount - 1);
  }

  /** To the next or previous row of a user or assistant; stays when there is none. */
  moveToMessage(step: 1 | -1): void {
    for (let row = this.#selected + step; row >= 0 && row < this.rowCount; row += step)
      if (this.#traits.has(this.#ordinalAt(row), USER | ASSISTANT)) return this.#selectRow(row);
  }

  /** Folds the selected row if it is the open start of a branch. */
  fold(): boolean {
    return this.#foldState() === "open" && this.#setFold(true);
  }
  unfold(): boolean {
    return this.#foldState() === "folded" && this.#setFold(false);
  }
  toggleFold(): boolean {
    return this.fold() || this.unfold();
  }
  /** Folds, or else goes to the start of this branch or, from there, of the one above. */
  foldOrUp(): void {
    if (this.#selected >= 0 && !this.fold()) this.#selectPlace(this.#branchStartAbove(this.#selectedPlace()));
  }
  /** Unfolds, or else goes to the next fork's first branch or, without one, to the end of this branch. */
  unfoldOrDown(): void {
    if (this.#selected >= 0 && !this.unfold()) this.#selectPlace(this.#nextForkBelow(this.#selectedPlace()));
  }

  /** The first row of a screen of `height` rows that keeps the selection in its middle. */
  windowStart(height: number): number {
    const centred = this.#selected - Math.floor(height / 2);
    return Math.max(0, Math.min(centred, this.rowCount - height));
  }

  /** Up to `count` rows from row `from`. Costs as much as it returns, whatever the size of the session. */
  rows(from: number, count: number, options: RowsOptions = {}): OutlineRow[] {
    const places = this.#shown.places.subarray(Math.max(0, from), Math.max(0, from + count));
    const firstLevel = this.#firstLevel(places, options.width);
    return Array.from(places, (place) => this.#rowAt(place, firstLevel, options.foldMarks ?? false));
  }

  #rowAt(place: number, firstLevel: (indent: number) => number, foldMarks: boolean): OutlineRow {
    const { tree, order, labels } = this.#arrangement;
    const source = this.#source;
    const around = this.#around;
    const n = tree.ordinals[place]!;
    const index = this.#shown.rowOf[place]!;
    const above = tree.parent[place]!;
    const indent = tree.indent[place]!;
    const fold = this.#foldOf(place);
    // An open root needs no mark: nothing stands left of it that could carry one.
    const mark = !foldMarks || fold === undefined || (above < 0 && fold === "open") ? undefined : FOLD_MARKS[fold];
    const problem = source.treeProblemAt(n);
    return {
      index,
      get entry() {
        return source.at(n);
      },
      n,
      parent: above < 0 ? -1 : this.#shown.rowOf[above]!,
      branch: tree.rank[place]! + 1,
      branches: above < 0 ? tree.roots : tree.children[above]!,
      indent,
      prefix: drawPrefix(tree, place, firstLevel(indent), mark),
      fold,
      active: order.active[n] === 1,
      current: n === order.current,
      selected: index === this.#selected,
      label: labels.get(n),
      problem: problem === undefined ? undefined : PROBLEM_MARKS[problem],
      get text() {
        return source.glanceAt?.(n).text ?? rowText(source.at(n), n, around);
      },
    };
  }

  /** Which level of a row is the first to be drawn. */
  #firstLevel(places: Int32Array, width: number | undefined): (indent: number) => number {
    if (width === undefined) return (indent) => Math.floor(Math.max(0, indent - 1) / LEVELS_PER_PAGE) * LEVELS_PER_PAGE;
    let deepest = 0;
    for (const place of places) deepest = Math.max(deepest, this.#tree.indent[place]!);
    const first = Math.max(0, deepest - levelsWithin(width));
    return () => first;
  }

  get #order(): TreeOrder {
    return this.#arrangement.order;
  }
  get #tree(): VisibleTree {
    return this.#arrangement.tree;
  }

  #change(filter: FilterMode, query: string): void {
    this.#folds.clear();
    if (!this.#arrangement.change(filter, query)) return;
    const anchor = this.#anchor;
    this.#shown = this.#show();
    this.#beforeSearch = this.isSearching ? { anchor, since: this.#anchor } : undefined;
  }

  /** What was selected before the search is selected again, unless the user has moved since. */
  #showFound(): void {
    const before = this.#beforeSearch?.since === this.#anchor ? this.#beforeSearch : undefined;
    if (before !== undefined) this.#anchor = before.anchor;
    this.#shown = this.#show();
    this.#beforeSearch = this.isSearching && before ? { anchor: before.anchor, since: this.#anchor } : undefined;
  }

  #show(): ShownRows {
    const shown = showRows(this.#tree, this.#folds);
    this.#settle(shown);
    return shown;
  }

  /** Puts the selection on the anchor's row or its nearest visible ancestor's, else on the last row. */
  #settle({ places, rowOf }: ShownRows): void {
    const place = this.#anchor < 0 ? 0 : this.#tree.nearest[this.#anchor]!;
    this.#selected = places.length === 0 ? -1 : place < 0 ? places.length - 1 : rowOf[place]!;
    if (this.#selected >= 0) this.#anchor = this.#tree.ordinals[places[this.#selected]!]!;
  }

  #selectRow(row: number): void {
    if (this.rowCount === 0) return;
    this.#selected = Math.max(0, Math.min(row, this.rowCount - 1));
    this.#anchor = this.#ordinalAt(this.#selected);
  }
  #selectPlace(place: number): void {
    this.#selectRow(this.#shown.rowOf[place]!);
  }
  #selectedPlace(): number {
    return this.#shown.places[this.#selected]!;
  }
  #ordinalAt(row: number): number {
    return this.#tree.ordinals[this.#shown.places[row]!]!;
  }
  #ordinalOf(id: string): number {
    const n = this.#source.ordinal(id);
    if (n === undefined) throw new Error(`Entry ${id} not found`);
    return n;
  }

  #foldOf(place: number): "open" | "folded" | undefined {
    if (!isFoldable(this.#tree, place)) return undefined;
    return this.#folds.has(this.#tree.ordinals[place]!) ? "folded" : "open";
  }
  #foldState(): "open" | "folded" | undefined {
    return this.#selected < 0 ? undefined : this.#foldOf(this.#selectedPlace());
  }
  #setFold(folded: boolean): true {
    if (folded) this.#folds.add(this.#ordinalAt(this.#selected));
    else this.#folds.delete(this.#ordinalAt(this.#selected));
    this.#shown = this.#show();
    return true;
  }

  #branchStartAbove(place: number): number {
    const tree = this.#tree;
    let start = place;
    if (tree.parent[start]! >= 0 && opensBranch(tree, start)) start = tree.parent[start]!;
    while (tree.parent[start]! >= 0 && !opensBranch(tree, start)) start = tree.parent[start]!;
    return start;
  }

  #nextForkBelow(place: number): number {
    const tree = this.#tree;
    let end = place;
    while (tree.children[end] === 1) end = tree.lastChild[end]!;
    // The first child stands right below its parent.
    return tree.children[end]! > 1 ? end + 1 : end;
  }
}

const modulo = (n: number, size: number): number => ((n % size) + size) % size;
const FOLD_MARKS = { open: "⊟", folded: "⊞" } as const;
