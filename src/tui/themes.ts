/**
 * The built-in themes and the reader of theme files.
 * Part of `tui/`; used by theme-choice and by settings that name a theme.
 * File format: JSON `{name, vars?, colors}`; a colour is "#rrggbb", an index 0–255, the name of a var, or "" for the
 * terminal's own.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Color, parseColor, type RgbColor } from "@earendil-works/pi-tui";
import { THEME_TOKENS, Theme, type ColorMode, type ThemeColors, type ThemeToken } from "./theme.ts";

type ColorNames = Readonly<Record<ThemeToken, string>>;

const DARK: ColorNames = {
  accent: "#7cb7a3",
  border: "#5f7d95",
  borderAccent: "#7cb7a3",
  borderMuted: "#4a5057",
  success: "#8fbf6f",
  error: "#e06c6c",
  warning: "#e0b45c",
  muted: "#8b949e",
  dim: "#6a727b",
  text: "",
  thinkingText: "#8b949e",
  scrollbarTrack: "#30363d",
  scrollbarThumb: "#6a727b",
  selectedBg: "#2d3a3f",
  searchMatchBg: "#5c4a1e",
  searchMatchText: "#ffd98a",
  userMessageBg: "#2b3038",
  userMessageText: "",
  customMessageBg: "#2c2937",
  customMessageText: "",
  customMessageLabel: "#b79de0",
  toolPendingBg: "#262a31",
  toolSuccessBg: "#243029",
  toolErrorBg: "#382a2a",
  toolTitle: "",
  toolOutput: "#9aa3ad",
  mdHeading: "#e0b45c",
  mdLink: "#79b8ea",
  mdLinkUrl: "#6a727b",
  mdCode: "#7cb7a3",
  mdCodeBlock: "#b7c3cf",
  mdCodeBlockBorder: "#4a5057",
  mdQuote: "#9aa3ad",
  mdQuoteBorder: "#5f7d95",
  mdHr: "#4a5057",
  mdListBullet: "#7cb7a3",
  toolDiffAdded: "#8fbf6f",
  toolDiffRemoved: "#e06c6c",
  toolDiffContext: "#8b949e",
  syntaxComment: "#7a8a6f",
  syntaxKeyword: "#79a8e0",
  syntaxFunction: "#d8cf96",
  syntaxVariable: "#a5cbe8",
  syntaxString: "#d09a7c",
  syntaxNumber: "#b2cfa0",
  syntaxType: "#6cc5b4",
  syntaxOperator: "#c7ccd1",
  syntaxPunctuation: "#c7ccd1",
  thinkingOff: "#4a5057",
  thinkingMinimal: "#6a727b",
  thinkingLow: "#5f8db3",
  thinkingMedium: "#79b8ea",
  thinkingHigh: "#a48fd6",
  thinkingXhigh: "#c78fd6",
  thinkingMax: "#e08fb4",
  bashMode: "#8fbf6f",
  planMode: "#e0965c",
};

const LIGHT: ColorNames = {
  accent: "#2f7d69",
  border: "#4f7391",
  borderAccent: "#2f7d69",
  borderMuted: "#b4bac0",
  success: "#4b7d2b",
  error: "#b03a3a",
  warning: "#8f6410",
  muted: "#5f6873",
  dim: "#7b848e",
  text: "",
  thinkingText: "#5f6873",
  scrollbarTrack: "#d8dde2",
  scrollbarThumb: "#9aa3ad",
  selectedBg: "#d5e6e1",
  searchMatchBg: "#f5e2ae",
  searchMatchText: "#5c4300",
  userMessageBg: "#e7eaee",
  userMessageText: "",
  customMessageBg: "#ece7f4",
  customMessageText: "",
  customMessageLabel: "#6c4fa8",
  toolPendingBg: "#e9ecf1",
  toolSuccessBg: "#e4f0e2",
  toolErrorBg: "#f6e3e3",
  toolTitle: "",
  toolOutput: "#5f6873",
  mdHeading: "#8f6410",
  mdLink: "#2a66a0",
  mdLinkUrl: "#7b848e",
  mdCode: "#2f7d69",
  mdCodeBlock: "#3d4650",
  mdCodeBlockBorder: "#b4bac0",
  mdQuote: "#5f6873",
  mdQuoteBorder: "#4f7391",
  mdHr: "#b4bac0",
  mdListBullet: "#2f7d69",
  toolDiffAdded: "#4b7d2b",
  toolDiffRemoved: "#b03a3a",
  toolDiffContext: "#5f6873",
  syntaxComment: "#5b7a3f",
  syntaxKeyword: "#1f4fb0",
  syntaxFunction: "#75601c",
  syntaxVariable: "#22558a",
  syntaxString: "#9a3b1f",
  syntaxNumber: "#2b7a4b",
  syntaxType: "#237a86",
  syntaxOperator: "#30363d",
  syntaxPunctuation: "#30363d",
  thinkingOff: "#b4bac0",
  thinkingMinimal: "#8b949e",
  thinkingLow: "#4f7391",
  thinkingMedium: "#2a66a0",
  thinkingHigh: "#6c4fa8",
  thinkingXhigh: "#8b3fa0",
  thinkingMax: "#a8326f",
  bashMode: "#4b7d2b",
  planMode: "#9a4b10",
};

/** Tokens that pi's themes do not have, and what stands in for them there. */
const STAND_INS: Readonly<Partial<Record<ThemeToken, ThemeToken>>> = { planMode: "warning" };

