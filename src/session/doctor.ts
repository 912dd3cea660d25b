/**
 * `diagnose`: everything that is wrong with a session file, without changing a byte of it.
 * Part of `session/`; used by `bough doctor`.
 */
import { CURRENT_SESSION_VERSION } from "../tree/entries.ts";
import type { SessionEntryIndex } from "../tree/entry-index.ts";
import { entryProblem } from "../tree/problems.ts";
import type { Problem, ProblemCode } from "../tree/problems.ts";
import { FileStore } from "./file-store.ts";
import { canonicalPath } from "./locations.ts";
import { readingOf } from "./open-session.ts";

export interface Diagnosis {
  path: string;
  sessionId: string;
  /** Of the format, as the file says; 1 when it says nothing. */
  version: number;
  /** By line; 0 is the file as a whole. */
  problems: Problem[];
  /** Worth knowing and no fault: ordinary branches make such, too. */
  notes: Problem[];
  bytes: number;
  lines: number;
  entries: number;
  /** Ends of branches. */
  branches: number;
  leafId: string | null;
}

/** Reads the whole file. Throws SessionFileError when it is no session. */
export function diagnose(path: string): Diagnosis {
  const resolved = canonicalPath(path);
  const store = FileStore.open(resolved, { readOnly: true });
  try {
    const { header, index, migratedFrom, bytes, lines } = readingOf(store, resolved);
    index.readAll();
    const found = [...index.problems, ...brokenPointers(index)].sort((a, b) => a.line - b.line);
    return {
      path: resolved,
      sessionId: header.id,
      version: migratedFrom ?? header.version ?? CURRENT_SESSION_VERSION,
      problems: found.filter((problem) => !isNote(problem)),
      notes: found.filter(isNote),
      bytes,
      lines,
      entries: index.size,
      branches: countTips(index),
      leafId: index.leafId,
    };
  } finally {
    store.close();
  }
}

const NOTES: ReadonlySet<ProblemCode> = new Set(["other-tip", "changed-line", "unverified-lines"]);
/** What is worth knowing and no damage. */
export const isNote = ({ code }: Problem): boolean => NOTES.has(code);

/** Compactions that keep from an entry that is not before them: one walk over the tree that knows the path above it. */
function brokenPointers(index: SessionEntryIndex): Problem[] {
  const found: Problem[] = [];
  const isAbove = new Uint8Array(index.size);
  const open = [...index.treeChildren(-1)].map((n) => ({ n, entered: false }));
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    if (top.entered) {
      isAbove[top.n] = 0;
      open.pop();
      continue;
    }
    top.entered = true;
    const entry = index.at(top.n);
    if (entry.type === "compaction" && index.faultAt(top.n) === undefined) {
      const target = index.ordinal(entry.firstKeptEntryId);
      if (target !== top.n && (target === undefined || isAbove[target] === 0))
        found.push(entryProblem.badPointer(index.originOf(entry.id)?.line ?? 0, entry.id));
    }
    isAbove[top.n] = 1;
    for (const n of index.treeChildren(top.n)) open.push({ n, entered: false });
  }
  return found;
}

function countTips(index: SessionEntryIndex): number {
  const parents = new Uint8Array(index.size);
  for (let n = 0; n < index.size; n++) {
    const parent = index.parentOrdinal(n);
    if (parent >= 0) parents[parent] = 1;
  }
  return parents.reduce((tips, isParent) => tips + (1 - isParent), 0);
}
