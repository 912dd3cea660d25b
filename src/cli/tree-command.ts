/**
 * `bough tree FILE`: prints a session's tree, drawn, numbered or as JSON, and what is wrong with the file.
 * Part of `cli/`; called by run-command.ts. Opens the file for reading only and changes no byte of it.
 */
import { homedir } from "node:os";
import { SessionManager } from "../session/session-manager.ts";
import { FILTER_MODES, isFilterMode } from "../tree/outline-filter.ts";
import { drawnLine, numberedLine } from "../tree/outline-lines.ts";
import { emptyText } from "../tree/outline-texts.ts";
import { Outline, type FilterMode, type OutlineRow } from "../tree/outline.ts";
import { sanitise } from "../tui/sanitise.ts";
import { namedFile } from "./choose-session.ts";
import type { Io } from "./io.ts";
import { jsonText } from "./json-text.ts";
import { treeRecord } from "./tree-record.ts";
import { UsageError, readOptions } from "./usage.ts";

/** What is written is safe for any terminal, whether it goes to one or not. */
type TreeOutput = Pick<Io, "out" | "err">;

export const TREE_HELP = `bough tree: print the tree of a session file.

  bough tree FILE [options]        FILE may also be an id that bough list shows

      --filter MODE    which entries to show: ${FILTER_MODES.join(", ")}
      --search WORDS   only rows that hold all these words, in any case
      --plain          numbered lines without drawing, for screen readers:
                       7. user: text (after 3, branch 2 of 2, active)
      --json           one JSON object per row and line: row, after (the row it continues, or null), branch, branches,
                       indent, id, parentId, type, role, active, current, label, problem, text
  -h, --help

Marks: › where the session stands, • on the way there. What is wrong with the file goes to standard error, one line
each, as FILE:LINE: text. Exit code: 0 printed, 1 there is no such session, 2 wrong usage.
`;

const OPTIONS = {
  filter: { type: "string" },
  search: { type: "string" },
  json: { type: "boolean" },
  plain: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

/** Rows that are made and written at a time. */
const BATCH = 1000;

interface TreeArguments {
  /** A path, an id or the beginning of one. */
  asked: string;
  filter: FilterMode;
  query: string;
  line: (row: OutlineRow) => string;
  isJson: boolean;
}

/** Resolves to the exit code, 0, damaged or not. Rejects with UsageError or SessionFileError. */
export async function runTreeCommand(args: readonly string[], io: TreeOutput): Promise<number> {
  const parsed = parseTreeArguments(args);
  if (parsed === "help") io.out(TREE_HELP);
  else await printTree(parsed, io);
  return 0;
}

function parseTreeArguments(args: readonly string[]): TreeArguments | "help" {
  const { values, positionals } = readOptions(args, OPTIONS, "bough tree");
  if (values.help) return "help";
  const [asked, ...more] = positionals;
  if (asked === undefined || more.length > 0) throw new UsageError("Name one session file: bough tree FILE.");
  const filter = values.filter ?? "default";
  if (!isFilterMode(filter))
    throw new UsageError(`There is no filter "${filter}"; choose one of ${FILTER_MODES.join(", ")}.`);
  if (values.json && values.plain) throw new UsageError("Use one of --json and --plain, not both together.");
  const line = values.json ? jsonLine : values.plain ? numberedLine : drawnLine;
  return { asked, filter, query: values.search ?? "", line, isJson: values.json ?? false };
}

async function printTree({ asked, filter, query, line, isJson }: TreeArguments, io: TreeOutput): Promise<void> {
  const file = namedFile(asked, process.cwd());
  const session = await SessionManager.open(file, { readOnly: true });
  const outline = new Outline(session.getIndex(), { filter, query, home: homedir() });
  for (let row = 0; row < outline.rowCount; row += BATCH) {
    const lines = outline.rows(row, BATCH).map((shown) => `${isJson ? line(shown) : inert(line(shown))}\n`);
    io.out(lines.join(""));
  }
  const nothing = emptyText(outline);
  if (nothing !== undefined && !isJson) io.out(`${inert(nothing.text)}\n`);
  session.getIndex().readAll();
  for (const problem of session.getProblems()) {
    const place = problem.line > 0 ? `${file}:${problem.line}` : file;
    io.err(`${inert(`${place}: ${problem.text}`)}\n`);
  }
  await session.close();
}

const jsonLine = (row: OutlineRow): string => jsonText(treeRecord(row));

const inert = (line: string): string => sanitise(line).replaceAll("\n", " ");
