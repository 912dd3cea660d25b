/**
 * A session or a stretch of it as a Markdown document that reads well on a code host: a heading for each turn, tool calls
 * folded, the branches as an outline and, each under its own heading, in full.
 * Part of `export/`; used by export-session.ts. Entries are asked for as they are written; none is held.
 */
import { cutText, textOf } from "../tree/content.ts";
import type { SessionEntry } from "../tree/entries.ts";
import { isRecord } from "../tree/json.ts";
import { drawnLine } from "../tree/outline-lines.ts";
import { Outline } from "../tree/outline.ts";
import { ROOT } from "../tree/tree-links.ts";
import { EntryMarkdown, recordsOf, stringOf } from "./markdown-entries.ts";
import type { MarkdownImages } from "./markdown-entries.ts";
import { codeBlock, oneLine } from "./markdown-text.ts";
import type { SessionPart } from "./session-part.ts";

export interface MarkdownOptions {
  images: MarkdownImages;
  /** Which part it is, in a few words; undefined for all of the session. */
  part: string | undefined;
  /** What was masked, in a sentence; asked for at the end. */
  masked: () => string | undefined;
}

/** Characters of a heading. */
const HEADING = 80;
/** Rows of the outline; of a longer one the rest is counted. */
const OUTLINE_ROWS = 500;
/** Characters of a row. */
const ROW = 120;
const ROWS_AT_ONCE = 100;

export function* markdownPieces(part: SessionPart, options: MarkdownOptions): Generator<string> {
  yield* head(part, options);
  const writer = new Transcript(part, new EntryMarkdown(options.images));
  const active = pathTo(part, part.leafOrdinal);
  const branches = part.isWhole ? branchesOff(part, active).filter((branch) => hasContent(part, branch)) : [];
  if (branches.length > 0) {
    yield* outline(part);
    yield "## The current branch\n\n";
  }
  yield* writer.entries(active);
  let count = 0;
  for (const branch of branches) {
    const turn = writer.turnOf(part.parentOrdinal(branch[0]!));
    const from = turn === 0 ? "from the start" : `after turn ${turn}`;
    yield `## Branch ${++count}, ${from}\n\n`;
    yield* writer.entries(branch);
  }
  const masked = options.masked();
  if (masked !== undefined) yield `---\n\n_${oneLine(masked, 1000)}_\n`;
}

function* head(part: SessionPart, { part: which }: MarkdownOptions): Generator<string> {
  const { header } = part;
  const title = part.name?.text ?? `Session ${stringOf(header.id)}`;
  yield `# ${oneLine(title, HEADING)}\n\n`;
  const spent = part.spent();
  const rows: [string, string][] = [
    ["Session", stringOf(header.id)],
    ["Started", timeText(header.timestamp)],
    ["Folder", stringOf(header.cwd)],
    ["Part", which ?? ""],
    ["Entries", part.size.toLocaleString("en-US")],
    ["Tokens", `${spent.input.toLocaleString("en-US")} in, ${spent.output.toLocaleString("en-US")} out`],
    ["Cost", spent.cost === 0 ? "" : `$${spent.cost.toFixed(3)}`],
  ];
  for (const [name, value] of rows) if (value !== "") yield `- **${name}:** ${oneLine(value, 300)}\n`;
  const { problems } = part;
  if (problems.length > 0) {
    yield `\n> **${problems.length === 1 ? "1 problem" : `${problems.length} problems`} in the file:** `;
    yield `${problems
      .slice(0, 5)
      .map(({ text }) => oneLine(text, 300))
      .join(" ")}\n`;
  }
  yield "\n";
}

function* outline(part: SessionPart): Generator<string> {
  const rows = new Outline(part);
  const shown = Math.min(rows.rowCount, OUTLINE_ROWS);
  const lines: string[] = [];
  for (let row = 0; row < shown; row += ROWS_AT_ONCE)
    lines.push(...rows.rows(row, Math.min(ROWS_AT_ONCE, shown - row)).map((each) => rowText(drawnLine(each))));
  const more = rows.rowCount - shown;
  if (more > 0) lines.push(`… and ${more.toLocaleString("en-US")} more`);
  yield `## Outline\n\n${codeBlock(lines.join("\n"), "text")}\n\n`;
}

function rowText(row: string): string {
  const line = row.replaceAll("\n", " ");
  return line.length <= ROW ? line : `${cutText(line, ROW - 1).trimEnd()}…`;
}

/** From the root to `n`. */
function pathTo(part: SessionPart, n: number): number[] {
  const path: number[] = [];
  for (let at = n; at >= 0; at = part.parentOrdinal(at)) path.push(at);
  return path.reverse();
}

