/**
 * `Compaction`: replaces the older part of a conversation, for the model, by a summary. Nothing is erased: the entries
 * stay in the tree, above the compaction.
 * Part of `agent/`; AgentSession has one. When it is needed is the business of compaction-triggers.
 */
import type { CompactionEntry, CompactionResult } from "../tree/entries.ts";
import { reasonOf } from "../session/session-errors.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { AgentSessionEvent } from "./agent-session-events.ts";
import { checkedCompacting, checkedCompaction } from "./compaction-answers.ts";
import * as notices from "./compaction-notices.ts";
import { prepareCompaction, recentPath } from "./compaction-preparation.ts";
import type { CompactionPreparation } from "./compaction-preparation.ts";
import { keptTokens } from "./compaction-settings.ts";
import type { CompactionSettings } from "./compaction-settings.ts";
import { compactionDigest, summariseCompaction } from "./compaction-summary.ts";
import type { CompactionSummaryOutcome } from "./compaction-summary.ts";
import type { CompactionReason, HookEvent, HookName, HookPort, HookResult } from "./hook-port.ts";
import { NO_MODEL } from "./models.ts";
import type { ModelRegistry } from "./models.ts";
import type { Model } from "./providers.ts";
import { recordUnusedSummary } from "./spent-tokens.ts";
import type { Spent } from "./spent-tokens.ts";
import { untilAborted } from "./until-aborted.ts";

export interface CompactOptions {
  /** What the summary should have most of. */
  focus?: string;
  /** Write the summary without a model. */
  digest?: boolean;
  /** Shows the summary before it is written; gives the one to write, or undefined to drop it all. */
  review?: (draft: CompactionResult, signal: AbortSignal) => Promise<string | undefined>;
}

export interface CompactionRequest extends CompactOptions {
  reason: CompactionReason;
  /** The turn goes on with the request that did not fit. */
  willRetry: boolean;
  signal: AbortSignal;
  /** Tokens that a compaction has to bring at least; default: any. */
  minTokens?: number;
  /** Tokens to keep, when fewer than the settings say. */
  keepAtMost?: number;
}

export type CompactionOutcome =
  | { kind: "written"; entry: CompactionEntry }
  /** By the user or an extension. */
  | { kind: "cancelled"; fromExtension?: true }
  | { kind: "nothing"; reason: string }
  | { kind: "failed"; reason: string; fromExtension?: true };

export interface CompactionHost {
  readonly sessionManager: SessionManager;
  readonly registry: Pick<ModelRegistry, "complete" | "physical">;
  settings(): CompactionSettings;
  /** Writes the summaries; undefined: the session's model does. */
  summaryModel(): Model | undefined;
  readonly hooks: Pick<HookPort, "has">;
  /** Writes summaries where no other is chosen for that. */
  model(): Model | undefined;
  /** Whose window has to hold the context. */
  answering(): Model | undefined;
  contextTokens(): number;
  emitHook<N extends HookName>(name: N, event: HookEvent<N>): Promise<HookResult<N> | undefined>;
  emit(event: AgentSessionEvent): void;
  appended(entryId: string): void;
  saved(): Promise<void>;
}

/** A compaction that was asked for could not be made; the message says why. It can be tried again, or without a model. */
export class CompactionFailed extends Error {
  override readonly name = "CompactionFailed";
}

/** There is nothing that a compaction would replace; the message says why. */
export class NothingToCompact extends Error {
  override readonly name = "NothingToCompact";
}

/** What is to be written. */
interface Draft extends CompactionResult {
  fromExtension?: true;
}
type Drafted = ({ kind: "draft"; draft: Draft } | Exclude<CompactionOutcome, { kind: "written" }>) & {
  /** What a model used for it. */
  spent?: Spent;
};

export class Compaction {
  readonly #host: CompactionHost;
  #running: AbortController | undefined;

