/**
 * Which keys do what: one table of action ids with their default keys, the user's changes from
 * `<stateDir>/keybindings.json`, and the text of `/hotkeys`. Part of `tui/`; used by every component that reads keys.
 * The `tui.*` ids and the key syntax are pi-tui's; the `app.*` ids are those users of pi already have in their files.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { KeybindingsManager, setKeybindings, TUI_KEYBINDINGS } from "@earendil-works/pi-tui";
import type { KeybindingDefinition, KeybindingsConfig, KeyId } from "@earendil-works/pi-tui";
import { readJson } from "../agent/json-source.ts";

const key = (defaultKeys: KeyId | KeyId[], description: string): KeybindingDefinition => ({ defaultKeys, description });

/** bough's own actions, in the order `/hotkeys` lists them. `[]` is an action without a key until the user gives it one. */
export const APP_KEYBINDINGS = {
  "app.interrupt": key("escape", "Stop what is running; twice: go back in the tree"),
  "app.clear": key("ctrl+c", "Clear the editor; twice: quit"),
  "app.exit": key("ctrl+d", "Quit, on an empty editor"),
  "app.suspend": key("ctrl+z", "Put bough in the background"),
  "app.session.new": key([], "Start a new session"),
  "app.session.tree": key([], "Open the tree"),
  "app.session.back": key([], "Go back to where the last jump left"),
  "app.session.forward": key([], "Undo going back"),
  "app.session.fork": key([], "Branch from a message into a new session"),
  "app.session.resume": key([], "Open another session"),
  "app.thinking.cycle": key("shift+tab", "Next thinking level"),
  "app.thinking.toggle": key("ctrl+t", "Show or hide thinking"),
  "app.model.cycleForward": key("ctrl+p", "Next model"),
  "app.model.cycleBackward": key("shift+ctrl+p", "Previous model"),
  "app.model.select": key("ctrl+l", "Choose a model"),
  // Alt+Shift+P, which others use, is the start of a control string on terminals without the Kitty protocol.
  "app.plan.toggle": key("alt+m", "Plan before anything is changed, or stop planning"),
  "app.tools.expand": key("ctrl+o", "Show or hide long output"),
  "app.editor.external": key("ctrl+g", "Edit the draft in $EDITOR"),
  "app.message.followUp": key("alt+enter", "Send after the current answer"),
  "app.message.dequeue": key("alt+up", "Take queued messages back into the editor"),
  "app.message.copy": key("ctrl+x", "Copy the last answer; in the tree: the selected entry"),
  "app.select.home": key("home", "First row"),
  "app.select.end": key("end", "Last row"),
  "app.tree.editLabel": key("shift+l", "Edit the label of the selected entry; searches ignore case, so type l for L"),
  "app.tree.toggleLabelTimestamp": key("shift+t", "Show when labels were set"),
  "app.tree.foldOrUp": key(["ctrl+left", "alt+left"], "Fold the branch, or go to where it starts"),
  "app.tree.unfoldOrDown": key(["ctrl+right", "alt+right"], "Unfold the branch, or go to the next fork"),
  "app.tree.previousMessage": key("alt+up", "Previous message of you or the assistant"),
  "app.tree.nextMessage": key("alt+down", "Next message of you or the assistant"),
  "app.tree.filter.cycleForward": key("ctrl+o", "Next filter"),
  "app.tree.filter.cycleBackward": key("shift+ctrl+o", "Previous filter"),
  "app.tree.filter.default": key(["ctrl+d", "alt+d"], "Show the conversation"),
  "app.tree.filter.noTools": key("ctrl+t", "Without tool results, or back"),
  "app.tree.filter.userOnly": key("ctrl+u", "Only your messages, or back"),
  "app.tree.filter.labeledOnly": key("ctrl+l", "Only labelled entries, or back"),
  "app.tree.filter.all": key("ctrl+a", "Everything, or back"),
  "app.tree.filter.setNoTools": key("alt+t", "Without tool results"),
  "app.tree.filter.setUserOnly": key("alt+u", "Only your messages"),
  "app.tree.filter.setLabeledOnly": key("alt+l", "Only labelled entries"),
  "app.tree.filter.setAll": key("alt+a", "Everything"),
  "app.session.toggleScope": key("tab", "Sessions of this folder, or of all"),
  "app.session.toggleSort": key("ctrl+s", "Change the order"),
  "app.session.toggleNamedFilter": key("ctrl+n", "Only named sessions, or all"),
  "app.session.togglePath": key("ctrl+p", "Show where each session is kept"),
  "app.session.rename": key("ctrl+r", "Rename the selected session"),
  "app.mcp.toggle": key("space", "Use the selected MCP tool or server on this branch, or leave it out"),
  "app.mcp.restart": key("ctrl+r", "Start the selected MCP server anew"),
} as const satisfies Record<string, KeybindingDefinition>;

