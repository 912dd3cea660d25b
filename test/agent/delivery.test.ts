/** Messages of extensions, in every state a session can be in: where they go, when, and that they go once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { CustomMessageOptions } from "../../src/agent/delivery.ts";
import type { CustomMessageDraft } from "../../src/agent/hook-port.ts";
import { hooksFrom } from "../../src/agent/hook-port.ts";
import type { SessionManager } from "../../src/session/session-manager.ts";
import { textOf } from "../../src/tree/content.ts";
import { fileLines, nextEvent, noticesOf, sentMessages, startHarness, tool } from "../support/agent-harness.ts";
import type { Harness, HarnessOptions } from "../support/agent-harness.ts";
import { callTools, fail, hangAfter, say } from "../support/provider-mock.ts";

const note = (content: string, more: Partial<CustomMessageDraft> = {}): CustomMessageDraft => ({
  customType: "note",
  content,
  display: true,
  ...more,
});

/** What was said on the branch, without what belongs to the session's bookkeeping. */
function said(manager: SessionManager): string[] {
  return manager.getBranch().flatMap((entry) => {
    if (entry.type === "custom_message") return [`note: ${textOf(entry.content)}`];
    if (entry.type !== "message") return [];
    const { message } = entry;
    return message.role === "toolResult"
      ? ["result"]
      : [`${message.role}: ${"content" in message ? textOf(message.content) : ""}`];
  });
}

interface Running extends Harness {
  /** Lets the tool go on, and the turn with it. */
  release: () => void;
  turn: Promise<void>;
}

/** A session in the middle of its first turn: the tool "wait" runs, "answer" and "more" come after it. */
async function running(t: TestContext, options: HarnessOptions = {}): Promise<Running> {
  const gate = Promise.withResolvers<string>();
  const harness = await startHarness(t, {
    tools: () => [tool("wait", () => gate.promise)],
    replies: [callTools({ id: "c1", name: "wait", arguments: {} }), say("answer"), say("more"), say("last")],
    ...options,
  });
  const turn = harness.session.prompt("Go");
  await nextEvent(harness.session, "tool_execution_start");
  return { ...harness, turn, release: () => gate.resolve("x") };
}

const NO_TURN: readonly CustomMessageOptions[] = [
  {},
  { triggerTurn: false },
  { deliverAs: "steer" },
  { deliverAs: "followUp", triggerTurn: false },
];
for (const options of NO_TURN)
  test(`[X1] idle, ${JSON.stringify(options)}: the message is in the session at once, without a turn`, async (t) => {
    const { session, manager, events, server } = await startHarness(t, { replies: say("ok") });
    await session.sendCustomMessage(note("hello", { details: { n: 1 } }), options);
    assert.deepEqual([said(manager), server.requests.length], [["note: hello"], 0]);
    const shown = events.flatMap((event) =>
      event.type === "message_start" || event.type === "message_end" ? [`${event.type} ${event.message.role}`] : [],
    );
    assert.deepEqual(shown, ["message_start custom", "message_end custom"]);
    await session.prompt("Go");
    assert.deepEqual(sentMessages(server.requests[0]), ["user hello", "user Go"]);
  });

for (const options of [
  { triggerTurn: true },
  { triggerTurn: true, deliverAs: "steer" },
  { triggerTurn: true, deliverAs: "followUp" },
] as const)
  test(`[X1] idle, ${JSON.stringify(options)}: a run begins with the message`, async (t) => {
    const starts: unknown[] = [];
    const { session, manager, server } = await startHarness(t, {
      replies: say("ok"),
      hooks: hooksFrom({
        before_agent_start: (event) => {
          starts.push([event.messageType, event.prompt]);
          return { messages: [note("and this")] };
        },
      }),
    });
    await session.sendCustomMessage(note("held"), { deliverAs: "nextTurn" });
    await session.sendCustomMessage(note("hello"), options);
    assert.deepEqual(said(manager), ["note: hello", "note: and this", "assistant: ok"]);
    assert.deepEqual(starts, [["custom", "hello"]]);
    assert.deepEqual(sentMessages(server.requests[0]), ["user hello", "user and this"]);
  });

