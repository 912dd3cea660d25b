/** What becomes of the answer of a provider that an extension has brought, whatever that does. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AssistantMessage, AssistantMessageEvent } from "@earendil-works/pi-ai";
import { guardedStream } from "../../src/agent/guarded-stream.ts";
import { AssistantMessageEventStream, fullModel } from "../../src/agent/providers.ts";

const model = fullModel({ id: "m", provider: "acme", api: "acme-api", baseUrl: "" });
const LIMITS = { silenceMs: 40, endMs: 10 };

interface Seen {
  answer: AssistantMessage;
  /** The events, each with the text or the arguments of its block at that moment. */
  events: string[];
}

async function answerOf(call: () => unknown, signal?: AbortSignal): Promise<Seen> {
  const stream = guardedStream(model, call, signal, LIMITS);
  const events: string[] = [];
  for await (const event of stream) events.push(shown(event));
  return { answer: await stream.result(), events };
}

function shown(event: AssistantMessageEvent): string {
  if (!("contentIndex" in event)) return event.type;
  const block = event.partial.content[event.contentIndex];
  const said = block?.type === "text" ? block.text : block?.type === "toolCall" ? JSON.stringify(block.arguments) : "";
  return `${event.type} ${said}`;
}

async function* streamOf(...events: unknown[]): AsyncGenerator<unknown> {
  for (const event of events) yield event;
}
const done = (message: unknown): object => ({ type: "done", reason: "stop", message });
const text = (said: string): object => ({ type: "text", text: said });
const partial = (...content: object[]): object => ({ content });

test("[X3, X6] a good answer passes with its pieces, as the model's, and is nobody else's to change", async () => {
  const call = { type: "toolCall", id: "c1", name: "bash", arguments: { command: "ls" } };
  const message = {
    role: "assistant",
    provider: "another",
    model: "another",
    content: [text("Hello"), call],
    usage: { input: 3, output: 2, cost: { total: 0.5 } },
    stopReason: "toolUse",
    responseId: "r1",
  };
  const { answer, events } = await answerOf(() =>
    streamOf(
      { type: "start", partial: message },
      { type: "text_start", contentIndex: 0, partial: partial(text("")) },
      { type: "text_delta", contentIndex: 0, delta: "Hello", partial: partial(text("Hello")) },
      { type: "text_end", contentIndex: 0, content: "Hello", partial: partial(text("Hello")) },
      { type: "toolcall_start", contentIndex: 1, partial: partial(text("Hello"), { ...call, arguments: {} }) },
      { type: "toolcall_delta", contentIndex: 1, delta: '{"command":', partial: partial(text("Hello"), call) },
      { type: "toolcall_delta", contentIndex: 1, delta: '"ls"}', partial: partial(text("Hello"), call) },
      { type: "toolcall_end", contentIndex: 1, toolCall: call, partial: partial(text("Hello"), call) },
      done(message),
    ),
  );
  assert.deepEqual(events, [
    "start",
    "text_start ",
    "text_delta Hello",
    "text_end Hello",
    "toolcall_start {}",
    "toolcall_delta {}",
    'toolcall_delta {"command":"ls"}',
    'toolcall_end {"command":"ls"}',
    "done",
  ]);
  call.arguments.command = "rm -rf /";
  assert.deepEqual(answer.content, [text("Hello"), { ...call, arguments: { command: "ls" } }]);
  assert.deepEqual(
    [answer.provider, answer.model, answer.api, answer.stopReason, answer.responseId],
    ["acme", "m", "acme-api", "toolUse", "r1"],
  );
  assert.deepEqual(
    [answer.usage.input, answer.usage.totalTokens, answer.usage.cost.total, answer.usage.cost.input],
    [3, 5, 0.5, 0],
  );
});

test("[X3, X6] what throws, at once, later or as a rejection, is an error with what had come", async () => {
  const broken = async function* (): AsyncGenerator<unknown> {
    yield { type: "text_delta", contentIndex: 0, delta: "Half a", partial: partial(text("Half a")) };
    throw new Error("broken");
  };
  const calls: (() => unknown)[] = [
    () => {
      throw new Error("broken");
    },
    async () => Promise.reject(new Error("broken")),
    broken,
  ];
  const seen = await Promise.all(calls.map((call) => answerOf(call)));
  for (const { answer } of seen) assert.deepEqual([answer.stopReason, answer.errorMessage], ["error", "broken"]);
  assert.deepEqual(
    seen.map(({ answer }) => answer.content),
    [[], [], [text("Half a")]],
  );
});

