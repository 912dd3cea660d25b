/**
 * `Problem`: something wrong in data from outside. Data never throws; it becomes one of these.
 * Part of `tree/`: pure. All texts of this room's problems stand here and nowhere else.
 */

export type ProblemCode =
  | "torn-tail"
  | "bad-line"
  | "fused-line"
  | "nul-run"
  | "not-an-object"
  | "second-header"
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
  | "changed-while-open";

export interface Problem {
  code: ProblemCode;
  /** 1-based line of the file; 0 when it concerns the whole file. */
  line: number;
  /** One plain sentence for the user. */
  text: string;
}
