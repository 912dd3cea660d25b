import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionEntry } from "../../src/tree/entries.ts";
import { SessionEntryIndex } from "../../src/tree/entry-index.ts";
import { PathContext } from "../../src/tree/path-context.ts";
import type { PathSource } from "../../src/tree/path-context.ts";
import type { Problem } from "../../src/tree/problems.ts";
import { readSession } from "../../src/tree/reader.ts";
import { contextOfPath } from "../../src/tree/session-context.ts";
import { SeededRandom, generateSession } from "../support/generate.ts";
import { at, bytesOf, file, memorySource } from "../support/session-lines.ts";

type Told = [Problem, string][];
const told = (into: Told) => (problem: Problem, entry: SessionEntry) => into.push([problem, entry.id]);

/** An entry of any kind, some of them broken. */
function anyEntry(random: SeededRandom, n: number, parentId: string | null): SessionEntry {
  const target = `e${random.below(n + 2)}`;
  const assistant = { role: "assistant", content: [{ type: "text", text: `t${n}` }], stopReason: "stop" };
  const kinds: object[] = [
    { type: "message", message: { role: "user", content: `u${n}`, timestamp: 0 } },
    { type: "message", message: { ...assistant, provider: "p", model: `m${n}` } },
    { type: "message", message: assistant },
    { type: "message", message: { role: "toolResult", toolCallId: "c", toolName: "t", content: [] } },
    { type: "message", message: { role: "system", content: `s${n}` } },
    { type: "message", message: "broken" },
    { type: "compaction", summary: `c${n}`, firstKeptEntryId: target, tokensBefore: n },
    { type: "compaction", firstKeptEntryId: target },
    { type: "compaction", summary: "", firstKeptEntryId: `e${n}`, systemMessage: { role: "system", content: "held" } },
    { type: "reset_boundary" },
    { type: "context_edit", targetId: target, replacement: random.chance(50) ? null : { content: `edit ${n}` } },
    { type: "context_edit", targetId: 7, replacement: null },
    { type: "branch_summary", summary: random.chance(20) ? "" : `b${n}`, fromId: target },
    { type: "custom_message", customType: "x", content: `x${n}`, display: true },
    { type: "thinking_level_change", thinkingLevel: random.pick(["off", "high", null]) },
    { type: "model_change", provider: "q", modelId: `m${n}`, ...(random.chance(30) ? { role: "small" } : {}) },
    { type: "model_change", model: "broken" },
    { type: "service_tier_change", serviceTier: random.pick([null, "flex", { openai: "priority" }]) },
    { type: "mode_change", mode: `mode${n}`, ...(random.chance(50) ? { data: { n } } : {}) },
    { type: "mode_change", mode: 3 },
    { type: "mcp_tool_selection", selectedToolNames: [`tool${n}`] },
    { type: "ttsr_injection", injectedRules: [`rule${n % 5}`] },
    { type: "label", targetId: target, label: "l" },
    { type: "unknown_kind", x: 1 },
  ];
  return { ...random.pick(kinds), id: `e${n}`, parentId, timestamp: at(n) } as SessionEntry;
}

test("[C5, C1] a context carried along is that of the path, whatever is appended and wherever the leaf goes", () => {
  for (let seed = 1; seed <= 250; seed++) {
    const random = new SeededRandom(seed);
    const index = new SessionEntryIndex();
    const carried = new PathContext(index);
    for (let n = 0; n < 60; n++) {
      // Now and then a parent that only comes later, as in a file that was put together.
      const parentId = random.chance(4) ? `e${n + random.below(6)}` : random.chance(3) ? "gone" : index.leafId;
      index.replay(anyEntry(random, n, parentId), { line: n + 2, offset: 0, length: 0 });
      if (random.chance(25)) index.moveLeaf(random.chance(10) ? null : index.idAt(random.below(index.size)));
      if (random.chance(30)) continue;
      const [seen, expected]: [Told, Told] = [[], []];
      assert.deepEqual(
        carried.at(index.leafOrdinal, told(seen)),
        contextOfPath(index.path(index.leafId), told(expected)),
        `seed ${seed}, entry ${n}`,
      );
      assert.deepEqual(seen, expected);
    }
  }
});

test("[C5, Y13] the state and the latest messages of a path are those of its context, whatever was read before", () => {
  for (let seed = 1; seed <= 150; seed++) {
    const random = new SeededRandom(seed);
    const index = new SessionEntryIndex();
    const carried = new PathContext(index);
    for (let n = 0; n < 60; n++) {
      index.append(anyEntry(random, n, index.leafId));
      if (random.chance(25)) index.moveLeaf(random.chance(10) ? null : index.idAt(random.below(index.size)));
      const leaf = index.leafOrdinal;
      if (random.chance(10)) carried.at(leaf);
      const { messages, ...state } = contextOfPath(index.path(index.leafId));
      if (random.chance(50)) assert.deepEqual(carried.stateAt(leaf), state, `seed ${seed}, entry ${n}`);
      if (random.chance(50)) continue;
      const limit = 1 + random.below(12);
      const latest = carried.latest(leaf, limit);
      assert.deepEqual(latest.messages, messages.slice(-limit), `seed ${seed}, entry ${n}`);
      const unseen = messages.length - latest.messages.length;
      assert.ok(latest.earlier >= unseen && latest.earlier < unseen + index.size, `seed ${seed}, entry ${n}`);
      carried.at(leaf);
      assert.equal(carried.latest(leaf, limit).earlier, unseen, `seed ${seed}, entry ${n}`);
    }
  }
});

