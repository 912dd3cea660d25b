/** Tests of src/tui/tree-selector.ts: whole screens, every key, labels, growth while it is open, and counted work. */
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { indexedColor } from "@earendil-works/pi-tui";
import type { ThemeColors } from "../../src/tui/theme.ts";
import { setTheme, Theme, theme, THEME_TOKENS } from "../../src/tui/theme.ts";
import { TreeSelector } from "../../src/tui/tree-selector.ts";
import type { TreeSelectorOptions } from "../../src/tui/tree-selector.ts";
import { CountedIndex } from "../tree/outline-source.ts";
import type { LooseEntry } from "../tree/outline-source.ts";
import { body, inert, KEYS, lines, press, testScreen, type } from "./selector-screen.ts";
import type { KeyName } from "./selector-screen.ts";

const user = (id: string, parentId: string | null, text: string): LooseEntry => ({
  id,
  parentId,
  message: { role: "user", content: text },
});
const assistant = (id: string, parentId: string | null, text: string): LooseEntry => ({
  id,
  parentId,
  message: { role: "assistant", content: [{ type: "text", text }], stopReason: "stop" },
});

/** u1→a1→{u2→a2→u3, u4→a4→{u5→a5, u6→a6}}, the leaf a5. */
const FORKED: LooseEntry[] = [
  user("u1", null, "one"),
  assistant("a1", "u1", "first answer"),
  user("u2", "a1", "two"),
  assistant("a2", "u2", "second answer"),
  user("u3", "a2", "three"),
  user("u4", "a1", "four"),
  assistant("a4", "u4", "fourth answer"),
  user("u6", "a4", "six"),
  assistant("a6", "u6", "sixth answer"),
  user("u5", "a4", "five"),
  assistant("a5", "u5", "fifth answer"),
];

const uncoloured = Object.fromEntries(THEME_TOKENS.map((token) => [token, undefined])) as unknown as ThemeColors;

function selector(source: CountedIndex, options: Partial<TreeSelectorOptions> = {}, rows = 40) {
  const events: string[] = [];
  const component = new TreeSelector({
    screen: testScreen(rows),
    source,
    onSelect: (entry, isCurrent) => events.push(`${isCurrent ? "current" : "select"} ${entry.id}`),
    onCancel: () => events.push("cancel"),
    onLabel: (id, label) => {
      events.push(`label ${id} ${String(label)}`);
      source.add({
        type: "label",
        id: `l${source.size}`,
        parentId: source.at(source.leafOrdinal).id,
        targetId: id,
        label,
      });
    },
    onCopy: (text) => events.push(`copy ${String(text)}`),
    ...options,
  });
  return { component, events };
}

const forked = (options?: Partial<TreeSelectorOptions>) => selector(new CountedIndex(FORKED), options);
const FORKED_ROWS = [
  "  • user: one",
  "  • assistant: first answer",
  "  ├⊟ • user: four",
  "  │     • assistant: fourth answer",
  "  │     ├⊟ • user: five",
  "› │     │     • assistant: fifth answer",
  "  │     └⊟ user: six",
  "  │           assistant: sixth answer",
  "  └⊟ user: two",
  "        assistant: second answer",
  "        user: three",
];

test("[U1] the whole screen: title, help wrapped between hints, search, tree and counter", () => {
  deepEqual(lines(forked().component, 72), [
    "",
    "─".repeat(72),
    "  Session Tree",
    "  ↑↓ move · ←→ page · Enter: go there · Shift+L: label",
    "  Ctrl+O: next filter · Ctrl or Alt+D/T/U/L/A: filters · Ctrl+Left: fold",
    "  type to search",
    "  Search:",
    "─".repeat(72),
    "",
    ...FORKED_ROWS,
    "  (6/11)",
    "",
    "─".repeat(72),
  ]);
});

test("[U1] on 24 rows of 80 columns the selector and the footer fit: title, help and search stay on the screen", () => {
  const source = new CountedIndex(
    Array.from({ length: 40 }, (_, n) => user(`e${n}`, n === 0 ? null : `e${n - 1}`, `prompt ${n}`)),
  );
  const { component } = selector(source, {}, 24);
  const drawn = lines(component, 80);
  deepEqual(drawn.slice(0, 6), [
    "  Session Tree",
    "  ↑↓ move · ←→ page · Enter: go there · Shift+L: label · Ctrl+O: next filter",
    "  Ctrl or Alt+D/T/U/L/A: filters · Ctrl+Left: fold · type to search",
    "  Search:",
    "─".repeat(80),
    "  • user: prompt 28",
  ]);
  deepEqual(drawn.slice(-3), ["› • user: prompt 39", "  (40/40)", "─".repeat(80)]);
  equal(drawn.length, 19);
});

