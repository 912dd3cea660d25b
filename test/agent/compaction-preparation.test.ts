/** What a compaction summarises and what it keeps: `prepareCompaction`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { prepareCompaction, recentPath } from "../../src/agent/compaction-preparation.ts";
import type { CompactionPreparation, Preparation } from "../../src/agent/compaction-preparation.ts";
import { DEFAULT_COMPACTION } from "../../src/agent/compaction-settings.ts";
import { textOf } from "../../src/tree/content.ts";
import type { SessionEntry } from "../../src/tree/entries.ts";
import { SessionEntryIndex } from "../../src/tree/entry-index.ts";
import { convertToLlm } from "../../src/tree/messages.ts";
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "../../src/tree/messages.ts";
import { contextOfPath } from "../../src/tree/session-context.ts";
import { assistant, user } from "../support/session-files.ts";
import { assertValidRequest } from "../support/valid-request.ts";

/** A path that grows; every message holds a word of its own. */
class Path {
  readonly entries: SessionEntry[] = [];
  #calls: string[] = [];

  add(fields: { type: string; [field: string]: unknown }): string {
    const id = `e${this.entries.length}`;
    const parentId = this.entries.at(-1)?.id ?? null;
    this.entries.push({ id, parentId, timestamp: "2026-01-01T00:00:00.000Z", ...fields } as unknown as SessionEntry);
    return id;
  }
  message(message: AgentMessage): string {
    // What nobody answered until then never will be.
    if (message.role === "user" || message.role === "assistant") this.#calls = [];
    return this.add({ type: "message", message });
  }
  get word(): string {
    return `w${this.entries.length}`;
  }
  /** An answer with so many calls, all still open. */
  call(count: number): string {
    const ids = Array.from({ length: count }, (_, n) => `call-${this.entries.length}-${n}`);
    const answer: AssistantMessage = {
      ...assistant(this.word),
      content: [{ type: "text", text: this.word }, ...ids.map((id) => call(id, this.word))],
      stopReason: "toolUse",
    };
    const id = this.message(answer);
    this.#calls = ids;
    return id;
  }
  /** Answers one of the open calls. */
  result(which: number): void {
    const [id] = this.#calls.splice(which % Math.max(1, this.#calls.length), 1);
    if (id !== undefined) this.message(result(id, this.word));
  }
  compact(preparation: CompactionPreparation): void {
    const { firstKeptEntryId, tokensBefore } = preparation;
    this.add({ type: "compaction", summary: "summary", firstKeptEntryId, tokensBefore });
  }
}

const call = (id: string, path: string) => ({ type: "toolCall" as const, id, name: "read", arguments: { path } });
const result = (toolCallId: string, text: string): ToolResultMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "read",
  content: [{ type: "text", text }],
  isError: false,
  timestamp: 1,
});

const prepare = (entries: readonly SessionEntry[], keepRecentTokens: number): Preparation =>
  prepareCompaction(entries, { settings: { ...DEFAULT_COMPACTION, keepRecentTokens }, tokensBefore: 7 });

function prepared(path: Path, keepRecentTokens: number): CompactionPreparation {
  const preparation = prepare(path.entries, keepRecentTokens);
  assert.equal(preparation.kind, "ready");
  return (preparation as Extract<Preparation, { kind: "ready" }>).preparation;
}

const textsOf = (messages: readonly AgentMessage[]): string[] =>
  messages.map((message) => ("content" in message ? textOf(message.content) : message.role));

test("[K2] the turns before the cut are summarised, with the files they touched and the size before", () => {
  const path = new Path();
  path.message(user("one"));
  path.call(1);
  path.result(0);
  path.message(assistant("done"));
  const kept = path.message(user("two"));
  path.message(assistant("x".repeat(300)));
  assert.deepEqual(prepared(path, 87), {
    firstKeptEntryId: kept,
    messagesToSummarize: path.entries.slice(0, 4).map((entry) => (entry as { message?: AgentMessage }).message),
    turnPrefixMessages: [],
    isSplitTurn: false,
    tokensBefore: 7,
    fileOps: { read: new Set(["w1"]), written: new Set(), edited: new Set() },
    settings: { ...DEFAULT_COMPACTION, keepRecentTokens: 87 },
  });
});

