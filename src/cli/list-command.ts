/**
 * `bough list`: the sessions there are, the last used first. Part of `cli/`; called by run-command.ts. Changes no byte.
 */
import { listAllSessions, listSessions } from "../session/catalog.ts";
import type { SessionInfo } from "../session/catalog.ts";
import type { Io } from "./io.ts";
import { jsonText } from "./json-text.ts";
import { sessionRecord } from "./session-record.ts";
import { textTable } from "./text-table.ts";
import { UsageError, readOptions } from "./usage.ts";

export const LIST_HELP = `bough list: the sessions of this folder, the last used first.

  bough list [options]

      --all     those of all folders
      --json    one JSON object per session and line: path, id, name, cwd, cwdMissing, created, modified, messages,
                firstMessage, parentSession, size, kind, reason
  -h, --help

The time is that of the newest message, not of the file. Sessions of subagents are left out. bough -r ID opens one.
`;

const OPTIONS = {
  all: { type: "boolean" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

/** Characters of an id that tell sessions made at different moments apart: bough's begin with the time. */
const ID_LENGTH = 13;

/** Resolves with the exit code. Rejects with UsageError. */
export async function runListCommand(args: readonly string[], io: Pick<Io, "out">): Promise<number> {
  const { values, positionals } = readOptions(args, OPTIONS, "bough list");
  const { all = false, json = false, help = false } = values;
  if (help) {
    io.out(LIST_HELP);
    return 0;
  }
  if (positionals.length > 0) throw new UsageError("bough list takes no path; bough stats FOLDER looks into one.");
  const complete = { complete: true };
  const found = await (all ? listAllSessions(complete) : listSessions(process.cwd(), undefined, complete));
  const sessions = found.filter(({ isSubagent }) => !isSubagent);
  if (json) for (const session of sessions) io.out(`${jsonText(sessionRecord(session))}\n`);
  else io.out(sessions.length === 0 ? "No sessions here.\n" : listText(sessions, all));
  return 0;
}

function listText(sessions: readonly SessionInfo[], all: boolean): string {
  const rows = sessions.map((session) => [...factsOf(session), descriptionOf(session, all)]);
  const [, ...lines] = textTable(["used (UTC)", "messages", "id", "session"], rows);
  return lines.map((line) => `${line}\n`).join("");
}

function factsOf({ kind, modified, messageCount, id }: SessionInfo): string[] {
  if (kind === "empty" || kind === "damaged") return ["", "", ""];
  const time = modified.toISOString().slice(0, 16).replace("T", " ");
  return [time, String(messageCount ?? ""), id.slice(0, ID_LENGTH)];
}

function descriptionOf({ name, firstMessage, path, kind, reason, cwd, cwdMissing }: SessionInfo, all: boolean): string {
  if (kind === "empty") return `${path}: empty`;
  if (kind === "damaged") return `${path}: damaged: ${reason ?? "not a session"}`;
  const place = cwdMissing ? ` (its folder is gone: ${cwd})` : all ? ` (${cwd})` : "";
  return `${name ?? (firstMessage || path)}${place}`;
}
