/**
 * The shape of an outline: in which order entries stand, which visible row hangs off which, and how far it is indented.
 * Typed arrays, loops and no bodies, so that 1,000,000 entries are a matter of milliseconds.
 * Part of `tree/`: pure. Used by Outline; `currentOrdinal` also by navigation.
 */
import { kindNamed } from "./kinds.ts";
import type { OutlineSource } from "./outline-source.ts";

/** All entries, whatever is visible: parents before children, the branch that holds the leaf before its siblings. */
export interface TreeOrder {
  readonly ordinals: Int32Array;
  /** 1 for the entries from the root to the leaf. */
  readonly active: Uint8Array;
  /** Where the user stands: see `currentOrdinal`. */
  readonly current: number;
}

/**
 * The entry the user stands on: the leaf, or its nearest ancestor that is no label, no extension state and no name,
 * since labelling an entry or naming the session must not look like leaving it. -1 when there is none.
 */
export function currentOrdinal(source: Pick<OutlineSource, "leafOrdinal" | "kindAt" | "parentOrdinal">): number {
  let n = source.leafOrdinal;
  while (n >= 0 && kindNamed(source.kindAt(n)).movesLeaf === "on-chain") n = source.parentOrdinal(n);
  return n;
}

export function orderEntries(source: OutlineSource): TreeOrder {
  const active = new Uint8Array(source.size);
  for (let n = source.leafOrdinal; n >= 0; n = source.parentOrdinal(n)) active[n] = 1;

  // Each at [n + 1], so that -1 has its own: most entries have one child, which is known without asking for a list.
  const count = new Int32Array(source.size + 1);
  const last = new Int32Array(source.size + 1);
  for (let n = 0; n < source.size; n++) {
    const parent = source.parentOrdinal(n);
    count[parent + 1]!++;
    last[parent + 1] = n;
  }
  const ordinals = new Int32Array(source.size);
  const pending = new Int32Array(source.size);
  let found = 0;
  let waiting = 0;
  const wait = (children: readonly number[]): void => {
    let first = -1;
    for (let i = children.length - 1; i >= 0; i--) {
      const child = children[i]!;
      if (active[child] === 1) first = child;
      else pending[waiting++] = child;
    }
    if (first >= 0) pending[waiting++] = first;
  };
  for (let n = -1; ;) {
    while (count[n + 1] === 1) ordinals[found++] = n = last[n + 1]!;
    if (count[n + 1]! > 1) wait(source.treeChildren(n));
    if (waiting === 0) break;
    ordinals[found++] = n = pending[--waiting]!;
  }
  return { ordinals, active, current: currentOrdinal(source) };
}

/**
 * The visible entries as a tree of their own: each hangs off its nearest visible ancestor. Arrays are by place: the
 * number of an entry among the visible ones, in tree order. Indents are in levels.
 */
export interface VisibleTree {
  readonly count: number;
  readonly ordinals: Int32Array;
  /** By ordinal: the place of the entry, or else of its nearest visible ancestor; -1 without one. */
  readonly nearest: Int32Array;
  /** The place of the visible parent; -1 for a visible root. */
  readonly parent: Int32Array;
  readonly children: Int32Array;
  readonly lastChild: Int32Array;
  /** Which of its parent's visible children it is, from 0. */
  readonly rank: Int32Array;
  readonly indent: Int32Array;
  /** The place of the nearest ancestor that has a connector, whose rail may pass this row; -1 without one. */
  readonly railAbove: Int32Array;
  readonly roots: number;
}

/**
 * Arranges the visible entries, some hundred at a time: between two steps whoever waits may do something else, or leave
 * the rest. Yields how many entries each step went through.
 */
export function* arrangeVisible(
  order: TreeOrder,
  source: Pick<OutlineSource, "parentOrdinal">,
  isVisible: (n: number) => boolean,
): Generator<number, VisibleTree> {
  const size = order.ordinals.length;
  // Asked in file order: bodies and lines that are needed for the answer are then read one after the other.
  const visible = new Uint8Array(size);
  yield* inSteps(size, (from, end) => {
    for (let n = from; n < end; n++) visible[n] = isVisible(n) ? 1 : 0;
  });
  const nearest = new Int32Array(size);
  const ordinals = new Int32Array(size);
  const parent = new Int32Array(size);
  const children = new Int32Array(size);
  const lastChild = new Int32Array(size).fill(-1);
  const rank = new Int32Array(size);
  let count = 0;
  let roots = 0;
  yield* inSteps(size, (from, end) => {
    for (let i = from; i < end; i++) {
      const n = order.ordinals[i]!;
      const treeParent = source.parentOrdinal(n);
      const above = treeParent < 0 ? -1 : nearest[treeParent]!;
      if (visible[n] === 0) {
        nearest[n] = above;
        continue;
      }
      const place = count++;
      nearest[n] = place;
      ordinals[place] = n;
      parent[place] = above;
      if (above < 0) rank[place] = roots++;
      else {
        rank[place] = children[above]!++;
        lastChild[above] = place;
      }
    }
  });
  const shape = { count, ordinals, nearest, parent, children, lastChild, rank, roots };
  const indents = { indent: new Int32Array(count), railAbove: new Int32Array(count) };
  yield* inSteps(count, (from, end) => indentRows(shape, indents, from, end));
  return { ...shape, ...indents };
}

