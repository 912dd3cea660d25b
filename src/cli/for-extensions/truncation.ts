/**
 * Long texts cut for a model, as extensions' own tools do it: the names and the answer are those of pi 1.6.
 * Part of `cli/`; see coding-agent.ts.
 */
import { BoundedLines, MAX_OUTPUT_BYTES, MAX_OUTPUT_LINES, startOfLine, tailOf } from "../../agent/output-limits.ts";

export interface TruncationOptions {
  /** Default 2000. */
  maxLines?: number;
  /** Default 50 KiB. */
  maxBytes?: number;
}

export interface TruncationResult {
  content: string;
  truncated: boolean;
  truncatedBy: "lines" | "bytes" | null;
  totalLines: number;
  totalBytes: number;
  outputLines: number;
  outputBytes: number;
  /** The first line lacks its beginning; only of `truncateTail`. */
  lastLinePartial: boolean;
  /** Not even the first line fits; only of `truncateHead`. */
  firstLineExceedsLimit: boolean;
  maxLines: number;
  maxBytes: number;
}

/** The first lines that fit in both limits, whole. */
export function truncateHead(content: string, options: TruncationOptions = {}): TruncationResult {
  const { maxLines = MAX_OUTPUT_LINES, maxBytes = MAX_OUTPUT_BYTES } = options;
  // The last line has no line end to count.
  const kept = new BoundedLines(maxLines, maxBytes + 1);
  const lines = content.split("\n");
  const fits = lines.findIndex((line) => !kept.add(line)) < 0;
  if (fits) return resultOf(content, content, options);
  return { ...resultOf(content, kept.toString(), options), firstLineExceedsLimit: kept.size === 0 };
}

/** The last lines that fit in both limits; of one that does not fit alone, its end. */
export function truncateTail(content: string, options: TruncationOptions = {}): TruncationResult {
  const { maxLines = MAX_OUTPUT_LINES, maxBytes = MAX_OUTPUT_BYTES } = options;
  const { text, cut, partialLine } = tailOf(content, maxLines, maxBytes);
  return { ...resultOf(content, cut ? text : content, options), lastLinePartial: partialLine };
}

/** One line, at most `maxChars` characters and a note. */
export function truncateLine(line: string, maxChars = 500): { text: string; wasTruncated: boolean } {
  if (line.length <= maxChars) return { text: line, wasTruncated: false };
  return { text: `${startOfLine(line, maxChars)}... [truncated]`, wasTruncated: true };
}

function resultOf(
  whole: string,
  content: string,
  { maxLines = MAX_OUTPUT_LINES, maxBytes = MAX_OUTPUT_BYTES }: TruncationOptions,
): TruncationResult {
  const truncated = content.length < whole.length;
  const totalLines = countLines(whole);
  const outputLines = content === "" && truncated ? 0 : countLines(content);
  return {
    content,
    truncated,
    truncatedBy: truncated ? (outputLines >= maxLines ? "lines" : "bytes") : null,
    totalLines,
    totalBytes: Buffer.byteLength(whole),
    outputLines,
    outputBytes: Buffer.byteLength(content),
    lastLinePartial: false,
    firstLineExceedsLimit: false,
    maxLines,
    maxBytes,
  };
}

function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}
