/**
 * `MoveLog`: the moves of the leaf as a history to go back and forward in, like a browser's. A fold over the records of
 * a file in their order, so that a session that is reopened goes back to the same places.
 * Part of `tree/`: pure. Kept by SessionEntryIndex, read by SessionManager.
 *
 * A move is a leaf record, or an entry whose parent is not the leaf before it. The place it leaves is that leaf, all
 * that hangs on it included, so going back there is as if one had never left. Places are ordinals; -1 is the place
 * before the first entry.
 */
import { NumberColumn } from "./number-column.ts";

export type Retrace = "back" | "forward";

/** Far more steps than anybody takes one by one; further away `/tree` finds the way. */
const LONGEST = 100;
const START = -1;

/** What readers of the log may ask. */
export interface Moves {
  /** Places to go back to, the latest last. */
  readonly back: readonly number[];
  /** Places that were gone back from, the next one last. */
  readonly forward: readonly number[];
  /**
   * Where one step leads from `leaf`, which may have moved since the last record: that move is then the latest.
   * Undefined for nowhere.
   */
  target(via: Retrace, leaf: number): number | undefined;
}

export class MoveLog implements Moves {
  readonly #longest: number;
  /** Where one stands, by leaf: the entry, or its nearest ancestor whose kind moves the leaf from anywhere. */
  readonly #standing = NumberColumn.ofInt32();
  readonly #back: number[] = [];
  readonly #forward: number[] = [];
  #leaf = START;

  /** `longest`: places kept in either direction; of more, the oldest are forgotten. */
  constructor(longest = LONGEST) {
    this.#longest = longest;
  }

  get back(): readonly number[] {
    return this.#back;
  }
  get forward(): readonly number[] {
    return this.#forward;
  }
  target(via: Retrace, leaf: number): number | undefined {
    if (this.#isSamePlace(this.#leaf, leaf)) return this[via].at(-1);
    return via === "back" ? this.#leaf : undefined;
  }

  /**
   * The next entry of the file.
   * @param always whether its kind moves the leaf wherever it stands
   * @param parent undefined when it names none that is known
   */
  entry(always: boolean, parent: number | undefined): void {
    const n = this.#standing.size;
    this.#standing.push(always ? n : this.#standingOf(parent ?? START));
    if (parent !== this.#leaf) {
      // Labels, names and the like that were hung elsewhere take nobody with them.
      if (!always) return;
      this.#jump(parent ?? START);
    }
    this.#leaf = n;
    if (always) this.#forward.length = 0;
  }

  /** The next leaf record; whatever `via` says, a step that the history does not have is a jump. */
  record(target: number, via: unknown): void {
    if (via === "back" && this.#leads(this.#back, target)) this.#step(this.#back, this.#forward, target);
    else if (via === "forward" && this.#leads(this.#forward, target)) this.#step(this.#forward, this.#back, target);
    else this.#jump(target);
  }

  #step(from: number[], to: number[], target: number): void {
    from.pop();
    this.#push(to, this.#leaf);
    this.#leaf = target;
  }

  #jump(target: number): void {
    const left = this.#leaf;
    this.#leaf = target;
    if (this.#isSamePlace(left, target)) return;
    // Going to and fro, also when two programs write by turns, leaves one place behind, not one for each turn.
    if (this.#leads(this.#back, target)) this.#back.pop();
    this.#push(this.#back, left);
    this.#forward.length = 0;
  }

  #push(places: number[], place: number): void {
    if (this.#leads(places, place)) places.pop();
    places.push(place);
    if (places.length > this.#longest) places.shift();
  }

  /** Whether the next step over these places leads to `place`. */
  #leads(places: readonly number[], place: number): boolean {
    const next = places.at(-1);
    return next !== undefined && this.#isSamePlace(next, place);
  }

  #isSamePlace(a: number, b: number): boolean {
    return this.#standingOf(a) === this.#standingOf(b);
  }

  #standingOf(leaf: number): number {
    return leaf === START ? START : this.#standing.at(leaf);
  }
}