/** Entries of a step: a fraction of a millisecond, on a slow machine too. */
const STEP = 512;

function* inSteps(size: number, pass: (from: number, end: number) => void): Generator<number, void> {
  for (let from = 0; from < size; from += STEP) {
    const end = Math.min(size, from + STEP);
    pass(from, end);
    yield end - from;
  }
}

export function isVisibleIn(tree: VisibleTree, n: number): boolean {
  const place = tree.nearest[n]!;
  return place >= 0 && tree.ordinals[place] === n;
}

/**
 * One level more at each split, and one more below the first entry of a branch, so that a branch reads as a block.
 * Several roots count as a split too, but above the screen: no connector, and their indent starts at 0.
 */
function indentRows(
  tree: Pick<VisibleTree, "parent" | "children" | "roots">,
  { indent, railAbove }: Pick<VisibleTree, "indent" | "railAbove">,
  from: number,
  end: number,
): void {
  for (let place = from; place < end; place++) {
    const above = tree.parent[place]!;
    if (above < 0) {
      railAbove[place] = -1;
      continue;
    }
    const steps = opensBranch(tree, place) || opensBranch(tree, above) ? 1 : 0;
    indent[place] = indent[above]! + steps;
    railAbove[place] = hasConnector(tree, above) ? above : railAbove[above]!;
  }
}

/** Whether the row has visible siblings, other roots included. */
export function opensBranch(tree: Pick<VisibleTree, "parent" | "children" | "roots">, place: number): boolean {
  const above = tree.parent[place]!;
  return (above < 0 ? tree.roots : tree.children[above]!) > 1;
}

function hasConnector(tree: Pick<VisibleTree, "parent" | "children" | "roots">, place: number): boolean {
  return tree.parent[place]! >= 0 && opensBranch(tree, place);
}

export function isFoldable(tree: VisibleTree, place: number): boolean {
  return tree.children[place]! > 0 && (tree.parent[place]! < 0 || opensBranch(tree, place));
}

/** The places that folded entries leave on the screen, and for each place its row, or the row of the entry it is folded into. */
export interface ShownRows {
  readonly places: Int32Array;
  readonly rowOf: Int32Array;
}

export function showRows(tree: VisibleTree, folds: ReadonlySet<number>): ShownRows {
  if (folds.size === 0) return allRows(tree.count);
  const places = new Int32Array(tree.count);
  const rowOf = new Int32Array(tree.count);
  const closed = new Uint8Array(tree.count);
  let rows = 0;
  for (let place = 0; place < tree.count; place++) {
    const above = tree.parent[place]!;
    if (above >= 0 && closed[above] === 1) {
      closed[place] = 1;
      rowOf[place] = rowOf[above]!;
      continue;
    }
    places[rows] = place;
    rowOf[place] = rows++;
    if (folds.has(tree.ordinals[place]!) && isFoldable(tree, place)) closed[place] = 1;
  }
  return { places: places.subarray(0, rows), rowOf };
}

function allRows(count: number): ShownRows {
  const rows = new Int32Array(count);
  for (let place = 0; place < count; place++) rows[place] = place;
  return { places: rows, rowOf: rows };
}

const LEVEL = "   ";
const RAIL = "│  ";
const BRANCH = "├─ ";
const LAST_BRANCH = "└─ ";

/**
 * The lines left of a row, three cells a level, from level `first` on. What is cut off on the left shows as `…`.
 * `mark` stands in the connector, or before the text of a row without one.
 */
export function drawPrefix(tree: VisibleTree, place: number, first: number, mark: string | undefined): string {
  const indent = tree.indent[place]!;
  if (indent <= first && first > 0) return `…${mark ?? ""} `;
  const cells: string[] = [];
  for (let level = first; level < indent; level++) cells.push(LEVEL);
  for (let rail = tree.railAbove[place]!; rail >= 0; rail = tree.railAbove[rail]!) {
    const level = tree.indent[rail]! - 1;
    if (level < first) break;
    if (!isLast(tree, rail)) cells[level - first] = RAIL;
  }
  if (hasConnector(tree, place)) {
    const connector = isLast(tree, place) ? LAST_BRANCH : BRANCH;
    cells[indent - 1 - first] = mark === undefined ? connector : `${connector[0]}${mark} `;
  } else if (mark !== undefined) cells.push(`${mark} `);
  if (first > 0) cells[0] = `…${cells[0]!.slice(1)}`;
  return cells.join("");
}

function isLast(tree: VisibleTree, place: number): boolean {
  return tree.lastChild[tree.parent[place]!] === place;
}

/** For a screen `width` cells wide: the levels that leave half of it, and at least 24 cells, to the text. */
export function levelsWithin(width: number): number {
  const text = Math.max(24, Math.floor(width / 2));
  return Math.max(1, Math.floor((width - text - 4) / 3));
}
