/** The way out when a provider refuses the conversation. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isRejection, rejectedMessage } from "../../src/agent/rejection.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import type { AssistantMessage, Message } from "../../src/tree/messages.ts";
import { noticesOf, outlineOf, sentMessages, startHarness } from "../support/agent-harness.ts";
import type { Harness, HarnessOptions } from "../support/agent-harness.ts";
import { fail, say } from "../support/provider-mock.ts";
import type { Reply } from "../support/provider-mock.ts";
import { assistant, user } from "../support/session-files.ts";
import type { TestContext } from "node:test";

test("[C3] refusals of the messages are told from other errors", () => {
  const refusals = [
    '400 {"type":"error","error":{"type":"invalid_request_error","message":"messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1"}}',
    "OpenAI API error (400): 400 Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    "OpenAI API error (400): 400 Invalid value for 'messages[3].content[0].image_url': image data is broken",
    "Google API error (400): Please ensure that the number of function response parts is equal to the number of function call parts",
    "422 Unprocessable: input[4].id: expected an id that begins with 'rs'",
    "400 messages.3.content.0: Invalid `signature` in `thinking` block",
  ];
  const others = [
    "400 Incorrect API key provided; check the messages in your account",
    '400 {"error":{"message":"out of order"}}',
    "400 model `gpt-9` does not exist",
    "400 max_tokens: 99999 > 8192, see the message limits",
    "400 tools.0.custom.input_schema: input does not match",
    "401 messages.1: no",
    "500 messages.1: tool_use ids were found without tool_result",
    "Connection error.",
    "",
  ];
  assert.deepEqual(
    refusals.map(isRejection),
    refusals.map(() => true),
  );
  assert.deepEqual(
    others.map(isRejection),
    others.map(() => false),
  );
});

test("[C3] the refused message is found by the id of its call, or by its place in what was sent", () => {
  const messages: Message[] = [
    user("one"),
    { ...assistant(""), content: [{ type: "toolCall", id: "call-7", name: "read", arguments: {} }] },
    { role: "toolResult", toolCallId: "call-7", toolName: "read", content: [], isError: false, timestamp: 1 },
    user("two"),
  ];
  const payload = {
    messages: [{ role: "system" }, { role: "user", content: "one" }, {}, {}, { role: "user", content: "two" }],
  };
  assert.equal(rejectedMessage("no result for call-7", messages, undefined), 1);
  assert.equal(rejectedMessage("messages[4].content is wrong", messages, payload), 3);
  const short = structuredClone(messages);
  for (const message of short)
    if (message.role === "assistant" && message.content[0]?.type === "toolCall") message.content[0].id = "4";
  assert.equal(rejectedMessage("messages[4].content is wrong", short, payload), 3);
  assert.equal(rejectedMessage("messages.9 is wrong", messages, payload), undefined);
  assert.equal(rejectedMessage("messages are wrong", messages, payload), undefined);
});

/** An answer of the harness's own model. */
const answer = (fields: Partial<AssistantMessage>): AssistantMessage => ({
  ...assistant("fine"),
  api: "openai-completions",
  provider: "endpoint",
  model: "mock",
  ...fields,
});

/** A session with a tool call in its past. */
async function withCall(t: TestContext, replies: readonly Reply[], options: HarnessOptions = {}): Promise<Harness> {
  const manager = SessionManager.inMemory();
  manager.appendMessage({ ...user("First"), timestamp: 1 });
  const call = { type: "toolCall" as const, id: "call-7", name: "read", arguments: { path: "a.ts" } };
  manager.appendMessage(answer({ content: [call], stopReason: "toolUse", timestamp: 2 }));
  const content = [{ type: "text" as const, text: "the file" }];
  manager.appendMessage({
    role: "toolResult",
    toolCallId: "call-7",
    toolName: "read",
    content,
    isError: false,
    timestamp: 3,
  });
  manager.appendMessage(answer({ timestamp: 4 }));
  return startHarness(t, { manager, replies, ...options });
}

const TURN_AS_TEXT =
  "user This part of the conversation is given as text.\n\n<conversation>\n" +
  '[Assistant tool calls]: read(path="a.ts")\n\n[Tool result]: the file\n</conversation>';

test("[C3] a refused call is sent as text, once, and stays text; the file is untouched", async (t) => {
  const refused = fail(400, "messages.2: tool_use ids were found without tool_result: call-7");
  const harness = await withCall(t, [refused, say("two"), say("three")]);
  const { session, manager, server, events } = harness;
  const before = manager.getEntries();
  await session.prompt("Second");
  assert.deepEqual(sentMessages(server.requests[1]), ["user First", TURN_AS_TEXT, "assistant fine", "user Second"]);
  await session.prompt("Third");
  assert.deepEqual(sentMessages(server.requests[2]).slice(0, 4), [
    "user First",
    TURN_AS_TEXT,
    "assistant fine",
    "user Second",
  ]);
  assert.deepEqual(manager.getEntries().slice(0, before.length), before);
  const entry = before.find((candidate) => outlineOf([candidate])[0] === "assistant toolUse: [read]")!;
  const [notice, ...others] = noticesOf(events);
  assert.deepEqual(others, []);
  assert.ok(notice!.startsWith("warning: The provider refused the conversation ("), notice);
  assert.ok(
    notice!.endsWith(
      `It is asked once more, with entry ${entry.id} as plain text: ` +
        '[Assistant tool calls]: read(path="a.ts")  [Tool result]: the file …',
    ),
    notice,
  );
});

test("[C3] when no message is named, all before the last prompt goes as text", async (t) => {
  const refused = fail(400, "roles must alternate between user and assistant");
  const { session, server } = await withCall(t, [refused, say("two")]);
  await session.prompt("Second");
  assert.deepEqual(sentMessages(server.requests[1]), [
    "user This part of the conversation is given as text.\n\n<conversation>\n[User]: First\n\n" +
      '[Assistant tool calls]: read(path="a.ts")\n\n[Tool result]: the file\n\n[Assistant]: fine\n</conversation>',
    "user Second",
  ]);
});

test("[C3] a provider that refuses the text as well is asked no more, and the last good point is named", async (t) => {
  const refused = fail(400, "messages.2: something about call-7 is wrong");
  const { session, manager, server, events } = await withCall(t, [refused]);
  await session.prompt("Second");
  assert.equal(server.requests.length, 2);
  assert.deepEqual(outlineOf(manager.getBranch()).slice(-3), [
    "user: Second",
    "assistant error: ",
    "assistant error: ",
  ]);
  const [rejected] = events.filter(({ type }) => type === "history_rejected");
  assert.ok(rejected?.type === "history_rejected");
  const named = [rejected.entryId!, rejected.goodEntryId!].map((id) => manager.getEntry(id)!);
  assert.deepEqual(outlineOf(named), ["assistant toolUse: [read]", "user: First"]);
});

test("[C3] errors that are about something else are left as they are", async (t) => {
  const { session, server, events } = await withCall(t, [fail(400, "Incorrect API key provided"), say("no")]);
  await session.prompt("Second");
  assert.equal(server.requests.length, 1);
  assert.deepEqual(noticesOf(events), []);
});
