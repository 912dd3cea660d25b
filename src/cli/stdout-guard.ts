/**
 * Keeps standard output for what a program reads from it. Part of `cli/`; used by `--mode json` and `--mode rpc`.
 */

/** `done` is called when the bytes are with the operating system, or with the reason why they will never be. */
export type StdoutWrite = (bytes: Uint8Array, done: (error?: Error | null) => void) => void;

/**
 * From now on whatever writes to `process.stdout` (a `console.log` in a tool or an extension) goes to standard error.
 * Returns what still writes to standard output.
 */
export function guardStdout(): StdoutWrite {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  // Each write tells of its own failure; without a listener the event of it would end the program.
  process.stdout.on("error", () => undefined);
  return (bytes, done) => void write(bytes, done);
}
