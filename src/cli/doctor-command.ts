/**
 * `bough doctor FILE`: everything that is wrong with a session file, each with its line. Changes no byte.
 * Part of `cli/`; called by main.ts.
 */
import { diagnose } from "../session/doctor.ts";
import type { Diagnosis } from "../session/doctor.ts";
import type { Problem } from "../tree/problems.ts";
import { sanitiseLine } from "../tui/sanitise.ts";
import type { Io } from "./io.ts";
import { jsonText } from "./json-text.ts";
import { UsageError, readOptions } from "./usage.ts";

export const DOCTOR_HELP = `bough doctor: report what is wrong in a session file; nothing is changed.

  bough doctor FILE [--json]

      --json    the report as one JSON object
  -h, --help

Each problem is a line, FILE:LINE: text; a note says what is worth knowing and no fault.
Exit code: 0 nothing is wrong, 1 problems were found or there is no such session, 2 wrong usage.
`;

const OPTIONS = { json: { type: "boolean" }, help: { type: "boolean", short: "h" } } as const;

/** Resolves with the exit code: 0 without problems, 1 with some. Rejects with UsageError or SessionFileError. */
export async function runDoctorCommand(args: readonly string[], io: Pick<Io, "out">): Promise<number> {
  const asked = readArguments(args);
  if (asked === "help") {
    io.out(DOCTOR_HELP);
    return 0;
  }
  const diagnosis = diagnose(asked.file);
  io.out(asked.json ? `${jsonText(diagnosis, 2)}\n` : reportOf(asked.file, diagnosis));
  return diagnosis.problems.length === 0 ? 0 : 1;
}

function readArguments(args: readonly string[]): { file: string; json: boolean } | "help" {
  const { values, positionals } = readOptions(args, OPTIONS, "bough doctor");
  if (values.help) return "help";
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new UsageError("Name one session file: bough doctor FILE.");
  return { file, json: values.json ?? false };
}

/** A line for each problem and note, and a closing one with the counts. */
function reportOf(file: string, { problems, notes, lines, entries, branches, bytes }: Diagnosis): string {
  const name = sanitiseLine(file);
  const row = (kind: string, { line, text }: Problem): string =>
    `${line > 0 ? `${name}:${line}` : name}: ${kind}${sanitiseLine(text)}\n`;
  const rows = [...problems.map((problem) => row("", problem)), ...notes.map((note) => row("note: ", note))];
  const found = problems.length === 0 ? "No problems" : counted(problems.length, "problem", "problems");
  const size = [
    counted(lines, "line", "lines"),
    counted(entries, "entry", "entries"),
    counted(branches, "branch", "branches"),
    counted(bytes, "byte", "bytes"),
  ];
  return `${rows.join("")}${found} in ${name} (${size.join(", ")}).\n`;
}

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;
