/**
 * `PageView`: what the page shows: which branch, which of its entries, which parts of them are open.
 * Part of the page; uses no browser API. The page's element draws it and tells it what the user does.
 */
import type { SessionEntry } from "../../tree/entries.ts";
import { isRecord } from "../../tree/json.ts";
import { ENTRY_KINDS } from "../../tree/kinds.ts";
import { Outline } from "../../tree/outline.ts";
import type { Bodies } from "./bodies.ts";
import type { EntryContext, Switch } from "./entry-context.ts";
import type { PageTree } from "./page-tree.ts";
import type { Place } from "./place.ts";

/** A call is looked for in so many answers above its result. */
const FARTHEST_CALL = 16;
/** Results of one answer that are looked through. */
const MOST_RESULTS = 64;

/** State that a reader of a conversation wants to see: the others are the hidden ones. */
const SHOWN_STATE: ReadonlySet<string> = new Set(["model_change", "thinking_level_change", "mode_change"]);

export class PageView {
  readonly tree: PageTree;
  readonly outline: Outline;
  readonly bodies: Bodies;
  readonly switches = new Set<Switch>();
  /** Ordinals of the transcript's entries, from the root on. */
  items: number[] = [];
  /** The entry that was gone to; -1 for none. */
  target = -1;
  /** By ordinal and part: what was opened or closed by hand. */
  readonly #open = new Map<string, boolean>();
  #path: number[] = [];
  readonly #answered = new Map<number, ReadonlySet<unknown>>();

  constructor(tree: PageTree, bodies: Bodies) {
    this.tree = tree;
    this.bodies = bodies;
    this.outline = new Outline(tree, { keepsRows: true });
    this.#walk();
  }

  /** The place for the address. */
  get place(): Place {
    const { leafOrdinal } = this.tree;
    return {
      leafId: leafOrdinal < 0 ? undefined : this.tree.idAt(leafOrdinal),
      targetId: this.target < 0 ? undefined : this.tree.idAt(this.target),
    };
  }

  /** Goes to a place of an address; what the session does not have is passed over. */
  goTo({ leafId, targetId }: Place): void {
    const leaf = leafId === undefined ? undefined : this.tree.ordinal(leafId);
    const target = targetId === undefined ? undefined : this.tree.ordinal(targetId);
    this.#showBranch(leaf ?? this.tree.sessionLeaf);
    if (target === undefined) this.target = -1;
    else this.show(target);
  }

  /** Shows the branch that holds the entry: this one if it does, else the newest below it. */
  show(n: number): void {
    this.target = n;
    if (!this.isOnPath(n)) this.#showBranch(this.tree.newestLeafBelow(n));
    if (!this.#isShown(n)) this.toggle("hidden");
    this.outline.select(this.tree.idAt(n));
  }

  /** Back to where the session stands. */
  showLeaf(): void {
    this.outline.setQuery("");
    this.#showBranch(this.tree.sessionLeaf);
    this.target = -1;
    const { currentEntry } = this.outline;
    if (currentEntry !== undefined) this.outline.select(currentEntry.id);
  }

  /** The newest end of a branch, where the one that is shown ends at its root or before and others go on. */
  get newestElsewhere(): number | undefined {
    const { leafOrdinal } = this.tree;
    if (leafOrdinal >= 0 && this.tree.parentOrdinal(leafOrdinal) >= 0) return undefined;
    const newest = this.tree.newestLeafBelow(leafOrdinal);
    return newest === leafOrdinal ? undefined : newest;
  }

  isOnPath(n: number): boolean {
    return this.#path[this.#depthOf(n)] === n;
  }

  toggle(part: Switch): void {
    if (!this.switches.delete(part)) this.switches.add(part);
    this.#open.clear();
    this.#walk();
  }

  /** The number of the entry among the items, or that of the item before it; -1 before all. */
  itemOf(n: number): number {
    // Depths grow along the path: those of the items, too.
    const depth = this.#depthOf(n);
    let [low, high] = [0, this.items.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#depthOf(this.items[middle]!) <= depth) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /**
   * What drawing the entry may ask for; undefined until its body is here.
   * @param changed told that something was opened, or that a body has come
   */
  contextOf(n: number, changed: () => void, imageUrl: (image: number) => string | undefined): EntryContext | undefined {
    const entry = this.bodies.get(n);
    if (entry === undefined) return undefined;
    return {
      n,
      entry,
      shows: (part) => this.switches.has(part),
      isOpen: (part, byDefault) => this.#open.get(`${n} ${part}`) ?? byDefault,
      setOpen: (part, open) => {
        this.#open.set(`${n} ${part}`, open);
        changed();
      },
      findCall: (id) => this.#findCall(n, id, changed),
      answered: () => this.#answeredBelow(n, changed),
      imageUrl,
    };
  }

  #depthOf(n: number): number {
    return this.#depths[n]!;
  }
  #depths: Int32Array = new Int32Array(0);

  #showBranch(leaf: number): void {
    this.tree.leafOrdinal = leaf;
    this.outline.refresh();
    this.#walk();
  }

  #walk(): void {
    this.#path = this.tree.path(this.tree.leafOrdinal);
    if (this.#depths.length !== this.tree.size) this.#depths = depthsOf(this.tree);
    this.items = this.#path.filter((n) => this.#isShown(n));
    this.#answered.clear();
  }

  #isShown(n: number): boolean {
    if (this.switches.has("hidden")) return true;
    const kind = this.tree.kindAt(n);
    if (SHOWN_STATE.has(kind)) return true;
    const known = Object.hasOwn(ENTRY_KINDS, kind) ? ENTRY_KINDS[kind as SessionEntry["type"]] : undefined;
    return known !== undefined && !known.bookkeeping && !this.tree.isHidden(n);
  }

