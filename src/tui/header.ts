/**
 * The first lines of the screen: name and version, and the keys one needs first.
 * Part of `tui/`; used by session-screen.
 */
import { Container, Text } from "@earendil-works/pi-tui";
import { theme } from "./theme.ts";

export interface HeaderText {
  version: string;
  /** One line, such as "Escape stops · / commands · ! shell". */
  hints: string;
}

export class Header extends Container {
  readonly #text: HeaderText;

  constructor(text: HeaderText) {
    super();
    this.#text = text;
    this.invalidate();
  }
  override invalidate(): void {
    this.clear();
    const { version, hints } = this.#text;
    this.addChild(new Text(`${theme.fg("accent", theme.bold("bough"))} ${theme.fg("dim", version)}`, 1, 0));
    this.addChild(new Text(theme.fg("dim", hints), 1, 0));
  }
}