test("[U1] the selected line is bold on the selection's background over the whole width", () => {
  const before = theme;
  const colors = Object.fromEntries(THEME_TOKENS.map((token, index) => [token, indexedColor(index)]));
  setTheme(new Theme("numbered", colors as unknown as ThemeColors, "256color"));
  try {
    const { component } = selector(new CountedIndex([user("u1", null, "one"), assistant("a1", "u1", "two")]));
    const [first, second] = component.render(30).slice(-5, -3);
    const index = (token: (typeof THEME_TOKENS)[number]): string => String(THEME_TOKENS.indexOf(token));
    equal(first, `  \x1b[38;5;${index("accent")}m• \x1b[39m\x1b[38;5;${index("accent")}muser: \x1b[39mone`);
    equal(
      second,
      `\x1b[48;5;${index("selectedBg")}m\x1b[1m\x1b[38;5;${index("accent")}m› \x1b[39m` +
        `\x1b[38;5;${index("accent")}m• \x1b[39m\x1b[38;5;${index("success")}massistant: \x1b[39mtwo\x1b[22m` +
        `${" ".repeat(12)}\x1b[49m`,
    );
  } finally {
    setTheme(before);
  }
});

test("[U1] arrows wrap, left and right page, Home and End, Alt+Up and Alt+Down go to messages", () => {
  const source = new CountedIndex(
    Array.from({ length: 40 }, (_, n) =>
      n % 4 === 0
        ? user(`e${n}`, n === 0 ? null : `e${n - 1}`, `prompt ${n}`)
        : { id: `e${n}`, parentId: `e${n - 1}`, message: { role: "toolResult", toolName: "read", content: [] } },
    ),
  );
  const after = (...keys: KeyName[]): string | undefined => {
    const { component } = selector(source, {}, 20);
    press(component, "home", ...keys);
    return component.selectedId;
  };
  deepEqual(
    {
      home: after(),
      up: after("up"),
      down: after("down"),
      endDown: after("end", "down"),
      right: after("right"),
      pageDown: after("pageDown"),
      left: after("end", "left"),
      pageUp: after("end", "pageUp"),
      clamped: after("right", "left", "left"),
      altDown: after("altDown"),
      altUp: after("end", "altUp"),
    },
    {
      home: "e0",
      up: "e39",
      down: "e1",
      endDown: "e0",
      right: "e10",
      pageDown: "e10",
      left: "e29",
      pageUp: "e29",
      clamped: "e0",
      altDown: "e4",
      altUp: "e36",
    },
  );
});

test("[U1] the window is max(5, rows/2) high and keeps the selection in its middle", () => {
  const source = new CountedIndex(
    Array.from({ length: 40 }, (_, n) => user(`e${n}`, n === 0 ? null : `e${n - 1}`, `prompt ${n}`)),
  );
  const shown = (rows: number, ...keys: KeyName[]): string[] => {
    const { component } = selector(source, {}, rows);
    press(component, ...keys);
    return body(component).map((line) => line.replace("• user: prompt ", ""));
  };
  deepEqual(shown(4, "home"), ["› 0", "  1", "  2", "  3", "  4", "  (1/40)"]);
  deepEqual(shown(14, "home", "right"), ["  4", "  5", "  6", "› 7", "  8", "  9", "  10", "  (8/40)"]);
  deepEqual(shown(12, "end"), ["  34", "  35", "  36", "  37", "  38", "› 39", "  (40/40)"]);
});

