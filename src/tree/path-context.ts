/**
 * `PathContext`: the context at one entry of a session, carried along when the entry changes. One more entry costs that
 * entry, a jump what the two paths differ in; only bodies that matter are read. Says what `contextOfPath` says of the
 * same path.
 * Part of `tree/`: pure. Used by SessionManager, one for each session.
 */
import type { CompactionEntry, SessionEntry } from "./entries.ts";
import { kindNamed } from "./kinds.ts";
import type { AgentMessage } from "./messages.ts";
import { initialPathState } from "./path-state.ts";
import type { PathState } from "./path-state.ts";
import { entryProblem } from "./problems.ts";
import type { Problem } from "./problems.ts";
import { contextState, contextWith, foldEntry, messageOf, summaryOf } from "./session-context.ts";
import type { ContextState, LatestMessages, SessionContext } from "./session-context.ts";

/** What must be known of a session; SessionEntryIndex has this shape. */
export interface PathSource {
  readonly size: number;
  at(n: number): SessionEntry;
  all(ns: readonly number[], options?: { keep?: boolean }): SessionEntry[];
  kindAt(n: number): string;
  roleAt(n: number): string | undefined;
  /** -1 for a root. */
  parentOrdinal(n: number): number;
  ordinal(id: string): number | undefined;
}

/** The parts of a path's state that its latest entry of some kinds decides alone. */
const DECIDED = [
  "thinkingLevel",
  "model",
  "serviceTier",
  "mode",
  "mcpToolSelection",
  "compaction",
  "reset",
] as const satisfies readonly (keyof PathState)[];
type Decided = (typeof DECIDED)[number];
const DECIDED_BY: ReadonlyMap<string, Decided> = new Map([
  ["thinking_level_change", "thinkingLevel"],
  ["model_change", "model"],
  ["service_tier_change", "serviceTier"],
  ["mode_change", "mode"],
  ["mcp_tool_selection", "mcpToolSelection"],
  ["compaction", "compaction"],
  ["reset_boundary", "reset"],
]);
/** After one of these, messages before it are others than they were. */
const REACHES_BACK: ReadonlySet<string> = new Set(["compaction", "reset_boundary", "context_edit"]);

/** Entries of a path that are asked for at once. */
const PIECE = 256;
/** Entries at the end of a long path that may be looked at again soon; keeping all of it would push them out. */
const KEPT = 4096;

/** Stands in a state where no entry has put anything. */
const UNDECIDED = Symbol("undecided");

/** The places on the path of the entries that may decide one part of the state, and what the latest of them say. */
class Deciders {
  readonly #key: Decided;
  readonly #places: number[] = [];
  /** What the first `asked` of them say, once that is known. */
  #asked = 0;
  #state: PathState = initialPathState();
  #place = -1;

  constructor(key: Decided) {
    this.#key = key;
  }

  add(place: number): void {
    this.#places.push(place);
  }

