/**
 * The theme as extensions hold it: always the one in use, however long ago they got it.
 * Part of `tui/`; handed to every factory and renderer of an extension, and exported to them.
 */
import type { ExtensionTheme } from "../extensions/ui-port.ts";
import { type Theme, type ThemeToken, theme } from "./theme.ts";

type Extras = Pick<Theme, "getFgAnsi" | "getBgAnsi" | "getThinkingBorderColor" | "getBashModeBorderColor">;

/** Unknown tokens leave the text as it is. */
export const liveTheme: ExtensionTheme & Extras = {
  get name() {
    return theme.name;
  },
  getFgAnsi: (token) => theme.getFgAnsi(token),
  getBgAnsi: (token) => theme.getBgAnsi(token),
  fg: (token, text) => theme.fg(token as ThemeToken, text),
  bg: (token, text) => theme.bg(token as ThemeToken, text),
  bold: (text) => theme.bold(text),
  italic: (text) => theme.italic(text),
  underline: (text) => theme.underline(text),
  inverse: (text) => theme.inverse(text),
  strikethrough: (text) => theme.strikethrough(text),
  getThinkingBorderColor: (level) => theme.getThinkingBorderColor(level),
  getBashModeBorderColor: () => theme.getBashModeBorderColor(),
};
