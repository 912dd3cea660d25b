/** The history of moves: src/tree/moves.ts alone, and filled from files of every sort. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { SessionEntryIndex } from "../../src/tree/entry-index.ts";
import { MoveLog } from "../../src/tree/moves.ts";
import {
  HEADER,
  chain,
  codes,
  file,
  leafRecord,
  line,
  message,
  readInChunks,
  readSound,
} from "../support/session-lines.ts";
import { SlowHistory } from "../support/slow-history.ts";
import type { MoveRecord, Place } from "../support/slow-history.ts";

/** The places of a file, as ids, with where one step leads. */
function movesIn(index: SessionEntryIndex): object {
  const idOf = (n: number | undefined): Place | undefined =>
    n === undefined ? undefined : n < 0 ? null : index.at(n).id;
  const { moves, leafOrdinal } = index;
  return {
    back: moves.back.map(idOf),
    leaf: index.leafId,
    forward: moves.forward.map(idOf),
    next: [idOf(moves.target("back", leafOrdinal)), idOf(moves.target("forward", leafOrdinal))],
  };
}
const movesOf = (...lines: string[]): object => movesIn(readSound(file(HEADER, ...lines)).index);
const label = (id: string, parentId: string, targetId = parentId): string =>
  line("label", id, parentId, { targetId, label: "x" });
const from = (...back: Place[]): { to: (leaf: Place, ...forward: Place[]) => object } => ({
  to: (leaf, ...forward) => ({ back, leaf, forward, next: [back.at(-1), forward.at(-1)] }),
});

test("[L3] back goes to what was left, with all that hung there, and forward after it", () => {
  const jumped = [...chain(null, "a1", "a2", "a3"), leafRecord("j1", "a1"), ...chain("a1", "b2", "b3")];
  assert.deepEqual(movesOf(...jumped), from("a3").to("b3"));
  const back = [...jumped, leafRecord("j2", "a3", "back")];
  assert.deepEqual(movesOf(...back), from().to("a3", "b3"));
  assert.deepEqual(movesOf(...back, leafRecord("j3", "b3", "forward")), from("a3").to("b3"));
  assert.deepEqual(movesOf(...back, message("a4", "a3")), from().to("a4"));
  assert.deepEqual(movesOf(...back, leafRecord("j3", "b2")), from("a3").to("b2"));
});

test("[L3] several steps back and forward, and a jump from the middle", () => {
  const lines = [
    ...chain(null, "a", "b", "c", "d"),
    leafRecord("j1", "a"),
    leafRecord("j2", "b"),
    leafRecord("j3", "c"),
    leafRecord("j4", "b", "back"),
    leafRecord("j5", "a", "back"),
  ];
  assert.deepEqual(movesOf(...lines), from("d").to("a", "c", "b"));
  assert.deepEqual(movesOf(...lines, leafRecord("j6", "b", "forward")), from("d", "a").to("b", "c"));
  assert.deepEqual(movesOf(...lines, leafRecord("j6", "c")), from("d", "a").to("c"));
});

test("[L3] files of programs that write no leaf records: entries that hang elsewhere are moves", () => {
  assert.deepEqual(
    movesOf(...chain(null, "a1", "a2", "a3"), ...chain("a1", "b2", "b3"), ...chain(null, "c1"), message("b4", "b3")),
    from("a3", "c1").to("b4"),
  );
  const summary = line("branch_summary", "s", "a1", { fromId: "a1", summary: "tried it" });
  assert.deepEqual(movesOf(...chain(null, "a1", "a2", "a3"), summary, message("b", "s")), from("a3").to("b"));
  assert.deepEqual(movesOf(...chain(null, "a1", "a2"), summary.replace('"a1"', '"a2"')), from().to("s"));
});

test("[L3, L4] labels, names and extension state are no moves, wherever they hang, and take nothing away", () => {
  const custom = line("custom", "c1", "a1", { customType: "x" });
  const name = line("session_info", "n1", "a2", { name: "x" });
  assert.deepEqual(movesOf(...chain(null, "a1", "a2"), custom, name, label("l1", "n1")), from().to("l1"));
  const back = [...chain(null, "a1", "a2"), leafRecord("j1", "a1"), leafRecord("j2", "a2", "back")];
  assert.deepEqual(movesOf(...back, custom, name, label("l1", "n1")), from().to("l1", "a1"));
  // A state change is content of its path like any message.
  const model = line("model_change", "m", "a2", { provider: "p", modelId: "m" });
  assert.deepEqual(movesOf(...back, model), from().to("m"));
});

