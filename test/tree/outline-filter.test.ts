import assert from "node:assert/strict";
import { test } from "node:test";
import type { EntryType } from "../../src/tree/entries.ts";
import { FILTER_MODES, isFilterMode, type FilterMode } from "../../src/tree/outline-filter.ts";
import { emptyText, FILTER_TAGS, statusText } from "../../src/tree/outline-texts.ts";
import { Outline } from "../../src/tree/outline.ts";
import { CountedIndex, sketch, type LooseEntry } from "./outline-source.ts";

const ids = (outline: Outline): string[] => outline.rows(0, outline.rowCount).map((row) => row.entry.id);
const message = (id: string, fields: object): LooseEntry => ({ id, parentId: null, message: fields });
const says = (text: string): object[] => [{ type: "text", text }];
const calls = (...ids: string[]): object[] =>
  ids.map((id) => ({ type: "toolCall", id, name: "read", arguments: { path: id } }));
/** The ids that each filter shows, of entries that all are roots of their own, the leaf on none of them. */
function shownBy(entries: readonly LooseEntry[], leafId: string | null = null): Record<FilterMode, string[]> {
  const outline = new Outline(new CountedIndex(entries, leafId));
  const shown = FILTER_MODES.map((mode) => {
    outline.setFilter(mode);
    return [mode, ids(outline)];
  });
  return Object.fromEntries(shown);
}

const KINDS: { readonly [T in EntryType]: "shown" | "hidden" } = {
  message: "shown",
  compaction: "shown",
  branch_summary: "shown",
  custom_message: "shown",
  custom: "hidden",
  label: "hidden",
  model_change: "hidden",
  thinking_level_change: "hidden",
  service_tier_change: "hidden",
  mode_change: "hidden",
  mcp_tool_selection: "hidden",
  ttsr_injection: "hidden",
  session_init: "hidden",
  session_info: "hidden",
  title_change: "hidden",
  usage: "hidden",
  model_usage: "hidden",
  context_edit: "hidden",
  reset_boundary: "hidden",
  credential_pin: "hidden",
};

test("[U1, F2] every kind of entry under every filter, unknown kinds too", () => {
  const kinds = [...Object.keys(KINDS), "kind_of_tomorrow"];
  const shown = kinds.filter((kind) => Object.hasOwn(KINDS, kind) && KINDS[kind as EntryType] === "shown");
  assert.deepEqual(shownBy(kinds.map((type) => ({ type, id: type, parentId: null }))), {
    default: shown,
    "no-tools": shown,
    "user-only": [],
    "labeled-only": [],
    all: kinds,
  });
});

test("[U1] messages of every role under every filter", () => {
  const roles = ["user", "toolResult", "bashExecution", "pythonExecution", "fileMention", "system", "developer"];
  roles.push("custom", "hookMessage", "branchSummary", "compactionSummary", "role of tomorrow");
  const entries = roles.map((role) => message(role, { role, content: "text" }));
  entries.push(message("assistant", { role: "assistant", content: says("text"), stopReason: "stop" }));
  roles.push("assistant");
  assert.deepEqual(shownBy(entries), {
    default: roles,
    "no-tools": roles.filter((role) => role !== "toolResult"),
    "user-only": ["user"],
    "labeled-only": [],
    all: roles,
  });
});

test("[U1] an answer without words is hidden unless it broke off, is labelled or is where the user stands", () => {
  const assistant = (id: string, content: unknown, stopReason?: string): LooseEntry =>
    message(id, { role: "assistant", content, stopReason });
  const entries = [
    assistant("tools only", calls("c1"), "toolUse"),
    assistant("blank", says(" \n\t"), "stop"),
    assistant("thinking only", [{ type: "thinking", thinking: "hm" }], "stop"),
    assistant("no reason", []),
    assistant("no content", null, "stop"),
    assistant("odd blocks", [null, 7, "text", { type: "text" }, { type: "text", text: 5 }], "stop"),
    assistant("words and tools", [...calls("c2"), ...says("words")], "toolUse"),
    assistant("a bare string", "words", "stop"),
    assistant("aborted", [], "aborted"),
    assistant("error", [], "error"),
    assistant("length", [], "length"),
    assistant("labelled", calls("c3"), "toolUse"),
    assistant("current", calls("c4"), "toolUse"),
    { type: "label", id: "l", parentId: null, targetId: "labelled", label: "here" },
  ];
  const spoken = ["words and tools", "a bare string", "aborted", "error", "length", "labelled"];
  assert.deepEqual(shownBy(entries, "current"), {
    default: ["current", ...spoken],
    "no-tools": ["current", ...spoken],
    "user-only": [],
    "labeled-only": ["labelled"],
    all: ["current", ...entries.map(({ id }) => id).filter((id) => id !== "current")],
  });
});

