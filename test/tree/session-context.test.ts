/** [C1, C4, C6] What a path gives the model, and the state at its end. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { SessionEntry } from "../../src/tree/entries.ts";
import type { AgentMessage } from "../../src/tree/messages.ts";
import { buildSessionContext, contextOfPath, type SessionContext } from "../../src/tree/session-context.ts";
import { answer, chain, entry, hostile, ISO, messageEntry, result, TIME, user } from "./message-fixtures.ts";

const EMPTY: SessionContext = {
  messages: [],
  thinkingLevel: "off",
  model: null,
  serviceTier: undefined,
  mode: "none",
  modeData: undefined,
  injectedTtsrRules: [],
  mcpToolSelection: undefined,
};
const CLAUDE_MODEL = { provider: "anthropic", modelId: "claude-x" };
const u = (text: string) => ({ message: user(text) });
const a = (text: string) => ({ message: answer(text) });
const summary = (text: string, tokensBefore = 0): AgentMessage => ({
  role: "compactionSummary",
  summary: text,
  tokensBefore,
  timestamp: TIME,
});

/** Roles with their text, as one line each. */
function lines(context: SessionContext): string[] {
  return context.messages.map((message) => {
    const fields = message as unknown as { role: string; content?: string | { text: string }[]; summary?: string };
    const text = fields.summary ?? (typeof fields.content === "string" ? fields.content : fields.content?.[0]?.text);
    return `${fields.role} ${text}`;
  });
}
/** The context of a path, its lines and what it reports. */
function read(path: SessionEntry[]): { lines: string[]; problems: string[] } {
  const problems: string[] = [];
  const context = contextOfPath(path, ({ code, text }, { id }) => {
    assert.match(text, /^[A-Z].*\.$/);
    problems.push(`${id} ${code}`);
  });
  return { lines: lines(context), problems };
}

describe("path", () => {
  it("[C1] no entries, or a leaf before the first: no messages and the state of the start", () => {
    assert.deepEqual(buildSessionContext([]), EMPTY);
    assert.deepEqual(buildSessionContext([], "nowhere"), EMPTY);
    assert.deepEqual(buildSessionContext(chain(["u1", "message", u("hi")]), null), EMPTY);
  });

  it("[C1] messages come as they are stored, in order", () => {
    const entries = chain(
      ["u1", "message", u("a")],
      ["a1", "message", a("b")],
      ["u2", "message", u("c")],
      ["a2", "message", a("d")],
    );
    assert.deepEqual(buildSessionContext(entries), {
      ...EMPTY,
      messages: [user("a"), answer("b"), user("c"), answer("d")],
      model: CLAUDE_MODEL,
    });
  });

  const tree = [
    ...chain(["u1", "message", u("root")], ["a1", "message", a("answer")]),
    messageEntry("left", "a1", user("left")),
    messageEntry("right", "a1", user("right")),
    messageEntry("right2", "right", answer("end")),
  ];
  it("[C1] the leaf chooses the branch; unknown or left out, it is the last entry", () => {
    assert.deepEqual(lines(buildSessionContext(tree, "left")), ["user root", "assistant answer", "user left"]);
    const right = ["user root", "assistant answer", "user right", "assistant end"];
    assert.deepEqual(lines(buildSessionContext(tree, "right2")), right);
    assert.deepEqual(lines(buildSessionContext(tree, "nowhere")), right);
    assert.deepEqual(lines(buildSessionContext(tree)), right);
  });

  it("[C1, T4] a missing parent starts the path", () => {
    const entries = [messageEntry("u1", null, user("a")), messageEntry("u2", "gone", user("b"))];
    assert.deepEqual(lines(buildSessionContext(entries)), ["user b"]);
  });

  it("[C1, T5] dB19 a parent cycle ends at the entry that closes it, each entry once", () => {
    const ring = [
      messageEntry("a", "c", user("a")),
      messageEntry("b", "a", user("b")),
      messageEntry("c", "b", user("c")),
      messageEntry("d", "b", user("d")),
      messageEntry("self", "self", user("self")),
    ];
    assert.deepEqual(lines(buildSessionContext(ring, "d")), ["user c", "user a", "user b", "user d"]);
    assert.deepEqual(lines(buildSessionContext(ring, "c")), ["user c"]);
    assert.deepEqual(lines(buildSessionContext(ring, "self")), ["user self"]);
  });

  it("[C1, F5] an id like __proto__ is plain data, and the first of two equal ids counts", () => {
    const entries = [
      messageEntry("__proto__", null, user("a")),
      messageEntry("constructor", "__proto__", user("b")),
      messageEntry("constructor", null, user("c")),
      messageEntry("z", "constructor", user("d")),
    ];
    assert.deepEqual(lines(buildSessionContext(entries)), ["user a", "user b", "user d"]);
  });

  it("[C1] dB23 a straight chain of 100,000 entries with a compaction", () => {
    const entries = Array.from({ length: 100_000 }, (_, n) =>
      messageEntry(`e${n}`, n === 0 ? null : `e${n - 1}`, user(String(n))),
    );
    entries.push(entry("c", "e99999", "compaction", { summary: "S", firstKeptEntryId: "e99998" }));
    assert.deepEqual(lines(buildSessionContext(entries)), ["compactionSummary S", "user 99998", "user 99999"]);
  });
});

