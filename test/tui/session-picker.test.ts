/** Tests of src/tui/session-picker.ts: the list behind /resume. */
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import type { SessionInfo } from "../../src/session/catalog.ts";
import { SessionPicker } from "../../src/tui/session-picker.ts";
import type { SessionScope, SessionSource } from "../../src/tui/session-picker.ts";
import { body, inert, KEYS, lines, press, testScreen, type } from "./selector-screen.ts";
import type { KeyName } from "./selector-screen.ts";
import { sessionInfo } from "./session-info.ts";

const NOW = Date.UTC(2026, 10, 30, 12);
const hoursAgo = (hours: number): Date => new Date(NOW - hours * 3_600_000);

/** A source whose sessions come when the test says so. */
class ManualSource implements SessionSource {
  readonly loads: SessionScope[] = [];
  readonly renames: string[] = [];
  failRename = false;
  found: (session: SessionInfo) => void = () => {};
  signal = new AbortController().signal;
  finish: () => void = () => {};
  fail: (error: Error) => void = () => {};

  load(scope: SessionScope, found: (session: SessionInfo) => void, signal: AbortSignal): Promise<void> {
    this.loads.push(scope);
    this.found = found;
    this.signal = signal;
    return new Promise((resolve, reject) => {
      this.finish = resolve;
      this.fail = reject;
    });
  }
  async rename(session: SessionInfo, name: string | undefined): Promise<void> {
    if (this.failRename) throw new Error("permission denied");
    this.renames.push(`${session.id} ${String(name)}`);
  }
}

const SESSIONS = [
  sessionInfo("one", { name: "Parser work", messageCount: 12, modified: hoursAgo(3) }),
  sessionInfo("two", { firstMessage: "why does the build fail", messageCount: 4, modified: hoursAgo(30) }),
  sessionInfo("three", { firstMessage: "add a flag", messageCount: 7, modified: hoursAgo(2), parentSession: "one" }),
];

async function picker(sessions: SessionInfo[] = SESSIONS, rows = 40) {
  const source = new ManualSource();
  const events: string[] = [];
  const component = new SessionPicker({
    screen: testScreen(rows),
    source,
    currentPath: "/sessions/one.jsonl",
    now: () => NOW,
    onSelect: (session) => events.push(`select ${session.id}`),
    onCancel: () => events.push("cancel"),
  });
  sessions.forEach((session) => source.found(session));
  source.finish();
  await settled();
  return { component, source, events };
}
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("[U4, D2] the whole screen: name or first prompt, messages, age, the current session marked", async () => {
  const { component } = await picker();
  deepEqual(lines(component, 64), [
    "",
    "─".repeat(64),
    "  Resume a session · this folder",
    '  type to search: words, "a phrase", re:pattern',
    "  Tab: all folders · Ctrl+S: order (recent) · Ctrl+N: named only",
    "  Ctrl+P: show paths · Ctrl+R: rename · Enter: open",
    "  Search:",
    "─".repeat(64),
    "",
    "› add a flag                                                7 2h",
    "  Parser work                                      current 12 3h",
    "  why does the build fail                                   4 1d",
    "  (1/3)",
    "",
    "─".repeat(64),
  ]);
});

test("[D2] rows appear while files are still being read, and the selection stays on its session", async () => {
  const source = new ManualSource();
  const screen = testScreen();
  const component = new SessionPicker({
    screen,
    source,
    currentPath: undefined,
    now: () => NOW,
    onSelect: () => {},
    onCancel: () => {},
  });
  deepEqual(body(component), ["  Reading sessions…", "  (0/0) reading…"]);
  source.found(SESSIONS[1]!);
  equal(screen.renders, 1);
  deepEqual(
    body(component, 40).map((line) => line.replace(/ {2,}/g, "  ")),
    ["› why does the build fail  4 1d", "  (1/1) reading…"],
  );
  source.found(SESSIONS[0]!);
  source.found(SESSIONS[2]!);
  press(component, "ctrlP", "ctrlP");
  equal(component.selected?.id, "two", "a key is meant for the row that was selected on the screen");
  equal(body(component).at(-1), "  (3/3) reading…");
  source.finish();
  await settled();
  equal(body(component).at(-1), "  (3/3)");
});

