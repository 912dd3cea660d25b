/** The page's own parts that need no browser: places in the address, heights of lists, addresses of links. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Bodies } from "../../src/export/page/bodies.ts";
import { EvenHeights, Heights } from "../../src/export/page/heights.ts";
import { PageTree } from "../../src/export/page/page-tree.ts";
import { PageView } from "../../src/export/page/page-view.ts";
import { readPlace, withPlace } from "../../src/export/page/place.ts";
import { safeAddress } from "../../src/export/page/safe-address.ts";
import { generateSession } from "../support/generate.ts";
import { exportLines, readPage } from "../support/page-file.ts";
import { HEADER, chain, line, message } from "../support/session-lines.ts";

test("[E1] a place is written into an address and read back; the rest of the address stays", () => {
  assert.equal(
    withPlace("?6f2a&x=1&leafId=old", { leafId: "a&b", targetId: "__proto__" }),
    "?6f2a&x=1&leafId=a%26b&targetId=__proto__",
  );
  assert.equal(withPlace("?leafId=a&targetId", { leafId: undefined, targetId: undefined }), "");
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (leafId, targetId) => {
      assert.deepEqual(readPlace(withPlace("?gist", { leafId, targetId })), { leafId, targetId });
    }),
  );
});

test("[E1] heights: where items stand is the sum of those before, whatever was measured", () => {
  const count = fc.integer({ min: 1, max: 60 });
  const changes = fc.array(fc.tuple(fc.nat(59), fc.nat(500)), { maxLength: 40 });
  fc.assert(
    fc.property(count, changes, fc.nat(40_000), (size, sets, point) => {
      const plain = Array.from({ length: size }, (_, item) => (item * 37) % 90);
      const heights = new Heights(size, (item) => plain[item]!);
      for (const [item, height] of sets) if (item < size) heights.set(item, (plain[item] = height));
      const sums = plain.map((_, item) => plain.slice(0, item).reduce((sum, height) => sum + height, 0));
      assert.deepEqual(
        plain.map((_, item) => heights.offset(item)),
        sums,
      );
      assert.equal(
        heights.total,
        plain.reduce((sum, height) => sum + height, 0),
      );
      // Of items without height at the point the last one begins there.
      const last = sums.findLastIndex((sum) => sum <= point);
      assert.equal(heights.itemAt(point), Math.min(last, size - 1));
    }),
  );
  assert.equal(new Heights(0, () => 1).itemAt(5), 0);
});

test("[E1, Y11] even heights say what measured ones of the same height say", () => {
  fc.assert(
    fc.property(fc.nat(60), fc.integer({ min: -100, max: 2000 }), (size, point) => {
      const [even, measured] = [new EvenHeights(size, 22), new Heights(size, () => 22)];
      assert.deepEqual(
        [even.count, even.total, even.itemAt(point), even.offset(size >> 1), even.of(0)],
        [measured.count, measured.total, measured.itemAt(point), measured.offset(size >> 1), 22],
      );
    }),
  );
});

test("[E2] dB66 only whole addresses of the web and of people become links", () => {
  for (const good of [
    "https://example.org/a?b=c#d",
    "HTTP://example.org/",
    "mailto:sam@example.org",
    " https://example.org ",
  ])
    assert.equal(typeof safeAddress(good), "string", good);
  const bad = [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\nscript:alert(1)",
    "\u0001javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:msgbox(1)",
    "file:///etc/passwd",
    "//example.org/",
    "\\\\example.org\\",
    "http:example.org",
    "https:\\\\example.org",
    "blob:https://example.org/x",
    "view-source:https://example.org",
    "ftp://example.org",
    "relative/path",
    "#hash",
    "https://exa\u202emple.org",
    "https://[",
    "",
  ];
  assert.deepEqual(
    bad.filter((text) => safeAddress(text) !== undefined),
    [],
  );
});

/** A page's view over a file, its bodies read at once. */
async function viewOf(lines: Iterable<string>): Promise<PageView> {
  const { facts, blocks, bodies } = readPage((await exportLines(lines)).path);
  const tree = new PageTree(facts, blocks);
  const ends = [...facts.chunks.slice(1), facts.entries];
  return new PageView(
    tree,
    new Bodies(tree, facts.chunks, async (chunk) => bodies.slice(facts.chunks[chunk], ends[chunk])),
  );
}
const idsOf = (view: PageView): string[] => view.items.map((n) => view.tree.idAt(n));

