/**
 * Colours by meaning: a component asks for a token ("toolTitle"), the theme in use says how it looks.
 * Part of `tui/`; used by every component and handed to extensions' renderers. Themes themselves: themes.ts.
 */
import { type Color, backgroundAnsi, foregroundAnsi, getTerminalColorMode } from "@earendil-works/pi-tui";

/** Every token a theme must colour. Names are those of pi's themes, whose files load here; planMode is bough's. */
export const THEME_TOKENS = [
  "accent",
  "border",
  "borderAccent",
  "borderMuted",
  "success",
  "error",
  "warning",
  "muted",
  "dim",
  "text",
  "thinkingText",
  "scrollbarTrack",
  "scrollbarThumb",
  "selectedBg",
  "searchMatchBg",
  "searchMatchText",
  "userMessageBg",
  "userMessageText",
  "customMessageBg",
  "customMessageText",
  "customMessageLabel",
  "toolPendingBg",
  "toolSuccessBg",
  "toolErrorBg",
  "toolTitle",
  "toolOutput",
  "mdHeading",
  "mdLink",
  "mdLinkUrl",
  "mdCode",
  "mdCodeBlock",
  "mdCodeBlockBorder",
  "mdQuote",
  "mdQuoteBorder",
  "mdHr",
  "mdListBullet",
  "toolDiffAdded",
  "toolDiffRemoved",
  "toolDiffContext",
  "syntaxComment",
  "syntaxKeyword",
  "syntaxFunction",
  "syntaxVariable",
  "syntaxString",
  "syntaxNumber",
  "syntaxType",
  "syntaxOperator",
  "syntaxPunctuation",
  "thinkingOff",
  "thinkingMinimal",
  "thinkingLow",
  "thinkingMedium",
  "thinkingHigh",
  "thinkingXhigh",
  "thinkingMax",
  "bashMode",
  "planMode",
] as const;
export type ThemeToken = (typeof THEME_TOKENS)[number];

/** `undefined`: the terminal's own colour. */
export type ThemeColors = Readonly<Record<ThemeToken, Color | undefined>>;

/** "none" writes no escape sequence at all, as NO_COLOR asks (no-color.org). */
export type ColorMode = "truecolor" | "256color" | "none";

const THINKING_TOKENS = new Map<string, ThemeToken>([
  ["off", "thinkingOff"],
  ["minimal", "thinkingMinimal"],
  ["low", "thinkingLow"],
  ["medium", "thinkingMedium"],
  ["high", "thinkingHigh"],
  ["xhigh", "thinkingXhigh"],
  ["max", "thinkingMax"],
]);

export class Theme {
  readonly name: string;
  readonly #mode: ColorMode;
  readonly #foreground = new Map<ThemeToken, string>();
  readonly #background = new Map<ThemeToken, string>();

  constructor(name: string, colors: ThemeColors, mode: ColorMode) {
    this.name = name;
    this.#mode = mode;
    if (mode === "none") return;
    for (const token of THEME_TOKENS) {
      const color = colors[token];
      this.#foreground.set(token, color === undefined ? "\x1b[39m" : foregroundAnsi(color, mode));
      this.#background.set(token, color === undefined ? "\x1b[49m" : backgroundAnsi(color, mode));
    }
  }

  /** Nothing but the text tells rows apart. */
  get isPlain(): boolean {
    return this.#mode === "none";
  }
  /** The escape sequence that begins a foreground; "" without colours. */
  getFgAnsi(token: ThemeToken): string {
    return this.#foreground.get(token) ?? "";
  }
  /** The escape sequence that begins a background; "" without colours. */
  getBgAnsi(token: ThemeToken): string {
    return this.#background.get(token) ?? "";
  }
  fg(token: ThemeToken, text: string): string {
    return this.#wrap(this.getFgAnsi(token), text, "\x1b[39m");
  }
  bg(token: ThemeToken, text: string): string {
    return this.#wrap(this.getBgAnsi(token), text, "\x1b[49m");
  }
  bold(text: string): string {
    return this.#wrap("\x1b[1m", text, "\x1b[22m");
  }
  italic(text: string): string {
    return this.#wrap("\x1b[3m", text, "\x1b[23m");
  }
  underline(text: string): string {
    return this.#wrap("\x1b[4m", text, "\x1b[24m");
  }
  inverse(text: string): string {
    return this.#wrap("\x1b[7m", text, "\x1b[27m");
  }
  strikethrough(text: string): string {
    return this.#wrap("\x1b[9m", text, "\x1b[29m");
  }
  /** The editor's border for a thinking level; an unknown level looks like "off". */
  getThinkingBorderColor(level: string): (text: string) => string {
    const token = THINKING_TOKENS.get(level) ?? "thinkingOff";
    return (text) => this.fg(token, text);
  }
  /** The editor's border while the draft is a `!command`. */
  getBashModeBorderColor(): (text: string) => string {
    return (text) => this.fg("bashMode", text);
  }

  /** The editor's border while planning. */
  getPlanModeBorderColor(): (text: string) => string {
    return (text) => this.fg("planMode", text);
  }

  #wrap(open: string, text: string, close: string): string {
    return this.#mode === "none" || text === "" ? text : `${open}${text}${close}`;
  }
}

const uncoloured = Object.fromEntries(THEME_TOKENS.map((token) => [token, undefined])) as ThemeColors;

/** The theme in use. Components read it while they render; `setTheme` replaces it (then invalidate the components). */
export let theme = new Theme("plain", uncoloured, "none");

export function setTheme(next: Theme): void {
  theme = next;
}

/** What the terminal can show; "none" when NO_COLOR is set to anything but "" or the terminal is dumb. */
export function colorModeOf(env: NodeJS.ProcessEnv): ColorMode {
  if (env["NO_COLOR"] || env["TERM"] === "dumb") return "none";
  // pi-tui knows the terminals that have true colour without saying so.
  return /^(truecolor|24bit)$/i.test(env["COLORTERM"] ?? "") ? "truecolor" : getTerminalColorMode();
}
