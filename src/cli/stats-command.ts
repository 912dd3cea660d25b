/**
 * `bough stats`: what sessions have spent, in tokens and dollars. Part of `cli/`; called by run-command.ts. Opens files for
 * reading only.
 */
import { statSync } from "node:fs";
import { sessionFilesBelow } from "../session/catalog.ts";
import { SessionManager } from "../session/session-manager.ts";
import { readSpending } from "../session/spending.ts";
import { namedFile } from "./choose-session.ts";
import type { Io } from "./io.ts";
import { jsonText } from "./json-text.ts";
import { SpendingSum, fileStats, fileStatsJson, fileText, sumJson, sumText } from "./stats-report.ts";
import { UsageError, readOptions } from "./usage.ts";

export const STATS_HELP = `bough stats: what sessions have spent, in tokens and dollars.

  bough stats                      the sessions of this folder, and all of them together
  bough stats --all                those of all folders
  bough stats FOLDER               those of the session files in a folder and below
  bough stats FILE                 one session: whole, by model, and branch by branch

FILE may also be an id that bough list shows.

      --json    one JSON object, with every session
  -h, --help

Each answer counts once: forks and clones hold copies of it, which count for the oldest session that has it; the work of
a subagent counts in its own session where that is among those read, else in its parent. Two entries are one answer when
the id of the provider's response (without one: the entry's id), time, model and numbers are the same.

Exit code: 0 fine, 1 a file could not be read or there is no such session, 2 wrong usage.
`;

const OPTIONS = {
  all: { type: "boolean" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

/** Between two words about the progress. */
const FILES_PER_WORD = 50;

export interface StatsIo extends Pick<Io, "out" | "err"> {
  /** Somebody sees standard error as it comes: a long count says how far it is. */
  readonly isWatched: boolean;
}

/** Resolves with the exit code. Rejects with UsageError or SessionFileError. */
export async function runStatsCommand(args: readonly string[], io: StatsIo): Promise<number> {
  const { values, positionals } = readOptions(args, OPTIONS, "bough stats");
  const { all = false, json = false, help = false } = values;
  const [asked, ...more] = positionals;
  if (help) {
    io.out(STATS_HELP);
    return 0;
  }
  if (more.length > 0) throw new UsageError("Name one session file or folder: bough stats FILE.");
  if (asked !== undefined && all) throw new UsageError("Use one of --all and a path, not both together.");
  const path = asked === undefined ? undefined : namedFile(asked, process.cwd());
  if (path !== undefined && !isFolder(path)) return countFile(path, json, io);
  return countAll(path === undefined ? await listed(all) : sessionFilesBelow(path), json, io);
}

async function listed(all: boolean): Promise<string[]> {
  const sessions = await (all ? SessionManager.listAll() : SessionManager.list(process.cwd()));
  return sessions.map(({ path }) => path);
}

/** False for what cannot be reached: opening it says why. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

async function countFile(path: string, json: boolean, io: StatsIo): Promise<number> {
  const session = await SessionManager.open(path, { readOnly: true });
  const stats = fileStats(session, path);
  io.out(json ? `${jsonText(fileStatsJson(stats), 2)}\n` : fileText(stats));
  await session.close();
  return 0;
}

async function countAll(paths: readonly string[], json: boolean, io: StatsIo): Promise<number> {
  const sum = new SpendingSum();
  for await (const read of readSpending(paths)) {
    sum.add(read);
    if (io.isWatched && sum.files % FILES_PER_WORD === 0) io.err(`\r${sum.files} of ${paths.length} sessions`);
  }
  if (io.isWatched && sum.files >= FILES_PER_WORD) io.err("\r\u001b[K");
  io.out(json ? `${jsonText(sumJson(sum), 2)}\n` : sumText(sum));
  return sum.unread.length === 0 ? 0 : 1;
}
