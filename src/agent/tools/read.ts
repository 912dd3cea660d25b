/**
 * The read tool: text in pieces the model can ask for, images as images.
 * Part of `agent/`; made by createTools.
 */
import type { AgentTool, AgentToolResult } from "@earendil-works/pi-agent-core";
import { int, obj, opt, str } from "@earendil-works/pi-schema";
import {
  BoundedLines,
  counted,
  formatSize,
  MAX_OUTPUT_BYTES,
  MAX_OUTPUT_LINES,
  startOfLine,
  withNotes,
} from "../output-limits.ts";
import * as failures from "./failures.ts";
import { type FileKind, type OpenFile, openFile } from "./file-content.ts";
import { LineScanner } from "./line-scanner.ts";
import { resolveToolPath, shownPath } from "./tool-path.ts";

export interface ReadDetails {
  /** Absolute. */
  path: string;
  /** 1-based, of a text file with lines. */
  firstLine?: number;
  lastLine?: number;
  /** Absent when the file was too long to count. */
  totalLines?: number;
  /** Lines follow that were not shown. */
  truncated?: boolean;
  mimeType?: string;
}

/** Providers refuse images over 5 MB of base64 (Anthropic, "Vision": limits per image). */
const MAX_IMAGE_BYTES = 3.75 * 1024 * 1024;
/** Longer ones are made by machines; what they hold is reached with bash. */
const MAX_LINE_CHARACTERS = 8000;
/** Behind what is shown, lines are still counted up to here: a quarter of a second. */
const COUNTED_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

const parameters = obj({
  path: str({ description: "File to read; relative to the working directory or absolute" }),
  offset: opt(int({ description: "First line to show, from 1", minimum: 0 })),
  limit: opt(int({ description: "Number of lines to show", minimum: 1 })),
});

export function readTool(cwd: string): AgentTool<typeof parameters, ReadDetails> {
  return {
    name: "read",
    label: "read",
    description:
      `Read a file. Text is shown up to ${counted(MAX_OUTPUT_LINES, "line")} or ${formatSize(MAX_OUTPUT_BYTES)} at a time; ` +
      "continue with offset. PNG, JPEG, GIF and WebP files are shown as images.",
    parameters,
    execute: async (_id, { path: asked, offset, limit }, signal) => {
      const path = resolveToolPath(cwd, asked);
      const file = await openFile(cwd, path);
      try {
        const shown = shownPath(cwd, path);
        if (file.kind.kind === "binary") throw failures.binary(shown, file.stats.size);
        if (file.kind.kind === "image") return await readImage(file, path, shown, file.kind.mimeType);
        const range = { first: Math.max(1, offset ?? 1), limit: Math.min(limit ?? MAX_OUTPUT_LINES, MAX_OUTPUT_LINES) };
        return await readText(file, file.kind, { path, shown, ...range }, signal);
      } finally {
        await file.handle.close();
      }
    },
  };
}

type Result = AgentToolResult<ReadDetails>;

async function readImage({ handle, stats }: OpenFile, path: string, shown: string, mimeType: string): Promise<Result> {
  if (stats.size > MAX_IMAGE_BYTES) throw failures.imageTooLarge(shown, mimeType, stats.size, MAX_IMAGE_BYTES);
  const data = (await handle.readFile()).toString("base64");
  return {
    content: [
      { type: "text", text: `${shown} is an image (${mimeType}, ${formatSize(stats.size)}):` },
      { type: "image", data, mimeType },
    ],
    details: { path, mimeType },
  };
}

interface Range {
  path: string;
  shown: string;
  /** 1-based. */
  first: number;
  limit: number;
}

async function readText(
  { handle }: OpenFile,
  kind: Extract<FileKind, { kind: "text" }>,
  range: Range,
  signal: AbortSignal | undefined,
): Promise<Result> {
  const lines = new BoundedLines(range.limit);
  let cutLines = 0;
  const scanner = new LineScanner(kind.encoding, MAX_LINE_CHARACTERS + 1, range.first, (line) => {
    const cut = line.length > MAX_LINE_CHARACTERS;
    const added = lines.add(cut ? `${startOfLine(line, MAX_LINE_CHARACTERS)}…` : line);
    if (added && cut) cutLines++;
    return added;
  });
  const buffer = Buffer.alloc(CHUNK_BYTES);
  let atEnd = false;
  for (let position = kind.bomBytes; !atEnd && !(scanner.full && position > COUNTED_BYTES);) {
    if (signal?.aborted) throw failures.aborted();
    const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, position);
    scanner.push(buffer.subarray(0, bytesRead));
    position += bytesRead;
    atEnd = bytesRead === 0;
  }
  const total = atEnd ? scanner.finish() : undefined;
  if (total === 0) return emptyFile(range);
  if (lines.size === 0) throw failures.pastEnd(range.shown, range.first, total ?? 0);
  return textResult(range, kind, {
    text: lines.toString(),
    size: lines.size,
    total,
    cutLines,
    crlf: scanner.carriageReturns,
  });
}

function emptyFile({ path, shown }: Range): Result {
  return { content: [{ type: "text", text: `[${shown} is empty.]` }], details: { path, totalLines: 0 } };
}

interface TextPart {
  text: string;
  size: number;
  total: number | undefined;
  cutLines: number;
  crlf: "none" | "all" | "some";
}

function textResult({ path, shown, first }: Range, kind: { encoding: string }, part: TextPart): Result {
  const last = first + part.size - 1;
  const truncated = part.total === undefined || last < part.total;
  const notes: string[] = [];
  if (truncated) {
    const of = part.total === undefined ? "more" : part.total.toLocaleString("en-US");
    notes.push(`Lines ${first}-${last} of ${of}; continue with offset=${last + 1}.`);
  }
  if (part.cutLines > 0) {
    const limit = counted(MAX_LINE_CHARACTERS, "character");
    notes.push(
      `${counted(part.cutLines, "line is", "lines are")} cut after ${limit}; use bash (sed, cut) for the rest.`,
    );
  }
  if (part.crlf !== "none") notes.push(`${part.crlf === "all" ? "The" : "Some"} lines end in CRLF; edit keeps that.`);
  if (kind.encoding !== "utf-8") notes.push(`${shown} is ${kind.encoding.toUpperCase()}.`);
  return {
    content: [{ type: "text", text: withNotes(part.text, notes) }],
    details: {
      path,
      firstLine: first,
      lastLine: last,
      truncated,
      ...(part.total === undefined ? {} : { totalLines: part.total }),
    },
  };
}