describe("state", () => {
  it("[C1] thinking level, tier, mode, rules and tool selection of the path, none of them a message", () => {
    const path = chain(
      ["e1", "thinking_level_change", { thinkingLevel: "high" }],
      ["e2", "service_tier_change", { serviceTier: { openai: "flex" } }],
      ["e3", "mode_change", { mode: "plan", data: { file: "p.md" } }],
      ["e4", "ttsr_injection", { injectedRules: ["r1", "r2"] }],
      ["e5", "ttsr_injection", { injectedRules: ["r2", "r3"] }],
      ["e6", "mcp_tool_selection", { selectedToolNames: ["a"] }],
      ["e7", "mcp_tool_selection", { selectedToolNames: ["b", "c"] }],
      ["e8", "model_change", { provider: "p", modelId: "m/1" }],
    );
    assert.deepEqual(contextOfPath(path), {
      messages: [],
      thinkingLevel: "high",
      model: { provider: "p", modelId: "m/1" },
      serviceTier: { openai: "flex" },
      mode: "plan",
      modeData: { file: "p.md" },
      injectedTtsrRules: ["r1", "r2", "r3"],
      mcpToolSelection: ["b", "c"],
    });
    const left = chain(
      ["e1", "thinking_level_change", { thinkingLevel: "high" }],
      ["e2", "service_tier_change", { serviceTier: { openai: "flex" } }],
      ["e3", "mode_change", { mode: "plan", data: { file: "p.md" } }],
      ["e4", "thinking_level_change", { thinkingLevel: null }],
      ["e5", "service_tier_change", { serviceTier: null }],
      ["e6", "mode_change", { mode: "none" }],
    );
    assert.deepEqual(contextOfPath(left), EMPTY);
  });

  it("[C1] the model is the newest of model_change and answer", () => {
    const change = ["m1", "model_change", { model: "openai/gpt/x" }] as const;
    const modelAfter = (...path: SessionEntry[]) => contextOfPath(path).model;
    assert.deepEqual(modelAfter(...chain(["a1", "message", a("x")], [...change])), {
      provider: "openai",
      modelId: "gpt/x",
    });
    assert.deepEqual(modelAfter(...chain([...change], ["a1", "message", a("x")])), CLAUDE_MODEL);
    assert.deepEqual(
      modelAfter(...chain(["a1", "message", a("x")], ["m1", "model_change", { model: "p/m", role: "smol" }])),
      CLAUDE_MODEL,
    );
    assert.deepEqual(modelAfter(...chain(["a1", "message", a("x")], ["u1", "message", u("y")])), CLAUDE_MODEL);
  });

  it("[C1, F3] omp's older service tiers name the providers they are for", () => {
    const tierOf = (serviceTier: unknown) =>
      contextOfPath(chain(["e1", "service_tier_change", { serviceTier }])).serviceTier;
    assert.deepEqual(tierOf("flex"), { openai: "flex", anthropic: "flex", google: "flex" });
    assert.deepEqual(tierOf("openai-only"), { openai: "priority" });
    assert.deepEqual(tierOf("claude-only"), { anthropic: "priority" });
    assert.deepEqual(tierOf({ openai: "flex", google: 3 }), { openai: "flex" });
    assert.equal(tierOf(7), undefined);
  });

  it("[C1] state before a compaction or a reset still holds after it", () => {
    const path = chain(
      ["e1", "thinking_level_change", { thinkingLevel: "low" }],
      ["u1", "message", u("a")],
      ["r1", "reset_boundary"],
      ["u2", "message", u("b")],
      ["c1", "compaction", { summary: "S", firstKeptEntryId: "c1" }],
    );
    assert.deepEqual(contextOfPath(path), { ...EMPTY, messages: [summary("S")], thinkingLevel: "low" });
  });
});

