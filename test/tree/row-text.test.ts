import assert from "node:assert/strict";
import { test } from "node:test";
import type { EntryType } from "../../src/tree/entries.ts";
import { oneLine, startOfText } from "../../src/tree/one-line.ts";
import { drawnLine, lineParts, numberedLine, plainText } from "../../src/tree/outline-lines.ts";
import { Outline, type TextPart } from "../../src/tree/outline.ts";
import { CountedIndex, sketch, type LooseEntry } from "./outline-source.ts";

const HOME = "/home/ada";
/** The text of the last of some entries that follow each other. */
function lastRow(...entries: Omit<LooseEntry, "id" | "parentId">[]): TextPart[] {
  const chain = entries.map((entry, i): LooseEntry => ({
    ...entry,
    id: `e${i}`,
    parentId: i === 0 ? null : `e${i - 1}`,
  }));
  const outline = new Outline(new CountedIndex(chain), { filter: "all", home: HOME });
  return outline.rows(outline.rowCount - 1, 1)[0]!.text;
}
const messageRow = (message: unknown): TextPart[] => lastRow({ message });
const says = (text: string): object[] => [{ type: "text", text }];

test("[U1, F2] the row of every kind of entry", () => {
  const rows: { readonly [T in EntryType]: readonly [fields: object, row: TextPart[]] } = {
    message: [{ message: { role: "user", content: "hi" } }, [{ text: "user: ", token: "accent" }, { text: "hi" }]],
    compaction: [{ summary: "s", tokensBefore: 12_500 }, [{ text: "[compaction: 13k tokens]", token: "borderAccent" }]],
    branch_summary: [
      { summary: "Tried\nit", fromId: "root" },
      [{ text: "[branch summary]: ", token: "warning" }, { text: "Tried it" }],
    ],
    custom: [{ customType: "todo", data: { a: 1 } }, [{ text: "[custom: todo]", token: "dim" }]],
    custom_message: [
      { customType: "note", content: says("milk"), display: false },
      [{ text: "[note]: ", token: "customMessageLabel" }, { text: "milk" }],
    ],
    label: [{ targetId: "e0", label: "start" }, [{ text: "[label: start]", token: "dim" }]],
    model_change: [{ provider: "p", modelId: "m-1", model: "p/m-1" }, [{ text: "[model: m-1]", token: "dim" }]],
    thinking_level_change: [{ thinkingLevel: "high" }, [{ text: "[thinking: high]", token: "dim" }]],
    service_tier_change: [
      { serviceTier: { openai: "flex", google: "auto" } },
      [{ text: "[service tier: openai:flex google:auto]", token: "dim" }],
    ],
    mode_change: [{ mode: "plan" }, [{ text: "[mode: plan]", token: "dim" }]],
    mcp_tool_selection: [{ selectedToolNames: ["a", "b"] }, [{ text: "[mcp tools: a, b]", token: "dim" }]],
    ttsr_injection: [{ injectedRules: ["no-any"] }, [{ text: "[rules told: no-any]", token: "dim" }]],
    session_init: [{ task: "Look around", tools: [] }, [{ text: "[session init: Look around]", token: "dim" }]],
    session_info: [{ name: "Login" }, [{ text: "[title: Login]", token: "dim" }]],
    title_change: [{ title: "Login", source: "user" }, [{ text: "[title: Login]", token: "dim" }]],
    usage: [{ kind: "cache_warm", usage: {} }, [{ text: "[usage: cache_warm]", token: "dim" }]],
    model_usage: [{ purpose: "title", usage: {} }, [{ text: "[model usage: title]", token: "dim" }]],
    context_edit: [{ targetId: "e0", replacement: null }, [{ text: "[context omit: e0]", token: "dim" }]],
    reset_boundary: [{}, [{ text: "[reset boundary]", token: "dim" }]],
    credential_pin: [{ provider: "openai", hash: "x" }, [{ text: "[credential pin: openai]", token: "dim" }]],
  };
  for (const [type, [fields, row]] of Object.entries(rows)) assert.deepEqual(lastRow({ ...fields, type }), row, type);
});

