/** Compaction of a session: by hand, by the threshold, after an overflow, and what extensions may say to it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { CompactionPreparation } from "../../src/agent/compaction-preparation.ts";
import { DEFAULT_COMPACTION } from "../../src/agent/compaction-settings.ts";
import { summariseCompaction } from "../../src/agent/compaction-summary.ts";
import { hooksFrom } from "../../src/agent/hook-port.ts";
import type { HookEvent, HookFunctions } from "../../src/agent/hook-port.ts";
import type { AgentSessionEvent } from "../../src/agent/agent-session-events.ts";
import type { CompactionEntry, SessionEntry } from "../../src/tree/entries.ts";
import type { AgentMessage } from "../../src/tree/messages.ts";
import { noticesOf, outlineOf, nextEvent, sentMessages, startHarness, tool } from "../support/agent-harness.ts";
import type { Harness, HarnessOptions } from "../support/agent-harness.ts";
import { after, callTools, fail, hangAfter, say, stopAt, using } from "../support/provider-mock.ts";
import type { ReceivedRequest, Reply } from "../support/provider-mock.ts";

/** Keeps two messages or three, and leaves a threshold that the usage in these tests can pass. */
const SETTINGS = { enabled: true, reserveTokens: 1_000, keepRecentTokens: 3 };
const WINDOW = 10_000;
const FULL = 9_500;
/** Worth a compaction. */
const LONG = "First ".repeat(2_000).trim();

const isSummaryRequest = ({ body }: ReceivedRequest): boolean =>
  JSON.stringify(body.messages[0]?.content ?? "").includes("You write summaries");

/** Answers of the conversation in order, and those to requests for a summary apart from them. */
function replies(conversation: readonly Reply[], summaries: readonly Reply[] = [say("SUMMARY")]): Reply {
  let [asked, summarised] = [0, 0];
  return (response, request) => {
    const list = isSummaryRequest(request) ? summaries : conversation;
    const n = list === summaries ? summarised++ : asked++;
    return (list[Math.min(n, list.length - 1)] ?? fail(400, "no reply left"))(response, request);
  };
}

const start = (t: TestContext, options: HarnessOptions): Promise<Harness> =>
  startHarness(t, { compaction: SETTINGS, contextWindow: WINDOW, ...options });

/** The path without the session's automatic name. */
const pathOf = ({ manager }: Harness): string[] =>
  outlineOf(manager.getBranch().filter(({ type }) => type !== "session_info"));

/** What was sent of the conversation: requests for summaries left out. */
const conversationRequests = ({ server }: Harness): string[][] =>
  server.requests.filter((request) => !isSummaryRequest(request)).map(sentMessages);

const summaryPrompts = ({ server }: Harness): string[] =>
  server.requests.filter(isSummaryRequest).map(({ body }) => {
    const { content } = body.messages[1]!;
    return typeof content === "string" ? content : (content as { text: string }[])[0]!.text;
  });

const compactionEvents = (events: readonly AgentSessionEvent[]): AgentSessionEvent[] =>
  events.filter(({ type }) => type === "compaction_start" || type === "compaction_end");

const lastCompaction = (entries: readonly SessionEntry[]): CompactionEntry =>
  entries.findLast((entry) => entry.type === "compaction") as CompactionEntry;

const summaryMessage = (summary: string): string =>
  `user The earlier part of this conversation was replaced by a summary. Continue from what it says.\n\n<summary>\n${summary}\n</summary>`;

test("[K1, K2] /compact summarises what is before the cut, with the focus, and the next request holds summary and rest", async (t) => {
  const harness = await start(t, { replies: replies([say("one"), say("two"), say("three")]) });
  const { session, manager } = harness;
  await session.prompt("First");
  await session.prompt("Second");
  const before = manager.getEntries().length;
  const { cancelled, entry } = await session.compact({ focus: "the tests" });
  assert.equal(cancelled, false);
  assert.deepEqual(pathOf(harness).slice(-3), ["user: Second", "assistant stop: two", "compaction"]);
  assert.equal(manager.getEntries().length, before + 1);
  const kept = manager.getEntry(entry!.firstKeptEntryId)!;
  assert.deepEqual(outlineOf([kept]), ["user: Second"]);
  assert.equal(entry!.summary, "SUMMARY");
  assert.deepEqual(entry!.details, { readFiles: [], modifiedFiles: [] });
  assert.equal(entry!.tokensBefore, 110);
  assert.equal(entry!.usage?.totalTokens, 110);

  const [prompt] = summaryPrompts(harness);
  assert.ok(prompt!.startsWith("<conversation>\n[User]: First\n\n[Assistant]: one\n</conversation>"), prompt);
  assert.ok(prompt!.endsWith("Additional focus: the tests"), prompt);
  await session.prompt("Third");
  assert.deepEqual(conversationRequests(harness)[2], [
    summaryMessage("SUMMARY"),
    "user Second",
    "assistant two",
    "user Third",
  ]);
  assert.deepEqual(compactionEvents(harness.events), [
    { type: "compaction_start", reason: "manual" },
    {
      type: "compaction_end",
      reason: "manual",
      willRetry: false,
      aborted: false,
      result: {
        summary: "SUMMARY",
        firstKeptEntryId: kept.id,
        tokensBefore: 110,
        details: { readFiles: [], modifiedFiles: [] },
      },
    },
  ]);
});

