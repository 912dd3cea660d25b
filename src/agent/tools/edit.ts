/**
 * The edit tool: replaces exact pieces of a text file.
 * Part of `agent/`; made by createTools.
 */
import type { AgentTool } from "@earendil-works/pi-agent-core";
import { arr, obj, type Static, str } from "@earendil-works/pi-schema";
import { isUtf8 } from "node:buffer";
import { systemCode } from "../../session/session-errors.ts";
import { counted } from "../output-limits.ts";
import { applyEdits, type TextEdit } from "./edit-matching.ts";
import * as failures from "./failures.ts";
import { openFile } from "./file-content.ts";
import { fileDiff } from "./file-diff.ts";
import { inFileQueue } from "./file-queue.ts";
import { replaceFile } from "./replace-file.ts";
import { resolveToolPath, shownPath } from "./tool-path.ts";

export interface EditDetails {
  /** Absolute. */
  path: string;
  /** Unified; absent when the file is far too large to compare. */
  diff?: string;
  /** 1-based, in the new state. */
  firstChangedLine?: number;
}

/** The whole file is in memory several times while it is changed. */
const MAX_BYTES = 64 * 1024 * 1024;

const parameters = obj({
  path: str({ description: "File to change; relative to the working directory or absolute" }),
  edits: arr(
    obj({
      oldText: str({ description: "Exact text to replace; must occur exactly once in the file" }),
      newText: str({ description: "What takes its place" }),
    }),
    { description: "All are looked for in the file as it is now, so none may overlap another", minItems: 1 },
  ),
});

export function editTool(cwd: string): AgentTool<typeof parameters, EditDetails> {
  return {
    name: "edit",
    label: "edit",
    description:
      "Change a text file by exact replacement. Each oldText must occur exactly once, white space included; " +
      "add lines around it until it does. Give all changes to one file in one call. Line ends are kept.",
    parameters,
    prepareArguments: (args) => withEdits(args) as Static<typeof parameters>,
    executionMode: "sequential",
    execute: (_id, { path: asked, edits }, signal) => {
      const path = resolveToolPath(cwd, asked);
      return inFileQueue(path, async () => {
        const shown = shownPath(cwd, path);
        const before = await bytesToEdit(cwd, path, shown);
        if (signal?.aborted) throw failures.aborted();
        const after = editBytes(shown, before, edits);
        save(path, shown, after);
        return edited(path, shown, before, after, edits.length);
      });
    },
  };
}

/** Models also send one edit without the list, or the list as JSON text. */
function withEdits(args: unknown): unknown {
  if (typeof args !== "object" || args === null) return args;
  const { oldText, newText, edits, ...rest } = args as Record<string, unknown>;
  if (typeof edits === "string") return { ...rest, edits: parsedOr(edits) };
  if (edits !== undefined || oldText === undefined) return args;
  return { ...rest, edits: [{ oldText, newText }] };
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function bytesToEdit(cwd: string, path: string, shown: string): Promise<Buffer> {
  const { handle, stats, kind } = await openFile(cwd, path);
  try {
    if (kind.kind !== "text") throw failures.binary(shown, stats.size);
    if (kind.encoding !== "utf-8") throw failures.utf16(shown);
    if (stats.size > MAX_BYTES) throw failures.tooLargeToEdit(shown, stats.size, MAX_BYTES);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/**
 * A file that is not UTF-8 throughout is edited as text in which each character stands for one byte: so the bytes
 * beside the changed ones survive.
 */
function editBytes(shown: string, before: Buffer, edits: readonly TextEdit[]): Buffer {
  if (isUtf8(before)) return Buffer.from(applyEdits(shown, before.toString(), edits));
  const inBytes = edits.map(({ oldText, newText }) => ({ oldText: asBytes(oldText), newText: asBytes(newText) }));
  return Buffer.from(applyEdits(shown, before.toString("latin1"), inBytes), "latin1");
}

const asBytes = (text: string): string => Buffer.from(text).toString("latin1");

function save(path: string, shown: string, content: Buffer): void {
  try {
    replaceFile(path, content);
  } catch (error) {
    throw systemCode(error) === "" ? error : failures.cannotWrite(shown, error);
  }
}

function edited(path: string, shown: string, before: Buffer, after: Buffer, count: number) {
  const difference = fileDiff(shown, before.toString(), after.toString());
  const made = `Edited ${shown}: ${counted(count, "replacement")}`;
  if (difference === undefined) return { content: [{ type: "text" as const, text: `${made}.` }], details: { path } };
  const { diff, firstChangedLine, added, removed } = difference;
  const text = `${made}, first at line ${firstChangedLine} (+${added} -${removed}).`;
  return { content: [{ type: "text" as const, text }], details: { path, diff, firstChangedLine } };
}