test("[U1] Ctrl toggles a filter against the default, Alt sets it, Ctrl+O and Shift+Ctrl+O cycle", () => {
  const tag = (...keys: KeyName[]): string => {
    const { component } = forked();
    press(component, ...keys);
    return body(component)
      .find((line) => /^ {2}\(\d+\/\d+\)/.test(line))!
      .replace(/^ {2}\(\d+\/\d+\) ?/, "");
  };
  deepEqual(
    (["ctrlT", "ctrlU", "ctrlL", "ctrlA", "altT", "altU", "altL", "altA", "ctrlD", "altD"] as const).map((key) => [
      key,
      tag(key),
      tag(key, key),
      tag("ctrlU", key),
    ]),
    [
      ["ctrlT", "[no-tools]", "", "[no-tools]"],
      ["ctrlU", "[user]", "", ""],
      ["ctrlL", "[labeled]", "", "[labeled]"],
      ["ctrlA", "[all]", "", "[all]"],
      ["altT", "[no-tools]", "[no-tools]", "[no-tools]"],
      ["altU", "[user]", "[user]", "[user]"],
      ["altL", "[labeled]", "[labeled]", "[labeled]"],
      ["altA", "[all]", "[all]", "[all]"],
      ["ctrlD", "", "", ""],
      ["altD", "", "", ""],
    ],
  );
  const cycle = Array.from({ length: 6 }, (_, times) => tag(...Array<KeyName>(times).fill("ctrlO")));
  deepEqual(cycle, ["", "[no-tools]", "[user]", "[labeled]", "[all]", ""]);
  deepEqual(tag("shiftCtrlO"), "[all]");
});

test("[U1] a filter re-parents what it leaves, and the selection goes to the nearest visible ancestor and back", () => {
  const { component } = forked();
  press(component, "ctrlU");
  deepEqual(body(component), [
    "  • user: one",
    "  ├⊟ • user: four",
    "› │  ├─ • user: five",
    "  │  └─ user: six",
    "  └⊟ user: two",
    "        user: three",
    "  (3/6) [user]",
  ]);
  type(component, "zzz");
  deepEqual(body(component), [
    '  No entries match search "zzz" [user]',
    "  Backspace shortens the search, Escape clears it",
    "  (0/0) [user]",
  ]);
  press(component, "escape");
  equal(component.selectedId, "u5");
});

test("[U1] typing searches the rendered text, Backspace shortens, Escape clears and then cancels, Ctrl+C cancels", () => {
  const { component, events } = forked();
  type(component, "ANSWER s");
  deepEqual(body(component), [
    "  • assistant: first answer",
    "  ├⊟ • assistant: fourth answer",
    "› │  ├─ • assistant: fifth answer",
    "  │  └─ assistant: sixth answer",
    "  └─ assistant: second answer",
    "  (3/5)",
  ]);
  equal(
    lines(component).find((line) => line.includes("Search:")),
    "  Search: ANSWER s",
  );
  press(component, "backspace", "backspace");
  equal(
    lines(component).find((line) => line.includes("Search:")),
    "  Search: ANSWER",
  );
  press(component, "escape");
  equal(
    lines(component).find((line) => line.includes("Search:")),
    "  Search:",
  );
  deepEqual(events, []);
  press(component, "escape");
  deepEqual(events, ["cancel"]);
  type(component, "x");
  press(component, "ctrlC");
  deepEqual(events, ["cancel", "cancel"]);
});

test("[U1] control characters never enter the search, a paste does as one line, Kitty's letters do", () => {
  const { component } = forked();
  for (const data of [
    "\x1b[200~fi\x1b[2Jrst\nans\x07wer\x1b[201~",
    "\x1b[9;5u",
    "\x1b[27;5;9~",
    "\x1bq",
    "\x00",
    "\x9b",
  ])
    component.handleInput(data);
  equal(
    lines(component).find((line) => line.includes("Search:")),
    "  Search: first answer",
  );
  component.handleInput("\x1b[33u");
  component.handleInput("\x1b[97;2u");
  equal(
    lines(component).find((line) => line.includes("Search:")),
    "  Search: first answer!a",
  );
});

test("[U1] folding: the marks, jumps between forks, and any filter or search opens all folds", () => {
  const { component } = forked();
  press(component, "ctrlLeft");
  equal(component.selectedId, "u5", "a leaf cannot fold: to the start of its branch");
  press(component, "altLeft");
  deepEqual(body(component), [
    "  • user: one",
    "  • assistant: first answer",
    "  ├⊟ • user: four",
    "  │     • assistant: fourth answer",
    "› │     ├⊞ • user: five",
    "  │     └⊟ user: six",
    "  │           assistant: sixth answer",
    "  └⊟ user: two",
    "        assistant: second answer",
    "        user: three",
    "  (5/10)",
  ]);
  press(component, "ctrlLeft", "ctrlLeft");
  equal(component.selectedId, "u4");
  equal(body(component).at(-1), "  (3/6)", "the second press folded the branch above");
  press(component, "ctrlRight");
  equal(body(component).at(-1), "  (3/10)");
  press(component, "altRight");
  equal(component.selectedId, "u5", "to the first branch of the next fork");
  press(component, "ctrlRight", "ctrlRight");
  equal(component.selectedId, "a5", "the first press unfolded, the second went to the end of the branch");
  press(component, "home", "ctrlLeft");
  deepEqual(body(component), ["› ⊞ • user: one", "  (1/1)"]);
  press(component, "ctrlU");
  equal(body(component).at(-1), "  (1/6) [user]");
});

