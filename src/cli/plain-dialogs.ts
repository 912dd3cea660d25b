/**
 * Dialogs of extensions before anything is drawn, a line each. Part of `cli/`; used by terminal-mode.ts.
 */
import { NO_UI } from "../extensions/ui-port.ts";
import type { UiFor, UiPort } from "../extensions/ui-port.ts";
import { sanitise } from "../tui/sanitise.ts";
import { askLine } from "./ask-line.ts";

/** Nothing typed, or what is no answer, cancels. */
const PLAIN_DIALOGS: Pick<UiPort, "select" | "confirm" | "input" | "notify"> = {
  select: async (title, options, { signal } = {}) => {
    const numbered = options.map((option, index) => `  ${index + 1}  ${sanitise(option)}\n`);
    const answer = await askLine(`${sanitise(title)}\n${numbered.join("")}Which number? `, signal);
    return options[Number(answer) - 1];
  },
  confirm: async (title, message, { signal } = {}) =>
    /^(?:y|yes)$/i.test((await askLine(`${sanitise(title)}\n${sanitise(message)} [y/N] `, signal)).trim()),
  input: async (title, _placeholder, { signal } = {}) => (await askLine(`${sanitise(title)}: `, signal)) || undefined,
  notify: (text) => void process.stdout.write(`${sanitise(text)}\n`),
};

export const plainDialogs: UiFor = () => ({ ...NO_UI, ...PLAIN_DIALOGS });
