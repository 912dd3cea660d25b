/**
 * pi-tui's one-line input, which keeps escape sequences of a pasted text: they must not reach the terminal.
 * Part of `tui/`; used where one line is asked for.
 */
import { Input } from "@earendil-works/pi-tui";
import { sanitise } from "./sanitise.ts";

export class SafeInput extends Input {
  override handleInput(data: string): void {
    super.handleInput(data);
    const text = this.getValue();
    const safe = sanitise(text).replaceAll("\n", " ");
    if (safe !== text) this.setValue(safe);
  }
}
