import assert from "node:assert/strict";
import { test } from "node:test";
import { versionOf } from "../../src/tree/migrate.ts";
import { generateSession } from "../support/generate.ts";
import { HEADER, at, codes, file, ids, line, message, readSound } from "../support/session-lines.ts";

const V1_HEADER = '{"type":"session","id":"old","timestamp":"2025-06-01T00:00:00.000Z","cwd":"/w","own":1}';
const V2_HEADER = HEADER.replace('"version":3', '"version":2');
/** Ids in the order of the entries: e1, e2, … */
const counted = (): { newId: () => string } => {
  let count = 0;
  return { newId: () => `e${++count}` };
};
const v1 = (type: string, fields: object): string => JSON.stringify({ type, timestamp: at(0), ...fields });
const user = (text: string): string => v1("message", { message: { role: "user", content: text, timestamp: 0 } });
const compaction = (fields: object): string => v1("compaction", { summary: "s", tokensBefore: 1, ...fields });

test("[M1] version 1: ids in a chain, the header's version, hookMessage to custom, all lines changed", () => {
  const hook = { role: "hookMessage", customType: "h", content: "c", display: true, timestamp: 0 };
  const reading = readSound(
    file(
      V1_HEADER,
      user("one"),
      v1("message", { message: hook }),
      v1("thinking_level_change", { thinkingLevel: "low" }),
    ),
    counted(),
  );
  assert.equal(reading.migratedFrom, 1);
  assert.deepEqual(Object.entries(reading.header), [
    ["type", "session"],
    ["version", 3],
    ["id", "old"],
    ["timestamp", "2025-06-01T00:00:00.000Z"],
    ["cwd", "/w"],
    ["own", 1],
  ]);
  assert.deepEqual(reading.index.entries(), [
    {
      type: "message",
      id: "e1",
      parentId: null,
      timestamp: at(0),
      message: { role: "user", content: "one", timestamp: 0 },
    },
    { type: "message", id: "e2", parentId: "e1", timestamp: at(0), message: { ...hook, role: "custom" } },
    { type: "thinking_level_change", id: "e3", parentId: "e2", timestamp: at(0), thinkingLevel: "low" },
  ]);
  assert.deepEqual(
    reading.changedLines,
    new Map<number, unknown>([
      [1, reading.header],
      ...reading.index.entries().map((entry, n): [number, unknown] => [n + 2, entry]),
    ]),
  );
  assert.equal(reading.index.leafId, "e3");
  assert.deepEqual(reading.index.problems, []);
});

test("[M1] version 1: ids that were there are replaced, and a stated version 1 is the same as none", () => {
  const lines = [message("x", "y"), message("x", null)];
  for (const header of [V1_HEADER, HEADER.replace('"version":3', '"version":1')]) {
    const { index } = readSound(file(header, ...lines), counted());
    assert.deepEqual(
      index.entries().map(({ id, parentId }) => [id, parentId]),
      [
        ["e1", null],
        ["e2", "e1"],
      ],
    );
  }
});

/** What a compaction in line 5 (record 4) keeps, by its old index. */
function firstKept(index: unknown, ...between: string[]): object {
  const reading = readSound(
    file(V1_HEADER, user("1"), ...between, user("2"), user("3"), compaction({ firstKeptEntryIndex: index }), user("5")),
    counted(),
  );
  const entry = reading.index.entries().find(({ type }) => type === "compaction");
  assert.ok(entry);
  return {
    kept: Reflect.get(entry, "firstKeptEntryId"),
    left: Object.hasOwn(entry, "firstKeptEntryIndex"),
    problems: codes(reading.index.problems),
  };
}

test("[M1] version 1: firstKeptEntryIndex counts records from the header on", () => {
  const sound = (kept: string): object => ({ kept, left: false, problems: [] });
  assert.deepEqual(firstKept(1), sound("e1"));
  assert.deepEqual(firstKept(3), sound("e3"));
  assert.deepEqual(firstKept(4), sound("e4"), "its own place");
});

test("[M1] version 1: an index at the header, beyond the compaction or out of range keeps nothing, and says so", () => {
  for (const index of [0, 5, 99, -1, 1.5])
    assert.deepEqual(
      firstKept(index),
      { kept: undefined, left: false, problems: ["migration-index:5"] },
      String(index),
    );
  const reading = readSound(file(V1_HEADER, compaction({ firstKeptEntryIndex: 0 })));
  assert.deepEqual(reading.index.problems, [
    {
      code: "migration-index",
      line: 2,
      text: "The compaction in line 2 keeps what follows record 0, which is no earlier entry; only its summary is used.",
    },
  ]);
});

test("[M1, F6] version 1: only parsed records count, bad and blank lines shift nothing", () => {
  const bad = { kept: "e2", left: false };
  assert.deepEqual(firstKept(2, '{"type":"mess'), { ...bad, problems: ["bad-line:3"] });
  assert.deepEqual(firstKept(2, "", "  ", "\0\0"), { ...bad, problems: ["nul-run:5"] });
  assert.deepEqual(firstKept(3, V1_HEADER), { ...bad, problems: ["second-header:3"] }, "a second header is a record");
  assert.deepEqual(firstKept(3, '{"no":"type"}'), { ...bad, problems: ["no-id:3"] }, "so is one without type");
  assert.deepEqual(firstKept(2, V1_HEADER), {
    kept: undefined,
    left: false,
    problems: ["second-header:3", "migration-index:6"],
  });
});

