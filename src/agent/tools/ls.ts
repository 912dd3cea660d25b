/**
 * The ls tool: what is in a directory.
 * Part of `agent/`; made by createTools.
 */
import type { AgentTool } from "@earendil-works/pi-agent-core";
import { int, obj, opt, str } from "@earendil-works/pi-schema";
import { type Dirent, readlinkSync, statSync } from "node:fs";
import { opendir } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "../../session/session-errors.ts";
import { BoundedLines, counted, withNotes } from "../output-limits.ts";
import * as failures from "./failures.ts";
import { type SearchDetails, searchPlace } from "./search-place.ts";
import { shownName } from "./tool-path.ts";

const DEFAULT_LIMIT = 500;
const MAX_LIMIT = 2000;
/** A directory with more entries is not read to its end. */
const MAX_READ = 100_000;

const parameters = obj({
  path: opt(str({ description: "Directory to list; the working directory by default" })),
  limit: opt(int({ description: `Entries to show; ${DEFAULT_LIMIT} by default`, minimum: 1 })),
});

export function lsTool(cwd: string): AgentTool<typeof parameters, SearchDetails> {
  return {
    name: "ls",
    label: "ls",
    description:
      "List a directory, sorted by name, hidden entries too. Directories end in /, links show where they lead.",
    parameters,
    execute: async (_id, { path: asked, limit }, signal) => {
      const place = searchPlace(cwd, asked);
      if (!place.isDirectory) throw failures.notDirectory(place.shown);
      const { entries, complete } = await entriesOf(place.path, place.shown, signal);
      entries.sort((a, b) => order(a.name, b.name));
      const lines = new BoundedLines(Math.min(limit ?? DEFAULT_LIMIT, MAX_LIMIT));
      const next = entries.findIndex((entry) => !lines.add(shownEntry(place.path, entry)));
      const truncated = next >= 0 || !complete;
      const total = complete
        ? counted(entries.length, "entry", "entries")
        : `more than ${counted(MAX_READ, "entry", "entries")}`;
      const text = entries.length === 0 ? "(empty directory)" : lines.toString();
      const note = `${lines.size} of ${total} shown; set limit (at most ${MAX_LIMIT}), or use find with a pattern.`;
      return {
        content: [{ type: "text", text: withNotes(text, truncated ? [note] : []) }],
        details: { path: place.path, count: lines.size, truncated },
      };
    },
  };
}

async function entriesOf(path: string, shown: string, signal: AbortSignal | undefined) {
  const entries: Dirent[] = [];
  try {
    for await (const entry of await opendir(path)) {
      if (signal?.aborted) throw failures.aborted();
      if (entries.length === MAX_READ) return { entries, complete: false };
      entries.push(entry);
    }
  } catch (error) {
    throw systemCode(error) === "" ? error : failures.cannotRead(shown, error);
  }
  return { entries, complete: true };
}

/** Small and capital letters together, the same everywhere: no locale has a say. */
function order(a: string, b: string): number {
  const [x, y] = [a.toLowerCase(), b.toLowerCase()];
  if (x === y) return a < b ? -1 : 1;
  return x < y ? -1 : 1;
}

function shownEntry(directory: string, entry: Dirent): string {
  if (entry.isDirectory()) return `${shownName(entry.name)}/`;
  if (!entry.isSymbolicLink()) return shownName(entry.name);
  const path = join(directory, entry.name);
  return `${shownName(entry.name)}${isDirectory(path) ? "/" : ""} -> ${shownName(readlinkSync(path))}`;
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // A link that leads nowhere is still an entry.
    return false;
  }
}
