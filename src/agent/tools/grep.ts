/**
 * The grep tool: lines that match, from files that .gitignore does not hide.
 * Part of `agent/`; made by createTools.
 */
import type { AgentTool } from "@earendil-works/pi-agent-core";
import { bool, int, obj, opt, type Static, str } from "@earendil-works/pi-schema";
import { basename, dirname } from "node:path";
import { BoundedLines, counted, formatSize, MAX_OUTPUT_BYTES, startOfLine, withNotes } from "../output-limits.ts";
import * as failures from "./failures.ts";
import { globMatcher } from "./glob.ts";
import { runRipgrep } from "./ripgrep.ts";
import { type SearchDetails, type SearchPlace, searchPlace, shownBelow } from "./search-place.ts";

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 2000;
const MAX_CONTEXT = 20;
const MAX_LINE_CHARACTERS = 500;
/** ripgrep cuts at this many bytes: enough for MAX_LINE_CHARACTERS of any script. */
const MAX_COLUMNS = 4 * MAX_LINE_CHARACTERS;

const parameters = obj({
  pattern: str({ description: "Regular expression (ripgrep's, much like JavaScript's)", minLength: 1 }),
  path: opt(str({ description: "File or directory to search; the working directory by default" })),
  glob: opt(str({ description: "Only files like this, for example *.ts or src/**/*.{ts,tsx}" })),
  ignoreCase: opt(bool({ description: "Capital and small letters are the same" })),
  literal: opt(bool({ description: "The pattern is plain text" })),
  context: opt(int({ description: "Lines to show before and after each match", minimum: 0 })),
  limit: opt(int({ description: `Matching lines to show; ${DEFAULT_LIMIT} by default`, minimum: 1 })),
});
type Arguments = Static<typeof parameters>;

/** `program` is another ripgrep than the one that comes with bough. */
export function grepTool(cwd: string, program?: string): AgentTool<typeof parameters, SearchDetails> {
  return {
    name: "grep",
    label: "grep",
    description:
      "Search the content of files with ripgrep. Gives path:line:text, and path-line-text for lines of context. " +
      `Hidden files are searched, those that .gitignore names are not. Long lines are cut to ${MAX_LINE_CHARACTERS} characters.`,
    parameters,
    execute: async (_id, args, signal) => {
      const place = searchPlace(cwd, args.path);
      const matches = new Matches(cwd, place, args);
      const { exitCode, complaint } = await runRipgrep({
        args: ripgrepArguments(args, place),
        cwd: place.isDirectory ? place.path : dirname(place.path),
        delimiter: 10,
        onRecord: (record) => matches.add(record),
        signal,
        program,
      });
      if (exitCode === 2 && matches.count === 0) throw searchError(args.pattern, place, complaint);
      const details = { path: place.path, count: matches.count, truncated: matches.truncated };
      return { content: [{ type: "text", text: matches.report(complaint) }], details };
    },
  };
}

function ripgrepArguments(args: Arguments, place: SearchPlace): string[] {
  const context = Math.min(args.context ?? 0, MAX_CONTEXT);
  // A newline in a pattern, itself or as \n, matches only when ripgrep looks at more than one line.
  const multiline = args.pattern.includes("\n") || (!args.literal && args.pattern.includes("\\n"));
  return [
    "--no-heading",
    "--with-filename",
    "--line-number",
    "--null",
    "--crlf",
    `--max-columns=${MAX_COLUMNS}`,
    "--max-columns-preview",
    ...(context > 0 ? [`--context=${context}`] : []),
    ...(args.ignoreCase ? ["--ignore-case"] : []),
    ...(args.literal ? ["--fixed-strings"] : []),
    ...(multiline ? ["--multiline"] : []),
    `--regexp=${args.pattern}`,
    "--",
    place.isDirectory ? "." : basename(place.path),
  ];
}

