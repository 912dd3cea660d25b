/**
 * The signals that end a program without a terminal, once what it was doing is saved. Part of `cli/`; used by `-p`,
 * `--mode json` and `--mode rpc`.
 */

/** Each with the exit code of a program that it ended. */
export const ENDING_SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
export type EndingSignal = keyof typeof ENDING_SIGNALS;

/** Calls `stop` in place of ending at once, until the returned function is called. */
export function onEndingSignal(stop: (signal: EndingSignal) => void): () => void {
  const signals = Object.keys(ENDING_SIGNALS) as EndingSignal[];
  for (const signal of signals) process.on(signal, stop);
  return () => {
    for (const signal of signals) process.off(signal, stop);
  };
}