test("[U1] a label that is set or cleared moves entries in and out of labeled-only", () => {
  const source = new CountedIndex([message("u1", { role: "user", content: "one" })]);
  const outline = new Outline(source, { filter: "labeled-only" });
  const label = (id: string, text: unknown): void => {
    source.add({ type: "label", id, parentId: "u1", targetId: "u1", label: text });
    outline.refresh();
  };
  assert.deepEqual(ids(outline), []);
  label("l1", "start");
  assert.deepEqual(ids(outline), ["u1"]);
  assert.equal(outline.rows(0, 1)[0]?.label, "start");
  label("l2", "");
  assert.deepEqual(ids(outline), []);
});

test("[T8, U1] dB27 labels of every shape: the last wins, an empty one clears, absent targets are passed over", () => {
  const label = (id: string, targetId: string, fields: object): LooseEntry => ({
    type: "label",
    id,
    parentId: null,
    targetId,
    ...fields,
  });
  const source = new CountedIndex([
    message("u1", { role: "user", content: "one" }),
    message("u2", { role: "user", content: "two" }),
    message("u3", { role: "user", content: "three" }),
    label("l1", "absent", { label: "nowhere" }),
    label("l2", "l1", { label: "on a label" }),
    label("l3", "u1", { label: "first" }),
    label("l4", "u1", { label: "" }),
    label("l5", "u1", { label: "\u001b[31m\nlast\t" }),
    label("l6", "u2", { label: "gone" }),
    label("l7", "u2", {}),
    label("l8", "u3", { label: "gone too" }),
    label("l9", "u3", { label: null }),
    message("u4", { role: "user", content: "four" }),
    label("l10", "u4", { label: "x".repeat(10_000) }),
  ]);
  const rows = new Outline(source, { filter: "labeled-only" }).rows(0, 9);
  assert.deepEqual(
    rows.map((row) => [row.entry.id, row.label]),
    [
      ["u1", "[31m last"],
      ["l1", "on a label"],
      ["u4", "x".repeat(200)],
    ],
  );
});

test("[U1] filters cycle in both directions and toggle against the default", () => {
  const outline = new Outline(sketch("u1"));
  const modes: FilterMode[] = [];
  for (let i = 0; i < 5; i++) {
    outline.cycleFilter(1);
    modes.push(outline.filter);
  }
  assert.deepEqual(modes, ["no-tools", "user-only", "labeled-only", "all", "default"]);
  outline.cycleFilter(-1);
  assert.equal(outline.filter, "all");
  outline.toggleFilter("user-only");
  assert.equal(outline.filter, "user-only");
  outline.toggleFilter("user-only");
  assert.equal(outline.filter, "default");
  assert.deepEqual(["all", "default", "tools", "__proto__"].map(isFilterMode), [true, true, false, false]);
});

/** The ids found in a session whose entries all follow each other. */
function found(entries: readonly Omit<LooseEntry, "parentId">[], query: string, home?: string): string[] {
  const chain = entries.map((entry, i) => ({ ...entry, parentId: i === 0 ? null : entries[i - 1]!.id }) as LooseEntry);
  return ids(new Outline(new CountedIndex(chain), { filter: "all", query, ...(home === undefined ? {} : { home }) }));
}

test("[U1] every word of the search must be in the row, in any case and order", () => {
  const entries = [
    message("u1", { role: "user", content: "Fix the LOGIN page" }),
    message("u2", { role: "user", content: "fix the logout page" }),
  ];
  assert.deepEqual(found(entries, "page LOG"), ["u1", "u2"]);
  assert.deepEqual(found(entries, "  login\tfix "), ["u1"]);
  assert.deepEqual(found(entries, "user: fix"), ["u1", "u2"]);
  assert.deepEqual(found(entries, "login logout"), []);
  assert.deepEqual(found(entries, "   "), ["u1", "u2"]);
});

