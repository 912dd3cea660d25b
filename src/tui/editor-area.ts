/**
 * The place of the editor, which a selector takes while it is open.
 * Part of `tui/`; used by session-screen, and by selector-controller through `openSelector`.
 */
import { type Component, Container, type TUI } from "@earendil-works/pi-tui";
import { Fitted } from "./fitted.ts";

/** Shows a component in place of the editor and gives it the keys; the returned function closes it again. */
export type OpenSelector = (component: Component) => () => void;

const ESCAPE = "\x1b";

export class EditorArea extends Container {
  readonly #ui: TUI;
  readonly #editor: Component;
  #selector: Component | undefined;
  /** Hears what has the editor's place from now on; undefined: the editor. */
  onChange: ((shown: Component | undefined) => void) | undefined;

  constructor(ui: TUI, editor: Component) {
    super();
    this.#ui = ui;
    ui.addInputListener((data) => this.#splitEscapes(data));
    this.#editor = editor;
    this.addChild(new Fitted(editor));
  }

  get isSelectorOpen(): boolean {
    return this.#selector !== undefined;
  }

  /** A selector opened over another replaces it; closing one that was replaced does nothing. */
  readonly openSelector: OpenSelector = (component) => {
    this.#show(component);
    return () => {
      if (this.#selector === component) this.#show(undefined);
    };
  };

  /**
   * Two presses of Escape that arrive in one read, over a slow line or through tmux, come from pi-tui as one key that
   * nothing is bound to. The second goes to whatever the first has left open.
   */
  #splitEscapes(data: string): { consume: true } | undefined {
    if (data !== ESCAPE + ESCAPE) return undefined;
    for (let press = 0; press < 2; press++) (this.#selector ?? this.#editor).handleInput?.(ESCAPE);
    this.#ui.requestRender();
    return { consume: true };
  }

  #show(selector: Component | undefined): void {
    this.#selector = selector;
    this.clear();
    this.addChild(new Fitted(selector ?? this.#editor));
    this.#ui.setFocus(selector ?? this.#editor);
    this.#ui.requestRender();
    this.onChange?.(selector);
  }
}
