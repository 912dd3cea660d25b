/**
 * Options as every `bough` command reads them, and the mistakes in them. Part of `cli/`; used by arguments.ts,
 * tree-command.ts, doctor-command.ts.
 */
import { parseArgs } from "node:util";
import type { ParseArgsOptionsConfig } from "node:util";

/** A mistake on the command line; its message is one sentence for the user. Exit code 2. */
export class UsageError extends Error {}

/** Splits arguments into options and the rest. `command` is the one whose --help the user is sent to. */
export function readOptions<const Options extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: Options,
  command: string,
) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    // Node's first sentence says what is wrong; the others give advice that does not fit here.
    const [reason] = error instanceof Error ? error.message.split(/\.\s|\.?\n/) : [String(error)];
    throw new UsageError(`${reason}. See ${command} --help.`, { cause: error });
  }
}
