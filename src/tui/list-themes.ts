/**
 * How pi-tui's lists look in the theme in use. Part of `tui/`; used by the editor's completion and exported to extensions.
 */
import type { SelectListTheme, SettingsListTheme } from "@earendil-works/pi-tui";
import { theme } from "./theme.ts";

export const getSelectListTheme = (): SelectListTheme => ({
  selectedPrefix: (text) => theme.fg("accent", text),
  selectedText: (text) => theme.fg("accent", text),
  description: (text) => theme.fg("muted", text),
  scrollInfo: (text) => theme.fg("muted", text),
  noMatch: (text) => theme.fg("muted", text),
});

export const getSettingsListTheme = (): SettingsListTheme => ({
  label: (text, selected) => (selected ? theme.fg("accent", text) : text),
  value: (text, selected) => theme.fg(selected ? "accent" : "muted", text),
  description: (text) => theme.fg("dim", text),
  cursor: theme.fg("accent", "› "),
  hint: (text) => theme.fg("dim", text),
});
