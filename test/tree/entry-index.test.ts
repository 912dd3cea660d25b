import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionEntry, SessionTreeNode } from "../../src/tree/entries.ts";
import { SessionEntryIndex } from "../../src/tree/entry-index.ts";
import type { Problem } from "../../src/tree/problems.ts";
import { HEADER, at, chain, codes, file, ids, line, message, readSound } from "../support/session-lines.ts";

const entry = (text: string): SessionEntry => JSON.parse(text) as SessionEntry;
const indexOf = (...lines: string[]): SessionEntryIndex => readSound(file(HEADER, ...lines)).index;
const idsOf = (entries: SessionEntry[]): string[] => entries.map(({ id }) => id);
/** A tree as nested arrays of ids: a node's id, then its children. */
type Sketch = [string, ...Sketch[]];
const sketch = (nodes: SessionTreeNode[]): Sketch[] =>
  nodes.map((node): Sketch => [node.entry.id, ...sketch(node.children)]);
/** What the lines say about the tree, without the word about a longer branch. */
const problemsOf = (index: SessionEntryIndex): Problem[] => index.problems.filter(({ code }) => code !== "other-tip");
const timed = (id: string, parentId: string | null, timestamp: unknown): string => message(id, parentId, { timestamp });

test("[T1] queries of an empty index", () => {
  const index = new SessionEntryIndex();
  assert.deepEqual(
    {
      size: index.size,
      entries: index.entries(),
      tree: index.tree(),
      roots: index.children(null),
      leaf: index.leafId,
      ordinal: index.leafOrdinal,
    },
    { size: 0, entries: [], tree: [], roots: [], leaf: null, ordinal: -1 },
  );
  assert.equal(index.get("a"), undefined);
  assert.deepEqual(index.path(null), []);
  assert.deepEqual(index.path("a"), []);
  assert.throws(() => index.at(0), { message: "No entry at 0" });
});

test("[T1] what is appended is the leaf, and can be found by id, ordinal, parent and path", () => {
  const index = new SessionEntryIndex();
  for (const text of [...chain(null, "a1", "a2", "a3"), message("b2", "a1")]) index.append(entry(text));
  assert.equal(index.leafId, "b2");
  assert.equal(index.leafOrdinal, 3);
  assert.equal(index.ordinal("b2"), 3);
  assert.deepEqual(index.get("b2"), entry(message("b2", "a1")));
  assert.equal(index.at(3), index.get("b2"));
  assert.equal(index.kindAt(3), "message");
  assert.equal(index.parentOrdinal(3), 0);
  assert.equal(index.parentOrdinal(0), -1);
  assert.deepEqual(idsOf(index.children("a1")), ["a2", "b2"]);
  assert.deepEqual(idsOf(index.children(null)), ["a1"]);
  assert.deepEqual(index.children("zz"), []);
  assert.deepEqual(idsOf(index.path("a3")), ["a1", "a2", "a3"]);
  assert.deepEqual(index.pathOrdinals("b2"), [0, 3]);
  assert.equal(index.originOf("b2"), undefined);
  assert.throws(() => index.append(entry(message("a1", null))), { message: "Entry a1 already exists" });
});

test("[T1] moving the leaf: to an entry, to none, not to what is not there", () => {
  const index = indexOf(...chain(null, "a1", "a2"));
  index.moveLeaf("a1");
  assert.equal(index.leafId, "a1");
  index.append(entry(message("b2", "a1")));
  assert.equal(index.leafId, "b2");
  index.moveLeaf(null);
  assert.equal(index.leafId, null);
  assert.throws(() => index.moveLeaf("zz"), { message: "Entry zz not found" });
  assert.equal(index.leafId, null);
});

test("[T4] parents become children arrays, old to new by timestamp, ties in file order", () => {
  const index = indexOf(
    timed("r", null, at(0)),
    timed("c", "r", at(3)),
    timed("a", "r", at(1)),
    timed("b1", "r", at(2)),
    timed("b2", "r", at(2)),
    timed("a1", "a", at(9)),
  );
  assert.deepEqual(sketch(index.tree()), [["r", ["a", ["a1"]], ["b1"], ["b2"], ["c"]]]);
  assert.deepEqual(index.treeChildren(0), [2, 3, 4, 1]);
  assert.deepEqual(idsOf(index.children("r")), ["c", "a", "b1", "b2"], "append order");
});