test("[U1, T8] Shift+L edits the label of the selected entry in place of the list; empty clears, Escape leaves", () => {
  const { component, events } = forked();
  press(component, "home");
  component.handleInput("L");
  deepEqual(body(component, 60), ["  Label (empty to remove):", ">", "  Enter: save · Escape: cancel"]);
  type(component, "good L start");
  press(component, "enter");
  deepEqual(events, ["label u1 good L start"]);
  deepEqual(body(component).slice(0, 2), ["› • [good L start] user: one", "  • assistant: first answer"]);

  component.handleInput("\x1b[108:76;2u");
  equal(body(component)[1], "> good L start");
  press(component, "escape");
  equal(body(component)[0], "› • [good L start] user: one");
  deepEqual(events.length, 1, "nothing was written");

  press(component, "shiftL", "ctrlU", "enter");
  deepEqual(events, ["label u1 good L start", "label u1 undefined"]);
  equal(body(component)[0], "› • user: one");
});

test("[T8] labels show in the tree, in the labelled filter and in the search", () => {
  const source = new CountedIndex(FORKED);
  source.add({ type: "label", id: "l1", parentId: "a5", targetId: "u3", label: "dead end" });
  source.add({ type: "label", id: "l2", parentId: "l1", targetId: "a5", label: "best" });
  const { component } = selector(source);
  press(component, "ctrlL");
  deepEqual(body(component), ["› • [best] assistant: fifth answer", "  [dead end] user: three", "  (1/2) [labeled]"]);
  press(component, "ctrlD");
  type(component, "dead");
  deepEqual(body(component), ["› [dead end] user: three", "  (1/1)"]);
});

test("[U1, L4] Enter gives the entry and whether the user stands there already, trailing labels apart", () => {
  const source = new CountedIndex(FORKED);
  source.add({ type: "label", id: "l1", parentId: "a5", targetId: "u3", label: "dead end" });
  source.add({ type: "custom", id: "c1", parentId: "l1", customType: "state" });
  const { component, events } = selector(source);
  press(component, "enter", "up", "enter");
  deepEqual(events, ["current a5", "select u5"]);
});

test("[U1] Shift+T shows when labels were set, also for labels set later", () => {
  const source = new CountedIndex(FORKED);
  const at = (hour: number): string => new Date(2026, 10, 30, hour, 5).toISOString();
  source.add({ type: "label", id: "l1", parentId: "a5", targetId: "u1", label: "start", timestamp: at(9) });
  source.add({ type: "label", id: "l2", parentId: "l1", targetId: "a1", label: "odd", timestamp: "never" });
  const { component } = selector(source);
  press(component, "shiftT");
  deepEqual(body(component).slice(0, 2), [
    "  • [start · 2026-11-30 09:05] user: one",
    "  • [odd] assistant: first answer",
  ]);
  equal(body(component).at(-1), "  (6/11) [+label time]");
  source.add({ type: "label", id: "l3", parentId: "l2", targetId: "a1", label: "odd", timestamp: at(14) });
  component.refresh();
  equal(body(component)[1], "  • [odd · 2026-11-30 14:05] assistant: first answer");
  press(component, "shiftT");
  equal(body(component)[1], "  • [odd] assistant: first answer");
});

test("[U1] Ctrl+X copies the whole text of an entry", () => {
  const source = new CountedIndex([
    user("u", null, `${"long ".repeat(100)}end`),
    {
      id: "t",
      parentId: "u",
      message: { role: "toolResult", toolName: "x", content: [{ type: "text", text: "out" }] },
    },
    { id: "b", parentId: "t", message: { role: "bashExecution", command: "ls -l", output: "…" } },
    { id: "c", parentId: "b", type: "compaction", summary: "what was", tokensBefore: 1000 },
    { id: "m", parentId: "c", type: "custom_message", customType: "x", content: "note", display: true },
    { id: "n", parentId: "m", message: { role: "user", content: [{ type: "image", data: "", mimeType: "" }] } },
    { id: "z", parentId: "n", message: { role: "user", content: 7 } },
  ]);
  const { component, events } = selector(source);
  press(component, "home");
  for (let n = 0; n < source.size; n++) press(component, "ctrlX", "down");
  deepEqual(events, [
    `copy ${"long ".repeat(100)}end`,
    "copy out",
    "copy ls -l",
    "copy what was",
    "copy note",
    "copy undefined",
    "copy undefined",
  ]);
});

