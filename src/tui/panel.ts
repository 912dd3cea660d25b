/**
 * A block of the chat: its parts one under the other, with a margin and, if wanted, a background.
 * Part of `tui/`; used by the chat rows. Narrow terminals get no margin.
 */
import { type Component, Container, visibleWidth } from "@earendil-works/pi-tui";
import { theme, type ThemeToken } from "./theme.ts";

/** Below this many columns a margin would cost more than it gives. */
const NARROW = 12;

export class Panel implements Component {
  readonly #content = new Container();
  readonly #background: ThemeToken | undefined;
  #drawn: { from: readonly string[]; width: number; lines: readonly string[] } | undefined;

  /** With a background the block also gets an empty row above and below, where colours are shown at all. */
  constructor(parts: readonly Component[], background?: ThemeToken) {
    this.#background = background;
    for (const part of parts) this.#content.addChild(part);
  }

  render(width: number): readonly string[] {
    const margin = width < NARROW ? 0 : 1;
    const inner = Math.max(1, width - 2 * margin);
    const from = this.#content.render(inner);
    if (this.#drawn?.from === from && this.#drawn.width === width) return this.#drawn.lines;
    const lines = from.length === 0 ? [] : this.#frame(from, width, " ".repeat(margin));
    this.#drawn = { from, width, lines };
    return lines;
  }

  invalidate(): void {
    this.#drawn = undefined;
    this.#content.invalidate();
  }

  #frame(lines: readonly string[], width: number, margin: string): string[] {
    const background = this.#background;
    if (background === undefined || theme.isPlain) return lines.map((line) => margin + line);
    const row = (line: string): string =>
      theme.bg(background, line + " ".repeat(Math.max(0, width - visibleWidth(line))));
    return [row(""), ...lines.map((line) => row(margin + line)), row("")];
  }
}