  /** Takes back all from `place` on. */
  cut(place: number): void {
    while (this.#places.length > 0 && this.#places.at(-1)! >= place) this.#places.pop();
    if (this.#asked <= this.#places.length) return;
    this.#asked = 0;
    this.#state = initialPathState();
    this.#place = -1;
  }

  /** The latest that says something, as a state with just that in it; `place` is -1 when none does. */
  latest(entryAt: (place: number) => SessionEntry): { state: PathState; place: number } {
    for (let at = this.#places.length - 1; at >= this.#asked; at--) {
      const state = initialPathState();
      const watched = state as Record<Decided, unknown>;
      watched[this.#key] = UNDECIDED;
      foldEntry(state, entryAt(this.#places[at]!));
      if (watched[this.#key] === UNDECIDED) continue;
      this.#state = state;
      this.#place = this.#places[at]!;
      break;
    }
    this.#asked = this.#places.length;
    return { state: this.#state, place: this.#place };
  }
}

interface Collected {
  /** Checkpoint and summary of the latest compaction. */
  head: AgentMessage[];
  /** What the rest of the path adds, and from which places. */
  rest: AgentMessage[];
  places: number[];
  /** Whether that compaction points nowhere. */
  lostPointer: boolean;
}

export class PathContext {
  readonly #source: PathSource;
  /** Ordinals from the root on. */
  readonly #path: number[] = [];
  /** By ordinal: its place on the path, if it is there. */
  #places = new Int32Array(0);
  readonly #deciders = new Map<Decided, Deciders>(DECIDED.map((key) => [key, new Deciders(key)]));
  readonly #models = this.#deciders.get("model")!;
  /** Places of the entries that change the state in other ways: all of them count, in order. */
  #others: number[] = [];
  #othersState = initialPathState();
  /** Undefined when the messages have to be collected anew. */
  #collected: Collected | undefined;
  /** Entries before this place are in `#collected`. */
  #collectedTo = 0;

  constructor(source: PathSource) {
    this.#source = source;
  }

  /**
   * The context at the entry of this ordinal, -1 for the place before the first one. `onProblem` is told what cannot be
   * used as it stands; its `line` is 0.
   */
  at(n: number, onProblem?: (problem: Problem, entry: SessionEntry) => void): SessionContext {
    this.#moveTo(n);
    const state = this.#state();
    const { head, rest, lostPointer } = this.#collect();
    if (lostPointer && state.compaction !== undefined)
      onProblem?.(entryProblem.badPointer(0, state.compaction.id), state.compaction);
    return contextWith(state, [...head, ...rest]);
  }

  /** The same without the messages; reads only what decides it. */
  stateAt(n: number): ContextState {
    this.#moveTo(n);
    return contextState(this.#state());
  }

  /** Its last messages, at most `limit`; reads of those before only what the latest compaction kept. */
  latest(n: number, limit: number): LatestMessages {
    this.#moveTo(n);
    this.#collected ??= this.#begin();
    const latest: AgentMessage[] = [];
    let place = this.#path.length;
    while (place > this.#collectedTo && latest.length < limit) {
      const message = this.#messageAt(--place);
      if (message !== undefined) latest.push(message);
    }
    const { head, rest } = this.#collected;
    const read = [...head, ...rest, ...latest.reverse()];
    let unread = 0;
    for (let at = this.#collectedTo; at < place; at++) if (this.#mayAdd(at)) unread++;
    const messages = read.slice(Math.max(0, read.length - limit));
    return { messages, earlier: read.length + unread - messages.length };
  }

  #state(): PathState {
    const state = initialPathState();
    for (const [key, deciders] of this.#deciders) Object.assign(state, decided(key, this.#latest(deciders).state));
    state.injectedTtsrRules = this.#othersState.injectedTtsrRules;
    return state;
  }

  readonly #entryAt = (place: number): SessionEntry => this.#source.at(this.#path[place]!);

  #latest(deciders: Deciders): { state: PathState; place: number } {
    return deciders.latest(this.#entryAt);
  }

  #moveTo(n: number): void {
    // What stood as a root may have been given its parent by a line that came later.
    if (this.#path.length > 0 && this.#source.parentOrdinal(this.#path[0]!) >= 0) this.#cut(0);
    if (this.#places.length < this.#source.size) this.#grow();
    const added: number[] = [];
    let at = n;
    while (at >= 0 && this.#path[this.#places[at]!] !== at) {
      added.push(at);
      at = this.#source.parentOrdinal(at);
    }
    this.#cut(at < 0 ? 0 : this.#places[at]! + 1);
    for (let next = added.pop(); next !== undefined; next = added.pop()) this.#extend(next);
  }

  #grow(): void {
    const larger = new Int32Array(Math.max(this.#source.size, 2 * this.#places.length));
    larger.set(this.#places);
    this.#places = larger;
  }

  #extend(n: number): void {
    const place = this.#path.push(n) - 1;
    this.#places[n] = place;
    const kind = this.#source.kindAt(n);
    // Nearly all entries of a path.
    if (kind === "message") {
      const role = this.#source.roleAt(n);
      if (role === undefined || role === "assistant") this.#models.add(place);
      return;
    }
    if (REACHES_BACK.has(kind)) this.#collected = undefined;
    const key = DECIDED_BY.get(kind);
    if (key !== undefined) this.#deciders.get(key)!.add(place);
    else if (kindNamed(kind).fold !== undefined) {
      this.#others.push(place);
      foldEntry(this.#othersState, this.#source.at(n));
    }
  }

  /** Takes back all from `place` on. */
  #cut(place: number): void {
    if (place >= this.#path.length) return;
    for (let at = place; at < this.#path.length && this.#collected !== undefined; at++)
      if (REACHES_BACK.has(this.#source.kindAt(this.#path[at]!))) this.#collected = undefined;
    this.#path.length = place;
    for (const deciders of this.#deciders.values()) deciders.cut(place);
    if (this.#others.length > 0 && this.#others.at(-1)! >= place) this.#cutOthers(place);
    if (this.#collected === undefined) return;
    const { rest, places } = this.#collected;
    while (places.length > 0 && places.at(-1)! >= place) {
      places.pop();
      rest.pop();
    }
    this.#collectedTo = Math.min(this.#collectedTo, place);
  }

  #cutOthers(place: number): void {
    this.#others = this.#others.filter((other) => other < place);
    this.#othersState = initialPathState();
    for (const other of this.#others) foldEntry(this.#othersState, this.#entryAt(other));
  }

  /** Reads up to `limit` more of the messages that `at` will be asked for; true when none is left. */
  readOn(n: number, limit: number): boolean {
    this.#moveTo(n);
    this.#collect(limit);
    return this.#collectedTo === this.#path.length;
  }

  #collect(limit = Number.POSITIVE_INFINITY): Collected {
    this.#collected ??= this.#begin();
    const to = Math.min(this.#path.length, this.#collectedTo + limit);
    this.#add(this.#collectedTo, to);
    this.#collectedTo = to;
    return this.#collected;
  }

  /** The latest compaction's summary and what it kept; what follows it is still to be added. */
  #begin(): Collected {
    const afterReset = this.#latest(this.#deciders.get("reset")!).place + 1;
    const compacted = this.#latest(this.#deciders.get("compaction")!);
    this.#collected = { head: [], rest: [], places: [], lostPointer: false };
    this.#collectedTo = afterReset;
    if (compacted.state.compaction === undefined || compacted.place < afterReset) return this.#collected;
    this.#collected.head = summaryOf(compacted.state.compaction);
    const firstKept = this.#firstKept(compacted.state.compaction, compacted.place);
    this.#collected.lostPointer = firstKept === undefined;
    // pi's checkpoint, not the kept range, says which system messages hold.
    if (firstKept !== undefined)
      this.#add(Math.max(firstKept, afterReset), compacted.place, (message) => message.role !== "system");
    this.#collectedTo = compacted.place + 1;
    return this.#collected;
  }

  /** Undefined when it is not before the compaction on this path, nor the compaction itself. */
  #firstKept({ firstKeptEntryId }: CompactionEntry, compacted: number): number | undefined {
    const n = this.#source.ordinal(firstKeptEntryId);
    const place = n === undefined ? undefined : this.#places[n]!;
    return place !== undefined && place <= compacted && this.#path[place] === n ? place : undefined;
  }

  #add(from: number, to: number, isWanted: (message: AgentMessage) => boolean = () => true): void {
    for (let piece = from; piece < to; piece += PIECE) {
      const places: number[] = [];
      for (let place = piece; place < Math.min(piece + PIECE, to); place++) if (this.#mayAdd(place)) places.push(place);
      const entries = this.#source.all(
        places.map((place) => this.#path[place]!),
        { keep: to - piece <= KEPT },
      );
      entries.forEach((entry, at) => {
        const message = messageOf(entry, this.#othersState);
        if (message === undefined || !isWanted(message)) return;
        this.#collected!.rest.push(message);
        this.#collected!.places.push(places[at]!);
      });
    }
  }

  #mayAdd(place: number): boolean {
    return kindNamed(this.#source.kindAt(this.#path[place]!)).message !== undefined;
  }
  #messageAt(place: number): AgentMessage | undefined {
    return this.#mayAdd(place) ? messageOf(this.#entryAt(place), this.#othersState) : undefined;
  }
}

/** What a part of the state carries along. */
function decided(key: Decided, state: PathState): Partial<PathState> {
  return key === "mode" ? { mode: state.mode, modeData: state.modeData } : { [key]: state[key] };
}
