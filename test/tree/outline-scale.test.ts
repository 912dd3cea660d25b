import assert from "node:assert/strict";
import { test } from "node:test";
import { drawnLine, plainText } from "../../src/tree/outline-lines.ts";
import { Outline, type OutlineRow } from "../../src/tree/outline.ts";
import { generateSession, type GenerateOptions } from "../support/generate.ts";
import { CountedIndex, type LooseEntry } from "./outline-source.ts";

const SCREEN = 50;
/** What a row may read: its entry, and for a tool result the message with its call and those on the way there. */
const BODIES_PER_FRAME = 4 * SCREEN;

function generated(options: GenerateOptions): CountedIndex {
  const source = new CountedIndex();
  for (const line of generateSession(options)) {
    const entry = JSON.parse(line) as LooseEntry;
    if (entry.type !== "session") source.add(entry);
  }
  return source;
}
function chain(length: number): CountedIndex {
  const source = new CountedIndex();
  for (let n = 0; n < length; n++)
    source.add({ id: `u${n}`, parentId: n === 0 ? null : `u${n - 1}`, message: { role: "user", content: `say ${n}` } });
  return source;
}
/** The rows of a screen, the text of each asked for. */
const frame = (outline: Outline): OutlineRow[] => {
  const rows = outline.rows(outline.windowStart(SCREEN), SCREEN, { width: 120, foldMarks: true });
  for (const { text } of rows) assert.ok(text.length > 0);
  return rows;
};

for (const shape of ["linear", "bushy"] as const)
  for (const entries of [2_000, 20_000])
    test(`[U1, Y9] dB24 ${shape}, ${entries} entries: each body is read once to filter and once to search, no step reads more than its screen`, () => {
      const source = generated({ shape, entries });
      let outline!: Outline;
      const first = source.bodiesFor(() => frame((outline = new Outline(source))));
      assert.ok(first <= entries + BODIES_PER_FRAME, `${first} bodies for the first frame`);

      const steps: Record<string, () => void> = {
        home: () => outline.home(),
        down: () => outline.move(1),
        page: () => outline.page(SCREEN),
        end: () => outline.end(),
        fold: () => outline.foldOrUp(),
        unfold: () => outline.unfoldOrDown(),
        message: () => outline.moveToMessage(-1),
        filter: () => outline.setFilter("user-only"),
        "filter back": () => outline.setFilter("default"),
      };
      for (const [name, step] of Object.entries(steps)) {
        assert.equal(source.bodiesFor(step), 0, name);
        const drawn = source.bodiesFor(() => frame(outline));
        assert.ok(drawn <= BODIES_PER_FRAME, `${name}: ${drawn} bodies for a frame`);
      }

      const search = source.bodiesFor(() => outline.setQuery("zzz"));
      assert.ok(search <= 2 * entries, `${search} bodies: each once, and the calls of tool results`);
      assert.equal(
        source.bodiesFor(() => outline.setQuery("zzzz")),
        0,
        "the second search",
      );
      source.add({ id: "new", parentId: source.leafId, message: { role: "user", content: "more zzzz" } });
      assert.equal(
        source.bodiesFor(() => outline.refresh()),
        1,
        "a new entry: its role tells the filter, the search reads it once",
      );
      assert.deepEqual(
        frame(outline).map((row) => row.entry.id),
        ["new"],
      );
    });

test("[T5, U1] dB23 a chain of 100,000 is flat, folds to one row and is found by label and text", () => {
  const length = 100_000;
  const source = chain(length);
  source.add({ type: "label", id: "l1", parentId: `u${length - 1}`, targetId: "u50000", label: "halfway" });
  const outline = new Outline(source);
  assert.equal(outline.rowCount, length);
  assert.equal(outline.selected, length - 1);
  assert.deepEqual(new Set(outline.rows(0, length).map((row) => row.indent)), new Set([0]));
  outline.foldOrUp();
  outline.foldOrUp();
  assert.deepEqual(frame(outline).map(drawnLine), ["  ⊞ • user: say 0"]);
  outline.setQuery("halfway");
  assert.deepEqual(frame(outline).map(drawnLine), ["  • [halfway] user: say 50000"]);
  outline.setQuery("say 99998");
  assert.deepEqual(frame(outline).map(drawnLine), ["  • user: say 99998"]);
});

test("[T5, U1] 100,000 entries that branch at every second one, 50,000 levels deep", () => {
  const source = new CountedIndex();
  const levels = 50_000;
  for (let n = 0; n < levels; n++) {
    source.add({ id: `s${n}`, parentId: n === 0 ? null : `u${n - 1}`, message: { role: "user", content: "side" } });
    source.add({ id: `u${n}`, parentId: n === 0 ? null : `u${n - 1}`, message: { role: "user", content: "on" } });
  }
  const outline = new Outline(source);
  assert.equal(outline.rowCount, 2 * levels);
  outline.select(`u${levels - 1}`);
  const longest = (rows: OutlineRow[]): number => Math.max(...rows.map((row) => row.prefix.length));
  assert.equal(longest(frame(outline)), 3 * 18, "(120 cells - 60 for text - 4) / 3");
  assert.equal(longest(outline.rows(0, 2 * levels)), 3 * 24);
  assert.equal(outline.rows(levels - 1, 1)[0]?.indent, levels - 1);
});

test("[U1, T5] thousands of results of one message find their calls without reading it, or the way to it, again and again", () => {
  const source = new CountedIndex();
  const results = 5_000;
  const calls = Array.from({ length: results }, (_, n) => ({ type: "toolCall", id: `c${n}`, name: `tool${n}` }));
  source.add({ id: "a1", parentId: null, message: { role: "assistant", content: calls, stopReason: "toolUse" } });
  for (let n = 0; n < results; n++) {
    const message = { role: "toolResult", toolCallId: `c${n}`, toolName: "unknown", content: [] };
    source.add({ id: `t${n}`, parentId: n === 0 ? "a1" : `t${n - 1}`, message });
  }
  const outline = new Outline(source);
  const before = source.parents;
  const bodies = source.bodiesFor(() => outline.setQuery(`tool${results - 1}`));
  assert.deepEqual(
    frame(outline).map((row) => plainText(row.text)),
    [`[tool${results - 1}]`],
  );
  assert.ok(bodies <= results + 2, `${bodies} bodies`);
  assert.ok(source.parents - before <= 8 * results, `${source.parents - before} parents`);
});
