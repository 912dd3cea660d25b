import assert from "node:assert/strict";
import { test } from "node:test";
import { currentOrdinal } from "../../src/tree/outline-layout.ts";
import { lineParts, plainText } from "../../src/tree/outline-lines.ts";
import { Outline, type RowsOptions } from "../../src/tree/outline.ts";
import { CountedIndex, sketch } from "./outline-source.ts";

/** Each row with its entry's id for text, the cursor on the selection. */
function draw(outline: Outline, options?: RowsOptions): string {
  const rows = outline.rows(0, outline.rowCount, options);
  return rows
    .map((row) => plainText(lineParts({ ...row, text: [{ text: row.entry.id }] }, row.selected)).trimEnd())
    .join("\n");
}
const drawing = (...lines: string[]): string => lines.join("\n");
const selectedId = (outline: Outline): string | undefined => outline.selectedEntry?.id;
const ids = (outline: Outline): string[] => outline.rows(0, outline.rowCount).map((row) => row.entry.id);

const FORKED = "u1 a1 (u2 a2 u3) (u4 a4 (u5 a5) (u6 a6))";

test("[U1] the active branch stands first, each branch indented as a block", () => {
  assert.equal(
    draw(new Outline(sketch(FORKED, "a5"))),
    drawing(
      "  • u1",
      "  • a1",
      "  ├─ • u4",
      "  │     • a4",
      "  │     ├─ • u5",
      "› │     │     • a5",
      "  │     └─ u6",
      "  │           a6",
      "  └─ u2",
      "        a2",
      "        u3",
    ),
  );
});

test("[U1] several roots hang off an invisible one, the active one first", () => {
  assert.equal(
    draw(new Outline(sketch("(u1 a1) (r2 b2 (u3) (u4))", "u4"))),
    drawing("  • r2", "     • b2", "›    ├─ • u4", "     └─ u3", "  u1", "     a1"),
  );
});

test("[U1] dB25 no rail under a last child, however long its tail and deep its branches", () => {
  assert.equal(
    draw(new Outline(sketch("u1 (x1 x2) (x3 (x4 x5 x6) (y1 y2 (z1) (z2 z3 z4)))", null))),
    drawing(
      "› u1",
      "  ├─ x1",
      "  │     x2",
      "  └─ x3",
      "     ├─ x4",
      "     │     x5",
      "     │     x6",
      "     └─ y1",
      "           y2",
      "           ├─ z1",
      "           └─ z2",
      "                 z3",
      "                 z4",
    ),
  );
});

test("[U1] dB25 without their hidden ancestors, rows hang off the nearest visible one", () => {
  const outline = new Outline(sketch("u1 a1 (a2 u2 a3) (a4 (u3) (a5 u4 u5))", "a5"), { filter: "user-only" });
  assert.equal(
    draw(outline),
    drawing("› • u1", "  ├─ u4", "  │     u5", "  ├─ u3", "  └─ u2"),
    "in the order of the whole tree, where the branch of a4 and a5 holds the leaf",
  );
  assert.equal(draw(new Outline(sketch("a0 (u1 a1) (u2)", "u2"), { filter: "user-only" })), drawing("› • u2", "  u1"));
});

test("[U1] a chain is flat, and a split that filtering takes away leaves no indent", () => {
  assert.equal(draw(new Outline(sketch("u1 a1 u2 a2"))), drawing("  • u1", "  • a1", "  • u2", "› • a2"));
  const outline = new Outline(sketch("u1 (a1) (u2 (a2) (u3))", "u3"), { filter: "user-only" });
  assert.equal(draw(outline), drawing("  • u1", "  • u2", "› • u3"));
});

test("[U1] rows say where they hang", () => {
  const outline = new Outline(sketch("u1 (u2 a2) (u3)", "u3"));
  const where = outline.rows(0, 9).map(({ index, parent, branch, branches, indent }) => ({
    index,
    parent,
    branch,
    branches,
    indent,
  }));
  assert.deepEqual(where, [
    { index: 0, parent: -1, branch: 1, branches: 1, indent: 0 },
    { index: 1, parent: 0, branch: 1, branches: 2, indent: 1 },
    { index: 2, parent: 0, branch: 2, branches: 2, indent: 1 },
    { index: 3, parent: 2, branch: 1, branches: 1, indent: 2 },
  ]);
});

