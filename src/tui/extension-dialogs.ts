/**
 * Dialogs of extensions: one after the other in the place of the editor, each answered by the user, by its time limit,
 * by its signal, or when its extension is gone. Part of `tui/`; used by extension-ui.ts.
 */
import type { Component } from "@earendil-works/pi-tui";
import type { OpenSelector } from "./editor-area.ts";

/** The place of the editor, as dialogs share it with bough's own selectors. */
export interface DialogPlace {
  open: OpenSelector;
  /** Something else is there now. */
  isTaken(): boolean;
  requestRender(): void;
}

export interface DialogTerms {
  /** Each of them ends it unanswered. */
  signals: readonly (AbortSignal | undefined)[];
  /** Ends it unanswered so many milliseconds after it has been shown. */
  timeout?: number | undefined;
}

/** Seconds that a dialog still has; undefined without a limit. */
export type SecondsLeft = () => number | undefined;

interface Dialog {
  component: Component;
  timeout: number | undefined;
  /** When it ends by itself, in milliseconds of the clock; set when it is first shown. */
  deadline?: number;
  end(): void;
}

/** Often enough for seconds that run down. Milliseconds. */
const TICK = 200;

export class ExtensionDialogs {
  readonly #place: DialogPlace;
  readonly #waiting: Dialog[] = [];
  #shown: { dialog: Dialog; close: () => void; timer: NodeJS.Timeout | undefined } | undefined;

  constructor(place: DialogPlace) {
    this.#place = place;
  }

  /** Undefined when it ended unanswered. */
  ask<T>(
    make: (answer: (value: T | undefined) => void, left: SecondsLeft) => Component,
    { signals, timeout }: DialogTerms,
  ): Promise<T | undefined> {
    const present = signals.filter((signal) => signal !== undefined);
    if (present.some(({ aborted }) => aborted)) return Promise.resolve(undefined);
    const { promise, resolve } = Promise.withResolvers<T | undefined>();
    const answer = (value: T | undefined): void => {
      for (const signal of present) signal.removeEventListener("abort", dialog.end);
      resolve(value);
      this.#remove(dialog);
    };
    const dialog: Dialog = {
      component: make(answer, () => secondsLeft(dialog)),
      timeout: timeout !== undefined && timeout > 0 ? timeout : undefined,
      end: () => answer(undefined),
    };
    for (const signal of present) signal.addEventListener("abort", dialog.end, { once: true });
    this.#waiting.push(dialog);
    this.#showNext();
    return promise;
  }

  /** What is in the editor's place has changed; a dialog that bough's own selector took away comes back after it. */
  placeChanged(component: Component | undefined): void {
    if (this.#shown !== undefined && component !== this.#shown.dialog.component) {
      const { dialog, timer } = this.#shown;
      clearInterval(timer);
      this.#shown = undefined;
      this.#waiting.unshift(dialog);
    }
    if (component === undefined) this.#showNext();
  }

  #showNext(): void {
    if (this.#shown !== undefined || this.#place.isTaken()) return;
    const dialog = this.#waiting.shift();
    if (dialog === undefined) return;
    if (dialog.timeout !== undefined) dialog.deadline ??= Date.now() + dialog.timeout;
    const shown = { dialog, close: () => {}, timer: this.#countDown(dialog) };
    this.#shown = shown;
    shown.close = this.#place.open(dialog.component);
  }

  #countDown(dialog: Dialog): NodeJS.Timeout | undefined {
    const { deadline, timeout } = dialog;
    if (deadline === undefined || timeout === undefined) return undefined;
    return setInterval(
      () => {
        if (Date.now() >= deadline) dialog.end();
        else this.#place.requestRender();
      },
      Math.min(TICK, timeout),
    );
  }

  #remove(dialog: Dialog): void {
    const at = this.#waiting.indexOf(dialog);
    if (at >= 0) this.#waiting.splice(at, 1);
    if (this.#shown?.dialog !== dialog) return;
    const { close, timer } = this.#shown;
    clearInterval(timer);
    this.#shown = undefined;
    close();
  }
}

const secondsLeft = ({ deadline }: Dialog): number | undefined =>
  deadline === undefined ? undefined : Math.max(0, Math.ceil((deadline - Date.now()) / 1000));
