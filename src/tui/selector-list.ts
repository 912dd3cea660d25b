/**
 * What every selector of the terminal shares: the frame around a list, the window of visible rows, moving, and the
 * search line. Part of `tui/`; used by the tree, message, session and model selectors. State stays with them.
 */
import {
  CURSOR_MARKER,
  decodeKittyPrintable,
  matchesKey,
  parseKey,
  renderFakeCursor,
  replaceControlCharacters,
  truncateToWidth,
  visibleWidth,
  wrapTextWithAnsi,
} from "@earendil-works/pi-tui";
import type { Keybinding, KeybindingsManager } from "@earendil-works/pi-tui";
import { keyName } from "./keybindings.ts";
import { sanitise } from "./sanitise.ts";
import { theme } from "./theme.ts";

/** What a selector needs from the screen it stands on. */
export interface SelectorScreen {
  readonly keybindings: KeybindingsManager;
  /** Height of the terminal in rows. */
  rows(): number;
  requestRender(): void;
}

/** Rows a list may take of a terminal with `rows` rows. */
export const listHeight = (rows: number): number => Math.max(5, Math.floor(rows / 2));

/** The first visible index of a list in which the selected one stands in the middle, as far as the ends allow. */
export function windowStart(selected: number, total: number, height: number): number {
  return Math.max(0, Math.min(selected - Math.floor(height / 2), total - height));
}

/**
 * Where a movement key leads: arrows wrap around, pages and ends stop. Undefined when `data` is no such key.
 * An empty list stays at 0.
 */
export function movedSelection(
  keys: KeybindingsManager,
  data: string,
  selected: number,
  total: number,
  page: number,
): number | undefined {
  const last = Math.max(0, total - 1);
  const clamp = (index: number): number => Math.max(0, Math.min(last, index));
  if (keys.matches(data, "tui.select.up")) return selected <= 0 ? last : clamp(selected - 1);
  if (keys.matches(data, "tui.select.down")) return selected >= last ? 0 : clamp(selected + 1);
  if (keys.matches(data, "tui.select.pageUp")) return clamp(selected - page);
  if (keys.matches(data, "tui.select.pageDown")) return clamp(selected + page);
  if (keys.matches(data, "app.select.home")) return 0;
  if (keys.matches(data, "app.select.end")) return last;
  return undefined;
}

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** More than anyone types; a pasted file must not become a query. */
const MAX_QUERY = 500;

/** The query after a key: printable text (also pasted) is added, Backspace takes one character; undefined for others. */
export function editedQuery(keys: KeybindingsManager, data: string, query: string): string | undefined {
  if (keys.matches(data, "tui.editor.deleteCharBackward")) {
    const last = [...graphemes.segment(query)].at(-1);
    return last === undefined ? query : query.slice(0, last.index);
  }
  const typed = typedText(data);
  return typed === undefined ? undefined : (query + typed).slice(0, MAX_QUERY).toWellFormed();
}

const PASTE_START = "\x1b[200~";
const PASTE_END = "\x1b[201~";

function typedText(data: string): string | undefined {
  if (data.startsWith(PASTE_START)) {
    const pasted = data.slice(PASTE_START.length).replace(PASTE_END, "");
    return sanitise(pasted.slice(0, MAX_QUERY)).replaceAll("\n", " ");
  }
  // Shifted letters come as escape sequences where the terminal reports modifiers (xterm's modifyOtherKeys).
  const shifted = /^shift\+([a-z])$/.exec(parseKey(data) ?? "")?.[1]?.toUpperCase();
  const decoded = decodeKittyPrintable(data) ?? shifted ?? data;
  // A key bough does not know arrives as an escape sequence; its letters are not meant as text.
  const isKey = decoded === "" || replaceControlCharacters(decoded) !== decoded;
  return isKey ? undefined : sanitise(decoded.slice(0, MAX_QUERY));
}

/** What a cancel key does to a list with a search: Escape first empties the query, Ctrl+C always closes. */
export function cancelStep(keys: KeybindingsManager, data: string, query: string): "clear" | "cancel" | undefined {
  if (!keys.matches(data, "tui.select.cancel")) return undefined;
  return query !== "" && !matchesKey(data, "ctrl+c") ? "clear" : "cancel";
}

/** Cuts a styled line to the width, in terminal cells. */
export function fit(line: string, width: number): string {
  // Widths are remembered, cuts are not; most lines fit.
  return visibleWidth(line) <= width ? line : truncateToWidth(line, Math.max(0, width), "");
}