/** A spine with a side branch at every step: u0 (s0) (u1 (s1) (u2 …)). */
function comb(depth: number): CountedIndex {
  const source = new CountedIndex();
  const user = (content: string): object => ({ role: "user", content });
  for (let i = 0; i < depth; i++) {
    const parentId = i === 0 ? null : `u${i - 1}`;
    source.add({ id: `u${i}`, parentId, message: user(`${i}`) });
    source.add({ id: `s${i}`, parentId: `u${i}`, message: user(`side ${i}`) });
  }
  return source;
}

test("[U1] deep indents are shifted left together, so that half the width is left for text", () => {
  const source = comb(30);
  source.moveLeaf("u29");
  const outline = new Outline(source);
  outline.select("u12");
  const frame = outline.rows(9, 5, { width: 40 });
  assert.deepEqual(
    frame.map((row) => `${row.prefix}${row.entry.id}`),
    ["… u9", "…─ u10", "…  ├─ u11", "…  │  ├─ u12", "…  │  │  ├─ u13"],
  );
  assert.deepEqual(
    outline.rows(9, 2, { width: 40, foldMarks: true }).map((row) => row.prefix),
    ["│  │  │  │  │  │  │  │  ├⊟ ", "│  │  │  │  │  │  │  │  │  ├⊟ "].map((whole) => `…${whole.slice(19)}`),
  );
});

test("[U1, U5] dB68 rows keep room for text at every width, down to one column", () => {
  const outline = new Outline(comb(200));
  for (const width of [0, 1, 2, 10, 22, 56, 80, 200])
    for (const row of outline.rows(150, 50, { width, foldMarks: true })) {
      const room = width - Math.max(24, Math.floor(width / 2)) - 4;
      assert.ok(row.prefix.length <= Math.max(3, room), `${width}: ${JSON.stringify(row.prefix)}`);
    }
});

test("[U1] without a width, rows deeper than 24 levels begin a new page at the left", () => {
  const outline = new Outline(comb(60));
  const lengths = outline.rows(0, 60).map(({ indent, prefix }) => [indent, prefix.length, prefix[0] ?? ""]);
  assert.deepEqual(lengths[0], [0, 0, ""]);
  assert.deepEqual(lengths[24], [24, 72, "│"]);
  assert.deepEqual(lengths[25], [25, 3, "…"]);
  assert.deepEqual(lengths[48], [48, 72, "…"]);
  assert.deepEqual(lengths[49], [49, 3, "…"]);
});

test("[U1] folding hides what hangs below the start of a branch, and nothing else", () => {
  const outline = new Outline(sketch(FORKED, "a5"));
  outline.select("u4");
  assert.equal(outline.fold(), true);
  assert.equal(
    draw(outline, { foldMarks: true }),
    drawing("  • u1", "  • a1", "› ├⊞ • u4", "  └⊟ u2", "        a2", "        u3"),
  );
  assert.equal(outline.fold(), false, "it is folded already");
  assert.equal(outline.unfold(), true);
  assert.equal(outline.unfold(), false);
  assert.equal(outline.rowCount, 11);
  outline.select("a4");
  assert.equal(outline.toggleFold(), false, "only the start of a branch folds");
  outline.select("u1");
  assert.equal(outline.toggleFold(), true);
  assert.equal(draw(outline, { foldMarks: true }), "› ⊞ • u1");
  assert.equal(outline.toggleFold(), true);
  assert.equal(outline.rowCount, 11);
});

test("[U1] folds stay through new entries and end with a new filter or search", () => {
  const source = sketch(FORKED, "a5");
  const outline = new Outline(source);
  const foldU2 = (): void => {
    outline.select("u2");
    outline.fold();
  };
  foldU2();
  assert.equal(outline.rowCount, 9);
  source.add({ id: "new", parentId: "u3", message: { role: "user", content: "hidden in the fold" } });
  outline.refresh();
  assert.equal(outline.rowCount, 9);
  outline.setFilter("all");
  assert.equal(outline.rowCount, 12);
  foldU2();
  assert.equal(outline.rowCount, 9);
  outline.setQuery("u");
  outline.setQuery("");
  assert.equal(outline.rowCount, 12);
  foldU2();
  outline.setFilter("all");
  assert.equal(outline.rowCount, 9, "the same filter changes nothing");
});

