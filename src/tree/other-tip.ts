/**
 * Two programs on one file leave two branches that grew side by side, and the leaf stands on only one of them. This
 * finds the branch whose messages the user may miss.
 * Part of `tree/`: pure. Used by the reader when a file is opened.
 */
import type { SessionEntryIndex } from "./entry-index.ts";

const SAME_MINUTES = 5 * 60_000;

export interface OtherTip {
  n: number;
  /** Messages it has that the leaf's path has not. */
  messages: number;
}

/**
 * The end of a branch, not the leaf's, whose last message was written within 5 minutes of the leaf path's last message
 * and which, since the two paths part, holds more messages than the leaf's. With several: the one with most messages,
 * then the latest in the file. A branch that was there when the leaf was put on its path on purpose is not missed.
 */
export function findOtherTip(index: SessionEntryIndex): OtherTip | undefined {
  const tips = tipsOf(index);
  if (tips.every((n) => n === index.leafOrdinal)) return undefined;
  const branches = new Branches(index);
  const leafTime = branches.lastMessageTime(index.leafOrdinal);
  let best: OtherTip | undefined;
  for (const n of tips) {
    if (branches.isActive(n)) continue;
    const fork = branches.fork(n);
    if (branches.entriesAtJump(fork) > n) continue;
    const messages = branches.messages(n) - branches.messages(fork);
    const ours = branches.messages(index.leafOrdinal) - branches.messages(fork);
    const apart = Math.abs(branches.lastMessageTime(n) - leafTime);
    if (messages > ours && apart <= SAME_MINUTES && messages >= (best?.messages ?? 0)) best = { n, messages };
  }
  return best;
}

/** The ends of branches in file order. */
function tipsOf(index: SessionEntryIndex): number[] {
  const { size } = index;
  const isParent = new Uint8Array(size);
  for (let n = 0; n < size; n++) {
    const parent = index.parentOrdinal(n);
    if (parent >= 0) isParent[parent] = 1;
  }
  const tips: number[] = [];
  for (let n = 0; n < size; n++) if (isParent[n] === 0) tips.push(n);
  return tips;
}

/** For every entry: messages from the root to it, when the last of them was, and where its path leaves the leaf's. */
class Branches {
  readonly #messages: Int32Array;
  readonly #times: Float64Array;
  readonly #forks: Int32Array;
  readonly #known: Int32Array;

  constructor(index: SessionEntryIndex) {
    const { size } = index;
    this.#messages = new Int32Array(size);
    this.#times = new Float64Array(size);
    this.#forks = new Int32Array(size);
    const active = new Uint8Array(size);
    for (let n = index.leafOrdinal; n >= 0; n = index.parentOrdinal(n)) active[n] = 1;
    this.#known = knownAtJumps(index, active);
    const done = new Uint8Array(size);
    const open: number[] = [];
    for (let start = 0; start < size; start++) {
      // A parent may come later in the file than its child, so each path is settled from above.
      for (let n = start; n >= 0 && done[n] === 0; n = index.parentOrdinal(n)) open.push(n);
      for (let n = open.pop(); n !== undefined; n = open.pop()) {
        const parent = index.parentOrdinal(n);
        const isMessage = index.kindAt(n) === "message";
        this.#messages[n] = this.messages(parent) + (isMessage ? 1 : 0);
        this.#times[n] = isMessage ? index.timeAt(n) : this.lastMessageTime(parent);
        this.#forks[n] = active[n] === 1 ? n : this.fork(parent);
        done[n] = 1;
      }
    }
  }

  messages(n: number): number {
    return n < 0 ? 0 : (this.#messages[n] as number);
  }
  /** NaN when there is none or its time is unreadable. */
  lastMessageTime(n: number): number {
    return n < 0 ? Number.NaN : (this.#times[n] as number);
  }
  /** The last entry that the paths to `n` and to the leaf share; -1 for none. */
  fork(n: number): number {
    return n < 0 ? -1 : (this.#forks[n] as number);
  }
  isActive(n: number): boolean {
    return this.fork(n) === n;
  }
  /** How many entries there were when somebody last jumped to the leaf's path, to `n` or behind it; 0 for never. */
  entriesAtJump(n: number): number {
    return this.#known[n + 1] as number;
  }
}

/** By ordinal plus one. */
function knownAtJumps(index: SessionEntryIndex, active: Uint8Array): Int32Array {
  const known = new Int32Array(index.size + 1);
  for (const [target, entries] of index.jumps) if (target < 0 || active[target] === 1) known[target + 1] = entries;
  for (let at = index.size - 1; at >= 0; at--) known[at] = Math.max(known[at] as number, known[at + 1] as number);
  return known;
}
