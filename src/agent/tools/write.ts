/**
 * The write tool: a whole file, made or replaced.
 * Part of `agent/`; made by createTools.
 */
import type { AgentTool } from "@earendil-works/pi-agent-core";
import { obj, str } from "@earendil-works/pi-schema";
import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { systemCode } from "../../session/session-errors.ts";
import { counted } from "../output-limits.ts";
import * as failures from "./failures.ts";
import { openFile } from "./file-content.ts";
import { fileDiff } from "./file-diff.ts";
import { inFileQueue } from "./file-queue.ts";
import { replaceFile } from "./replace-file.ts";
import { resolveToolPath, shownPath } from "./tool-path.ts";

export interface WriteDetails {
  /** Absolute. */
  path: string;
  created: boolean;
  /** Unified diff against the file that was there; absent for a new file and when it was no text or far too large. */
  diff?: string;
  firstChangedLine?: number;
}

/** A longer file that is overwritten is not read again for a diff. */
const MAX_COMPARED_BYTES = 8 * 1024 * 1024;

const parameters = obj({
  path: str({ description: "File to write; relative to the working directory or absolute" }),
  content: str({ description: "The whole new content" }),
});

export function writeTool(cwd: string): AgentTool<typeof parameters, WriteDetails> {
  return {
    name: "write",
    label: "write",
    description:
      "Write a whole file: makes it, with its folders, or replaces what is there. To change a part of a file use edit.",
    parameters,
    executionMode: "sequential",
    execute: (_id, { path: asked, content }, signal) => {
      const path = resolveToolPath(cwd, asked);
      return inFileQueue(path, async () => {
        const before = await textBefore(cwd, path);
        if (signal?.aborted) throw failures.aborted();
        save(path, shownPath(cwd, path), content);
        return written(path, shownPath(cwd, path), before, content);
      });
    },
  };
}

/** What is there now: undefined for nothing, `text` undefined when it cannot be compared. */
async function textBefore(cwd: string, path: string): Promise<{ text: string | undefined } | undefined> {
  if (!existsSync(path)) return undefined;
  const { handle, stats, kind } = await openFile(cwd, path);
  try {
    const comparable = kind.kind === "text" && kind.encoding === "utf-8" && stats.size <= MAX_COMPARED_BYTES;
    return { text: comparable ? await handle.readFile("utf8") : undefined };
  } finally {
    await handle.close();
  }
}

function save(path: string, shown: string, content: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    replaceFile(path, Buffer.from(content));
  } catch (error) {
    // mkdir reports a file in the place of the last folder as existing.
    if (["EEXIST", "ENOTDIR"].includes(systemCode(error))) throw failures.partIsFile(shown);
    throw systemCode(error) === "" ? error : failures.cannotWrite(shown, error);
  }
}

function written(path: string, shown: string, before: { text: string | undefined } | undefined, content: string) {
  const size = counted(lineCount(content), "line");
  const text = (said: string) => [{ type: "text" as const, text: said }];
  if (before === undefined) return { content: text(`Created ${shown} (${size}).`), details: { path, created: true } };
  const details = { path, created: false };
  if (before.text === undefined) return { content: text(`Overwrote ${shown} (${size}).`), details };
  if (before.text === content) return { content: text(`${shown} has that content already (${size}).`), details };
  const lost =
    before.text.includes("\r\n") && !content.includes("\r\n") ? " Its lines ended in CRLF before, now in LF." : "";
  const difference = fileDiff(shown, before.text, content);
  return {
    content: text(`Overwrote ${shown} (${size}, ${lineCount(before.text).toLocaleString("en-US")} before).${lost}`),
    details:
      difference === undefined
        ? details
        : { ...details, diff: difference.diff, firstChangedLine: difference.firstChangedLine },
  };
}

/** A final newline ends the last line and begins no other. */
function lineCount(text: string): number {
  let lines = text === "" || text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}