/** ripgrep's own words, without its drawing of the place in the pattern. */
function searchError(pattern: string, place: SearchPlace, complaint: string): Error {
  const said = complaint.split("\n").filter((line) => line !== "");
  if (!complaint.startsWith("rg: regex parse error") && !complaint.startsWith("regex parse error")) {
    return failures.searchFailed(place.shown, said[0] ?? "ripgrep gave no reason");
  }
  return failures.badPattern(pattern, said.find((line) => line.startsWith("error: "))?.slice(7) ?? said.join(" "));
}

/** The lines ripgrep found, as they are shown. */
class Matches {
  readonly #cwd: string;
  readonly #place: SearchPlace;
  readonly #limit: number;
  readonly #wanted: ((path: string) => boolean) | undefined;
  readonly #lines = new BoundedLines();
  #separated = false;
  #pathStart = "";
  #full = false;
  count = 0;
  truncated = false;

  constructor(cwd: string, place: SearchPlace, { glob, limit }: Arguments) {
    this.#cwd = cwd;
    this.#place = place;
    this.#limit = Math.min(limit ?? DEFAULT_LIMIT, MAX_LIMIT);
    this.#wanted = glob === undefined || glob === "" ? undefined : globMatcher(glob);
    if (glob !== undefined && glob !== "" && this.#wanted === undefined) throw failures.badGlob(glob);
  }

  /** One line of ripgrep: path, NUL, number, ":" or "-", text; or "--" between groups. False when no more fits. */
  add(record: Buffer): boolean {
    const nul = record.indexOf(0);
    if (nul < 0) {
      this.#takeUnnamed(record.toString().replace(/\r$/, ""));
      return true;
    }
    const path = this.#pathStart + record.toString("utf8", 0, nul).replace(/^\.\//, "");
    this.#pathStart = "";
    if (this.#wanted !== undefined && !this.#wanted(path)) return true;
    const [, number = "", mark = ""] = /^(\d+)([:-])/.exec(record.toString("latin1", nul + 1, nul + 20)) ?? [];
    const text = record.toString("utf8", nul + 1 + number.length + mark.length).replace(/\r$/, "");
    if (mark !== "-" && this.count === this.#limit) return this.#stop(false);
    const cut = text.length > MAX_LINE_CHARACTERS ? `${startOfLine(text, MAX_LINE_CHARACTERS)}…` : text;
    const line = `${shownBelow(this.#cwd, this.#place, path)}${mark}${number}${mark}${cut.replaceAll("\0", "␀")}`;
    const separator = this.#separated && this.#lines.size > 0;
    this.#separated = false;
    if (separator && !this.#lines.add("--")) return this.#stop(true);
    if (!this.#lines.add(line)) return this.#stop(true);
    if (mark !== "-") this.count++;
    return true;
  }

  /** What has no path: the line between groups, a remark on a binary file, or the start of a path with a newline. */
  #takeUnnamed(text: string): void {
    if (text === "--") this.#separated = true;
    else if (!text.includes(": binary file matches")) this.#pathStart += `${text.replace(/^\.\//, "")}\n`;
  }

  #stop(full: boolean): false {
    this.truncated = true;
    this.#full = full;
    return false;
  }

  report(complaint: string): string {
    if (this.#lines.size === 0) return withNotes("No matches.", complaintNotes(complaint));
    const notes: string[] = [];
    if (this.truncated) {
      const reached = this.#full ? `as much as fits into ${formatSize(MAX_OUTPUT_BYTES)}` : "the limit";
      notes.push(
        `Stopped after ${counted(this.count, "match", "matches")}, ${reached}; there are more: narrow the search.`,
      );
    }
    return withNotes(this.#lines.toString(), [...notes, ...complaintNotes(complaint)]);
  }
}

/** Files that could not be searched do not fail a search, but are no secret either. */
export function complaintNotes(complaint: string): string[] {
  const lines = complaint.split("\n").filter((line) => line !== "");
  if (lines.length === 0) return [];
  const more = lines.length > 1 ? `, and ${counted(lines.length - 1, "more message")}` : "";
  return [`ripgrep: ${startOfLine(lines[0]!.replace(/^rg: (\.\/)?/, ""), MAX_LINE_CHARACTERS)}${more}`];
}
