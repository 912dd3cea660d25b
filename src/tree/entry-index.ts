/**
 * `SessionEntryIndex`: everything known about one session's entries: the tree, the leaf, labels, name, usage and what
 * is wrong with them. Kept incrementally, it equals one rebuilt from the same entries and leaf records.
 * Part of `tree/`: pure. Filled by the reader and by SessionManager; read by every view.
 *
 * An entry's ordinal is its place among the entries of the file, from 0. What is needed of all entries (id, parent,
 * kind, time, place in the file) is kept apart from their bodies, which only `at` hands out.
 */
import type { LeafRecord, SessionEntry, SessionTreeNode } from "./entries.ts";
import { encodeLine, readTime } from "./format.ts";
import { kindOf } from "./kinds.ts";
import { MoveLog } from "./moves.ts";
import type { Moves } from "./moves.ts";
import { NumberColumn } from "./number-column.ts";
import { entryProblem } from "./problems.ts";
import type { Problem } from "./problems.ts";
import { nameAfter } from "./session-name.ts";
import type { SessionName } from "./session-name.ts";
import { ROOT, TreeLinks } from "./tree-links.ts";
import type { TreeProblem } from "./tree-links.ts";
import { addUsage, copyUsage, emptyUsage } from "./usage.ts";
import type { UsageTotals } from "./usage.ts";

/** Where a record's bytes are: 1-based line, byte offset and length without line end. */
export interface Origin {
  line: number;
  offset: number;
  length: number;
}

export class SessionEntryIndex {
  readonly #bodies: SessionEntry[] = [];
  readonly #kinds: string[] = [];
  readonly #links = new TreeLinks();
  readonly #lines = NumberColumn.ofInt32();
  readonly #offsets = NumberColumn.ofFloat64();
  readonly #lengths = NumberColumn.ofInt32();
  /** What is wrong with an entry's own fields. */
  readonly #faults = new Map<number, string>();
  readonly #labels = new Map<string, string>();
  /** Labels of targets that have not been seen, by target, with their lines. */
  readonly #absentLabels = new Map<string, { label: string; line: number }>();
  /** Leaf records by id, to know a repeated one. */
  readonly #leafRecords = new Map<string, string | null>();
  /** Where leaf records and branch summaries went, and how many entries there were at the latest jump to each place. */
  readonly #jumps = new Map<number, number>();
  readonly #moves = new MoveLog();
  readonly #reported: Problem[] = [];
  #name: SessionName | undefined;
  #leaf = ROOT;
  #usage: UsageTotals | undefined;

  /** `name` is what header or title slot say. */
  constructor(name?: SessionName) {
    this.#name = name;
  }

  /** Number of entries; ordinals run from 0 to one less. */
  get size(): number {
    return this.#bodies.length;
  }
  has(id: string): boolean {
    return this.#links.ordinal(id) !== undefined;
  }
  get(id: string): SessionEntry | undefined {
    const n = this.#links.ordinal(id);
    return n === undefined ? undefined : this.at(n);
  }
  ordinal(id: string): number | undefined {
    return this.#links.ordinal(id);
  }
  /** Whether a new entry or leaf record may not have this id. */
  isTaken(id: string): boolean {
    return this.#links.isTaken(id);
  }
  at(n: number): SessionEntry {
    const entry = this.#bodies[n];
    if (entry === undefined) throw new RangeError(`No entry at ${n}`);
    return entry;
  }
  /** The entry's type, without need of its body. */
  kindAt(n: number): string {
    return this.#kinds[n] as string;
  }
  /** Milliseconds since 1970; NaN when the entry's timestamp is unreadable. */
  timeAt(n: number): number {
    return this.#links.time(n);
  }
  /** -1 for a root. */
  parentOrdinal(n: number): number {
    return this.#links.parent(n);
  }
  /** Why an entry that names a parent is a root. */
  treeProblemAt(n: number): TreeProblem | undefined {
    return this.#links.problems.get(n);
  }
  /** What is wrong with the entry's fields, in a few words: it keeps its place in the tree and adds nothing. */
  faultAt(n: number): string | undefined {
    return this.#faults.get(n);
  }

