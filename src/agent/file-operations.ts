/**
 * `FileOperations`: which files a conversation has read and changed, from its tool calls and from earlier summaries.
 * Part of `agent/`; used by branch summaries, compaction and the digest.
 */
import { isRecord } from "../tree/json.ts";
import type { AgentMessage } from "../tree/messages.ts";
import { oneLine } from "../tree/one-line.ts";
import { promptPart } from "./conversation-text.ts";

/** What a summary's entry keeps under `details`; pi's and omp's field names. */
export interface FileLists {
  /** Sorted; files that were also changed are in the other list alone. */
  readFiles: string[];
  modifiedFiles: string[];
}

/** More would crowd out the summary itself; the entry's details hold them all. */
const SHOWN_FILES = 100;
/** UTF-16 units of a path. */
const LONGEST_PATH = 400;
const CHANGING_TOOLS: ReadonlySet<unknown> = new Set(["write", "edit"]);

export class FileOperations {
  readonly #read = new Set<string>();
  readonly #modified = new Set<string>();

  /** Notes the calls of an answer; every other message has none. */
  noteMessage(message: AgentMessage): void {
    const given: unknown = message;
    if (!isRecord(given) || given["role"] !== "assistant" || !Array.isArray(given["content"])) return;
    for (const block of given["content"] as unknown[]) {
      if (!isRecord(block) || block["type"] !== "toolCall" || !isRecord(block["arguments"])) continue;
      const path = block["arguments"]["path"] ?? block["arguments"]["file_path"];
      if (typeof path !== "string" || path === "") continue;
      if (block["name"] === "read") this.#read.add(path);
      else if (CHANGING_TOOLS.has(block["name"])) this.#modified.add(path);
    }
  }

  /** Adds the lists that an earlier summary keeps; details of any other shape add nothing. */
  addDetails(details: unknown): void {
    if (!isRecord(details)) return;
    addPaths(this.#read, details["readFiles"]);
    addPaths(this.#modified, details["modifiedFiles"]);
  }

  lists(): FileLists {
    return {
      readFiles: [...this.#read].filter((path) => !this.#modified.has(path)).sort(),
      modifiedFiles: [...this.#modified].sort(),
    };
  }
}

function addPaths(into: Set<string>, paths: unknown): void {
  if (!Array.isArray(paths)) return;
  for (const path of paths as unknown[]) if (typeof path === "string" && path !== "") into.add(path);
}

/** The lists as the end of a summary, one path on each line; "" when both are empty. */
export function fileListText({ readFiles, modifiedFiles }: FileLists): string {
  const parts = [
    readFiles.length === 0 ? "" : promptPart("read-files", pathLines(readFiles)),
    modifiedFiles.length === 0 ? "" : promptPart("modified-files", pathLines(modifiedFiles)),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

/** One line for each path, whatever is in its name. */
export function pathLines(paths: readonly string[]): string {
  const lines = paths.slice(0, SHOWN_FILES).map((path) => oneLine(path, LONGEST_PATH));
  if (paths.length > SHOWN_FILES) lines.push(`(and ${paths.length - SHOWN_FILES} more)`);
  return lines.join("\n");
}
