/**
 * Something that takes its time, between two lines, which Escape can stop. Part of `tui/`; exported to extensions.
 */
import { CancellableLoader, Container, Spacer, Text, type TUI } from "@earendil-works/pi-tui";
import type { ExtensionTheme } from "../extensions/ui-port.ts";
import { DynamicBorder } from "./dynamic-border.ts";

export class BorderedLoader extends Container {
  readonly #loader: CancellableLoader;
  readonly #isCancellable: boolean;

  constructor(tui: TUI, theme: ExtensionTheme, message: string, options: { cancellable?: boolean } = {}) {
    super();
    this.#isCancellable = options.cancellable ?? true;
    const border = (): DynamicBorder => new DynamicBorder((text) => theme.fg("border", text));
    this.#loader = new CancellableLoader(
      tui,
      (text) => theme.fg("accent", text),
      (text) => theme.fg("muted", text),
      message,
    );
    this.addChild(border());
    this.addChild(this.#loader);
    if (this.#isCancellable) {
      this.addChild(new Spacer(1));
      this.addChild(new Text(theme.fg("muted", "Escape: cancel"), 1, 0));
    }
    this.addChild(border());
  }

  /** Aborted by Escape. */
  get signal(): AbortSignal {
    return this.#loader.signal;
  }
  get onAbort(): (() => void) | undefined {
    return this.#loader.onAbort;
  }
  set onAbort(listener: (() => void) | undefined) {
    if (listener === undefined) delete this.#loader.onAbort;
    else this.#loader.onAbort = listener;
  }

  handleInput(data: string): void {
    if (this.#isCancellable) this.#loader.handleInput(data);
  }
  dispose(): void {
    this.#loader.dispose();
  }
}