test("[M1, F3] version 1 behind a title slot: the slot is no record", () => {
  const slot = JSON.stringify({ type: "title", v: 1, title: "T", updatedAt: at(0), pad: "" });
  const reading = readSound(
    file(slot, V1_HEADER, user("1"), user("2"), compaction({ firstKeptEntryIndex: 2 })),
    counted(),
  );
  assert.equal(Reflect.get(reading.index.at(2), "firstKeptEntryId"), "e2");
  assert.deepEqual([...reading.changedLines.keys()], [2, 3, 4, 5]);
});

test("[M1] version 2: ids and parents stay, only header and hookMessage lines change", () => {
  const hook = { role: "hookMessage", customType: "h", content: "c", display: false, timestamp: 0 };
  const lines = [message("a1", null), line("message", "a2", "a1", { message: hook }), message("a3", "a1")];
  const reading = readSound(file(V2_HEADER, ...lines));
  assert.equal(reading.migratedFrom, 2);
  const changed = { type: "message", id: "a2", parentId: "a1", timestamp: at(0), message: { ...hook, role: "custom" } };
  assert.deepEqual(reading.index.entries(), [JSON.parse(lines[0] as string), changed, JSON.parse(lines[2] as string)]);
  assert.deepEqual(
    reading.changedLines,
    new Map<number, unknown>([
      [1, JSON.parse(HEADER)],
      [3, changed],
    ]),
  );
});

test("[M3] dB18 old shapes under a version 3 header are read as new ones, in memory", () => {
  const hook = { role: "hookMessage", customType: "h", content: "c", display: true, timestamp: 0 };
  const reading = readSound(
    file(
      HEADER,
      line("message", "a1", null, { message: hook }),
      line("compaction", "a2", "a1", { summary: "s", tokensBefore: 1, firstKeptEntryIndex: 1 }),
      line("compaction", "a3", "a2", { summary: "s", tokensBefore: 1, firstKeptEntryIndex: 1, firstKeptEntryId: "a2" }),
      line("compaction", "a4", "a3", { summary: "s", tokensBefore: 1, firstKeptEntryIndex: 0 }),
    ),
  );
  const base = { timestamp: at(0), summary: "s", tokensBefore: 1 };
  assert.deepEqual(reading.index.entries(), [
    { type: "message", id: "a1", parentId: null, timestamp: at(0), message: { ...hook, role: "custom" } },
    { type: "compaction", id: "a2", parentId: "a1", ...base, firstKeptEntryId: "a1" },
    { type: "compaction", id: "a3", parentId: "a2", ...base, firstKeptEntryId: "a2" },
    { type: "compaction", id: "a4", parentId: "a3", ...base },
  ]);
  assert.equal(reading.migratedFrom, undefined);
  assert.deepEqual(reading.changedLines, new Map());
  assert.deepEqual(codes(reading.index.problems), ["migration-index:5"]);
});

test("[M1, F5] without a maker of ids a version 1 file has the same 8-hex ids at every reading", () => {
  const content = file(...generateSession({ shape: "linear", version: 1, entries: 3000, seed: 4 }));
  const first = ids(readSound(content));
  assert.deepEqual(ids(readSound(content)), first);
  assert.equal(new Set(first).size, 3000);
  assert.equal(
    first.every((id) => /^[0-9a-f]{8}$/.test(id)),
    true,
  );
  const renamed = content.replace("generated-linear", "another");
  assert.equal(
    ids(readSound(renamed)).some((id) => first.includes(id)),
    false,
  );
});

test("[M1, F5] the maker of ids is told what is taken", () => {
  const asked: [string, boolean][] = [];
  const newId = (taken: (id: string) => boolean): string => {
    const id = ["a", "b"].find((candidate) => (asked.push([candidate, taken(candidate)]), !taken(candidate)));
    return id ?? "c";
  };
  assert.deepEqual(ids(readSound(file(V1_HEADER, user("1"), user("2"), user("3")), { newId })), ["a", "b", "c"]);
  assert.deepEqual(asked, [
    ["a", false],
    ["a", true],
    ["b", false],
    ["a", true],
    ["b", true],
  ]);
});

test("[M1] a migrated file, written anew line by line, reads as the same version 3 session", () => {
  for (const version of [1, 2] as const) {
    const lines = [...generateSession({ shape: "compact", version, entries: 500, seed: 2 })];
    const reading = readSound(file(...lines));
    const rewritten = lines.map((text, n) =>
      reading.changedLines.has(n + 1) ? JSON.stringify(reading.changedLines.get(n + 1)) : text,
    );
    const again = readSound(file(...rewritten));
    assert.equal(again.migratedFrom, undefined);
    assert.deepEqual(again.header, reading.header);
    assert.deepEqual(again.index.entries(), reading.index.entries());
    assert.equal(again.index.leafId, reading.index.leafId);
    if (version === 2) assert.equal(reading.changedLines.size < lines.length / 4, true);
  }
});

test("[M1] the version of a header", () => {
  const versions = [undefined, null, 0, 1, 1.9, 2, 3, 4, "2", "", "x", {}].map((version) => versionOf({ version }));
  assert.deepEqual(versions, [1, 1, 1, 1, 1, 2, 3, 4, 2, undefined, undefined, undefined]);
});