  constructor(host: CompactionHost) {
    this.#host = host;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Stops it; the session is as before. */
  abort(): void {
    this.#running?.abort();
  }

  /**
   * Compacts the path of the leaf. Until the entry is written nothing is changed by any failure. Rejects only when it
   * could not be written or saved.
   */
  async run(request: CompactionRequest): Promise<CompactionOutcome> {
    if (this.#running !== undefined) return { kind: "failed", reason: notices.COMPACTION_RUNS };
    const { sessionManager } = this.#host;
    const prepared = this.#prepare(request);
    if (prepared.kind === "nothing") return prepared;
    if (prepared.tokens < (request.minTokens ?? 0)) return { kind: "nothing", reason: notices.TOO_SMALL };

    const controller = new AbortController();
    this.#running = controller;
    const leafId = sessionManager.getLeafId();
    const { reason, willRetry } = request;
    this.#host.emit({ type: "compaction_start", reason });
    let outcome: CompactionOutcome = { kind: "failed", reason: "" };
    try {
      const signal = AbortSignal.any([request.signal, controller.signal]);
      outcome = await this.#compact(prepared.preparation, { ...request, signal }, leafId);
    } catch (error) {
      outcome = { kind: "failed", reason: reasonOf(error) };
      throw error;
    } finally {
      this.#running = undefined;
      this.#host.emit({
        type: "compaction_end",
        reason,
        willRetry: willRetry && outcome.kind === "written",
        ...endOf(outcome),
      });
    }
    await this.#tellFailed(outcome, request);
    return outcome;
  }

