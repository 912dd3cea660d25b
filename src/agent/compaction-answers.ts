/**
 * What extensions may answer when a conversation is compacted, checked before it is used.
 * Part of `agent/`; used by compaction.
 */
import type { CompactionResult, SessionEntry } from "../tree/entries.ts";
import { isRecord, isStorable } from "../tree/json.ts";

/** A compaction of an extension's, or what is wrong with it; completes "… because ". */
export function checkedCompaction(given: unknown, path: readonly SessionEntry[]): CompactionResult | string {
  if (!isRecord(given)) return "it is no object";
  const { summary, firstKeptEntryId, tokensBefore, details, preserveData } = given;
  if (typeof summary !== "string") return "its summary is no text";
  if (summary.trim() === "") return "its summary is empty";
  if (typeof firstKeptEntryId !== "string") return "its firstKeptEntryId is no text";
  if (!path.some(({ id }) => id === firstKeptEntryId))
    return `its firstKeptEntryId ${JSON.stringify(firstKeptEntryId)} is not on the current branch`;
  if (typeof tokensBefore !== "number" || !Number.isFinite(tokensBefore) || tokensBefore < 0)
    return "its tokensBefore is no number of tokens";
  if (!isStorable(details)) return "its details cannot be written as JSON";
  const preserved = checkedPreserveData(preserveData);
  if (typeof preserved === "string") return preserved;
  return {
    summary: summary.toWellFormed(),
    firstKeptEntryId,
    tokensBefore,
    ...(details === undefined ? {} : { details }),
    ...preserved,
  };
}

/** What `session.compacting` may add to the request for a summary. */
export interface CompactingAnswer {
  context?: string[];
  prompt?: string;
  preserveData?: Record<string, unknown>;
}

/** The answer, or what is wrong with it; completes "… because ". */
export function checkedCompacting(given: unknown): CompactingAnswer | string {
  if (given === undefined) return {};
  if (!isRecord(given)) return "it is no object";
  const { context, prompt, preserveData } = given;
  if (context !== undefined && !(Array.isArray(context) && context.every((line) => typeof line === "string")))
    return "its context is no list of texts";
  if (prompt !== undefined && (typeof prompt !== "string" || prompt.trim() === "")) return "its prompt is no text";
  const preserved = checkedPreserveData(preserveData);
  if (typeof preserved === "string") return preserved;
  return {
    ...(context === undefined ? {} : { context: context as string[] }),
    ...(prompt === undefined ? {} : { prompt }),
    ...preserved,
  };
}

function checkedPreserveData(given: unknown): Pick<CompactingAnswer, "preserveData"> | string {
  if (given === undefined) return {};
  if (!isRecord(given) || !isStorable(given)) return "its preserveData is no object that can be written as JSON";
  return { preserveData: given };
}