test("[U1] selecting an entry that is folded away or hidden selects its nearest ancestor on the screen", () => {
  const outline = new Outline(sketch(FORKED, "a5"), { selectedId: "u2" });
  outline.fold();
  outline.select("u3");
  assert.equal(selectedId(outline), "u2");
  outline.setFilter("user-only");
  outline.select("a6");
  assert.equal(selectedId(outline), "u6");
  assert.throws(() => outline.select("gone"), { message: "Entry gone not found" });
  assert.throws(() => new Outline(sketch("u1"), { selectedId: "gone" }), { message: "Entry gone not found" });
});

test("[U1] foldOrUp folds, then climbs from branch start to branch start", () => {
  const outline = new Outline(sketch(FORKED, "a5"));
  const climbed: (string | undefined)[] = [];
  outline.foldOrUp();
  climbed.push(selectedId(outline));
  outline.foldOrUp();
  assert.equal(outline.rows(outline.selected, 1)[0]?.fold, "folded");
  for (let i = 0; i < 4; i++) {
    outline.foldOrUp();
    climbed.push(selectedId(outline));
  }
  assert.deepEqual(climbed, ["u5", "u4", "u4", "u1", "u1"]);
});

test("[U1] unfoldOrDown unfolds, then goes from fork to fork and to the end of the branch", () => {
  const outline = new Outline(sketch(FORKED, "a5"), { selectedId: "u1" });
  outline.fold();
  outline.unfoldOrDown();
  assert.equal(outline.rowCount, 11);
  const visited: (string | undefined)[] = [];
  for (let i = 0; i < 4; i++) {
    outline.unfoldOrDown();
    visited.push(selectedId(outline));
  }
  assert.deepEqual(visited, ["u4", "u5", "a5", "a5"]);
});

test("[U1] moving wraps around, paging stops at the ends, nothing moves in an empty outline", () => {
  const outline = new Outline(sketch("u1 a1 u2 a2 u3"));
  const after = (act: () => void): number => {
    act();
    return outline.selected;
  };
  assert.equal(outline.selected, 4);
  assert.equal(
    after(() => outline.move(1)),
    0,
  );
  assert.equal(
    after(() => outline.move(-1)),
    4,
  );
  assert.equal(
    after(() => outline.page(-3)),
    1,
  );
  assert.equal(
    after(() => outline.page(-3)),
    0,
  );
  assert.equal(
    after(() => outline.page(99)),
    4,
  );
  assert.equal(
    after(() => outline.home()),
    0,
  );
  assert.equal(
    after(() => outline.end()),
    4,
  );
  assert.equal(
    after(() => outline.move(-12)),
    2,
  );

  const empty = new Outline(sketch("u1"), { query: "nothing like that" });
  for (const act of ["home", "end", "foldOrUp", "unfoldOrDown", "fold", "unfold", "toggleFold"] as const) empty[act]();
  empty.move(1);
  empty.page(-1);
  empty.moveToMessage(1);
  assert.deepEqual([empty.selected, empty.selectedEntry, empty.rows(0, 10)], [-1, undefined, []]);
});

test("[U1] moveToMessage goes to rows of users and assistants only", () => {
  const outline = new Outline(sketch("u1 a1 t1 t2 a2 t3"), { selectedId: "t3" });
  const visited: (string | undefined)[] = [];
  for (const step of [-1, -1, -1, -1, 1] as const) {
    outline.moveToMessage(step);
    visited.push(selectedId(outline));
  }
  assert.deepEqual(visited, ["a2", "a1", "u1", "u1", "a1"]);
});

