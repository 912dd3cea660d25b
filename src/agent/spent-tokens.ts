/**
 * What requests beside the conversation have used: it counts in the session, whatever became of the answer.
 * Part of `agent/`; used by branch summaries and compaction.
 */
import type { Usage } from "../tree/messages.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { Model } from "./providers.ts";

export interface Spent {
  /** The model that was asked. */
  model: Pick<Model, "provider" | "id">;
  usage: Usage;
}

export interface SpendingHost {
  readonly sessionManager: Pick<SessionManager, "isReadOnly" | "appendUsage">;
  appended(entryId: string): void;
}

/** Records, at the leaf, what a summary cost that is not written: it failed or was refused. */
export function recordUnusedSummary(host: SpendingHost, spent: Spent | undefined): void {
  if (spent !== undefined) recordUsage(host, "summary", spent);
}

/** Records, at the leaf, a `usage` entry as pi has them; requests that cost nothing leave none. */
export function recordUsage({ sessionManager, appended }: SpendingHost, kind: string, spent: Spent): void {
  if (sessionManager.isReadOnly()) return;
  if (!(spent.usage.totalTokens > 0)) return;
  appended(sessionManager.appendUsage(kind, spent.model, spent.usage));
}

/** Of several requests; undefined for none. */
export function sumOfUsages(usages: readonly Usage[]): Usage | undefined {
  if (usages.length === 0) return undefined;
  const total = (of: (usage: Usage) => number): number => usages.reduce((all, usage) => all + of(usage), 0);
  return {
    input: total((usage) => usage.input),
    output: total((usage) => usage.output),
    cacheRead: total((usage) => usage.cacheRead),
    cacheWrite: total((usage) => usage.cacheWrite),
    totalTokens: total((usage) => usage.totalTokens),
    cost: {
      input: total((usage) => usage.cost.input),
      output: total((usage) => usage.cost.output),
      cacheRead: total((usage) => usage.cost.cacheRead),
      cacheWrite: total((usage) => usage.cost.cacheWrite),
      total: total((usage) => usage.cost.total),
    },
  };
}