describe("what entries become", () => {
  it("[C1] dB46 a branch summary stands at its place; whatever its fromId says, it is no parent", () => {
    const entries = [
      ...chain(["u1", "message", u("a")], ["a1", "message", a("b")]),
      messageEntry("old", "a1", user("left behind")),
      entry("s1", "a1", "branch_summary", { summary: "tried", fromId: "old" }),
      messageEntry("u2", "s1", user("c")),
    ];
    assert.deepEqual(buildSessionContext(entries).messages, [
      user("a"),
      answer("b"),
      { role: "branchSummary", summary: "tried", fromId: "old", timestamp: TIME },
      user("c"),
    ]);
    const root = chain(["s1", "branch_summary", { summary: "tried", fromId: "root" }]);
    assert.deepEqual(lines(contextOfPath(root)), ["branchSummary tried"]);
    assert.deepEqual(lines(contextOfPath(chain(["s1", "branch_summary", { summary: "", fromId: "u1" }]))), []);
  });

  it("[C1] a custom message becomes role custom, hidden ones too", () => {
    const path = chain(
      ["x1", "custom_message", { customType: "todo", content: "one", display: false, details: { n: 1 } }],
      ["x2", "custom_message", { customType: "todo", content: [{ type: "text", text: "two" }], display: true }],
    );
    assert.deepEqual(contextOfPath(path).messages, [
      { role: "custom", customType: "todo", content: "one", display: false, details: { n: 1 }, timestamp: TIME },
      { role: "custom", customType: "todo", content: [{ type: "text", text: "two" }], display: true, timestamp: TIME },
    ]);
  });

  it("[C1, T8] all other kinds, and kinds nobody knows, add nothing", () => {
    const path = chain(
      ["e1", "custom", { customType: "state", data: { role: "user", content: "x" } }],
      ["e2", "label", { targetId: "e1", label: "here" }],
      ["e3", "session_info", { name: "n", source: "user" }],
      ["e4", "title_change", { title: "t", source: "auto" }],
      ["e5", "session_init", { systemPrompt: "p", task: "t", tools: [] }],
      ["e6", "usage", { kind: "k", provider: "p", model: "m", usage: {} }],
      ["e7", "model_usage", { purpose: "k", provider: "p", model: "m", usage: {} }],
      ["e8", "credential_pin", { provider: "p", hash: "h" }],
      ["e9", "future_thing", { message: user("x") }],
      ["e10", "__proto__", { message: user("x") }],
      ["e11", "toString"],
    );
    assert.deepEqual(contextOfPath(path), EMPTY);
  });

  it("[C1, F3] roles of pi and omp come through as they are stored", () => {
    const stored: AgentMessage[] = [
      hostile({ role: "developer", content: "x", attribution: "agent", timestamp: 1 }),
      hostile({ role: "pythonExecution", code: "1", output: "1", cancelled: false, timestamp: 1 }),
      hostile({ role: "fileMention", files: [], timestamp: 1 }),
      hostile({ role: "hookMessage", customType: "t", content: "x", display: true, timestamp: 1 }),
      { role: "system", content: "prompt", timestamp: 1 },
      hostile({ role: "future", content: 4 }),
    ];
    const path = stored.map((message, n) => messageEntry(`e${n}`, null, message));
    const { messages } = contextOfPath(path);
    messages.forEach((message, n) => assert.equal(message, stored[n]));
    assert.equal(messages.length, stored.length);
  });

  it("[C1] dB42 content that is null, missing or of a wrong type becomes the content its role has", () => {
    const contentOf = (role: string, content: unknown) => {
      const [message] = contextOfPath([messageEntry("e", null, hostile({ ...result("c"), role, content }))]).messages;
      return (message as unknown as { content: unknown }).content;
    };
    for (const content of [null, undefined, 4, { text: "x" }]) {
      assert.equal(contentOf("system", content), "");
      for (const role of ["user", "assistant", "toolResult", "custom", "developer"])
        assert.deepEqual(contentOf(role, content), []);
    }
    assert.deepEqual(contentOf("assistant", "x"), [{ type: "text", text: "x" }]);
    assert.deepEqual(contentOf("toolResult", "x"), [{ type: "text", text: "x" }]);
    assert.equal(contentOf("user", "x"), "x");
  });

  it("[C1, F7] entries with wrong fields change nothing and never throw", () => {
    const wrong: unknown[] = [null, 7, "x", [], [null, 7, "x"], {}, { content: 3 }, JSON.parse('{"__proto__":1}')];
    const fields = [
      "message",
      "summary",
      "firstKeptEntryId",
      "tokensBefore",
      "fromId",
      "customType",
      "content",
      "display",
      "targetId",
      "label",
      "provider",
      "modelId",
      "model",
      "role",
      "thinkingLevel",
      "serviceTier",
      "mode",
      "data",
      "selectedToolNames",
      "injectedRules",
      "replacement",
      "systemMessage",
      "timestamp",
    ];
    const types = [
      "message",
      "compaction",
      "branch_summary",
      "custom_message",
      "label",
      "model_change",
      "thinking_level_change",
    ];
    types.push(
      "service_tier_change",
      "mode_change",
      "mcp_tool_selection",
      "ttsr_injection",
      "context_edit",
      "reset_boundary",
    );
    const path: SessionEntry[] = [messageEntry("first", null, user("kept"))];
    for (const type of types.filter((kind) => kind !== "reset_boundary"))
      for (const value of wrong)
        path.push(entry("e", "first", type, Object.fromEntries(fields.map((field) => [field, value]))));
    const context = contextOfPath(path);
    assert.equal(context.model, null);
    assert.ok(context.injectedTtsrRules.every((rule) => typeof rule === "string"));
    assert.ok(context.mcpToolSelection?.every((name) => typeof name === "string"));
    for (const type of types) assert.doesNotThrow(() => contextOfPath([entry("e", null, type)]));
    const roles = [null, 7, [], {}].map((role) => messageEntry("e", null, hostile({ role })));
    assert.deepEqual(contextOfPath(roles), EMPTY);
  });
});