test("[K2] the second compaction takes the first summary further", async (t) => {
  const harness = await start(t, {
    replies: replies([say("one"), say("two"), say("three")], [say("S1"), say("S2")]),
  });
  const { session, manager } = harness;
  await session.prompt("First");
  await session.prompt("Second");
  await session.compact();
  await session.prompt("Third");
  await session.compact();
  const second = summaryPrompts(harness)[1]!;
  assert.ok(
    second.startsWith(
      "<conversation>\n[User]: Second\n\n[Assistant]: two\n</conversation>\n\n<previous-summary>\nS1\n</previous-summary>",
    ),
    second,
  );
  assert.equal(lastCompaction(manager.getBranch()).summary, "S2");
});

test("[K2] a parted turn is summarised by itself, and the files are listed below", async (t) => {
  const call = (id: string, path: string): Reply => callTools({ id, name: "read", arguments: { path } });
  const harness = await start(t, {
    replies: replies([call("a", "a.ts"), call("b", "b.ts"), say("done")], [say("PREFIX")]),
    tools: () => [tool("read", () => "content of the file")],
  });
  await harness.session.prompt("Read both");
  await harness.session.compact();
  const { summary, details } = lastCompaction(harness.manager.getBranch());
  assert.deepEqual(
    [summary, details],
    [
      "No prior history.\n\n---\n\n**Turn Context (split turn):**\n\nPREFIX\n\n<read-files>\na.ts\nb.ts\n</read-files>",
      { readFiles: ["a.ts", "b.ts"], modifiedFiles: [] },
    ],
  );
});

test("[K1] a context above the threshold is compacted between two tool calls, and the turn goes on", async (t) => {
  const harness = await start(t, {
    replies: replies([
      callTools({ id: "a", name: "look", arguments: {} }),
      using(FULL, callTools({ id: "b", name: "look", arguments: {} })),
      say("done"),
    ]),
    tools: () => [tool("look", () => "seen")],
  });
  await harness.session.prompt(LONG);
  assert.deepEqual(pathOf(harness).slice(-7), [
    `user: ${LONG}`,
    "assistant toolUse: [look]",
    "result a: seen",
    "assistant toolUse: [look]",
    "result b: seen",
    "compaction",
    "assistant stop: done",
  ]);
  const [, , third] = conversationRequests(harness);
  assert.deepEqual(third, [
    summaryMessage("No prior history.\n\n---\n\n**Turn Context (split turn):**\n\nSUMMARY"),
    "assistant [1 calls]",
    "tool b seen",
  ]);
  assert.deepEqual(
    compactionEvents(harness.events).map((event) => ({ ...event, result: undefined })),
    [
      { type: "compaction_start", reason: "threshold", result: undefined },
      { type: "compaction_end", reason: "threshold", willRetry: false, aborted: false, result: undefined },
    ],
  );
});

test("[K1] a context above the threshold is compacted before the next prompt is answered, and not again", async (t) => {
  const harness = await start(t, {
    replies: replies([using(FULL, say("one")), using(FULL, say("two")), say("three")]),
  });
  const { session, manager } = harness;
  await session.prompt(LONG);
  await session.prompt("Second");
  assert.deepEqual(pathOf(harness).slice(-4), [
    "assistant stop: one",
    "user: Second",
    "compaction",
    "assistant stop: two",
  ]);
  // The provider still reports as much; what another compaction would bring is nothing worth it.
  await session.prompt("Third");
  assert.equal(manager.getEntries().filter(({ type }) => type === "compaction").length, 1);
  assert.deepEqual(noticesOf(harness.events), []);
});

