/**
 * `TreeLinks`: who hangs below whom, in numbers. An entry is its ordinal, its place among the entries of the file.
 * Parents may come later in the file than their children, be missing, or form cycles; nothing here is recursive.
 * Part of `tree/`: pure. Used by the index alone.
 */
import { IdTable } from "./id-table.ts";
import type { LineStart } from "./line-start.ts";
import { plainText } from "./line-start.ts";
import { NumberColumn } from "./number-column.ts";

export type TreeProblem = "missing-parent" | "cycle";

/** The "parent" of a root. */
export const ROOT = -1;
const NOTHING = -1;

export class TreeLinks {
  readonly #ids = new IdTable();
  /** Ids of leaf records, and the ordinal that a parentId naming one means. */
  readonly #aliases = new Map<string, number>();
  readonly #parents = NumberColumn.ofInt32();
  /** Milliseconds; NaN where a timestamp is unreadable. */
  readonly #times = NumberColumn.ofFloat64();
  /** By a parentId not seen yet: the entries that name it. */
  readonly #waiting = new Map<string, number[]>();
  readonly #problems = new Map<number, TreeProblem>();
  /** Parents named by entries that do not hang below them. */
  readonly #named = new Map<number, string>();
  #children: ChildLists | undefined;
  #shortcuts: NumberColumn | undefined;

  get size(): number {
    return this.#parents.size;
  }
  ordinal(id: string): number | undefined {
    return this.#ids.find(id);
  }
  /** Whether an entry or a leaf record has this id. */
  isTaken(id: string): boolean {
    return this.#ids.find(id) !== undefined || this.#aliases.has(id);
  }
  id(n: number): string {
    return this.#ids.id(n);
  }
  parent(n: number): number {
    return this.#parents.at(n);
  }
  /** The id of the parent: what a leaf record's id means, and what the entry names where that cannot be its parent. */
  parentId(n: number): string | null {
    const parent = this.#parents.at(n);
    return parent === ROOT ? (this.#named.get(n) ?? null) : this.id(parent);
  }
  /** Whether `id` would return this. */
  isId(n: number, id: string): boolean {
    return this.#ids.is(n, id);
  }
  /** Whether `parentId` would return this. */
  isParentId(n: number, parentId: string | null): boolean {
    const parent = this.#parents.at(n);
    if (parent === ROOT) return parentId === (this.#named.get(n) ?? null);
    return typeof parentId === "string" && this.#ids.is(parent, parentId);
  }
  /** What a parentId means now: an ordinal, ROOT, or undefined when nothing has that id. */
  resolve(id: string | null): number | undefined {
    return id === null ? ROOT : (this.#ids.find(id) ?? this.#aliases.get(id));
  }
  /** Roots that are roots only because something is wrong. */
  get problems(): ReadonlyMap<number, TreeProblem> {
    return this.#problems;
  }

  /** Adds the next ordinal under a new id; `undefined` stands for a parent that the entry does not name at all. */
  add(id: string, parentId: string | null | undefined, time: number): void {
    const n = this.size;
    this.#ids.add(id);
    this.#parents.push(ROOT);
    this.#times.push(time);
    this.#children?.add();
    const adopted = this.#waiting.size > 0 && this.#adopt(id, n);
    const parent = parentId === undefined ? undefined : this.resolve(parentId);
    if (typeof parentId === "string" && parent === undefined) this.#wait(parentId, n);
    if (parent === undefined) this.#problems.set(n, "missing-parent");
    else this.#hang(n, parent, parentId ?? undefined, adopted);
    this.#children?.hang(n, this.parent(n));
  }

  /**
   * The same for an entry of which the start of its line was read from `bytes`; false, and nothing added, when its id is
   * taken. Nearly all lines of a session come this way, and most of them follow the one before.
   */
  addStart(bytes: Uint8Array, start: LineStart, time: number): boolean {
    const { idFrom, idTo, parentFrom, parentTo } = start;
    const needsIds = this.#aliases.size > 0 || this.#waiting.size > 0;
    const parent = needsIds ? undefined : this.#parentAt(bytes, parentFrom, parentTo);
    if (parent === undefined) return this.#addSlowly(bytes, start, time);
    const n = this.size;
    if (!this.#ids.addBytes(bytes, idFrom, idTo)) return false;
    this.#parents.push(parent);
    this.#times.push(time);
    this.#children?.add();
    this.#children?.hang(n, parent);
    return true;
  }

  #addSlowly(bytes: Uint8Array, { idFrom, idTo, parentFrom, parentTo }: LineStart, time: number): boolean {
    const id = plainText(bytes, idFrom, idTo);
    if (this.isTaken(id)) return false;
    this.add(id, parentFrom < 0 ? null : plainText(bytes, parentFrom, parentTo), time);
    return true;
  }

  /** Undefined when no entry has that id. */
  #parentAt(bytes: Uint8Array, from: number, to: number): number | undefined {
    if (from < 0) return ROOT;
    const last = this.size - 1;
    if (last >= 0 && this.#ids.isAt(last, bytes, from, to)) return last;
    const n = this.#ids.findBytes(bytes, from, to);
    return n < 0 ? undefined : n;
  }

  /** Whether an entry may say another parent than it has: one that names a leaf record. */
  get hasAliases(): boolean {
    return this.#aliases.size > 0;
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
    if (this.#areByTime(children)) return children;
    let before = Number.NEGATIVE_INFINITY;
    const keyed = children.map((child) => {
      const time = this.#times.at(child);
      before = Number.isNaN(time) ? before : time;
      return { child, key: before };
    });
    return keyed.sort((a, b) => a.key - b.key).map(({ child }) => child);
  }

  #areByTime(children: readonly number[]): boolean {
    let before = Number.NEGATIVE_INFINITY;
    for (const child of children) {
      const time = this.#times.at(child);
      if (time < before) return false;
      if (!Number.isNaN(time)) before = time;
    }
    return true;
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
      this.#named.delete(child);
      this.#hang(child, parent, id, true);
    }
    return true;
  }

  #hang(n: number, parent: number, named: string | undefined, hasDescendants: boolean): void {
    // Only an entry that something already hangs below can be above its own parent.
    if (parent === n || (hasDescendants && parent !== ROOT && this.#rootOf(parent) === n)) {
      this.#problems.set(n, "cycle");
      if (named !== undefined) this.#named.set(n, named);
    } else this.#parents.set(n, parent);
  }

  #wait(parentId: string, n: number): void {
    this.#named.set(n, parentId);
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
      const lists = new ChildLists(this.size);
      for (let n = 0; n < this.size; n++) lists.hang(n, this.parent(n));
      this.#children = lists;
    }
    return this.#children;
  }
}

/** Linked lists of children in file order, the roots' list first. */
class ChildLists {
  /** Each at [n + 1], so that ROOT has a list as well. */
  readonly #first: NumberColumn;
  readonly #last: NumberColumn;
  readonly #next: NumberColumn;

  /** With room for `size` ordinals. */
  constructor(size: number) {
    this.#first = NumberColumn.filled(size + 1, NOTHING);
    this.#last = NumberColumn.filled(size + 1, NOTHING);
    this.#next = NumberColumn.filled(size + 1, NOTHING);
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
