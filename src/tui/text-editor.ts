/**
 * A text of several lines to write, with a title, in the place of the editor.
 * Part of `tui/`; shown through `Questions`.
 */
import type { Component, Focusable } from "@earendil-works/pi-tui";
import type { PromptEditor } from "./prompt-editor.ts";
import { framed, keyHint } from "./selector-list.ts";
import type { SelectorScreen } from "./selector-list.ts";

export interface TextEditorOptions {
  screen: SelectorScreen;
  title: string;
  /** One that nobody else uses. */
  editor: PromptEditor;
  /** The text to start from. */
  text: string;
  onSubmit(text: string): void;
  onCancel(): void;
}

export class TextEditor implements Component, Focusable {
  readonly #options: TextEditorOptions;

  constructor(options: TextEditorOptions) {
    this.#options = options;
    options.editor.setText(options.text);
    options.editor.onSubmit = options.onSubmit;
  }

  get focused(): boolean {
    return this.#options.editor.focused;
  }
  set focused(focused: boolean) {
    this.#options.editor.focused = focused;
  }

  render(width: number): string[] {
    const { screen, title, editor } = this.#options;
    const hints = [
      ...keyHint(screen.keybindings, "tui.input.submit", "done"),
      ...keyHint(screen.keybindings, "tui.input.newLine", "new line"),
      ...keyHint(screen.keybindings, "tui.select.cancel", "back"),
    ];
    return framed({ title, hints, body: editor.render(width) }, width, screen.rows());
  }

  handleInput(data: string): void {
    const { screen, editor, onCancel } = this.#options;
    if (screen.keybindings.matches(data, "tui.select.cancel")) onCancel();
    else editor.handleInput(data);
  }

  invalidate(): void {
    this.#options.editor.invalidate();
  }
}
