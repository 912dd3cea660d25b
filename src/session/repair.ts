/**
 * `repairSession`: makes a damaged session file whole again, and proves that no good line was touched.
 * Part of `session/`; used by `bough doctor --repair`.
 *
 * The order is: read, plan, write the new file beside the old one, read it back and compare, write the quarantine file,
 * give the old file its second name, and only then put the new one in its place. A crash leaves the old file or the
 * new one, complete, under the session's name.
 */
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import type { LineSource } from "../tree/line-source.ts";
import { parseLine } from "../tree/line-parser.ts";
import type { Problem, ProblemCode } from "../tree/problems.ts";
import { diagnose } from "./doctor.ts";
import { FileStore } from "./file-store.ts";
import { Lease } from "./lease.ts";
import { canonicalPath } from "./locations.ts";
import { writeNewFile } from "./new-file.ts";
import { readingOf } from "./open-session.ts";
import type { ReadSession } from "./open-session.ts";
import { isWholeQuarantine, quarantineContent, quarantinePath } from "./quarantine.ts";
import { eachLine, planRepair, repairedContent } from "./repair-plan.ts";
import type { Removal, RepairPlan } from "./repair-plan.ts";
import { ChangedMeanwhile, isSameFile, replaceFile, stampOf } from "./replaced-file.ts";
import type { Backup, FileStamp } from "./replaced-file.ts";
import {
  SessionFileError,
  changedDuringRepair,
  newerVersion,
  repairFailed,
  repairNotProven,
  syncFailed,
  systemCode,
} from "./session-errors.ts";

/** The good lines of a file: whole records, each as its bytes and a newline. */
export interface GoodLines {
  count: number;
  /** Of all of them in order, in hexadecimal. Of a file without blank lines and padding it is the hash of the file. */
  sha256: string;
}

/** What a repair cannot do anything about. */
export interface LeftProblem extends Problem {
  /** Why it is left as it is, in a few words. */
  reason: string;
}

export interface Repair {
  path: string;
  /** False when there was nothing to repair; no file was written then. */
  repaired: boolean;
  /** The same before and after. */
  good: GoodLines;
  /** What was moved out. */
  bad: { lines: number; bytes: number };
  /** Lines that held several records, each of which has its own line now. */
  split: number;
  /** The last line got the newline it lacked. */
  sealed: boolean;
  /** Has the bytes that were moved out; undefined when there are none. */
  quarantine: string | undefined;
  /** Has the whole file as it was; undefined when nothing was repaired. */
  backup: string | undefined;
  /** What is wrong with the file now, by line. */
  left: LeftProblem[];
}

/**
 * Repairs the file if it needs it. Throws SessionFileError when it is no session, was made by a newer version, cannot
 * be written, is changed by another program meanwhile, or when the proof fails, and SessionInUse when another program
 * has the session open; nothing is changed then.
 */
export function repairSession(path: string): Repair {
  const resolved = canonicalPath(path);
  const stamp = stampOf(resolved);
  const store = FileStore.open(resolved);
  try {
    const { sessionId, plan, old } = examined(resolved, store);
    const split = plan.edits.filter(({ kept }) => kept.length > 1).length;
    const repaired = plan.edits.length > 0 || plan.sealsTail;
    if (repaired && store.refusal !== undefined) throw store.refusal;
    const files = repaired
      ? underLease(sessionId, resolved, () => replaced(resolved, store, plan, old, stamp))
      : { quarantine: undefined, backup: undefined };
    const bytes = plan.removals.reduce((sum, { length }) => sum + length, 0);
    const lines = new Set(plan.removals.map(({ line }) => line)).size;
    return {
      path: resolved,
      repaired,
      good: old.good,
      bad: { lines, bytes },
      split,
      sealed: plan.sealsTail,
      ...files,
      left: diagnose(resolved).problems.map((problem) => ({ ...problem, reason: reasonLeft(problem) })),
    };
  } finally {
    store.close();
  }
}

/** The reading itself goes out of scope: that of the new file needs as much memory. */
function examined(path: string, store: FileStore): { sessionId: string; plan: RepairPlan; old: State } {
  const reading = readingOf(store, path);
  if (reading.newer) throw newerVersion(path);
  // What is wrong with a body is known once it has been read.
  reading.index.readAll();
  const plan = planRepair(store, reading);
  const old = { good: goodLines(store, plan.moved), picture: pictureOf(reading) };
  return { sessionId: reading.header.id, plan, old };
}

/** That nothing was written before the lease was held, the file's stamp shows. */
function underLease<T>(sessionId: string, path: string, work: () => T): T {
  const lease = Lease.take(sessionId, path);
  try {
    return work();
  } finally {
    lease.release();
  }
}

/** What must be the same before and after. */
interface State {
  good: GoodLines;
  picture: string;
}