test("[X1] idle, nextTurn: held for the user's next prompt, behind it and before what before_agent_start adds", async (t) => {
  const { session, manager, server } = await startHarness(t, {
    replies: say("ok"),
    hooks: hooksFrom({ before_agent_start: () => ({ messages: [note("third")] }) }),
  });
  await session.sendCustomMessage(note("first"), { deliverAs: "nextTurn" });
  await session.sendCustomMessage(note("second", { display: false }), { deliverAs: "nextTurn", triggerTurn: true });
  assert.deepEqual([said(manager), session.queue, session.hasPendingMessages], [[], [], true]);
  await session.prompt("Go");
  assert.deepEqual(said(manager), ["user: Go", "note: first", "note: second", "note: third", "assistant: ok"]);
  // What the user is not shown is sent like the rest.
  assert.deepEqual(sentMessages(server.requests[0]), ["user Go", "user first", "user second", "user third"]);
  assert.equal(session.hasPendingMessages, false);
});

const STREAMING: readonly [CustomMessageOptions, string[]][] = [
  [{}, ["user: Go", "assistant: ", "result", "note: hello", "assistant: answer"]],
  [{ triggerTurn: true }, ["user: Go", "assistant: ", "result", "note: hello", "assistant: answer"]],
  [{ deliverAs: "steer" }, ["user: Go", "assistant: ", "result", "note: hello", "assistant: answer"]],
  [
    { deliverAs: "followUp" },
    ["user: Go", "assistant: ", "result", "assistant: answer", "note: hello", "assistant: more"],
  ],
  [{ deliverAs: "nextTurn" }, ["user: Go", "assistant: ", "result", "assistant: answer"]],
  [{ triggerTurn: false }, ["user: Go", "assistant: ", "result", "note: hello", "assistant: answer"]],
];
for (const [options, expected] of STREAMING)
  test(`[X1] while a turn runs, ${JSON.stringify(options)}`, async (t) => {
    const { session, manager, turn, release } = await running(t);
    await session.sendCustomMessage(note("hello"), options);
    assert.deepEqual(said(manager), ["user: Go", "assistant: "]);
    release();
    await turn;
    assert.deepEqual(said(manager), expected);
    assert.equal(session.hasPendingMessages, options.deliverAs === "nextTurn");
  });

test("[X1] without a turn of its own a message does not keep the run going", async (t) => {
  const { session, manager, turn, release, server } = await running(t, {
    replies: [callTools({ id: "c1", name: "wait", arguments: {} }), say("answer")],
  });
  const stop = session.subscribe((event) => {
    if (event.type !== "message_end" || event.message.role !== "assistant") return;
    void session.sendCustomMessage(note("late"), { triggerTurn: false });
  });
  release();
  await turn;
  stop();
  assert.deepEqual([said(manager).slice(-2), server.requests.length], [["assistant: answer", "note: late"], 2]);
});

test("[X1] queued messages keep their order among the user's, their kind, id and details, and are no texts for the editor", async (t) => {
  const { session, manager, turn, release, events } = await running(t, { steeringMode: "all" });
  session.steer("one");
  await session.sendCustomMessage(note("two", { details: { deep: [1] } }), { deliverAs: "steer" });
  session.steer("three");
  assert.deepEqual(
    session.queue.map(({ id, kind, text }) => [id, kind, text]),
    [
      ["queued-1", "steer", "one"],
      ["queued-3", "steer", "three"],
    ],
  );
  release();
  await turn;
  assert.deepEqual(said(manager).slice(3), ["user: one", "note: two", "user: three", "assistant: answer"]);
  const entry = manager.getBranch().find(({ type }) => type === "custom_message");
  assert.ok(entry?.type === "custom_message");
  assert.deepEqual([entry.customType, entry.details], ["note", { deep: [1] }]);
  assert.deepEqual(noticesOf(events), []);
  await session.sendCustomMessage(note("stays"), { deliverAs: "nextTurn" });
  session.steer("typed");
  assert.deepEqual(
    session.takeQueue().map(({ text }) => text),
    ["typed"],
  );
  assert.equal(session.hasPendingMessages, true);
});