describe("compaction", () => {
  const before = chain(
    ["u1", "message", u("1")],
    ["a1", "message", a("2")],
    ["u2", "message", u("3")],
    ["a2", "message", a("4")],
  );
  const compaction = (fields: object) => entry("c1", "a2", "compaction", { summary: "S", tokensBefore: 50, ...fields });
  const after = [messageEntry("u3", "c1", user("5")), messageEntry("a3", "u3", answer("6"))];

  it("[C1] its summary, then what it kept, then the rest", () => {
    assert.deepEqual(buildSessionContext([...before, compaction({ firstKeptEntryId: "u2" }), ...after]), {
      ...EMPTY,
      messages: [summary("S", 50), user("3"), answer("4"), user("5"), answer("6")],
      model: CLAUDE_MODEL,
    });
  });

  it("[C1] one that kept all of it", () => {
    const path = [...before, compaction({ firstKeptEntryId: "u1" })];
    assert.deepEqual(read(path), {
      lines: ["compactionSummary S", "user 1", "assistant 2", "user 3", "assistant 4"],
      problems: [],
    });
  });

  it("[C1] dB38 of two only the latest counts, also inside what it keeps", () => {
    const path = [
      ...before,
      compaction({ firstKeptEntryId: "u2" }),
      ...after,
      entry("c2", "a3", "compaction", { summary: "T", firstKeptEntryId: "a2" }),
      messageEntry("u4", "c2", user("7")),
    ];
    assert.deepEqual(read(path), {
      lines: ["compactionSummary T", "assistant 4", "user 5", "assistant 6", "user 7"],
      problems: [],
    });
  });

  it("[C1] dB36 a jump between two compactions has the whole text of the first", () => {
    const entries = [
      ...before,
      compaction({ firstKeptEntryId: "u2" }),
      ...after,
      entry("c2", "a3", "compaction", { summary: "T", firstKeptEntryId: "u3" }),
    ];
    const copy = structuredClone(entries);
    buildSessionContext(entries);
    assert.deepEqual(lines(buildSessionContext(entries, "u3")), [
      "compactionSummary S",
      "user 3",
      "assistant 4",
      "user 5",
    ]);
    assert.deepEqual(entries, copy);
  });

  it("[C4] a pointer to nowhere: the summary and what follows, and a problem", () => {
    const rest = ["compactionSummary S", "user 5", "assistant 6"];
    for (const firstKeptEntryId of ["nowhere", "a3", "side", undefined, null, 7, ""])
      assert.deepEqual(read([...before, compaction({ firstKeptEntryId }), ...after]), {
        lines: rest,
        problems: ["c1 bad-pointer"],
      });
  });

  it("[C4, F3] pi's compaction that keeps nothing names itself, and that is no problem", () => {
    const path = [...before, compaction({ firstKeptEntryId: "c1" }), ...after];
    assert.deepEqual(read(path), { lines: ["compactionSummary S", "user 5", "assistant 6"], problems: [] });
  });

  it("[C1] one without a summary text is no compaction", () => {
    const path = [...before, compaction({ summary: 7, firstKeptEntryId: "a2" }), ...after];
    assert.deepEqual(read(path).lines.length, 6);
  });

  it("[C4] dB44 in a branched file the pointer names the entry of that file, and the kept tail is the same", () => {
    const path = [...before, compaction({ firstKeptEntryId: "u2" }), ...after];
    const renamed = path.map((one) => ({
      ...one,
      id: `new-${one.id}`,
      parentId: one.parentId === null ? null : `new-${one.parentId}`,
      ...("firstKeptEntryId" in one ? { firstKeptEntryId: `new-${one.firstKeptEntryId}` } : {}),
    })) as SessionEntry[];
    assert.deepEqual(buildSessionContext(renamed), buildSessionContext(path));
  });

  it("[C6, F3] pi's checkpoint of the system prompt stands first and replaces the system messages kept", () => {
    const prompt: AgentMessage = { role: "system", content: "now", timestamp: 1 };
    const old = (id: string, parentId: string | null) =>
      messageEntry(id, parentId, { role: "system", content: "old", timestamp: 1 });
    const path = [
      old("s0", null),
      messageEntry("u1", "s0", user("1")),
      old("s1", "u1"),
      messageEntry("u2", "s1", user("2")),
    ];
    path.push(
      entry("c1", "u2", "compaction", { summary: "S", firstKeptEntryId: "u1", systemMessage: prompt }),
      old("s2", "c1"),
    );
    assert.deepEqual(read(path).lines, ["system now", "compactionSummary S", "user 1", "user 2", "system old"]);
  });
});

