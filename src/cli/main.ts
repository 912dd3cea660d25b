#!/usr/bin/env node
/**
 * The `bough` command: reads the arguments, assembles what they ask for, and runs it. Part of `cli/`; nobody imports it.
 * What a mode needs is imported when it is chosen, so that `--version` and `bough tree` start at once.
 */
import { readFileSync } from "node:fs";
import * as nodeModule from "node:module";
import { isatty } from "node:tty";
import { HELP, parseArguments } from "./arguments.ts";
import { processIo as io } from "./io.ts";

const version = (): string => {
  const manifest: { version: string } = JSON.parse(
    readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
  );
  return manifest.version;
};

async function run(args: readonly string[]): Promise<number> {
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

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  io.err(`bough: this is Node ${process.versions.node}, and bough needs 22.19 or newer.\n`);
  process.exit(1);
}
nodeModule.enableCompileCache();
try {
  // Not process.exit: what is written to a pipe must reach it.
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  process.exitCode = (await import("./report.ts")).reportFailure(io, error);
}
