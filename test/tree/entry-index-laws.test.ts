import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { LeafRecord, SessionEntry } from "../../src/tree/entries.ts";
import { SessionEntryIndex } from "../../src/tree/entry-index.ts";
import { encodeLine } from "../../src/tree/format.ts";
import { kindOf } from "../../src/tree/kinds.ts";
import { HEADER, at, file, leafRecord, line, message, picture, readSound } from "../support/session-lines.ts";

type SessionRecord = SessionEntry | LeafRecord;
const parse = (text: string): SessionRecord => JSON.parse(text) as SessionRecord;

/** Records of all sorts over a few ids, so that parents are missing, late, shared, cyclic and named by leaf records. */
const recordsArbitrary: fc.Arbitrary<SessionRecord[]> = fc
  .array(
    fc.record({
      kind: fc.constantFrom("message", "message", "message", "custom", "label", "session_info", "leaf"),
      parent: fc.option(fc.nat(14), { freq: 8 }),
      seconds: fc.option(fc.nat(5), { freq: 5 }),
    }),
    { maxLength: 14 },
  )
  .map((specs) =>
    specs.map(({ kind, parent, seconds }, n) => {
      // A leaf record's id is only named after it, as programs do.
      const named = parent !== null && specs[parent]?.kind === "leaf" && parent >= n ? null : parent;
      const parentId = named === null ? null : `n${named}`;
      if (kind === "leaf") return parse(leafRecord(`n${n}`, parentId));
      const timestamp = seconds === null ? "never" : at(seconds);
      if (kind === "message") return parse(message(`n${n}`, parentId, { timestamp }));
      return parse(
        line(kind, `n${n}`, parentId, {
          timestamp,
          customType: "x",
          name: `name ${n}`,
          targetId: `n${parent}`,
          label: n % 3 === 0 ? "" : `label ${n}`,
        }),
      );
    }),
  );

/** The rules again, as slowly and plainly as they can be written. */
function slowModel(records: SessionRecord[]): object {
  const entries: SessionEntry[] = [];
  const aliases = new Map<string, string | null>();
  let leaf: string | null = null;
  const known = (id: string | null): string | null | undefined =>
    id === null || entries.some((entry) => entry.id === id) ? id : aliases.get(id);
  for (const record of records) {
    const target = known(record.parentId);
    if (record.type === "leaf") {
      if (target === undefined) continue;
      aliases.set(record.id, target);
      leaf = target;
      continue;
    }
    entries.push(record);
    // What closes a cycle becomes a root, so it continues nothing.
    let above = target;
    for (const _ of entries)
      if (above !== record.id) above = known(entries.find(({ id }) => id === above)?.parentId ?? null);
    if (kindOf(record).movesLeaf === "always" || (target === leaf && above !== record.id)) leaf = record.id;
  }
  const parents = new Map<string, string | null>();
  const treeProblems = new Map<string, string>();
  for (const { id, parentId } of entries) {
    const parent = known(parentId) ?? null;
    if (known(parentId) === undefined) treeProblems.set(id, "missing-parent");
    let above = parent;
    while (above !== null && above !== id) above = parents.get(above) ?? null;
    if (parent !== null && above === id) treeProblems.set(id, "cycle");
    parents.set(id, treeProblems.has(id) ? null : parent);
  }
  const childrenOf = (parentId: string | null): string[] =>
    entries.filter(({ id }) => parents.get(id) === parentId).map(({ id }) => id);
  const byTime = (children: string[]): string[] => {
    const sorted: { id: string; time: number }[] = [];
    let time = Number.NEGATIVE_INFINITY;
    for (const id of children) {
      const own = Date.parse(entries.find((entry) => entry.id === id)?.timestamp ?? "");
      time = Number.isNaN(own) ? time : own;
      const place = sorted.findIndex((other) => other.time > time);
      sorted.splice(place === -1 ? sorted.length : place, 0, { id, time });
    }
    return sorted.map(({ id }) => id);
  };
  const labels = new Map<string, string>();
  for (const entry of entries) {
    if (entry.type !== "label") continue;
    labels.delete(entry.targetId);
    if (entry.label && entries.some(({ id }) => id === entry.targetId)) labels.set(entry.targetId, entry.label);
  }
  const names = entries.flatMap((entry) => (entry.type === "session_info" ? [entry.name] : []));
  return {
    ids: entries.map(({ id }) => id),
    leaf,
    treeProblems,
    labels,
    name: names.at(-1),
    children: Object.fromEntries([null, ...entries.map(({ id }) => id)].map((id) => [String(id), childrenOf(id)])),
    byTime: Object.fromEntries(
      [null, ...entries.map(({ id }) => id)].map((id) => [String(id), byTime(childrenOf(id))]),
    ),
  };
}

