/** Sessions that hold compactions, as people have found them broken elsewhere. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { prepareCompaction } from "../../src/agent/compaction-preparation.ts";
import { DEFAULT_COMPACTION } from "../../src/agent/compaction-settings.ts";
import { convertToLlm } from "../../src/tree/messages.ts";
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "../../src/tree/messages.ts";
import { textOf } from "../../src/tree/content.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { sentMessages, startHarness } from "../support/agent-harness.ts";
import { trackSession } from "../support/laws.ts";
import { say } from "../support/provider-mock.ts";
import { assistant, temporaryFolder, user } from "../support/session-files.ts";
import { assertValidRequest } from "../support/valid-request.ts";

const calling = (id: string): AssistantMessage => ({
  ...assistant(""),
  content: [{ type: "toolCall", id, name: "read", arguments: { path: "a.ts" } }],
  stopReason: "toolUse",
});
const result = (toolCallId: string): ToolResultMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "read",
  content: [{ type: "text", text: `result of ${toolCallId}` }],
  isError: false,
  timestamp: 1,
});
const textsOf = (messages: readonly AgentMessage[]): string[] =>
  messages.map((message) =>
    message.role === "compactionSummary"
      ? `S: ${message.summary}`
      : "content" in message
        ? textOf(message.content)
        : "",
  );

test("[K2, C4] dB36 a jump between two compactions gives the whole first summary, and no entry is altered", async (t) => {
  const manager = trackSession(t, SessionManager.create(temporaryFolder(), temporaryFolder()));
  const first = manager.appendMessage(user("one"));
  manager.appendMessage(assistant("one done"));
  manager.appendCompaction("S1 ".repeat(1_000), first, 10);
  const between = manager.appendMessage(user("two"));
  const answer = manager.appendMessage(assistant("two done"));
  manager.appendCompaction("S2", between, 20);
  const before = structuredClone(manager.getEntries());
  const { session } = await startHarness(t, { manager, replies: say("three") });
  await session.navigateTree(answer);
  assert.deepEqual(textsOf(session.messages), [`S: ${"S1 ".repeat(1_000)}`, "one", "one done", "two", "two done"]);
  assert.deepEqual(manager.getEntries().slice(0, before.length), before);
});

test("[C3, K2] dB38 a compaction between call and result parts no pair, nor does the next one", () => {
  const manager = SessionManager.inMemory();
  const prompt = manager.appendMessage(user("one"));
  manager.appendMessage(calling("x"));
  manager.appendCompaction("S1", prompt, 10);
  manager.appendMessage(result("x"));
  manager.appendMessage(assistant("seen"));
  manager.appendMessage(user("two"));
  for (const keepRecentTokens of [1, 2, 4, 6, 8, 12, 100]) {
    const preparation = prepareCompaction(manager.getBranch(), {
      settings: { ...DEFAULT_COMPACTION, keepRecentTokens },
      tokensBefore: 1,
    });
    if (preparation.kind === "ready") {
      const id = manager.appendCompaction("S2", preparation.preparation.firstKeptEntryId, 20);
      const repairs: string[] = [];
      const messages = convertToLlm(manager.buildSessionContext().messages, {
        onRepair: ({ kind }) => repairs.push(kind),
      });
      assertValidRequest(messages);
      assert.deepEqual(
        repairs.filter((kind) => kind !== "first-answer"),
        [],
      );
      manager.branch(manager.getEntry(id)!.parentId!);
    }
  }
  // The older compaction does not stand in the middle of the pair that is kept around it.
  manager.appendCompaction("S2", prompt, 20);
  assert.deepEqual(
    manager.buildSessionContext().messages.map(({ role }) => role),
    ["compactionSummary", "user", "assistant", "toolResult", "assistant", "user"],
  );
});

test("[C3, K2] dB40 an unanswered call at the cut, and at the end of a branch, is answered with a note", async (t) => {
  const manager = SessionManager.inMemory();
  manager.appendMessage(user("one"));
  const call = manager.appendMessage(calling("x"));
  const { session, server } = await startHarness(t, { manager, replies: say("done") });
  await session.prompt("two");
  assert.deepEqual(sentMessages(server.requests[0]).slice(1), [
    "assistant [1 calls]",
    "tool x interrupted, no result",
    "user two",
  ]);
  manager.appendCompaction("S1", call, 10);
  const messages = convertToLlm(session.messages);
  assertValidRequest(messages);
  assert.deepEqual(
    messages.map(({ role }) => role),
    ["user", "assistant", "toolResult", "user", "assistant"],
  );
  const branched = manager.createBranchedSession(call);
  assert.equal(branched, undefined);
  assertValidRequest(convertToLlm(manager.buildSessionContext().messages));
});

test("[K2] dB41 a branch that ends in five empty failures is compacted, and its prompt is sent", async (t) => {
  const manager = SessionManager.inMemory();
  manager.appendMessage(user("one"));
  manager.appendMessage(assistant("done"));
  manager.appendMessage(user("two"));
  for (let n = 0; n < 5; n++)
    manager.appendMessage({ ...assistant(""), content: [], stopReason: "error", errorMessage: "overloaded" });
  const { session, server } = await startHarness(t, {
    manager,
    compaction: { ...DEFAULT_COMPACTION, keepRecentTokens: 1 },
    replies: [say("S1"), say("three")],
  });
  await session.compact();
  await session.prompt("three");
  assert.deepEqual(sentMessages(server.requests[1]).slice(1), ["user two", "user three"]);
});

test("[C4, T7] dB44 a copy of a compacted branch keeps the pointer and the tail it names", async (t) => {
  const manager = trackSession(t, SessionManager.create(temporaryFolder(), temporaryFolder()));
  manager.appendMessage(user("one"));
  const labelled = manager.appendMessage(assistant("one done"));
  // What the compaction keeps first is left out of a copy: labels are made anew there.
  const label = manager.appendLabelChange(labelled, "here");
  manager.appendMessage(user("two"));
  manager.appendMessage(assistant("two done"));
  manager.appendCompaction("S1", label, 10);
  const leaf = manager.appendMessage(user("three"));
  const { messages } = manager.buildSessionContext();
  const { session } = await startHarness(t, { manager, replies: say("done") });
  await session.clone();
  assert.notEqual(manager.getEntry(leaf), undefined);
  assert.deepEqual(manager.buildSessionContext().messages, messages);
  assert.deepEqual(textsOf(messages), ["S: S1", "two", "two done", "three"]);
  assert.deepEqual(manager.getProblems(), []);
});
