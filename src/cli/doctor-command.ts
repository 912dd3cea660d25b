/**
 * `bough doctor`: what is wrong with session files, each problem with its line; with --repair, what can be put right.
 * Part of `cli/`; called by run-command.ts. Without --repair it changes no byte.
 */
import { statSync } from "node:fs";
import { sessionFilesBelow } from "../session/catalog.ts";
import { diagnose } from "../session/doctor.ts";
import { allSessionsDir } from "../session/locations.ts";
import { repairSession } from "../session/repair.ts";
import { SessionFileError } from "../session/session-errors.ts";
import { namedFile } from "./choose-session.ts";
import { diagnosisText, folderText, isSound, repairText, rowOf, totalsOf } from "./doctor-report.ts";
import type { Examined } from "./doctor-report.ts";
import type { Io } from "./io.ts";
import { jsonText } from "./json-text.ts";
import { UsageError, readOptions } from "./usage.ts";

export const DOCTOR_HELP = `bough doctor: report what is wrong in session files, and repair it.

  bough doctor FILE                a line for each problem, FILE:LINE: text; a note is worth knowing and no fault
  bough doctor FOLDER              a line for each session file in it and in the folders below
  bough doctor                     the same for all your sessions

FILE may also be an id that bough list shows.

      --repair  move damaged bytes to FILE.quarantine-TIME, give every good record a line of its own, and keep the old
                file as FILE.bak. Good records keep their bytes: their number and SHA-256, taken before and after, are
                printed. Nothing is written when nothing needs it. Needs a FILE or a FOLDER.
      --json    the report as one JSON object
  -h, --help

Exit code: 0 nothing is wrong (any more), 1 something is or there is no such session, 2 wrong usage.
`;

const OPTIONS = {
  json: { type: "boolean" },
  repair: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

interface DoctorArguments {
  /** As the user wrote it; undefined for all sessions. */
  path: string | undefined;
  repair: boolean;
  json: boolean;
}

/** Resolves with the exit code: 0 without problems, 1 with some. Rejects with UsageError or SessionFileError. */
export async function runDoctorCommand(args: readonly string[], io: Pick<Io, "out">): Promise<number> {
  const asked = readArguments(args);
  if (asked === "help") {
    io.out(DOCTOR_HELP);
    return 0;
  }
  if (asked.path !== undefined && !isFolder(asked.path)) return examineFile(asked.path, asked, io);
  return examineFolder(asked.path ?? allSessionsDir(), asked, io);
}

function readArguments(args: readonly string[]): DoctorArguments | "help" {
  const { values, positionals } = readOptions(args, OPTIONS, "bough doctor");
  if (values.help) return "help";
  const [asked, ...more] = positionals;
  const { json = false, repair = false } = values;
  if (more.length > 0) throw new UsageError("Name one session file or folder: bough doctor FILE.");
  if (asked === undefined && repair)
    throw new UsageError("Name what to repair, a session file or a folder: bough doctor FILE --repair.");
  return { path: asked === undefined ? undefined : namedFile(asked, process.cwd()), repair, json };
}

/** False for what cannot be reached: opening it says why. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function examineFile(path: string, { repair, json }: DoctorArguments, io: Pick<Io, "out">): number {
  const examined = repair ? repairSession(path) : diagnose(path);
  if (json) io.out(`${jsonText(examined, 2)}\n`);
  else io.out("left" in examined ? repairText(path, examined) : diagnosisText(path, examined));
  return isSound(examined) ? 0 : 1;
}

/** In text, each file has its line as soon as it is known. */
function examineFolder(folder: string, { repair, json }: DoctorArguments, io: Pick<Io, "out">): number {
  const files: Examined[] = [];
  for (const path of sessionFilesBelow(folder)) {
    const examined = examinedOrFailed(path, repair);
    files.push(examined);
    if (!json) io.out(rowOf(path, examined));
  }
  const totals = totalsOf(files);
  io.out(json ? `${jsonText({ folder, files, totals }, 2)}\n` : folderText(folder, totals, repair));
  return files.every(isSound) ? 0 : 1;
}

/** One file that cannot be read does not hide the others. */
function examinedOrFailed(path: string, repair: boolean): Examined {
  try {
    return repair ? repairSession(path) : diagnose(path);
  } catch (error) {
    if (!(error instanceof SessionFileError)) throw error;
    return { path, error: { code: error.code, text: error.message } };
  }
}
