/**
 * A component of an extension on bough's screen: bounded to its width, unable to drive the terminal, and taken away when
 * it throws. Part of `tui/`; everything extensions draw is hung in through this.
 */
import type { Component, Focusable } from "@earendil-works/pi-tui";
import type { DisposableComponent } from "../extensions/ui-port.ts";
import { fitLines } from "./fitted.ts";
import { styledLine, styledLineWithCursor } from "./styled-text.ts";

export interface GuardedOptions {
  /** Called once, with what it threw. */
  failed(error: unknown): void;
  /** Drawn in its place afterwards; nothing by default. */
  instead?: () => Component;
  /** It may have the keyboard, and then a cursor. Default false. */
  hasCursor?: boolean;
}

/** More lines are cut. */
const MAX_LINES = 2000;

export class Guarded implements Component, Focusable {
  readonly #inner: DisposableComponent;
  readonly #options: GuardedOptions;
  #isBroken = false;
  #instead: Component | undefined;
  #drawn: { from: readonly string[]; width: number; lines: readonly string[] } | undefined;
  #isDisposed = false;

  constructor(inner: DisposableComponent, options: GuardedOptions) {
    this.#inner = inner;
    this.#options = options;
  }

  /** The keyboard's owner also gets the cursor, if it has one. */
  get focused(): boolean {
    return this.attempt(() => "focused" in this.#inner && this.#inner.focused === true) ?? false;
  }
  set focused(focused: boolean) {
    this.attempt(() => {
      if ("focused" in this.#inner) this.#inner.focused = focused;
    });
  }
  get wantsKeyRelease(): boolean {
    return this.attempt(() => this.#inner.wantsKeyRelease === true) ?? false;
  }

  render(width: number): readonly string[] {
    const from = this.attempt(() => checked(this.#inner.render(width)));
    if (from === undefined) return this.#instead?.render(width) ?? [];
    if (this.#drawn?.from !== from || this.#drawn.width !== width) {
      const lines = from.slice(0, MAX_LINES).map(this.#options.hasCursor === true ? styledLineWithCursor : styledLine);
      this.#drawn = { from, width, lines: fitLines(lines, width) };
    }
    return this.#drawn.lines;
  }

  handleInput(data: string): void {
    this.attempt(() => this.#inner.handleInput?.(data));
  }

  invalidate(): void {
    this.#drawn = undefined;
    this.#instead?.invalidate();
    this.attempt(() => this.#inner.invalidate?.());
  }

  /** Tells the component, once, that it is gone. */
  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    try {
      this.#inner.dispose?.();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** What `action` gives; undefined once something of the component has thrown. */
  attempt<T>(action: () => T): T | undefined {
    if (this.#isBroken) return undefined;
    try {
      return action();
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  #fail(error: unknown): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    this.#instead = this.#options.instead?.();
    this.#options.failed(error);
  }
}

function checked(lines: unknown): readonly string[] {
  if (Array.isArray(lines) && lines.every((line) => typeof line === "string")) return lines;
  throw new TypeError("render must return a list of lines");
}
