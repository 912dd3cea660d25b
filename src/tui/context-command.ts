/**
 * `/context`: what the next request holds, in tokens, and what of the session it leaves out.
 * Part of `tui/`; a row of the registry of commands.
 */
import type { AgentSession } from "../agent/agent-session.ts";
import type { ContextPart, ContextReport } from "../agent/context-report.ts";
import { sanitiseLine } from "./sanitise.ts";

interface ContextScreen {
  readonly session: Pick<AgentSession, "compaction" | "getContextUsage">;
  showText(markdown: string): void;
}

/** Rows of one part that are shown: the largest. */
const SHOWN = 12;
const TITLES: Readonly<Record<ContextPart["kind"], string>> = {
  summary: "Summary",
  kept: "Kept by the compaction",
  later: "Conversation",
};

export async function contextCommand(screen: ContextScreen): Promise<void> {
  const { session } = screen;
  screen.showText(contextText(await session.compaction.report(), session.getContextUsage()));
}

/** Markdown. */
export function contextText(report: ContextReport, usage: ReturnType<AgentSession["getContextUsage"]>): string {
  const { systemPrompt, tools, entries, dropped } = report;
  const total = systemPrompt + tools.tokens + sum(entries);
  const window = usage === undefined || !(usage.window > 0) ? "" : ` of ${number(usage.window)}`;
  const counted =
    usage === undefined || usage.isCompacted ? "" : ` The provider's own count, carried on: ${number(usage.tokens)}.`;
  const lines = [
    `**The next request: about ${number(total)}${window} tokens.**${counted}`,
    "",
    `- System prompt: ${number(systemPrompt)}`,
    `- ${tools.count} tools: ${number(tools.tokens)}`,
  ];
  for (const kind of ["summary", "kept", "later"] as const)
    lines.push(
      ...partLines(
        TITLES[kind],
        entries.filter((entry) => entry.kind === kind),
      ),
    );
  lines.push(...droppedLines(dropped));
  return lines.join("\n");
}

/** The largest first: they are what one looks for. */
function partLines(title: string, entries: readonly ContextPart[]): string[] {
  if (entries.length === 0) return [];
  const largest = entries.toSorted((a, b) => b.tokens - a.tokens);
  const shown = largest
    .slice(0, SHOWN)
    .map(({ tokens, entryId, text }) => `  - ${number(tokens)} ${named(entryId, text)}`);
  const rest = largest.slice(SHOWN);
  if (rest.length > 0) shown.push(`  - ${number(sum(rest))} in ${rest.length} more`);
  const count = entries.length === 1 ? "" : `, ${entries.length} messages`;
  return [`- ${title}${count}: ${number(sum(entries))}`, ...shown];
}

function droppedLines({ summarised, prompts, repairs }: ContextReport["dropped"]): string[] {
  const lines: string[] = [];
  if (summarised > 0) {
    lines.push(
      "",
      `**Not sent: ${number(summarised)} earlier entries**, which /tree still shows. The latest prompts:`,
      "",
    );
    lines.push(...prompts.map(({ entryId, text }) => `- ${named(entryId, text)}`));
  }
  if (repairs.length > 0) {
    lines.push("", "**Left out or changed, so that the request is valid:**", "");
    lines.push(...repairs.slice(-SHOWN).map(({ entryId, text }) => `- ${named(entryId, text)}`));
    if (repairs.length > SHOWN) lines.push(`- and ${number(repairs.length - SHOWN)} earlier ones`);
  }
  return lines;
}

const sum = (entries: readonly ContextPart[]): number => entries.reduce((total, { tokens }) => total + tokens, 0);
const number = (value: number): string => Math.round(value).toLocaleString("en");
/** The text is the session's: as code, no Markdown of it counts. */
const named = (entryId: string, text: string): string => `${code(entryId)} ${text === "" ? "" : code(text)}`.trimEnd();

function code(text: string): string {
  const line = sanitiseLine(text);
  const fence = "`".repeat(1 + Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length)));
  return `${fence}${line.startsWith("`") || line.endsWith("`") ? ` ${line} ` : line}${fence}`;
}
