/**
 * What `bough stats` says, as text and as JSON. Part of `cli/`; used by stats-command.ts.
 */
import { isNote } from "../session/doctor.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { SessionSpending, UnreadSession } from "../session/spending.ts";
import { usageByBranch } from "../tree/branch-usage.ts";
import { addSums, emptyUsage, noUsage } from "../tree/usage.ts";
import type { UsageSums, UsageTotals } from "../tree/usage.ts";
import { sanitiseLine } from "../tui/sanitise.ts";
import { textTable } from "./text-table.ts";

/** Sessions and branches that the text names; --json has all. */
const NAMED = 20;

/** All sessions that were read, added up. */
export class SpendingSum {
  readonly total: UsageTotals = emptyUsage();
  readonly sessions: SessionSpending[] = [];
  readonly unread: UnreadSession[] = [];
  answers = 0;

  get files(): number {
    return this.sessions.length + this.unread.length;
  }

  add(read: SessionSpending | UnreadSession): void {
    if ("reason" in read) {
      this.unread.push(read);
      return;
    }
    this.sessions.push(read);
    this.answers += read.answers;
    addSums(this.total, read.spent);
    for (const [model, sums] of read.spent.byModel) {
      const ofModel = this.total.byModel.get(model) ?? noUsage();
      addSums(ofModel, sums);
      this.total.byModel.set(model, ofModel);
    }
  }
}

export function sumJson({ total, answers, sessions, unread }: SpendingSum): object {
  return {
    files: sessions.length + unread.length,
    answers,
    ...totalsJson(total),
    sessions: sessions.map(({ spent, ...session }) => ({ ...session, ...totalsJson(spent) })),
    unread,
  };
}

const totalsJson = ({ byModel, ...total }: UsageTotals): object => ({ total, byModel: Object.fromEntries(byModel) });

export function sumText(sum: SpendingSum): string {
  const byCost = [...sum.sessions].sort((a, b) => b.spent.cost - a.spent.cost || b.answers - a.answers);
  const named = byCost.filter(({ answers }) => answers > 0).slice(0, NAMED);
  const rows = named.map((session) => [
    dollars(session.spent.cost),
    dollars(session.shared.cost),
    count(session.answers),
    tokens(session.spent),
    session.created.toISOString().slice(0, 10),
    `${session.isSubagent ? "(subagent) " : ""}${session.name ?? session.path}`,
  ]);
  const others = sum.sessions.length - named.length;
  return [
    `${counted(sum.files, "session")}, ${counted(sum.answers, "answer")}, ${dollars(sum.total.cost)}`,
    ...modelRows(sum.total),
    ...textTable(["spent", "copied", "answers", "tokens", "begun", "session"], rows),
    ...(others > 0 && named.length > 0 ? [`and ${counted(others, "session")} more`] : []),
    ...sum.sessions
      .filter(({ problems }) => problems > 0)
      .map(({ path, problems }) => `${sanitiseLine(path)}: ${counted(problems, "problem")}, bough doctor names them`),
    ...sum.unread.map(({ path, reason }) => sanitiseLine(`${path}: not counted: ${reason}`)),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

interface BranchStats {
  tipId: string;
  forkId: string | null;
  label: string | undefined;
  active: boolean;
  entries: number;
  path: UsageSums;
  own: UsageSums;
}

/** One session, and each of its branches. */
export interface FileStats {
  path: string;
  id: string;
  name: string | undefined;
  entries: number;
  answers: number;
  total: UsageTotals;
  branches: BranchStats[];
  problems: number;
}

export function fileStats(session: SessionManager, path: string): FileStats {
  const index = session.getIndex();
  const branches = usageByBranch(index).map(({ tip, fork, ...branch }) => ({
    tipId: index.idAt(tip),
    forkId: fork < 0 ? null : index.idAt(fork),
    ...branch,
  }));
  let answers = 0;
  for (let n = 0; n < index.size; n++) if (index.spentAt(n) !== undefined) answers++;
  return {
    path,
    id: session.getSessionId(),
    name: session.getSessionName(),
    entries: index.size,
    answers,
    total: session.getUsage(),
    branches,
    problems: session.getProblems().filter((problem) => !isNote(problem)).length,
  };
}

export const fileStatsJson = ({ total, ...stats }: FileStats): object => ({ ...stats, ...totalsJson(total) });

export function fileText({ path, name, entries, answers, total, branches, problems }: FileStats): string {
  const rows = branches
    .slice(0, NAMED)
    .map((branch) => [
      dollars(branch.path.cost),
      dollars(branch.own.cost),
      count(branch.entries),
      branch.tipId,
      branch.forkId ?? "",
      `${branch.active ? "current " : ""}${branch.label === undefined ? "" : `[${branch.label}]`}`,
    ]);
  return [
    `${sanitiseLine(name ?? path)}: ${counted(entries, "entry", "entries")}, ${counted(answers, "answer")}, ${dollars(total.cost)}`,
    ...modelRows(total),
    ...textTable(["branch", "own", "entries", "tip", "parts at", ""], rows),
    ...(branches.length > NAMED ? [`and ${counted(branches.length - NAMED, "branch", "branches")} more`] : []),
    ...(problems > 0
      ? [`${counted(problems, "problem")} in the file: bough doctor ${sanitiseLine(path)} names them`]
      : []),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

function modelRows(total: UsageTotals): string[] {
  const rows = [...total.byModel]
    .sort(([, a], [, b]) => b.cost - a.cost)
    .map(([model, sums]) => [
      dollars(sums.cost),
      count(sums.input),
      count(sums.cacheRead),
      count(sums.cacheWrite),
      count(sums.output),
      model === "" ? "(summaries and tools)" : model,
    ]);
  return textTable(["spent", "in", "cached", "to cache", "out", "model"], rows);
}

const count = (value: number): string => value.toLocaleString("en");
const tokens = ({ totalTokens }: UsageSums): string => count(totalTokens);
const dollars = (value: number): string => `$${value.toFixed(4)}`;
const counted = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;