describe("reset_boundary and context_edit", () => {
  const path = (...more: SessionEntry[]) => [
    ...chain(
      ["u1", "message", u("1")],
      ["a1", "message", a("2")],
      ["u2", "message", u("3")],
      ["a2", "message", a("4")],
    ),
    ...more,
  ];
  const edit = (targetId: unknown, replacement: unknown) => entry("x", "a2", "context_edit", { targetId, replacement });

  it("[C6] after omp's reset only what follows it is sent", () => {
    const reset = entry("r1", "a2", "reset_boundary");
    assert.deepEqual(read(path(reset)), { lines: [], problems: [] });
    assert.deepEqual(read(path(reset, messageEntry("u3", "r1", user("5")))).lines, ["user 5"]);
  });

  it("[C6] a reset after a compaction cuts its summary, too", () => {
    const compaction = entry("c1", "a2", "compaction", { summary: "S", firstKeptEntryId: "u2" });
    const more = [
      compaction,
      messageEntry("u3", "c1", user("5")),
      entry("r1", "u3", "reset_boundary"),
      messageEntry("u4", "r1", user("6")),
    ];
    assert.deepEqual(read(path(...more)), { lines: ["user 6"], problems: [] });
  });

  it("[C6] a compaction after a reset never brings back what was cleared", () => {
    const more = [
      entry("r1", "a2", "reset_boundary"),
      messageEntry("u3", "r1", user("5")),
      entry("c1", "u3", "compaction", { summary: "S", firstKeptEntryId: "u2" }),
      messageEntry("u4", "c1", user("6")),
    ];
    assert.deepEqual(read(path(...more)), { lines: ["compactionSummary S", "user 5", "user 6"], problems: [] });
  });

  it("[C6] pi's edit replaces a message or leaves it out; the latest counts", () => {
    assert.deepEqual(read(path(edit("u2", null))).lines, ["user 1", "assistant 2", "assistant 4"]);
    assert.deepEqual(read(path(edit("u2", null), edit("u2", { content: "new" }))).lines, [
      "user 1",
      "assistant 2",
      "user new",
      "assistant 4",
    ]);
    const { messages } = contextOfPath(
      path(edit("a1", { content: "short" }), edit("u1", { content: [{ type: "text", text: "b" }] })),
    );
    assert.deepEqual(messages.slice(0, 2), [user([{ type: "text", text: "b" }]), answer("short")]);
  });

  it("[C6] an edit reaches results and custom messages, but neither summaries nor other roles", () => {
    const more = [
      messageEntry("t1", "a2", result("c1")),
      entry("m1", "t1", "custom_message", { customType: "t", content: "x", display: true }),
      entry("s1", "m1", "branch_summary", { summary: "S", fromId: "u1" }),
      messageEntry("b1", "s1", {
        role: "bashExecution",
        command: "ls",
        output: "o",
        cancelled: false,
        truncated: false,
        timestamp: 1,
      }),
    ];
    const edits = ["t1", "m1", "s1", "b1"].map((id) => edit(id, { content: "new" }));
    assert.deepEqual(contextOfPath(path(...more, ...edits)).messages.slice(4), [
      result("c1", "new"),
      { role: "custom", customType: "t", content: "new", display: true, timestamp: TIME },
      { role: "branchSummary", summary: "S", fromId: "u1", timestamp: TIME },
      (more[3] as { message?: unknown }).message,
    ]);
  });

  it("[C6] an edit that says nothing usable, or names nothing here, hides nothing", () => {
    const all = ["user 1", "assistant 2", "user 3", "assistant 4"];
    for (const replacement of [undefined, 7, "x", [], {}, { content: null }, { content: 4 }])
      assert.deepEqual(read(path(edit("u2", replacement))).lines, all);
    assert.deepEqual(read(path(edit("nowhere", null), edit(7, null), edit("__proto__", null))).lines, all);
  });

  it("[C6] edits of what a compaction keeps hold after it", () => {
    const more = [
      edit("u2", { content: "new" }),
      entry("c1", "x", "compaction", { summary: "S", firstKeptEntryId: "u2" }),
    ];
    assert.deepEqual(read(path(...more)).lines, ["compactionSummary S", "user new", "assistant 4"]);
  });
});

it("[C1] an unreadable timestamp gives a message time 0", () => {
  const path = [
    { ...entry("c", null, "custom_message", { customType: "t", content: "x", display: true }), timestamp: "never" },
  ];
  assert.equal(contextOfPath(path as SessionEntry[]).messages[0]!.timestamp, 0);
  assert.equal(new Date(TIME).toISOString(), ISO);
});