test("[T4] dB35 an unreadable time counts as that of the sibling before it", () => {
  const order = (...times: unknown[]): string[] =>
    idsOf(
      indexOf(message("r", null), ...times.map((time, n) => timed(`n${n}`, "r", time)))
        .tree()[0]!
        .children.map((node) => node.entry),
    );
  assert.deepEqual(order("never", "", 5.49e246, -1, undefined, null), ["n0", "n1", "n2", "n3", "n4", "n5"]);
  assert.deepEqual(order(at(5), "never", at(3)), ["n2", "n0", "n1"]);
  assert.deepEqual(order("never", at(5), at(3)), ["n0", "n2", "n1"]);
  assert.deepEqual(order(at(2), "", at(1), "x", at(3)), ["n2", "n3", "n0", "n1", "n4"]);
});

test("[T4] roots are ordered like children", () => {
  const index = indexOf(timed("b", null, at(2)), timed("a", null, at(1)), timed("x", "zz", at(0)));
  assert.deepEqual(sketch(index.tree()), [["x"], ["a"], ["b"]]);
  assert.deepEqual(idsOf(index.children(null)), ["b", "a", "x"]);
});

test("[T4] nodes carry the entry itself, its label and why it is a root", () => {
  const index = indexOf(
    message("a1", null),
    message("a2", "gone"),
    line("label", "l", "a2", { targetId: "a1", label: "here" }),
    message("a3", "a3"),
  );
  const [first, second, third] = index.tree();
  assert.deepEqual(first, { entry: index.at(0), children: [], label: "here" });
  assert.deepEqual(second, {
    entry: index.at(1),
    children: [{ entry: index.at(2), children: [], label: undefined }],
    label: undefined,
    problem: "missing-parent",
  });
  assert.deepEqual(third, { entry: index.at(3), children: [], label: undefined, problem: "cycle" });
});

test("[T4, F6] dB21 a dangling parent makes one more root, readable and reachable", () => {
  const index = indexOf(...chain(null, "a1", "a2"), message("a3", "zz"));
  assert.equal(index.leafId, "a3");
  assert.deepEqual(sketch(index.tree()), [["a1", ["a2"]], ["a3"]]);
  assert.equal(index.treeProblemAt(2), "missing-parent");
  assert.deepEqual(idsOf(index.path("a3")), ["a3"]);
  assert.deepEqual(problemsOf(index), [
    {
      code: "missing-parent",
      line: 4,
      text: "Entry a3 follows zz, which is not in the file, and starts a branch of its own.",
    },
  ]);
});

test("[T5, T4] a parent may come after its children: they attach when it is there, without a problem", () => {
  const index = indexOf(
    message("c1", "p"),
    message("c2", "p"),
    message("g", "c1"),
    message("p", "r"),
    message("r", null),
    message("c3", "p"),
  );
  assert.deepEqual(sketch(index.tree()), [["r", ["p", ["c1", ["g"]], ["c2"], ["c3"]]]]);
  assert.deepEqual(idsOf(index.path("g")), ["r", "p", "c1", "g"]);
  assert.deepEqual(problemsOf(index), []);
});

test("[T5, T1] the tree asked for between lines is right each time", () => {
  const index = new SessionEntryIndex();
  const seen: Sketch[][] = [];
  for (const [n, text] of [message("c", "p"), message("d", null), message("p", "d"), message("e", "p")].entries()) {
    index.replay(entry(text), { line: n + 2, offset: 0, length: 1 });
    seen.push(sketch(index.tree()));
  }
  assert.deepEqual(seen, [[["c"]], [["c"], ["d"]], [["d", ["p", ["c"]]]], [["d", ["p", ["c"], ["e"]]]]]);
});

test("[T5] dB19 a cycle and a self-parent: the entry that closes it is a marked root", () => {
  const pair = indexOf(message("a1", "a2"), message("a2", "a1"));
  assert.deepEqual(sketch(pair.tree()), [["a2", ["a1"]]]);
  assert.equal(pair.treeProblemAt(1), "cycle");
  assert.equal(pair.treeProblemAt(0), undefined);
  assert.equal(pair.leafId, "a2");
  assert.deepEqual(idsOf(pair.path("a1")), ["a2", "a1"]);
  assert.deepEqual(problemsOf(pair), [
    { code: "parent-cycle", line: 3, text: "Entry a2 is its own ancestor; it is shown as the start of a branch." },
  ]);

  const self = indexOf(message("a1", "a1"), message("b", "a1"));
  assert.deepEqual(sketch(self.tree()), [["a1", ["b"]]]);
  assert.deepEqual(codes(problemsOf(self)), ["parent-cycle:2"]);
});