test("[L3, L4] a place is left with its labels; from a label to what it labels is no move", () => {
  const labelled = [...chain(null, "a1", "a2"), label("l1", "a2"), leafRecord("j1", "a1")];
  assert.deepEqual(movesOf(...labelled), from("l1").to("a1"));
  assert.deepEqual(movesOf(...labelled, leafRecord("j2", "a2")), from("a1").to("a2"));
  assert.deepEqual(movesOf(...chain(null, "a1", "a2"), label("l1", "a2"), leafRecord("j1", "a2")), from().to("a2"));
  assert.deepEqual(movesOf(...chain(null, "a1", "a2"), label("l1", "a2"), message("a3", "a2")), from().to("a3"));
  // The jump was to a label that hangs on another branch.
  assert.deepEqual(
    movesOf(...chain(null, "a1", "a2"), label("l1", "a1"), leafRecord("j1", "l1"), message("b2", "l1")),
    from("a2").to("b2"),
  );
});

test("[L3] before the first entry is a place like any other", () => {
  const lines = [...chain(null, "a1", "a2"), leafRecord("j1", null), leafRecord("j2", "a1")];
  assert.deepEqual(movesOf(...lines), from("a2", null).to("a1"));
  assert.deepEqual(movesOf(...lines, leafRecord("j3", null, "back")), from("a2").to(null, "a1"));
  assert.deepEqual(movesOf(...chain(null, "a1"), leafRecord("j1", null), message("b1", null)), from("a1").to("b1"));
  assert.deepEqual(movesOf(), from().to(null));
  assert.deepEqual(movesOf(leafRecord("j1", null, "back"), leafRecord("j2", null, "forward")), from().to(null));
});

test("[L3] moves to nowhere, repeated records and leaf records as parents", () => {
  const lines = [...chain(null, "a1", "a2"), leafRecord("j1", "a1")];
  const reading = readSound(
    file(HEADER, ...lines, leafRecord("j2", "gone"), leafRecord("j3", "gone", "back"), lines[2]!),
  );
  assert.deepEqual(movesIn(reading.index), from("a2").to("a1"));
  assert.deepEqual(codes(reading.index.problems), ["unknown-leaf:5", "unknown-leaf:6", "duplicate-line:7"]);
  assert.deepEqual(movesOf(...lines, message("b2", "j1")), from("a2").to("b2"));
  assert.deepEqual(movesOf(...lines, lines[1]!), from("a2").to("a1"));
  // What hangs on nothing begins a tree of its own: the conversation before it is a place that was left.
  assert.deepEqual(movesOf(...lines, message("b2", "gone")), from("a2", "a1").to("b2"));
  assert.deepEqual(movesOf(message("b2", "gone")), from().to("b2"));
});

test("[L3] a step that the history does not have is a jump, and so is any other word", () => {
  const lines = [...chain(null, "a1", "a2", "a3"), leafRecord("j1", "a1")];
  assert.deepEqual(movesOf(...lines, leafRecord("j2", "a2", "back")), from("a3", "a1").to("a2"));
  assert.deepEqual(movesOf(...lines, leafRecord("j2", "a2", "forward")), from("a3", "a1").to("a2"));
  assert.deepEqual(movesOf(...lines, leafRecord("j2", "a2", "sideways")), from("a3", "a1").to("a2"));
  assert.deepEqual(movesOf(...lines, leafRecord("j2", "a1", "back")), from("a3").to("a1"));
});

test("[L3] to and fro leaves one place behind: jumps, a late result on another branch, two programs by turns", () => {
  const two = [...chain(null, "a1", "a2"), message("b2", "a1")];
  assert.deepEqual(
    movesOf(...two, leafRecord("j1", "a2"), leafRecord("j2", "b2"), leafRecord("j3", "a2")),
    from("b2").to("a2"),
  );
  // The turn was left for b2, and its tool finished after that.
  assert.deepEqual(movesOf(...two, message("late", "a2"), leafRecord("j1", "b2")), from("late").to("b2"));
  const turns = ["a", "b"].flatMap((name) => [3, 4, 5, 6].map((n) => message(`${name}${n}`, `${name}${n - 1}`)));
  const mixed = [0, 4, 1, 5, 2, 6, 3, 7].map((n) => turns[n]!);
  assert.deepEqual(movesOf(...two, ...mixed), from("a6").to("b6"));
});

test("[L3] a place that would stand beside itself is kept once", () => {
  const lines = [
    ...chain(null, "a", "b", "c"),
    leafRecord("j1", "a"),
    leafRecord("j2", "b"),
    leafRecord("j3", "c"),
    leafRecord("j4", "a"),
    leafRecord("j5", "c"),
    leafRecord("j6", "a", "back"),
    leafRecord("j7", "b"),
  ];
  assert.deepEqual(movesOf(...lines.slice(0, -1)), from("c", "a", "b").to("a", "c"));
  assert.deepEqual(movesOf(...lines), from("c", "a").to("b"));
});

