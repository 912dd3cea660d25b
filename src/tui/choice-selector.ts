/**
 * A question with a few answers, in the place of the editor. Part of `tui/`; used by selector-controller where it needs
 * to know more before it acts.
 */
import type { Component } from "@earendil-works/pi-tui";
import { explanation, framed, keyHint, listHeight, movedSelection, note, row, windowStart } from "./selector-list.ts";
import type { SelectorScreen } from "./selector-list.ts";

export interface ChoiceSelectorOptions<T> {
  screen: SelectorScreen;
  /** Read at each drawing. */
  title: string;
  /** One or two sentences of explanation; "" for none. */
  text: string;
  choices: readonly { label: string; value: T }[];
  onSelect(value: T): void;
  onCancel(): void;
}

/** A question whose answers are what is done. */
export interface Question {
  title: string;
  text: string;
  choices: readonly { label: string; value: () => void }[];
  /** Escape. */
  onCancel(): void;
}

export class ChoiceSelector<T> implements Component {
  readonly #options: ChoiceSelectorOptions<T>;
  #selected = 0;

  constructor(options: ChoiceSelectorOptions<T>) {
    this.#options = options;
  }

  render(width: number): string[] {
    const { screen, title, text, choices } = this.#options;
    const height = listHeight(screen.rows());
    const start = windowStart(this.#selected, choices.length, height);
    const shown = choices.slice(start, start + height);
    const body = [
      ...explanation(text, width, screen.rows()),
      ...shown.map(({ label }, index) => row(label, start + index === this.#selected, width)),
      ...(shown.length < choices.length ? [note(`(${this.#selected + 1}/${choices.length})`, width)] : []),
    ];
    const hints = [
      ...keyHint(screen.keybindings, "tui.select.confirm", "choose"),
      ...keyHint(screen.keybindings, "tui.select.cancel", "back"),
    ];
    return framed({ title, hints, body }, width, screen.rows());
  }

  handleInput(data: string): void {
    const { screen, choices, onSelect, onCancel } = this.#options;
    const moved = movedSelection(screen.keybindings, data, this.#selected, choices.length, choices.length);
    if (moved !== undefined) {
      this.#selected = moved;
      screen.requestRender();
    } else if (screen.keybindings.matches(data, "tui.select.confirm")) {
      const choice = choices[this.#selected];
      if (choice !== undefined) onSelect(choice.value);
    } else if (screen.keybindings.matches(data, "tui.select.cancel")) onCancel();
  }

  invalidate(): void {}
}
