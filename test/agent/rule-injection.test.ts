/** Rules at work: the answer is stopped and kept, the rule is told on its branch, the model is asked harness. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { readRule } from "../../src/agent/rule-files.ts";
import type { StreamRule } from "../../src/agent/rule-files.ts";
import { textOf } from "../../src/tree/content.ts";
import { fileLines, noticesOf, outlineOf, sentMessages, startHarness, tool } from "../support/agent-harness.ts";
import type { Harness, HarnessOptions } from "../support/agent-harness.ts";
import { callTools, fail, hangAfter, say } from "../support/provider-mock.ts";
import type { Reply } from "../support/provider-mock.ts";

function rule(name: string, condition: string, ...head: string[]): StreamRule {
  const text = ["---", `condition: ${condition}`, ...head, "---", `Mind ${name}.`].join("\n");
  return readRule({ path: `/r/${name}.md`, text }).rule!;
}
const LOGS = rule("no-logs", "console\\.log");
const LONG = "x".repeat(70);
const TOLD =
  "Your answer was stopped and is not part of this conversation: it went against a rule of the user's. " +
  'Answer again, and keep to it:\n\n<rule name="no-logs">\nMind no-logs.\n</rule>';

const start = (t: TestContext, options: HarnessOptions): Promise<Harness> =>
  startHarness(t, { tools: () => [tool("bash", () => "ran")], ...options });
const triggered = ({ events }: Harness): object[] => events.filter(({ type }) => type === "ttsr_triggered");

test("[P2, C3] a match over two deltas stops the answer; its part is kept, the rule told, the model asked again", async (t) => {
  const harness = await start(t, {
    rules: [LOGS],
    replies: [
      (response, request) => {
        hangAfter("I use console.lo")(response, request);
        const delta = { choices: [{ index: 0, delta: { content: `g here${LONG}` }, finish_reason: null }] };
        const event = { id: "m", object: "chat.completion.chunk", created: 1, model: "mock", ...delta };
        response.write(`data: ${JSON.stringify(event)}\n\n`);
        // And then it is silent: what ends the answer is the rule.
      },
      say("I use the logger."),
    ],
  });
  await harness.session.prompt("Go");
  const path = harness.manager.getBranch();
  assert.deepEqual(outlineOf(path), [
    "model_change",
    "user: Go",
    "session_info",
    `assistant aborted: I use console.log here${LONG}`,
    "ttsr_injection",
    "custom_message",
    "assistant stop: I use the logger.",
  ]);
  const [stopped, injection, told] = path.slice(3);
  assert.ok(stopped?.type === "message" && stopped.message.role === "assistant");
  assert.equal(stopped.message.errorMessage, "Stopped by the rule no-logs.");
  assert.deepEqual(injection?.type === "ttsr_injection" && injection.injectedRules, ["no-logs"]);
  assert.ok(told?.type === "custom_message");
  assert.deepEqual([told.customType, told.display, told.details], ["ttsr-injection", false, { rules: ["no-logs"] }]);
  assert.equal(textOf(told.content), TOLD);
  assert.deepEqual(sentMessages(harness.server.requests[1]), ["user Go", `user ${TOLD}`]);
  assert.deepEqual(triggered(harness), [{ type: "ttsr_triggered", rules: ["no-logs"], stopped: true }]);
  assert.deepEqual(noticesOf(harness.events), []);
});

test("[P2] an answer that has come whole before the rule is read is stopped all the same: its calls do not run", async (t) => {
  let ran = 0;
  const harness = await start(t, {
    rules: [rule("no-rm", "rm -rf", "scope: tool:bash")],
    tools: () => [tool("bash", () => `ran ${++ran}`)],
    replies: [
      callTools({ id: "c1", name: "bash", arguments: { command: "rm -rf /", note: LONG } }),
      callTools({ id: "c2", name: "bash", arguments: { command: "ls" } }),
      say("done"),
    ],
  });
  await harness.session.prompt("Clean");
  assert.deepEqual(outlineOf(harness.manager.getBranch()).slice(3), [
    "assistant aborted: [bash]",
    "ttsr_injection",
    "custom_message",
    "assistant toolUse: [bash]",
    "result c2: ran 1",
    "assistant stop: done",
  ]);
  assert.deepEqual(
    harness.server.requests.map((request) => sentMessages(request).length),
    [1, 2, 4],
  );
});

test("[P2] a rule is not told twice on a path, also after it is opened again, and is armed on a branch from before", async (t) => {
  const harness = await start(t, {
    rules: [LOGS],
    replies: [say("console.log 1"), say("console.log 2"), say("console.log 3"), say("console.log 4"), say("fine")],
  });
  const { session, manager } = harness;
  await session.prompt("One");
  await session.prompt("Two");
  assert.deepEqual(outlineOf(manager.getBranch()).slice(3), [
    "assistant aborted: console.log 1",
    "ttsr_injection",
    "custom_message",
    "assistant stop: console.log 2",
    "user: Two",
    "assistant stop: console.log 3",
  ]);
  const first = manager.getBranch()[1]!;
  await session.navigateTree(first.id);
  await session.prompt("Another one");
  assert.deepEqual(outlineOf(manager.getBranch()).slice(1), [
    "user: Another one",
    "assistant aborted: console.log 4",
    "ttsr_injection",
    "custom_message",
    "assistant stop: fine",
  ]);
  await session.switchSession(manager.getSessionFile()!);
  assert.deepEqual(session.sessionManager.buildSessionContext().injectedTtsrRules, ["no-logs"]);
});

test("[P2] a rule that does not interrupt is told when the answer and its results are there", async (t) => {
  const quiet = rule("quiet", "bad", "interrupt: never");
  const harness = await start(t, {
    rules: [quiet],
    replies: [callTools({ id: "c1", name: "bash", arguments: { command: "bad" } }), say("Sorry."), say("Bye.")],
  });
  await harness.session.prompt("Go");
  assert.deepEqual(outlineOf(harness.manager.getBranch()).slice(3), [
    "assistant toolUse: [bash]",
    "result c1: ran",
    "ttsr_injection",
    "custom_message",
    "assistant stop: Sorry.",
  ]);
  assert.match(sentMessages(harness.server.requests[1]).at(-1)!, /^user Your last answer went against a rule/);
  assert.deepEqual(triggered(harness), [{ type: "ttsr_triggered", rules: ["quiet"], stopped: false }]);
});

test("[P2] an answer without calls is followed by one that knows the rule; queued messages come along", async (t) => {
  const harness = await start(t, {
    rules: [rule("quiet", "bad", "interrupt: tool-only")],
    replies: [say("bad"), say("better"), say("later")],
    onRequest: (_request, n, { session }) => {
      if (n === 0) session.followUp("And then");
      if (n === 0) session.steer("But first");
    },
  });
  await harness.session.prompt("Go");
  assert.deepEqual(outlineOf(harness.manager.getBranch()).slice(3), [
    "assistant stop: bad",
    "ttsr_injection",
    "custom_message",
    "user: But first",
    "assistant stop: better",
    "user: And then",
    "assistant stop: later",
  ]);
});

test("[P2] rules that wait are dropped with an answer that failed", async (t) => {
  const harness = await start(t, {
    rules: [rule("quiet", "bad", "interrupt: never")],
    replies: [
      async (response, request) => {
        await hangAfter(`bad${LONG}`)(response, request);
        await new Promise((resolve) => setTimeout(resolve, 20));
        response.destroy();
      },
      say("fine"),
    ],
  });
  await harness.session.prompt("Go");
  assert.deepEqual(outlineOf(harness.manager.getBranch()).slice(3), [
    `assistant error: bad${LONG}`,
    "assistant stop: fine",
  ]);
  assert.deepEqual(triggered(harness), []);
});

test("[P2] a rule may be told again after a gap of messages, and a run ends for all that", async (t) => {
  const call = callTools({ id: "c", name: "bash", arguments: { command: "bad" } });
  const harness = await start(t, {
    rules: [rule("often", "bad", "repeat: after-gap", "gap: 1")],
    replies: [...Array.from({ length: 25 }, () => call), say("done")],
  });
  await harness.session.prompt("Go");
  assert.equal(triggered(harness).length, 10);
  assert.deepEqual(noticesOf(harness.events), [
    "warning: Rules were given ten times in this turn; they rest until its end.",
  ]);
  assert.equal(harness.server.requests.length, 26);

  const seldom = await start(t, {
    rules: [rule("seldom", "bad", "repeat: after-gap", "gap: 3")],
    replies: say("bad"),
  });
  for (const prompt of ["1", "2", "3"]) await seldom.session.prompt(prompt);
  assert.deepEqual(outlineOf(seldom.manager.getBranch()).slice(1), [
    "user: 1",
    "session_info",
    "assistant aborted: bad",
    "ttsr_injection",
    "custom_message",
    "assistant stop: bad",
    "user: 2",
    "assistant stop: bad",
    "user: 3",
    "assistant aborted: bad",
    "ttsr_injection",
    "custom_message",
    "assistant stop: bad",
  ]);
});

test("[P2] a condition that takes for ever is told once and rests; a failed request is retried as ever", async (t) => {
  const harness = await start(t, {
    rules: [rule("slow", "(a+)+$"), LOGS],
    replies: [fail(500, "busy"), say(`${"a".repeat(40)}! console.log`), say(`${"a".repeat(40)}!`)],
  });
  await harness.session.prompt("Go");
  assert.deepEqual(noticesOf(harness.events), [
    "warning: /r/slow.md:2: the condition of the rule slow took too long on this answer; the rule is off until bough starts again.",
  ]);
  assert.deepEqual(
    outlineOf(harness.manager.getBranch())
      .slice(3)
      .map((line) => line.replaceAll("a".repeat(40), "aaa")),
    [
      "assistant error: ",
      "assistant aborted: aaa! console.log",
      "ttsr_injection",
      "custom_message",
      "assistant stop: aaa!",
    ],
  );
});

test("[P2] the user's own stop ends the turn; no rule is told after it", async (t) => {
  const harness = await start(t, {
    rules: [LOGS],
    replies: [hangAfter("thinking about it"), say("never")] satisfies Reply[],
  });
  const { session } = harness;
  session.subscribe((event) => {
    if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta") void session.abort();
  });
  await session.prompt("Go");
  assert.deepEqual(outlineOf(harness.manager.getBranch()).slice(3), ["assistant aborted: thinking about it"]);
});

test("[P2, W2] what a rule has written is in the file when the next request arrives", async (t) => {
  const seen: string[][] = [];
  const harness = await start(t, {
    rules: [LOGS],
    replies: [say("console.log"), say("fine")],
    onRequest: (_request, _n, { manager }) => seen.push(fileLines(manager).map(({ type }) => type)),
  });
  await harness.session.prompt("Go");
  assert.deepEqual(seen[1]?.slice(-3), ["message", "ttsr_injection", "custom_message"]);
});
