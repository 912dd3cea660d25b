/**
 * `bough doctor FILE`: everything that is wrong with a session file, each with its line. Changes no byte.
 * Part of `cli/`; called by main.ts.
 */
import { parseArgs } from "node:util";
import { diagnose } from "../session/doctor.ts";
import type { Diagnosis } from "../session/doctor.ts";
import { SessionFileError } from "../session/session-errors.ts";
import { sanitise, sanitiseLine } from "../tui/sanitise.ts";
import { UsageError } from "./arguments.ts";
import type { Io } from "./io.ts";

export const DOCTOR_HELP = `bough doctor: report what is wrong in a session file; nothing is changed.

  bough doctor FILE [--json]

      --json    the report as one JSON object
  -h, --help

Each problem is a line, FILE:LINE: text. Exit code: 0 nothing is wrong, 1 problems were found, 2 the file is no session.
`;

const OPTIONS = { json: { type: "boolean" }, help: { type: "boolean", short: "h" } } as const;

/** Resolves with the exit code: 0 without problems, 1 with some, 2 when there is no session to look at. */
export async function runDoctorCommand(args: readonly string[], io: Io): Promise<number> {
  try {
    const asked = readArguments(args);
    if (asked === "help") {
      io.out(DOCTOR_HELP);
      return 0;
    }
    const diagnosis = diagnose(asked.file);
    const report = asked.json ? `${JSON.stringify(diagnosis, undefined, 2)}\n` : reportOf(asked.file, diagnosis);
    io.out(io.isTerminal ? sanitise(report) : report);
    return diagnosis.problems.length === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof SessionFileError)) throw error;
    io.err(`${sanitiseLine(error.message)}\n`);
    return 2;
  }
}

function readArguments(args: readonly string[]): { file: string; json: boolean } | "help" {
  const { values, positionals } = readOptions(args);
  if (values.help) return "help";
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new UsageError("Name one session file: bough doctor FILE.");
  return { file, json: values.json ?? false };
}

function readOptions(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    const reason = error instanceof Error ? error.message.split(". ")[0] : String(error);
    throw new UsageError(`${reason}. See bough doctor --help.`, { cause: error });
  }
}

/** A line for each problem and a closing one with the counts. */
function reportOf(file: string, { problems, lines, entries, branches, bytes }: Diagnosis): string {
  const name = sanitiseLine(file);
  const rows = problems.map(({ line, text }) => `${line > 0 ? `${name}:${line}` : name}: ${sanitiseLine(text)}\n`);
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