export type AppKeybinding = keyof typeof APP_KEYBINDINGS;
type AppKeybindings = { [Id in AppKeybinding]: true };

declare module "@earendil-works/pi-tui" {
  // The augmentation gives KeybindingsManager.matches our ids, so that a misspelt one does not compile.
  interface Keybindings extends AppKeybindings {}
}

const DEFINITIONS = new Map<string, KeybindingDefinition>(
  Object.entries({ ...TUI_KEYBINDINGS, ...APP_KEYBINDINGS } as Record<string, KeybindingDefinition>),
);

/** The file in which users change keys: an object of action id → key, list of keys, or `[]` for none. */
const keybindingsPath = (stateDir: string): string => join(stateDir, "keybindings.json");

/** All actions with their default keys. */
export function defaultKeybindings(): KeybindingsManager {
  return new KeybindingsManager(Object.fromEntries(DEFINITIONS));
}

/**
 * Reads the user's keys and makes them the ones every component obeys. What cannot be read is left out, the defaults
 * stand in its place, and each fault is a notice: one sentence with file and line. A missing file is no fault.
 */
export function loadKeybindings(stateDir: string): { keybindings: KeybindingsManager; notices: string[] } {
  const { bindings, notices } = readUserKeys(stateDir);
  const keybindings = defaultKeybindings();
  keybindings.setUserBindings(bindings);
  setKeybindings(keybindings);
  return { keybindings, notices };
}

/** The same for keys that are in use already: what the user's file says, and its faults. */
export function readUserKeys(stateDir: string): { bindings: KeybindingsConfig; notices: string[] } {
  const notices: string[] = [];
  return { bindings: Object.fromEntries(readOverrides(keybindingsPath(stateDir), notices)), notices };
}

function readOverrides(path: string, notices: string[]): Map<string, KeyId[]> {
  const overrides = new Map<string, KeyId[]>();
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== "ENOENT" && code !== "ENOTDIR")
      notices.push(`${path} cannot be read (${code ?? String(error)}); the default keys are used.`);
    return overrides;
  }
  const reading = readJson(text);
  if (!reading.ok) {
    notices.push(`${path}:${reading.line} is not valid JSON; the default keys are used.`);
    return overrides;
  }
  const { value, lineOf } = reading;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    notices.push(`${path}:${lineOf("")} is not an object of action ids and keys; the default keys are used.`);
    return overrides;
  }
  for (const [id, keys] of Object.entries(value)) {
    const list = keyList(keys);
    const place = `${path}:${lineOf(`/${id.replaceAll("~", "~0").replaceAll("/", "~1")}`)}`;
    if (!DEFINITIONS.has(id)) notices.push(`${place}: there is no action "${id}"; /hotkeys lists those there are.`);
    else if (list === undefined)
      notices.push(`${place}: "${id}" needs a key such as "ctrl+x", a list of keys, or []; its default keys are used.`);
    else overrides.set(id, list);
  }
  return overrides;
}

const MODIFIERS = new Set(["ctrl", "shift", "alt", "super"]);
const NAMED_KEYS = new Set(
  (
    "escape esc enter return tab space backspace delete insert clear home end pageup pagedown up down left right " +
    "f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12"
  ).split(" "),
);

function keyList(value: unknown): KeyId[] | undefined {
  const list = Array.isArray(value) ? value : [value];
  return list.every((item) => typeof item === "string" && isKey(item)) ? (list as KeyId[]) : undefined;
}

