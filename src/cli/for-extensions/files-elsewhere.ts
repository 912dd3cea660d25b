/**
 * read, write and edit on files that an extension reaches in its own way. Part of `cli/`; see tool-factories.ts.
 */
import { dirname } from "node:path";
import type { AgentTool, AgentToolResult } from "@earendil-works/pi-agent-core";
import { BoundedLines, MAX_OUTPUT_LINES, counted, withNotes } from "../../agent/output-limits.ts";
import { applyEdits } from "../../agent/tools/edit-matching.ts";
import type { TextEdit } from "../../agent/tools/edit-matching.ts";
import { fileDiff } from "../../agent/tools/file-diff.ts";
import { inFileQueue } from "../../agent/tools/file-queue.ts";
import { resolveToolPath, shownPath } from "../../agent/tools/tool-path.ts";

/** Paths are absolute. */
export interface ReadOperations {
  readFile(path: string): Promise<Buffer>;
  /** Rejects when it cannot be read. */
  access(path: string): Promise<void>;
  /** Nothing for what is no image. */
  detectImageMimeType?(path: string): Promise<string | null | undefined>;
}
export interface WriteOperations {
  writeFile(path: string, content: string): Promise<void>;
  mkdir(folder: string): Promise<void>;
}
export interface EditOperations {
  readFile(path: string): Promise<Buffer>;
  writeFile(path: string, content: string): Promise<void>;
  access(path: string): Promise<void>;
}

type Tool = Pick<AgentTool, "name" | "label" | "description" | "parameters" | "prepareArguments" | "executionMode">;

/** `tool`: the one that works here, whose name and parameters stay. */
export function readElsewhere(tool: object, cwd: string, operations: ReadOperations): AgentTool {
  return worksBy(tool, cwd, async (path, { offset, limit }) => {
    await operations.access(path);
    const mimeType = await operations.detectImageMimeType?.(path);
    const content = await operations.readFile(path);
    if (!mimeType) return part(content.toString(), Number(offset) || 1, Number(limit) || MAX_OUTPUT_LINES);
    const shown = `${shownPath(cwd, path)} is an image (${mimeType}):`;
    return {
      content: [
        { type: "text", text: shown },
        { type: "image", data: content.toString("base64"), mimeType },
      ],
      details: { path, mimeType },
    };
  });
}

export function writeElsewhere(tool: object, cwd: string, operations: WriteOperations): AgentTool {
  return worksBy(tool, cwd, (path, { content }) =>
    inFileQueue(path, async () => {
      await operations.mkdir(dirname(path));
      await operations.writeFile(path, String(content));
      return said(`Wrote ${shownPath(cwd, path)} (${counted(String(content).split("\n").length, "line")}).`, { path });
    }),
  );
}

export function editElsewhere(tool: object, cwd: string, operations: EditOperations): AgentTool {
  return worksBy(tool, cwd, (path, { edits }) =>
    inFileQueue(path, async () => {
      const shown = shownPath(cwd, path);
      await operations.access(path);
      const before = (await operations.readFile(path)).toString();
      const after = applyEdits(shown, before, edits as TextEdit[]);
      await operations.writeFile(path, after);
      const { diff, firstChangedLine } = fileDiff(shown, before, after) ?? {};
      return said(`Edited ${shown}: ${counted((edits as TextEdit[]).length, "replacement")}.`, {
        path,
        diff,
        firstChangedLine,
      });
    }),
  );
}

function worksBy(
  tool: object,
  cwd: string,
  work: (path: string, params: Record<string, unknown>) => Promise<AgentToolResult<unknown>>,
): AgentTool {
  const execute: AgentTool["execute"] = async (_id, params) => {
    const given = params as Record<string, unknown>;
    return work(resolveToolPath(cwd, String(given["path"])), given);
  };
  return { ...(tool as Tool), execute };
}

function part(text: string, first: number, limit: number): AgentToolResult<unknown> {
  const lines = text.replace(/\n$/, "").split("\n");
  const kept = new BoundedLines(Math.min(limit, MAX_OUTPUT_LINES));
  for (const line of lines.slice(first - 1)) if (!kept.add(line)) break;
  const last = first + kept.size - 1;
  const rest =
    last < lines.length ? [`Lines ${first}-${last} of ${lines.length}; continue with offset=${last + 1}.`] : [];
  return said(withNotes(kept.toString(), rest), { firstLine: first, lastLine: last, totalLines: lines.length });
}

const said = (text: string, details: object): AgentToolResult<unknown> => ({
  content: [{ type: "text", text }],
  details,
});
