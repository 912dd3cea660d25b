/**
 * The editor for prompts: pi-tui's editor, with bough's actions in front of it and a border that tells the mode.
 * Part of `tui/`; used by interactive-mode, and what editors of extensions are made of.
 */
import {
  Editor,
  type EditorOptions,
  type EditorTheme,
  type KeybindingsManager,
  type TUI,
} from "@earendil-works/pi-tui";
import type { AppKeybinding } from "./keybindings.ts";
import { getSelectListTheme } from "./list-themes.ts";
import { sanitise } from "./sanitise.ts";
import { theme } from "./theme.ts";
import { TypedBurst } from "./typed-burst.ts";

/** Actions that work while the editor has the keys, in the order they are tried. */
const EDITOR_ACTIONS = [
  "app.interrupt",
  "app.clear",
  "app.exit",
  "app.suspend",
  "app.session.new",
  "app.session.tree",
  "app.session.back",
  "app.session.forward",
  "app.session.fork",
  "app.session.resume",
  "app.thinking.cycle",
  "app.thinking.toggle",
  "app.model.cycleForward",
  "app.model.cycleBackward",
  "app.model.select",
  "app.plan.toggle",
  "app.tools.expand",
  "app.editor.external",
  "app.message.followUp",
  "app.message.dequeue",
  "app.message.copy",
] as const satisfies readonly AppKeybinding[];
export type EditorAction = (typeof EDITOR_ACTIONS)[number];

export const EDITOR_THEME: EditorTheme = {
  borderColor: (text) => theme.fg("border", text),
  selectList: getSelectListTheme(),
};

/**
 * pi-tui 1.6's editor recurses without end over a wide character that its text column cannot hold; below this width
 * it draws as if it had it, and the screen cuts the lines.
 */
const MIN_WIDTH = 4;

/** pi-tui drops the other control characters of a paste itself. */
const PASTE_START = "\x1b[200~";
const PASTE_END = "\x1b[201~";
const DEL_AND_C1 = /[\x7f-\x9f]/g;

/** Runs the first action of a key that takes it; false leaves the key to the editor. */
export const runsAction = (
  keybindings: KeybindingsManager,
  data: string,
  run: (action: EditorAction) => boolean,
): boolean => EDITOR_ACTIONS.some((action) => keybindings.matches(data, action) && run(action));

const isBash = (text: string): boolean => text.trimStart().startsWith("!");

export class PromptEditor extends Editor {
  readonly #keybindings: KeybindingsManager;
  #thinkingLevel = "off";
  #isPlanning = false;
  readonly #burst: TypedBurst;
  /** Returns false to leave the key to the editor. */
  runAction: ((action: EditorAction) => boolean) | undefined;

  constructor(
    ui: TUI,
    keybindings: KeybindingsManager,
    editorTheme: EditorTheme = EDITOR_THEME,
    options: EditorOptions = {},
  ) {
    super(ui, editorTheme, { autocompleteMaxVisible: 8, ...options });
    this.#keybindings = keybindings;
    this.#burst = new TypedBurst({
      key: (data) => this.#handleKey(data),
      paste: (text) => this.#handleKey(`${PASTE_START}${text}${PASTE_END}`),
      late: () => ui.requestRender(),
    });
  }

  /** Nothing but white space in it. */
  get isBlank(): boolean {
    return this.getText().trim() === "";
  }
  /** The draft is a `!command`. */
  get isBashDraft(): boolean {
    return isBash(this.getText());
  }
  setThinkingLevel(level: string): void {
    this.#thinkingLevel = level;
  }

  setPlanning(isPlanning: boolean): void {
    this.#isPlanning = isPlanning;
  }

  override setText(text: string): void {
    this.#burst.flush();
    super.setText(sanitise(text));
  }
  override getText(): string {
    this.#burst.flush();
    return super.getText();
  }
  override getExpandedText(): string {
    this.#burst.flush();
    return super.getExpandedText();
  }
  override addToHistory(text: string): void {
    super.addToHistory(sanitise(text));
  }

  override handleInput(data: string): void {
    if (this.#burst.hold(data)) return;
    this.#burst.flush();
    this.#handleKey(data);
  }

  #handleKey(data: string): void {
    if (!this.#closesMenu(data) && runsAction(this.#keybindings, data, (action) => this.takeAction(action))) return;
    super.handleInput(data.startsWith(PASTE_START) ? data.replace(DEL_AND_C1, "") : data);
  }

  override render(width: number): string[] {
    // What is still coming in is left alone.
    this.borderColor = isBash(super.getText())
      ? theme.getBashModeBorderColor()
      : this.#isPlanning
        ? theme.getPlanModeBorderColor()
        : theme.getThinkingBorderColor(this.#thinkingLevel);
    return super.render(Math.max(MIN_WIDTH, width));
  }

  /** Escape closes the completion menu before it does anything else; the key that clears the draft does that at once. */
  #closesMenu(data: string): boolean {
    const keys = this.#keybindings;
    return this.isShowingAutocomplete() && keys.matches(data, "tui.select.cancel") && !keys.matches(data, "app.clear");
  }

  /** False leaves the key to the editor. */
  protected takeAction(action: EditorAction): boolean {
    return this.runAction?.(action) === true;
  }
}