test("[D2] a row says what is known and is replaced when more is; one that turns out to be a subagent's goes", async () => {
  const known = { modified: hoursAgo(2), isComplete: false, messageCount: undefined };
  const { component, source } = await picker([
    sessionInfo("one", { ...known, firstMessage: "why does it fail" }),
    sessionInfo("two", { ...known, modified: hoursAgo(3) }),
    sessionInfo("three", { ...known, modified: hoursAgo(4), firstMessage: "of a subagent" }),
  ]);
  const rows = (): string[] => body(component, 40).map((row) => row.replace(/ {2,}/g, "  "));
  deepEqual(rows(), ["› why does it fail  current 2h", "  …  3h", "  of a subagent  4h", "  (1/3)"]);
  source.found(sessionInfo("one", { modified: hoursAgo(2), name: "Named", messageCount: 300 }));
  source.found(sessionInfo("two", { modified: hoursAgo(1), messageCount: 0 }));
  source.found(sessionInfo("three", { isSubagent: true }));
  deepEqual(rows(), ["› (no messages)  0 1h", "  Named  current 300 2h", "  (1/2)"]);
});

test("[U4] Tab changes between this folder and all, where rows also name their folder; reading of the old list stops", async () => {
  const { component, source } = await picker();
  const before = source.signal;
  press(component, "tab");
  deepEqual([source.loads, before.aborted, source.signal.aborted], [["folder", "all"], true, false]);
  source.found(sessionInfo("far", { cwd: "/home/me/other", firstMessage: "elsewhere", modified: hoursAgo(1) }));
  deepEqual(lines(component, 64).slice(2, 3), ["  Resume a session · all folders"]);
  equal(body(component, 64)[0], "› elsewhere                                           other 2 1h");
});

test("[U4] Ctrl+S changes the order, Ctrl+N leaves out unnamed ones, Ctrl+P shows files", async () => {
  const { component } = await picker();
  const rows = (): string[] => body(component, 60).map((line) => line.replace(/(?<=[a-z]) {2,}.*/, ""));
  deepEqual(rows(), ["› add a flag", "  Parser work", "  why does the build fail", "  (1/3)"]);
  press(component, "ctrlS");
  deepEqual(rows(), ["  Parser work", "›   add a flag", "  why does the build fail", "  (2/3)"]);
  press(component, "ctrlS");
  ok(lines(component, 80).some((line) => line.includes("order (relevance)")));
  press(component, "ctrlN");
  equal(body(component).at(-1), "  (1/1) [named]");
  press(component, "ctrlP");
  deepEqual(body(component, 40).slice(1), ["    /sessions/one.jsonl", "  (1/1) [named]"]);
});

test("[U4] the search: words, phrases and patterns; Escape empties it before it closes; Ctrl+C closes", async () => {
  const { component, events } = await picker();
  const shown = (): string[] => body(component).map((line) => line.replace(/ {2,}.*/, ""));
  type(component, "re:^add");
  deepEqual(body(component).at(-1), "  (0/0)", "the name comes first in what is searched");
  press(component, "escape");
  type(component, "build why");
  deepEqual(body(component).at(-1), "  (1/1)");
  equal(component.selected?.id, "two");
  press(component, "escape");
  type(component, "re:(");
  deepEqual(body(component), ['  No session matches "re:("', "  (0/0)", '  "(" is not a regular expression']);
  press(component, "escape");
  equal(shown().length, 4);
  press(component, "escape");
  type(component, "x");
  press(component, "ctrlC");
  deepEqual(events, ["cancel", "cancel"]);
});

test("[U4] Ctrl+R renames in place; a failure is one line and changes nothing", async () => {
  const { component, source } = await picker();
  press(component, "ctrlR");
  deepEqual(body(component), ["  Name of the session (empty to remove):", ">", "  Enter: save · Escape: cancel"]);
  type(component, "Flags");
  press(component, "enter");
  await settled();
  deepEqual(source.renames, ["three Flags"]);
  ok(body(component)[0]!.startsWith("› Flags "));
  source.failRename = true;
  press(component, "ctrlR", "ctrlU", "enter");
  await settled();
  equal(body(component).at(-1), "  The name was not saved: permission denied");
  ok(body(component)[0]!.startsWith("› Flags "));
  press(component, "ctrlR", "escape", "down");
  deepEqual(body(component).length, 4, "the message goes with the next key");
});

