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

/** Writes all bytes now, so that an exit that follows loses nothing of it. A reader that has gone away is no error. */
function writeAll(descriptor: number, all: Uint8Array): void {
  let bytes = all;
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

export const processIo: Io & { outBytes(bytes: Uint8Array): void } = {
  out: (text) => writeAll(1, Buffer.from(text)),
  outBytes: (bytes) => writeAll(1, bytes),
  err: (text) => writeAll(2, Buffer.from(text)),
  // Not process.stdout.isTTY: making that stream switches a pipe to non-blocking writes.
  isTerminal: isatty(1),
};