  /** All entries in file order. */
  entries(): SessionEntry[] {
    return this.#bodies.map((_, n) => this.at(n));
  }
  /** Direct children in append order; null gives the roots; [] for an unknown id. */
  children(parentId: string | null): SessionEntry[] {
    const n = parentId === null ? ROOT : this.#links.ordinal(parentId);
    return n === undefined ? [] : this.#links.children(n).map((child) => this.at(child));
  }
  /** Direct children old to new by timestamp, ties and unreadable times in file order; -1 gives the roots. */
  treeChildren(n: number): readonly number[] {
    return this.#links.childrenByTime(n);
  }
  /** Root to `id`, both included; [] for null and for an unknown id. */
  path(id: string | null): SessionEntry[] {
    return this.pathOrdinals(id).map((n) => this.at(n));
  }
  pathOrdinals(id: string | null): number[] {
    const n = id === null ? undefined : this.#links.ordinal(id);
    return n === undefined ? [] : this.#links.path(n);
  }
  /** The roots, with all below them. */
  tree(): SessionTreeNode[] {
    const nodes = this.#bodies.map((_, n): SessionTreeNode => {
      const entry = this.at(n);
      const problem = this.treeProblemAt(n);
      return { entry, children: [], label: this.label(entry.id), ...(problem === undefined ? {} : { problem }) };
    });
    const nodesOf = (ordinals: readonly number[]): SessionTreeNode[] =>
      ordinals.map((n) => nodes[n] as SessionTreeNode);
    nodes.forEach((node, n) => {
      node.children = nodesOf(this.treeChildren(n));
    });
    return nodesOf(this.treeChildren(ROOT));
  }

  label(id: string): string | undefined {
    return this.#labels.get(id);
  }
  /** By the id of the labelled entry; labels of ids that are not in the session are left out. */
  labels(): ReadonlyMap<string, string> {
    return this.#labels;
  }
  get name(): SessionName | undefined {
    return this.#name;
  }
  /** Everything the session has spent, on all branches. Computed at the first call, kept up from then on. */
  usage(): UsageTotals {
    if (this.#usage === undefined) {
      this.#usage = emptyUsage();
      for (let n = 0; n < this.size; n++) this.#countUsage(this.#usage, n);
    }
    return copyUsage(this.#usage);
  }

  /** Where the next entry attaches; null before the first. */
  get leafId(): string | null {
    return this.#leaf === ROOT ? null : this.at(this.#leaf).id;
  }
  /** -1 for none. */
  get leafOrdinal(): number {
    return this.#leaf;
  }
  moveLeaf(id: string | null): void {
    const target = id === null ? ROOT : this.#links.ordinal(id);
    if (target === undefined) throw new Error(`Entry ${id} not found`);
    this.#leaf = target;
  }

  /** Adds an entry made now; it becomes the leaf. Its id must be new. */
  append(entry: SessionEntry, origin?: Origin): void {
    if (this.isTaken(entry.id)) throw new Error(`Entry ${entry.id} already exists`);
    this.#insert(entry, entry.parentId, origin, undefined);
    this.#leaf = this.size - 1;
  }

  /**
   * Adds an entry read from a file. The leaf follows it if its kind moves the leaf, or if it continues the leaf's
   * chain: names, labels and exit records that another process wrote elsewhere never hide messages.
   * A repeated line is left out; an id used again for something else is kept as `<id>~<line>`.
   * @param fault what the reader knows to be wrong with the entry, beyond what its kind asks for
   */
  replay(entry: SessionEntry, origin: Origin, fault?: string): void {
    const parentId: unknown = entry.parentId;
    const named = parentId === null || typeof parentId === "string" ? parentId : undefined;
    const placed = this.#placed(entry, named);
    if (this.#isRepeated(placed, origin)) {
      this.report(entryProblem.duplicateLine(origin.line, `entry ${entry.id}`));
      return;
    }
    const added = this.isTaken(entry.id) ? this.#renameDuplicate(placed, origin.line) : placed;
    const leaf = this.#leaf;
    this.#insert(added, named, origin, fault);
    const n = this.size - 1;
    const continues = this.treeProblemAt(n) === undefined && this.parentOrdinal(n) === leaf;
    if (kindOf(added).movesLeaf === "always" || continues) this.#leaf = n;
  }

  /** A journal record of a leaf move, read from a file or just written to it. */
  replayLeaf(record: LeafRecord, line: number): void {
    if (this.#leafRecords.has(record.id) && this.#leafRecords.get(record.id) === record.parentId) {
      this.report(entryProblem.duplicateLine(line, `leaf record ${record.id}`));
      return;
    }
    const target = this.#links.resolve(record.parentId);
    if (target === undefined) {
      this.report(entryProblem.unknownLeaf(line, record.parentId));
      return;
    }
    if (!this.#links.isTaken(record.id)) this.#links.alias(record.id, target);
    this.#leafRecords.set(record.id, record.parentId);
    this.#jumps.set(target, this.size);
    this.#moves.record(target, record.via);
    this.#leaf = target;
  }
  /** The history of the leaf's moves as the records tell it. What `moveLeaf` did since the last of them is not in it. */
  get moves(): Moves {
    return this.#moves;
  }
  /** Ordinals that jumps went to (-1: before the first entry), with the number of entries at the latest of them. */
  get jumps(): ReadonlyMap<number, number> {
    return this.#jumps;
  }

  /** Undefined for an unknown id and for an entry that came from no file. */
  originOf(id: string): Origin | undefined {
    const n = this.#links.ordinal(id);
    if (n === undefined || this.#lines.at(n) === 0) return undefined;
    return { line: this.#lines.at(n), offset: this.#offsets.at(n), length: this.#lengths.at(n) };
  }

  /** Takes in a problem found by whoever fills the index. */
  report(problem: Problem): void {
    this.#reported.push(problem);
  }
  /** All that is wrong, by line: what was reported, and what entries, labels and tree say now. */
  get problems(): Problem[] {
    const found = [...this.#reported];
    for (const [n, fault] of this.#faults)
      found.push(entryProblem.badEntry(this.#lines.at(n), this.at(n).id, this.kindAt(n), fault));
    for (const [n, problem] of this.#links.problems) {
      const { id, parentId } = this.at(n);
      const line = this.#lines.at(n);
      found.push(
        problem === "cycle" ? entryProblem.parentCycle(line, id) : entryProblem.missingParent(line, id, parentId),
      );
    }
    for (const [target, { line }] of this.#absentLabels) found.push(entryProblem.unknownLabelTarget(line, target));
    return found.sort((a, b) => a.line - b.line);
  }

  #insert(
    entry: SessionEntry,
    parentId: string | null | undefined,
    origin: Origin | undefined,
    knownFault: string | undefined,
  ): void {
    const n = this.size;
    this.#bodies.push(entry);
    this.#kinds.push(entry.type);
    this.#lines.push(origin?.line ?? 0);
    this.#offsets.push(origin?.offset ?? 0);
    this.#lengths.push(origin?.length ?? 0);
    this.#links.add(entry.id, parentId, readTime(entry.timestamp));
    this.#moves.entry(kindOf(entry).movesLeaf, this.treeProblemAt(n) === undefined ? this.parentOrdinal(n) : undefined);
    const fault = knownFault ?? kindOf(entry).fault(entry);
    if (fault !== undefined) this.#faults.set(n, fault);
    // Written only by who leaves another branch on purpose.
    if (entry.type === "branch_summary" && this.treeProblemAt(n) === undefined)
      this.#jumps.set(this.parentOrdinal(n), n);
    const awaited = this.#absentLabels.get(entry.id);
    if (awaited !== undefined) {
      this.#absentLabels.delete(entry.id);
      this.#labels.set(entry.id, awaited.label);
    }
    if (fault === undefined) this.#applyLabelAndName(entry, origin?.line ?? 0);
    if (this.#usage !== undefined) this.#countUsage(this.#usage, n);
  }

  #applyLabelAndName(entry: SessionEntry, line: number): void {
    this.#name = nameAfter(this.#name, entry);
    if (entry.type !== "label") return;
    const label: unknown = entry.label;
    this.#labels.delete(entry.targetId);
    this.#absentLabels.delete(entry.targetId);
    if (typeof label !== "string" || label === "") return;
    if (this.has(entry.targetId)) this.#labels.set(entry.targetId, label);
    else this.#absentLabels.set(entry.targetId, { label, line });
  }

  #countUsage(totals: UsageTotals, n: number): void {
    if (!this.#faults.has(n)) addUsage(totals, this.at(n));
  }

  /** Whether the entry of this id has the same bytes. */
  #isRepeated(entry: SessionEntry, origin: Origin): boolean {
    const n = this.#links.ordinal(entry.id);
    if (n === undefined) return false;
    const cameFromFile = this.#lines.at(n) > 0;
    if (cameFromFile && this.#lengths.at(n) !== origin.length) return false;
    return encodeLine(this.at(n)) === encodeLine(entry);
  }

  /** The entry as all see it: a parent that is none reads as null, one that names a leaf record as its target. */
  #placed(entry: SessionEntry, named: string | null | undefined): SessionEntry {
    if (named === null) return entry;
    if (named === undefined) return { ...entry, parentId: null };
    const target = this.#links.ordinal(named) === undefined ? this.#links.resolve(named) : undefined;
    if (target === undefined) return entry;
    return { ...entry, parentId: target === ROOT ? null : this.at(target).id };
  }

  #renameDuplicate(entry: SessionEntry, line: number): SessionEntry {
    let id = `${entry.id}~${line}`;
    while (this.isTaken(id)) id += "~";
    this.report(entryProblem.duplicateId(line, entry.id, id));
    return { ...entry, id };
  }
}
