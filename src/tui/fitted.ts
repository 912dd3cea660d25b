/**
 * Keeps every line within the terminal: a component may draw a wide character into one column, the screen may not.
 * Part of `tui/`; used wherever a component is hung into the screen.
 */
import { type Component, truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";

/** Components return the same array while nothing changed, so a line is measured once, not once a frame. */
const known = new WeakMap<readonly string[], { width: number; lines: readonly string[] }>();

/** `lines`, each cut to `width` cells; the same array for the same input. */
export function fitLines(lines: readonly string[], width: number): readonly string[] {
  const before = known.get(lines);
  if (before?.width === width) return before.lines;
  const fits = lines.every((line) => visibleWidth(line) <= width);
  const fitted = fits ? lines : lines.map((line) => (visibleWidth(line) <= width ? line : cut(line, width)));
  known.set(lines, { width, lines: fitted });
  return fitted;
}

const cut = (line: string, width: number): string => truncateToWidth(line, width, "");

/** A component whose lines never pass the width it is given. */
export class Fitted implements Component {
  readonly #inner: Component;

  constructor(inner: Component) {
    this.#inner = inner;
  }
  render(width: number): readonly string[] {
    return fitLines(this.#inner.render(width), width);
  }
  invalidate(): void {
    this.#inner.invalidate();
  }
}