test("[K2] a turn that is too long is parted: its beginning is summarised by itself", () => {
  const path = new Path();
  path.message(user("one"));
  path.message(assistant("first"));
  path.message(user("two"));
  path.call(1);
  path.result(0);
  const kept = path.call(1);
  path.result(0);
  const { messagesToSummarize, turnPrefixMessages, ...rest } = prepared(path, 4);
  assert.deepEqual(textsOf(messagesToSummarize), ["one", "first"]);
  assert.deepEqual(textsOf(turnPrefixMessages), ["two", "w3", "w4"]);
  assert.deepEqual([rest.isSplitTurn, rest.firstKeptEntryId], [true, kept]);
});

test("[K2] the next compaction begins with what the previous one kept, and takes its summary and files further", () => {
  const path = new Path();
  for (const word of ["one", "two", "three"]) {
    path.message(user(word));
    path.message(assistant(`${word} done`));
  }
  const details = { readFiles: ["a.ts"], modifiedFiles: ["b.ts"] };
  path.add({ type: "compaction", summary: "S1", firstKeptEntryId: "e4", tokensBefore: 1, details });
  path.message(user("four"));
  path.message(assistant("four done"));
  const { messagesToSummarize, previousSummary, fileOps, firstKeptEntryId } = prepared(path, 4);
  assert.deepEqual(textsOf(messagesToSummarize), ["three", "three done"]);
  assert.deepEqual([previousSummary, firstKeptEntryId], ["S1", "e7"]);
  assert.deepEqual(fileOps, { read: new Set(["a.ts"]), written: new Set(), edited: new Set(["b.ts"]) });
});

test("[K2] an extension's details are its own, and a pointer to nowhere keeps nothing", () => {
  const path = new Path();
  path.message(user("one"));
  path.message(assistant("done"));
  const details = { readFiles: ["a.ts"] };
  path.add({
    type: "compaction",
    summary: "S1",
    firstKeptEntryId: "gone",
    tokensBefore: 1,
    details,
    fromExtension: true,
  });
  path.message(user("two"));
  path.message(assistant("two done"));
  path.message(user("three"));
  const { messagesToSummarize, previousSummary, fileOps } = prepared(path, 2);
  assert.deepEqual(textsOf(messagesToSummarize), ["two", "two done"]);
  assert.equal(previousSummary, "S1");
  assert.deepEqual(fileOps.read, new Set());
});

test("[K2] what is not sent is not summarised: failed answers, excluded commands, what is before a reset", () => {
  const path = new Path();
  path.message(user("before"));
  path.add({ type: "compaction", summary: "S1", firstKeptEntryId: "e0", tokensBefore: 1 });
  path.add({ type: "reset_boundary" });
  path.message(user("one"));
  path.message({ ...assistant("half"), stopReason: "aborted" });
  const execution = { role: "bashExecution" as const, output: "x", exitCode: 0, cancelled: false, truncated: false };
  path.message({ ...execution, command: "secret", excludeFromContext: true, timestamp: 1 });
  path.message({ ...assistant("failed"), stopReason: "error" });
  path.message(assistant("good"));
  path.message(user("two"));
  const preparation = prepared(path, 1);
  assert.deepEqual(textsOf(preparation.messagesToSummarize), ["one", "good"]);
  assert.equal("previousSummary" in preparation, false);
});

test("[K2] dB41 answers that failed at the end are never what is kept alone: the prompt stays", () => {
  const path = new Path();
  path.message(user("one"));
  path.message(assistant("done"));
  const prompt = path.message(user("long ".repeat(100)));
  for (let n = 0; n < 5; n++) path.message({ ...assistant(""), content: [], stopReason: "error", errorMessage: "500" });
  assert.equal(prepared(path, 1).firstKeptEntryId, prompt);
});

test("[K2] the cases in which there is nothing to compact", () => {
  const empty = new Path();
  const small = new Path();
  small.message(user("one"));
  small.message(assistant("done"));
  const compacted = new Path();
  compacted.message(user("one"));
  compacted.message(assistant("done"));
  compacted.add({ type: "compaction", summary: "S1", firstKeptEntryId: "e1", tokensBefore: 1 });
  compacted.add({ type: "label", targetId: "e1", label: "here" });
  const whole = new Path();
  whole.message(user("one ".repeat(100)));
  const kept =
    "and the last 100 tokens stay word for word; compaction.keepRecentTokens in settings.json says how many.";
  assert.deepEqual(
    [empty, small, whole, compacted].map((path) => prepare(path.entries, 100)),
    [
      `Nothing to compact (session too small): the conversation has about 0 tokens, ${kept}`,
      `Nothing to compact (session too small): the conversation has about 3 tokens, ${kept}`,
      "Nothing to compact (session too small): its 115 tokens cannot be parted any further.",
      "Already compacted",
    ].map((reason) => ({ kind: "nothing", reason })),
  );
});

