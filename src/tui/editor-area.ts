/**
 * The place of the editor, which a selector takes while it is open.
 * Part of `tui/`; used by interactive-mode, and by selector-controller through `openSelector`.
 */
import { type Component, Container, type TUI } from "@earendil-works/pi-tui";
import { Fitted } from "./fitted.ts";

/** Shows a component in place of the editor and gives it the keys; the returned function closes it again. */
export type OpenSelector = (component: Component) => () => void;

export class EditorArea extends Container {
  readonly #ui: TUI;
  readonly #editor: Component;
  #selector: Component | undefined;

  constructor(ui: TUI, editor: Component) {
    super();
    this.#ui = ui;
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

  #show(selector: Component | undefined): void {
    this.#selector = selector;
    this.clear();
    this.addChild(new Fitted(selector ?? this.#editor));
    this.#ui.setFocus(selector ?? this.#editor);
    this.#ui.requestRender();
  }
}
