/** [C1] A context depends on its own path alone, and both ways to a path agree. */
import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import type { SessionEntry } from "../../src/tree/entries.ts";
import { SessionEntryIndex } from "../../src/tree/entry-index.ts";
import { buildSessionContext, contextOfPath } from "../../src/tree/session-context.ts";
import { answer, entry, messageEntry, user } from "./message-fixtures.ts";

const IDS = Array.from({ length: 14 }, (_, n) => `e${n}`);
const anyId = fc.constantFrom(...IDS, "gone");

/** Entries of every kind the context looks at, in any order, each with any parent: also missing ones and cycles. */
const entries = fc
  .array(fc.record({ parentId: fc.option(anyId), kind: fc.nat(8), target: anyId }), { maxLength: IDS.length })
  .map((specs) => specs.map(({ parentId, kind, target }, n) => entryOf(IDS[n]!, parentId, kind, target)));

function entryOf(id: string, parentId: string | null, kind: number, target: string): SessionEntry {
  switch (kind) {
    case 0:
      return messageEntry(id, parentId, answer(id));
    case 1:
      return entry(id, parentId, "compaction", { summary: id, firstKeptEntryId: target });
    case 2:
      return entry(id, parentId, "reset_boundary");
    case 3:
      return entry(id, parentId, "context_edit", { targetId: target, replacement: null });
    case 4:
      return entry(id, parentId, "thinking_level_change", { thinkingLevel: id });
    case 5:
      return entry(id, parentId, "branch_summary", { summary: id, fromId: target });
    default:
      return messageEntry(id, parentId, user(id));
  }
}

function indexOf(list: readonly SessionEntry[]): SessionEntryIndex {
  const index = new SessionEntryIndex();
  list.forEach((one, n) => index.replay(one, { line: n + 2, offset: 0, length: 0 }));
  return index;
}

it("[C1, T5] for any entries and any leaf, the context is that of the index's path", () => {
  fc.assert(
    fc.property(entries, (list) => {
      const index = indexOf(list);
      for (const { id } of list) assert.deepEqual(buildSessionContext(list, id), contextOfPath(index.path(id)));
      assert.deepEqual(buildSessionContext(list), contextOfPath(index.path(list.at(-1)?.id ?? null)));
    }),
    { numRuns: 500 },
  );
});

it("[C1] entries beside the path change nothing, wherever they stand in the file", () => {
  fc.assert(
    fc.property(entries, fc.nat(), fc.infiniteStream(fc.boolean()), (list, pick, coin) => {
      const index = indexOf(list);
      // Where a cycle is cut depends on all of its members, so they are no bystanders.
      fc.pre(list.length > 0 && index.problems.every(({ code }) => code !== "parent-cycle"));
      const leaf = list[pick % list.length]!.id;
      const path = index.path(leaf);
      const some = list.filter((one) => path.includes(one) || coin.next().value);
      const none = list.filter((one) => path.includes(one));
      const whole = buildSessionContext(list, leaf);
      assert.deepEqual(buildSessionContext(some, leaf), whole);
      assert.deepEqual(buildSessionContext(none, leaf), whole);
    }),
    { numRuns: 500 },
  );
});
