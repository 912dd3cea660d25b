/**
 * What bough is doing right now: working, waiting to retry, summarising.
 * Part of `tui/`; used by session-screen above the editor.
 */
import { Container, Loader, type LoaderIndicatorOptions, type TUI } from "@earendil-works/pi-tui";
import { styledLine } from "./styled-text.ts";
import { theme } from "./theme.ts";

/** How an extension wants it to look while the model works; what is undefined is bough's own. */
export interface WorkingLook {
  message: string | undefined;
  isVisible: boolean;
  indicator: LoaderIndicatorOptions | undefined;
}

export class StatusLine extends Container {
  readonly #ui: TUI;
  #loader: Loader | undefined;
  #countdown: NodeJS.Timeout | undefined;
  #look: WorkingLook = { message: undefined, isVisible: true, indicator: undefined };
  /** bough's own text of `showWorking`, while that is shown. */
  #working: string | undefined;

  constructor(ui: TUI) {
    super();
    this.#ui = ui;
  }

  /** Shows `text` with a moving sign in front of it, in place of what was shown before. */
  show(text: string): void {
    this.#stopCountdown();
    this.#working = undefined;
    this.#setText(text);
  }

  /** The same while the model works, as an extension may want it. */
  showWorking(text: string): void {
    this.#stopCountdown();
    this.#working = text;
    if (this.#look.isVisible) this.#setText(this.#look.message ?? text, this.#look.indicator);
    else this.#clear();
  }

  setLook(changes: Partial<WorkingLook>): void {
    this.#look = { ...this.#look, ...changes };
    if (this.#working === undefined) return;
    this.#clear();
    this.showWorking(this.#working);
  }

  /** "Retrying (2/3) in 4s… (Escape to cancel)", counted down each second. */
  countDown(attempt: number, maxAttempts: number, delayMs: number, cancelKey: string): void {
    this.#stopCountdown();
    this.#working = undefined;
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
    this.#working = undefined;
    this.#clear();
  }

  #clear(): void {
    this.#loader?.stop();
    this.#loader = undefined;
    this.clear();
    this.#ui.requestRender();
  }

  #setText(text: string, indicator?: LoaderIndicatorOptions): void {
    if (this.#loader !== undefined) {
      this.#loader.setMessage(styledLine(text));
      return;
    }
    this.#loader = new Loader(
      this.#ui,
      (sign) => theme.fg("accent", sign),
      (message) => theme.fg("muted", message),
      styledLine(text),
      indicator,
    );
    this.addChild(this.#loader);
  }

  #stopCountdown(): void {
    clearInterval(this.#countdown);
    this.#countdown = undefined;
  }
}
