/**
 * What happens to a program on a terminal from outside the screen: signals, a terminal that is gone, mistakes nobody
 * caught, and libraries that write to standard error.
 * Part of `tui/`; interactive-mode holds the guard while its screen stands.
 */

/** The exit codes of a program that a signal has ended, as shells give them. */
export const SIGNAL_EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
export type EndingSignal = keyof typeof SIGNAL_EXIT_CODES;

export interface ScreenEvents {
  /** The system ends the program, by a signal, or there is nobody to see the screen any more. */
  leave(signal?: EndingSignal): void;
  /** SIGINT: in raw mode no key sends it, so it comes from outside, or from a program that has the terminal meanwhile. */
  interrupted(): void;
  /** An exception that nobody caught. */
  failed(error: unknown): void;
  /** Text for standard error; written, it would run across the screen, with whatever a provider has put into it. */
  stray(text: string): void;
}

const SIGNALS = ["SIGTERM", "SIGHUP"] as const;

/** Listens until the returned function is called. */
export function guardScreen({ leave, interrupted, failed, stray }: ScreenEvents): () => void {
  const left = (signal: NodeJS.Signals): void => leave(signal as EndingSignal);
  const gone = (): void => leave();
  for (const signal of SIGNALS) process.on(signal, left);
  process.on("SIGINT", interrupted);
  // A terminal that is gone ends the input or fails it, often before the signal comes, and fails every write.
  for (const event of ["end", "close", "error"]) process.stdin.on(event, gone);
  process.stdout.on("error", gone);
  process.on("uncaughtException", failed);
  const release = process.stderr.isTTY ? holdStandardError(stray) : undefined;
  return () => {
    release?.();
    process.off("uncaughtException", failed);
    for (const event of ["end", "close"]) process.stdin.off(event, gone);
    process.off("SIGINT", interrupted);
    for (const signal of SIGNALS) process.off(signal, left);
    // The listeners for errors stay: a write to a terminal that is gone fails later than it was made.
  };
}

/** Node prints its warnings past `process.stderr`, so its own listener for them is held as well. */
function holdStandardError(stray: (text: string) => void): () => void {
  const { write } = process.stderr;
  const printers = process.listeners("warning");
  const warned = (warning: Error): void => stray(warning.message);
  process.stderr.write = ((chunk: Uint8Array | string, encoding?: unknown, done?: unknown): boolean => {
    stray(typeof chunk === "string" ? chunk : Buffer.from(chunk).toString());
    const written = typeof encoding === "function" ? encoding : done;
    if (typeof written === "function") process.nextTick(written as () => void);
    return true;
  }) as typeof write;
  for (const printer of printers) process.off("warning", printer);
  process.on("warning", warned);
  return () => {
    process.stderr.write = write;
    process.off("warning", warned);
    for (const printer of printers) process.on("warning", printer);
  };
}