  #findCall(n: number, id: string, changed: () => void): Record<string, unknown> | undefined {
    let tries = 0;
    for (let above = this.tree.parentOrdinal(n); above >= 0; above = this.tree.parentOrdinal(above)) {
      const role = this.tree.roleAt(above);
      if (role === "user" || tries === FARTHEST_CALL) return undefined;
      if (role !== "assistant") continue;
      tries++;
      const body = this.#bodyOr(above, changed);
      if (body === undefined) return undefined;
      const call = callsOf(body).find((block) => block["id"] === id);
      if (call !== undefined) return call;
    }
    return undefined;
  }

  /** Ids of the calls that the results right below the answer name. */
  #answeredBelow(n: number, changed: () => void): ReadonlySet<unknown> {
    const known = this.#answered.get(n);
    if (known !== undefined) return known;
    const ids = new Set<unknown>();
    const from = this.#depthOf(n) + 1;
    for (let depth = from; depth < this.#path.length && depth < from + MOST_RESULTS; depth++) {
      const below = this.#path[depth]!;
      const role = this.tree.roleAt(below);
      if (role === "user" || role === "assistant") break;
      if (role !== "toolResult") continue;
      const body = this.#bodyOr(below, changed);
      if (body === undefined) return ids;
      if (body.type === "message" && isRecord(body.message)) ids.add(body.message["toolCallId"]);
    }
    this.#answered.set(n, ids);
    return ids;
  }

  #bodyOr(n: number, changed: () => void): SessionEntry | undefined {
    const body = this.bodies.get(n);
    if (body === undefined && this.bodies.faultAt(n) === undefined) void this.bodies.load(n).then(changed);
    return body;
  }
}

/** How many entries stand above each. Parents may come later in the file: each chain is walked to what is known. */
function depthsOf(tree: PageTree): Int32Array {
  const depths = new Int32Array(tree.size).fill(-1);
  const chain: number[] = [];
  for (let n = 0; n < tree.size; n++) {
    let above = n;
    for (; above >= 0 && depths[above]! < 0; above = tree.parentOrdinal(above)) chain.push(above);
    let depth = above < 0 ? -1 : depths[above]!;
    while (chain.length > 0) depths[chain.pop()!] = ++depth;
  }
  return depths;
}

function callsOf(entry: SessionEntry): Record<string, unknown>[] {
  const message: unknown = entry.type === "message" ? entry.message : undefined;
  const content = isRecord(message) ? message["content"] : undefined;
  return Array.isArray(content) ? content.filter((block) => isRecord(block) && block["type"] === "toolCall") : [];
}
