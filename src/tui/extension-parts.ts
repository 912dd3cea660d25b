/**
 * The places of the screen that extensions may fill: in front of the chat, around the editor, below it.
 * Part of `tui/`; hung in by session-screen, filled by extension-ui.ts.
 */
import { type Component, Container } from "@earendil-works/pi-tui";
import type { Guarded } from "./guarded.ts";

/** A part of bough's that an extension's may stand in for. */
export class ReplaceablePart implements Component {
  readonly #own: Component;
  #other: Guarded | undefined;

  constructor(own: Component) {
    this.#own = own;
  }

  /** undefined brings bough's own back. */
  replace(other: Guarded | undefined): void {
    this.#other?.dispose();
    this.#other = other;
  }
  /** Takes `other` away, if it is still there. */
  restore(other: Guarded): void {
    if (this.#other === other) this.replace(undefined);
  }
  render(width: number): readonly string[] {
    return (this.#other ?? this.#own).render(width);
  }
  invalidate(): void {
    this.#own.invalidate();
    this.#other?.invalidate();
  }
}

/** Widgets one under the other, in the order in which their keys were first used. */
export class WidgetArea extends Container {
  readonly #widgets = new Map<string, Guarded>();

  /** undefined takes the widget of that key away. */
  set(key: string, widget: Guarded | undefined): void {
    this.#widgets.get(key)?.dispose();
    if (widget === undefined) this.#widgets.delete(key);
    else this.#widgets.set(key, widget);
    this.clear();
    for (const each of this.#widgets.values()) this.addChild(each);
  }
  has(key: string): boolean {
    return this.#widgets.has(key);
  }
}