function replaced(
  path: string,
  store: FileStore,
  plan: RepairPlan,
  old: State,
  stamp: FileStamp | undefined,
): Required<Pick<Repair, "quarantine" | "backup">> {
  let quarantine: string | undefined;
  let backup: Backup;
  try {
    backup = replaceFile(path, repairedContent(store, plan), "bak", (temporary) => {
      if (!isSame(temporary, old)) throw repairNotProven(path);
      quarantine = writeQuarantine(path, store, plan);
      if (stampOf(path) !== stamp) throw new ChangedMeanwhile(path);
    });
    putBackIfWritten(path, backup, stamp);
  } catch (error) {
    const isReplaced = !(error instanceof ChangedMeanwhile) && !isSameFile(stampOf(path), stamp);
    if (quarantine !== undefined && !isReplaced) fs.rmSync(quarantine, { force: true });
    throw failure(path, error, isReplaced);
  }
  return { quarantine, backup: backup.path };
}

/** A program that had the old file open may have written to it until it lost its name: then it gets its name back. */
function putBackIfWritten(path: string, backup: Backup, stamp: FileStamp | undefined): void {
  if (!backup.isOriginal || stampOf(backup.path) === stamp) return;
  fs.renameSync(backup.path, path);
  throw new ChangedMeanwhile(path);
}

function failure(path: string, error: unknown, isReplaced: boolean): unknown {
  if (error instanceof ChangedMeanwhile) return changedDuringRepair(path);
  if (error instanceof SessionFileError || systemCode(error) === "") return error;
  return isReplaced ? syncFailed(path, error) : repairFailed(path, error);
}

function writeQuarantine(path: string, store: LineSource, { removals }: RepairPlan): string | undefined {
  if (removals.length === 0) return undefined;
  const time = new Date().toISOString();
  const quarantine = quarantinePath(path, time);
  try {
    writeNewFile(quarantine, quarantineContent(path, time, store, removals));
    if (!hasAll(quarantine, store, removals)) throw repairNotProven(path);
  } catch (error) {
    // One of that name which was there before belongs to another repair.
    if (systemCode(error) !== "EEXIST") fs.rmSync(quarantine, { force: true });
    throw error;
  }
  return quarantine;
}

function hasAll(quarantine: string, source: LineSource, removals: readonly Removal[]): boolean {
  const store = FileStore.open(quarantine, { readOnly: true });
  try {
    return isWholeQuarantine(store, source, removals);
  } finally {
    store.close();
  }
}

/** Whether a file holds the same good lines, and reads as the same session. */
function isSame(path: string, { good, picture }: State): boolean {
  const store = FileStore.open(path, { readOnly: true });
  try {
    const { count, sha256 } = goodLines(store, new Set());
    return count === good.count && sha256 === good.sha256 && pictureOf(readingOf(store, path)) === picture;
  } finally {
    store.close();
  }
}

/** All whole records of a file but those at the offsets `without`. */
function goodLines(source: LineSource, without: ReadonlySet<number>): GoodLines {
  const hash = createHash("sha256");
  let count = 0;
  eachLine(source, (line) => {
    for (const { offset, length } of parseLine(line).records) {
      if (without.has(offset)) continue;
      hash.update(line.bytes.subarray(offset - line.offset, offset - line.offset + length)).update("\n");
      count++;
    }
  });
  return { count, sha256: hash.digest("hex") };
}

/** Header, name, leaf, labels and tree as one hash; with the bytes of the records these are all of a session. */
function pictureOf({ header, index }: ReadSession): string {
  const hash = createHash("sha256");
  const add = (...values: unknown[]): void => void hash.update(`${JSON.stringify(values)}\n`);
  add(header, index.name, index.leafOrdinal, [...index.labels()]);
  for (let n = 0; n < index.size; n++)
    add(index.idAt(n), index.kindAt(n), index.parentOrdinal(n), index.treeProblemAt(n));
  return hash.digest("hex");
}

const WHOLE = "the record is whole, and another program may know more of it";
const UNKNOWN = "what was meant cannot be told from the file";

const REASONS: ReadonlyMap<ProblemCode, string> = new Map([
  ["bad-line", "it is too long to be judged"],
  ["fused-line", "ids of later entries are made of line numbers, which splitting it would change"],
  ["not-utf8", "the bytes that were there are lost, and the rest of the record is good"],
  ["second-header", "compactions of this file count records, and moving it out would shift what they keep"],
  ["no-id", WHOLE],
  ["bad-entry", WHOLE],
  ["duplicate-id", "both records are whole, and each may be the one that others name"],
  ["duplicate-line", "it says the same in other bytes"],
  ["missing-parent", "any other place in the tree would be a guess"],
]);

const reasonLeft = ({ code }: Problem): string => REASONS.get(code) ?? UNKNOWN;
