/**
 * The real bough program in a real terminal (pty), its screen kept by a headless xterm. For end-to-end tests.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { spawn, type IPty } from "@lydell/node-pty";
import xterm from "@xterm/headless";

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

export interface ProgramOptions {
  args?: string[];
  cwd: string;
  /** HOME, and with it ~/.bough. */
  home: string;
  env?: Record<string, string>;
  columns?: number;
  rows?: number;
}

/** A new empty folder for one test. */
export const newFolder = (name: string): string => mkdtempSync(join(tmpdir(), `bough-${name}-`));

/** An environment with nothing of the machine's in it that bough could take for a key or a setting. */
export function cleanEnvironment(home: string, extra: Record<string, string> = {}): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    TERM: "xterm-256color",
    COLORTERM: "truecolor",
    LANG: "C.UTF-8",
    TMPDIR: tmpdir(),
    ...reopening(),
    ...extra,
  };
}

/** What makes a program close and open its sessions' files after each append: LAWS=reopen. */
function reopening(): Record<string, string> {
  const { LAWS, NODE_OPTIONS = "" } = process.env;
  return LAWS === "reopen" ? { LAWS, NODE_OPTIONS } : {};
}

export class Program {
  readonly #pty: IPty;
  readonly #terminal: InstanceType<typeof xterm.Terminal>;
  #exit: { exitCode: number; signal: number | undefined } | undefined;
  readonly exited: Promise<{ exitCode: number; signal: number | undefined }>;

  constructor(options: ProgramOptions) {
    const columns = options.columns ?? 100;
    const rows = options.rows ?? 40;
    this.#terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 5000 });
    this.#pty = spawn(process.execPath, [MAIN, ...(options.args ?? [])], {
      name: "xterm-256color",
      cols: columns,
      rows,
      cwd: options.cwd,
      env: cleanEnvironment(options.home, options.env),
    });
    this.#pty.onData((data) => this.#terminal.write(data));
    // The program asks the terminal questions (cursor, colours); the emulator's answers go back as they would.
    this.#terminal.onData((data) => this.#exit ?? this.#pty.write(data));
    this.exited = new Promise((resolve) => {
      this.#pty.onExit(({ exitCode, signal }) => {
        this.#exit = { exitCode, signal };
        resolve(this.#exit);
      });
    });
  }

  /** The rows of the screen as text, trailing blanks cut. */
  screen(): string {
    return this.#text(this.#terminal.buffer.active.baseY);
  }

  /** The screen and all that scrolled off it. */
  everything(): string {
    return this.#text(0);
  }

  #text(from: number): string {
    const buffer = this.#terminal.buffer.active;
    const lines: string[] = [];
    for (let y = from; y < buffer.length; y++) lines.push(buffer.getLine(y)?.translateToString(true) ?? "");
    return lines.join("\n").trimEnd();
  }

  /** Waits until the screen matches; fails with the screen's text. */
  async waitFor(wanted: string | RegExp | ((screen: string) => boolean), milliseconds = 15_000): Promise<string> {
    const matches = (screen: string): boolean =>
      typeof wanted === "string"
        ? screen.includes(wanted)
        : wanted instanceof RegExp
          ? wanted.test(screen)
          : wanted(screen);
    const end = Date.now() + milliseconds;
    for (;;) {
      const screen = this.screen();
      if (matches(screen)) return screen;
      if (this.#exit)
        throw new Error(`bough ended (${JSON.stringify(this.#exit)}) before ${String(wanted)}:\n${this.everything()}`);
      if (Date.now() > end) throw new Error(`Not on the screen: ${String(wanted)}\n${this.everything()}`);
      await sleep(25);
    }
  }

  /** Waits until `text` is on the screen and nothing runs: an answer is seen before it is in the file. */
  answered(text: string): Promise<string> {
    return this.waitFor((screen) => screen.includes(text) && !screen.includes("Working"));
  }

  /** Types text or raw key bytes. */
  send(keys: string): void {
    this.#pty.write(keys);
  }

  resize(columns: number, rows: number): void {
    this.#pty.resize(columns, rows);
    this.#terminal.resize(columns, rows);
  }

  kill(signal: string): void {
    if (!this.#exit) this.#pty.kill(signal);
  }

  /** Ends the program if it still runs, and waits for it. */
  async stop(): Promise<void> {
    this.kill("SIGKILL");
    await this.exited;
    this.#terminal.dispose();
  }
}

export const KEYS = {
  enter: "\r",
  escape: "\u001b",
  up: "\u001b[A",
  down: "\u001b[B",
  right: "\u001b[C",
  left: "\u001b[D",
  backspace: "\u007f",
  controlC: "\u0003",
  controlD: "\u0004",
  controlU: "\u0015",
} as const;