test("[E1] a place shows its branch; an entry elsewhere the newest branch below it; what is unknown is passed over", async () => {
  const lines = [HEADER, ...chain(null, "a", "b", "c"), ...chain("b", "d", "e"), ...chain("d", "f")];
  const view = await viewOf(lines);
  assert.deepEqual(idsOf(view), ["a", "b", "d", "f"]);
  view.goTo({ leafId: "c", targetId: undefined });
  assert.deepEqual([idsOf(view), view.place], [["a", "b", "c"], { leafId: "c", targetId: undefined }]);
  view.goTo({ leafId: "gone", targetId: "nowhere" });
  assert.deepEqual([idsOf(view), view.place], [["a", "b", "d", "f"], { leafId: "f", targetId: undefined }]);
  view.goTo({ leafId: undefined, targetId: "c" });
  assert.deepEqual(view.place, { leafId: "c", targetId: "c" });
  view.goTo({ leafId: "e", targetId: "b" });
  assert.deepEqual([view.place, view.itemOf(view.target)], [{ leafId: "e", targetId: "b" }, 1]);
  view.show(view.tree.ordinal("c")!);
  assert.deepEqual([idsOf(view), view.isOnPath(view.tree.ordinal("d")!)], [["a", "b", "c"], false]);
  view.showLeaf();
  assert.deepEqual(view.place, { leafId: "f", targetId: undefined });
});

test("[E1, U2] state and hidden custom messages are in the transcript when they are asked for, or gone to", async () => {
  const hidden = { customType: "note", content: "psst", display: false };
  const lines = [
    HEADER,
    message("a", null),
    line("custom_message", "h", "a", hidden),
    line("custom", "x", "h", { customType: "state", data: {} }),
    line("model_change", "m", "x", { provider: "p", modelId: "q" }),
    line("unheard_of", "u", "m"),
    message("b", "u"),
  ];
  const view = await viewOf(lines);
  assert.deepEqual(idsOf(view), ["a", "m", "b"]);
  assert.equal(view.itemOf(view.tree.ordinal("u")!), 1, "an entry that is not shown stands after the one before it");
  view.show(view.tree.ordinal("h")!);
  assert.deepEqual(idsOf(view), ["a", "h", "x", "m", "u", "b"]);
  view.toggle("hidden");
  assert.deepEqual(idsOf(view), ["a", "m", "b"]);
});

test("[Y11] a body costs its chunk, once: a look at ten times the entries unpacks no more", async () => {
  const counts: number[] = [];
  for (const entries of [1500, 15_000]) {
    const view = await viewOf(generateSession({ shape: "linear", entries }));
    for (let n = 100; n < 130; n++) await view.bodies.load(n);
    assert.equal(view.bodies.get(110)?.id, view.tree.idAt(110));
    counts.push(view.bodies.unpacked);
  }
  assert.deepEqual(counts, [1, 1]);
});

test("[E1] a chunk that is damaged costs its own entries and says why", async () => {
  const { facts, blocks } = readPage((await exportLines([HEADER, message("a", null)])).path);
  const tree = new PageTree(facts, blocks);
  const bodies = new Bodies(tree, facts.chunks, async () => Promise.reject(new Error("cut off")));
  await bodies.load(0);
  assert.deepEqual([bodies.get(0), bodies.faultAt(0)], [undefined, "Error: cut off"]);
});
