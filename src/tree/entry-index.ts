/**
 * `SessionEntryIndex`: everything known about one session's entries: the tree, the leaf, labels, name, usage and what
 * is wrong with them. Kept incrementally, it equals one rebuilt from the same entries and leaf records.
 * Part of `tree/`: pure. Filled by the reader and by SessionManager; read by every view.
 *
 * An entry's ordinal is its place among the entries of the file, from 0. What is needed of all entries (id, parent,
 * kind, time, place in the file) is kept; their bodies are read from the file when `at` is asked for one, and what is
 * wrong with a body is known from then on.
 */
import { EntryBodies } from "./entry-bodies.ts";
import type { Origin } from "./entry-bodies.ts";
import type { LeafRecord, SessionEntry, SessionTreeNode } from "./entries.ts";
import { encodeLine, readTime } from "./format.ts";
import { isRecord } from "./json.ts";
import { KindColumn } from "./kind-column.ts";
import { kindNamed, kindOf } from "./kinds.ts";
import { plainText } from "./line-start.ts";
import type { LineStart } from "./line-start.ts";
import { withTime } from "./line-parser.ts";
import type { Body } from "./line-parser.ts";
import type { Checksum, SealState } from "./line-seal.ts";
import { LONGEST_RUN } from "./line-run.ts";
import type { LineSource } from "./line-source.ts";
import { renameHookMessage } from "./migrate.ts";
import { MoveLog } from "./moves.ts";
import type { Moves } from "./moves.ts";
import { entryProblem, lineProblem } from "./problems.ts";
import type { Problem } from "./problems.ts";
import { nameAfter } from "./session-name.ts";
import type { SessionName } from "./session-name.ts";
import { ROOT, TreeLinks } from "./tree-links.ts";
import type { TreeProblem } from "./tree-links.ts";
import { SpendingColumn } from "./spending-column.ts";
import { addSpending, copyUsage, emptyUsage, spendingOf } from "./usage.ts";
import type { Spending, UsageSums, UsageTotals } from "./usage.ts";

export type { Origin } from "./entry-bodies.ts";

/** What the reader knows of an entry beyond its fields. */
export interface KnownOfEntry {
  /** What is wrong with it as a whole, in a few words. */
  fault?: string | undefined;
  /** The role that its line begins with. */
  role?: string | undefined;
  /** Whether all its bytes are UTF-8; default true. */
  utf8?: boolean;
  /** That of its line. */
  seal?: SealState;
  /** Whether the very same entry can be read again from its origin; default false. */
  rereadable?: boolean;
}

export interface IndexOptions {
  /** What header or title slot say. */
  name?: SessionName | undefined;
  /** Where the lines of entries with an origin can be read again; without it all bodies stay in memory. */
  source?: LineSource | undefined;
  /** Checks the seals of bodies when they are read. */
  checksum?: Checksum | undefined;
}

export class SessionEntryIndex {
  readonly #bodies: EntryBodies;
  readonly #kinds = new KindColumn();
  readonly #links = new TreeLinks();
  /** What is wrong with the fields of the entries that were read. */
  readonly #faults = new Map<number, string>();
  /** What is wrong with the bytes of bodies. */
  readonly #lineProblems = new Map<number, Problem>();
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
  readonly #usage = emptyUsage();
  readonly #spending = new SpendingColumn();
  /** How many entries `#usage` and `#spending` have counted; -1 until somebody asks. */
  #counted = -1;

  constructor({ name, source, checksum }: IndexOptions = {}) {
    this.#name = name;
    this.#bodies = new EntryBodies(source, checksum);
  }