const BUILT_IN = { dark: DARK, light: LIGHT };

export function builtInTheme(name: keyof typeof BUILT_IN, mode: ColorMode): Theme {
  const names = BUILT_IN[name];
  return new Theme(
    name,
    toColors((token) => names[token]),
    mode,
  );
}

/** The built-in theme that can be read on a background. */
export function themeForBackground(background: RgbColor, mode: ColorMode): Theme {
  // Perceived lightness of sRGB (ITU-R BT.601), 0–255.
  const lightness = 0.299 * background.r + 0.587 * background.g + 0.114 * background.b;
  return builtInTheme(lightness > 128 ? "light" : "dark", mode);
}

/** The built-in theme of a name, else the one in `<folder>/<name>.json`, else a sentence that says what is wrong. */
export function findTheme(name: string, folder: string, mode: ColorMode): { theme: Theme } | { error: string } {
  if (name === "dark" || name === "light") return { theme: builtInTheme(name, mode) };
  const path = join(folder, `${name}.json`);
  if (!/^[\w-]+$/.test(name)) return { error: `"${name}" is no name of a theme; use letters, digits, - and _.` };
  try {
    const parsed = parseTheme(readFileSync(path, "utf8"), mode);
    return "error" in parsed ? { error: `${path}: ${parsed.error}` } : parsed;
  } catch (error) {
    return { error: `The theme "${name}" cannot be read from ${path} (${(error as NodeJS.ErrnoException).code}).` };
  }
}

/** Reads a theme file's text. A missing or unreadable token of pi's is an error that names it; nothing is guessed. */
export function parseTheme(json: string, mode: ColorMode): { theme: Theme } | { error: string } {
  try {
    const file = JSON.parse(json) as { name?: unknown; vars?: object; colors?: object };
    const colors = new Map(Object.entries(file.colors ?? {}));
    const vars = new Map(Object.entries(file.vars ?? {}));
    const unknown = [...colors.keys()].find((token) => !(THEME_TOKENS as readonly string[]).includes(token));
    if (unknown !== undefined) return { error: `The theme has a colour for "${unknown}", which is no token.` };
    for (const [token, standIn] of Object.entries(STAND_INS))
      if (!colors.has(token)) colors.set(token, colors.get(standIn));
    const missing = THEME_TOKENS.find((token) => !colors.has(token));
    if (missing !== undefined) return { error: `The theme has no colour for "${missing}".` };
    const value = (token: ThemeToken): unknown => {
      const named = colors.get(token);
      return typeof named === "string" && vars.has(named) ? vars.get(named) : named;
    };
    return { theme: new Theme(typeof file.name === "string" ? file.name : "custom", toColors(value), mode) };
  } catch (error) {
    return { error: `The theme cannot be read: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function toColors(value: (token: ThemeToken) => unknown): ThemeColors {
  const colors = new Map<ThemeToken, Color | undefined>();
  for (const token of THEME_TOKENS) colors.set(token, toColor(token, value(token)));
  return Object.fromEntries(colors) as ThemeColors;
}

function toColor(token: ThemeToken, value: unknown): Color | undefined {
  if (value === "") return undefined;
  const readable =
    (typeof value === "string" && /^#[0-9a-f]{6}$/i.test(value)) ||
    (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 255);
  if (!readable) throw new Error(`"${token}" is not a colour`);
  return parseColor(value as string | number);
}