test("[X3, X6] what is silent for too long, or ends without an answer, is an error", async () => {
  const silent = (): AssistantMessageEventStream => new AssistantMessageEventStream();
  const ended = (): AssistantMessageEventStream => {
    const stream = new AssistantMessageEventStream();
    stream.end();
    return stream;
  };
  const seen = await Promise.all([silent, ended, () => streamOf(), () => ({})].map((call) => answerOf(call)));
  assert.deepEqual(
    seen.map(({ answer }) => [answer.stopReason, answer.errorMessage]),
    [
      ["error", "Nothing has come from the provider for 0 seconds."],
      ["error", "The provider's stream has ended without an answer."],
      ["error", "The provider's stream has ended without an answer."],
      ["error", "The provider has given no stream."],
    ],
  );
});

test("[X3, X6] a provider that does not stop when it is told to is left", async () => {
  const stop = new AbortController();
  const deaf = async function* (): AsyncGenerator<unknown> {
    yield { type: "text_delta", contentIndex: 0, delta: "Still", partial: partial(text("Still")) };
    stop.abort();
    await new Promise(() => undefined);
  };
  const { answer, events } = await answerOf(deaf, stop.signal);
  assert.deepEqual([answer.stopReason, answer.content, events.at(-1)], ["aborted", [text("Still")], "error"]);
});

test("[X3, X6] a flood without end lets the user stop it, also when all of it is there at once", async () => {
  const event = { type: "text_delta", contentIndex: 0, delta: "", partial: partial(text("x")) };
  const flood = async function* (): AsyncGenerator<unknown> {
    for (;;) yield event;
  };
  const ready = Promise.resolve({ done: false, value: event });
  const readyFlood = (): unknown => ({ [Symbol.asyncIterator]: () => ({ next: () => ready }) });
  for (const call of [flood, readyFlood]) {
    const stop = new AbortController();
    setImmediate(() => stop.abort());
    assert.equal((await answerOf(call, stop.signal)).answer.stopReason, "aborted");
  }
});

test("[X3, X6] a provider may clean up when its answer is over, whichever way it ended", async () => {
  const ends: string[] = [];
  const cleaning = (end: string, last: () => unknown): Promise<Seen> =>
    answerOf(async function* () {
      try {
        yield last();
      } finally {
        ends.push(end);
        await Promise.reject(new Error("nobody's business"));
      }
    });
  const { answer } = await cleaning("done", () => done({ content: [text("A")], stopReason: "stop" }));
  assert.deepEqual([answer.stopReason, answer.content], ["stop", [text("A")]]);
  await cleaning("error", () => ({ type: "error", error: { stopReason: "error", errorMessage: "broken" } }));
  await cleaning("hostile", () => ({
    get type(): never {
      throw new Error("hands off");
    },
  }));
  assert.deepEqual(ends, ["done", "error", "hostile"]);
});

test("[X3, X6] what is no part of an answer is passed over, what no session could hold is left out", async () => {
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  const hostile = {
    get content(): never {
      throw new Error("hands off");
    },
  };
  const { answer, events } = await answerOf(() =>
    streamOf(
      "not an event",
      { type: "text_delta", contentIndex: 7, delta: "x" },
      { type: "text_delta", contentIndex: -1, delta: "x" },
      { type: "text_delta", contentIndex: "__proto__", delta: "x" },
      { type: "toolcall_start", contentIndex: 0, partial: partial(text("no call")) },
      { type: "made_up", contentIndex: 0 },
      { type: "text_delta", contentIndex: 0, delta: "only a piece" },
      done({
        content: [
          text("A"),
          null,
          { type: "video" },
          { type: "text", text: 5 },
          { type: "toolCall", name: "bash", arguments: cyclic },
          { type: "toolCall", id: "c", name: "bash", arguments: { n: 1, f: () => 1 } },
          { type: "toolCall", id: "c", name: "bash", arguments: {} },
        ],
        usage: { input: -1, output: Number.NaN, cacheRead: "many" },
        stopReason: "stop",
      }),
    ),
  );
  assert.deepEqual(events, ["start", "text_delta only a piece", "done"]);
  const calls = answer.content.filter((block) => block.type === "toolCall");
  assert.deepEqual(answer.content.slice(0, 2), [text("A"), text("")]);
  assert.deepEqual(
    calls.map(({ arguments: args, argumentsError }) => [args, argumentsError]),
    [
      [{}, "The arguments are no JSON object."],
      [{ n: 1 }, undefined],
      [{}, undefined],
    ],
  );
  assert.equal(new Set(calls.map(({ id }) => id)).size, 3, "each call has an id of its own");
  assert.equal(answer.usage.totalTokens, 0);
  assert.equal((await answerOf(() => streamOf(done(hostile)))).answer.errorMessage, "hands off");
  assert.equal((await answerOf(() => streamOf(done({ stopReason: "pending" })))).answer.stopReason, "error");
});
