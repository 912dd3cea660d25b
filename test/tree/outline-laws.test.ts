import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { FILTER_MODES, type FilterMode } from "../../src/tree/outline-filter.ts";
import { Outline, type OutlineRow } from "../../src/tree/outline.ts";
import { CountedIndex, type LooseEntry } from "./outline-source.ts";

const TYPES = ["message", "message", "message", "label", "custom", "model_change", "compaction", "strange"];
const ROLES = ["user", "assistant", "toolResult", "bashExecution"];

/** Any tree: parents anywhere before, missing, or later in the file; times in any order or unreadable. */
const sessions = fc
  .array(
    fc.record({
      type: fc.constantFrom(...TYPES),
      role: fc.constantFrom(...ROLES),
      text: fc.constantFrom("", "one", "two", "one two"),
      parent: fc.oneof(fc.nat(), fc.constant(-1), fc.constant(-2)),
      time: fc.constantFrom("never", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2025-01-01T00:00:00Z"),
      near: fc.boolean(),
    }),
    { minLength: 1, maxLength: 40 },
  )
  .chain((plans) => fc.record({ plans: fc.constant(plans), leaf: fc.nat(plans.length) }))
  .map(({ plans, leaf }) => {
    const entries = plans.map((plan, n): LooseEntry => {
      const anywhere = plan.near ? n - 1 : plan.parent % (plans.length + 1);
      const parentId = plan.parent === -1 || anywhere < 0 ? null : plan.parent === -2 ? "gone" : `e${anywhere}`;
      return {
        type: plan.type,
        id: `e${n}`,
        parentId,
        timestamp: plan.time,
        message: { role: plan.role, content: [{ type: "text", text: plan.text }], stopReason: "stop" },
        targetId: `e${plan.parent < 0 ? 0 : plan.parent % plans.length}`,
        label: plan.text,
        summary: plan.text,
      };
    });
    return { entries, leafId: leaf === plans.length ? null : `e${leaf}` };
  });

type Act = (outline: Outline) => void;
const acts = fc.array(
  fc.oneof(
    fc.constantFrom<Act>(
      (outline) => outline.foldOrUp(),
      (outline) => outline.unfoldOrDown(),
      (outline) => void outline.toggleFold(),
      (outline) => outline.move(1),
      (outline) => outline.move(-7),
      (outline) => outline.moveToMessage(1),
      (outline) => outline.moveToMessage(-1),
      (outline) => outline.cycleFilter(1),
    ),
    fc.constantFrom(...FILTER_MODES).map(
      (mode: FilterMode): Act =>
        (outline) =>
          outline.setFilter(mode),
    ),
    fc.constantFrom("", "one", "one two", "zzz").map(
      (query): Act =>
        (outline) =>
          outline.setQuery(query),
    ),
  ),
  { maxLength: 12 },
);

const allRows = (outline: Outline): OutlineRow[] => outline.rows(0, outline.rowCount);

test("[U1, T5] whatever is done, each row stands once, below the row it hangs off, and one is selected", () => {
  fc.assert(
    fc.property(sessions, acts, ({ entries, leafId }, steps) => {
      const source = new CountedIndex(entries, leafId);
      const outline = new Outline(source);
      for (const step of steps) {
        step(outline);
        const rows = allRows(outline);
        assert.equal(new Set(rows.map((row) => row.n)).size, rows.length);
        assert.deepEqual(
          rows.map((row) => row.index),
          rows.map((_, i) => i),
        );
        for (const row of rows) assert.ok(row.parent < row.index);
        assert.equal(rows.filter((row) => row.selected).length, rows.length === 0 ? 0 : 1);
        assert.equal(outline.selectedEntry?.id, rows[outline.selected]?.entry.id);
        checkHanging(rows, source);
      }
    }),
  );
});

/** Each row hangs off its nearest ancestor among the rows (folds leave out whole subtrees, so this holds with them). */
function checkHanging(rows: readonly OutlineRow[], source: CountedIndex): void {
  const rowOf = new Map(rows.map((row) => [row.n, row.index]));
  for (const row of rows) {
    let above = source.parentOrdinal(row.n);
    while (above >= 0 && !rowOf.has(above)) above = source.parentOrdinal(above);
    assert.equal(row.parent, above < 0 ? -1 : rowOf.get(above));
  }
}

test("[U1, T4] the filter `all` shows every entry of any file once, however broken its tree", () => {
  fc.assert(
    fc.property(sessions, ({ entries, leafId }) => {
      const source = new CountedIndex(entries, leafId);
      const shown = allRows(new Outline(source, { filter: "all" })).map((row) => row.n);
      assert.deepEqual(
        shown.toSorted((a, b) => a - b),
        Array.from({ length: source.size }, (_, n) => n),
      );
    }),
  );
});

test("[U1] dB25 the lines of the tree agree with it in any outline: no rail under a last child, none broken", () => {
  fc.assert(
    fc.property(sessions, fc.constantFrom(...FILTER_MODES), ({ entries, leafId }, filter) => {
      const rows = allRows(new Outline(new CountedIndex(entries, leafId), { filter }));
      const expected = expectedPrefixes(rows);
      assert.deepEqual(
        rows.filter((row) => row.indent <= 24).map((row) => row.prefix),
        expected.filter((_, i) => rows[i]!.indent <= 24),
      );
    }),
  );
});

/** The prefixes by the slowest way there is: for each level of each row, look whether a rail must pass. */
function expectedPrefixes(rows: readonly OutlineRow[]): string[] {
  return rows.map((row) => {
    const cells = Array.from({ length: row.indent }, () => "   ");
    for (let above: OutlineRow | undefined = row; above !== undefined; above = rows[above.parent]) {
      if (above.branches < 2 || above.parent < 0) continue;
      const isLast = above.branch === above.branches;
      if (above === row) cells[above.indent - 1] = isLast ? "└─ " : "├─ ";
      else if (!isLast) cells[above.indent - 1] = "│  ";
    }
    return cells.join("");
  });
}

test("[U1] indents grow at splits among the rows and just below them, and nowhere else", () => {
  fc.assert(
    fc.property(sessions, fc.constantFrom(...FILTER_MODES), ({ entries, leafId }, filter) => {
      const rows = allRows(new Outline(new CountedIndex(entries, leafId), { filter }));
      for (const row of rows) {
        const above = rows[row.parent];
        const steps = above === undefined ? 0 : row.branches > 1 || above.branches > 1 ? 1 : 0;
        assert.equal(row.indent, (above?.indent ?? 0) + steps);
      }
    }),
  );
});

test("[U1] the active branch comes first, the others keep the order of the tree", () => {
  fc.assert(
    fc.property(sessions, ({ entries, leafId }) => {
      const source = new CountedIndex(entries, leafId);
      const rows = allRows(new Outline(source, { filter: "all" }));
      const path = new Set(source.pathOrdinals(source.leafId));
      assert.deepEqual(
        rows.slice(0, path.size).map((row) => row.n),
        source.pathOrdinals(source.leafId),
      );
      for (let parent = -1; parent < source.size; parent++) {
        const children = rows.filter((row) => source.parentOrdinal(row.n) === parent).map((row) => row.n);
        const inOrder = source.treeChildren(parent);
        assert.deepEqual(
          children,
          inOrder.toSorted((a, b) => Number(path.has(b)) - Number(path.has(a))),
        );
      }
    }),
  );
});

test("[U1] windows at any place and of any size are parts of the whole", () => {
  fc.assert(
    fc.property(sessions, fc.integer({ min: -5, max: 50 }), fc.nat(50), ({ entries, leafId }, from, count) => {
      const outline = new Outline(new CountedIndex(entries, leafId), { filter: "all" });
      const whole = allRows(outline);
      assert.deepEqual(outline.rows(from, count), whole.slice(Math.max(0, from), Math.max(0, from + count)));
    }),
  );
});