test("[D2, F7] damaged, empty and newer files and a missing folder are shown as such; what cannot be opened says why", async () => {
  const { component, events } = await picker([
    sessionInfo("newer", { kind: "newer", firstMessage: "from tomorrow", modified: hoursAgo(1) }),
    sessionInfo("gone", { cwd: "/gone", cwdMissing: true, firstMessage: "moved away", modified: hoursAgo(2) }),
    sessionInfo("z1", { kind: "damaged", reason: "line 1: not a session", messageCount: 0 }),
    sessionInfo("z2", { kind: "empty", messageCount: 0 }),
  ]);
  deepEqual(body(component, 60), [
    "› from tomorrow                                newer version",
    "  moved away                                folder gone 2 2h",
    "  (no messages)                                      damaged",
    "  (no messages)                                        empty",
    "  (1/4)",
  ]);
  press(component, "end", "enter");
  equal(body(component, 80).at(-1), "  This session cannot be opened: it is empty. bough doctor tells more.");
  press(component, "up", "enter");
  equal(
    body(component, 100).at(-1),
    "  This session cannot be opened: line 1: not a session. bough doctor tells more.",
  );
  press(component, "ctrlR");
  equal(body(component).length, 5, "no editor opens for what is no session");
  deepEqual(events, []);
  press(component, "home", "enter");
  deepEqual(events, ["select newer"]);
});

test("[D2] the example stands under its own heading, after all others", async () => {
  const { component } = await picker([
    sessionInfo("e", { isExample: true, name: "Example: a small tool", modified: hoursAgo(0) }),
    sessionInfo("o", { firstMessage: "mine", modified: hoursAgo(9) }),
  ]);
  deepEqual(body(component, 50), [
    "› mine                                        2 9h",
    "  Example",
    "  Example: a small tool                      2 now",
    "  (1/2)",
  ]);
});

test("[U4] empty lists say what to do, and no key does harm", async () => {
  const { component, source, events } = await picker([]);
  deepEqual(body(component), ["  No sessions in this folder. Press Tab to see all.", "  (0/0)"]);
  const all = Object.keys(KEYS) as KeyName[];
  press(component, ...all.filter((key) => !["escape", "ctrlC", "tab", "shiftL", "shiftT"].includes(key)));
  deepEqual(events, []);
  press(component, "ctrlN", "tab");
  source.finish();
  await settled();
  deepEqual(body(component)[0], "  No sessions found");
  press(component, "tab");
  source.fail(new Error("disk on fire"));
  await settled();
  equal(body(component).at(-1), "  The sessions could not be read: disk on fire");
});

test("[U5] hostile names and every width", async () => {
  const evil = "\x1b]0;t\x07\x1b[2J\x9b6n\u202Edlrow漢字👩‍👩‍👧\ttab\nline";
  const { component } = await picker([
    sessionInfo("a", { path: `/${evil}`, name: evil, cwd: `/x/${evil}`, firstMessage: evil }),
    sessionInfo("b", { path: `/b${evil}`, firstMessage: evil.repeat(1000), kind: "damaged", reason: evil }),
    sessionInfo("c", { isExample: true, parentSession: evil }),
  ]);
  for (const key of ["ctrlP", "ctrlS", "end", "enter", "tab", "tab"] as const) {
    press(component, key);
    for (let width = 1; width <= 120; width++) inert(component, width);
  }
});

test("[U4] 2,000 sessions arriving one by one are arranged once a frame", async () => {
  const source = new ManualSource();
  let looks = 0;
  const component = new SessionPicker({
    screen: testScreen(),
    source,
    currentPath: undefined,
    now: () => NOW,
    onSelect: () => {},
    onCancel: () => {},
  });
  for (let n = 0; n < 2000; n++) {
    const session = sessionInfo(`s${n}`, { modified: new Date(n) });
    Object.defineProperty(session, "firstMessage", { get: () => (looks++, `prompt ${n}`), enumerable: true });
    source.found(session);
  }
  equal(looks, 0);
  component.render(80);
  ok(looks <= 2000 + 10, `${looks} texts read for the first frame`);
  looks = 0;
  press(component, "down");
  component.render(80);
  ok(looks <= 10, `${looks} texts read for a key`);
});
