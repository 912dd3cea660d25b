/** What each branch has spent: its whole path, and the part that is its own. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { usageByBranch } from "../../src/tree/branch-usage.ts";
import type { BranchUsageSource } from "../../src/tree/branch-usage.ts";
import type { SessionEntryIndex } from "../../src/tree/entry-index.ts";
import { kindNamed } from "../../src/tree/kinds.ts";
import { HEADER, at, file, leafRecord, line, message, readSound } from "../support/session-lines.ts";

/** An answer that cost so many dollars, and as many tokens. */
const answer = (id: string, parentId: string | null, cost: number): string =>
  line("message", id, parentId, {
    message: {
      role: "assistant",
      content: [],
      provider: "p",
      model: "m",
      usage: { input: cost, cost: { total: cost } },
    },
  });

/** Branches as `[tip, fork, label, active, entries, cost of the path, own cost]`. */
function branchesOf(index: SessionEntryIndex): unknown[] {
  const id = (n: number): string | null => (n < 0 ? null : index.idAt(n));
  return usageByBranch(index).map(({ tip, fork, label, active, entries, path, own }) => {
    assert.deepEqual([path.input, own.input], [path.cost, own.cost]);
    return [id(tip), id(fork), label, active, entries, path.cost, own.cost];
  });
}

test("[D5] each branch: the cost of its path, what of it is its own, where it parts, its label, the current one", () => {
  const { index } = readSound(
    file(
      HEADER,
      message("u1", null),
      answer("a1", "u1", 1),
      message("u2", "a1"),
      answer("a2", "u2", 10),
      message("u3", "a1"),
      answer("a3", "u3", 100),
      answer("a4", "u3", 1000),
      answer("b1", null, 7),
      line("label", "l1", "b1", { targetId: "u2", label: "first" }),
      line("label", "l2", "l1", { targetId: "a2", label: "second" }),
      leafRecord("x", "a3"),
    ),
  );
  assert.deepEqual(branchesOf(index), [
    ["a4", "u3", undefined, false, 4, 1001, 1000],
    ["a3", "u3", undefined, true, 4, 101, 100],
    ["a2", "a1", "second", false, 4, 11, 10],
    ["b1", null, undefined, false, 1, 7, 7],
  ]);
});

test("[D5] bookkeeping makes no branch; what it spent belongs to the part it hangs on", () => {
  const { index } = readSound(
    file(
      HEADER,
      line("model_change", "m0", null, { provider: "p", modelId: "m" }),
      answer("a1", "m0", 1),
      line("usage", "s1", "a1", { usage: { input: 10, cost: { total: 10 } } }),
      answer("a2", "s1", 100),
      line("usage", "s2", "a1", { usage: { input: 1000, cost: { total: 1000 } } }),
      line("model_usage", "s3", "a2", { usage: { input: 10_000, cost: { total: 10_000 } } }),
      line("custom", "s4", "s3", { customType: "x" }),
      answer("a3", "a1", 7),
      line("usage", "s5", null, { usage: { input: 5, cost: { total: 5 } } }),
      leafRecord("x", "s4"),
    ),
  );
  assert.deepEqual(branchesOf(index), [
    ["a2", "a1", undefined, true, 4, 11_111, 10_110],
    ["a3", "a1", undefined, false, 3, 1008, 7],
  ]);
});

test("[D5] an empty session, and one of bookkeeping alone, have no branches", () => {
  assert.deepEqual(branchesOf(readSound(file(HEADER)).index), []);
  assert.deepEqual(branchesOf(readSound(file(HEADER, line("custom", "c", null, { customType: "x" }))).index), []);
});

test("[D5, T5] missing parents and cycles: every entry of the conversation is on a branch", () => {
  const { index } = readSound(file(HEADER, answer("a", "gone", 1), answer("b", "c", 10), answer("c", "b", 100)));
  assert.deepEqual(branchesOf(index), [
    ["b", null, undefined, true, 2, 110, 110],
    ["a", null, undefined, false, 1, 1, 1],
  ]);
});

