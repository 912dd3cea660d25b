/**
 * Small texts that extensions show: keys, ranges of lines, changes of files. Part of `cli/`; see coding-agent.ts.
 */
import { getKeybindings } from "@earendil-works/pi-tui";
import type { Keybinding } from "@earendil-works/pi-tui";
import { colourDiff } from "../../tui/diff-view.ts";
import { theme } from "../../tui/theme.ts";

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

/** ":10-29", ":10" or "" for the arguments of a call of read. */
export function formatReadLineRange(offset: unknown, limit: unknown): string {
  if (typeof offset !== "number" && typeof limit !== "number") return "";
  const first = typeof offset === "number" ? offset : 1;
  return typeof limit === "number" ? `:${first}-${first + limit - 1}` : `:${first}`;
}

/** A unified diff, coloured. */
export const renderDiff = (diff: string): string => colourDiff(diff.split("\n")).join("\n");
