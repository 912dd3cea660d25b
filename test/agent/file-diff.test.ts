/**
 * Diffs of files: applying one to the old state gives the new state, whatever the two look like.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { applyPatch } from "diff";
import fc from "fast-check";
import { fileDiff } from "../../src/agent/tools/file-diff.ts";

const numbered = (mark: string, count: number): string =>
  Array.from({ length: count }, (_, n) => `${mark} ${n}\n`).join("");

test("[A5] a diff has three lines of context, the first changed line and the counts", () => {
  assert.deepEqual(fileDiff("a", "1\n2\n3\n4\n5\n", "1\n2\n3\n4\n4b\n5\n"), {
    diff: "--- a\n+++ a\n@@ -2,4 +2,5 @@\n 2\n 3\n 4\n+4b\n 5\n",
    firstChangedLine: 5,
    added: 1,
    removed: 0,
  });
  assert.equal(fileDiff("a", "same", "same"), undefined);
  assert.equal(fileDiff("a", "", "x".repeat(17 * 1024 * 1024)), undefined);
});

test("[A5] states with little in common are compared as one replaced piece", () => {
  const head = numbered("head", 5);
  const tail = "tail 1\ntail 2\ntail 3\ntail 4";
  const found = fileDiff("a", head + numbered("old", 600) + tail, head + numbered("new", 700) + tail);
  assert.deepEqual([found?.firstChangedLine, found?.added, found?.removed], [6, 700, 600]);
  assert.equal(
    found?.diff.split("\n").slice(0, 8).join("\n"),
    "--- a\n+++ a\n@@ -3,606 +3,706 @@\n head 2\n head 3\n head 4\n-old 0\n-old 1",
  );
  assert.equal(found?.diff.endsWith("+new 699\n tail 1\n tail 2\n tail 3\n"), true);
});

/** Random states that share their beginning and end; `more` and `other` stand between. */
function checkPatches(more: string, other: string, numRuns: number): void {
  const text = fc.array(fc.constantFrom("a\n", "b\n", "c\r\n", "\n", "d")).map((lines) => lines.join(""));
  fc.assert(
    fc.property(text, text, text, text, (head, old, now, tail) => {
      const [before, after] = [head + more + old + tail, head + other + now + tail];
      const found = fileDiff("a", before, after);
      if (before === after) return found === undefined;
      return applyPatch(before, found!.diff, { autoConvertLineEndings: false }) === after;
    }),
    { numRuns },
  );
}

test("[A5] a diff applied to the old state gives the new state", () => {
  checkPatches("", "", 300);
});

test("[A5] so does the diff of states with little in common", () => {
  checkPatches(numbered("old", 600), numbered("new", 600), 15);
});
