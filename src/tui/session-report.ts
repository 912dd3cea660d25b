/**
 * The text of `/session`: where the session is, what is in it, what it has cost.
 * Part of `tui/`; used by the command of that name.
 */
import type { AgentSession } from "../agent/agent-session.ts";
import { usageByBranch } from "../tree/branch-usage.ts";
import { blocksOf } from "./shown-text.ts";

/** Branches that are named. */
const BRANCHES = 5;

/** Markdown. Counts of messages are those of the active path, tokens and dollars those of every branch. */
export function sessionReport(session: AgentSession): string {
  const manager = session.sessionManager;
  const usage = session.getUsage();
  const rows: [string, string][] = [
    ["Name", manager.getSessionName() ?? "none; /name gives one"],
    ["File", manager.getSessionFile() ?? "none: kept in memory"],
    ["Id", manager.getSessionId()],
    ["Messages here", messageCounts(session)],
    ["Tree", treeCounts(session)],
    [
      "Tokens in",
      `${count(usage.input)}, cached ${count(usage.cacheRead)}, written to cache ${count(usage.cacheWrite)}`,
    ],
    ["Tokens out", count(usage.output)],
    ["Cost", dollars(usage.cost)],
  ];
  for (const [model, part] of usage.byModel)
    rows.push([`Cost of ${model || "summaries and tools"}`, dollars(part.cost)]);
  rows.push(...branchCosts(session));
  return rows.map(([name, value]) => `- **${literal(name)}:** ${literal(value)}`).join("\n");
}

function messageCounts(session: AgentSession): string {
  const roles = new Map<string, number>();
  let calls = 0;
  for (const message of session.messages) {
    roles.set(message.role, (roles.get(message.role) ?? 0) + 1);
    if (message.role === "assistant")
      calls += blocksOf(message.content).filter((block) => block["type"] === "toolCall").length;
  }
  const of = (role: string): number => roles.get(role) ?? 0;
  return (
    `${count(session.messages.length)} (prompts ${count(of("user"))}, answers ${count(of("assistant"))}, ` +
    `tool calls ${count(calls)}, results ${count(of("toolResult"))})`
  );
}

function treeCounts(session: AgentSession): string {
  const index = session.sessionManager.getIndex();
  let tips = 0;
  for (let n = 0; n < index.size; n++) if (index.treeChildren(n).length === 0) tips++;
  return `${count(index.size)} entries, ${count(tips)} ${tips === 1 ? "branch" : "branches"}`;
}

/** What each branch has cost, the one here first, then the most expensive; nothing when there is one alone. */
function branchCosts(session: AgentSession): [string, string][] {
  const index = session.sessionManager.getIndex();
  const branches = usageByBranch(index).sort((a, b) => Number(b.active) - Number(a.active));
  if (branches.length < 2) return [];
  const rows = branches
    .slice(0, BRANCHES)
    .map(({ tip, label, active, path, own }): [string, string] => [
      `Branch ${index.idAt(tip)}${label === undefined ? "" : ` "${label}"`}${active ? ", here" : ""}`,
      `${dollars(path.cost)}, of which ${dollars(own.cost)} on no other branch`,
    ]);
  const more = branches.length - rows.length;
  if (more > 0) rows.push(["More branches", `${count(more)}; bough stats FILE shows them`]);
  return rows;
}

const count = (value: number): string => value.toLocaleString("en");
const dollars = (value: number): string => `$${value.toFixed(4)}`;
/** Names and paths are text, whatever Markdown would make of them. */
export const literal = (text: string): string => text.replace(/[\\`*_~[\]<>$|]/g, "\\$&");