test("[T5] longer cycles, with tails that hang on them, two cycles in one file", () => {
  const index = indexOf(
    message("t1", "a1"),
    message("a1", "a3"),
    message("a2", "a1"),
    message("t2", "a2"),
    message("a3", "a2"),
    message("b2", "b1"),
    message("b1", "b2"),
  );
  assert.deepEqual(sketch(index.tree()), [
    ["a3", ["a1", ["t1"], ["a2", ["t2"]]]],
    ["b1", ["b2"]],
  ]);
  assert.deepEqual(codes(problemsOf(index)), ["parent-cycle:6", "parent-cycle:8"]);
});

test("[T5] dB20 ten adjacent lines repeated byte for byte in a chain of 7,000", () => {
  const lines = chain(null, ...Array.from({ length: 7000 }, (_, n) => `n${n}`));
  const reading = readSound(file(HEADER, ...lines.slice(0, 3510), ...lines.slice(3500, 3510), ...lines.slice(3510)));
  assert.deepEqual(reading.index.entries(), lines.map(entry));
  assert.equal(reading.index.pathOrdinals("n6999").length, 7000);
  assert.equal(reading.index.leafId, "n6999");
  assert.deepEqual(
    codes(reading.index.problems),
    Array.from({ length: 10 }, (_, n) => `duplicate-line:${3512 + n}`),
  );
  assert.equal(reading.index.problems[0]?.text, "Line 3512 repeats entry n3500 and is left out.");
});

test("[T5] dB20 an id used again for something else: the first wins, the second is kept under another id", () => {
  const second = message("a2", "a1", { message: { role: "user", content: "other", timestamp: 0 } });
  const index = indexOf(
    ...chain(null, "a1", "a2"),
    message("a3", "a2"),
    second,
    message("a4", "a2"),
    second,
    message("a2~5", null),
  );
  assert.deepEqual(idsOf(index.entries()), ["a1", "a2", "a3", "a2~5", "a4", "a2~7", "a2~5~8"]);
  assert.deepEqual(index.get("a2~5"), { ...entry(second), id: "a2~5" });
  assert.deepEqual(index.get("a2"), entry(message("a2", "a1")));
  assert.deepEqual(sketch(index.tree()), [["a1", ["a2", ["a3"], ["a4"]], ["a2~5"], ["a2~7"]], ["a2~5~8"]]);
  assert.deepEqual(codes(problemsOf(index)), ["duplicate-id:5", "duplicate-id:7", "duplicate-id:8"]);
  assert.equal(
    problemsOf(index)[0]?.text,
    "The id a2 is used again in line 5 for something else, which is shown as a2~5.",
  );
});

test("[T5] the same entry in other bytes is not the same line", () => {
  const spaced = message("a1", null).replace('"parentId":null', '"parentId": null');
  assert.deepEqual(idsOf(indexOf(message("a1", null), spaced).entries()), ["a1", "a1~3"]);
});

test("[T5] 5,000 lines with one id make no child explosion", () => {
  const index = indexOf(...Array.from({ length: 5000 }, (_, n) => message("x", "x", { n })));
  assert.equal(index.size, 5000);
  assert.equal(index.children("x").length, 4999);
  assert.equal(new Set(ids({ index } as never)).size, 5000);
});

test("[F5] what is taken: entries and leaf records", () => {
  const index = indexOf(message("a1", null), line("leaf", "lf", "a1", { via: "jump" }));
  assert.deepEqual(
    ["a1", "lf", "zz"].map((id) => index.isTaken(id)),
    [true, true, false],
  );
  assert.deepEqual(
    ["a1", "lf"].map((id) => index.has(id)),
    [true, false],
  );
});