test("[K1] usage from before a compaction counts no more, and nothing compacts when it is switched off", async (t) => {
  const harness = await start(t, { replies: replies([using(FULL, say("one")), say("two"), say("three")]) });
  await harness.session.prompt("First");
  await harness.session.prompt("Second ".repeat(50));
  assert.equal(harness.session.getContextUsage()?.tokens, 110);
  await harness.session.compact();
  const usage = harness.session.getContextUsage();
  assert.ok(usage!.isCompacted && usage!.tokens < 300, JSON.stringify(usage));

  const off = await start(t, {
    compaction: { ...SETTINGS, enabled: false },
    replies: replies([using(FULL, say("one")), say("two")]),
  });
  await off.session.prompt(LONG);
  await off.session.prompt("Second");
  assert.deepEqual(compactionEvents(off.events), []);
});

const OVERFLOW = fail(400, "This model's maximum context length is 10000 tokens. However, you requested 12000 tokens.");

test("[K1, C3] after an overflow the conversation is compacted once and asked again; the failed answer stays in the file alone", async (t) => {
  const harness = await start(t, { replies: replies([say("one"), OVERFLOW, say("two")]) });
  const { session } = harness;
  await session.prompt("First");
  await session.prompt("Second");
  const branch = pathOf(harness);
  assert.deepEqual(branch.slice(-4), ["user: Second", "assistant error: ", "compaction", "assistant stop: two"]);
  assert.deepEqual(conversationRequests(harness)[2], [
    summaryMessage("No prior history.\n\n---\n\n**Turn Context (split turn):**\n\nSUMMARY"),
    "assistant one",
    "user Second",
  ]);
  assert.deepEqual(
    compactionEvents(harness.events).map((event) =>
      "willRetry" in event ? [event.reason, event.willRetry] : event.type,
    ),
    ["compaction_start", ["overflow", true]],
  );
  assert.deepEqual(noticesOf(harness.events), []);
});

test("[K1] a request that was cut to fit, and so ends at the limit before the first word, is an overflow", async (t) => {
  const cut = using(WINDOW, stopAt("length", ""), 0);
  const harness = await start(t, { replies: replies([say("one"), cut, say("two")]) });
  await harness.session.prompt("First");
  await harness.session.prompt("Second");
  assert.deepEqual(pathOf(harness).slice(-4), [
    "user: Second",
    "assistant length: ",
    "compaction",
    "assistant stop: two",
  ]);
  assert.deepEqual(conversationRequests(harness)[2]?.slice(-1), ["user Second"]);
  assert.deepEqual(noticesOf(harness.events), []);

  const hopeless = await start(t, { replies: replies([say("one"), cut]) });
  await hopeless.session.prompt("First");
  hopeless.session.followUp("Third");
  await hopeless.session.prompt("Second");
  assert.deepEqual(pathOf(hopeless).slice(-2), ["compaction", "assistant length: "]);
  assert.equal(noticesOf(hopeless.events).length, 1);
  assert.match(noticesOf(hopeless.events)[0]!, /^error: The conversation no longer fits into mock \(10000 tokens\)/);

  // One that has said something, or whose window is not full, was long, and no more.
  for (const long of [using(WINDOW, stopAt("length", "half")), using(WINDOW / 2, stopAt("length", ""), 0)]) {
    const other = await start(t, { replies: replies([say("one"), long]) });
    await other.session.prompt("First");
    await other.session.prompt("Second");
    assert.deepEqual([compactionEvents(other.events), noticesOf(other.events)], [[], []]);
  }
});

test("[K1, D5] of a summary in two parts both count, also when the second one fails", async (t) => {
  const usages: unknown[] = [];
  for (const second of [say("TURN"), say("")]) {
    const { registry, model } = await start(t, { replies: [say("HISTORY"), second] });
    const message: AgentMessage = { role: "user", content: "Do it", timestamp: 1 };
    const preparation: CompactionPreparation = {
      firstKeptEntryId: "kept",
      messagesToSummarize: [message],
      turnPrefixMessages: [message],
      isSplitTurn: true,
      tokensBefore: 1,
      fileOps: { read: new Set(), written: new Set(), edited: new Set() },
      settings: SETTINGS,
    };
    const { signal } = new AbortController();
    const { kind, usage } = await summariseCompaction({ preparation, registry, model, signal });
    usages.push([kind, usage?.totalTokens]);
  }
  assert.deepEqual(usages, [
    ["summary", 220],
    ["failed", 220],
  ]);
});