test("[X1] sendUserMessage: idle a real prompt with its images, running steered or as it says, always an answer", async (t) => {
  const image = { type: "image" as const, data: "QUJD", mimeType: "image/png" };
  const idle = await startHarness(t, { replies: say("ok") });
  await idle.session.sendUserMessage([{ type: "text", text: "a" }, image, { type: "text", text: "b" }]);
  const [prompt] = idle.manager.getBranch().filter(({ type }) => type === "message");
  assert.ok(prompt?.type === "message" && prompt.message.role === "user");
  assert.deepEqual(prompt.message.content, [{ type: "text", text: "a\nb" }, image]);
  await assert.rejects(idle.session.sendUserMessage([]), { message: "A prompt needs text or an image." });

  const { session, manager, turn, release } = await running(t);
  await session.sendUserMessage("later", { deliverAs: "followUp" });
  await session.sendUserMessage("now");
  release();
  await turn;
  assert.deepEqual(said(manager).slice(3), ["user: now", "assistant: answer", "user: later", "assistant: more"]);
});

test("[X1] from a hook about the end of a run a message begins the next one when all are told", async (t) => {
  const order: string[] = [];
  const { session, manager } = await startHarness(t, {
    replies: [say("one"), say("two")],
    hooks: hooksFrom({
      agent_start: () => void order.push("start"),
      agent_settled: async () => {
        order.push("settled");
        if (order.length > 3) return;
        await session.sendCustomMessage(note("go on"), { triggerTurn: true });
        await session.sendCustomMessage(note("aside"));
        order.push("told");
      },
    }),
  });
  await session.prompt("Go");
  assert.deepEqual(order, ["start", "settled", "told", "start", "settled"]);
  assert.deepEqual(said(manager), ["user: Go", "assistant: one", "note: aside", "note: go on", "assistant: two"]);
});

test("[X1] sent during a jump: added at the new place, or begins a run there", async (t) => {
  const { session, manager } = await startHarness(t, {
    replies: [say("one"), say("two"), say("there")],
    hooks: hooksFrom({
      session_tree: async () => {
        await session.sendUserMessage("in your name");
        await session.sendCustomMessage(note("added"));
      },
    }),
  });
  await session.prompt("First");
  const place = manager.getLeafId()!;
  await session.prompt("Second");
  const settled = nextEvent(session, "agent_settled");
  await session.navigateTree(place);
  await settled;
  assert.deepEqual(said(manager), [
    "user: First",
    "assistant: one",
    "note: added",
    "user: in your name",
    "assistant: there",
  ]);
});

test("[X1] held messages survive a jump and an abort, and are sent once with the prompt that comes", async (t) => {
  const { session, manager, server, turn } = await running(t, {
    replies: [callTools({ id: "c1", name: "wait", arguments: {} }), say("fine"), say("again")],
    stopTimeoutMs: 20,
  });
  await session.sendCustomMessage(note("held"), { deliverAs: "nextTurn" });
  await session.abort();
  await turn;
  await session.navigateTree(manager.getEntries().find(({ type }) => type === "message")!.id);
  await session.prompt("Now");
  await session.prompt("Then");
  assert.deepEqual(server.requests.slice(1).map(sentMessages), [
    ["user Now", "user held"],
    ["user Now", "user held", "assistant fine", "user Then"],
  ]);
});

