/**
 * `Questions`: asks the user in the place of the editor and waits for the answer.
 * Part of `tui/`; used by what needs several answers one after the other, such as a jump with a summary.
 */
import type { Component } from "@earendil-works/pi-tui";
import { ChoiceSelector } from "./choice-selector.ts";
import type { ChoiceSelectorOptions } from "./choice-selector.ts";
import type { PromptEditor } from "./prompt-editor.ts";
import type { SelectorScreen } from "./selector-list.ts";
import { TextEditor } from "./text-editor.ts";

/** Where questions appear. */
export interface QuestionPlace {
  screen: SelectorScreen;
  open(component: Component): void;
  close(): void;
  newEditor(): PromptEditor;
}

/**
 * Answers are undefined after Escape. A question that is closed from outside, as when another session is opened, is never
 * answered.
 */
export class Questions {
  readonly #place: QuestionPlace;

  constructor(place: QuestionPlace) {
    this.#place = place;
  }

  choose<T>(question: Pick<ChoiceSelectorOptions<T>, "title" | "text" | "choices">): Promise<T | undefined> {
    const { screen } = this.#place;
    return this.#ask((answer) => {
      const onCancel = (): void => answer(undefined);
      return new ChoiceSelector<T>({ ...question, screen, onSelect: answer, onCancel });
    });
  }

  /** A text of several lines. */
  write(question: { title: string; text: string }): Promise<string | undefined> {
    const { screen, newEditor } = this.#place;
    return this.#ask((answer) => {
      const onCancel = (): void => answer(undefined);
      return new TextEditor({ ...question, screen, editor: newEditor(), onSubmit: answer, onCancel });
    });
  }

  #ask<T>(makeComponent: (answer: (value: T | undefined) => void) => Component): Promise<T | undefined> {
    return new Promise((resolve) => {
      const component = makeComponent((value) => {
        this.#place.close();
        resolve(value);
      });
      this.#place.open(component);
    });
  }
}
