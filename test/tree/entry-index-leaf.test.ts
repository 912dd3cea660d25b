import { currentOrdinal } from "../../src/tree/outline-layout.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { HEADER, at, chain, codes, file, ids, leafRecord, line, message, readSound } from "../support/session-lines.ts";

const nine = ["a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9"];
const leafOf = (...lines: string[]): string | null => readSound(file(HEADER, ...lines)).index.leafId;

test("[L2] every kind: some move the leaf wherever they stand, the others only at the end of its chain", () => {
  const fields: Record<string, object> = {
    message: { message: { role: "user", content: "x", timestamp: 0 } },
    custom_message: { customType: "x", content: "x", display: true },
    compaction: { summary: "s", firstKeptEntryId: "a1", tokensBefore: 1 },
    branch_summary: { summary: "s", fromId: "a1" },
    model_change: { provider: "p", modelId: "m" },
    thinking_level_change: { thinkingLevel: "low" },
    service_tier_change: { serviceTier: null },
    mode_change: { mode: "plan" },
    mcp_tool_selection: { selectedToolNames: [] },
    ttsr_injection: { injectedRules: [] },
    session_init: { systemPrompt: "", task: "", tools: [] },
    reset_boundary: {},
    label: { targetId: "a1", label: "x" },
    session_info: { name: "x" },
    title_change: { title: "x", source: "auto" },
    custom: { customType: "session_exit" },
    usage: { kind: "k", provider: "p", model: "m", usage: {} },
    model_usage: { purpose: "p", provider: "p", model: "m", usage: {} },
    credential_pin: { provider: "p", hash: "0" },
    context_edit: { targetId: "a1", replacement: null },
    future_thing: {},
  };
  const movesFrom = (parentId: string): string[] =>
    Object.keys(fields).filter(
      (type) => leafOf(...chain(null, "a1", "a2"), line(type, "x", parentId, fields[type])) === "x",
    );
  assert.deepEqual(movesFrom("a2"), Object.keys(fields));
  assert.deepEqual(movesFrom("a1"), [
    "message",
    "custom_message",
    "compaction",
    "branch_summary",
    "model_change",
    "thinking_level_change",
    "service_tier_change",
    "mode_change",
    "mcp_tool_selection",
    "ttsr_injection",
    "session_init",
    "reset_boundary",
  ]);
});

test("[L2, F3] dB28 a name with a stale parent as last line: the leaf stays, the name counts", () => {
  const reading = readSound(file(HEADER, ...chain(null, ...nine), line("session_info", "n", "a3", { name: "Late" })));
  assert.equal(reading.index.leafId, "a9");
  assert.deepEqual(reading.index.name, { text: "Late", source: "user" });
  assert.deepEqual(reading.index.problems, []);
});

test("[L2] dB28 siblings: a stale exit record, label, unknown kind, and what is chained after one", () => {
  const stale = line("custom", "x1", "a3", { customType: "session_exit" });
  assert.equal(
    leafOf(
      ...chain(null, ...nine),
      stale,
      line("label", "x2", "x1", { targetId: "a1", label: "l" }),
      line("future", "x3", "x2"),
    ),
    "a9",
  );
  assert.equal(
    leafOf(...chain(null, ...nine), stale, message("x2", "x1")),
    "x2",
    "a message after it is the user's choice",
  );
  assert.equal(
    leafOf(
      ...chain(null, ...nine),
      line("label", "l1", "a9", { targetId: "a1" }),
      line("session_info", "n1", "l1", { name: "x" }),
    ),
    "n1",
  );
});

test("[L2] entries before the first message, and a second root", () => {
  assert.equal(leafOf(line("session_info", "n", null, { name: "x" })), "n");
  assert.equal(
    leafOf(line("session_info", "n", null, { name: "x" }), line("custom", "c", null, { customType: "x" })),
    "n",
  );
  assert.equal(leafOf(...chain(null, "a1", "a2"), message("b1", null)), "b1");
  assert.equal(leafOf(...chain(null, "a1", "a2"), line("custom", "c", null, { customType: "x" })), "a2");
  assert.equal(leafOf(line("custom", "c", "gone", { customType: "x" })), null);
});

test("[L1, L2] dB30 a jump without a message: reopened where it led, and the branch left on purpose is no news", () => {
  const reading = readSound(file(HEADER, ...chain(null, "a1", "a2", "a3", "a4", "a5"), leafRecord("j1", "a2")));
  assert.equal(reading.index.leafId, "a2");
  assert.deepEqual(ids(reading), ["a1", "a2", "a3", "a4", "a5"], "the record is no entry");
  assert.equal(reading.index.get("j1"), undefined);
  assert.deepEqual(
    reading.index.children("a2").map(({ id }) => id),
    ["a3"],
  );
  assert.deepEqual(reading.index.problems, []);
});