test("[U1] an empty list: says why, and no key does harm", () => {
  const all = Object.keys(KEYS) as KeyName[];
  const harmless = all.filter((key) => key !== "escape" && key !== "ctrlC");
  const empty = selector(new CountedIndex([]));
  deepEqual(body(empty.component), ["  No entries found", "  (0/0)"]);
  press(empty.component, ...harmless, ...harmless);
  deepEqual(empty.events, []);

  const hidden = selector(new CountedIndex([{ id: "c", parentId: null, type: "custom", customType: "x" }]));
  deepEqual(body(hidden.component), [
    "  1 entry hidden by the current filter",
    "  Alt+A shows all, Alt+D the default",
    "  (0/0)",
  ]);
  press(hidden.component, "altL", "up", "enter", "shiftL", "ctrlX", "ctrlLeft", "ctrlRight");
  deepEqual(hidden.events, []);
  equal(body(hidden.component)[0], "  1 entry hidden by the current filter [labeled]");
});

test("[N3] the tree grows while it is read; the selection, the search and the folds stay", () => {
  const source = new CountedIndex(FORKED);
  const { component } = selector(source);
  press(component, "home", "down", "down");
  equal(component.selectedId, "u4");
  for (let n = 0; n < 5; n++) {
    source.add(assistant(`n${n}`, n === 0 ? "a5" : `n${n - 1}`, `new ${n}`));
    component.refresh();
    equal(component.selectedId, "u4");
  }
  deepEqual(body(component).slice(2, 9), [
    "› ├⊟ • user: four",
    "  │     • assistant: fourth answer",
    "  │     ├⊟ • user: five",
    "  │     │     • assistant: fifth answer",
    "  │     │     • assistant: new 0",
    "  │     │     • assistant: new 1",
    "  │     │     • assistant: new 2",
  ]);
  type(component, "new 3");
  source.add(assistant("n5", "n4", "new 3 again"));
  component.refresh();
  deepEqual(body(component), ["› • assistant: new 3", "  • assistant: new 3 again", "  (1/2)"]);
});

test("[N3] what Enter calls current is the leaf of that moment", () => {
  const source = new CountedIndex(FORKED);
  const { component, events } = selector(source);
  source.add(assistant("n", "a5", "new"));
  component.refresh();
  press(component, "enter");
  deepEqual(events, ["select a5"]);
});

test("[U1] the selector starts on a given entry, with a given filter; an unknown id is the caller's mistake", () => {
  const { component } = forked({ selectedId: "u2", filter: "user-only" });
  equal(component.selectedId, "u2");
  equal(body(component).at(-1), "  (5/6) [user]");
  let message = "";
  try {
    forked({ selectedId: "nope" });
  } catch (error) {
    message = (error as Error).message;
  }
  equal(message, "Entry nope not found");
});

test("[U1] dB23 dB25 deep indents are shifted left together, so that text stays readable on 80 columns", () => {
  const entries = [user("r", null, "root")];
  for (let n = 0; n < 60; n++) {
    const parent = n === 0 ? "r" : `s${n - 1}`;
    entries.push(user(`s${n}`, parent, `step ${n}`), user(`d${n}`, parent, `dead ${n}`));
  }
  const { component } = selector(new CountedIndex(entries, "s59"), {}, 10);
  deepEqual(body(component), [
    "  …  │  │  │  │  │  │  │  │  ├⊟ • user: step 57",
    "  …  │  │  │  │  │  │  │  │  │  ├⊟ • user: step 58",
    "› …  │  │  │  │  │  │  │  │  │  │  ├─ • user: step 59",
    "  …  │  │  │  │  │  │  │  │  │  │  └─ user: dead 59",
    "  …  │  │  │  │  │  │  │  │  │  └─ user: dead 58",
    "  (61/121)",
  ]);
});

