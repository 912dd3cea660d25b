/**
 * `PageTree`: the tree of an exported session out of its rows, as an `OutlineSource`: the outline of the page is the
 * terminal's own, over this. Links, order of children, missing parents and cycles are found out again by the tree's code.
 * Part of the page; uses no browser API, so that tests run it anywhere.
 */
import type { SessionEntry } from "../../tree/entries.ts";
import type { OutlineSource, RowGlance } from "../../tree/outline-source.ts";

import { TreeLinks } from "../../tree/tree-links.ts";
import type { TreeProblem } from "../../tree/tree-links.ts";
import { ROW_HIDDEN, ROW_SILENT } from "./page-data.ts";
import type { PageFacts, RowBlock } from "./page-data.ts";

export class PageTree implements OutlineSource {
  /** The end of the branch that is shown. */
  leafOrdinal: number;
  /** That of the session. */
  readonly sessionLeaf: number;
  readonly #links = new TreeLinks();
  readonly #blocks: readonly RowBlock[];
  readonly #labels = new Map<string, string>();
  readonly #rowsPerBlock: number;

  constructor({ leaf, labels }: Pick<PageFacts, "leaf" | "labels">, blocks: readonly RowBlock[]) {
    this.#blocks = blocks;
    this.#rowsPerBlock = Math.max(1, blocks[0]?.ids.length ?? 1);
    this.#link();
    this.sessionLeaf = this.leafOrdinal = leaf < this.size ? leaf : this.size - 1;
    for (const [n, label] of labels) if (n < this.size) this.#labels.set(this.#links.id(n), label);
  }

  get size(): number {
    return this.#links.size;
  }
  /** Without its body. */
  at(n: number): SessionEntry {
    const time = this.timeAt(n);
    const timestamp = Number.isNaN(time) ? "" : new Date(time).toISOString();
    return { type: this.kindAt(n), id: this.idAt(n), parentId: this.#links.parentId(n), timestamp } as SessionEntry;
  }
  idAt(n: number): string {
    return this.#links.id(n);
  }
  /** Milliseconds; NaN where it cannot be read. */
  timeAt(n: number): number {
    return this.#links.time(n);
  }
  kindAt(n: number): string {
    const [block, i] = this.#place(n);
    return block.names[block.kinds[i]!]!;
  }
  roleAt(n: number): string | undefined {
    const [block, i] = this.#place(n);
    return block.names[block.roles[i]!];
  }
  glanceAt(n: number): RowGlance {
    const [block, i] = this.#place(n);
    return { text: block.texts[i]!, beyond: block.beyond[i]!, silent: (block.flags[i]! & ROW_SILENT) !== 0 };
  }
  /** A custom message that the terminal does not show. */
  isHidden(n: number): boolean {
    const [block, i] = this.#place(n);
    return (block.flags[i]! & ROW_HIDDEN) !== 0;
  }
  parentOrdinal(n: number): number {
    return this.#links.parent(n);
  }
  treeChildren(n: number): readonly number[] {
    return this.#links.childrenByTime(n);
  }
  treeProblemAt(n: number): TreeProblem | undefined {
    return this.#links.problems.get(n);
  }
  ordinal(id: string): number | undefined {
    return this.#links.ordinal(id);
  }
  labels(): ReadonlyMap<string, string> {
    return this.#labels;
  }
  path(n: number): number[] {
    return n < 0 ? [] : this.#links.path(n);
  }
  /** Where following the newest child, again and again, leads to. */
  newestLeafBelow(n: number): number {
    let leaf = n;
    for (let children = this.treeChildren(leaf); children.length > 0; children = this.treeChildren(leaf))
      leaf = children.at(-1)!;
    return leaf;
  }

  #place(n: number): [block: RowBlock, index: number] {
    const block = this.#blocks[Math.floor(n / this.#rowsPerBlock)]!;
    return [block, n % this.#rowsPerBlock];
  }

  #link(): void {
    const ids = this.#blocks.flatMap((block) => block.ids);
    let n = 0;
    let time = 0;
    for (const { parents, times } of this.#blocks)
      for (const [i, parent] of parents.entries()) {
        const since = times[i]!;
        if (since !== null) time += since;
        const parentId = typeof parent === "number" ? ids[n + parent]! : parent;
        this.#links.add(ids[n]!, parentId, since === null ? Number.NaN : time);
        n++;
      }
  }
}
