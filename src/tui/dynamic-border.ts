/**
 * A line over the whole width. Part of `tui/`; exported to extensions.
 */
import type { Component } from "@earendil-works/pi-tui";
import { theme } from "./theme.ts";

export class DynamicBorder implements Component {
  readonly #colour: (text: string) => string;

  constructor(colour: (text: string) => string = (text) => theme.fg("border", text)) {
    this.#colour = colour;
  }
  render(width: number): string[] {
    return [this.#colour("─".repeat(Math.max(1, width)))];
  }
  invalidate(): void {}
}
