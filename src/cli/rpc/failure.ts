/**
 * What `--mode rpc` answers when a command fails. Part of `cli/`; used by the handlers and dispatcher.ts.
 */
import { CompactionFailed } from "../../agent/compaction.ts";
import { SummaryFailedError } from "../../agent/jump-summary.ts";
import { failureText } from "../report.ts";

/** Why, in a word for programs. */
export type FailureCode =
  /** The line is no JSON object, or too long. */
  | "parse"
  /** There is no such command. */
  | "unknown"
  /** A field is missing, of a wrong type, or not known. */
  | "invalid"
  /** The session stands at another leaf than the client expects; `data.leafId` is that leaf. */
  | "leaf"
  /** No summary could be written, and nothing has changed: try again, go without, or take the digest. */
  | "summary"
  /** It cannot be done, or not now; the text says why. */
  | "refused";

export interface Failure {
  success: false;
  code: FailureCode;
  /** One plain sentence. */
  error: string;
  data?: { leafId: string | null };
}

/** A failure with a code of its own; all other errors are "refused". */
export class CommandFailure extends Error {
  readonly code: FailureCode;
  readonly data: Failure["data"];

  constructor(code: FailureCode, text: string, data?: Failure["data"]) {
    super(text);
    this.code = code;
    this.data = data;
  }
}

export function failureOf(error: unknown): Failure {
  if (!(error instanceof CommandFailure)) {
    const isSummary = error instanceof SummaryFailedError || error instanceof CompactionFailed;
    const code = isSummary ? "summary" : "refused";
    return { success: false, code, error: failureText(error) };
  }
  const { code, message, data } = error;
  return { success: false, code, error: message, ...(data === undefined ? {} : { data }) };
}
