/**
 * `TreeLinks`: who hangs below whom, in numbers. An entry is its ordinal, its place among the entries of the file.
 * Parents may come later in the file than their children, be missing, or form cycles; nothing here is recursive.
 * Part of `tree/`: pure. Used by the index alone.
 */
import { NumberColumn } from "./number-column.ts";

export type TreeProblem = "missing-parent" | "cycle";

/** The "parent" of a root. */
export const ROOT = -1;
const NOTHING = -1;

export class TreeLinks {
  readonly #ordinals = new Map<string, number>();
  /** Ids of leaf records, and the ordinal that a parentId naming one means. */
  readonly #aliases = new Map<string, number>();
  readonly #parents = NumberColumn.ofInt32();
  /** Milliseconds; NaN where a timestamp is unreadable. */
  readonly #times = NumberColumn.ofFloat64();
  /** By a parentId not seen yet: the entries that name it. */
  readonly #waiting = new Map<string, number[]>();
  readonly #problems = new Map<number, TreeProblem>();
  #children: ChildLists | undefined;
  #shortcuts: NumberColumn | undefined;

  get size(): number {
    return this.#parents.size;
  }
  ordinal(id: string): number | undefined {
    return this.#ordinals.get(id);
  }
  /** Whether an entry or a leaf record has this id. */
  isTaken(id: string): boolean {
    return this.#ordinals.has(id) || this.#aliases.has(id);
  }
  parent(n: number): number {
    return this.#parents.at(n);
  }
  /** What a parentId means now: an ordinal, ROOT, or undefined when nothing has that id. */
  resolve(id: string | null): number | undefined {
    return id === null ? ROOT : (this.#ordinals.get(id) ?? this.#aliases.get(id));
  }
  /** Roots that are roots only because something is wrong. */
  get problems(): ReadonlyMap<number, TreeProblem> {
    return this.#problems;
  }

  /** Adds the next ordinal under a new id; `undefined` stands for a parent that the entry does not name at all. */
  add(id: string, parentId: string | null | undefined, time: number): void {
    const n = this.size;
    this.#ordinals.set(id, n);
    this.#parents.push(ROOT);
    this.#times.push(time);
    this.#children?.add();
    const adopted = this.#adopt(id, n);
    const parent = parentId === undefined ? undefined : this.resolve(parentId);
    if (parent === undefined) {
      this.#problems.set(n, "missing-parent");
      if (typeof parentId === "string") this.#wait(parentId, n);
    } else this.#hang(n, parent, adopted);
    this.#children?.hang(n, this.parent(n));
  }

  /** Makes the id of a leaf record read as its target. */
  alias(id: string, target: number): void {
    this.#aliases.set(id, target);
    this.#adopt(id, target);
  }

  /** The path from the root to `n`, both included. */
  path(n: number): number[] {
    const path: number[] = [];
    for (let at = n; at !== ROOT; at = this.parent(at)) path.push(at);
    return path.reverse();
  }

  /** In file order; ROOT gives the roots. */
  children(n: number): number[] {
    return this.#lists().of(n);
  }

  /**
   * Old to new by timestamp. An unreadable time counts as that of the sibling before it in the file, ties stand in
   * file order: one order whatever is unreadable, and later siblings never reorder earlier ones.
   */
  childrenByTime(n: number): number[] {
    const children = this.children(n);
    let before = Number.NEGATIVE_INFINITY;
    let sorted = true;
    const keyed = children.map((child) => {
      const time = this.#times.at(child);
      const key = Number.isNaN(time) ? before : time;
      if (key < before) sorted = false;
      before = key;
      return { child, key };
    });
    return sorted ? children : keyed.sort((a, b) => a.key - b.key).map(({ child }) => child);
  }

  time(n: number): number {
    return this.#times.at(n);
  }

  /** Hangs the entries that waited for `id` below `parent`; true if there were any. */
  #adopt(id: string, parent: number): boolean {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return false;
    this.#waiting.delete(id);
    // Their place among the roots is gone; the lists are made anew when next asked for.
    this.#children = undefined;
    for (const child of waiting) {
      this.#problems.delete(child);
      this.#hang(child, parent, true);
    }
    return true;
  }

  #hang(n: number, parent: number, hasDescendants: boolean): void {
    // Only an entry that something already hangs below can be above its own parent.
    if (parent === n || (hasDescendants && parent !== ROOT && this.#rootOf(parent) === n))
      this.#problems.set(n, "cycle");
    else this.#parents.set(n, parent);
  }

  #wait(parentId: string, n: number): void {
    const waiting = this.#waiting.get(parentId);
    if (waiting === undefined) this.#waiting.set(parentId, [n]);
    else waiting.push(n);
  }

  /**
   * The root above `n`, over remembered shortcuts to higher ancestors: many entries whose parents come later in the
   * file would otherwise each walk the whole path. Links are only ever added above roots, so shortcuts stay true.
   */
  #rootOf(n: number): number {
    const shortcuts = (this.#shortcuts ??= NumberColumn.ofInt32());
    while (shortcuts.size < this.size) shortcuts.push(NOTHING);
    const above = (at: number): number => (shortcuts.at(at) === NOTHING ? this.parent(at) : shortcuts.at(at));
    let root = n;
    for (let next = above(root); next !== ROOT; next = above(root)) root = next;
    for (let at = n; at !== root;) {
      const next = above(at);
      shortcuts.set(at, root);
      at = next;
    }
    return root;
  }

  #lists(): ChildLists {
    if (this.#children === undefined) {
      const lists = new ChildLists();
      for (let n = 0; n < this.size; n++) lists.add();
      for (let n = 0; n < this.size; n++) lists.hang(n, this.parent(n));
      this.#children = lists;
    }
    return this.#children;
  }
}

/** Linked lists of children in file order, the roots' list first. */
class ChildLists {
  /** Each at [n + 1], so that ROOT has a list as well. */
  readonly #first = NumberColumn.ofInt32();
  readonly #last = NumberColumn.ofInt32();
  readonly #next = NumberColumn.ofInt32();

  constructor() {
    this.add();
  }
  /** Makes room for the next ordinal. */
  add(): void {
    this.#first.push(NOTHING);
    this.#last.push(NOTHING);
    this.#next.push(NOTHING);
  }
  hang(n: number, parent: number): void {
    const last = this.#last.at(parent + 1);
    if (last === NOTHING) this.#first.set(parent + 1, n);
    else this.#next.set(last + 1, n);
    this.#last.set(parent + 1, n);
  }
  of(n: number): number[] {
    const children: number[] = [];
    for (let at = this.#first.at(n + 1); at !== NOTHING; at = this.#next.at(at + 1)) children.push(at);
    return children;
  }
}
