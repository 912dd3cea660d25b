/**
 * The signals that end a program without a terminal, once what it was doing is saved. Part of `cli/`; used by `-p`,
 * `--mode json`, `--mode rpc` and `bough export`.
 */

import { SIGNAL_EXIT_CODES } from "../tui/process-guard.ts";
import type { EndingSignal } from "../tui/process-guard.ts";

/** Calls `stop` in place of ending at once, until the returned function is called. */
export function onEndingSignal(stop: (signal: EndingSignal) => void): () => void {
  const signals = Object.keys(SIGNAL_EXIT_CODES) as EndingSignal[];
  for (const signal of signals) process.on(signal, stop);
  return () => {
    for (const signal of signals) process.off(signal, stop);
  };
}
