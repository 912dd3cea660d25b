import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionEntry } from "../../src/tree/entries.ts";
import { SessionEntryIndex } from "../../src/tree/entry-index.ts";
import { HEADER, file, line, readSound } from "../support/session-lines.ts";

/** Usage whose parts are all `amount`, so that a sum shows how often it was counted. */
const spent = (amount: number): object => ({
  input: amount,
  output: amount,
  cacheRead: amount,
  cacheWrite: amount,
  totalTokens: 4 * amount,
  cost: { input: amount, output: amount, cacheRead: amount, cacheWrite: amount, total: 4 * amount },
});
const sums = (amount: number): object => ({
  input: amount,
  output: amount,
  cacheRead: amount,
  cacheWrite: amount,
  totalTokens: 4 * amount,
  cost: 4 * amount,
});
const assistant = (id: string, parentId: string | null, usage: unknown, model = "m"): string =>
  line("message", id, parentId, { message: { role: "assistant", content: [], provider: "p", model, usage } });
const toolResult = (id: string, parentId: string, fields: object): string =>
  line("message", id, parentId, { message: { role: "toolResult", toolCallId: "c", content: [], ...fields } });

test("[T1, F3] every kind that records usage counts once, on whatever branch it stands", () => {
  const reading = readSound(
    file(
      HEADER,
      assistant("a1", null, spent(1)),
      assistant("a2", "a1", spent(10), "n"),
      assistant("b2", "a1", spent(100)),
      toolResult("r1", "a1", { toolName: "bash", usage: spent(1000) }),
      toolResult("r2", "a1", { toolName: "task", details: { usage: spent(10_000) } }),
      toolResult("r3", "a1", { toolName: "bash", details: { usage: spent(7) } }),
      line("usage", "u1", "a1", { kind: "cache_warm", provider: "p", model: "m", usage: spent(100_000) }),
      line("model_usage", "u2", "a1", { purpose: "title", provider: "q", model: "x/y", usage: spent(1_000_000) }),
      line("compaction", "c1", "a1", {
        summary: "s",
        firstKeptEntryId: "a1",
        tokensBefore: 1,
        usage: spent(10_000_000),
      }),
      line("branch_summary", "s1", "a1", { summary: "s", fromId: "a1", usage: spent(100_000_000) }),
      line("message", "m1", "a1", { message: { role: "user", content: "x", usage: spent(7) } }),
    ),
  );
  assert.deepEqual(reading.index.usage(), {
    ...sums(111_111_111),
    byModel: new Map([
      ["p/m", sums(100_101)],
      ["p/n", sums(10)],
      ["", sums(110_011_000)],
      ["q/x/y", sums(1_000_000)],
    ]),
  });
});

test("[T1] a tool result's own usage counts, not also the one in its details", () => {
  const reading = readSound(
    file(
      HEADER,
      assistant("a1", null, spent(0)),
      toolResult("r1", "a1", { toolName: "task", usage: spent(1), details: { usage: spent(5) } }),
    ),
  );
  assert.equal(reading.index.usage().input, 1);
});

test("[T1, F7] missing, wrong and infinite numbers count nothing, totals are made from the parts", () => {
  const odd: unknown[] = [
    undefined,
    null,
    "many",
    12,
    [],
    { input: "5" },
    { cost: 3 },
    { cost: { total: null, input: "1" } },
  ];
  const infinite =
    '{"input":1e999,"output":2,"cacheRead":null,"totalTokens":-1e999,"cost":{"input":0.5,"output":0.25}}';
  const lines = odd.map((usage, n) => assistant(`a${n}`, null, usage));
  const last = assistant("z", null, "USAGE").replace('"USAGE"', infinite);
  const totals = readSound(file(HEADER, ...lines, last)).index.usage();
  const expected = { input: 0, output: 2, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: 0.75 };
  assert.deepEqual(totals, { ...expected, byModel: new Map([["p/m", expected]]) });
});

test("[T1] totals kept from the first call on equal totals computed later, and the caller's copy is its own", () => {
  const early = new SessionEntryIndex();
  const late = new SessionEntryIndex();
  assert.deepEqual(early.usage(), {
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 0,
    cost: 0,
    byModel: new Map(),
  });
  for (let n = 0; n < 50; n++) {
    const entry = JSON.parse(
      assistant(`a${n}`, n === 0 ? null : `a${n - 1}`, { input: n, cost: { total: n / 7 } }, `m${n % 3}`),
    ) as SessionEntry;
    early.append(entry);
    late.append(entry);
  }
  assert.deepEqual(early.usage(), late.usage());
  const copy = early.usage();
  copy.input = copy.byModel.get("p/m0")!.input = 0;
  assert.deepEqual(early.usage(), late.usage());
});
