/**
 * What many sessions have spent, each answer once: forks hold copies of their source's answers, and a subagent's session
 * those that its parent's result adds up. One session is in memory at a time.
 * Part of `session/`; used by `bough stats`.
 */
import { basename, dirname, join } from "node:path";
import type { SessionEntry } from "../tree/entries.ts";
import type { SessionEntryIndex } from "../tree/entry-index.ts";
import { readTime } from "../tree/format.ts";
import { isRecord } from "../tree/json.ts";
import { taskSessionOf } from "../tree/task-result.ts";
import { USAGE_FIELDS, addSpending, addSums, emptyUsage, noUsage, spendingOf } from "../tree/usage.ts";
import type { Spending, UsageSums, UsageTotals } from "../tree/usage.ts";
import { isNote } from "./doctor.ts";
import { SeenAnswers } from "./seen-answers.ts";
import { reasonOf } from "./session-errors.ts";
import { SessionManager } from "./session-manager.ts";
import { headerOf } from "./session-summary.ts";

export interface SessionSpending {
  path: string;
  id: string;
  name: string | undefined;
  cwd: string;
  created: Date;
  isSubagent: boolean;
  entries: number;
  /** Entries that spent something and are counted here. */
  answers: number;
  /** What they spent. */
  spent: UsageTotals;
  /** What others of its entries spent, counted in the session they were copied from or the one that did the work. */
  shared: UsageSums;
  /** How many things are wrong in the file, as far as it was read. */
  problems: number;
}

export interface UnreadSession {
  path: string;
  /** Why it cannot be read, in one plain sentence. */
  reason: string;
}

interface Found {
  path: string;
  id: string;
  /** Milliseconds. */
  created: number;
}

/** Reads session files, the oldest first, so that what a fork has in common with its source counts for the source. */
export async function* readSpending(paths: readonly string[]): AsyncGenerator<SessionSpending | UnreadSession> {
  const found: Found[] = paths.map((path) => {
    const header = headerOf(path);
    return { path, id: header?.id ?? "", created: readTime(header?.timestamp) || 0 };
  });
  found.sort((a, b) => a.created - b.created || (a.path < b.path ? -1 : 1));
  const ledger = new Ledger(found);
  for (const { path } of found) {
    try {
      yield await counted(ledger, path);
    } catch (error) {
      yield { path, reason: reasonOf(error) };
    }
  }
}

async function counted(ledger: Ledger, path: string): Promise<SessionSpending> {
  const session = await SessionManager.open(path, { readOnly: true });
  try {
    return ledger.count(session, path);
  } finally {
    await session.close();
  }
}

/**
 * What makes two entries one answer: the same id of the provider's response or, without one, the same entry id; the same
 * time, the same model and the same numbers. Forks keep all of them; providers that reuse ids differ in the rest.
 */
export function answerKey(entry: SessionEntry, { model, sums }: Spending): string {
  const message = entry.type === "message" && isRecord(entry.message) ? entry.message : {};
  const { responseId, timestamp = entry.timestamp }: { responseId?: unknown; timestamp?: unknown } = message;
  const id = typeof responseId === "string" && responseId !== "" ? `response ${responseId}` : `entry ${entry.id}`;
  return JSON.stringify([id, timestamp, model, ...USAGE_FIELDS.map((field) => sums[field])]);
}

class Ledger {
  readonly #ids: ReadonlySet<string>;
  readonly #paths: ReadonlySet<string>;
  readonly #seen = new SeenAnswers();

  constructor(found: readonly Found[]) {
    this.#ids = new Set(found.map(({ id }) => id));
    this.#paths = new Set(found.map(({ path }) => path));
  }

  count(session: SessionManager, path: string): SessionSpending {
    const index = session.getIndex();
    const header = session.getHeader();
    const report: SessionSpending = {
      path,
      id: header.id,
      name: session.getSessionName(),
      cwd: session.getCwd(),
      created: new Date(readTime(header.timestamp) || 0),
      isSubagent: false,
      entries: index.size,
      answers: 0,
      spent: emptyUsage(),
      shared: noUsage(),
      problems: 0,
    };
    const isAddedUp = this.#isAddedUpElsewhere(path);
    for (let n = 0; n < index.size; n++) {
      if (index.kindAt(n) === "session_init") report.isSubagent = true;
      const found = spendingAt(index, n);
      if (found === undefined) continue;
      const isNew =
        !isAddedUp && !this.#isCountedInTask(found.entry) && this.#seen.add(answerKey(found.entry, found.spending));
      if (!isNew) addSums(report.shared, found.spending.sums);
      else {
        report.answers++;
        addSpending(report.spent, found.spending);
      }
    }
    report.problems = session.getProblems().filter((problem) => !isNote(problem)).length;
    return report;
  }

  /** The work behind a result of bough's task tool is in a session of its own, with the models it used. */
  #isCountedInTask(entry: SessionEntry): boolean {
    const id = taskSessionOf(entry);
    return id !== undefined && this.#ids.has(id);
  }

  /** omp keeps what its subagents did in a folder named after the session, whose results add it up without naming them. */
  #isAddedUpElsewhere(path: string): boolean {
    const folder = dirname(path);
    return this.#paths.has(join(dirname(folder), `${basename(folder)}.jsonl`));
  }
}

function spendingAt(
  index: Pick<SessionEntryIndex, "maySpend" | "at" | "faultAt">,
  n: number,
): { entry: SessionEntry; spending: Spending } | undefined {
  if (!index.maySpend(n)) return undefined;
  const entry = index.at(n);
  const spending = index.faultAt(n) === undefined ? spendingOf(entry) : undefined;
  return spending && { entry, spending };
}