for (const [name, change] of [
  ["/new", (session: Harness["session"]) => session.newSession()],
  ["/branch", (session: Harness["session"]) => session.branch(session.getUserMessages()[0]!.entryId)],
] as const)
  test(`[X1] ${name} drops what is held, and says so; what hooks send meanwhile is the new session's`, async (t) => {
    const { session, manager, events } = await startHarness(t, {
      replies: say("ok"),
      hooks: hooksFrom({ session_start: () => session.sendCustomMessage(note("welcome")) }),
    });
    await session.prompt("Go");
    await session.begin();
    await session.sendCustomMessage(note("held"), { deliverAs: "nextTurn" });
    await session.sendCustomMessage(note("secret", { display: false }), { deliverAs: "nextTurn" });
    await change(session);
    assert.deepEqual(noticesOf(events), ["warning: 2 queued messages were dropped: held · [note]"]);
    assert.deepEqual([said(manager), session.hasPendingMessages], [["note: welcome"], false]);
  });

test("[X1] a failed answer and a retry lose and repeat nothing", async (t) => {
  const { session, manager, turn, release } = await running(t, {
    replies: [callTools({ id: "c1", name: "wait", arguments: {} }), fail(503, "busy"), say("answer"), say("more")],
  });
  await session.sendCustomMessage(note("steered"));
  await session.sendCustomMessage(note("behind"), { triggerTurn: false });
  await session.sendCustomMessage(note("then"), { deliverAs: "followUp" });
  release();
  await turn;
  const notes = said(manager).filter((row) => row.startsWith("note"));
  assert.deepEqual(notes, ["note: behind", "note: steered", "note: then"]);
});

test("[X1] what could not be written waits again", async (t) => {
  const { session, manager } = await startHarness(t, { replies: say("ok") });
  await session.sendCustomMessage(note("held"), { deliverAs: "nextTurn" });
  const broken = t.mock.method(manager, "appendCustomMessageEntry", () => {
    throw new Error("the disk is full");
  });
  await assert.rejects(session.prompt("Go"), { message: "the disk is full" });
  assert.equal(session.hasPendingMessages, true);
  broken.mock.restore();
  await session.prompt("Again");
  assert.deepEqual(said(manager), ["user: Go", "user: Again", "note: held", "assistant: ok"]);
});

test("[X1] what extensions give is copied and mended: no content, details that are no JSON, changes afterwards", async (t) => {
  const { session, manager } = await startHarness(t, { replies: say("ok") });
  const blocks = [{ type: "text" as const, text: "before" }];
  const cycle: Record<string, unknown> = { n: 1n, f: () => 1 };
  cycle["self"] = cycle;
  await session.sendCustomMessage({ customType: "a", content: null as never, display: 1 as never });
  await session.sendCustomMessage(note("b", { details: cycle }), { deliverAs: "nextTurn" });
  await session.sendCustomMessage({ customType: "c", content: blocks, display: true }, { deliverAs: "nextTurn" });
  blocks[0]!.text = "after";
  for (const wrong of [
    { content: "x", display: true },
    { customType: "x", content: [1], display: true },
  ])
    await assert.rejects(session.sendCustomMessage(wrong as never), {
      message: "A message of an extension needs a customType and content: a text, or a list of texts and images.",
    });
  await session.prompt("Go");
  const lines = fileLines(manager).filter(({ type }) => type === "custom_message");
  assert.deepEqual(
    lines.map(({ customType, content, display }) => [customType, content, display]),
    [
      ["a", [], true],
      ["note", "b", true],
      ["c", [{ type: "text", text: "before" }], true],
    ],
  );
});

test("[X1] what is sent to a turn that is being stopped waits; in the user's name it begins the next one", async (t) => {
  const { session, manager, server } = await startHarness(t, { replies: [hangAfter("half"), say("there")] });
  const turn = session.prompt("Go");
  await nextEvent(session, "message_update");
  const stopped = session.abort();
  await session.sendCustomMessage(note("waits"));
  await session.sendUserMessage("in your name");
  await stopped;
  await turn;
  while (server.requests.length < 2 || !session.isIdle) await session.waitForIdle();
  assert.deepEqual(
    said(manager).filter((row) => !row.startsWith("assistant")),
    ["user: Go", "user: in your name", "note: waits"],
  );
});
