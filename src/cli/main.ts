#!/usr/bin/env node
/**
 * The `bough` command. Part of `cli/`; nobody imports it. It knows no more than its version, which is said before the
 * rest is loaded.
 */
import { readFileSync } from "node:fs";
import * as nodeModule from "node:module";
import { processIo as io } from "./io.ts";

const version = (): string => {
  const manifest: { version: string } = JSON.parse(
    readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
  );
  return manifest.version;
};

const args = process.argv.slice(2);
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  io.err(`bough: this is Node ${process.versions.node}, and bough needs 22.19 or newer.\n`);
  process.exitCode = 1;
} else if (args.length === 1 && (args[0] === "--version" || args[0] === "-v")) io.out(`${version()}\n`);
else {
  nodeModule.enableCompileCache();
  const { endSoon, runCommand } = await import("./run-command.ts");
  // Not process.exit: what is written to a pipe must reach it.
  process.exitCode = await runCommand(args, version);
  endSoon();
}
