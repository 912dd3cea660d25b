/** Tests of src/tui/user-message-selector.ts: the list behind /branch. */
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { UserMessageSelector } from "../../src/tui/user-message-selector.ts";
import { body, inert, KEYS, lines, press, testScreen } from "./selector-screen.ts";
import type { KeyName } from "./selector-screen.ts";

function selector(texts: string[], rows = 80) {
  const events: string[] = [];
  const component = new UserMessageSelector({
    screen: testScreen(rows),
    messages: texts.map((text, index) => ({ entryId: `m${index + 1}`, text })),
    onSelect: (id) => events.push(`select ${id}`),
    onCancel: () => events.push("cancel"),
  });
  return { component, events };
}

test("[B1] the whole screen: frame, hints, one line and its place per message, the newest selected", () => {
  const { component } = selector(["first\nprompt", "second\tprompt"]);
  deepEqual(lines(component, 50), [
    "",
    "─".repeat(50),
    "  Branch from a message",
    "  a new session gets all that came before it",
    "  the message returns to the editor",
    "  messages of other branches: /tree",
    "  Enter: branch · Escape: cancel",
    "─".repeat(50),
    "",
    "  first prompt",
    "  Message 1 of 2",
    "",
    "› second prompt",
    "  Message 2 of 2",
    "",
    "",
    "─".repeat(50),
  ]);
});

test("[B1] arrows wrap, pages and ends stop, Enter picks", () => {
  const texts = Array.from({ length: 25 }, (_, index) => `prompt ${index + 1}`);
  const after = (...keys: KeyName[]): string | undefined => {
    const { component } = selector(texts);
    press(component, ...keys);
    return component.selectedId;
  };
  deepEqual(
    [
      after(),
      after("down"),
      after("down", "up"),
      after("up"),
      after("pageUp"),
      after("pageUp", "pageUp", "pageUp", "pageUp"),
      after("home"),
      after("home", "pageDown"),
      after("home", "end"),
    ],
    ["m25", "m1", "m25", "m24", "m15", "m1", "m1", "m11", "m25"],
  );
  const { component, events } = selector(texts);
  press(component, "up", "enter");
  deepEqual(events, ["select m24"]);
});

test("[B1] ten messages are visible, the selected one in the middle, with its number when there are more", () => {
  const { component } = selector(Array.from({ length: 25 }, (_, index) => `prompt ${index + 1}`));
  press(component, "home", "pageDown", "down");
  const shown = body(component).filter((line) => line.includes("prompt") || line.includes("("));
  deepEqual(shown, [
    "  prompt 7",
    "  prompt 8",
    "  prompt 9",
    "  prompt 10",
    "  prompt 11",
    "› prompt 12",
    "  prompt 13",
    "  prompt 14",
    "  prompt 15",
    "  prompt 16",
    "  (12/25)",
  ]);
});

test("[B1] a low terminal shows fewer messages", () => {
  const { component } = selector(
    Array.from({ length: 25 }, (_, index) => `prompt ${index + 1}`),
    24,
  );
  equal(body(component).filter((line) => line.includes("prompt")).length, 4);
});

test("[B1] Escape and Ctrl+C cancel; an empty list takes every key and picks nothing", () => {
  for (const key of ["escape", "ctrlC"] as const) {
    const { component, events } = selector(["one"]);
    press(component, key);
    deepEqual(events, ["cancel"]);
  }
  const { component, events } = selector([]);
  deepEqual(body(component), ["  No messages to branch from"]);
  press(component, ...(Object.keys(KEYS) as KeyName[]).filter((key) => key !== "escape" && key !== "ctrlC"));
  deepEqual(events, []);
});

test("[U5] hostile and wide text is inert and never wider than the screen", () => {
  const { component } = selector(["\x1b]0;owned\x07漢字\x1b[2J\u202Eevil", "\x1b]52;c;AAAA", "x".repeat(100_000)]);
  for (let width = 1; width <= 120; width++) {
    inert(component, width);
  }
  equal(body(component)[0], "  漢字⟦U+202E⟧evil");
});