test("[U1] rows of entries whose fields say nothing or something else", () => {
  const text = (entry: Omit<LooseEntry, "id" | "parentId">): string => plainText(lastRow(entry));
  assert.equal(text({ type: "compaction", tokensBefore: "many" }), "[compaction]");
  assert.equal(text({ type: "label", targetId: "e0" }), "[label: (cleared)]");
  assert.equal(text({ type: "model_change", model: "openai/gpt-5/x" }), "[model: gpt-5/x]");
  assert.equal(text({ type: "model_change" }), "[model: (none)]");
  assert.equal(text({ type: "thinking_level_change", thinkingLevel: null }), "[thinking: off]");
  assert.equal(text({ type: "service_tier_change", serviceTier: null }), "[service tier: (default)]");
  assert.equal(text({ type: "service_tier_change", serviceTier: {} }), "[service tier: (default)]");
  assert.equal(text({ type: "service_tier_change", serviceTier: "flex" }), "[service tier: flex]");
  assert.equal(text({ type: "mcp_tool_selection", selectedToolNames: [] }), "[mcp tools: (none)]");
  assert.equal(text({ type: "session_info", name: "" }), "[title: (cleared)]");
  assert.equal(text({ type: "context_edit", targetId: "e0", replacement: { content: "x" } }), "[context replace: e0]");
  assert.equal(text({ type: "kind_of-tomorrow" }), "[kind of tomorrow]");
  assert.equal(text({ type: "__proto__" }), "[ proto ]");
  assert.equal(text({ type: "constructor" }), "[constructor]");
});

test("[U1] the row of a message of every role", () => {
  const dim = (text: string): TextPart[] => [{ text, token: "dim" }];
  assert.deepEqual(messageRow({ role: "user", content: [...says("one"), { type: "image" }, ...says("two")] }), [
    { text: "user: ", token: "accent" },
    { text: "one two" },
  ]);
  assert.deepEqual(messageRow({ role: "user", content: [{ type: "image", data: "", mimeType: "image/png" }] }), [
    { text: "user: ", token: "accent" },
    { text: "(image)", token: "muted" },
  ]);
  assert.deepEqual(messageRow({ role: "bashExecution", command: "ls\n-l", output: "" }), dim("[bash]: ls -l"));
  assert.deepEqual(messageRow({ role: "pythonExecution", code: "1+1" }), dim("[python]: 1+1"));
  for (const role of [
    "fileMention",
    "system",
    "developer",
    "branchSummary",
    "compactionSummary",
    "role_x",
    "__proto__",
  ])
    assert.deepEqual(messageRow({ role, content: "text" }), dim(`[${role}]`));
  for (const role of ["custom", "hookMessage"])
    assert.deepEqual(messageRow({ role, customType: "note", content: "milk", display: true }), [
      { text: "[note]: ", token: "customMessageLabel" },
      { text: "milk" },
    ]);
});

test("[U1] an answer shows its words, else why there are none", () => {
  const answer = (fields: object): TextPart | undefined => messageRow({ role: "assistant", ...fields })[1];
  assert.deepEqual(messageRow({ role: "assistant", content: says("done") }), [
    { text: "assistant: ", token: "success" },
    { text: "done" },
  ]);
  assert.deepEqual(answer({ content: says("half"), stopReason: "aborted" }), { text: "half" });
  assert.deepEqual(answer({ content: [], stopReason: "aborted", errorMessage: "x" }), {
    text: "(aborted)",
    token: "muted",
  });
  assert.deepEqual(answer({ content: [], stopReason: "error", errorMessage: `429 ${"x".repeat(100)}` }), {
    text: `429 ${"x".repeat(76)}`,
    token: "error",
  });
  assert.deepEqual(answer({ content: [] }), { text: "(no content)", token: "muted" });
});

/** The row of the result of a call. */
function callRow(name: unknown, args: unknown): string {
  const content = [{ type: "toolCall", id: "c1", name, arguments: args }];
  const row = lastRow(
    { message: { role: "assistant", content } },
    { message: { role: "toolResult", toolCallId: "c1", toolName: "tool name", content: says("output") } },
  );
  assert.deepEqual(
    row.map(({ token }) => token),
    ["muted"],
  );
  return plainText(row);
}

test("[U1] a tool result shows the call it answers", () => {
  assert.equal(callRow("read", { path: `${HOME}/a.ts` }), "[read: ~/a.ts]");
  assert.equal(callRow("read", { path: "a.ts", offset: 10, limit: 20 }), "[read: a.ts:10-29]");
  assert.equal(callRow("read", { path: "a.ts", limit: 20 }), "[read: a.ts:1-20]");
  assert.equal(callRow("read", { file_path: "a.ts", offset: 10 }), "[read: a.ts:10]");
  assert.equal(callRow("write", { path: "a.ts", content: "x" }), "[write: a.ts]");
  assert.equal(callRow("edit", { path: `${HOME}stead/a.ts` }), `[edit: ${HOME}stead/a.ts]`);
  assert.equal(callRow("ls", { path: HOME }), "[ls: ~]");
  assert.equal(callRow("ls", {}), "[ls: .]");
  assert.equal(callRow("bash", { command: "make\ntest" }), "[bash: make test]");
  assert.equal(callRow("bash", { command: "y".repeat(50) }), `[bash: ${"y".repeat(50)}]`);
  assert.equal(callRow("bash", { command: "y".repeat(51) }), `[bash: ${"y".repeat(50)}...]`);
  assert.equal(callRow("grep", { pattern: "a.b", path: "src" }), "[grep: /a.b/ in src]");
  assert.equal(callRow("grep", { pattern: "a.b" }), "[grep: /a.b/ in .]");
  assert.equal(callRow("find", { pattern: "*.ts" }), "[find: *.ts in .]");
});

