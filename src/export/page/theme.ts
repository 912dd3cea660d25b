/** Light, dark, or as the system is; remembered where the browser allows it. Part of the page. */
const KEY = "bough-export-theme";
const THEMES = ["Auto", "Light", "Dark"] as const;
type Theme = (typeof THEMES)[number];

let theme: Theme = remembered();

export const themeName = (): Theme => theme;

export function nextTheme(): void {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!;
  applyTheme();
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Some browsers keep nothing for pages from a file.
  }
}

export function applyTheme(): void {
  document.documentElement.dataset["theme"] = theme.toLowerCase();
}

function remembered(): Theme {
  try {
    return THEMES.find((name) => name === localStorage.getItem(KEY)) ?? "Auto";
  } catch {
    return "Auto";
  }
}
