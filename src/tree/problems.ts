/**
 * `Problem`: something wrong in data from outside. Data never throws; it becomes one of these.
 * Part of `tree/`: pure. All texts of this room's problems stand here and nowhere else.
 */

export type ProblemCode =
  | "torn-tail"
  | "bad-line"
  | "fused-line"
  | "nul-run"
  | "not-utf8"
  | "not-an-object"
  | "changed-line"
  | "unverified-lines"
  | "second-header"
  | "bad-version"
  | "no-id"
  | "bad-entry"
  | "duplicate-id"
  | "duplicate-line"
  | "missing-parent"
  | "parent-cycle"
  | "unknown-leaf"
  | "unknown-label-target"
  | "bad-pointer"
  | "migration-index"
  | "newer-version"
  | "other-tip"
  | "changed-while-open"
  | "not-writable"
  | "no-lease"
  | "file-changed"
  | "foreign-lines"
  | "passed-over";

export interface Problem {
  code: ProblemCode;
  /** 1-based line of the file; 0 when it concerns the whole file. */
  line: number;
  /** One plain sentence for the user. */
  text: string;
}

/** Lines that are damaged: each costs at most itself. */
export const lineProblem = {
  tornTail: (line: number): Problem => ({
    code: "torn-tail",
    line,
    text: `Line ${line}, the last one, was not written to its end and is left out.`,
  }),
  badLine: (line: number): Problem => ({
    code: "bad-line",
    line,
    text: `Line ${line} is not valid JSON and is left out.`,
  }),
  tooLong: (line: number): Problem => ({
    code: "bad-line",
    line,
    text: `Line ${line} is longer than 512 MiB and is left out.`,
  }),
  fusedLine: (line: number, kept: number): Problem => ({
    code: "fused-line",
    line,
    text: `Line ${line} holds several records or fragments run together; ${kept === 1 ? "the whole record in it is" : `the ${kept} whole records in it are`} used.`,
  }),
  nulRun: (line: number, kept: boolean): Problem => ({
    code: "nul-run",
    line,
    text: kept
      ? `Line ${line} is padded with NUL bytes; the record in it is used.`
      : `Line ${line} holds only NUL bytes and is left out.`,
  }),
  notUtf8: (line: number): Problem => ({
    code: "not-utf8",
    line,
    text: `Line ${line} holds bytes that are not UTF-8; they are shown as \uFFFD.`,
  }),
  notAnObject: (line: number): Problem => ({
    code: "not-an-object",
    line,
    text: `Line ${line} holds a bare value instead of a record and is left out.`,
  }),
  changedLine: (line: number): Problem => ({
    code: "changed-line",
    line,
    text: `Line ${line} was changed after it was written; it is used as it is now.`,
  }),
  unverified: (firstLine: number, count: number): Problem => ({
    code: "unverified-lines",
    line: firstLine,
    text:
      count === 1
        ? `Line ${firstLine} has no seal, so it was not written by bough; nobody can tell whether it was changed.`
        : `${count} lines from line ${firstLine} on have no seal, so bough did not write them; nobody can tell whether they were changed.`,
  }),
  secondHeader: (line: number): Problem => ({
    code: "second-header",
    line,
    text: `Line ${line} is a second session header and is left out.`,
  }),
  noId: (line: number): Problem => ({
    code: "no-id",
    line,
    text: `Line ${line} is a record without a type or an id and is left out.`,
  }),
};

/** The header's own. */
export const headerProblem = {
  badVersion: (line: number): Problem => ({
    code: "bad-version",
    line,
    text: `The version in line ${line} is not a number; the file is read as version 3.`,
  }),
  newerVersion: (line: number, version: unknown): Problem => ({
    code: "newer-version",
    line,
    text: `The file has version ${String(version)}: it was made by a newer version of the program and is opened for reading only.`,
  }),
};

/** Entries that were read, but do not fit their kind or the tree. */
export const entryProblem = {
  badEntry: (line: number, id: string, type: string, fault: string): Problem => ({
    code: "bad-entry",
    line,
    text: `Entry ${id} is a broken ${type} (${fault}); it keeps its place in the tree and adds nothing.`,
  }),
  duplicateId: (line: number, id: string, keptAs: string): Problem => ({
    code: "duplicate-id",
    line,
    text: `The id ${id} is used again in line ${line} for something else, which is shown as ${keptAs}.`,
  }),
  duplicateLine: (line: number, id: string): Problem => ({
    code: "duplicate-line",
    line,
    text: `Line ${line} repeats ${id} and is left out.`,
  }),
  missingParent: (line: number, id: string, parentId: string | null): Problem => ({
    code: "missing-parent",
    line,
    text:
      parentId === null
        ? `Entry ${id} names no parent and starts a branch of its own.`
        : `Entry ${id} follows ${parentId}, which is not in the file, and starts a branch of its own.`,
  }),
  parentCycle: (line: number, id: string): Problem => ({
    code: "parent-cycle",
    line,
    text: `Entry ${id} is its own ancestor; it is shown as the start of a branch.`,
  }),
  unknownLeaf: (line: number, target: unknown): Problem => ({
    code: "unknown-leaf",
    line,
    text:
      typeof target === "string"
        ? `Line ${line} moves to ${target}, which is not in the file; the move is left out.`
        : `Line ${line} is a move that names no target and is left out.`,
  }),
  unknownLabelTarget: (line: number, target: string): Problem => ({
    code: "unknown-label-target",
    line,
    text: `Line ${line} labels ${target}, which is not in the file; the label is not shown.`,
  }),
  migrationIndex: (line: number, index: number): Problem => ({
    code: "migration-index",
    line,
    text: `The compaction in line ${line} keeps what follows record ${index}, which is no earlier entry; only its summary is used.`,
  }),
  badPointer: (line: number, id: string): Problem => ({
    code: "bad-pointer",
    line,
    text: `Compaction ${id} keeps messages from an entry that does not stand before it on its branch; its summary and what follows it are used.`,
  }),
  otherTip: (line: number, tip: string, messages: number): Problem => ({
    code: "other-tip",
    line,
    text: `Another branch, ending at ${tip}, was written in the same minutes and has more messages (${messages}); /tree shows it.`,
  }),
};

/** Why a file is no session; the path is put in front by whoever opened it. */
export const invalidReason = {
  notJson: "it is not a session file: its first line is not JSON",
  notAHeader: (type: string): string => `it is not a session file: its first record is of type ${type}, not "session"`,
  noHeaderId: "its session header has no id",
  noHeader: "it has no session header",
};