test("[L3, F6] the chunks in which a file is read do not matter, nor do damaged lines between its moves", () => {
  const lines = [
    ...chain(null, "a1", "a2"),
    leafRecord("j1", "a1"),
    message("b2", "a1"),
    leafRecord("j2", "a2", "back"),
  ];
  const damaged = file(HEADER, ...lines.flatMap((text) => [text, '{"type":"leaf","id":', "null"]));
  const expected = from().to("a2", "b2");
  assert.deepEqual(movesIn(readSound(damaged).index), expected);
  for (const size of [1, 7, 64]) {
    const reading = readInChunks(damaged, size);
    assert.ok(reading.kind === "session");
    assert.deepEqual(movesIn(reading.index), expected);
  }
});

test("[L3] a hundred places are kept, the latest", () => {
  const names = Array.from({ length: 250 }, (_, n) => `a${n}`);
  const jumps = names.map((name, n) => leafRecord(`j${n}`, name));
  const { back, forward } = readSound(file(HEADER, ...chain(null, ...names), ...jumps)).index.moves;
  assert.deepEqual([back, forward], [Array.from({ length: 100 }, (_, n) => n + 149), []]);
});

interface Step {
  do: "entry" | "record";
  type: "message" | "label";
  /** Where an entry hangs or a record leads. "on": at the leaf, or to the place that `via` has next. */
  at: "on" | "lost" | "start" | number;
  via: string;
}
const stepsArbitrary: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    do: fc.constantFrom("entry" as const, "record" as const, "record" as const),
    type: fc.constantFrom("message" as const, "message" as const, "label" as const),
    at: fc.oneof(
      { weight: 5, arbitrary: fc.constant("on" as const) },
      { weight: 1, arbitrary: fc.constantFrom("lost" as const, "start" as const) },
      { weight: 9, arbitrary: fc.nat(20) },
    ),
    via: fc.constantFrom("jump", "jump", "jump", "back", "back", "forward", "sideways"),
  }),
  { minLength: 10, maxLength: 40, size: "max" },
);

/** Records with the ids e0, e1, … for entries, so that an id tells its ordinal. */
function recordsFrom(steps: readonly Step[], longest: number): MoveRecord[] {
  const records = ["e0", "e1", "e2"].map((id): MoveRecord => ({ type: "message", id, parentId: null }));
  let entries = records.length;
  for (const step of steps) {
    const history = new SlowHistory(records, longest);
    const any = typeof step.at === "number" ? `e${step.at % entries}` : null;
    if (step.do === "entry") {
      const parentId = step.at === "on" ? history.leaf : step.at === "lost" ? undefined : any;
      records.push({ type: step.type, id: `e${entries++}`, parentId });
    } else {
      const next = history.next(step.via === "forward" ? "forward" : "back", history.leaf);
      const parentId = step.at === "on" ? (next ?? history.leaf) : any;
      records.push({ type: "leaf", id: `j${records.length}`, parentId, via: step.via });
    }
  }
  return records;
}

const ordinal = (place: Place): number => (place === null ? -1 : Number(place.slice(1)));

function take(log: MoveLog, { type, parentId, via }: MoveRecord): void {
  if (type === "leaf") log.record(ordinal(parentId!), via);
  else log.entry(type !== "label", parentId === undefined ? undefined : ordinal(parentId));
}

test("[L3] the history says what a slow and plain one says, after every record, with few and with many places", () => {
  fc.assert(
    fc.property(stepsArbitrary, fc.constantFrom(2, 100), fc.nat(20), (steps, longest, elsewhere) => {
      const records = recordsFrom(steps, longest);
      const log = new MoveLog(longest);
      let entries = 0;
      for (const [n, record] of records.entries()) {
        take(log, record);
        if (record.type !== "leaf") entries++;
        const history = new SlowHistory(records.slice(0, n + 1), longest);
        assert.deepEqual([log.back, log.forward], [history.back.map(ordinal), history.forward.map(ordinal)]);
        for (const leaf of [history.leaf, null, entries === 0 ? null : `e${elsewhere % entries}`])
          for (const step of ["back", "forward"] as const) {
            const next = history.next(step, leaf);
            assert.equal(log.target(step, ordinal(leaf)), next === undefined ? undefined : ordinal(next));
          }
      }
    }),
    { seed: 31, numRuns: 400 },
  );
});

test("[L3] forward undoes back and back undoes forward, in any history", () => {
  fc.assert(
    fc.property(stepsArbitrary, fc.constantFrom("back" as const, "forward" as const), (steps, via) => {
      const records = recordsFrom(steps, 100);
      const log = new MoveLog();
      for (const record of records) take(log, record);
      const leaf = ordinal(new SlowHistory(records).leaf);
      const before = [[...log.back], [...log.forward]];
      const target = log.target(via, leaf);
      if (target === undefined) return;
      log.record(target, via);
      const undo = via === "back" ? "forward" : "back";
      assert.equal(log.target(undo, target), leaf);
      log.record(leaf, undo);
      assert.deepEqual([log.back, log.forward], before);
    }),
    { seed: 32, numRuns: 400 },
  );
});
