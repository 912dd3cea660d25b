/** What the selector tests share: a screen of a given height, keys by name, and a component's lines as plain text. */
import { ok } from "node:assert/strict";
import { stripTerminalSequences, visibleWidth } from "@earendil-works/pi-tui";
import type { Component } from "@earendil-works/pi-tui";
import { defaultKeybindings } from "../../src/tui/keybindings.ts";
import { setTheme, Theme, theme, THEME_TOKENS } from "../../src/tui/theme.ts";
import type { ThemeColors } from "../../src/tui/theme.ts";
import type { SelectorScreen } from "../../src/tui/selector-list.ts";

export interface TestScreen extends SelectorScreen {
  renders: number;
}

export function testScreen(rows = 40): TestScreen {
  const keybindings = defaultKeybindings();
  return {
    keybindings,
    renders: 0,
    rows: () => rows,
    requestRender() {
      this.renders++;
    },
  };
}

/** The bytes a terminal sends. */
export const KEYS = {
  up: "\x1b[A",
  down: "\x1b[B",
  right: "\x1b[C",
  left: "\x1b[D",
  home: "\x1b[H",
  end: "\x1b[F",
  pageUp: "\x1b[5~",
  pageDown: "\x1b[6~",
  enter: "\r",
  escape: "\x1b",
  backspace: "\x7f",
  tab: "\t",
  ctrlA: "\x01",
  ctrlC: "\x03",
  ctrlD: "\x04",
  ctrlL: "\x0c",
  ctrlN: "\x0e",
  ctrlO: "\x0f",
  ctrlP: "\x10",
  ctrlR: "\x12",
  ctrlS: "\x13",
  ctrlT: "\x14",
  ctrlU: "\x15",
  ctrlX: "\x18",
  shiftCtrlO: "\x1b[111;6u",
  altA: "\x1ba",
  altD: "\x1bd",
  altL: "\x1bl",
  altT: "\x1bt",
  altU: "\x1bu",
  altUp: "\x1b[1;3A",
  altDown: "\x1b[1;3B",
  shiftL: "L",
  shiftT: "T",
  ctrlLeft: "\x1b[1;5D",
  ctrlRight: "\x1b[1;5C",
  altLeft: "\x1b[1;3D",
  altRight: "\x1b[1;3C",
} as const;
export type KeyName = keyof typeof KEYS;

export function press(component: Component, ...keys: KeyName[]): void {
  for (const key of keys) component.handleInput?.(KEYS[key]);
}

/** Types a text letter by letter. */
export function type(component: Component, text: string): void {
  for (const letter of text) component.handleInput?.(letter);
}

/** The lines without styles and trailing spaces; fails when one is wider than the screen. */
export function lines(component: Component, width = 80): string[] {
  return component.render(width).map((line) => {
    ok(visibleWidth(line) <= width, `line wider than ${width}: ${JSON.stringify(line)}`);
    return stripTerminalSequences(line).trimEnd();
  });
}

const uncoloured = Object.fromEntries(THEME_TOKENS.map((token) => [token, undefined])) as unknown as ThemeColors;
const PLAIN = new Theme("plain", uncoloured, "none");

/** The lines without any colour, whatever theme another test has left behind. */
function plainly(component: Component, width: number): readonly string[] {
  const before = theme;
  setTheme(PLAIN);
  try {
    return component.render(width);
  } finally {
    setTheme(before);
  }
}

/** What bough itself writes where the theme has no colours: the end of a cut line, and the cursor's marks. */
const OWN_SEQUENCES = ["\x1b[0m", "\x1b_pi:fc\x07", "\x1b_pi:/fc\x07", "\x1b_pi:c\x07"];

/** Fails when a line could drive the terminal or is wider than the screen. */
export function inert(component: Component, width: number): void {
  for (const line of plainly(component, width)) {
    ok(visibleWidth(line) <= width, `line wider than ${width}: ${JSON.stringify(line)}`);
    const rest = OWN_SEQUENCES.reduce((text, sequence) => text.replaceAll(sequence, ""), line);
    ok(!/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u.test(rest), `a control reached the screen: ${JSON.stringify(line)}`);
  }
}

/** The lines between the frame's last two rules, without the blank lines beside those. */
export function body(component: Component, width = 80): string[] {
  const all = lines(component, width);
  const [start, end] = all.flatMap((line, index) => (/^─+$/.test(line) ? [index] : [])).slice(-2) as [number, number];
  const isBlank = (line: number): boolean => all[line] === "";
  return all.slice(isBlank(start + 1) ? start + 2 : start + 1, isBlank(end - 1) ? end - 1 : end);
}
