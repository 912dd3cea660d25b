/**
 * The find tool: files and directories by name, from those that .gitignore does not hide.
 * Part of `agent/`; made by createTools.
 */
import type { AgentTool } from "@earendil-works/pi-agent-core";
import { int, obj, opt, str } from "@earendil-works/pi-schema";
import { BoundedLines, counted, withNotes } from "../output-limits.ts";
import * as failures from "./failures.ts";
import { globMatcher } from "./glob.ts";
import { complaintNotes } from "./grep.ts";
import { runRipgrep } from "./ripgrep.ts";
import { type SearchDetails, type SearchPlace, searchPlace, shownBelow } from "./search-place.ts";

const DEFAULT_LIMIT = 1000;
const MAX_LIMIT = 2000;

const parameters = obj({
  pattern: str({ description: "Glob such as *.ts, **/*.test.ts or src/**/index.{js,ts}", minLength: 1 }),
  path: opt(str({ description: "Directory to search; the working directory by default" })),
  limit: opt(int({ description: `Paths to show; ${DEFAULT_LIMIT} by default`, minimum: 1 })),
});

/** `program` is another ripgrep than the one that comes with bough. */
export function findTool(cwd: string, program?: string): AgentTool<typeof parameters, SearchDetails> {
  return {
    name: "find",
    label: "find",
    description:
      "Find files and directories by name. A pattern without / is compared with names at any depth, one with / with the " +
      "path below the searched directory. Directories end in /. Hidden files are found, those that .gitignore names are not.",
    parameters,
    execute: async (_id, { pattern, path, limit }, signal) => {
      const place = searchPlace(cwd, path);
      if (!place.isDirectory) throw failures.notDirectory(place.shown);
      const matches = globMatcher(pattern);
      if (matches === undefined) throw failures.badGlob(pattern);
      const found = new FoundPaths(cwd, place, matches, Math.min(limit ?? DEFAULT_LIMIT, MAX_LIMIT));
      const { exitCode, complaint } = await runRipgrep({
        args: ["--files", "--null", "--", "."],
        cwd: place.path,
        delimiter: 0,
        onRecord: (record) => found.add(record.toString().replace(/^\.\//, "")),
        signal,
        program,
      });
      if (exitCode === 2 && found.size === 0 && !found.sawAny) {
        throw failures.searchFailed(place.shown, complaint.split("\n")[0] ?? "");
      }
      const details = { path: place.path, count: found.size, truncated: found.truncated };
      return { content: [{ type: "text", text: found.report(complaint) }], details };
    },
  };
}

/** The paths that match, directories before what is in them. */
class FoundPaths {
  readonly #cwd: string;
  readonly #place: SearchPlace;
  readonly #matches: (path: string) => boolean;
  readonly #limit: number;
  readonly #lines = new BoundedLines();
  /** The directory of the last file: paths come sorted, so a directory is new when it is not above that one. */
  #directory = "";
  sawAny = false;
  truncated = false;

  constructor(cwd: string, place: SearchPlace, matches: (path: string) => boolean, limit: number) {
    this.#cwd = cwd;
    this.#place = place;
    this.#matches = matches;
    this.#limit = limit;
  }

  get size(): number {
    return this.#lines.size;
  }

  /** False when no more fits. */
  add(file: string): boolean {
    this.sawAny = true;
    const directory = file.slice(0, file.lastIndexOf("/") + 1);
    const known = this.#directory;
    this.#directory = directory;
    for (let end = directory.indexOf("/"); end >= 0; end = directory.indexOf("/", end + 1)) {
      const above = directory.slice(0, end);
      if (!known.startsWith(`${above}/`) && !this.#addIfWanted(above, "/")) return false;
    }
    return this.#addIfWanted(file, "");
  }

  #addIfWanted(path: string, mark: string): boolean {
    if (!this.#matches(path)) return true;
    const fits = this.#lines.size < this.#limit && this.#lines.add(shownBelow(this.#cwd, this.#place, path) + mark);
    this.truncated = !fits;
    return fits;
  }

  report(complaint: string): string {
    const notes = complaintNotes(complaint);
    if (this.size === 0) return withNotes("No files found.", notes);
    const cut = `Stopped after ${counted(this.size, "path")}; there are more: narrow the pattern.`;
    return withNotes(this.#lines.toString(), this.truncated ? [cut, ...notes] : notes);
  }
}