test("[U1, U5] every line is drawn through the sanitising sink and fits 1 to 120 columns", () => {
  const evil = "\x1b]0;t\x07\x1b[2J\x9b6n\u202Edlrow\u2066漢字👩‍👩‍👧\ud800\ttab\nline\u2028sep";
  const source = new CountedIndex([
    user("u", null, evil),
    { id: "t", parentId: "u", message: { role: "toolResult", toolName: evil, toolCallId: evil, content: evil } },
    { id: "c", parentId: "t", type: "custom_message", customType: evil, content: evil, display: true },
    { id: "m", parentId: "c", type: "model_change", model: `${evil}/${evil}` },
    { id: "x", parentId: "m", type: evil },
    { id: "l", parentId: "x", type: "label", targetId: "u", label: evil },
  ]);
  const { component } = selector(source);
  for (const key of ["altD", "altA", "shiftT"] as const) {
    press(component, key);
    for (let width = 1; width <= 120; width++) inert(component, width);
  }
  press(component, "home", "shiftL");
  for (let width = 1; width <= 120; width++) inert(component, width);
  component.handleInput(`\x1b[200~${evil}\x1b[201~`);
  for (let width = 1; width <= 120; width++) inert(component, width);
  press(component, "escape");
  component.handleInput(`\x1b[200~${evil.repeat(50)}\x1b[201~`);
  for (let width = 1; width <= 120; width++) inert(component, width);
});

test("[Y9, U1] a key draws the rows that look different, and those that come into view", () => {
  const prompts = Array.from({ length: 100 }, (_, n) => user(`u${n}`, n === 0 ? null : `u${n - 1}`, `prompt ${n}`));
  const source = new CountedIndex(prompts);
  const { component } = selector(source, {}, 40);
  const before = theme;
  equal(
    source.bodiesFor(() => lines(component)),
    20,
  );
  const drawnFor = (...keys: KeyName[]): number =>
    source.bodiesFor(() => {
      press(component, ...keys);
      lines(component);
    });
  // Two rows change their looks, and from the middle on one comes into view.
  const moved = Array.from({ length: 15 }, () => drawnFor("up"));
  deepEqual(moved, [...Array<number>(9).fill(2), ...Array<number>(6).fill(3)]);
  equal(drawnFor("pageUp"), 20, "another page");
  equal(drawnFor("altA"), 0, "a filter that changes no row");
  press(component, "shiftL");
  type(component, "named");
  press(component, "enter");
  equal(
    source.bodiesFor(() => lines(component)),
    1,
    "a label",
  );
  equal(
    source.bodiesFor(() => component.render(81)),
    20,
    "another width",
  );
  try {
    setTheme(new Theme("other", uncoloured, "none"));
    equal(
      source.bodiesFor(() => component.render(81)),
      20,
      "another theme",
    );
  } finally {
    setTheme(before);
  }
});

for (const shape of ["chain", "bushy"] as const)
  test(`[U1] dB23 100,000 entries, ${shape}: a frame and a key ask for the bodies on the screen only`, async () => {
    const entries: LooseEntry[] = [];
    for (let n = 0; n < 100_000; n++) {
      const parent = n === 0 ? null : `e${shape === "chain" ? n - 1 : (n * 7919) % n}`;
      entries.push(n % 2 === 0 ? user(`e${n}`, parent, `prompt ${n}`) : assistant(`e${n}`, parent, `answer ${n}`));
    }
    const source = new CountedIndex(entries);
    const { component } = selector(source, {}, 40);
    lines(component);
    ok(source.bodies <= 100_000 + 20, "each message is looked at once to decide what the default filter hides");
    const keys: KeyName[] = ["up", "down", "left", "right", "home", "end", "pageUp", "pageDown", "altUp", "altDown"];
    for (const key of keys) {
      source.bodies = 0;
      press(component, key);
      lines(component);
      ok(source.bodies <= 20, `${key} asked for ${source.bodies} bodies`);
    }
    source.bodies = 0;
    press(component, "ctrlLeft");
    lines(component);
    ok(source.bodies <= 20, `a fold asked for ${source.bodies} bodies`);
    source.add(user("new", "e99999", "one more"));
    component.refresh();
    source.bodies = 0;
    lines(component);
    ok(source.bodies <= 25, `one more entry asked for ${source.bodies} bodies`);
    source.bodies = 0;
    type(component, "9");
    lines(component);
    ok(source.bodies <= 1500 + 20, `the first key of a search asked for ${source.bodies} bodies`);
    ok(lines(component).some((line) => line.includes("searching…")));
    while (lines(component).some((line) => line.includes("searching…"))) await setTimeout(1);
    ok(source.bodies <= 100_001 + 20 * 200, "the whole search reads each body once, and frames what they show");
    source.bodies = 0;
    type(component, "99");
    lines(component);
    ok(source.bodies <= 20, `later searches asked for ${source.bodies} bodies`);
  });
