/**
 * What each branch of a session has spent: on the way from the root to its tip, and on the part that is its own.
 * Part of `tree/`: pure. Used by /session, `bough stats` and programs that ask for it.
 */
import type { SessionEntryIndex } from "./entry-index.ts";
import { kindNamed } from "./kinds.ts";
import { addSums, noUsage } from "./usage.ts";
import type { UsageSums } from "./usage.ts";

/**
 * A branch runs from a root to a tip: an entry that no other entry of the conversation follows. Labels, names and other
 * bookkeeping make no branches; what they record belongs to the part of the tree that they hang on.
 */
export interface BranchUsage {
  /** Ordinal of the tip. */
  tip: number;
  /** Ordinal of the last entry that it shares with another branch; -1 for none. */
  fork: number;
  /** The label nearest to the tip on its own part. */
  label: string | undefined;
  /** Whether the leaf stands on its own part. */
  active: boolean;
  /** From the root to the tip. */
  entries: number;
  path: UsageSums;
  /** Behind the fork: not spent on any other branch. */
  own: UsageSums;
}

export type BranchUsageSource = Pick<
  SessionEntryIndex,
  "size" | "kindAt" | "idAt" | "parentOrdinal" | "treeChildren" | "spentAt" | "label" | "leafOrdinal"
>;

/** A run of entries between two forks. */
interface Part {
  before: Part | undefined;
  /** The entry before the part's first one; -1 for none. */
  fork: number;
  last: number;
  label: string | undefined;
  active: boolean;
  entries: number;
  own: UsageSums;
  path: UsageSums;
}

/** The branches by cost of their paths, the most expensive first. One look at each entry. */
export function usageByBranch(source: BranchUsageSource): BranchUsage[] {
  const order = entriesFromTheRoots(source);
  const waysOn = countWaysOn(source, order);
  const parts = partsOf(source, order, waysOn);
  for (const part of parts) {
    if (part.before === undefined) continue;
    part.entries += part.before.entries;
    addSums(part.path, part.before.path);
  }
  return parts
    .filter(({ last }) => waysOn[last] === 0)
    .map(({ last, fork, label, active, entries, path, own }) => ({
      tip: last,
      fork,
      label,
      active,
      entries,
      path,
      own,
    }))
    .sort((a, b) => b.path.cost - a.path.cost || b.tip - a.tip);
}

/** All ordinals, each after its parent. */
function entriesFromTheRoots(source: BranchUsageSource): Int32Array {
  const order = new Int32Array(source.size);
  let filled = 0;
  const open = [...source.treeChildren(-1)].reverse();
  for (let n = open.pop(); n !== undefined; n = open.pop()) {
    order[filled++] = n;
    for (const child of source.treeChildren(n).toReversed()) open.push(child);
  }
  return order;
}

/** Of each entry, how many of its children the conversation goes on with; -1 for one that no conversation is below or at. */
function countWaysOn(source: BranchUsageSource, order: Int32Array): Int32Array {
  const waysOn = new Int32Array(source.size);
  for (let at = order.length - 1; at >= 0; at--) {
    const n = order[at]!;
    if (waysOn[n] === 0 && kindNamed(source.kindAt(n)).bookkeeping) waysOn[n] = -1;
    else if (source.parentOrdinal(n) >= 0) waysOn[source.parentOrdinal(n)]!++;
  }
  return waysOn;
}

/** The parts, each after the one before it, with what was spent and labelled on them. */
function partsOf(source: BranchUsageSource, order: Int32Array, waysOn: Int32Array): Part[] {
  const parts: Part[] = [];
  /** By ordinal, the place of its part in `parts`; -1 for none. */
  const places = new Int32Array(source.size).fill(-1);
  for (const n of order) {
    const parent = source.parentOrdinal(n);
    const above = parts[places[parent] ?? -1];
    const isOnTheWay = waysOn[n]! >= 0;
    const opensPart = isOnTheWay && (above === undefined || waysOn[parent]! > 1);
    places[n] = opensPart ? parts.push(newPart(above, parent)) - 1 : (places[parent] ?? -1);
    const part = parts[places[n]!];
    if (part === undefined) continue;
    const spent = source.spentAt(n);
    if (spent !== undefined) for (const sums of [part.own, part.path]) addSums(sums, spent);
    if (n === source.leafOrdinal) part.active = true;
    if (!isOnTheWay) continue;
    part.entries++;
    part.last = n;
    part.label = source.label(source.idAt(n)) ?? part.label;
  }
  return parts;
}

const newPart = (before: Part | undefined, fork: number): Part => ({
  before,
  fork: before === undefined ? -1 : fork,
  last: -1,
  label: undefined,
  active: false,
  entries: 0,
  own: noUsage(),
  path: noUsage(),
});
