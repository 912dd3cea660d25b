/**
 * `!command`: a shell command of the user, recorded in the session for the model to see.
 * Part of `agent/`; AgentSession.runBash delegates to it.
 */
import { constants } from "node:os";
import type { BashExecutionMessage } from "../tree/messages.ts";
import type { BashOperations } from "./hook-port.ts";
import { runCommand, runElsewhere } from "./run-command.ts";
import type { CommandResult } from "./run-command.ts";

export interface UserCommandOptions {
  cwd: string;
  signal: AbortSignal;
  onOutput: (output: string) => void;
  /** `!!command`: recorded, but the model does not see it. */
  excludeFromContext?: boolean;
  /** Folder for the full text of outputs that are too long; a new temporary one by default. */
  outputDir?: string | undefined;
}

/**
 * Runs it to its end, here or with what an extension runs commands with, and gives the message to record. Rejects when it
 * could not be started.
 */
export async function runUserCommand(
  command: string,
  options: UserCommandOptions,
  operations?: BashOperations,
): Promise<BashExecutionMessage> {
  const { cwd, signal, onOutput, excludeFromContext, outputDir } = options;
  const asked = { command, cwd, signal, onOutput, ...(outputDir === undefined ? {} : { outputDir }) };
  const result = operations === undefined ? await runCommand(asked) : await runElsewhere(asked, operations);
  const exitCode = exitCodeOf(result);
  return {
    role: "bashExecution",
    command,
    output: result.output,
    ...(exitCode === undefined ? {} : { exitCode }),
    cancelled: result.endedBy !== "exit",
    truncated: result.truncated,
    ...(result.fullOutputPath === undefined ? {} : { fullOutputPath: result.fullOutputPath }),
    ...(excludeFromContext === true ? { excludeFromContext } : {}),
    timestamp: Date.now(),
  };
}

/** A shell that a signal ended has the code other shells give it: 128 and the signal's number. */
function exitCodeOf({ endedBy, exitCode, signalName }: CommandResult): number | undefined {
  if (endedBy !== "exit" || signalName === undefined) return exitCode;
  return 128 + constants.signals[signalName];
}