test("[K1] an overflow that a compaction does not mend ends the turn, and the next turn may try again", async (t) => {
  const harness = await start(t, { replies: replies([say("one"), OVERFLOW]) });
  const { session, manager } = harness;
  await session.prompt("First");
  await session.prompt("Second");
  assert.deepEqual(pathOf(harness).slice(-4), ["user: Second", "assistant error: ", "compaction", "assistant error: "]);
  assert.deepEqual(noticesOf(harness.events), [
    "error: The conversation no longer fits into mock (10000 tokens); shorten it with /compact, go back with /tree, or start anew with /new.",
  ]);
  await session.prompt("Third");
  assert.equal(manager.getEntries().filter(({ type }) => type === "compaction").length, 2);
});

/** Entries that hold usage alone, as `[kind, model, tokens]`; another entry as its type. */
const spentIn = (entries: readonly SessionEntry[]): unknown[] =>
  entries.map((entry) =>
    entry.type === "usage" ? [entry.kind, `${entry.provider}/${entry.model}`, entry.usage.totalTokens] : entry.type,
  );

test("[K1, D5] a summary that fails changes nothing, but what it used counts: by hand it rejects, by itself the turn goes on", async (t) => {
  const bad: [Reply, RegExp, tokens: number][] = [
    [say(""), /The model answered with an empty summary\./, 110],
    [callTools({ id: "x", name: "look", arguments: {} }), /called a tool instead of writing a summary/, 110],
    [stopAt("length", "half a"), /cut off at its limit/, 110],
    [fail(400, "bad request"), /The summary could not be written: /, 0],
  ];
  for (const [reply, reason, tokens] of bad) {
    const harness = await start(t, { replies: replies([say("one"), using(FULL, say("two")), say("three")], [reply]) });
    const { session, manager } = harness;
    await session.prompt(LONG);
    await session.prompt("Second");
    const before = manager.getEntries();
    await assert.rejects(session.compact(), reason);
    const after = manager.getEntries();
    assert.deepEqual(after.slice(0, before.length), before);
    assert.deepEqual(spentIn(after.slice(before.length)), tokens === 0 ? [] : [["summary", "endpoint/mock", tokens]]);
    assert.equal(session.isCompacting, false);

    await session.prompt("Third");
    const said = pathOf(harness).filter((text) => text !== "usage");
    assert.deepEqual(said.slice(-2), ["user: Third", "assistant stop: three"]);
    const [notice, ...others] = noticesOf(harness.events);
    assert.match(notice!, /^warning: The context was not compacted: .* \/compact tries again, also without a model\.$/);
    assert.match(notice!, reason);
    assert.deepEqual(others, []);
  }
});

test("[K1] what is typed while a compaction runs is queued and goes on afterwards", async (t) => {
  const gate = Promise.withResolvers<void>();
  const harness = await start(t, {
    replies: replies([say("one"), say("two"), say("three"), say("four")], [after(gate.promise, say("SUMMARY"))]),
  });
  const { session } = harness;
  await session.prompt("First");
  await session.prompt("Second");
  const compacting = session.compact();
  assert.deepEqual([session.isCompacting, session.isIdle], [true, false]);
  await assert.rejects(session.prompt("Now"), /being compacted/);
  session.steer("Third");
  session.followUp("Fourth");
  const settled = nextEvent(session, "agent_settled");
  gate.resolve();
  await compacting;
  await settled;
  assert.deepEqual(session.queue, []);
  assert.deepEqual(pathOf(harness).slice(-5), [
    "compaction",
    "user: Third",
    "assistant stop: three",
    "user: Fourth",
    "assistant stop: four",
  ]);
});

test("[K1] a running turn is stopped before a compaction by hand", async (t) => {
  const harness = await start(t, { replies: replies([say("one"), hangAfter("half")]) });
  const { session } = harness;
  await session.prompt("First");
  const second = session.prompt("Second");
  await nextEvent(session, "message_update");
  await session.compact();
  await second;
  assert.deepEqual(pathOf(harness).slice(-3), ["user: Second", "assistant aborted: half", "compaction"]);
});

