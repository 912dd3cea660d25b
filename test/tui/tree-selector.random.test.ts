/** Random keys on random hostile sessions: the tree selector never throws, never drives the terminal, never overflows. */
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ENTRY_KINDS } from "../../src/tree/kinds.ts";
import { SessionReader } from "../../src/tree/reader.ts";
import { TreeSelector } from "../../src/tui/tree-selector.ts";
import { inert, KEYS, testScreen } from "./selector-screen.ts";

const HEADER = { type: "session", version: 3, id: "s", timestamp: "2026-11-30T10:00:00.000Z", cwd: "/x" };
const IDS = ["a", "b", "c", "d", "e", "f", "g", "h", "__proto__", "constructor"];

const nasty = fc.constantFrom(
  "",
  "plain text",
  "\u001b]0;title\u0007",
  "\u001b[2J\u001b[6n",
  "\u009b31m",
  "\u202Eright to left\u2066",
  "漢字かな",
  "👩‍👩‍👧 e\u0301 \u200b",
  "tab\there\nline\u2028sep\r",
  "\ud800",
  "x".repeat(5000),
);
const anything = fc.oneof(nasty, fc.jsonValue({ maxDepth: 2 }), fc.constant(null), fc.integer());
const role = fc.oneof(
  fc.constantFrom("user", "assistant", "toolResult", "bashExecution", "custom", "branchSummary", "fileMention"),
  anything,
);
const block = fc.record(
  {
    type: fc.constantFrom("text", "toolCall", "image", "thinking"),
    text: anything,
    id: fc.constantFrom("call", "other"),
    name: fc.oneof(fc.constantFrom("read", "bash", "grep"), anything),
    arguments: fc.oneof(fc.record({ path: anything, command: anything, pattern: anything }), anything),
  },
  { requiredKeys: ["type"] },
);
const message = fc.oneof(
  anything,
  fc.record(
    {
      role,
      content: fc.oneof(fc.array(fc.oneof(block, anything), { maxLength: 3 }), anything),
      toolCallId: fc.constantFrom("call", "none"),
      toolName: anything,
      stopReason: fc.oneof(fc.constantFrom("stop", "aborted", "error"), anything),
      errorMessage: anything,
      command: anything,
    },
    { requiredKeys: ["role"] },
  ),
);
const entry = fc.record(
  {
    type: fc.oneof(fc.constantFrom("message", "message", "label", ...Object.keys(ENTRY_KINDS)), nasty),
    id: fc.constantFrom(...IDS),
    parentId: fc.constantFrom(null, ...IDS, "missing"),
    timestamp: fc.oneof(fc.constant("2026-11-30T10:00:00.000Z"), anything),
    message,
    summary: anything,
    customType: anything,
    content: anything,
    display: anything,
    targetId: fc.constantFrom(...IDS),
    label: anything,
    model: anything,
    thinkingLevel: anything,
    name: anything,
    tokensBefore: anything,
  },
  { requiredKeys: ["type", "id", "parentId"] },
);

const key = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...Object.values(KEYS)) },
  { weight: 2, arbitrary: fc.constantFrom("a", "e", " ", "漢", "👩‍👩‍👧", "\u001b[200~pasted\u001b[2J\ntext\u001b[201~") },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 6 }) },
);

test("[U5, U1, F6] random keys on random hostile sessions, at widths 1 to 120", () => {
  fc.assert(
    fc.property(
      fc.array(entry, { maxLength: 25 }),
      fc.array(fc.tuple(key, fc.integer({ min: 1, max: 120 })), { maxLength: 40 }),
      fc.integer({ min: 1, max: 60 }),
      (entries, steps, rows) => {
        const reader = new SessionReader();
        for (const record of [HEADER, ...entries]) reader.push(Buffer.from(`${JSON.stringify(record)}\n`));
        const reading = reader.finish();
        equal(reading.kind, "session");
        if (reading.kind !== "session") return;
        const { index } = reading;
        let appended = 0;
        const component = new TreeSelector({
          screen: testScreen(rows),
          source: index,
          home: "/x",
          onSelect: () => {},
          onCancel: () => {},
          onLabel: (targetId, label) => {
            const id = `label-${appended++}`;
            const timestamp = "2026-11-30T10:00:00.000Z";
            index.append({
              type: "label",
              id,
              parentId: index.leafId,
              timestamp,
              targetId,
              ...(label === undefined ? {} : { label }),
            });
          },
          onCopy: () => {},
        });
        component.focused = true;
        inert(component, 80);
        for (const [data, width] of steps) {
          component.handleInput(data);
          const lines = component.render(80);
          inert(component, width);
          // At another width all rows are drawn anew.
          component.render(81);
          deepEqual(component.render(80), lines);
        }
      },
    ),
    { seed: 20_261_130, numRuns: 120 },
  );
});