  /** Number of entries; ordinals run from 0 to one less. */
  get size(): number {
    return this.#links.size;
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
  /**
   * The entry itself, read from the file unless it was looked at lately. Not to be changed. When its bytes are gone or
   * are no record any more, it has its base fields alone, and a fault.
   */
  at(n: number): SessionEntry {
    return this.#keptAt(n) ?? this.#bodies.keep(n, this.#read(n));
  }
  /**
   * The entries of these ordinals, in their order; where their lines follow one another they are read together.
   * @param keep as `at` does; default true
   */
  all(ns: readonly number[], { keep = true } = {}): SessionEntry[] {
    const entries: SessionEntry[] = [];
    while (entries.length < ns.length) entries.push(...this.run(ns, entries.length, keep));
    return entries;
  }
  /** Of the entries of these ordinals, from the one at `from` on, as many as are read with one call: one at least. */
  run(ns: readonly number[], from: number, keep: boolean): SessionEntry[] {
    const kept = this.#keptAt(ns[from]!);
    if (kept !== undefined) return [kept];
    return this.#bodies.readRun(ns, from).map((body, at) => {
      const n = ns[from + at]!;
      const entry = this.#take(n, body);
      return keep ? this.#bodies.keep(n, entry) : entry;
    });
  }
  /** The same, and nothing is kept of it: for those who look at each entry once. */
  readOnce(n: number): SessionEntry {
    return this.#keptAt(n) ?? this.#read(n);
  }
  #keptAt(n: number): SessionEntry | undefined {
    if (!(n >= 0 && n < this.size)) throw new RangeError(`No entry at ${n}`);
    const kept = this.#bodies.kept(n);
    // The leaf record that it names as its parent may have come after it.
    if (kept === undefined || !this.#links.hasAliases || this.#links.isParentId(n, kept.parentId)) return kept;
    return { ...kept, parentId: this.#links.parentId(n) };
  }
  /**
   * The bytes of the entry's line, as long as no other entry is asked for; undefined when they are not in a file, or not
   * there any more.
   */
  bytesAt(n: number): Uint8Array | undefined {
    return this.#bodies.bytes(n);
  }
  idAt(n: number): string {
    return this.#links.id(n);
  }
  /** The entry's type, without need of its body. */
  kindAt(n: number): string {
    return this.#kinds.type(n);
  }
  /** The role of a message as its line begins, without need of its body; undefined for all else and when unknown. */
  roleAt(n: number): string | undefined {
    return this.#kinds.role(n);
  }
  /** For `place`: a number for a type and, of messages, a role. */
  kindCode(type: string, role: string | undefined): number {
    return this.#kinds.code(type, role);
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
  /** Whether the entry's line could not be read again when it was last looked at: what is left of it is its base. */
  isGone(n: number): boolean {
    return this.#faults.get(n) === GONE;
  }
  /**
   * What is wrong with the entry's fields, in a few words: it keeps its place in the tree and adds nothing. Known once
   * the body has been read.
   */
  faultAt(n: number): string | undefined {
    return this.#faults.get(n);
  }

  /** All entries in file order. */
  entries(): SessionEntry[] {
    return this.all(Array.from({ length: this.size }, (_, n) => n));
  }
  /** Reads every body once, so that all faults are known; keeps none of them. */
  readAll(): void {
    for (let from = 0; from < this.size; from += LONGEST_RUN)
      this.all(
        Array.from({ length: Math.min(LONGEST_RUN, this.size - from) }, (_, n) => from + n),
        { keep: false },
      );
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
    return this.all(this.pathOrdinals(id));
  }
  pathOrdinals(id: string | null): number[] {
    const n = id === null ? undefined : this.#links.ordinal(id);
    return n === undefined ? [] : this.#links.path(n);
  }
  /** The roots, with all below them. */
  tree(): SessionTreeNode[] {
    const nodes = this.entries().map((entry, n): SessionTreeNode => {
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
    this.countUsage(Number.POSITIVE_INFINITY);
    return copyUsage(this.#usage);
  }
  /** Whether an entry of this kind and role may record what was spent, without need of its body. */
  maySpend(n: number): boolean {
    const role = this.roleAt(n);
    return kindNamed(this.kindAt(n)).usage !== undefined && (role === undefined || SPENDING_ROLES.has(role));
  }
  /** What one entry has spent; undefined for nothing. Counts all entries at the first call, as `usage` does. */
  spentAt(n: number): UsageSums | undefined {
    this.countUsage(Number.POSITIVE_INFINITY);
    return this.#spending.at(n);
  }
  /**
   * Counts up to `limit` further entries for `usage`, for callers that must not wait for all of them; true when none
   * is left.
   */
  countUsage(limit: number): boolean {
    const end = Math.min(this.size, Math.max(0, this.#counted) + limit);
    for (this.#counted = Math.max(0, this.#counted); this.#counted < end; this.#counted++) this.#count(this.#counted);
    return this.#counted === this.size;
  }

  /** Where the next entry attaches; null before the first. */
  get leafId(): string | null {
    return this.#leaf === ROOT ? null : this.idAt(this.#leaf);
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
    const n = this.size;
    this.#links.add(entry.id, entry.parentId, readTime(entry.timestamp));
    this.#placeAt(this.kindCode(entry.type, roleOf(entry)), origin, entry.id);
    this.#takeBody(n, entry, { rereadable: origin !== undefined });
    this.#leaf = n;
  }

  /**
   * Adds an entry of which only the start of its line was read; the line must be whole and its record the only one.
   * False, and nothing added, when the id is taken: then the line has to be looked at.
   * @param kind its `kindCode`
   */
  replayStart(
    bytes: Uint8Array,
    start: LineStart,
    kind: number,
    line: number,
    offset: number,
    length: number,
  ): boolean {
    const leaf = this.#leaf;
    if (!this.#links.addStart(bytes, start, start.time(bytes))) return false;
    const awaited = this.#absentLabels.size === 0 ? "" : plainText(bytes, start.idFrom, start.idTo);
    this.#placeAt(kind, { line, offset, length }, awaited);
    this.#follow(this.size - 1, leaf);
    return true;
  }

  /**
   * Adds an entry read from a file. The leaf follows it if its kind moves the leaf, or if it continues the leaf's
   * chain: names, labels and exit records that another process wrote elsewhere never hide messages.
   * A repeated line is left out; an id used again for something else is kept as `<id>~<line>`.
   */
  replay(entry: SessionEntry, origin: Origin, known: KnownOfEntry = {}): void {
    const parentId: unknown = entry.parentId;
    const named = parentId === null || typeof parentId === "string" ? parentId : undefined;
    if (this.#isRepeated(entry, named, origin)) {
      this.report(entryProblem.duplicateLine(origin.line, `entry ${entry.id}`));
      return;
    }
    const id = this.isTaken(entry.id) ? this.#idForDuplicate(entry.id, origin.line) : entry.id;
    const leaf = this.#leaf;
    const n = this.size;
    this.#links.add(id, named, readTime(entry.timestamp));
    this.#placeAt(this.kindCode(entry.type, known.role ?? roleOf(entry)), origin, id);
    this.#takeBody(n, this.#placed(n, entry), known);
    this.#follow(n, leaf);
  }

  /** The leaf follows a new entry of a file. */
  #follow(n: number, leaf: number): void {
    const continues = this.treeProblemAt(n) === undefined && this.parentOrdinal(n) === leaf;
    if (continues || this.#kinds.movesLeaf(n)) this.#leaf = n;
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
    return n === undefined ? undefined : this.originAt(n);
  }
  originAt(n: number): Origin | undefined {
    return this.#bodies.origin(n);
  }

  /** Takes in a problem found by whoever fills the index. */
  report(problem: Problem): void {
    this.#reported.push(problem);
  }
  /** All that is wrong, by line: what was reported, and what entries, labels and tree say now. */
  get problems(): Problem[] {
    const found = [...this.#reported, ...this.#lineProblems.values()];
    for (const [n, fault] of this.#faults)
      found.push(entryProblem.badEntry(this.#bodies.line(n), this.idAt(n), this.kindAt(n), fault));
    for (const [n, problem] of this.#links.problems) {
      const [line, id] = [this.#bodies.line(n), this.idAt(n)];
      const isCycle = problem === "cycle";
      found.push(
        isCycle ? entryProblem.parentCycle(line, id) : entryProblem.missingParent(line, id, this.#links.parentId(n)),
      );
    }
    for (const [target, { line }] of this.#absentLabels) found.push(entryProblem.unknownLabelTarget(line, target));
    return found.sort((a, b) => a.line - b.line);
  }

  /** The columns of the entry that the links have just taken. Labels, name and faults come with the body. */
  #placeAt(kind: number, origin: Origin | undefined, id: string): void {
    this.#kinds.push(kind);
    this.#bodies.add(origin);
    const n = this.size - 1;
    const parent = this.treeProblemAt(n) === undefined ? this.parentOrdinal(n) : undefined;
    this.#moves.entry(this.#kinds.movesLeaf(n), parent);
    // Written only by who leaves another branch on purpose.
    if (this.kindAt(n) === "branch_summary" && this.treeProblemAt(n) === undefined)
      this.#jumps.set(this.parentOrdinal(n), n);
    const awaited = this.#absentLabels.size === 0 ? undefined : this.#absentLabels.get(id);
    if (awaited === undefined) return;
    this.#absentLabels.delete(id);
    this.#labels.set(id, awaited.label);
  }

  /** The body of a new entry, for all that others must know of it at once. */
  #takeBody(n: number, entry: SessionEntry, known: KnownOfEntry): void {
    this.#bodies.hold(n, entry, known.rereadable ?? false);
    this.#judge(n, entry, known.fault, known.utf8 ?? true, known.seal);
    if (!this.#faults.has(n)) this.#applyLabelAndName(entry, this.#bodies.line(n));
    if (this.#counted === n) this.countUsage(1);
  }

  /** Reads a body from its line and takes down what is wrong with it. */
  #read(n: number): SessionEntry {
    return this.#take(n, this.#bodies.read(n));
  }

  #take(n: number, { record, fault, utf8, seal }: Body): SessionEntry {
    renameHookMessage(record);
    const isOurs = record["type"] === this.kindAt(n) && this.#isIdOf(n, record["id"]);
    const entry = isOurs ? this.#placed(n, withTime(record) as unknown as SessionEntry) : this.#baseOf(n);
    this.#judge(n, entry, isOurs ? fault : GONE, utf8, seal);
    return entry;
  }

  #judge(
    n: number,
    entry: SessionEntry,
    knownFault: string | undefined,
    utf8: boolean,
    seal: SealState | undefined,
  ): void {
    const fault = knownFault ?? kindOf(entry).fault(entry);
    if (fault !== undefined) this.#faults.set(n, fault);
    if (seal === "changed") this.#lineProblems.set(n, lineProblem.changedLine(this.#bodies.line(n)));
    else if (!utf8) this.#lineProblems.set(n, lineProblem.notUtf8(this.#bodies.line(n)));
  }

  /** An id used again is kept as `<id>~<line>`. */
  #isIdOf(n: number, id: unknown): boolean {
    return typeof id === "string" && (this.#links.isId(n, id) || this.idAt(n).startsWith(`${id}~`));
  }

  /** What is known of an entry whose line is lost. */
  #baseOf(n: number): SessionEntry {
    const time = this.timeAt(n);
    const timestamp = Number.isNaN(time) ? "" : new Date(time).toISOString();
    return { type: this.kindAt(n), id: this.idAt(n), parentId: this.#links.parentId(n), timestamp } as SessionEntry;
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

  #count(n: number): void {
    const spending = this.#spendingOf(n);
    this.#spending.push(spending?.sums);
    if (spending !== undefined) addSpending(this.#usage, spending);
  }

  #spendingOf(n: number): Spending | undefined {
    if (!this.maySpend(n)) return undefined;
    // One look at each entry need not push out what others look at again.
    const entry = this.#bodies.kept(n) ?? this.#read(n);
    return this.#faults.has(n) ? undefined : spendingOf(entry);
  }

  /** Whether the entry of this id has the same bytes. */
  #isRepeated(entry: SessionEntry, named: string | null | undefined, origin: Origin): boolean {
    const n = this.#links.ordinal(entry.id);
    if (n === undefined) return false;
    const known = this.#bodies.origin(n);
    if (known !== undefined && known.length !== origin.length) return false;
    const target = this.#links.resolve(named ?? null);
    const parentId = target === undefined ? named : target === ROOT ? null : this.idAt(target);
    return encodeLine(this.at(n)) === encodeLine({ ...entry, parentId });
  }

  /** The entry as all see it: under its id and parent in the tree. */
  #placed(n: number, entry: SessionEntry): SessionEntry {
    if (this.#links.isId(n, entry.id) && this.#links.isParentId(n, entry.parentId)) return entry;
    return { ...entry, id: this.idAt(n), parentId: this.#links.parentId(n) };
  }

  #idForDuplicate(taken: string, line: number): string {
    let id = `${taken}~${line}`;
    while (this.isTaken(id)) id += "~";
    this.report(entryProblem.duplicateId(line, taken, id));
    return id;
  }
}

const GONE = "its line in the file is gone or has changed";
/** Messages of other roles record no tokens. */
const SPENDING_ROLES: ReadonlySet<string> = new Set(["assistant", "toolResult"]);

function roleOf(entry: SessionEntry): string | undefined {
  const message: unknown = entry.type === "message" ? entry.message : undefined;
  return isRecord(message) && typeof message["role"] === "string" ? message["role"] : undefined;
}
