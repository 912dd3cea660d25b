/** What `bough doctor` says, as text. Part of `cli/`; used by doctor-command.ts. */
import type { Diagnosis } from "../session/doctor.ts";
import type { Repair } from "../session/repair.ts";
import type { Problem } from "../tree/problems.ts";
import { sanitiseLine } from "../tui/sanitise.ts";

/** A file that could not be examined. */
interface Failure {
  path: string;
  error: { code: string; text: string };
}

/** What is known of one file. */
export type Examined = Diagnosis | Repair | Failure;

export interface Totals {
  files: number;
  sound: number;
  withProblems: number;
  /** In all files. */
  problems: number;
  /** Files that could not be examined. */
  failed: number;
  repaired: number;
}

/** The problems a file has now; undefined when it could not be examined. */
function problemsOf(examined: Examined): readonly Problem[] | undefined {
  if ("error" in examined) return undefined;
  return "left" in examined ? examined.left : examined.problems;
}

export const isSound = (examined: Examined): boolean => problemsOf(examined)?.length === 0;

export function totalsOf(all: readonly Examined[]): Totals {
  const found = all.flatMap((examined) => problemsOf(examined)?.length ?? []);
  const withProblems = found.filter((count) => count > 0).length;
  return {
    files: all.length,
    sound: found.length - withProblems,
    withProblems,
    problems: found.reduce((sum, count) => sum + count, 0),
    failed: all.length - found.length,
    repaired: all.filter((examined) => "repaired" in examined && examined.repaired).length,
  };
}

/** A line for each problem and note, and a closing one with the counts. */
export function diagnosisText(file: string, { problems, notes, lines, entries, branches, bytes }: Diagnosis): string {
  const rows = [
    ...problems.map((problem) => problemRow(file, problem)),
    ...notes.map((note) => problemRow(file, { ...note, text: `note: ${note.text}` })),
  ];
  const found = problems.length === 0 ? "No problems" : counted(problems.length, "problem", "problems");
  const size = [
    counted(lines, "line", "lines"),
    counted(entries, "entry", "entries"),
    counted(branches, "branch", "branches"),
    counted(bytes, "byte", "bytes"),
  ];
  return `${rows.join("")}${found} in ${sanitiseLine(file)} (${size.join(", ")}).\n`;
}

/** What was done with the proof, and a line for each problem that is left with the reason why. */
export function repairText(file: string, repair: Repair): string {
  const rows = repair.left.map((left) => problemRow(file, { ...left, text: `${left.text} Left: ${left.reason}.` }));
  return `${sanitiseLine(file)}: ${doneText(repair)}.\n${rows.join("")}`;
}

function doneText({ repaired, good, bad, split, sealed, quarantine, backup }: Repair): string {
  const proof = `${counted(good.count, "good line", "good lines")}, sha256 ${good.sha256}`;
  if (!repaired) return `nothing to repair; ${proof}`;
  const done = [`repaired; ${proof}, unchanged`];
  if (quarantine !== undefined)
    done.push(
      `${counted(bad.lines, "bad line", "bad lines")} (${counted(bad.bytes, "byte", "bytes")}) kept in ${sanitiseLine(quarantine)}`,
    );
  if (split > 0) done.push(`${counted(split, "line", "lines")} split`);
  if (sealed) done.push("a newline added at the end");
  return [...done, `backup ${sanitiseLine(backup ?? "")}`].join("; ");
}

/** One line for a file among others. */
export function rowOf(file: string, examined: Examined): string {
  if ("error" in examined) return `${sanitiseLine(examined.error.text)}\n`;
  const isRepair = "left" in examined;
  const { length, 0: first } = isRepair ? examined.left : examined.problems;
  const count = first === undefined ? "no problems" : counted(length, "problem", "problems");
  const example = first === undefined ? "" : `, first: ${sanitiseLine(first.text)}`;
  const done = isRepair ? `${doneText(examined)}; ` : "";
  return `${sanitiseLine(file)}: ${done}${count}${isRepair ? " left" : ""}${example}\n`;
}

export function folderText(folder: string, totals: Totals, isRepair: boolean): string {
  const name = sanitiseLine(folder);
  if (totals.files === 0) return `There are no session files in ${name}.\n`;
  const parts = [
    ...(isRepair ? [`${totals.repaired} repaired`] : []),
    `${totals.sound} sound`,
    `${totals.withProblems} with problems (${totals.problems} in all)`,
    `${totals.failed} that cannot be examined`,
  ];
  return `${counted(totals.files, "session file", "session files")} in ${name}: ${parts.join(", ")}.\n`;
}

const problemRow = (file: string, { line, text }: Problem): string =>
  `${sanitiseLine(file)}${line > 0 ? `:${line}` : ""}: ${sanitiseLine(text)}\n`;

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;