test("[K1] a compaction that is stopped changes nothing; in a turn the request goes out without it", async (t) => {
  const asked = Promise.withResolvers<void>();
  const harness = await start(t, {
    replies: replies([using(FULL, say("one")), say("two")], [hangAfter("half", asked.resolve)]),
  });
  const { session, manager } = harness;
  await session.prompt(LONG);
  const second = session.prompt("Second");
  await asked.promise;
  assert.equal(session.isCompacting, true);
  session.compaction.abort();
  await second;
  assert.deepEqual(pathOf(harness).slice(-2), ["user: Second", "assistant stop: two"]);
  assert.deepEqual(compactionEvents(harness.events).at(-1), {
    type: "compaction_end",
    reason: "threshold",
    willRetry: false,
    aborted: true,
  });

  const before = manager.getEntries();
  const compacting = session.compact();
  await session.abort();
  assert.deepEqual(await compacting, { cancelled: true });
  assert.deepEqual(manager.getEntries(), before);
});

test("[K1] nothing to compact rejects with the reason", async (t) => {
  const harness = await start(t, { replies: replies([say("one"), say("two")]) });
  const { session } = harness;
  await assert.rejects(session.compact(), {
    name: "NothingToCompact",
    message: /^Nothing to compact \(session too small\)/,
  });
  await session.prompt("First");
  await session.prompt("Second");
  await session.compact();
  await assert.rejects(session.compact(), { message: "Already compacted" });
});

test("[K5] the summary can be read and changed before it is written, and dropped", async (t) => {
  const harness = await start(t, { replies: replies([say("one"), say("two")]) });
  const { session, manager } = harness;
  await session.prompt("First");
  await session.prompt("Second");
  const before = manager.getEntries();
  const drafts: string[] = [];
  const dropped = await session.compact({
    review: async ({ summary }) => {
      drafts.push(summary);
      return undefined;
    },
  });
  const later = manager.getEntries();
  assert.deepEqual([dropped, drafts, later.slice(0, before.length)], [{ cancelled: true }, ["SUMMARY"], before]);
  assert.deepEqual(spentIn(later.slice(before.length)), [["summary", "endpoint/mock", 110]]);
  const { entry } = await session.compact({ review: async ({ summary }) => `${summary}, and mine` });
  assert.equal(entry?.summary, "SUMMARY, and mine");
});

test("[K6] without a model the summary is a digest of the conversation, and the earlier summary is in it", async (t) => {
  const harness = await start(t, { replies: replies([say("one"), say("two"), say("three")]) });
  const { session, server } = harness;
  await session.prompt("First");
  await session.prompt("Second");
  await session.compact();
  await session.prompt("Third");
  const asked = server.requests.length;
  const { entry } = await session.compact({ digest: true });
  assert.equal(server.requests.length, asked);
  assert.match(entry!.summary, /Second/);
  assert.match(entry!.summary, /SUMMARY/);
  assert.equal(entry!.usage, undefined);
});

/** A session with two turns and these hooks. */
async function hooked(t: TestContext, hooks: HookFunctions): Promise<Harness> {
  const harness = await start(t, { replies: replies([say("one"), say("two")]), hooks: hooksFrom(hooks) });
  await harness.session.prompt("First");
  await harness.session.prompt("Second");
  return harness;
}

test("[K3] hooks see what is prepared and what was written, and may add to the request for the summary", async (t) => {
  const seen: { before?: HookEvent<"session_before_compact">; after?: HookEvent<"session_compact"> } = {};
  const harness = await hooked(t, {
    session_before_compact: (event) => void (seen.before = event),
    "session.compacting": ({ messages }) => ({
      context: [`${messages.length} messages`],
      prompt: "Only the numbers.",
      preserveData: { kept: 1 },
    }),
    session_compact: (event) => void (seen.after = event),
  });
  const { entry } = await harness.session.compact({ focus: "numbers" });
  const { signal, preparation, branchEntries, ...rest } = seen.before!;
  assert.equal(signal.aborted, false);
  assert.deepEqual(rest, { customInstructions: "numbers", reason: "manual", willRetry: false });
  assert.deepEqual(branchEntries, harness.manager.getBranch(entry!.parentId));
  assert.deepEqual(
    { ...preparation, messagesToSummarize: preparation.messagesToSummarize.length },
    {
      firstKeptEntryId: entry!.firstKeptEntryId,
      messagesToSummarize: 2,
      turnPrefixMessages: [],
      isSplitTurn: false,
      tokensBefore: 110,
      fileOps: { read: new Set(), written: new Set(), edited: new Set() },
      settings: SETTINGS,
    },
  );
  assert.deepEqual(seen.after, { compactionEntry: entry, fromExtension: false, reason: "manual", willRetry: false });
  assert.deepEqual(entry!.preserveData, { kept: 1 });
  assert.equal(
    summaryPrompts(harness)[0],
    "<conversation>\n[User]: First\n\n[Assistant]: one\n</conversation>\n\n" +
      "<additional-context>\n- 2 messages\n</additional-context>\n\nOnly the numbers.\n\nAdditional focus: numbers",
  );
});

