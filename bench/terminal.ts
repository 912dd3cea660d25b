/**
 * The start of a program in a terminal: from the moment its command begins until the end of the resumed session and a
 * typed character are on the screen.
 * The terminal is a pty whose screen xterm keeps, so what programs ask the terminal is answered as usual.
 */
import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { spawn, type IPty } from "@lydell/node-pty";
import xterm from "@xterm/headless";
import { peakMemory, type Outcome } from "./child/measured.ts";
import type { Program } from "./programs.ts";

const COLUMNS = 120;
const ROWS = 40;
/** Occurs in no session the bench makes. */
const TYPED = "§";
const TIME_LIMIT = 180_000;

/** What the shell prints last, before it becomes the program. */
const BEGUN = "bench-begun";
/** Without echo, so that a character on the screen was drawn by the program. */
const SHELL = `stty raw -echo; printf ${BEGUN}; exec "$@"`;

/** Whether programs can be started without a network, so that none waits for one. */
const canIsolate = spawnSync("unshare", ["-rn", "ip", "link", "set", "lo", "up"]).status === 0;
export const networkCondition = canIsolate ? "without a network" : "with the network there is";

/**
 * Starts the program on a session file; `lastTexts` are beginnings of which one is on the screen when the session is.
 * Figures: `ms` until session and typed text show, `typed` until the text shows, `first` until the first output, and
 * the `memory` it needed. Throws when the program ends, or does not get there within three minutes.
 */
export async function startedTerminal(
  program: Program,
  file: string,
  lastTexts: readonly string[],
  { cwd, env }: { cwd: string; env: Record<string, string> },
): Promise<Outcome> {
  const command = [program.runtime, program.command, ...program.resume(file)];
  const shell = canIsolate
    ? ["unshare", "-rn", "sh", "-c", `ip link set lo up; ${SHELL}`, "sh"]
    : ["sh", "-c", SHELL, "sh"];
  const [first, ...rest] = [...shell, ...command] as [string, ...string[]];
  const pty = spawn(first, rest, { name: "xterm-256color", cols: COLUMNS, rows: ROWS, cwd, env });
  const watched = new WatchedTerminal(pty, lastTexts);
  try {
    return await watched.takesText();
  } finally {
    await watched.stop();
  }
}

class WatchedTerminal {
  readonly #pty: IPty;
  readonly #lastTexts: readonly string[];
  readonly #screen = new xterm.Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true, scrollback: 1000 });
  readonly #exited: Promise<void>;
  /** Of `performance.now()`. */
  #begun: number | undefined;
  #firstOutput: number | undefined;
  #typed: number | undefined;
  #ready: number | undefined;
  #hasEnded = false;
  #untilBegun = "";

  constructor(pty: IPty, lastTexts: readonly string[]) {
    this.#pty = pty;
    this.#lastTexts = lastTexts;
    pty.onData((data) => this.#take(data));
    this.#screen.onData((answer) => this.#type(answer));
    this.#exited = new Promise((resolve) => {
      pty.onExit(() => {
        this.#hasEnded = true;
        resolve();
      });
    });
  }

  async takesText(): Promise<Outcome> {
    const start = performance.now();
    while (this.#ready === undefined) {
      const elapsed = performance.now() - start;
      if (this.#hasEnded) throw new Error(`It ended too early: ${this.#text()}`);
      if (elapsed > TIME_LIMIT) throw new Error(`It was not ready within ${TIME_LIMIT / 1000} s: ${this.#text()}`);
      // Again and again: programs drop what is typed before they are ready.
      if (this.#firstOutput !== undefined && this.#typed === undefined) this.#type(TYPED);
      await sleep(Math.max(20, elapsed / 25));
    }
    const begun = this.#begun as number;
    const memory = peakMemory(this.#pty.pid);
    return {
      figures: {
        ms: this.#ready - begun,
        typed: (this.#typed as number) - begun,
        first: (this.#firstOutput as number) - begun,
        ...(memory === undefined ? {} : { memory }),
      },
      answer: "ready",
    };
  }

  /** Ends the program and what it has started. */
  async stop(): Promise<void> {
    try {
      // A pty's program leads a group of its own.
      if (!this.#hasEnded) process.kill(-this.#pty.pid, "SIGKILL");
    } catch {
      // It has just ended by itself.
    }
    await this.#exited;
    this.#screen.dispose();
  }

  #take(data: string): void {
    let output = data;
    if (this.#begun === undefined) {
      this.#untilBegun += data;
      const at = this.#untilBegun.indexOf(BEGUN);
      if (at < 0) return;
      this.#begun = performance.now();
      output = this.#untilBegun.slice(at + BEGUN.length);
    }
    if (output === "") return;
    this.#firstOutput ??= performance.now();
    this.#screen.write(output, () => {
      const text = this.#text();
      if (!text.includes(TYPED)) return;
      this.#typed ??= performance.now();
      if (this.#lastTexts.some((beginning) => text.includes(beginning))) this.#ready ??= performance.now();
    });
  }

  #type(text: string): void {
    if (!this.#hasEnded) this.#pty.write(text);
  }

  #text(): string {
    const { active } = this.#screen.buffer;
    const rows = Array.from({ length: ROWS }, (_, y) => active.getLine(active.baseY + y)?.translateToString(true));
    return rows.filter((row) => row !== undefined && row !== "").join("\n");
  }
}