test("[T8, T1] dB27 labels: the last in file order wins on any branch, empty clears", () => {
  const label = (id: string, parentId: string, targetId: unknown, text?: unknown): string =>
    line("label", id, parentId, { targetId, label: text });
  const big = "x".repeat(10_240);
  const odd = "two\nlines \u001b]0;title\u0007";
  const index = indexOf(
    ...chain(null, "a1", "a2", "a3", "a4", "a5", "a6"),
    message("b1", "a1"),
    label("l1", "a6", "a1", "first"),
    label("l2", "b1", "a1", "second"),
    label("l3", "l2", "a2", "set"),
    label("l4", "l3", "a2", ""),
    label("l5", "l4", "a3", "set"),
    label("l6", "l5", "a3"),
    label("l7", "l6", "a4", "set"),
    label("l8", "l7", "a4", null),
    label("l9", "l8", "a5", "set"),
    label("l10", "l9", "a5", 5),
    label("l11", "l10", "a5", big),
    label("l12", "l11", "a6", odd),
    label("l13", "l12", "l12", "a label's label"),
    label("l14", "l13", "s1", "the header"),
    label("l15", "l14", "absent", "x"),
    label("l16", "l15", undefined, "no target"),
    label("l17", "l16", "later", "ahead"),
    message("later", "l17"),
  );
  assert.deepEqual(
    new Map(index.labels()),
    new Map([
      ["a1", "second"],
      ["a5", big],
      ["a6", odd],
      ["l12", "a label's label"],
      ["later", "ahead"],
    ]),
  );
  assert.equal(index.label("a2"), undefined);
  assert.equal(index.label("absent"), undefined);
  assert.deepEqual(codes(problemsOf(index)), ["unknown-label-target:22", "unknown-label-target:23", "bad-entry:24"]);
  assert.equal(problemsOf(index)[1]?.text, "Line 23 labels absent, which is not in the file; the label is not shown.");
  assert.equal(index.size, 25, "all of them are kept");
});

test("[F3, B5] names: the last in file order, an automatic one never over a user's, empty clears", () => {
  const name = (...names: [text: string, source?: string][]): unknown =>
    indexOf(
      ...names.map(([text, source], n) =>
        line(n % 2 === 0 ? "session_info" : "title_change", `n${n}`, null, { name: text, title: text, source }),
      ),
    ).name;
  assert.deepEqual(name(["one"], ["two", "user"]), { text: "two", source: "user" });
  assert.deepEqual(name(["one", "auto"], ["two", "auto"]), { text: "two", source: "auto" });
  assert.deepEqual(name(["mine"], ["theirs", "auto"]), { text: "mine", source: "user" });
  assert.deepEqual(name(["mine"], ["", "auto"]), { text: "mine", source: "user" });
  assert.equal(name(["mine"], [""]), undefined);
  assert.deepEqual(name(["mine"], ["  "], ["theirs", "auto"]), { text: "theirs", source: "auto" });
  assert.deepEqual(name([" two\r\nlines \n"]), { text: "two lines", source: "user" });
});

test("[T5] dB23 a straight chain of 1,000,000: path, children and current place, with no recursion", () => {
  const size = 1_000_000;
  const index = new SessionEntryIndex();
  const base = { type: "custom", timestamp: at(0), customType: "x" } as const;
  for (let n = 0; n < size; n++) index.append({ ...base, id: `n${n}`, parentId: n === 0 ? null : `n${n - 1}` });
  assert.equal(index.pathOrdinals(`n${size - 1}`).length, size);
  let depth = 0;
  for (let n = 0; n >= 0; depth++) n = index.treeChildren(n)[0] ?? -1;
  assert.equal(depth, size);
});

test("[T5] dB23 a chain written backwards, and pairs that might close a cycle high above", () => {
  const size = 60_000;
  const replayed = (count: number, link: (n: number) => [id: string, parentId: string | null][]): SessionEntryIndex => {
    const index = new SessionEntryIndex();
    for (let n = 0; n < count; n++)
      for (const [id, parentId] of link(n))
        index.replay(
          { type: "custom", id, parentId, timestamp: at0, customType: "x" },
          { line: 1, offset: 0, length: 1 },
        );
    return index;
  };
  const at0 = at(0);
  const parentOf = (n: number): string | null => (n === 0 ? null : `n${n - 1}`);
  const backwards = replayed(size, (n) => [[`n${size - 1 - n}`, parentOf(size - 1 - n)]]);
  assert.equal(backwards.pathOrdinals(`n${size - 1}`).length, size);
  assert.deepEqual(backwards.problems, []);

  // Each of the pairs asks whether its second entry is above the end of the long chain.
  const pairs = replayed(2 * size, (n) =>
    n < size
      ? [[`n${n}`, parentOf(n)]]
      : [
          [`child${n}`, `pair${n}`],
          [`pair${n}`, `n${size - 1}`],
        ],
  );
  assert.deepEqual(pairs.problems, []);
  assert.equal(pairs.pathOrdinals(`child${size}`).length, size + 2);
});
