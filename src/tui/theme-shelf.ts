/**
 * The themes there are, for extensions that look for one or choose one. Part of `tui/`; used by extension-ui.ts.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type ColorMode, Theme, setTheme } from "./theme.ts";
import { findTheme } from "./themes.ts";

const BUILT_IN = ["dark", "light"];

export class ThemeShelf {
  readonly #folder: string;
  readonly #mode: ColorMode;

  /** `folder` may be missing. */
  constructor(folder: string, mode: ColorMode) {
    this.#folder = folder;
    this.#mode = mode;
  }

  /** bough's own and those of the user's files; their content is not looked at. */
  list(): { name: string; path: string | undefined }[] {
    const files = this.#files().map((file) => ({
      name: file.slice(0, -".json".length),
      path: join(this.#folder, file),
    }));
    return [...BUILT_IN.map((name) => ({ name, path: undefined })), ...files];
  }

  /** Undefined when there is none that can be read. */
  find(name: string): Theme | undefined {
    const found = findTheme(name, this.#folder, this.#mode);
    return "theme" in found ? found.theme : undefined;
  }

  /** Makes it the one in use; what is drawn already has to be drawn again. */
  use(chosen: unknown): { success: boolean; error?: string } {
    if (chosen instanceof Theme) setTheme(chosen);
    else if (typeof chosen !== "string") return { success: false, error: "This is no theme." };
    else {
      const found = findTheme(chosen, this.#folder, this.#mode);
      if ("error" in found) return { success: false, error: found.error };
      setTheme(found.theme);
    }
    return { success: true };
  }

  #files(): string[] {
    try {
      return readdirSync(this.#folder).filter((file) => file.endsWith(".json"));
    } catch {
      return [];
    }
  }
}