/** A session of random parents; every third entry or so is bookkeeping. */
const SESSIONS = fc
  .array(fc.record({ parent: fc.nat(), cost: fc.integer({ min: 0, max: 9 }), isBookkeeping: fc.boolean() }), {
    maxLength: 40,
  })
  .map((entries) =>
    entries.map(({ parent, cost, isBookkeeping }, n) => {
      const above = parent % (n + 1);
      const parentId = above === n ? null : `e${above}`;
      const usage = { input: cost, cost: { total: cost } };
      return isBookkeeping
        ? line("usage", `e${n}`, parentId, { usage, timestamp: at(n) })
        : line("message", `e${n}`, parentId, { message: { role: "assistant", content: [], usage }, timestamp: at(n) });
    }),
  );

/** The same by looking at each tip and each entry. */
function slowly(index: SessionEntryIndex): Set<string> {
  const all = Array.from({ length: index.size }, (_, n) => n);
  const isTalk = (n: number): boolean => !kindNamed(index.kindAt(n)).bookkeeping;
  const pathOf = (n: number): number[] => index.pathOrdinals(index.idAt(n));
  const isOnTheWay = (n: number): boolean => all.some((other) => isTalk(other) && pathOf(other).includes(n));
  const tips = all.filter(
    (n) => isTalk(n) && !all.some((other) => other !== n && isTalk(other) && pathOf(other).includes(n)),
  );
  /** Where an entry's cost belongs: itself, or the nearest entry above that the conversation goes through. */
  const placeOf = (n: number): number => pathOf(n).findLast(isOnTheWay) ?? -1;
  const costAt = (n: number): number =>
    all.filter((other) => placeOf(other) === n).reduce((sum, other) => sum + (index.spentAt(other)?.cost ?? 0), 0);
  const costOf = (path: readonly number[]): number => path.reduce((sum, n) => sum + costAt(n), 0);
  return new Set(
    tips.map((tip) => {
      const path = pathOf(tip);
      const own = path.filter((n) => tips.every((other) => other === tip || !pathOf(other).includes(n)));
      const fork = path.length === own.length ? null : index.idAt(path[path.length - own.length - 1] as number);
      return String([index.idAt(tip), fork, path.length, costOf(path), costOf(own)]);
    }),
  );
}

test("[D5] on random trees the branches are those found by looking at every path", () => {
  fc.assert(
    fc.property(SESSIONS, (lines) => {
      const { index } = readSound(file(HEADER, ...lines));
      const quickly = branchesOf(index).map((branch) => {
        const [tip, fork, , , entries, path, own] = branch as unknown[];
        return String([tip, fork, entries, path, own]);
      });
      assert.deepEqual(new Set(quickly), slowly(index));
    }),
  );
});

test("[D5, T5] a deep chain, and one with a fork at every step: each entry is looked at once", () => {
  for (const forks of [false, true]) {
    const lines = [HEADER];
    for (let n = 0; n < 10_000; n++) {
      lines.push(answer(`a${n}`, n === 0 ? null : `a${n - 1}`, 1));
      if (forks) lines.push(answer(`b${n}`, `a${n}`, 1));
    }
    const { index } = readSound(file(...lines));
    const looks = { children: 0, spent: 0 };
    const source: BranchUsageSource = {
      size: index.size,
      leafOrdinal: index.leafOrdinal,
      kindAt: (n) => index.kindAt(n),
      idAt: (n) => index.idAt(n),
      label: (id) => index.label(id),
      parentOrdinal: (n) => index.parentOrdinal(n),
      treeChildren: (n) => (looks.children++, index.treeChildren(n)),
      spentAt: (n) => (looks.spent++, index.spentAt(n)),
    };
    const branches = usageByBranch(source);
    assert.ok(looks.spent <= index.size && looks.children <= 2 * index.size + 1, JSON.stringify(looks));
    assert.equal(branches.length, forks ? 10_000 : 1);
    assert.deepEqual([branches[0]?.path.cost, branches[0]?.entries], forks ? [10_001, 10_001] : [10_000, 10_000]);
  }
});

test("[T1, D5] what an entry has spent is known for those appended later, too", () => {
  const { index } = readSound(file(HEADER, answer("a", null, 1), message("u", "a")));
  assert.deepEqual([index.spentAt(0)?.cost, index.spentAt(1)], [1, undefined]);
  index.append(JSON.parse(answer("b", "u", 5)));
  index.append(JSON.parse(message("v", "b")));
  assert.deepEqual([index.spentAt(2)?.cost, index.spentAt(3), index.usage().cost], [5, undefined, 6]);
});
