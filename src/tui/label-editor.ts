/**
 * One line of text to edit, with a caption: the label of an entry, the name of a session.
 * Part of `tui/`; used by the tree selector and the session picker, whose list it replaces while it is open.
 */
import type { Component, Focusable } from "@earendil-works/pi-tui";
import { SafeInput } from "./safe-input.ts";
import { sanitiseLine } from "./sanitise.ts";
import { fit, hintLines } from "./selector-list.ts";
import { theme } from "./theme.ts";

export interface LabelEditorOptions {
  /** Such as "Label (empty to remove):". */
  caption: string;
  /** The text to start from. */
  text: string;
  /** Gets the trimmed text, undefined when it is empty. */
  onSave(text: string | undefined): void;
  onCancel(): void;
}

export class LabelEditor implements Component, Focusable {
  readonly #options: LabelEditorOptions;
  readonly #input = new SafeInput();

  constructor(options: LabelEditorOptions) {
    this.#options = options;
    // Typed in rather than set: this leaves the cursor behind the text.
    this.#input.handleInput(sanitiseLine(options.text));
    this.#input.onSubmit = (text) => options.onSave(sanitiseLine(text) || undefined);
    this.#input.onEscape = () => options.onCancel();
  }

  get focused(): boolean {
    return this.#input.focused;
  }
  set focused(focused: boolean) {
    this.#input.focused = focused;
  }

  render(width: number): string[] {
    return [
      fit(theme.fg("muted", `  ${this.#options.caption}`), width),
      ...this.#input.render(Math.max(1, width)).map((line) => fit(line, width)),
      ...hintLines(["Enter: save", "Escape: cancel"], width),
    ];
  }

  handleInput(data: string): void {
    this.#input.handleInput(data);
  }

  invalidate(): void {
    this.#input.invalidate();
  }
}
