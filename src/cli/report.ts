/**
 * What goes to standard error: notices, and why bough failed. Part of `cli/`; used by run-command.ts, the commands and modes.
 */
import { sanitise } from "../tui/sanitise.ts";
import type { Io } from "./io.ts";
import { UsageError } from "./usage.ts";

/** Errors that JavaScript itself throws: nobody meant them for the user. */
const OWN_MISTAKES = [TypeError, RangeError, ReferenceError, SyntaxError];

/** A line for the user. Paths, and what a provider says, cannot drive the terminal from here. */
export function report(io: Pick<Io, "err">, text: string): void {
  io.err(`bough: ${sanitise(text)}\n`);
}

/** Says why a command failed and returns its exit code: 2 for wrong usage, else 1. With BOUGH_DEBUG it says where, too. */
export function reportFailure(io: Pick<Io, "err">, error: unknown): number {
  report(io, failureText(error));
  if (process.env["BOUGH_DEBUG"] && error instanceof Error) io.err(`${sanitise(error.stack ?? "")}\n`);
  return error instanceof UsageError ? 2 : 1;
}

/** The reason of an error as a sentence for the user. */
export function failureText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const isOurs = OWN_MISTAKES.some((kind) => error instanceof kind);
  return isOurs ? `${text} (a mistake in bough; BOUGH_DEBUG=1 shows where)` : text;
}
