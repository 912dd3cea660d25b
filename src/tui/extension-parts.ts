/**
 * The places of the screen that extensions may fill: in front of the chat, around the editor, below it.
 * Part of `tui/`; hung in by session-screen, filled by extension-ui.ts.
 */
import type { Component } from "@earendil-works/pi-tui";
import type { Guarded } from "./guarded.ts";
import { note } from "./selector-list.ts";

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

/** The areas of widgets above and below the editor, which together take a third of the terminal at most. */
export function widgetAreas(rows: () => number): { above: WidgetArea; below: WidgetArea } {
  const most = (): number => Math.max(2, Math.floor(rows() / 3));
  const halfOf = (other: () => WidgetArea, half: () => number): WidgetArea =>
    // The other one is drawn to be measured only where it matters.
    new WidgetArea((width, wanted) => (wanted <= half() ? wanted : most() - other().height(width, most() - half())));
  const above = halfOf(
    () => below,
    () => Math.ceil(most() / 2),
  );
  const below = halfOf(
    () => above,
    () => Math.floor(most() / 2),
  );
  return { above, below };
}

/** Widgets one under the other, in the order in which their keys were first used. */
export class WidgetArea implements Component {
  readonly #widgets = new Map<string, Guarded>();
  readonly #room: (width: number, wanted: number) => number;

  /** `room`: for how many of the lines that it has there is room. */
  constructor(room: (width: number, wanted: number) => number) {
    this.#room = room;
  }

  /** undefined takes the widget of that key away. */
  set(key: string, widget: Guarded | undefined): void {
    this.#widgets.get(key)?.dispose();
    if (widget === undefined) this.#widgets.delete(key);
    else this.#widgets.set(key, widget);
  }
  has(key: string): boolean {
    return this.#widgets.has(key);
  }
  /** Lines that its widgets have, up to `most`. */
  height(width: number, most: number): number {
    return Math.min(this.#lines(width).length, most);
  }
  render(width: number): readonly string[] {
    const lines = this.#lines(width);
    const room = this.#room(width, lines.length);
    if (lines.length <= room) return lines;
    const shown = lines.slice(0, room - 1);
    return [...shown, note(`… ${lines.length - shown.length} more lines`, width)];
  }
  invalidate(): void {
    for (const widget of this.#widgets.values()) widget.invalidate();
  }

  #lines(width: number): readonly string[] {
    return [...this.#widgets.values()].flatMap((widget) => widget.render(width));
  }
}
