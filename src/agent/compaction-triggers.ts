/**
 * `RunCompaction`: when a running turn compacts by itself. Before any request, also between tool calls, when the context
 * is larger than the threshold; and once in a run when a provider says that the context does not fit.
 * Part of `agent/`; AgentSession makes one for each run.
 */
import type { AssistantMessage } from "@earendil-works/pi-ai";
import type { AgentSessionEvent } from "./agent-session-events.ts";
import type { BranchWriter } from "./branch-writer.ts";
import type { Compaction } from "./compaction.ts";
import * as notices from "./compaction-notices.ts";
import { compactionThreshold } from "./compaction-settings.ts";
import type { CompactionSettings } from "./compaction-settings.ts";
import { isContextOverflow } from "./providers.ts";
import type { Model } from "./providers.ts";

export interface RunCompactionHost {
  readonly compaction: Pick<Compaction, "run">;
  readonly settings: CompactionSettings;
  model(): Model;
  /** Of the next request: what the last answer since the latest compaction reported, the rest estimated. */
  contextTokens(): number;
  emit(event: AgentSessionEvent): void;
}

/** Of the threshold: a compaction that brings less would be followed by another one at once. */
const WORTHWHILE_SHARE = 0.1;
/** Of the context that did not fit: a window that is smaller than it is said to be must not be filled again. */
const OVERFLOW_SHARE = 1 / 3;

export class RunCompaction {
  readonly #host: RunCompactionHost;
  #hasRecovered = false;
  /** It failed or the user stopped it: this run goes on without. */
  #isDeclined = false;

  constructor(host: RunCompactionHost) {
    this.#host = host;
  }

  /** Compacts if the context is larger than the threshold; the request is sent either way. */
  async beforeRequest(branch: Pick<BranchWriter, "holdsLeaf">, signal: AbortSignal): Promise<void> {
    const { settings, compaction } = this.#host;
    if (!settings.enabled || this.#isDeclined || !branch.holdsLeaf) return;
    const threshold = compactionThreshold(settings, this.#host.model().contextWindow);
    if (threshold === undefined || this.#host.contextTokens() <= threshold) return;
    const minTokens = threshold * WORTHWHILE_SHARE;
    const outcome = await compaction.run({ reason: "threshold", willRetry: false, signal, minTokens });
    this.#isDeclined = outcome.kind === "cancelled" || outcome.kind === "failed";
    if (outcome.kind === "failed") this.#tell("warning", outcome.reason);
  }

  /** Compacts after an answer that failed because the context does not fit; true when it is to be asked for again. */
  async recover(
    answer: AssistantMessage,
    branch: Pick<BranchWriter, "holdsLeaf">,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { settings, compaction } = this.#host;
    if (!settings.enabled || this.#hasRecovered || !branch.holdsLeaf) return false;
    if (!isContextOverflow(answer, this.#host.model().contextWindow)) return false;
    this.#hasRecovered = true;
    const keepAtMost = Math.floor(this.#host.contextTokens() * OVERFLOW_SHARE);
    const outcome = await compaction.run({ reason: "overflow", willRetry: true, signal, keepAtMost });
    if (outcome.kind === "failed") this.#tell("error", outcome.reason);
    return outcome.kind === "written";
  }

  #tell(level: "warning" | "error", reason: string): void {
    this.#host.emit({ type: "notice", level, text: notices.notCompacted(reason) });
  }
}
