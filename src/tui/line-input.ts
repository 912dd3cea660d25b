/**
 * A question that one line answers, in the place of the editor. Part of `tui/`; used for dialogs of extensions.
 */
import type { Component, Focusable, Input } from "@earendil-works/pi-tui";
import { SafeInput } from "./safe-input.ts";
import { explanation, fit, framed, keyHint } from "./selector-list.ts";
import type { SelectorScreen } from "./selector-list.ts";
import { theme } from "./theme.ts";

export interface LineInputOptions {
  screen: SelectorScreen;
  /** Read at each drawing. */
  title: string;
  /** Explanation; "" for none. */
  text: string;
  /** Shown while nothing is typed. */
  placeholder: string;
  onSubmit(text: string): void;
  onCancel(): void;
}

export class LineInput implements Component, Focusable {
  readonly #options: LineInputOptions;
  readonly #input: Input;

  constructor(options: LineInputOptions) {
    this.#options = options;
    this.#input = new SafeInput({
      placeholder: options.placeholder,
      placeholderStyle: (text) => theme.fg("muted", text),
    });
    this.#input.onSubmit = options.onSubmit;
  }

  get focused(): boolean {
    return this.#input.focused;
  }
  set focused(focused: boolean) {
    this.#input.focused = focused;
  }

  render(width: number): string[] {
    const { screen, title, text } = this.#options;
    const body = [
      ...explanation(text, width, screen.rows()),
      ...this.#input.render(Math.max(1, width)).map((line) => fit(line, width)),
    ];
    const hints = [
      ...keyHint(screen.keybindings, "tui.input.submit", "done"),
      ...keyHint(screen.keybindings, "tui.select.cancel", "back"),
    ];
    return framed({ title, hints, body }, width, screen.rows());
  }

  handleInput(data: string): void {
    if (this.#options.screen.keybindings.matches(data, "tui.select.cancel")) this.#options.onCancel();
    else this.#input.handleInput(data);
  }

  invalidate(): void {
    this.#input.invalidate();
  }
}
