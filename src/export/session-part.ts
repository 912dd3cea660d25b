/**
 * What of a session is exported: all of it, or a stretch of one path, as a source that masks what it gives.
 * Part of `export/`; used by export-session.ts and by what writes HTML, Markdown and JSONL.
 */
import type { SessionEntry, SessionHeader } from "../tree/entries.ts";
import type { SessionEntryIndex } from "../tree/entry-index.ts";
import { LONGEST_RUN } from "../tree/line-run.ts";
import type { Problem } from "../tree/problems.ts";
import { ROOT } from "../tree/tree-links.ts";
import type { TreeProblem } from "../tree/tree-links.ts";
import { spendingOf } from "../tree/usage.ts";
import type { PageSource } from "./html.ts";
import type { Redaction } from "./redaction.ts";

/** Ids of entries; without any: the whole session, all branches. */
export interface PartChoice {
  /** The path from the root to this entry. */
  branch?: string | undefined;
  /** The path from this entry … */
  from?: string | undefined;
  /** … to this one; by default to where the session stands. */
  to?: string | undefined;
}

/** A mistake in what was asked for; its message is one sentence for the user. */
export class ExportError extends Error {}

/** The ordinals of the chosen stretch, from the root's end on; undefined for the whole session. Throws ExportError. */
export function chosenPath(index: SessionEntryIndex, { branch, from, to }: PartChoice): number[] | undefined {
  if (branch === undefined && from === undefined && to === undefined) return undefined;
  if (branch !== undefined && (from !== undefined || to !== undefined))
    throw new ExportError("Use one of --branch and --from or --to, not both together.");
  for (const id of [branch, from, to])
    if (id !== undefined && !index.has(id))
      throw new ExportError(`There is no entry ${id} in this session; bough tree FILE --json shows their ids.`);
  const end = branch ?? to ?? index.leafId;
  const path = index.pathOrdinals(end);
  if (from === undefined) return path;
  const start = path.indexOf(index.ordinal(from) ?? ROOT);
  if (start < 0)
    throw new ExportError(
      end === null
        ? `The session stands before its first entry; say with --to where the range from ${from} ends.`
        : `Entry ${from} is not on the path to ${end}, so there is no range from one to the other.`,
    );
  return path.slice(start);
}

export class SessionPart implements PageSource {
  /** Masked. */
  readonly header: SessionHeader;
  readonly redaction: Redaction | undefined;
  readonly #index: SessionEntryIndex;
  /** By place in the part; undefined for the whole session, whose places are the ordinals. */
  readonly #path: readonly number[] | undefined;
  /** Places by ordinal, of a path. */
  readonly #places = new Map<number, number>();
  /** How often an entry was asked for: how far an export is, roughly. */
  asked = 0;
  /** What ids were that are masked. */
  readonly #unmasked = new Map<string, string>();
  /** The place that was asked for last, and the entries read together last. */
  #last = -1;
  #piece: { from: number; entries: readonly SessionEntry[] } = { from: 0, entries: [] };