/** All that is not on the path, in stretches: each begins at a fork and goes on with first children. */
function branchesOff(part: SessionPart, path: readonly number[]): number[][] {
  const done = new Uint8Array(part.size);
  const branches: number[][] = [];
  const starts: number[] = [];
  const lookBelow = (stretch: readonly number[]): void => {
    // The last one added is taken next: branches of a branch follow it, those nearest to its start first.
    for (const n of stretch.toReversed())
      for (const child of part.treeChildren(n).toReversed()) if (done[child] === 0) starts.push(child);
  };
  for (const n of path) done[n] = 1;
  for (const root of part.treeChildren(ROOT).toReversed()) if (done[root] === 0) starts.push(root);
  lookBelow(path);
  for (let start = starts.pop(); start !== undefined; start = starts.pop()) {
    if (done[start] === 1) continue;
    const stretch: number[] = [];
    for (let n: number | undefined = start; n !== undefined; n = part.treeChildren(n)[0]) {
      if (done[n] === 1) break;
      done[n] = 1;
      stretch.push(n);
    }
    branches.push(stretch);
    lookBelow(stretch);
  }
  return branches;
}

/** Bookkeeping alone is no branch to read. */
const hasContent = (part: SessionPart, branch: readonly number[]): boolean =>
  branch.some((n) => ["message", "custom_message", "compaction", "branch_summary"].includes(part.kindAt(n)));

/** Writes stretches of entries, with one count of turns. */
class Transcript {
  readonly #part: SessionPart;
  readonly #markdown: EntryMarkdown;
  /** By entry: the number of its turn, from 1; 0 before the first. */
  readonly #turns: Int32Array;
  #turnCount = 0;

  constructor(part: SessionPart, markdown: EntryMarkdown) {
    this.#part = part;
    this.#markdown = markdown;
    this.#turns = new Int32Array(part.size);
  }

  /** In which turn an entry was written; 0 for none. */
  turnOf(n: number): number {
    return n < 0 ? 0 : this.#turns[n]!;
  }

  *entries(stretch: readonly number[]): Generator<string> {
    this.#markdown.begin();
    for (let at = 0; at < stretch.length; at++) {
      const n = stretch[at]!;
      const entry = this.#part.at(n);
      this.#turns[n] = isPrompt(entry) ? ++this.#turnCount : this.turnOf(this.#part.parentOrdinal(n));
      if (isPrompt(entry)) yield this.#heading(entry);
      const answered = callsIn(entry) ? this.#resultsAfter(stretch, at) : [];
      for (const result of answered) this.#turns[result] = this.#turns[n]!;
      yield* this.#markdown.entry(
        entry,
        answered.map((result) => this.#part.at(result)),
      );
      const label = this.#part.label(n);
      if (label !== undefined) yield `🏷 **${oneLine(label, HEADING)}**\n\n`;
      at += answered.length;
    }
  }

  #heading(entry: SessionEntry): string {
    const prompt = entry.type === "message" ? textOf((entry.message as { content?: unknown }).content) : "";
    return `## ${this.#turnCount}. ${oneLine(prompt, HEADING) || "(no text)"}\n\n`;
  }

  /** Results that stand right behind an answer belong into it. */
  #resultsAfter(stretch: readonly number[], at: number): readonly number[] {
    let end = at + 1;
    while (end < stretch.length && this.#isResult(stretch[end]!)) end++;
    return stretch.slice(at + 1, end);
  }

  #isResult(n: number): boolean {
    if (this.#part.kindAt(n) !== "message" || this.#part.label(n) !== undefined) return false;
    const role = this.#part.roleAt(n) ?? messageOf(this.#part.at(n))?.["role"];
    return role === "toolResult";
  }
}

const messageOf = (entry: SessionEntry): Record<string, unknown> | undefined => {
  const message: unknown = entry.type === "message" ? entry.message : undefined;
  return isRecord(message) ? message : undefined;
};
const isPrompt = (entry: SessionEntry): boolean => messageOf(entry)?.["role"] === "user";
const callsIn = (entry: SessionEntry): boolean => {
  const message = messageOf(entry);
  return message?.["role"] === "assistant" && recordsOf(message["content"]).some(({ type }) => type === "toolCall");
};

/** An ISO time without its seconds, in UTC. */
function timeText(timestamp: unknown): string {
  const text = stringOf(timestamp);
  const time = Date.parse(text);
  return Number.isNaN(time) ? text : `${new Date(time).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