/** What an index says about the same things. */
function seen(index: SessionEntryIndex): object {
  const all = index.entries();
  const idAt = (n: number): string => index.at(n).id;
  const parents: [string | null, number][] = [[null, -1], ...all.map(({ id }, n): [string, number] => [id, n])];
  return {
    ids: all.map(({ id }) => id),
    leaf: index.leafId,
    treeProblems: new Map(
      all.flatMap(({ id }, n) => (index.treeProblemAt(n) === undefined ? [] : [[id, index.treeProblemAt(n)] as const])),
    ),
    labels: new Map(index.labels()),
    name: index.name?.text,
    children: Object.fromEntries(parents.map(([id]) => [String(id), index.children(id).map((child) => child.id)])),
    byTime: Object.fromEntries(parents.map(([id, n]) => [String(id), index.treeChildren(n).map(idAt)])),
  };
}

function replay(index: SessionEntryIndex, record: SessionRecord, n: number): void {
  if (record.type === "leaf") index.replayLeaf(record, n + 2);
  else index.replay(record, { line: n + 2, offset: 0, length: 1 });
}

test("[T1, T4, T5, L1, L2] the index says what a slow and plain model says", () => {
  fc.assert(
    fc.property(recordsArbitrary, (records) => {
      const index = new SessionEntryIndex();
      records.forEach((record, n) => replay(index, record, n));
      assert.deepEqual(seen(index), slowModel(records));
    }),
    { seed: 21, numRuns: 1500 },
  );
});

test("[T1] an index asked after every record equals one asked only at the end, and each prefix its model", () => {
  fc.assert(
    fc.property(recordsArbitrary, (records) => {
      const watched = new SessionEntryIndex();
      records.forEach((record, n) => {
        replay(watched, record, n);
        watched.usage();
        watched.tree();
        assert.deepEqual(seen(watched), slowModel(records.slice(0, n + 1)));
      });
      const quiet = new SessionEntryIndex();
      records.forEach((record, n) => replay(quiet, record, n));
      assert.deepEqual(watched.tree(), quiet.tree());
      assert.deepEqual(watched.problems, quiet.problems);
      assert.deepEqual(watched.usage(), quiet.usage());
    }),
    { seed: 22, numRuns: 400 },
  );
});

test("[T1, T5] every entry is in the tree exactly once, and its path ends at a root", () => {
  fc.assert(
    fc.property(recordsArbitrary, (records) => {
      const index = readSound(file(HEADER, ...records.map((record) => encodeLine(record)))).index;
      const inTree: string[] = [];
      const open = index.tree();
      for (let node = open.pop(); node !== undefined; node = open.pop()) {
        inTree.push(node.entry.id);
        open.push(...node.children);
      }
      assert.deepEqual(
        inTree.sort(),
        index
          .entries()
          .map(({ id }) => id)
          .sort(),
      );
      for (const { id } of index.entries()) assert.equal(index.parentOrdinal(index.pathOrdinals(id)[0] ?? -2), -1);
    }),
    { seed: 23, numRuns: 300 },
  );
});

/** What a program may do with a session. */
const stepsArbitrary = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant("append" as const),
      kind: fc.constantFrom("message", "message", "custom", "label", "session_info", "model_change"),
      of: fc.nat(30),
    }),
    fc.record({ do: fc.constant("move" as const), kind: fc.constant(""), of: fc.option(fc.nat(30), { freq: 6 }) }),
  ),
  { maxLength: 40 },
);

test("[T1, L1, L2] a session worked on and the same session read from its lines are one", () => {
  fc.assert(
    fc.property(stepsArbitrary, (steps) => {
      const live = new SessionEntryIndex();
      const lines = [HEADER];
      // Where a reader of the lines would be; a record is written before what would not lead it to the same place.
      let written: string | null = null;
      const settle = (): void => {
        if (written === live.leafId) return;
        lines.push(leafRecord(`j${lines.length}`, live.leafId));
        written = live.leafId;
      };
      for (const [n, step] of steps.entries()) {
        const target = step.of === null || live.size === 0 ? null : live.at(step.of % live.size).id;
        if (step.do === "move") {
          live.moveLeaf(target);
          continue;
        }
        const fields = {
          customType: "x",
          name: `name ${n}`,
          targetId: target ?? "none",
          label: n % 4 === 0 ? undefined : `l${n}`,
          provider: "p",
          modelId: "m",
        };
        const usage = { input: n, cost: { total: n / 3 } };
        const text = line(
          step.kind,
          `n${n}`,
          live.leafId,
          step.kind === "message" ? { message: { role: "assistant", content: [], usage } } : fields,
        );
        const entry = parse(text) as SessionEntry;
        if (kindOf(entry).movesLeaf === "on-chain") settle();
        live.append(entry);
        lines.push(encodeLine(entry));
        written = entry.id;
      }
      settle();
      const reading = readSound(file(...lines));
      const rest = {
        kind: "session",
        header: reading.header,
        bytes: 0,
        lines: 0,
        sealed: true,
        hasSeals: false,
        migratedFrom: undefined,
        newer: false,
        changedLines: new Map(),
      } as const;
      const view = (index: SessionEntryIndex): object => ({
        ...(picture({ ...rest, index }) as object),
        origins: [],
        problems: [],
      });
      assert.deepEqual(view(reading.index), view(live));
    }),
    { seed: 24, numRuns: 400 },
  );
});
