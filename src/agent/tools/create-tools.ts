/**
 * `createTools`: the tools an agent works with in one directory.
 * Part of `agent/`; used by AgentSession.
 */
import type { AgentTool } from "@earendil-works/pi-agent-core";
import { join, resolve } from "node:path";
import { bashTool } from "./bash.ts";
import { editTool } from "./edit.ts";
import { findTool } from "./find.ts";
import { grepTool } from "./grep.ts";
import { lsTool } from "./ls.ts";
import { readTool } from "./read.ts";
import { writeTool } from "./write.ts";

export interface ToolOptions {
  /** Working directory: commands run there, and relative paths start there. */
  cwd: string;
  /** The state folder; long outputs are kept below it. Without one they go to a new temporary folder each. */
  stateDir?: string;
}

/** Folder for the full text of long command outputs. */
export const toolOutputDir = (stateDir: string): string => join(stateDir, "tool-output");

/** read, write, edit, bash, grep, find, ls, in this order. */
export function createTools({ cwd, stateDir }: ToolOptions): AgentTool[] {
  const directory = resolve(cwd);
  return [
    readTool(directory),
    writeTool(directory),
    editTool(directory),
    bashTool(directory, stateDir === undefined ? undefined : toolOutputDir(stateDir)),
    grepTool(directory),
    findTool(directory),
    lsTool(directory),
  ];
}