test("[L1] leaf records: to no entry, back and forward again, repeated, to what is not there", () => {
  const five = chain(null, "a1", "a2", "a3", "a4", "a5");
  assert.equal(leafOf(...five, leafRecord("j1", null)), null);
  assert.equal(leafOf(...five, leafRecord("j1", "a2"), leafRecord("j2", "a5", "back")), "a5");
  assert.equal(leafOf(...five, leafRecord("j1", "a2"), message("b1", "a2")), "b1");
  const unknown = readSound(
    file(
      HEADER,
      ...five,
      leafRecord("j1", "zz"),
      line("leaf", "j2", null).replace("null", "7"),
      line("leaf", "j3", null).replace('"parentId":null,', ""),
    ),
  );
  assert.equal(unknown.index.leafId, "a5");
  assert.deepEqual(unknown.index.problems, [
    { code: "unknown-leaf", line: 7, text: "Line 7 moves to zz, which is not in the file; the move is left out." },
    { code: "unknown-leaf", line: 8, text: "Line 8 is a move that names no target and is left out." },
    { code: "unknown-leaf", line: 9, text: "Line 9 is a move that names no target and is left out." },
  ]);
});

test("[L1, T5] a block of lines repeated byte for byte moves nothing, its leaf records neither", () => {
  const block = [leafRecord("j1", "a2"), ...chain("a2", "b1", "b2")];
  const reading = readSound(file(HEADER, ...chain(null, "a1", "a2", "a3"), ...block, ...block));
  assert.equal(reading.index.leafId, "b2");
  assert.deepEqual(codes(reading.index.problems), ["duplicate-line:8", "duplicate-line:9", "duplicate-line:10"]);
  assert.equal(reading.index.problems[0]?.text, "Line 8 repeats leaf record j1 and is left out.");
});

test("[L1] a parentId that names a leaf record reads as its target", () => {
  const lines = [
    ...chain(null, "a1", "a2", "a3"),
    leafRecord("j1", "a1"),
    message("b1", "j1"),
    leafRecord("j2", "j1"),
    line("custom", "b2", "j2", { customType: "x" }),
    leafRecord("j3", null),
    message("c1", "j3"),
  ];
  const { index } = readSound(file(HEADER, ...lines));
  assert.deepEqual(
    ["b1", "b2", "c1"].map((id) => index.path(id).map((entry) => entry.id)),
    [["a1", "b1"], ["a1", "b2"], ["c1"]],
  );
  assert.deepEqual(
    ["b1", "b2", "c1"].map((id) => index.get(id)?.parentId),
    ["a1", "a1", null],
    "a parent that names a leaf record reads as its target",
  );
  assert.equal(index.leafId, "c1");
  assert.deepEqual(
    index.problems.filter(({ code }) => code !== "other-tip"),
    [],
  );
});

test("[L1, T5] leaf records after what names them, in a cycle, and with the id of an entry", () => {
  const late = readSound(file(HEADER, message("a1", null), message("b1", "j1"), leafRecord("j1", "a1")));
  assert.deepEqual(
    late.index.path("b1").map(({ id }) => id),
    ["a1", "b1"],
  );
  assert.equal(late.index.leafId, "a1");
  const loop = readSound(file(HEADER, message("a1", "j1"), message("a2", "a1"), leafRecord("j1", "a2")));
  assert.deepEqual(codes(loop.index.problems), ["parent-cycle:2"]);
  assert.deepEqual(
    loop.index.path("a2").map(({ id }) => id),
    ["a1", "a2"],
  );
  const twice = readSound(
    file(
      HEADER,
      ...chain(null, "a1", "a2"),
      leafRecord("a2", "a1"),
      message("a3", "a2"),
      message("j9", "a1"),
      leafRecord("j9", "a1"),
      leafRecord("j9", "a1"),
    ),
  );
  assert.deepEqual(
    twice.index.path("a3").map(({ id }) => id),
    ["a1", "a2", "a3"],
  );
  assert.equal(twice.index.leafId, "a1");
  const entryAfter = readSound(file(HEADER, message("a1", null), leafRecord("x", "a1"), message("x", "a1")));
  assert.deepEqual(ids(entryAfter), ["a1", "x~4"]);
});

test("[L2] dB31 two writers on one parent: the leaf is on the branch written last, a longer one is named", () => {
  const timed = (id: string, parentId: string, seconds: number): string =>
    message(id, parentId, { timestamp: at(seconds) });
  const alternating = [
    message("r", null),
    timed("a1", "r", 10),
    timed("b1", "r", 20),
    timed("a2", "a1", 30),
    timed("b2", "b1", 40),
    timed("a3", "a2", 50),
  ];
  const equal = readSound(file(HEADER, ...alternating, timed("b3", "b2", 60)));
  assert.equal(equal.index.leafId, "b3");
  assert.deepEqual(equal.index.problems, []);
  const shorter = readSound(file(HEADER, ...alternating, timed("c1", "r", 60)));
  assert.equal(shorter.index.leafId, "c1");
  assert.deepEqual(shorter.index.problems, [
    {
      code: "other-tip",
      line: 7,
      text: "Another branch, ending at a3, was written in the same minutes and has more messages (3); /tree shows it.",
    },
  ]);
});

