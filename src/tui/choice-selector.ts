/**
 * A question with a few answers, in the place of the editor. Part of `tui/`; used by selector-controller where it needs
 * to know more before it acts.
 */
import type { Component } from "@earendil-works/pi-tui";
import { wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { fit, framed, keyHint, movedSelection, row } from "./selector-list.ts";
import type { SelectorScreen } from "./selector-list.ts";

export interface ChoiceSelectorOptions<T> {
  screen: SelectorScreen;
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
    const explained = text === "" ? [] : [...wrapTextWithAnsi(text, Math.max(1, width - 4)), ""];
    const body = [
      ...explained.map((line) => fit(line === "" ? "" : `  ${line}`, width)),
      ...choices.map(({ label }, index) => row(label, index === this.#selected, width)),
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