  async #tellFailed(outcome: CompactionOutcome, { reason, willRetry }: CompactionRequest): Promise<void> {
    if (outcome.kind === "written" || outcome.kind === "nothing") return;
    await this.#host.emitHook("session_compact_failed", {
      reason,
      willRetry,
      aborted: outcome.kind === "cancelled",
      fromExtension: outcome.fromExtension === true,
      ...(outcome.kind === "failed" ? { errorMessage: outcome.reason } : {}),
    });
  }

  #prepare({ keepAtMost = Infinity }: CompactionRequest): ReturnType<typeof prepareCompaction> {
    const { sessionManager } = this.#host;
    const settings = this.#host.settings();
    const model = this.#host.answering();
    const keepRecentTokens = Math.min(keptTokens(settings, model?.contextWindow ?? 0), keepAtMost);
    return prepareCompaction(recentPath(sessionManager.getIndex()), {
      settings: { ...settings, keepRecentTokens },
      tokensBefore: this.#host.contextTokens(),
      ...(model === undefined ? {} : { model }),
    });
  }

  async #compact(
    preparation: CompactionPreparation,
    request: CompactionRequest,
    leafId: string | null,
  ): Promise<CompactionOutcome> {
    const { spent, ...drafted } = await this.#draft(preparation, request);
    const outcome = await this.#decided(drafted, spent, request, leafId);
    if (outcome.kind !== "written") recordUnusedSummary(this.#host, spent);
    return outcome;
  }

  async #decided(
    drafted: Drafted,
    spent: Spent | undefined,
    request: CompactionRequest,
    leafId: string | null,
  ): Promise<CompactionOutcome> {
    if (request.signal.aborted) return { kind: "cancelled" };
    if (drafted.kind !== "draft") return drafted;
    const { draft } = drafted;
    if (request.review !== undefined) {
      const summary = await untilAborted(request.review(draft, request.signal), request.signal);
      if (summary === undefined || summary.trim() === "" || request.signal.aborted) return { kind: "cancelled" };
      draft.summary = summary.toWellFormed();
    }
    if (!this.#isStillOn(leafId)) return { kind: "failed", reason: notices.SESSION_WENT_ON };
    return { kind: "written", entry: await this.#write(draft, spent, request) };
  }

  async #draft(preparation: CompactionPreparation, request: CompactionRequest): Promise<Drafted> {
    const { focus, signal } = request;
    const hooked = await this.#askHooks(preparation, request);
    if (hooked !== undefined) return hooked;
    const { firstKeptEntryId, tokensBefore } = preparation;
    if (request.digest === true)
      return { kind: "draft", draft: { ...compactionDigest(preparation), firstKeptEntryId, tokensBefore } };

    const chosen = this.#host.summaryModel() ?? this.#host.model();
    if (chosen === undefined) return { kind: "failed", reason: NO_MODEL };
    const answer = checkedCompacting(await this.#compacting(preparation, signal));
    if (typeof answer === "string") return { kind: "failed", reason: notices.hookAnswerRefused(answer) };
    if (signal.aborted) return { kind: "cancelled" };
    const { context, prompt, preserveData } = answer;
    const { registry } = this.#host;
    const model = await registry.physical(chosen, signal).catch(reasonOf);
    if (signal.aborted) return { kind: "cancelled" };
    if (typeof model === "string") return { kind: "failed", reason: model };
    const written = await summariseCompaction({ preparation, registry, model, focus, context, prompt, signal });
    const rest = { firstKeptEntryId, tokensBefore, ...(preserveData === undefined ? {} : { preserveData }) };
    return {
      ...draftOf(written, rest),
      ...(written.usage === undefined ? {} : { spent: { model, usage: written.usage } }),
    };
  }

  /** What extensions decide in place of bough; undefined when they leave it to it. */
  async #askHooks(preparation: CompactionPreparation, request: CompactionRequest): Promise<Drafted | undefined> {
    const { hooks, sessionManager } = this.#host;
    const { reason, willRetry, focus, signal } = request;
    if (!hooks.has("session_before_compact")) return undefined;
    const branchEntries = sessionManager.getBranch();
    const event = { preparation, branchEntries, customInstructions: focus, signal, reason, willRetry };
    const answer: unknown = await untilAborted(this.#host.emitHook("session_before_compact", event), signal);
    if (answer === undefined || answer === null) return undefined;
    const { cancel, compaction } = answer as { cancel?: unknown; compaction?: unknown };
    if (cancel === true) return { kind: "cancelled", fromExtension: true };
    if (compaction === undefined) return undefined;
    const draft = checkedCompaction(compaction, branchEntries);
    if (typeof draft === "string") return { kind: "failed", reason: notices.hookRefused(draft), fromExtension: true };
    return { kind: "draft", draft: { ...draft, fromExtension: true } };
  }

  async #compacting(preparation: CompactionPreparation, signal: AbortSignal): Promise<unknown> {
    if (!this.#host.hooks.has("session.compacting")) return undefined;
    const { messagesToSummarize, turnPrefixMessages } = preparation;
    const messages = [...messagesToSummarize, ...turnPrefixMessages];
    const sessionId = this.#host.sessionManager.getSessionId();
    return untilAborted(this.#host.emitHook("session.compacting", { sessionId, messages }), signal);
  }

  async #write(
    draft: Draft,
    spent: Spent | undefined,
    { reason, willRetry }: CompactionRequest,
  ): Promise<CompactionEntry> {
    const { sessionManager } = this.#host;
    const { summary, firstKeptEntryId, tokensBefore, details, fromExtension, preserveData } = draft;
    const id = sessionManager.appendCompaction(
      summary,
      firstKeptEntryId,
      tokensBefore,
      details,
      fromExtension,
      preserveData,
      spent?.usage,
      spent?.model,
    );
    this.#host.appended(id);
    await this.#host.saved();
    const entry = sessionManager.getEntry(id) as CompactionEntry;
    const event = { compactionEntry: entry, fromExtension: fromExtension === true, reason, willRetry };
    await this.#host.emitHook("session_compact", event);
    return entry;
  }

  /** Whether the leaf's path still leads through where it began: a command or a label may have come meanwhile. */
  #isStillOn(leafId: string | null): boolean {
    const index = this.#host.sessionManager.getIndex();
    const before = leafId === null ? undefined : index.ordinal(leafId);
    let n = index.leafOrdinal;
    while (n >= 0 && n !== before) n = index.parentOrdinal(n);
    return n >= 0;
  }
}

function draftOf(written: CompactionSummaryOutcome, rest: Omit<CompactionResult, "summary" | "details">): Drafted {
  if (written.kind === "aborted") return { kind: "cancelled" };
  if (written.kind === "failed") return { kind: "failed", reason: written.reason };
  const { summary, details } = written;
  return { kind: "draft", draft: { summary, details, ...rest } };
}

type CompactionEnd = Extract<AgentSessionEvent, { type: "compaction_end" }>;

function endOf(outcome: CompactionOutcome): Pick<CompactionEnd, "result" | "aborted" | "errorMessage"> {
  switch (outcome.kind) {
    case "written": {
      const { summary, firstKeptEntryId, tokensBefore, details, preserveData } = outcome.entry;
      const result = { summary, firstKeptEntryId, tokensBefore };
      return {
        aborted: false,
        result: {
          ...result,
          ...(details === undefined ? {} : { details }),
          ...(preserveData === undefined ? {} : { preserveData }),
        },
      };
    }
    case "cancelled":
      return { aborted: true };
    default:
      return { aborted: false, errorMessage: outcome.reason };
  }
}