test("[U1] of a call of any other tool the row shows what it is about, never JSON", () => {
  assert.equal(callRow("fetch", { url: "x" }), "[fetch: x]");
  assert.equal(callRow("fetch", { url: "x".repeat(99) }), `[fetch: ${"x".repeat(50)}...]`);
  assert.equal(callRow("search", { limit: 3, path: "src", query: "one\ntwo" }), "[search: one two]");
  assert.equal(callRow("open", { query: " ", file: `${HOME}/a.ts` }), "[open: ~/a.ts]");
  assert.equal(callRow("mark", { at: 3, colour: "red", kind: "dot" }), "[mark: red]");
  assert.equal(callRow("resize", { width: 3, keep: true, box: [1, 2] }), "[resize: width 3, keep true]");
  assert.equal(callRow("nest", { filter: { all: [1] } }), "[nest]");
});

test("[U1] dB42 calls whose arguments are null, text, a list or missing", () => {
  assert.equal(callRow("read", null), "[read]");
  assert.equal(callRow("read", "a.ts"), "[read: a.ts]");
  assert.equal(callRow("bash", ["ls"]), "[bash: ls]");
  assert.equal(callRow("bash", undefined), "[bash]");
  assert.equal(callRow("bash", { command: { nested: true } }), "[bash]");
  assert.equal(callRow("read", { path: 7, offset: "3" }), "[read]");
  assert.equal(callRow("grep", { pattern: null, path: null }), "[grep: // in .]");
  assert.equal(callRow(undefined, {}), "[tool]");
  const deep = JSON.parse("[".repeat(100_000) + "]".repeat(100_000));
  assert.equal(callRow("fetch", deep), "[fetch]");
});

test("[U1] dB34 names and ids that are names of Object are plain data", () => {
  assert.equal(callRow("__proto__", JSON.parse('{"__proto__":{"polluted":1}}')), "[__proto__]");
  assert.equal(callRow("__proto__", JSON.parse('{"__proto__":1}')), "[__proto__: __proto__ 1]");
  assert.equal(callRow("constructor", {}), "[constructor]");
  assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  const source = new CountedIndex([
    { id: "__proto__", parentId: null, message: { role: "user", content: "one" } },
    { id: "constructor", parentId: "__proto__", message: { role: "user", content: "two" } },
    { type: "label", id: "toString", parentId: "constructor", targetId: "__proto__", label: "__proto__" },
  ]);
  const rows = new Outline(source, { filter: "all", selectedId: "toString" }).rows(0, 9);
  assert.deepEqual(rows.map(drawnLine), ["  • [__proto__] user: one", "› • user: two", "  • [label: __proto__]"]);
});

test("[U1] a result without its call shows the tool's name", () => {
  const result = (fields: object): string => plainText(messageRow({ role: "toolResult", content: [], ...fields }));
  assert.equal(result({ toolCallId: "c1", toolName: "read" }), "[read]");
  assert.equal(result({ toolCallId: null, toolName: "" }), "[tool]");
  assert.equal(result({}), "[tool]");
});

test("[U1] results find their call on their own branch, across other results, where ids are used again", () => {
  const call = (id: string, path: string): object => ({ type: "toolCall", id, name: "read", arguments: { path } });
  const assistant = (...content: object[]): object => ({ role: "assistant", content, stopReason: "toolUse" });
  const result = (toolCallId: string): object => ({ role: "toolResult", toolCallId, toolName: "read", content: [] });
  const source = new CountedIndex([
    { id: "u1", parentId: null, message: { role: "user", content: "go" } },
    { id: "a1", parentId: "u1", message: assistant(call("call_0", "one"), call("call_1", "two")) },
    { id: "t1", parentId: "a1", message: result("call_1") },
    { id: "x1", parentId: "t1", type: "custom", customType: "state" },
    { id: "t2", parentId: "x1", message: result("call_0") },
    { id: "a2", parentId: "t2", message: assistant(call("call_0", "three")) },
    { id: "t3", parentId: "a2", message: result("call_0") },
    { id: "t4", parentId: "t3", message: result("call_1") },
    { id: "a3", parentId: "u1", message: assistant(call("call_0", "other branch")) },
    { id: "t5", parentId: "a3", message: result("call_0") },
    { id: "t6", parentId: "t5", message: result("call_1") },
  ]);
  const rows = new Outline(source, { query: "read" }).rows(0, 99);
  const shown = rows.map((row): [string, string] => [row.entry.id, plainText(row.text)]);
  assert.deepEqual(Object.fromEntries(shown), {
    t1: "[read: two]",
    t2: "[read: one]",
    t3: "[read: three]",
    t4: "[read: two]",
    t5: "[read: other branch]",
    t6: "[read]",
  });
});

