/** Where a command writes; the process's own streams, or a test's. Part of `cli/`. */
import { writeSync } from "node:fs";
import { isatty } from "node:tty";

export interface Io {
  out(text: string): void;
  err(text: string): void;
  /** Whether `out` is a terminal: text from files and models is then sanitised before it is written. */
  readonly isTerminal: boolean;
}

/** Between attempts to write to a pipe that is full and does not block. Milliseconds. */
const FULL_PIPE_WAIT = 5;

/** Writes all of a text now, so that an exit that follows loses nothing of it. A reader that has gone away is no error. */
function writeAll(descriptor: number, text: string): void {
  let bytes = Buffer.from(text);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(descriptor, bytes));
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code === "EPIPE") return;
      if (code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_WAIT);
    }
  }
}

export const processIo: Io = {
  out: (text) => writeAll(1, text),
  err: (text) => writeAll(2, text),
  // Not process.stdout.isTTY: making that stream switches a pipe to non-blocking writes.
  isTerminal: isatty(1),
};
