/**
 * What the command line asks for: assembled and run. Part of `cli/`; called by main.ts. What a mode needs is imported when
 * it is chosen, so that `bough tree` starts at once.
 */
import { isatty } from "node:tty";
import { HELP, parseArguments } from "./arguments.ts";
import { processIo as io } from "./io.ts";

/** Returns the exit code. Never rejects. */
export async function runCommand(args: readonly string[], version: () => string): Promise<number> {
  try {
    return await run(args, version);
  } catch (error) {
    return (await import("./report.ts")).reportFailure(io, error);
  }
}

/** Milliseconds after which what an extension has left running, such as a timer, keeps the program no longer. */
const LEFT_RUNNING_MS = 1000;

/** Ends the program when all is done and written, whatever still runs. */
export function endSoon(): void {
  const end = setInterval(() => {
    if (process.stdout.writableLength === 0 && process.stderr.writableLength === 0) process.exit();
  }, LEFT_RUNNING_MS);
  // As a rule nothing is left, and the program ends by itself before.
  end.unref();
}

async function run(args: readonly string[], version: () => string): Promise<number> {
  const [command, ...rest] = args;
  if (command === "tree") return (await import("./tree-command.ts")).runTreeCommand(rest, io);
  if (command === "doctor") return (await import("./doctor-command.ts")).runDoctorCommand(rest, io);
  if (command === "list") return (await import("./list-command.ts")).runListCommand(rest, io);
  if (command === "stats")
    return (await import("./stats-command.ts")).runStatsCommand(rest, { ...io, isWatched: isatty(2) });
  if (command === "export")
    return (await import("./export-command.ts")).runExportCommand(rest, { ...io, isWatched: isatty(2) });
  const parsed = parseArguments(args);
  if (parsed.help) io.out(HELP);
  else if (parsed.version) io.out(`${version()}\n`);
  else if (parsed.mode === "interactive") return (await import("./terminal-mode.ts")).runTerminal(parsed, version());
  else if (parsed.mode === "rpc") return (await import("./rpc/rpc-mode.ts")).runRpc(parsed, version(), io);
  else return (await import("./print-mode.ts")).runPrint(parsed, version(), io);
  return 0;
}
