/**
 * Which theme the user's settings mean, and the one that suits the terminal's own colours.
 * Part of `tui/`; used by interactive-mode before it draws, and again by `/reload`.
 */
import { join } from "node:path";
import type { TuiMainScreen } from "@earendil-works/pi-tui";
import { stateDir } from "../session/locations.ts";
import { type ColorMode, setTheme } from "./theme.ts";
import { builtInTheme, findTheme, themeForBackground } from "./themes.ts";

/** Without an answer by then the terminal does not tell its colours. Milliseconds. */
const COLOUR_QUERY = 200;

/** Where the user's theme files lie. */
export const themesDir = (): string => join(stateDir(), "themes");

/** Sets the theme before anything is drawn; what is wrong with the chosen one is returned. */
export function chooseTheme(theme: string | undefined, mode: ColorMode): string | undefined {
  const found = theme === undefined || theme === "auto" ? undefined : findTheme(theme, themesDir(), mode);
  setTheme(found !== undefined && "theme" in found ? found.theme : builtInTheme("dark", mode));
  return found !== undefined && "error" in found ? found.error : undefined;
}

/** Asks the terminal for its background, when the user leaves the theme to it, and draws anew once it has answered. */
export function followTerminalColours(ui: TuiMainScreen, theme: string | undefined, mode: ColorMode): void {
  if ((theme ?? "auto") !== "auto" || mode === "none") return;
  void ui.queryTerminalColors({ timeoutMs: COLOUR_QUERY }).then(({ background }) => {
    if (background === undefined) return;
    setTheme(themeForBackground(background, mode));
    ui.invalidate();
    ui.requestRender();
  });
}
