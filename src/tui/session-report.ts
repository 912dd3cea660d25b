/**
 * The text of `/session`: where the session is, what is in it, what it has cost.
 * Part of `tui/`; used by the command of that name.
 */
import type { AgentSession } from "../agent/agent-session.ts";
import { blocksOf } from "./shown-text.ts";

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
  for (const [model, part] of usage.byModel) rows.push([`Cost of ${model}`, dollars(part.cost)]);
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

const count = (value: number): string => value.toLocaleString("en");
const dollars = (value: number): string => `$${value.toFixed(4)}`;
/** Names and paths are text, whatever Markdown would make of them. */
const literal = (text: string): string => text.replace(/[\\`*_~[\]<>$|]/g, "\\$&");