test("[L2] the other branch is named only if it is newer than five minutes, has more messages and is not ours", () => {
  const timed = (id: string, parentId: string | null, seconds: number): string =>
    message(id, parentId, { timestamp: at(seconds) });
  const trunk = [timed("r", null, 0), timed("a1", "r", 10), timed("a2", "a1", 20)];
  const told = (...lines: string[]): string[] => codes(readSound(file(HEADER, ...trunk, ...lines)).index.problems);
  assert.deepEqual(told(timed("b1", "r", 320)), ["other-tip:4"]);
  assert.deepEqual(told(timed("b1", "r", 321)), []);
  assert.deepEqual(told(timed("b1", "r", -281)), []);
  assert.deepEqual(told(timed("b1", "r", 20), timed("b2", "b1", 20)), []);
  assert.deepEqual(told(leafRecord("j", "a1")), [], "somebody left it on purpose");
  assert.deepEqual(told(leafRecord("j", "r"), timed("b1", "r", 30)), [], "and went on elsewhere");
  assert.deepEqual(
    told(leafRecord("j", "r"), timed("a3", "a2", 25), timed("b1", "r", 30)),
    ["other-tip:6"],
    "it has grown since",
  );
  assert.deepEqual(told(leafRecord("j", null)), [], "there is no last message to compare with");
  assert.deepEqual(told(message("b1", "r", { timestamp: "never" })), []);
  // Labels and other bookkeeping at its end do not hide it, nor do they count as messages.
  assert.deepEqual(told(line("label", "l", "a2", { targetId: "r", label: "x" }), timed("b1", "r", 30)), [
    "other-tip:5",
  ]);
  assert.deepEqual(told(timed("b1", "r", 20), timed("b2", "b1", 20), line("label", "l", "a1", { targetId: "r" })), []);
});

test("[L2] a branch that a summary left is not named, unless it has grown since", () => {
  const summary = (parentId: string | null): string =>
    line("branch_summary", "s", parentId, { fromId: "x", summary: "x" });
  const told = (...lines: string[]): string[] => codes(readSound(file(HEADER, ...lines)).index.problems);
  const left = ["r", "a1", "a2"];
  assert.deepEqual(told(...chain(null, ...left), summary("r")), []);
  assert.deepEqual(told(...chain(null, ...left), summary("r"), message("b1", "s")), []);
  assert.deepEqual(told(...chain(null, ...left), summary(null), message("b1", "s")), []);
  assert.deepEqual(told(...chain(null, ...left), summary("r"), message("a3", "a2"), message("b1", "s")), [
    "other-tip:6",
  ]);
  assert.deepEqual(told(...chain(null, ...left), summary("gone"), message("b1", "s")), [
    "other-tip:4",
    "missing-parent:5",
  ]);
});

test("[L2] of several longer branches the longest is named, of equal ones the last", () => {
  const { index } = readSound(
    file(
      HEADER,
      message("r", null),
      ...chain("r", "a1", "a2"),
      ...chain("r", "b1", "b2", "b3"),
      ...chain("r", "c1", "c2", "c3"),
      ...chain("r", "d1", "d2"),
      message("e", "r"),
    ),
  );
  assert.deepEqual(
    index.problems.map(({ text }) => text),
    ["Another branch, ending at c3, was written in the same minutes and has more messages (3); /tree shows it."],
  );
});

test("[L4] where the user stands ignores trailing labels, extension state and names", () => {
  const label = (id: string, parentId: string): string => line("label", id, parentId, { targetId: "a1", label: "x" });
  const custom = (id: string, parentId: string | null): string => line("custom", id, parentId, { customType: "x" });
  const visible = (...lines: string[]): string | undefined => {
    const { index } = readSound(file(HEADER, ...lines));
    const n = currentOrdinal(index);
    return n === -1 ? undefined : index.at(n).id;
  };
  assert.equal(visible(...chain(null, "a1", "a2")), "a2");
  assert.equal(visible(...chain(null, "a1", "a2"), label("l1", "a2"), custom("c1", "l1"), label("l2", "c1")), "a2");
  assert.equal(
    visible(message("a1", null), label("l1", "a1"), line("model_change", "m", "l1", { provider: "p", modelId: "m" })),
    "m",
  );
  assert.equal(visible(...chain(null, "a1", "a2"), line("session_info", "n", "a2", { name: "x" })), "a2");
  assert.equal(visible(custom("c1", null)), undefined);
  assert.equal(visible(), undefined);
});