/** One step of a made-up conversation. */
const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constant("user" as const) },
    { weight: 3, arbitrary: fc.constant("answer" as const) },
    { weight: 4, arbitrary: fc.record({ calls: fc.integer({ min: 1, max: 3 }) }) },
    { weight: 6, arbitrary: fc.record({ result: fc.nat(5) }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("failed" as const, "setting" as const, "custom" as const, "reset" as const),
    },
    { weight: 2, arbitrary: fc.record({ keep: fc.integer({ min: 1, max: 60 }) }) },
  ),
  { minLength: 10, maxLength: 120, size: "max" },
);
type Step = typeof steps extends fc.Arbitrary<(infer S)[]> ? S : never;

function take(path: Path, step: Step): void {
  if (step === "user") path.message(user(path.word));
  else if (step === "answer") path.message(assistant(path.word));
  else if (step === "failed") path.message({ ...assistant(path.word), stopReason: "error" });
  else if (step === "setting") path.add({ type: "thinking_level_change", thinkingLevel: "low" });
  else if (step === "custom")
    path.add({ type: "custom_message", customType: "note", content: path.word, display: true });
  else if (step === "reset") path.add({ type: "reset_boundary" });
  else if ("calls" in step) path.call(step.calls);
  else if ("result" in step) path.result(step.result);
}

test("[K2, C3] successive compactions part the history without gap and overlap, no pair is torn, every request is valid", () => {
  let compactions = 0;
  fc.assert(
    fc.property(steps, (plan) => {
      const path = new Path();
      let summarised: AgentMessage[] = [];
      /** Sent messages of the path since the last reset, in order. */
      const sent = (): AgentMessage[] => {
        const from = path.entries.findLastIndex(({ type }) => type === "reset_boundary") + 1;
        return contextOfPath(path.entries.slice(from).filter(({ type }) => type !== "compaction")).messages.filter(
          (message) => message.role !== "assistant" || message.stopReason !== "error",
        );
      };
      for (const step of plan) {
        if (typeof step === "string" || !("keep" in step)) {
          take(path, step);
          if (step === "reset") summarised = [];
          continue;
        }
        const preparation = prepare(path.entries, step.keep);
        assert.deepEqual(prepare(recentPath(indexOf(path)), step.keep), preparation, "the recent part is enough");
        if (preparation.kind === "nothing") continue;
        const { messagesToSummarize, turnPrefixMessages } = preparation.preparation;
        summarised.push(...messagesToSummarize, ...turnPrefixMessages);
        path.compact(preparation.preparation);
        compactions++;

        const kept = contextOfPath(path.entries).messages.filter(
          ({ role, ...rest }) => role !== "compactionSummary" && (rest as AssistantMessage).stopReason !== "error",
        );
        assert.deepEqual(textsOf([...summarised, ...kept]), textsOf(sent()));
        checkPairs(summarised, kept);
        checkRequest(path);
      }
    }),
    { numRuns: 300 },
  );
  assert.ok(compactions > 300, `${compactions} compactions`);
});

function indexOf(path: Path): SessionEntryIndex {
  const index = new SessionEntryIndex();
  for (const entry of path.entries) index.append(entry);
  return index;
}

/** No call is in one part and its result in the other. */
function checkPairs(summarised: readonly AgentMessage[], kept: readonly AgentMessage[]): void {
  const results = new Set(kept.flatMap((message) => (message.role === "toolResult" ? [message.toolCallId] : [])));
  const calls = new Set<string>();
  for (const message of kept)
    if (message.role === "assistant")
      for (const block of message.content) if (block.type === "toolCall") calls.add(block.id);
  for (const id of results) assert.ok(calls.has(id), `the call of ${id} is kept with its result`);
  for (const message of summarised)
    if (message.role === "toolResult") assert.ok(!calls.has(message.toolCallId), `${message.toolCallId} is torn`);
}

function checkRequest(path: Path): void {
  const repairs: string[] = [];
  const { messages } = contextOfPath(path.entries);
  assertValidRequest(convertToLlm(messages, { onRepair: ({ kind }) => repairs.push(kind) }));
  assert.ok(!repairs.includes("orphan-result"), "no result has lost its call");
}
