/**
 * The history of moves as one list with a cursor, made anew from all records for every question.
 * The slow and plain counterpart of src/tree/moves.ts.
 */
import { kindNamed } from "../../src/tree/kinds.ts";

export type Place = string | null;

/** An entry, or a leaf record, whose `parentId` is its target. Undefined: a parent that is in no record. */
export interface MoveRecord {
  type: string;
  id: string;
  parentId: Place | undefined;
  via?: unknown;
}

export class SlowHistory {
  /** Where one has been, where one is, and where one would go forward to. */
  places: Place[] = [null];
  cursor = 0;
  readonly #records: readonly MoveRecord[];
  readonly #longest: number;

  constructor(records: readonly MoveRecord[], longest = 100) {
    this.#records = records;
    this.#longest = longest;
    for (const record of records) this.#take(record);
  }

  get leaf(): Place {
    return this.places[this.cursor]!;
  }
  /** The latest last. */
  get back(): Place[] {
    return this.places.slice(0, this.cursor);
  }
  /** The next one last. */
  get forward(): Place[] {
    return this.places.slice(this.cursor + 1).reverse();
  }
  /** Where one step leads for someone who has moved to `leaf` since. */
  next(via: "back" | "forward", leaf: Place): Place | undefined {
    if (!this.same(leaf, this.leaf)) return via === "back" ? this.leaf : undefined;
    return this.places[this.cursor + (via === "back" ? -1 : 1)];
  }
  /** Whether the two look the same to the user: labels and the like do not take one anywhere. */
  same(a: Place | undefined, b: Place): boolean {
    return a !== undefined && this.#standing(a) === this.#standing(b);
  }

  #standing(place: Place): Place {
    const entry = this.#records.find(({ type, id }) => type !== "leaf" && id === place);
    if (entry === undefined || kindNamed(entry.type).movesLeaf === "always") return place;
    return this.#standing(entry.parentId ?? null);
  }

  #take({ type, id, parentId, via }: MoveRecord): void {
    if (type === "leaf") {
      if (parentId === undefined) return;
      const step = via === "back" ? -1 : via === "forward" ? 1 : 0;
      if (step !== 0 && this.same(this.places[this.cursor + step], parentId)) this.#step(step, parentId);
      else this.#jump(parentId);
      return;
    }
    const always = kindNamed(type).movesLeaf === "always";
    if (parentId !== this.leaf && !always) return;
    if (parentId !== this.leaf) this.#jump(parentId ?? null);
    this.places[this.cursor] = id;
    if (always) this.places.length = this.cursor + 1;
  }

  #step(by: 1 | -1, target: Place): void {
    const left = this.leaf;
    this.cursor += by;
    this.places[this.cursor] = target;
    const beyond = this.cursor - 2 * by;
    if (!this.same(this.places[beyond], left)) return;
    this.places.splice(beyond, 1);
    if (beyond < this.cursor) this.cursor--;
  }

  #jump(target: Place): void {
    const left = this.leaf;
    if (this.same(left, target)) {
      this.places[this.cursor] = target;
      return;
    }
    const past = this.back;
    if (this.same(past.at(-1), target)) past.pop();
    if (this.same(past.at(-1), left)) past.pop();
    this.places = [...[...past, left].slice(-this.#longest), target];
    this.cursor = this.places.length - 1;
  }
}
