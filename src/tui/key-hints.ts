/**
 * Keys as hints show them. Part of `tui/`; what extensions draw gets them, and may import them.
 */
import { getKeybindings } from "@earendil-works/pi-tui";
import type { Keybinding } from "@earendil-works/pi-tui";
import type { KeyHints } from "../extensions/api.ts";
import { theme } from "./theme.ts";

/** The keys an action has, "ctrl+o"; "" for none. */
export const keyText = (action: string): string =>
  getKeybindings()
    .getKeys(action as Keybinding)
    .join("/");

/** "ctrl+o to expand", coloured. */
export const keyHint = (action: string, description: string): string => rawKeyHint(keyText(action), description);

/** The same for a key that no action has. */
export const rawKeyHint = (key: string, description: string): string =>
  `${theme.fg("dim", key)}${theme.fg("muted", ` ${description}`)}`;

export const KEY_HINTS: KeyHints = { keyText, keyHint };