function isKey(text: string): boolean {
  // "ctrl++" is Ctrl and the plus key.
  const parts = text.toLowerCase().replace(/\+\+$/, "+plus").split("+");
  const base = text === "+" ? "plus" : parts.pop();
  const modifiers = text === "+" ? [] : parts;
  return (
    base !== undefined &&
    (base === "plus" || NAMED_KEYS.has(base) || /^[!-~]$/.test(base)) &&
    new Set(modifiers).size === modifiers.length &&
    modifiers.every((modifier) => MODIFIERS.has(modifier))
  );
}

const KEY_NAMES = new Map([
  ["ctrl", "Ctrl"],
  ["shift", "Shift"],
  ["alt", "Alt"],
  ["super", "Super"],
  ["pageup", "PageUp"],
  ["pagedown", "PageDown"],
]);

/** A key as people write it: "shift+ctrl+o" → "Shift+Ctrl+O". */
export function keyName(id: string): string {
  return id
    .replace(/\+\+$/, "+Plus")
    .split("+")
    .map((part) => KEY_NAMES.get(part.toLowerCase()) ?? part.charAt(0).toUpperCase() + part.slice(1))
    .join("+");
}

/** The keys of an action for a hint, "Ctrl+Left, Alt+Left"; "" when it has none. */
export function keyNames(keybindings: KeybindingsManager, id: AppKeybinding): string {
  return keybindings.getKeys(id).map(keyName).join(", ");
}

/** What the user must always be able to do; no extension may have their keys. */
const RESERVED = [
  "app.interrupt",
  "app.clear",
  "app.exit",
  "app.suspend",
  "app.thinking.cycle",
  "app.model.cycleForward",
  "app.model.cycleBackward",
  "app.model.select",
  "app.tools.expand",
  "app.editor.external",
  "app.message.copy",
  "app.message.followUp",
  "tui.input.submit",
  "tui.select.confirm",
  "tui.select.cancel",
  "tui.editor.deleteToLineEnd",
] as const;

/** Whether bough itself needs a key; modifiers may come in any order. */
export function isReservedKey(keybindings: KeybindingsManager, key: string): boolean {
  const wanted = sameKey(key);
  return RESERVED.some((action) => keybindings.getKeys(action).some((known) => sameKey(known) === wanted));
}

function sameKey(id: string): string {
  const parts = id.toLowerCase().replace(/\+\+$/, "+plus").split("+");
  const base = parts.pop() ?? "";
  return [...parts.sort(), base === "esc" ? "escape" : base === "return" ? "enter" : base].join("+");
}

const GROUPS: readonly (readonly [title: string, belongs: (id: string) => boolean])[] = [
  ["In a list", (id) => id.startsWith("tui.select.") || id.startsWith("app.select.")],
  ["In the tree", (id) => id.startsWith("app.tree.")],
  ["In the session list", (id) => /^app\.session\.(toggle|rename)/.test(id)],
  ["Anywhere", (id) => id.startsWith("app.")],
  ["In the editor", (id) => id.startsWith("tui.editor.") || id.startsWith("tui.input.")],
];

/** The Markdown text of `/hotkeys`: every action with its id and the keys it has now. */
export function hotkeysText(keybindings: KeybindingsManager): string {
  const groups = new Map<string, string[]>(GROUPS.map(([title]) => [title, []]));
  for (const [id, { description }] of DEFINITIONS) {
    const title = GROUPS.find(([, belongs]) => belongs(id))?.[0];
    // pi-tui's full-screen mode and its selection are not used, their keys would only mislead.
    if (title === undefined || id === "tui.input.copy") continue;
    const keys = keybindings.getKeys(id as AppKeybinding).map((each) => `\`${keyName(each).replace("|", "\\|")}\``);
    groups.get(title)?.push(`| ${keys.join(", ") || "–"} | ${description ?? ""} | \`${id}\` |`);
  }
  return [...groups]
    .map(([title, rows]) => [`**${title}**`, "", "| Keys | Action | Id |", "|---|---|---|", ...rows].join("\n"))
    .join("\n\n");
}