/** What rows are mostly made of: characters of one cell each, for which no terminal has to be asked. */
const ONE_CELL_EACH = /^[ -~│├└─…⊟⊞•›]*$/;

/** Runs of plain text as one line, styled after it is cut to the width. */
export function fitRuns<R extends { text: string }>(
  runs: readonly R[],
  width: number,
  style: (run: R) => string,
): string {
  let line = "";
  let room = width;
  for (const run of runs) {
    const narrow = ONE_CELL_EACH.test(run.text);
    const text = narrow ? run.text.slice(0, Math.max(0, room)) : fit(run.text, room);
    line += style({ ...run, text });
    if (text !== run.text) break;
    room -= narrow ? text.length : visibleWidth(text);
  }
  return line;
}

/** "Ctrl+O: next filter", with the key the action has now; nothing when it has none. */
export function keyHint(keys: KeybindingsManager, id: Keybinding, text: string): string[] {
  const first = keys.getKeys(id)[0];
  return first === undefined ? [] : [`${keyName(first)}: ${text}`];
}

/** Hints joined by " · ", broken between hints only, two columns in. */
export function hintLines(hints: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const hint of hints) {
    const longer = `${lines.at(-1)} · ${hint}`;
    if (lines.length > 0 && visibleWidth(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(`  ${hint}`);
  }
  return lines.map((line) => fit(theme.fg("muted", line), width));
}

/** The search line, with the cursor at its end; `focused` also puts the terminal's own cursor there, for input methods. */
export function searchLine(query: string, width: number, focused: boolean): string {
  const head = `  ${theme.fg("muted", "Search:")} `;
  // Of a long query the end is what the user is typing.
  const shown = endOf(query, width - visibleWidth(head) - 1);
  return fit(`${head}${theme.fg("accent", shown)}${focused ? CURSOR_MARKER : ""}${renderFakeCursor(" ")}`, width);
}

function endOf(text: string, cells: number): string {
  let room = cells;
  let start = text.length;
  for (const { segment, index } of [...graphemes.segment(text)].reverse()) {
    room -= visibleWidth(segment);
    if (room < 0) break;
    start = index;
  }
  return text.slice(start);
}

/** A horizontal rule over the whole width. */
const rule = (width: number): string => theme.fg("border", "─".repeat(Math.max(0, width)));

/** A line that says something about the list, two columns in. */
export const note = (text: string, width: number): string => fit(theme.fg("muted", `  ${text}`), width);

/** What a question says before its answers, two columns in, at most half the screen; nothing for "". */
export function explanation(text: string, width: number, rows: number): string[] {
  if (text === "") return [];
  const lines = wrapTextWithAnsi(text, Math.max(1, width - 4));
  const shown = lines.length <= listHeight(rows) ? lines : [...lines.slice(0, listHeight(rows) - 1), "…"];
  return [...shown.map((line) => fit(line === "" ? "" : `  ${line}`, width)), ""];
}

/** A row of a list with the cursor in front. */
export function row(content: string, selected: boolean, width: number): string {
  return selected ? highlighted(`${theme.fg("accent", "› ")}${content}`, width) : fit(`  ${content}`, width);
}

/** The selected line: bold, on its own background, over the whole width. */
export function highlighted(content: string, width: number): string {
  const line = fit(content, width);
  return theme.bg("selectedBg", theme.bold(line) + " ".repeat(Math.max(0, width - visibleWidth(line))));
}

export interface Frame {
  title: string;
  hints: readonly string[];
  /** The search line; left out when undefined. */
  query?: string | undefined;
  focused?: boolean;
  body: readonly string[];
}

/** Below this many rows the frame would push its own title off the screen. */
const LOW_SCREEN = 30;

/**
 * A whole selector: rule, title, hints, search, rule, body, rule. No line is wider than `width`. A screen with few
 * `rows` gets it without the blank lines and the first rule.
 */
export function framed(frame: Frame, width: number, rows: number): string[] {
  const blank = rows < LOW_SCREEN ? [] : [""];
  return [
    ...blank,
    ...blank.map(() => rule(width)),
    fit(`  ${theme.bold(frame.title)}`, width),
    ...hintLines(frame.hints, width),
    ...(frame.query === undefined ? [] : [searchLine(frame.query, width, frame.focused ?? false)]),
    rule(width),
    ...blank,
    ...frame.body,
    ...blank,
    rule(width),
  ];
}