test("[K3] a hook may cancel, or bring a compaction of its own", async (t) => {
  const cancelling = await hooked(t, { session_before_compact: () => ({ cancel: true }) });
  assert.deepEqual(await cancelling.session.compact(), { cancelled: true });
  assert.deepEqual(summaryPrompts(cancelling), []);

  const own = await hooked(t, {
    session_before_compact: ({ branchEntries, preparation }) => ({
      compaction: {
        summary: "OWN",
        firstKeptEntryId: branchEntries[1]!.id,
        tokensBefore: preparation.tokensBefore,
        details: { mine: true },
      },
    }),
  });
  const { entry } = await own.session.compact();
  const { summary, details, fromExtension } = entry!;
  assert.deepEqual([summary, details, fromExtension], ["OWN", { mine: true }, true]);
  assert.deepEqual(summaryPrompts(own), []);
});

test("[K3] what makes no sense in a hook's answer is refused with a reason, and the session is unchanged", async (t) => {
  const good = { summary: "OWN", firstKeptEntryId: "", tokensBefore: 1 };
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;
  const answers: [unknown, RegExp][] = [
    [{ ...good, firstKeptEntryId: "12345678" }, /firstKeptEntryId "12345678" is not on the current branch/],
    [{ ...good, firstKeptEntryId: 5 }, /firstKeptEntryId is no text/],
    [{ ...good, summary: " " }, /summary is empty/],
    [{ ...good, summary: ["OWN"] }, /summary is no text/],
    [{ ...good, tokensBefore: Number.NaN }, /tokensBefore is no number/],
    [{ ...good, preserveData: "x" }, /preserveData is no object/],
    [{ ...good, details: circular }, /details cannot be written/],
    ["compact it", /it is no object/],
  ];
  let answer: unknown;
  const harness = await hooked(t, {
    session_before_compact: ({ preparation }) => {
      const given = answer as typeof good;
      const id = given.firstKeptEntryId === "" ? preparation.firstKeptEntryId : given.firstKeptEntryId;
      return { compaction: (typeof given === "object" ? { ...given, firstKeptEntryId: id } : given) as never };
    },
  });
  const before = harness.manager.getEntries();
  for (const [given, reason] of answers) {
    answer = given;
    await assert.rejects(harness.session.compact(), reason);
    assert.deepEqual(harness.manager.getEntries(), before);
  }
  const compacting = await hooked(t, { "session.compacting": () => ({ context: "no list" }) as never });
  await assert.rejects(compacting.session.compact(), /its context is no list of texts; the session is unchanged/);
});

test("[K3] a hook that throws is told of and counts as silent", async (t) => {
  const harness = await hooked(t, {
    session_before_compact: () => {
      throw new Error("broken");
    },
  });
  const { entry } = await harness.session.compact();
  assert.equal(entry?.summary, "SUMMARY");
  assert.deepEqual(noticesOf(harness.events), ["error: An extension failed in session_before_compact: broken"]);
});

test("[K1] a model that is too small for the conversation reads it in parts", async (t) => {
  const harness = await start(t, {
    contextWindow: 8_192,
    compaction: { ...DEFAULT_COMPACTION, enabled: false },
    replies: replies([say("one"), say("two"), say("three")], [say("S1"), say("S2")]),
  });
  await harness.session.prompt("a".repeat(15_000));
  await harness.session.prompt("b".repeat(15_000));
  await harness.session.prompt("c".repeat(15_000));
  await harness.session.compact();
  const prompts = summaryPrompts(harness);
  assert.equal(prompts.length, 2);
  assert.ok(prompts[1]!.includes("<previous-summary>\nS1\n</previous-summary>"));
  assert.ok(prompts[1]!.includes("bbb") && !prompts[1]!.includes("aaa"));
  assert.equal(lastCompaction(harness.manager.getBranch()).summary, "S2");
});
