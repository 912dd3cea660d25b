/**
 * bough's own tools for extensions that wrap them, or that let them work elsewhere, as over ssh.
 * Part of `cli/`; see coding-agent.ts. Names and options are those of pi 1.6.
 */
import type { AgentTool } from "@earendil-works/pi-agent-core";
import type { BashOperations } from "../../agent/hook-port.ts";
import { bashTool } from "../../agent/tools/bash.ts";
import { createTools, toolOutputDir } from "../../agent/tools/create-tools.ts";
import { editTool } from "../../agent/tools/edit.ts";
import { findTool } from "../../agent/tools/find.ts";
import { grepTool } from "../../agent/tools/grep.ts";
import { lsTool } from "../../agent/tools/ls.ts";
import { readTool } from "../../agent/tools/read.ts";
import { writeTool } from "../../agent/tools/write.ts";
import { runCommand } from "../../agent/run-command.ts";
import { stateDir } from "../../session/locations.ts";
import { editElsewhere, readElsewhere, writeElsewhere } from "./files-elsewhere.ts";
import type { EditOperations, ReadOperations, WriteOperations } from "./files-elsewhere.ts";

interface Elsewhere<Operations> {
  /** Where it works. Default: here. */
  operations?: Operations;
}

export interface BashToolOptions extends Elsewhere<BashOperations> {
  /** Put in front of each command, on a line of its own. */
  commandPrefix?: string;
  /** Changes a command, its folder and its environment before it is started. */
  spawnHook?: (spawn: BashSpawn) => BashSpawn;
}
export interface BashSpawn {
  command: string;
  cwd: string;
  env: NodeJS.ProcessEnv;
}

export function createBashTool(cwd: string, options: BashToolOptions = {}): AgentTool {
  const { operations, commandPrefix, spawnHook } = options;
  const prepare = (command: string): BashSpawn => {
    const spawn = { command: commandPrefix ? `${commandPrefix}\n${command}` : command, cwd, env: { ...process.env } };
    return spawnHook?.(spawn) ?? spawn;
  };
  return loose(bashTool(cwd, toolOutputDir(stateDir()), { prepare, operations }));
}

/** Runs commands here; for an extension that changes them before. */
export function createLocalBashOperations(): BashOperations {
  return {
    exec: async (command, cwd, { onData, signal, timeout, env }) => {
      const { exitCode, endedBy } = await runCommand({
        command,
        cwd,
        onData,
        ...(env === undefined ? {} : { env }),
        ...(signal === undefined ? {} : { signal }),
        ...(timeout === undefined ? {} : { timeoutMs: timeout * 1000 }),
      });
      if (endedBy === "abort") throw new Error("aborted");
      if (endedBy === "timeout") throw new Error(`timeout:${timeout}`);
      return { exitCode: exitCode ?? null };
    },
  };
}

export const createReadTool = (cwd: string, { operations }: Elsewhere<ReadOperations> = {}): AgentTool =>
  loose(operations === undefined ? readTool(cwd) : readElsewhere(readTool(cwd), cwd, operations));
export const createWriteTool = (cwd: string, { operations }: Elsewhere<WriteOperations> = {}): AgentTool =>
  loose(operations === undefined ? writeTool(cwd) : writeElsewhere(writeTool(cwd), cwd, operations));
export const createEditTool = (cwd: string, { operations }: Elsewhere<EditOperations> = {}): AgentTool =>
  loose(operations === undefined ? editTool(cwd) : editElsewhere(editTool(cwd), cwd, operations));

export const createGrepTool = (cwd: string, options: Elsewhere<object> = {}): AgentTool =>
  onlyHere(grepTool(cwd), options);
export const createFindTool = (cwd: string, options: Elsewhere<object> = {}): AgentTool =>
  onlyHere(findTool(cwd), options);
export const createLsTool = (cwd: string, options: Elsewhere<object> = {}): AgentTool => onlyHere(lsTool(cwd), options);

/** All of them. */
export const createCodingTools = (cwd: string): AgentTool[] => createTools({ cwd, stateDir: stateDir() });
/** Those that change nothing. */
export const createReadOnlyTools = (cwd: string): AgentTool[] =>
  createCodingTools(cwd).filter(({ name }) => ["read", "grep", "find", "ls"].includes(name));

/** Searching elsewhere needs more than single files; such a tool says so instead of searching the wrong disk. */
function onlyHere<T>(tool: T, { operations }: Elsewhere<object>): AgentTool {
  const made = loose(tool);
  if (operations === undefined) return made;
  const execute = async (): Promise<never> => {
    throw new Error(`bough's ${made.name} works on this machine alone; the extension has to bring one of its own.`);
  };
  return { ...made, execute };
}

const loose = (tool: unknown): AgentTool => tool as AgentTool;
