/** Tests of src/tui/keybindings.ts: the table, the user's file, its faults, and the text of /hotkeys. */
import { deepEqual, equal, ok } from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { getKeybindings, setKeybindings } from "@earendil-works/pi-tui";
import {
  APP_KEYBINDINGS,
  defaultKeybindings,
  hotkeysText,
  keyName,
  keyNames,
  loadKeybindings,
} from "../../src/tui/keybindings.ts";

afterEach(() => setKeybindings(defaultKeybindings()));

function load(text: string | undefined): {
  notices: string[];
  path: string;
  matches: ReturnType<typeof defaultKeybindings>;
} {
  const folder = mkdtempSync(join(tmpdir(), "bough-keys-"));
  const path = join(folder, "keybindings.json");
  if (text !== undefined) writeFileSync(path, text);
  const { keybindings, notices } = loadKeybindings(folder);
  rmSync(folder, { recursive: true });
  return { notices, path, matches: keybindings };
}

test("[U3, L3] the actions on sessions exist and have no key until the user gives them one", () => {
  const keys = defaultKeybindings();
  deepEqual(
    (["new", "tree", "back", "forward", "fork", "resume"] as const).map((name) => keys.getKeys(`app.session.${name}`)),
    [[], [], [], [], [], []],
  );
  const { matches, notices } = load(
    '{"app.session.tree": "ctrl+y", "app.session.fork": ["alt+f", "f4"], "app.exit": []}',
  );
  deepEqual(notices, []);
  ok(matches.matches("\x19", "app.session.tree"));
  ok(matches.matches("\x1bf", "app.session.fork"));
  ok(matches.matches("\x1bOS", "app.session.fork"));
  ok(!matches.matches("\x04", "app.exit"), "[] unbinds");
  equal(getKeybindings(), matches, "pi-tui's own components obey the same keys");
});

test("[U1] both key sets of the tree are bound: Ctrl toggles, Alt sets", () => {
  const keys = defaultKeybindings();
  const bound = (
    [
      ["\x04", "app.tree.filter.default"],
      ["\x1bd", "app.tree.filter.default"],
      ["\x14", "app.tree.filter.noTools"],
      ["\x1bt", "app.tree.filter.setNoTools"],
      ["\x15", "app.tree.filter.userOnly"],
      ["\x1bu", "app.tree.filter.setUserOnly"],
      ["\x0c", "app.tree.filter.labeledOnly"],
      ["\x1bl", "app.tree.filter.setLabeledOnly"],
      ["\x01", "app.tree.filter.all"],
      ["\x1ba", "app.tree.filter.setAll"],
      ["\x0f", "app.tree.filter.cycleForward"],
      ["\x1b[111;6u", "app.tree.filter.cycleBackward"],
      ["L", "app.tree.editLabel"],
      ["\x1b[108:76;2u", "app.tree.editLabel"],
      ["\x1b[1;5D", "app.tree.foldOrUp"],
      ["\x1b[1;3C", "app.tree.unfoldOrDown"],
    ] as const
  ).map(([bytes, id]) => keys.matches(bytes, id));
  deepEqual(
    bound,
    bound.map(() => true),
  );
});

test("[U3] a keybindings file that is not JSON is a notice with its line, and the defaults stand", () => {
  const faults: [text: string, line: number][] = [
    ['{\n "app.exit": x\n}', 2],
    ['{\n  "app.exit": "f1",\n}', 3],
    ['{\n"app.exit": [\n', 3],
    ['{\n\n"app.exit": "f1" "x"}', 3],
    ['{\n"a": 1,\n"b": 2,\n"ccccccccccccccccccccccccccccccccccccccccccccccc": tru}', 4],
    ["", 1],
    ["{}\nx", 2],
  ];
  for (const [text, line] of faults) {
    const { notices, path, matches } = load(text);
    deepEqual(notices, [`${path}:${line} is not valid JSON; the default keys are used.`]);
    deepEqual(matches.getKeys("app.exit"), ["ctrl+d"]);
  }
});

test("[U3] a wrong action or key in the file costs only itself", () => {
  const { notices, path, matches } = load(
    '\uFEFF{\n  "app.exit": "ctrl+hyper+x",\n  "no.such": "f1",\n  "__proto__": "f2",\n  "app.clear": 7,\n  "app.suspend": "f9"\n}',
  );
  deepEqual(notices, [
    `${path}:2: "app.exit" needs a key such as "ctrl+x", a list of keys, or []; its default keys are used.`,
    `${path}:3: there is no action "no.such"; /hotkeys lists those there are.`,
    `${path}:4: there is no action "__proto__"; /hotkeys lists those there are.`,
    `${path}:5: "app.clear" needs a key such as "ctrl+x", a list of keys, or []; its default keys are used.`,
  ]);
  deepEqual(matches.getKeys("app.suspend"), ["f9"]);
  deepEqual(matches.getKeys("app.exit"), ["ctrl+d"]);
  for (const text of ["[]", "null", '"x"', "3"])
    deepEqual(
      load(text).notices.map((notice) => notice.replace(/^.*json:/, "")),
      ["1 is not an object of action ids and keys; the default keys are used."],
    );
});

test("[U3] no file is no fault; a file that cannot be read is", () => {
  deepEqual(load(undefined).notices, []);
  const folder = mkdtempSync(join(tmpdir(), "bough-keys-"));
  const path = join(folder, "keybindings.json");
  rmSync(folder, { recursive: true });
  deepEqual(loadKeybindings(folder).notices, []);
  writeFileSync(folder, "");
  deepEqual(loadKeybindings(folder).notices, [], path);
  rmSync(folder);
});

test("[U3] every key that a default uses is one the file may name", () => {
  const overrides = Object.fromEntries(
    Object.entries(APP_KEYBINDINGS).map(([id, { defaultKeys }]) => [id, defaultKeys]),
  );
  deepEqual(load(JSON.stringify(overrides, undefined, 1)).notices, []);
  deepEqual(load('{"app.exit": ["ctrl++", "+", "ctrl+[", "shift+ctrl+PageUp", "f12"]}').notices, []);
});

test("[U3] /hotkeys lists every action once with the keys it has now", () => {
  const { matches } = load('{"app.session.tree": "ctrl+y"}');
  const text = hotkeysText(matches);
  for (const id of Object.keys(APP_KEYBINDINGS)) equal(text.split(`\`${id}\``).length, 2, id);
  ok(text.includes("| `Ctrl+Y` | Open the tree | `app.session.tree` |"));
  ok(text.includes("| – | Start a new session | `app.session.new` |"));
  ok(!text.includes("altScreen"));
  ok(!text.includes("Copy selection"), "Ctrl+C clears the editor");
  equal(keyName("shift+ctrl+pageUp"), "Shift+Ctrl+PageUp");
  equal(keyName("ctrl++"), "Ctrl+Plus");
  equal(keyNames(matches, "app.tree.foldOrUp"), "Ctrl+Left, Alt+Left");
});
