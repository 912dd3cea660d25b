/**
 * Tokens and money of a session: every entry counted once, on whatever branch it stands.
 * Part of `tree/`: pure. Used by the index; shown by footer, /session and stats.
 */
import type { SessionEntry } from "./entries.ts";
import { isRecord } from "./json.ts";
import { kindOf } from "./kinds.ts";

/** Tokens; `cost` is in dollars. */
export interface UsageSums {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  totalTokens: number;
  cost: number;
}
export interface UsageTotals extends UsageSums {
  /** By "provider/model"; what names no model (such as a tool's own usage) is under "". Adds up to the totals. */
  byModel: Map<string, UsageSums>;
}

export const USAGE_FIELDS: readonly (keyof UsageSums)[] = [
  "input",
  "output",
  "cacheRead",
  "cacheWrite",
  "totalTokens",
  "cost",
];

export const noUsage = (): UsageSums => ({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: 0 });

export function emptyUsage(): UsageTotals {
  return { ...noUsage(), byModel: new Map() };
}

export function copyUsage(totals: UsageTotals): UsageTotals {
  return { ...totals, byModel: new Map([...totals.byModel].map(([model, sums]) => [model, { ...sums }])) };
}

/** What one entry records. */
export interface Spending {
  /** "provider/model"; "" when it names none. */
  model: string;
  sums: UsageSums;
}

/**
 * What a sound entry of any kind records, undefined when it records nothing; missing fields and values that are not finite
 * numbers count 0.
 */
export function spendingOf(entry: SessionEntry): Spending | undefined {
  const usage: unknown = kindOf(entry).usage?.(entry) ?? taskUsage(entry);
  return isRecord(usage) ? { model: modelOfUsage(entry), sums: readUsage(usage) } : undefined;
}

export function addSpending(totals: UsageTotals, { model, sums }: Spending): void {
  let ofModel = totals.byModel.get(model);
  if (ofModel === undefined) totals.byModel.set(model, (ofModel = noUsage()));
  addSums(totals, sums);
  addSums(ofModel, sums);
}

export function addSums(into: UsageSums, amount: UsageSums): void {
  for (const field of USAGE_FIELDS) into[field] += amount[field];
}

function readUsage(usage: Record<string, unknown>): UsageSums {
  const input = finite(usage.input) ?? 0;
  const output = finite(usage.output) ?? 0;
  const cacheRead = finite(usage.cacheRead) ?? 0;
  const cacheWrite = finite(usage.cacheWrite) ?? 0;
  const cost = isRecord(usage.cost) ? usage.cost : {};
  const parts = [cost.input, cost.output, cost.cacheRead, cost.cacheWrite].map((part) => finite(part) ?? 0);
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
    totalTokens: finite(usage.totalTokens) ?? input + output + cacheRead + cacheWrite,
    cost: finite(cost.total) ?? parts.reduce((sum, part) => sum + part, 0),
  };
}

/** omp's subagents report what they used in the details of the `task` tool's result. */
function taskUsage(entry: SessionEntry): unknown {
  if (entry.type !== "message" || entry.message.role !== "toolResult" || entry.message.toolName !== "task") return;
  return isRecord(entry.message.details) ? entry.message.details.usage : undefined;
}

function modelOfUsage(entry: SessionEntry): string {
  const { provider, model }: { provider?: unknown; model?: unknown } =
    entry.type === "message" ? (entry.message as object) : entry;
  return typeof provider === "string" && typeof model === "string" ? `${provider}/${model}` : "";
}

function finite(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
