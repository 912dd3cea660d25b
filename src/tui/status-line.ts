/**
 * What bough is doing right now: working, waiting to retry, summarising.
 * Part of `tui/`; used by interactive-mode above the editor.
 */
import { Container, Loader, type TUI } from "@earendil-works/pi-tui";
import { bounded } from "./shown-text.ts";
import { theme } from "./theme.ts";

export class StatusLine extends Container {
  readonly #ui: TUI;
  #loader: Loader | undefined;
  #countdown: NodeJS.Timeout | undefined;

  constructor(ui: TUI) {
    super();
    this.#ui = ui;
  }

  /** Shows `text` with a moving sign in front of it, in place of what was shown before. */
  show(text: string): void {
    this.#stopCountdown();
    this.#setText(text);
  }

  /** "Retrying (2/3) in 4s… (Escape to cancel)", counted down each second. */
  countDown(attempt: number, maxAttempts: number, delayMs: number, cancelKey: string): void {
    this.#stopCountdown();
    let seconds = Math.ceil(delayMs / 1000);
    const tell = (): void =>
      this.#setText(`Retrying (${attempt}/${maxAttempts}) in ${seconds}s… (${cancelKey} to cancel)`);
    tell();
    this.#countdown = setInterval(() => {
      seconds = Math.max(0, seconds - 1);
      tell();
    }, 1000);
  }

  hide(): void {
    this.#stopCountdown();
    this.#loader?.stop();
    this.#loader = undefined;
    this.clear();
    this.#ui.requestRender();
  }

  #setText(text: string): void {
    if (this.#loader !== undefined) {
      this.#loader.setMessage(bounded(text));
      return;
    }
    this.#loader = new Loader(
      this.#ui,
      (sign) => theme.fg("accent", sign),
      (message) => theme.fg("muted", message),
      bounded(text),
    );
    this.addChild(this.#loader);
  }

  #stopCountdown(): void {
    clearInterval(this.#countdown);
    this.#countdown = undefined;
  }
}
