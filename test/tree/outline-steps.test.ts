/** Outlines that keep their rows until a change of filter or query has gone through all entries, a step at a time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { FILTER_MODES } from "../../src/tree/outline-filter.ts";
import { Outline } from "../../src/tree/outline.ts";
import { generateSession } from "../support/generate.ts";
import { CountedIndex, sketch, type LooseEntry } from "./outline-source.ts";

function generated(entries: number): CountedIndex {
  const source = new CountedIndex();
  for (const line of generateSession({ shape: "bushy", entries })) {
    const entry = JSON.parse(line) as LooseEntry;
    if (entry.type !== "session") source.add(entry);
  }
  return source;
}
const ids = (outline: Outline): string[] => outline.rows(0, outline.rowCount).map((row) => row.entry.id);

/** Searches on to the end; the steps it took. */
function finish(outline: Outline, limit: number): number {
  let steps = 0;
  while (outline.isSearching) {
    outline.searchOn(limit);
    steps++;
  }
  return steps;
}

test("[Y11] rows stay until a search is over, and are those of a search at once", () => {
  const source = generated(6000);
  const outline = new Outline(source, { keepsRows: true });
  const before = ids(outline);
  for (const query of ["h", "harbour", "harbour lantern", "lantern", ""]) {
    const stood = ids(outline);
    outline.setQuery(query);
    assert.deepEqual([outline.query, outline.isSearching], [query, true]);
    assert.equal(outline.searchOn(1000), false);
    assert.deepEqual(ids(outline), stood);
    assert.ok(finish(outline, 1000) >= 5, query);
    assert.deepEqual(ids(outline), ids(new Outline(source, { query })), query);
  }
  assert.deepEqual(ids(outline), before);
});

test("[Y11] a step goes through as many entries as it may, whatever it finds", () => {
  for (const entries of [6000, 24_000]) {
    const source = generated(entries);
    const outline = new Outline(source, { keepsRows: true });
    for (const query of ["h", "ha", "nothing has this", ""]) {
      outline.setQuery(query);
      let most = 0;
      while (outline.isSearching) {
        const [bodies, parents] = [source.bodies, source.parents];
        outline.searchOn(2000);
        most = Math.max(most, source.bodies - bodies, source.parents - parents);
      }
      assert.ok(most > 0 && most <= 3000, `${most} of ${entries} for "${query}"`);
    }
  }
});

test("[Y11] the next letter takes the place of what is not found yet, and a longer query looks only among the hits", () => {
  const source = generated(6000);
  const outline = new Outline(source, { keepsRows: true });
  const steps = (query: string): void => {
    outline.setQuery(query);
    outline.searchOn(2000);
  };
  steps("l");
  steps("la");
  outline.setQuery("lantern");
  finish(outline, 1000);
  const hits = outline.rowCount;
  assert.deepEqual(ids(outline), ids(new Outline(source, { query: "lantern" })));

  let tested = 0;
  source.treeProblemAt = (n) => {
    tested++;
    return CountedIndex.prototype.treeProblemAt.call(source, n);
  };
  outline.setQuery("lantern copper");
  finish(outline, 1000);
  assert.ok(tested > 0 && tested <= hits, `${tested} entries that lack a word of ${hits}`);
  assert.ok(outline.rowCount < hits && outline.rowCount > 0);
});

test("[Y11, U1] what is selected while rows are on their way is selected among them", () => {
  const outline = new Outline(sketch("u1 a1 (u2 a2) (u3 a3)", "a3"), { keepsRows: true, query: "u1" });
  assert.deepEqual(ids(outline), ["u1"]);
  outline.setQuery("");
  outline.select("a2");
  assert.equal(outline.selectedEntry!.id, "u1");
  finish(outline, 1);
  assert.equal(outline.selectedEntry!.id, "a2");
  outline.setFilter("all");
  outline.home();
  finish(outline, 1);
  assert.equal(outline.selectedEntry!.id, "u1", "the user has moved");
});

test("[Y11, N3] a session that grows, or goes elsewhere, in the middle of a search", () => {
  const source = sketch("u1 a1 (u2 a2) (u3 a3)", "a3");
  const outline = new Outline(source, { keepsRows: true });
  outline.setQuery("a");
  source.add({ id: "a4", parentId: "a3", message: { role: "assistant", content: [{ type: "text", text: "a4" }] } });
  outline.refresh();
  assert.equal(outline.isSearching, false);
  assert.deepEqual(ids(outline), ids(new Outline(source, { query: "a" })));
});

test("[Y11] whatever is typed and filtered meanwhile: in the end the rows are those of filter and query", () => {
  const source = generated(1100);
  const change = fc.record({
    query: fc.constantFrom("", "h", "ha", "har", "har l", "LANTERN", "lantern har"),
    filter: fc.constantFrom(...FILTER_MODES),
    entries: fc.nat(3000),
  });
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 8 }), (changes) => {
      const outline = new Outline(source, { keepsRows: true });
      for (const { query, filter, entries } of changes) {
        outline.setQuery(query);
        outline.setFilter(filter);
        outline.foldOrUp();
        outline.searchOn(entries);
      }
      outline.cycleFilter(1);
      finish(outline, 700);
      const { filter, query } = outline;
      assert.deepEqual(ids(outline), ids(new Outline(source, { filter, query })));
    }),
    { numRuns: 40 },
  );
});
