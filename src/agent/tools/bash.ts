/**
 * The bash tool: one shell command, its output as it comes, and how it ended.
 * Part of `agent/`; made by createTools.
 */
import type { AgentTool } from "@earendil-works/pi-agent-core";
import { num, obj, opt, str } from "@earendil-works/pi-schema";
import { counted, formatSize, MAX_OUTPUT_BYTES, MAX_OUTPUT_LINES, withNotes } from "../output-limits.ts";
import type { BashOperations } from "../hook-port.ts";
import { type CommandOptions, type CommandResult, runCommand, runElsewhere } from "../run-command.ts";

/** How the command ended; while it runs, nothing yet. */
export type BashDetails = Partial<Omit<CommandResult, "output">>;

const parameters = obj({
  command: str({ description: "Command line for bash", minLength: 1 }),
  timeout: opt(
    num({ description: "Seconds after which the command is stopped; none by default", exclusiveMinimum: 0 }),
  ),
});

/** What an extension makes of the tool. */
export interface BashToolChanges {
  /** Changes each command, its folder and its environment before it is started. */
  prepare?: ((command: string) => { command: string; cwd: string; env: NodeJS.ProcessEnv }) | undefined;
  /** Runs the commands in place of the local shell. */
  operations?: BashOperations | undefined;
}

/** `outputDir` is where the full text of long outputs is kept. */
export function bashTool(
  cwd: string,
  outputDir: string | undefined,
  { prepare = (command) => ({ command, cwd, env: process.env }), operations }: BashToolChanges = {},
): AgentTool<typeof parameters, BashDetails> {
  return {
    name: "bash",
    label: "bash",
    description:
      "Run a command with bash in the working directory. Standard output and standard error come back together, without " +
      `terminal codes; of a long output the last ${counted(MAX_OUTPUT_LINES, "line")} or ${formatSize(MAX_OUTPUT_BYTES)}, ` +
      "with the path of a file that has all of it. There is no terminal and no input. What is started in the background " +
      "(with &) keeps running; send its output to a file.",
    parameters,
    // Its effects may be what the next call of the same answer builds on.
    executionMode: "sequential",
    execute: async (_id, { command, timeout }, signal, onUpdate) => {
      const asked: CommandOptions = {
        ...prepare(command),
        ...(timeout === undefined ? {} : { timeoutMs: timeout * 1000 }),
        ...(signal === undefined ? {} : { signal }),
        ...(outputDir === undefined ? {} : { outputDir }),
        onOutput: (output) => onUpdate?.({ content: [{ type: "text", text: output }], details: {} }),
      };
      const result = operations === undefined ? await runCommand(asked) : await runElsewhere(asked, operations);
      const { output, ...details } = result;
      const text = withNotes(output === "" ? "(no output)" : output, commandNotes(result, timeout));
      const isError = result.endedBy !== "exit" || result.exitCode !== 0;
      return { content: [{ type: "text", text }], details, isError };
    },
  };
}

/** What to say about a command beside its output: what is missing from it, and how the command ended. */
export function commandNotes(result: CommandResult, timeoutSeconds?: number): string[] {
  const notes: string[] = [];
  if (result.truncated) notes.push(cutNote(result));
  if (result.leftRunning) notes.push("Something it started still runs; what that prints from now on is not shown.");
  if (result.endedBy === "timeout")
    notes.push(`Stopped after ${counted(timeoutSeconds ?? 0, "second")}: the time was up.`);
  else if (result.endedBy === "abort") notes.push("Stopped by the user.");
  else if (result.signalName !== undefined) notes.push(`Ended by the signal ${result.signalName}.`);
  else if (result.exitCode !== 0) notes.push(`Exit code ${result.exitCode}.`);
  return notes;
}

function cutNote(result: CommandResult): string {
  const { shownLines, totalLines } = result;
  const shown = result.partialLine
    ? `Only the end of line ${totalLines} is shown`
    : `Lines ${totalLines - shownLines + 1}-${totalLines} of ${totalLines}`;
  const file = result.fullOutputPath === undefined ? "" : `; all of it is in ${result.fullOutputPath}`;
  const problem = result.fullOutputProblem === undefined ? "" : ` (not complete: ${result.fullOutputProblem})`;
  return `${shown}${file}${problem}.`;
}
