/** Turns of AgentSession over real HTTP: what is on disk when, failures, retries, abort, the queue. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { AgentSession } from "../../src/agent/agent-session.ts";
import { DEFAULT_RETRY, nextRetry } from "../../src/agent/retry.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import type { AssistantMessage } from "../../src/tree/messages.ts";
import {
  fileLines,
  nextEvent,
  noticesOf,
  outlineOf,
  sentMessages,
  startHarness,
  tool,
} from "../support/agent-harness.ts";
import { after, callTools, dropAfter, fail, hangAfter, say } from "../support/provider-mock.ts";
import { temporaryFolder } from "../support/session-files.ts";

const typesOf = (lines: readonly { type: string }[]): string[] => lines.map(({ type }) => type);

test("[W2] the prompt is in the file, synced, when the request arrives; the finished turn is synced, too", async (t) => {
  const seen: string[][] = [];
  const { session, manager } = await startHarness(t, {
    replies: say("Hello", " there"),
    onRequest: (_request, _n, harness) => seen.push(["request", ...typesOf(fileLines(harness.manager))]),
  });
  const flush = manager.flush.bind(manager);
  t.mock.method(manager, "flush", async () => {
    const lines = typesOf(fileLines(manager));
    await flush();
    seen.push(["synced", ...lines]);
  });
  await session.prompt("Hi");
  const prompt = ["session", "model_change", "message", "session_info"];
  assert.deepEqual(seen, [
    ["synced", ...prompt],
    ["request", ...prompt],
    ["synced", ...prompt, "message"],
    ["synced", ...prompt, "message"],
  ]);
  assert.deepEqual(outlineOf(manager.getBranch()), [
    "model_change",
    "user: Hi",
    "session_info",
    "assistant stop: Hello there",
  ]);
});

test("[W2] an entry is in the file before the event that shows it", async (t) => {
  const shown: string[] = [];
  const { session, manager } = await startHarness(t, {
    replies: [callTools({ id: "c1", name: "echo", arguments: { text: "x" } }), say("done")],
    tools: () => [tool("echo", ({ text }) => `echo ${String(text)}`)],
  });
  session.subscribe((event) => {
    const last = (): string => outlineOf(manager.getBranch()).at(-1) ?? "";
    const inFile = (): number => fileLines(manager).length - 1;
    if (event.type === "message_start" && event.message.role === "user") shown.push(`prompt ${inFile()} ${last()}`);
    if (event.type === "tool_execution_end") shown.push(`tool ${inFile()} ${last()}`);
    if (event.type === "message_end" && event.message.role === "assistant") shown.push(`answer ${inFile()} ${last()}`);
  });
  await session.prompt("Go");
  assert.deepEqual(shown, [
    "prompt 3 session_info",
    "answer 4 assistant toolUse: [echo]",
    "tool 5 result c1: echo x",
    "answer 6 assistant stop: done",
  ]);
});

test("[W2] of two tools at once each result is on disk when its tool is done, and both before the next request", async (t) => {
  const slow = Promise.withResolvers<void>();
  const seen: string[] = [];
  const { session, manager, server } = await startHarness(t, {
    replies: [
      callTools({ id: "slow", name: "slow", arguments: {} }, { id: "fast", name: "fast", arguments: {} }),
      say("both"),
    ],
    tools: () => [
      tool("slow", async () => {
        await slow.promise;
        return "late";
      }),
      tool("fast", () => "early"),
    ],
    onRequest: (_request, n, harness) => {
      if (n === 1) seen.push(...outlineOf(harness.manager.getBranch()).slice(-2));
    },
  });
  session.subscribe((event) => {
    if (event.type !== "tool_execution_end" || event.toolCallId !== "fast") return;
    assert.equal(fileLines(manager).at(-1)?.["type"], "message");
    assert.deepEqual(outlineOf(manager.getBranch()).at(-1), "result fast: early");
    slow.resolve();
  });
  await session.prompt("Both");
  assert.deepEqual(seen, ["result fast: early", "result slow: late"]);
  assert.deepEqual(sentMessages(server.requests[1]), [
    "user Both",
    "assistant [2 calls]",
    "tool slow late",
    "tool fast early",
  ]);
});

test("[W2] a prompt that cannot be written is not sent", async (t) => {
  const { session, manager, server } = await startHarness(t, { replies: say("never") });
  t.mock.method(manager, "appendMessage", () => {
    throw new Error("the disk is full");
  });
  await assert.rejects(session.prompt("Hi"), { message: "the disk is full" });
  assert.equal(server.requests.length, 0);
  assert.equal(session.isIdle, true);
});

test("[C3, R1] a stream that breaks off keeps what had arrived, marked, and the retry does not send it", async (t) => {
  const { session, manager, server, events } = await startHarness(t, {
    replies: [dropAfter("Half an ans"), say("Whole")],
  });
  await session.prompt("Hi");
  assert.deepEqual(outlineOf(manager.getBranch()), [
    "model_change",
    "user: Hi",
    "session_info",
    "assistant error: Half an ans",
    "assistant stop: Whole",
  ]);
  assert.deepEqual(sentMessages(server.requests[1]), ["user Hi"]);
  assert.deepEqual(noticesOf(events), []);
});

for (const status of [429, 529])
  test(`[R1] after a ${status} the answer is asked for again, visibly`, async (t) => {
    const { session, events, server } = await startHarness(t, { replies: [fail(status, "overloaded"), say("Yes")] });
    await session.prompt("Hi");
    const retries = events.filter((event) => event.type === "auto_retry_start" || event.type === "auto_retry_end");
    assert.deepEqual(
      retries.map((event) => ({ ...event, errorMessage: undefined })),
      [
        { type: "auto_retry_start", attempt: 1, maxAttempts: 3, delayMs: 1, errorMessage: undefined },
        { type: "auto_retry_end", success: true, attempt: 1, errorMessage: undefined },
      ],
    );
    assert.equal(server.requests.length, 2);
    assert.deepEqual(events.at(-1), { type: "agent_settled", aborted: false });
  });

test("[R1] retries end after the last attempt, and the failure stands in the file", async (t) => {
  const { session, manager, events, server } = await startHarness(t, {
    replies: fail(503, "service unavailable"),
    retry: { enabled: true, maxRetries: 2, baseDelayMs: 1, maxDelayMs: 4 },
  });
  await session.prompt("Hi");
  assert.equal(server.requests.length, 3);
  const [end] = events.filter((event) => event.type === "auto_retry_end");
  assert.deepEqual([end?.success, end?.attempt], [false, 2]);
  assert.equal(end?.finalError?.includes("503"), true);
  assert.deepEqual(outlineOf(manager.getBranch()).slice(-3), [
    "assistant error: ",
    "assistant error: ",
    "assistant error: ",
  ]);
});

test("[R1, U4] an endpoint that cannot be reached is given up soon, and the answer names it and the cause", async (t) => {
  const { session, manager, events, server } = await startHarness(t, {
    retry: { enabled: true, maxRetries: 5, baseDelayMs: 1, maxDelayMs: 60 },
  });
  await server.close();
  await session.prompt("Hi");
  assert.deepEqual(
    events.flatMap((event) =>
      event.type === "auto_retry_start" ? [[event.attempt, event.maxAttempts, event.delayMs]] : [],
    ),
    [
      [1, 3, 1],
      [2, 3, 2],
      [3, 3, 4],
    ],
  );
  const address = new URL(server.baseUrl).host;
  const last = manager.getBranch().at(-1) as { message: { errorMessage: string } };
  assert.equal(last.message.errorMessage, `Connection error at ${server.baseUrl}: connect ECONNREFUSED ${address}`);
});

test("[R1] an endpoint that goes away within a run is waited for", async (t) => {
  const { session, events, server } = await startHarness(t, {
    replies: callTools({ id: "c", name: "end", arguments: {} }),
    retry: { enabled: true, maxRetries: 4, baseDelayMs: 1, maxDelayMs: 1 },
    tools: () => [
      tool("end", async () => {
        await server.close();
        return "closed";
      }),
    ],
  });
  await session.prompt("Hi");
  const retries = events.filter((event) => event.type === "auto_retry_start");
  assert.deepEqual(
    retries.map(({ attempt, maxAttempts }) => [attempt, maxAttempts]),
    [1, 2, 3, 4].map((attempt) => [attempt, 4]),
  );
});

test("[R1] the waits: seconds in all where nothing answers, minutes otherwise", () => {
  const waits = (errorMessage: string, isReached: boolean): number[] => {
    const answer = { stopReason: "error", errorMessage } as AssistantMessage;
    return [0, 1, 2, 3, 4, 5].flatMap((failed) => nextRetry(DEFAULT_RETRY, answer, failed, isReached)?.delayMs ?? []);
  };
  const long = [2_000, 4_000, 8_000, 16_000, 32_000];
  const refused = "Connection error at http://localhost:1/v1: connect ECONNREFUSED ::1:1";
  assert.deepEqual(waits(refused, false), [500, 1_000, 2_000]);
  assert.deepEqual(waits(refused, true), long);
  for (const other of [
    "503: busy",
    "429: slow",
    "Request timed out.",
    "Connection error at http://x/: read ECONNRESET",
  ])
    assert.deepEqual([other, waits(other, false)], [other, long]);
});

test("[R1] a request the provider refuses is not repeated", async (t) => {
  const { session, server, events } = await startHarness(t, { replies: fail(400, "bad request") });
  await session.prompt("Hi");
  assert.equal(server.requests.length, 1);
  assert.equal(
    events.some((event) => event.type === "auto_retry_start"),
    false,
  );
});

test("[R1] the wait before a retry can be ended; the failure stands", async (t) => {
  const { session, server, events } = await startHarness(t, {
    replies: fail(429, "slow down"),
    retry: { enabled: true, maxRetries: 2, baseDelayMs: 3_600_000, maxDelayMs: 3_600_000 },
  });
  session.subscribe((event) => {
    if (event.type === "auto_retry_start") session.abortRetry();
  });
  await session.prompt("Hi");
  assert.equal(server.requests.length, 1);
  const [end] = events.filter((event) => event.type === "auto_retry_end");
  assert.deepEqual([end?.success, end?.attempt], [false, 1]);
  assert.deepEqual(events.at(-1), { type: "agent_settled", aborted: false });
});

test("[R1] a conversation that no longer fits is said so, once, without retries", async (t) => {
  const { session, server, events } = await startHarness(t, {
    replies: fail(400, "This model's maximum context length is 8192 tokens, however you requested 9000 tokens"),
  });
  await session.prompt("Hi");
  assert.equal(server.requests.length, 1);
  assert.deepEqual(noticesOf(events), [
    "error: The conversation no longer fits into mock (128000 tokens); shorten it with /compact, go back with /tree, or start anew with /new.",
  ]);
});

test("[C3] abort in mid-answer keeps the part that had arrived, marked, and the next prompt goes out without it", async (t) => {
  const { session, manager, server, events } = await startHarness(t, {
    replies: [hangAfter("Once upon"), say("Fine")],
  });
  const settled = session.prompt("Tell");
  await new Promise<void>((resolve) => {
    session.subscribe((event) => {
      if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta") resolve();
    });
  });
  await session.abort();
  await settled;
  assert.equal(session.isIdle, true);
  assert.deepEqual(outlineOf(manager.getBranch()).at(-1), "assistant aborted: Once upon");
  assert.deepEqual(events.at(-1), { type: "agent_settled", aborted: true });
  await session.prompt("Again");
  assert.deepEqual(sentMessages(server.requests[1]), ["user Tell", "user Again"]);
});

test("[C3] abort while a tool runs waits for its result; the next request is valid", async (t) => {
  const running = Promise.withResolvers<void>();
  const { session, manager, server } = await startHarness(t, {
    replies: [callTools({ id: "c1", name: "wait", arguments: {} }), say("Go on")],
    tools: () => [
      tool("wait", async (_args, signal) => {
        running.resolve();
        await new Promise((resolve) => signal?.addEventListener("abort", resolve));
        throw new Error("stopped by the user");
      }),
    ],
  });
  const settled = session.prompt("Start");
  await running.promise;
  await session.abort();
  assert.deepEqual(outlineOf(manager.getBranch()).slice(-2), [
    "assistant toolUse: [wait]",
    "result c1: stopped by the user",
  ]);
  await settled;
  assert.equal(server.requests.length, 1);
  await session.prompt("Continue");
  assert.deepEqual(sentMessages(server.requests[1]), [
    "user Start",
    "assistant [1 calls]",
    "tool c1 stopped by the user",
    "user Continue",
  ]);
});

test("[N3] a tool that does not listen is let go: its late result is on the branch it belongs to", async (t) => {
  const running = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const { session, manager, server, events } = await startHarness(t, {
    replies: [callTools({ id: "c1", name: "deaf", arguments: {} }), say("Without it")],
    stopTimeoutMs: 10,
    tools: () => [
      tool("deaf", async () => {
        running.resolve();
        await release.promise;
        return "at last";
      }),
    ],
  });
  const settled = session.prompt("Start");
  await running.promise;
  await session.abort();
  await settled;
  await session.prompt("Next");
  assert.deepEqual(sentMessages(server.requests[1]), [
    "user Start",
    "assistant [1 calls]",
    "tool c1 interrupted, no result",
    "user Next",
  ]);
  const before = outlineOf(manager.getBranch());
  release.resolve();
  const { entry } = await nextEvent(session, "entry_appended");
  assert.deepEqual(outlineOf([entry]), ["result c1: at last"]);
  assert.deepEqual(outlineOf(manager.getBranch()), before);
  assert.deepEqual(outlineOf(manager.getBranch(entry.id)).slice(-2), [
    "assistant toolUse: [deaf]",
    "result c1: at last",
  ]);
  await manager.flush();
  const reopened = await SessionManager.open(manager.getSessionFile()!, { readOnly: true });
  assert.equal(reopened.getLeafId(), manager.getLeafId());
  assert.equal(
    noticesOf(events).at(-1),
    "info: A tool that was stopped has finished late; its result is on the branch it belongs to.",
  );
});

test("[U4] steering goes in after the tool calls, follow-ups one by one when the agent would stop", async (t) => {
  const { session, manager, server, events } = await startHarness(t, {
    replies: [callTools({ id: "c1", name: "echo", arguments: {} }), say("one"), say("two"), say("three")],
    tools: () => [
      tool("echo", () => {
        assert.equal(session.followUp("later 1"), "queued-1");
        assert.equal(session.steer("now"), "queued-2");
        assert.equal(session.followUp("later 2"), "queued-3");
        return "ok";
      }),
    ],
  });
  await session.prompt("Start");
  assert.deepEqual(
    outlineOf(manager.getBranch()).filter((text) => text !== "session_info" && text !== "model_change"),
    [
      "user: Start",
      "assistant toolUse: [echo]",
      "result c1: ok",
      "user: now",
      "assistant stop: one",
      "user: later 1",
      "assistant stop: two",
      "user: later 2",
      "assistant stop: three",
    ],
  );
  assert.deepEqual(sentMessages(server.requests[1]), ["user Start", "assistant [1 calls]", "tool c1 ok", "user now"]);
  const queues = events.flatMap((event) => (event.type === "queue_update" ? [event.queue.map(({ id }) => id)] : []));
  assert.deepEqual(queues, [
    ["queued-1"],
    ["queued-1", "queued-2"],
    ["queued-1", "queued-2", "queued-3"],
    ["queued-1", "queued-3"],
    ["queued-3"],
    [],
  ]);
  assert.equal(events.filter((event) => event.type === "agent_settled").length, 1);
});

test("[U4] what is typed at the very end of a turn is still sent", async (t) => {
  const { session, server } = await startHarness(t, { replies: [say("one"), say("two")] });
  let typed = false;
  session.subscribe((event) => {
    if (event.type !== "agent_end" || typed) return;
    typed = true;
    session.steer("one more");
  });
  await session.prompt("Start");
  assert.deepEqual(sentMessages(server.requests[1]), ["user Start", "assistant one", "user one more"]);
});

test("[U4] queued messages can be taken out by id, or all at once, and stay after an abort", async (t) => {
  const { session, server } = await startHarness(t, { replies: [hangAfter("…"), say("ok")] });
  const settled = session.prompt("Start");
  await nextEvent(session, "message_update");
  const first = session.steer("first");
  session.followUp("second");
  assert.equal(session.removeQueued(first), true);
  assert.equal(session.removeQueued(first), false);
  await session.abort();
  await settled;
  assert.deepEqual(session.takeQueue(), [{ id: "queued-2", kind: "followUp", text: "second" }]);
  assert.deepEqual(session.queue, []);
  assert.equal(server.requests.length, 1);
});

test("[N3] a second prompt is refused while a turn runs", async (t) => {
  const gate = Promise.withResolvers<void>();
  const { session, server } = await startHarness(t, { replies: after(gate.promise, say("ok")) });
  const settled = session.prompt("Start");
  await assert.rejects(session.prompt("Another"), {
    message: 'A turn is running; give streamingBehavior "steer" or "followUp" to queue this, or stop the turn first.',
  });
  gate.resolve();
  await settled;
  assert.equal(server.requests.length, 1);
});

test("[U4] without a model a prompt is refused in one sentence, and nothing is written", async (t) => {
  const { registry, manager, dir } = await startHarness(t);
  const session = new AgentSession({ sessionManager: SessionManager.create(dir, dir), registry });
  await assert.rejects(session.prompt("Hi"), {
    message:
      "No model is connected; set a key such as ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, or start a local server, or give --base-url and --model.",
  });
  await assert.rejects(session.prompt("  "), { message: "A prompt needs text or an image." });
  assert.equal(session.sessionManager.getLeafId(), null);
  assert.equal(manager.getLeafId(), null);
});

test("[C1] model and thinking level are recorded when they change, and come back with the path", async (t) => {
  const { session, manager, registry, model, events } = await startHarness(t, { replies: say("ok") });
  const thinker = { ...model, id: "thinker", reasoning: true };
  await session.prompt("One");
  session.setThinkingLevel("high");
  assert.equal(session.thinkingLevel, "off");
  session.setModel(thinker);
  session.setModel(thinker);
  session.setThinkingLevel("high");
  session.setThinkingLevel("high");
  assert.deepEqual(outlineOf(manager.getBranch()).slice(-2), ["model_change", "thinking_level_change"]);
  assert.deepEqual(
    events.filter((event) => event.type === "model_changed" || event.type === "thinking_level_changed"),
    [{ type: "model_changed" }, { type: "model_changed" }, { type: "thinking_level_changed", level: "high" }],
  );
  assert.deepEqual(session.availableThinkingLevels().slice(0, 3), ["off", "minimal", "low"]);
  assert.equal(registry.find("endpoint", "thinker"), undefined);
});

test("[L1] a model that is not there any more is told, and the current one goes on", async (t) => {
  const dir = temporaryFolder();
  const manager = SessionManager.create(dir, dir);
  manager.appendModelChange("gone", "old-model");
  manager.appendMessage({ role: "user", content: "Hi", timestamp: 1 });
  manager.appendThinkingLevelChange("high");
  const { session, events, server } = await startHarness(t, { manager, replies: say("ok") });
  assert.deepEqual(noticesOf(events), [
    "warning: This conversation used gone/old-model, which cannot be used here; it continues with mock.",
  ]);
  assert.equal(session.thinkingLevel, "high");
  await session.prompt("Go");
  assert.equal(server.requests[0]?.body.model, "mock");
  assert.deepEqual(outlineOf(manager.getBranch()), [
    "model_change",
    "user: Hi",
    "thinking_level_change",
    "model_change",
    "user: Go",
    "assistant stop: ok",
  ]);
});

test("[U4] the system prompt and the tools are made anew for each run and sent in front", async (t) => {
  let runs = 0;
  const { session, server, dir } = await startHarness(t, {
    replies: say("ok"),
    tools: (cwd) => [tool(`in-${cwd === dir ? "here" : "there"}`, () => "")],
    systemPrompt: ({ tools }) => `Run ${++runs} with ${tools.map(({ name }) => name).join()}`,
  });
  await session.prompt("One");
  await session.prompt("Two");
  assert.deepEqual(
    server.requests.map(({ body }) => [body.messages[0]?.content, body.tools?.map((sent) => sent.function.name)]),
    [
      ["Run 1 with in-here", ["in-here"]],
      ["Run 2 with in-here", ["in-here"]],
    ],
  );
});

test("[U4] the user's command is recorded and sent, an excluded one is not sent", async (t) => {
  const { session, manager, server, events } = await startHarness(t, { replies: say("ok") });
  const message = await session.runBash("echo hello");
  assert.deepEqual(
    { ...message, timestamp: 0 },
    {
      role: "bashExecution",
      command: "echo hello",
      output: "hello",
      exitCode: 0,
      cancelled: false,
      truncated: false,
      timestamp: 0,
    },
  );
  await session.runBash("echo secret", { excludeFromContext: true });
  await session.prompt("Well?");
  assert.deepEqual(outlineOf(manager.getBranch()).slice(0, 2), ["bash: echo hello", "bash: echo secret"]);
  const sent = sentMessages(server.requests[0]).join("\n");
  assert.equal(sent.includes("echo hello") && sent.includes("hello"), true);
  assert.equal(sent.includes("secret"), false);
  assert.equal(
    events.some((event) => event.type === "bash_update"),
    true,
  );
});

test("[U4] the user's command can be stopped, and only one runs at a time", async (t) => {
  const { session } = await startHarness(t);
  const running = session.runBash("echo started; sleep 60");
  await nextEvent(session, "bash_update");
  assert.equal(session.isBashRunning, true);
  await assert.rejects(session.runBash("true"), {
    message: "A command is still running; wait for its end, or stop it first.",
  });
  await assert.rejects(session.newSession(), {
    message: "A command is still running; wait for its end, or stop it first.",
  });
  session.abortBash();
  assert.equal((await running).cancelled, true);
  assert.equal(session.isIdle, true);
});

test("[U4] context usage: what the last answer reported and what came after it; all of it where nothing was", async (t) => {
  const { session, manager, model } = await startHarness(t, { replies: say("ok") });
  const usage = (): unknown => {
    const { tokens, window, percent } = session.getContextUsage()!;
    assert.deepEqual([window, percent], [model.contextWindow, (100 * tokens) / model.contextWindow]);
    return tokens;
  };
  assert.equal(usage(), 0);
  await session.prompt("Hi");
  assert.equal(usage(), 110);
  manager.appendMessage({ role: "user", content: "x".repeat(700), timestamp: 1 });
  assert.equal(usage(), 310);
  const totals = session.getUsage();
  assert.deepEqual([totals.input, totals.output, totals.totalTokens], [100, 10, 110]);
  manager.appendCompaction("s".repeat(70), manager.getLeafId()!, 310);
  assert.equal(Number(usage()) < 310 && Number(usage()) > 200, true);
});

test("[N3] a late result of a session that was left is not written anywhere, and that is told", async (t) => {
  const running = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const { session, manager } = await startHarness(t, {
    replies: callTools({ id: "c1", name: "deaf", arguments: {} }),
    stopTimeoutMs: 10,
    tools: () => [
      tool("deaf", async () => {
        running.resolve();
        await release.promise;
        return "late";
      }),
    ],
  });
  const settled = session.prompt("Start");
  await running.promise;
  await session.abort();
  await settled;
  await session.newSession();
  release.resolve();
  assert.deepEqual(await nextEvent(session, "notice"), {
    type: "notice",
    level: "warning",
    text: "A tool that was stopped has finished after its session was left; its result was not kept.",
  });
  assert.deepEqual(manager.getEntries(), []);
});

test("[R1] a listener that throws does not stop the turn", async (t) => {
  const { session, manager } = await startHarness(t, { replies: say("ok") });
  const warnings: string[] = [];
  t.mock.method(process, "emitWarning", (warning: Error) => warnings.push(warning.message));
  const stop = session.subscribe((event) => {
    if (event.type === "agent_start") throw new Error("a listener's own mistake");
  });
  await session.prompt("Hi");
  stop();
  assert.deepEqual(warnings, ["a listener's own mistake"]);
  assert.equal(outlineOf(manager.getBranch()).at(-1), "assistant stop: ok");
});

test("[A9] settings that are set anew hold for what begins from then on", async (t) => {
  const { session, server } = await startHarness(t, { replies: fail(503, "busy") });
  const retry = { enabled: true, maxRetries: 1, baseDelayMs: 1, maxDelayMs: 1 };
  session.setSettings({ retry });
  await session.prompt("First");
  assert.equal(server.requests.length, 2);
  session.setSettings({ retry: { ...retry, enabled: false } });
  await session.prompt("Second");
  assert.equal(server.requests.length, 3);
});
