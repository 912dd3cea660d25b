/**
 * `SessionCompaction`: what a session offers around its context: compacting by hand and by itself, going back above a
 * compaction, and telling what the next request holds.
 * Part of `agent/`; AgentSession has one, as `compaction`.
 */
import type { AgentTool } from "@earendil-works/pi-agent-core";
import type { CompactionEntry } from "../tree/entries.ts";
import { Compaction, CompactionFailed, NothingToCompact } from "./compaction.ts";
import type { CompactionHost, CompactionOutcome, CompactOptions } from "./compaction.ts";
import { NOTHING_TO_UNCOMPACT } from "./compaction-notices.ts";
import { latestCompaction } from "./compaction-preparation.ts";
import { RunCompaction } from "./compaction-triggers.ts";
import { contextReport } from "./context-report.ts";
import type { ContextReport } from "./context-report.ts";
import type { NavigateTreeResult } from "./navigation.ts";
import type { Model } from "./providers.ts";
import { systemMessage } from "./request.ts";
import { FOLLOWING } from "./session-notices.ts";

export interface SessionCompactionHost extends CompactionHost {
  usableModel(): Model;
  isFollowing(): boolean;
  /** Ends a running turn and waits until all of it is written; undefined when none runs. */
  stopTurn(): Promise<void> | undefined;
  /** Keeps jumps and changes of session away meanwhile. */
  moving<T>(move: (signal: AbortSignal) => Promise<T>): Promise<T>;
  navigateTree(targetId: string, options: { abort?: boolean }): Promise<NavigateTreeResult>;
  /** Sends what was queued while nothing could be sent. */
  sendQueued(): void;
  tools(): Promise<AgentTool[]>;
  systemPrompt(tools: readonly AgentTool[]): Promise<string>;
}

export class SessionCompaction {
  readonly #host: SessionCompactionHost;
  readonly #compaction: Compaction;

  constructor(host: SessionCompactionHost) {
    this.#host = host;
    this.#compaction = new Compaction(host);
  }

  get isRunning(): boolean {
    return this.#compaction.isRunning;
  }

  /** Stops a compaction and nothing else: a turn goes on without it. */
  abort(): void {
    this.#compaction.abort();
  }

  /**
   * Replaces the older part of the conversation, for the model, by a summary; a running turn is stopped first. What was
   * queued meanwhile is sent afterwards. `entry` is absent when it was cancelled. Rejects with CompactionFailed when the
   * summary could not be made, with NothingToCompact when there is nothing to put into one.
   */
  async compact(options: CompactOptions = {}): Promise<{ cancelled: boolean; entry?: CompactionEntry }> {
    const outcome = await this.run(options);
    this.#host.sendQueued();
    if (outcome.kind === "written") return { cancelled: false, entry: outcome.entry };
    if (outcome.kind === "cancelled") return { cancelled: true };
    throw outcome.kind === "failed" ? new CompactionFailed(outcome.reason) : new NothingToCompact(outcome.reason);
  }

  /** Like `compact`, for who goes on by itself. */
  async run(options: CompactOptions): Promise<CompactionOutcome> {
    const host = this.#host;
    if (host.isFollowing()) throw new Error(FOLLOWING);
    const stopped = host.stopTurn();
    if (stopped !== undefined) await stopped;
    return host.moving((signal) => this.#compaction.run({ ...options, reason: "manual", willRetry: false, signal }));
  }

  /**
   * Jumps to what is above the latest compaction of the branch, so that the model reads again what it replaced; like
   * `navigateTree` otherwise. What came after the compaction stays on its own branch. Rejects when there is none.
   */
  async uncompact(options: { abort?: boolean } = {}): Promise<NavigateTreeResult> {
    const above = latestCompaction(this.#host.sessionManager.getIndex())?.parentId;
    if (above === undefined || above === null) throw new Error(NOTHING_TO_UNCOMPACT);
    return this.#host.navigateTree(above, options);
  }

  /** What the next request holds, entry by entry, and what it does not; rejects without a usable model. */
  async report(): Promise<ContextReport> {
    const tools = await this.#host.tools();
    const system = systemMessage(await this.#host.systemPrompt(tools), tools);
    const model = this.#host.usableModel();
    return contextReport(this.#host.sessionManager.getIndex(), this.#host.answering() ?? model, system);
  }

  /** For a run that begins; `model` is the one that answers. */
  forRun(model: () => Model): RunCompaction {
    const { settings, contextTokens, emit } = this.#host;
    return new RunCompaction({ compaction: this.#compaction, settings: settings(), contextTokens, emit, model });
  }
}