  constructor(
    index: SessionEntryIndex,
    header: SessionHeader,
    path: readonly number[] | undefined,
    redaction: Redaction | undefined,
  ) {
    this.#index = index;
    this.#path = path;
    this.redaction = redaction;
    this.header = redaction?.header(header) ?? header;
    path?.forEach((n, place) => this.#places.set(n, place));
  }

  get isWhole(): boolean {
    return this.#path === undefined;
  }
  get size(): number {
    return this.#path?.length ?? this.#index.size;
  }
  get leafOrdinal(): number {
    return this.#path === undefined ? this.#index.leafOrdinal : this.#path.length - 1;
  }
  at(n: number): SessionEntry {
    return this.#placed(n, this.#entryAt(n));
  }
  /** Those that are asked for in order are read together; none is kept beyond that, since most are looked at once. */
  #entryAt(n: number): SessionEntry {
    const follows = n === this.#last + 1;
    this.#last = n;
    const known = this.#piece.entries[n - this.#piece.from];
    if (known !== undefined) return known;
    if (!follows) return this.#index.readOnce(this.#ordinal(n));
    const ordinals = Array.from({ length: Math.min(LONGEST_RUN, this.size - n) }, (_, at) => this.#ordinal(n + at));
    this.#piece = { from: n, entries: this.#index.run(ordinals, 0, false) };
    return this.#piece.entries[0]!;
  }
  kindAt(n: number): string {
    return this.#shown(this.#index.kindAt(this.#ordinal(n)));
  }
  roleAt(n: number): string | undefined {
    const role = this.#index.roleAt(this.#ordinal(n));
    return role === undefined ? undefined : this.#shown(role);
  }
  /** None where something is masked: the line holds what must not be seen. */
  bytesAt(n: number): Uint8Array | undefined {
    return this.redaction === undefined ? this.#index.bytesAt(this.#ordinal(n)) : undefined;
  }
  parentOrdinal(n: number): number {
    return this.#path === undefined ? this.#index.parentOrdinal(n) : n - 1;
  }
  treeChildren(n: number): readonly number[] {
    if (this.#path === undefined) return this.#index.treeChildren(n);
    return n + 1 < this.#path.length ? [n + 1] : [];
  }
  treeProblemAt(n: number): TreeProblem | undefined {
    // A stretch begins where it was asked to.
    return this.#path !== undefined ? undefined : this.#index.treeProblemAt(n);
  }
  ordinal(id: string): number | undefined {
    const n = this.#index.ordinal(this.#unmasked.get(id) ?? id);
    return n === undefined || this.#path === undefined ? n : this.#places.get(n);
  }
  labels(): ReadonlyMap<string, string> {
    if (this.redaction === undefined) return this.#index.labels();
    const { redaction } = this;
    return new Map([...this.#index.labels()].map(([id, label]) => [redaction.id(id), redaction.text(label)]));
  }
  label(n: number): string | undefined {
    const label = this.#index.label(this.#index.idAt(this.#ordinal(n)));
    return label === undefined ? undefined : this.#shown(label);
  }
  get name(): { text: string } | undefined {
    const { name } = this.#index;
    return name === undefined ? undefined : { text: this.#shown(name.text) };
  }
  /** Those of the part. */
  get problems(): readonly Problem[] {
    const lines = this.#path && new Set(this.#path.map((n) => this.#index.originAt(n)?.line ?? 0));
    return this.#index.problems
      .filter(({ line }) => lines === undefined || lines.has(line))
      .map((problem) => ({ ...problem, text: this.#shown(problem.text) }));
  }
  /** In tokens and dollars. Reads each entry of the part: what is wrong with one is among `problems` from then on. */
  spent(): { input: number; output: number; cost: number } {
    const sum = { input: 0, output: 0, cost: 0 };
    for (let n = 0; n < this.size; n++) {
      const entry = this.#entryAt(n);
      const spent = this.#index.faultAt(this.#ordinal(n)) === undefined ? spendingOf(entry)?.sums : undefined;
      if (spent === undefined) continue;
      sum.input += spent.input + spent.cacheRead + spent.cacheWrite;
      sum.output += spent.output;
      sum.cost += spent.cost;
    }
    return sum;
  }

  #placed(n: number, entry: SessionEntry): SessionEntry {
    this.asked++;
    const placed = n === 0 && !this.isWhole && entry.parentId !== null ? { ...entry, parentId: null } : entry;
    const masked = this.redaction?.entry(placed) ?? placed;
    if (masked.id !== entry.id) this.#unmasked.set(masked.id, entry.id);
    return masked;
  }

  #ordinal(place: number): number {
    if (this.#path === undefined) return place;
    const n = this.#path[place];
    if (n === undefined) throw new RangeError(`No entry at ${place}`);
    return n;
  }

  #shown(text: string): string {
    return this.redaction?.text(text) ?? text;
  }
}