test("[C5] what a caller does to the messages it was given changes no later context", () => {
  const index = new SessionEntryIndex();
  const random = new SeededRandom(3);
  for (let n = 0; n < 40; n++) index.append(anyEntry(random, n, index.leafId));
  const carried = new PathContext(index);
  const first = carried.at(39);
  first.messages.length = 0;
  first.injectedTtsrRules.push("mine");
  assert.deepEqual(carried.at(39), contextOfPath(index.path("e39")));
});

interface Work {
  bodies: number;
  nodes: number;
}

/** A session read from bytes, with the questions to its index counted. */
function opened(
  shape: "linear" | "bushy" | "compact",
  entries: number,
): { index: SessionEntryIndex; work: Work; source: PathSource } {
  const reading = readSession(memorySource(bytesOf(file(...generateSession({ shape, entries })))));
  assert.equal(reading.kind, "session");
  const { index } = reading as Extract<typeof reading, { kind: "session" }>;
  const work = { bodies: 0, nodes: 0 };
  const source: PathSource = {
    get size() {
      return index.size;
    },
    at: (n) => (work.bodies++, index.at(n)),
    all: (ns, options) => ((work.bodies += ns.length), index.all(ns, options)),
    parentOrdinal: (n) => (work.nodes++, index.parentOrdinal(n)),
    kindAt: (n) => index.kindAt(n),
    roleAt: (n) => index.roleAt(n),
    ordinal: (id) => index.ordinal(id),
  };
  return { index, work, source };
}

test("[C5, Y1] the first context of a compacted session reads what was kept and what decides the state, at any size", () => {
  const bodies = [1500, 15_000].map((entries) => {
    const { index, work, source } = opened("compact", entries - 1);
    assert.deepEqual(new PathContext(source).at(index.leafOrdinal), contextOfPath(index.path(index.leafId)));
    return work.bodies;
  });
  assert.ok(Math.abs(bodies[0]! - bodies[1]!) < 100, `bodies ${bodies.join(", ")}`);
  assert.ok(bodies[1]! < 400, `bodies ${bodies.join(", ")}`);
});

test("[C5] one more entry reads that entry and visits two nodes, whatever the length of the path", () => {
  for (const entries of [1000, 10_000]) {
    const { index, work, source } = opened("linear", entries);
    const carried = new PathContext(source);
    const before = carried.at(index.leafOrdinal).messages.length;
    Object.assign(work, { bodies: 0, nodes: 0 });
    const message = { role: "user", content: "one more", timestamp: 0 };
    index.append({ type: "message", id: "more", parentId: index.leafId, timestamp: at(0), message } as SessionEntry);
    const context = carried.at(index.leafOrdinal);
    assert.deepEqual([context.messages.length, context.messages.at(-1)], [before + 1, message]);
    assert.deepEqual(work, { bodies: 1, nodes: 2 });
  }
});

test("[C5, Y13] the latest messages and the state are read without those before, at any size", () => {
  for (const entries of [1000, 10_000]) {
    const { index, work, source } = opened("linear", entries);
    const carried = new PathContext(source);
    const state = carried.stateAt(index.leafOrdinal);
    const { messages, earlier } = carried.latest(index.leafOrdinal, 100);
    assert.ok(work.bodies <= 130, `${work.bodies} bodies`);
    const whole = contextOfPath(index.path(index.leafId));
    assert.deepEqual(
      [{ ...state, messages }, earlier],
      [{ ...whole, messages: whole.messages.slice(-100) }, whole.messages.length - 100],
    );
  }
});

test("[C5, Y6] a jump reads and visits what the two paths differ in", () => {
  for (const entries of [1000, 10_000]) {
    const { index, work, source } = opened("linear", entries);
    const carried = new PathContext(source);
    carried.at(index.leafOrdinal);
    Object.assign(work, { bodies: 0, nodes: 0 });
    const back = index.size - 21;
    assert.deepEqual(carried.at(back), contextOfPath(index.path(index.idAt(back))));
    // The last of them that names a model or a level is looked for from there.
    assert.ok(work.bodies <= 12 && work.nodes <= 2, JSON.stringify(work));
    Object.assign(work, { bodies: 0, nodes: 0 });
    assert.deepEqual(carried.at(index.leafOrdinal), contextOfPath(index.path(index.leafId)));
    assert.ok(work.bodies <= 40 && work.nodes <= 22, JSON.stringify(work));
  }
});