test("[U1] a row is one line of at most 200 whole characters", () => {
  assert.equal(oneLine("  \n\ta\tb\r\nc\u2028d  "), "a b  c d");
  assert.equal(oneLine(`${" ".repeat(5000)}${"x".repeat(300)}`), "x".repeat(200));
  assert.equal(oneLine(`${"x".repeat(199)}😀`), "x".repeat(199));
  assert.equal(oneLine(`${"x".repeat(198)}😀`), `${"x".repeat(198)}😀`);
  assert.equal(oneLine("a\ud800b\udc00"), "a\ufffdb\ufffd");
  assert.equal(oneLine("\u0000\u001b \u009b"), "");
  assert.deepEqual(
    [null, undefined, 7, {}, ["a"]].map((value) => oneLine(value)),
    ["", "", "", "", ""],
  );
  assert.equal(startOfText(Array.from({ length: 300 }, () => says("y")[0])), `${"y ".repeat(99)}y`);
  assert.equal(startOfText([null, 3, "x", { type: "text" }, { type: "text", text: "ok" }]), "ok");
  assert.equal(startOfText({ type: "text", text: "not a list" }), "");
});

test("[U1] a row shows text without the marks of Markdown, and of a block of code its first line", () => {
  const cases: [text: string, shown: string][] = [
    ["## What I found\n\nThe **cache** is stale.", "What I found The cache is stale."],
    ["- one\n- `two()`\n* three\n1. four", "one two() three 1. four"],
    ["> quoted\n>> # twice", "quoted twice"],
    ["Do this:\n```ts\n\n  const a = 1;\nconst b = 2;\n```\nand go on", "Do this: const a = 1; and go on"],
    ["~~~\n# not a heading\n~~~", "# not a heading"],
    ["above\n---\nbelow\n***", "above below"],
    ["Title\n=====\n| a | b |\n|:--|--:|\n| 1 | 2 |", "Title | a | b | | 1 | 2 |"],
    ["**`npm test`** passes **all 42**", "npm test passes all 42"],
    ["see [the docs](https://a.b/c?d=1), ![](http://x/y.png) or [me](mailto:a@b)", "see the docs,  or me"],
    // No marks
    ["call handlers[name](event)", "call handlers[name](event)"],
    ["#include <a.h> costs 2**3 or a * b", "#include <a.h> costs 2**3 or a * b"],
    ["src/**/*.ts and test/**/*.ts, **/*.js,**/*.mjs", "src/**/*.ts and test/**/*.ts, **/*.js,**/*.mjs"],
    ["f(**args, **more) __init__ -v +1", "f(**args, **more) __init__ -v +1"],
    ["one ` alone, **two alone", "one ` alone, **two alone"],
    // Nothing else is there
    ["```\n```", "``` ```"],
    ["---", "---"],
    [`${"\0".repeat(2_000)}# late`, "late"],
  ];
  for (const content of [(text: string) => text, says])
    assert.deepEqual(
      cases.map(([text]) => [text, plainText(messageRow({ role: "user", content: content(text) }))]),
      cases.map(([text, shown]) => [text, `user: ${shown}`]),
    );
  const bold = says("It is **stale**");
  assert.equal(plainText(messageRow({ role: "assistant", content: bold })), "assistant: It is stale");
  assert.equal(
    plainText(lastRow({ type: "branch_summary", summary: "## Goal\nSpeed" })),
    "[branch summary]: Goal Speed",
  );
  assert.equal(
    plainText(lastRow({ type: "custom_message", customType: "note", content: bold })),
    "[note]: It is stale",
  );
});

