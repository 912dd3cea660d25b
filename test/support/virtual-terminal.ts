/**
 * A terminal for tests: pi-tui's `Terminal` over @xterm/headless, so a test types keys and reads the real screen.
 * Used by the tests of `tui/` and of the interactive mode.
 */
import { UnicodeGraphemesAddon } from "@xterm/addon-unicode-graphemes";
import xterm from "@xterm/headless";
import type { Terminal } from "@earendil-works/pi-tui";

export class VirtualTerminal implements Terminal {
  readonly kittyProtocolActive = false;
  /** Everything the program wrote, in order. */
  output = "";
  title = "";
  #screen: InstanceType<typeof xterm.Terminal>;
  #onInput: ((data: string) => void) | undefined;
  #onResize: (() => void) | undefined;

  constructor(columns = 80, rows = 24) {
    this.#screen = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 100_000 });
    // Without it emoji joined by ZWJ take one column more here than in real terminals.
    this.#screen.loadAddon(new UnicodeGraphemesAddon());
  }

  /** Keys as a terminal sends them, "\r" for Enter; several keys are several calls. */
  type(...keys: string[]): void {
    for (const key of keys) this.#onInput?.(key);
  }
  resize(columns: number, rows: number): void {
    this.#screen.resize(columns, rows);
    this.#onResize?.();
  }
  /** The visible rows, right-trimmed, after everything written so far was drawn. */
  async screen(): Promise<string[]> {
    await this.#drawn();
    const buffer = this.#screen.buffer.active;
    return this.#rows(buffer.viewportY, buffer.viewportY + this.#screen.rows);
  }
  /** Scrollback and screen, right-trimmed, without the empty rows at the end. */
  async scrollback(): Promise<string[]> {
    await this.#drawn();
    const rows = this.#rows(0, this.#screen.buffer.active.length);
    return rows.slice(0, rows.findLastIndex((row) => row !== "") + 1);
  }

  start(onInput: (data: string) => void, onResize: () => void): void {
    this.#onInput = onInput;
    this.#onResize = onResize;
  }
  stop(): void {
    this.#onInput = undefined;
    this.#onResize = undefined;
  }
  async drainInput(): Promise<void> {}
  write(data: string): void {
    this.output += data;
    this.#screen.write(data);
  }
  get columns(): number {
    return this.#screen.cols;
  }
  get rows(): number {
    return this.#screen.rows;
  }
  moveBy(lines: number): void {
    if (lines !== 0) this.write(lines > 0 ? `\x1b[${lines}B` : `\x1b[${-lines}A`);
  }
  hideCursor(): void {
    this.write("\x1b[?25l");
  }
  showCursor(): void {
    this.write("\x1b[?25h");
  }
  clearLine(): void {
    this.write("\x1b[K");
  }
  clearFromCursor(): void {
    this.write("\x1b[J");
  }
  clearScreen(): void {
    this.write("\x1b[2J\x1b[H");
  }
  setTitle(title: string): void {
    this.title = title;
  }
  setProgress(): void {}
  setProgramStatus(): void {}

  #rows(from: number, to: number): string[] {
    const buffer = this.#screen.buffer.active;
    return Array.from({ length: to - from }, (_, row) => buffer.getLine(from + row)?.translateToString(true) ?? "");
  }
  #drawn(): Promise<void> {
    return new Promise((resolve) => this.#screen.write("", resolve));
  }
}

/** Waits until the screen satisfies `wanted`; fails with the screen's text after `milliseconds`. */
export async function untilScreen(
  terminal: VirtualTerminal,
  wanted: (rows: string[]) => boolean,
  milliseconds = 15_000,
): Promise<string[]> {
  const end = Date.now() + milliseconds;
  for (;;) {
    const rows = await terminal.screen();
    if (wanted(rows)) return rows;
    if (Date.now() > end) throw new Error(`The screen did not become as expected:\n${rows.join("\n")}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
