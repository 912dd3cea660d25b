/**
 * The summary that a jump hangs at its new place: the hooks' own, a model's, or a digest without a model.
 * Part of `agent/`; used by navigation.ts.
 */
import { reasonOf } from "../session/session-errors.ts";
import type { SessionEntry } from "../tree/entries.ts";
import { isRecord, isStorable } from "../tree/json.ts";
import type { Usage } from "../tree/messages.ts";
import type { AgentSessionEvent } from "./agent-session-events.ts";
import { digestBranch, generateBranchSummary } from "./branch-summary.ts";
import type { BranchSummaryOutcome } from "./branch-summary.ts";
import type { HookResult } from "./hook-port.ts";
import type { ModelRegistry } from "./models.ts";
import type { Model, ThinkingLevel } from "./providers.ts";
import * as notices from "./session-notices.ts";
import type { Spent } from "./spent-tokens.ts";

export interface SummaryOptions {
  /** Hang a summary of what is left behind at the new place; "digest": without a model. */
  summarize?: boolean | "digest";
  /** For the model: what the summary should have most of. */
  customInstructions?: string;
  /** They stand in place of bough's own instructions rather than behind them. */
  replaceInstructions?: boolean;
  /** Labels the summary, or the chosen entry where no summary is made. */
  label?: string;
}

/** Who writes summaries, and how. */
export interface SummaryWriter {
  readonly registry: Pick<ModelRegistry, "complete" | "keyProblem" | "physical">;
  /** undefined: none can be asked. */
  model(): Model | undefined;
  thinkingLevel(): ThinkingLevel;
  /** Tokens; see Settings. */
  reserveTokens: number | undefined;
  emit(event: AgentSessionEvent): void;
}

export interface JumpSummary {
  summary: string;
  details?: unknown;
  usage?: Usage;
  /** The model that wrote it. */
  model?: Model;
  /** Whether a hook wrote it. */
  fromExtension: boolean;
}

/** No summary could be written, and nothing was moved: try again, go without one, or take the digest. */
export class SummaryFailedError extends Error {
  override readonly name = "SummaryFailedError";
  /** One plain sentence. */
  readonly reason: string;

  constructor(reason: string) {
    super(notices.notSummarised(reason));
    this.reason = reason;
  }
}

/** Throws unless the model that is to write a summary can be asked. */
export function needSummaryModel({ registry, model }: SummaryWriter): Model {
  const writer = model();
  if (writer === undefined) throw new Error(notices.NO_SUMMARY_MODEL);
  const keyProblem = registry.keyProblem(writer.provider);
  if (keyProblem !== undefined) throw new SummaryFailedError(keyProblem);
  return writer;
}

/**
 * Writes the summary that was asked for; undefined when the entries hold no conversation, or when it was aborted.
 * Throws SummaryFailedError; what the model used for nothing is told to `wasted` before.
 */
export async function writeSummary(
  writer: SummaryWriter,
  entries: readonly SessionEntry[],
  options: SummaryOptions,
  signal: AbortSignal,
  wasted: (spent: Spent) => void,
): Promise<JumpSummary | undefined> {
  if (options.summarize === "digest") {
    const digest = digestBranch(entries);
    return digest === undefined ? undefined : { ...digest, fromExtension: false };
  }
  const model = await physicalOf(writer, needSummaryModel(writer), signal);
  if (model === undefined) return undefined;
  const outcome = await askModel(writer, model, entries, options, signal);
  if (outcome.kind === "failed") {
    if (outcome.usage !== undefined) wasted({ model, usage: outcome.usage });
    throw new SummaryFailedError(outcome.reason);
  }
  if (outcome.kind !== "summary") return undefined;
  const { summary, details, usage } = outcome;
  return { summary, details, usage, model, fromExtension: false };
}

/** The one that writes, for a virtual model; undefined when it was stopped. */
async function physicalOf({ registry }: SummaryWriter, model: Model, signal: AbortSignal): Promise<Model | undefined> {
  try {
    return await registry.physical(model, signal);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw new SummaryFailedError(reasonOf(error));
  }
}

async function askModel(
  writer: SummaryWriter,
  model: Model,
  entries: readonly SessionEntry[],
  { customInstructions, replaceInstructions }: SummaryOptions,
  signal: AbortSignal,
): Promise<BranchSummaryOutcome> {
  const { registry, reserveTokens } = writer;
  writer.emit({ type: "branch_summary_start" });
  try {
    return await generateBranchSummary(entries, {
      registry,
      model,
      signal,
      customInstructions,
      replaceInstructions,
      reserveTokens,
      thinkingLevel: writer.thinkingLevel(),
    });
  } finally {
    writer.emit({ type: "branch_summary_end", aborted: signal.aborted });
  }
}

type HookAnswer = NonNullable<HookResult<"session_before_tree">>;

/** The answer of the hooks, if it is one. Extensions are untyped: throws when something in it makes no sense. */
export function soundAnswer(answer: unknown, wantsSummary: boolean): HookAnswer {
  if (answer === undefined || answer === null) return {};
  if (!isRecord(answer)) throw refused("is no object");
  const { cancel, summary, customInstructions, replaceInstructions, label } = answer;
  for (const [name, value] of Object.entries({ cancel, replaceInstructions }))
    if (value !== undefined && typeof value !== "boolean") throw refused(`has a "${name}" that is not true or false`);
  for (const [name, value] of Object.entries({ customInstructions, label }))
    if (value !== undefined && typeof value !== "string") throw refused(`has a "${name}" that is no text`);
  if (wantsSummary && summary !== undefined) checkSummary(summary);
  return answer;
}

function checkSummary(given: unknown): void {
  if (!isRecord(given) || typeof given["summary"] !== "string") throw refused('has a "summary" without a text');
  if (given["summary"].trim() === "") throw refused("has an empty summary");
  if (given["usage"] !== undefined && !isRecord(given["usage"])) throw refused('has a "usage" that is no object');
  if (!isStorable(given["details"])) throw refused('has "details" that cannot be written as JSON');
}

const refused = (what: string): Error => new Error(notices.hookRefused("session_before_tree", what));