test("[U1] search finds what a row shows between marks, and a rule reminder by what it said", () => {
  const source = new CountedIndex([
    { id: "u1", parentId: null, message: { role: "user", content: "the **red** `door`" } },
    {
      id: "c1",
      parentId: "u1",
      type: "custom_message",
      customType: "ttsr-injection",
      content: "Use no console",
      display: false,
      details: { rules: ["no-logs", "quiet"] },
    },
    { id: "c2", parentId: "c1", type: "custom_message", customType: "ttsr-injection", content: "", display: false },
  ]);
  const found = (query: string): string[] =>
    new Outline(source, { query }).rows(0, 9).map(({ text }) => plainText(text));
  assert.deepEqual(found("red door"), ["user: the red door"]);
  for (const query of ["console", "no-logs", "rule reminder quiet"])
    assert.deepEqual([query, found(query)], [query, ["[rule reminder: no-logs, quiet]"]]);
  assert.deepEqual(found("ttsr"), ["[rule reminder: no-logs, quiet]", "[rule reminder: (none)]"]);
});

test("[U1] messages that are no messages have rows", () => {
  for (const message of [null, undefined, "text", 7, [], {}, { role: null }, { role: 7 }, { role: "" }])
    assert.equal(plainText(messageRow(message)), "[message]");
  for (const role of ["user", "assistant"])
    for (const content of [null, 7, {}, [null], [[]], [{ type: "text", text: null }]])
      assert.equal(plainText(messageRow({ role, content })), `${role}: (no content)`);
});

test("[U1, U5] dB67 control characters of any text end up as spaces", () => {
  const hostile = "\u001b]52;c;aGk=\u0007\u001b[2J\u009b6n\u001b]0;t\u001b\\x\u0000";
  const clean = "]52;c;aGk=  [2J 6n ]0;t \\x";
  const label: Omit<LooseEntry, "id" | "parentId"> = { type: "label", targetId: "e0", label: hostile };
  assert.equal(plainText(messageRow({ role: "user", content: hostile })), `user: ${clean}`);
  assert.equal(plainText(messageRow({ role: hostile })), `[${clean}]`);
  assert.equal(plainText(lastRow(label)), `[label: ${clean}]`);
  assert.equal(plainText(lastRow({ type: hostile })), `[${clean}]`);
  assert.equal(callRow(hostile, {}), `[${clean}]`);
  assert.equal(callRow("read", { path: hostile }), `[read: ${clean}]`);
  const outline = new Outline(
    new CountedIndex([
      { id: "e0", parentId: null, message: { role: "user", content: "x" } },
      { ...label, id: "e1", parentId: "e0" },
    ]),
  );
  assert.equal(outline.rows(0, 1)[0]?.label, clean);
});

test("[U1] a line in runs of colour: cursor, tree, path, label, mark, text", () => {
  const source = new CountedIndex([
    { id: "u1", parentId: null, message: { role: "user", content: "one" } },
    { id: "a1", parentId: "u1", message: { role: "assistant", content: says("two"), stopReason: "stop" } },
    { id: "a2", parentId: "u1", message: { role: "assistant", content: says("three"), stopReason: "stop" } },
    { type: "label", id: "l1", parentId: "a2", targetId: "a2", label: "good" },
  ]);
  const rows = new Outline(source).rows(0, 3);
  assert.deepEqual(lineParts(rows[1]!, true), [
    { text: "› ", token: "accent" },
    { text: "├─ ", token: "dim" },
    { text: "• ", token: "accent" },
    { text: "[good] ", token: "warning" },
    { text: "assistant: ", token: "success" },
    { text: "three" },
  ]);
  assert.deepEqual(rows.map(drawnLine), ["  • user: one", "› ├─ • [good] assistant: three", "  └─ assistant: two"]);
});

test("[U1, U5] numbered lines say in words what the drawing shows", () => {
  const outline = new Outline(sketch("(u1 a1 (u2 a2) (u3 a3)) (x1)", "a3"));
  assert.deepEqual(outline.rows(0, 99).map(numberedLine), [
    "1. user: u1 (branch 1 of 2, active)",
    "2. assistant: a1 (active)",
    "3. user: u3 (branch 1 of 2, active)",
    "4. assistant: a3 (current)",
    "5. user: u2 (after 2, branch 2 of 2)",
    "6. assistant: a2",
    "7. user: x1 (a new start, branch 2 of 2)",
  ]);
  const marked = new CountedIndex([
    { id: "u1", parentId: "gone", message: { role: "user", content: "one" } },
    { type: "label", id: "l1", parentId: "u1", targetId: "u1", label: "kept" },
  ]);
  assert.deepEqual(new Outline(marked).rows(0, 1).map(numberedLine), [
    "1. user: one (label kept, missing parent, current)",
  ]);
});