test("[U1] a window keeps the selection in its middle and never leaves the rows", () => {
  const outline = new Outline(sketch("u1 u2 u3 u4 u5 u6 u7 u8 u9"));
  const startAt = (id: string, height: number): number => {
    outline.select(id);
    return outline.windowStart(height);
  };
  assert.deepEqual(
    [startAt("u1", 5), startAt("u5", 5), startAt("u9", 5), startAt("u5", 4), startAt("u9", 20), startAt("u5", 1)],
    [0, 2, 4, 2, 0, 4],
  );
});

test("[U1] a changed filter or search keeps the entry, else its nearest visible ancestor, else the last row", () => {
  const outline = new Outline(sketch("u1 a1 u2 a2 t1", "t1"));
  assert.equal(selectedId(outline), "t1");
  outline.setFilter("no-tools");
  assert.equal(selectedId(outline), "a2");
  outline.setFilter("user-only");
  assert.equal(selectedId(outline), "u2");
  outline.setFilter("all");
  assert.equal(selectedId(outline), "u2");
  outline.select("u1");
  outline.setQuery("2");
  assert.deepEqual([selectedId(outline), ids(outline)], ["a2", ["u2", "a2"]]);
});

test("[U1] the selection survives a search without results", () => {
  const outline = new Outline(sketch("u1 a1 u2 a2"), { selectedId: "a1" });
  outline.setQuery("zzz");
  assert.equal(outline.selected, -1);
  outline.setFilter("user-only");
  outline.setFilter("default");
  outline.setQuery("");
  assert.equal(selectedId(outline), "a1");
});

test("[L4, U1] trailing labels and extension state do not move where the user stands", () => {
  const source = sketch("u1 a1");
  const outline = new Outline(source);
  source.add({ type: "label", id: "l1", parentId: "a1", targetId: "u1", label: "start" });
  source.add({ type: "custom", id: "c1", parentId: "l1", customType: "state" });
  outline.refresh();
  assert.equal(source.at(source.leafOrdinal).id, "c1");
  assert.equal(outline.currentEntry?.id, "a1");
  outline.setFilter("all");
  assert.deepEqual(
    outline.rows(0, 9).map(({ entry, current, active, label }) => [entry.id, current, active, label]),
    [
      ["u1", false, true, "start"],
      ["a1", true, true, undefined],
      ["l1", false, true, undefined],
      ["c1", false, true, undefined],
    ],
  );
  assert.equal(currentOrdinal(source), 1);
});

test("[L4] only labels, or no leaf at all: there is no current entry", () => {
  const labels = new CountedIndex([{ type: "label", id: "l1", parentId: null, targetId: "x", label: "y" }]);
  assert.equal(currentOrdinal(labels), -1);
  const outline = new Outline(sketch("u1 a1", null));
  assert.deepEqual([outline.currentEntry, selectedId(outline)], [undefined, "u1"]);
});

test("[T1, U1] a refreshed outline shows what a new one would, and keeps the selection", () => {
  const source = sketch("u1 a1 (u2 a2) (u3 a3)");
  const outline = new Outline(source, { selectedId: "u2" });
  const same = (): void => {
    outline.refresh();
    assert.equal(draw(outline), draw(new Outline(source, { selectedId: "u2" })));
  };
  source.add({ id: "u4", parentId: "a3", message: { role: "user", content: "more" } });
  same();
  source.moveLeaf("a2");
  same();
  source.add({ type: "label", id: "l1", parentId: "a2", targetId: "u3", label: "kept" });
  same();
  source.add({ id: "v1", parentId: null, message: { role: "user", content: "another root" } });
  same();
  source.add({ type: "label", id: "l2", parentId: "v1", targetId: "u3", label: "" });
  source.moveLeaf(null);
  same();
});

test("[T4, T5] entries that are roots against their will are marked", () => {
  const source = new CountedIndex([
    { id: "u1", parentId: null, message: { role: "user", content: "one" } },
    { id: "u2", parentId: "gone", message: { role: "user", content: "two" } },
  ]);
  assert.equal(
    new Outline(source)
      .rows(0, 2)
      .map((row) => plainText(lineParts(row, row.current)))
      .join("\n"),
    drawing("› • (missing parent) user: two", "  user: one"),
  );
});