test("[U1] search finds what rows say: labels, commands, calls, names, kinds, marks", () => {
  const entries: Omit<LooseEntry, "parentId">[] = [
    message("u1", { role: "user", content: "hello" }),
    message("b1", { role: "bashExecution", command: "make TEST", output: "not shown" }),
    message("a1", { role: "assistant", content: calls("docs/plan.md") }),
    message("t1", { role: "toolResult", toolCallId: "docs/plan.md", toolName: "read", content: says("Chapter One") }),
    { type: "compaction", id: "k1", summary: "s", tokensBefore: 12_345 },
    { type: "branch_summary", id: "s1", fromId: "u1", summary: "Tried the cache" },
    { type: "custom_message", id: "x1", customType: "notes", content: says("remember milk"), display: true },
    { type: "custom", id: "x2", customType: "plan-state" },
    { type: "model_change", id: "m1", provider: "anthropic", modelId: "claude-opus" },
    { type: "thinking_level_change", id: "h1", thinkingLevel: "high" },
    { type: "session_info", id: "n1", name: "Login work" },
    { type: "label", id: "l1", targetId: "u1", label: "Begin" },
    { type: "label", id: "l2", targetId: "u1", label: "Beginning" },
    { type: "strange_kind", id: "z1" },
  ];
  const queries = {
    beginning: ["u1", "l2"],
    "bash make test": ["b1"],
    "not shown": [],
    "read plan.md": ["t1"],
    "toolresult chapter": ["t1"],
    compaction: ["k1"],
    "branch summary cache": ["s1"],
    "notes milk": ["x1"],
    "custom plan-state": ["x2"],
    "model claude anthropic": ["m1"],
    "thinking high": ["h1"],
    "title login": ["n1"],
    "strange kind": ["z1"],
    strange_kind: ["z1"],
  };
  const results = Object.keys(queries).map((query) => [query, found(entries, query)]);
  assert.deepEqual(Object.fromEntries(results), queries);
  const orphan = new CountedIndex([{ id: "o1", parentId: "gone", message: { role: "user", content: "lost" } }]);
  assert.deepEqual(ids(new Outline(orphan, { query: "missing parent" })), ["o1"]);
});

test("[U1] search looks through what the filter shows", () => {
  const outline = new Outline(sketch("u1 a1 u2 a2"), { filter: "user-only", query: "2" });
  assert.deepEqual(ids(outline), ["u2"]);
  outline.setFilter("all");
  assert.deepEqual(ids(outline), ["u2", "a2"]);
});

test("[U1, U5] control characters never enter the search, from the keyboard or from text", () => {
  const outline = new Outline(sketch("u1 a1"));
  outline.setQuery("\u001b\u0000u\u00071\u007f\u009b\n");
  assert.equal(outline.query, "u1 ");
  assert.deepEqual(ids(outline), ["u1"]);
  assert.equal(new Outline(sketch("u1"), { query: "a\u0007b" }).query, "ab");
  assert.deepEqual(found([message("u1", { role: "user", content: "a\u0007b" })], "a b"), ["u1"]);
});

test("[U1] the counter and the name of the filter", () => {
  const outline = new Outline(sketch("u1 a1 u2 a2"));
  const texts = FILTER_MODES.map((mode) => {
    outline.setFilter(mode);
    return statusText(outline);
  });
  assert.deepEqual(texts, ["(4/4)", "(4/4) [no-tools]", "(2/2) [user]", "(0/0) [labeled]", "(3/4) [all]"]);
  assert.deepEqual(Object.keys(FILTER_TAGS), [...FILTER_MODES]);
});

test("[U1] three reasons for an empty outline, each with its own words", () => {
  assert.equal(emptyText(new Outline(sketch("u1"))), undefined);
  assert.deepEqual(emptyText(new Outline(new CountedIndex(), { query: "x" })), {
    text: "No entries found",
    hint: undefined,
  });
  assert.deepEqual(emptyText(new Outline(sketch("u1"), { query: "zzz" })), {
    text: 'No entries match search "zzz"',
    hint: "Backspace shortens the search, Escape clears it",
  });
  assert.deepEqual(
    emptyText(new Outline(sketch("u1"), { query: "zzz", filter: "all" }))?.text,
    'No entries match search "zzz" [all]',
  );
  assert.deepEqual(emptyText(new Outline(sketch("u1"), { filter: "labeled-only" })), {
    text: "1 entry hidden by the current filter [labeled]",
    hint: "Alt+A shows all, Alt+D the default",
  });
  assert.equal(
    emptyText(new Outline(sketch("u1 a1"), { filter: "labeled-only", query: " " }))?.text,
    "2 entries hidden by the current filter [labeled]",
  );
});
