/** What goes over the wire for a session that another program has written. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SessionManager } from "../../src/session/session-manager.ts";
import { startHarness, tool } from "../support/agent-harness.ts";
import { say } from "../support/provider-mock.ts";
import { temporaryFile } from "../support/session-files.ts";
import { HEADER, file, line, message } from "../support/session-lines.ts";

const declared = (name: string): object => ({
  name,
  description: name,
  parameters: { type: "object", properties: {} },
});
const system = (content: string, fields: object): object => ({ role: "system", content, timestamp: 0, ...fields });
const stored = (id: string, parentId: string | null, content: string, fields: object): string =>
  line("message", id, parentId, { message: system(content, fields) });

/** Before a question and after it, and in a compaction that keeps the question. */
const SYSTEM_MESSAGES = {
  before: stored("s1", null, "You are another program.", { toolsAdded: [declared("weave")], sections: { os: "a" } }),
  after: stored("s2", "u1", "", { toolsRemoved: [{ name: "weave" }], sections: { os: "b" } }),
  inCompaction: { systemMessage: system("You are another program.", { toolsAdded: [declared("spin")] }) },
};
const NONE: typeof SYSTEM_MESSAGES = {
  before: line("custom", "s1", null, { customType: "x" }),
  after: line("custom", "s2", "u1", { customType: "x" }),
  inCompaction: { systemMessage: {} },
};

const sessionWith = (id: string, { before, after, inCompaction }: typeof SYSTEM_MESSAGES): Promise<SessionManager> => {
  const compaction = { summary: "They said u1.", firstKeptEntryId: "u1", tokensBefore: 9, ...inCompaction };
  const lines = [before, message("u1", "s1"), after, line("compaction", "c1", "s2", compaction)];
  return SessionManager.open(temporaryFile(file(HEADER.replace("s1", id), ...lines)));
};

test("[F3, C2] a prompt and tools that pi stored are not sent beside ours, and do not count", async (t) => {
  const manager = await sessionWith("with", SYSTEM_MESSAGES);
  const { session, server } = await startHarness(t, {
    manager,
    replies: say("ok"),
    systemPrompt: () => "You are bough.",
    tools: () => [tool("echo", () => "")],
  });
  const plain = await startHarness(t, { manager: await sessionWith("without", NONE) });
  assert.deepEqual(session.getContextUsage(), plain.session.getContextUsage());
  assert.deepEqual(
    session.messages.map(({ role }) => role),
    ["system", "compactionSummary", "user"],
    "the context has it",
  );

  await session.prompt("Go on");
  const { messages, tools } = server.requests[0]!.body;
  assert.deepEqual(
    messages.map(({ role, content }) => (role === "user" ? role : `${role}: ${String(content)}`)),
    ["system: You are bough.", "user", "user", "user"],
  );
  assert.deepEqual(
    tools?.map(({ function: { name } }) => name),
    ["echo"],
  );
});

test("[C3] dB48 dB49 whatever the system prompt, a tool or a prompt to be named by holds, each request is well-formed", async (t) => {
  const odd = "a\0b \ud83d c";
  const naming = await startHarness(t, { replies: say("A name") });
  const { session, server } = await startHarness(t, {
    registry: naming.registry,
    smallModel: naming.model,
    replies: say("ok"),
    systemPrompt: () => odd,
    tools: () => [{ ...tool("echo", () => ""), description: odd }],
  });
  await session.prompt(odd);
  await session.dispose();
  const bodies = [...server.requests, ...naming.server.requests].map(({ body }) => JSON.stringify(body));
  const counts = bodies.map((body) => [body.split("a\u2400b \ufffd c").length - 1, /\\u0000|\\ud83d/.test(body)]);
  assert.deepEqual(counts, [
    [3, false],
    [1, false],
  ]);
});
