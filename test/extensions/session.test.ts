import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { ExtensionAPI, ExtensionFactory } from "../../src/extensions/api.ts";
import type { SessionEntry } from "../../src/tree/entries.ts";
import { outlineOf, sentMessages, startHarness } from "../support/agent-harness.ts";
import type { Harness, HarnessOptions } from "../support/agent-harness.ts";
import { extensionHost } from "../support/extension-harness.ts";
import type { HostHarness } from "../support/extension-harness.ts";
import { callTools, say } from "../support/provider-mock.ts";

/** A real session with these extensions, begun. */
async function setUp(
  t: TestContext,
  extensions: ExtensionFactory | readonly ExtensionFactory[],
  options: HarnessOptions = {},
): Promise<Harness & Pick<HostHarness, "host" | "errors" | "told">> {
  const { host, errors, told } = await extensionHost(t, { inline: [extensions].flat(), mode: "rpc" });
  const harness = await startHarness(t, { hooks: host, extendTools: (tools) => host.tools.merged(tools), ...options });
  host.attach(harness.session);
  await harness.session.begin();
  return { ...harness, host, errors, told };
}

const idsOf = (entries: readonly SessionEntry[], type: string): string[] =>
  entries.filter((entry) => entry.type === type).map(({ id }) => id);

test("[X1, X2] an extension's tool, gate and state in a real turn", async (t) => {
  const heard: string[] = [];
  const extension = (pi: ExtensionAPI): void => {
    for (const name of [
      "session_start",
      "agent_start",
      "turn_start",
      "turn_end",
      "agent_end",
      "agent_settled",
    ] as const)
      pi.on(name as "agent_start", (event) => void heard.push(event.type));
    pi.registerTool({
      name: "add",
      label: "Add",
      executionMode: "sequential",
      description: "Adds.",
      parameters: { type: "object", properties: { a: { type: "number" } }, required: ["a"] } as never,
      execute: async (_id, params) => {
        pi.appendEntry("added", params);
        return { content: [{ type: "text", text: JSON.stringify(params) }], details: undefined };
      },
    });
    pi.on("tool_call", ({ input }) => {
      if (input["a"] === 2) return { block: true, reason: "Not two." };
      input["a"] = Number(input["a"]) + 10;
    });
    pi.on("tool_result", ({ content, isError }) =>
      isError ? undefined : { content: [...content, { type: "text", text: "!" }] },
    );
    pi.on("context", ({ messages }) => ({
      messages: [...messages, { role: "user", content: "Be quick", timestamp: 1 }],
    }));
    pi.on("before_agent_start", () => ({ message: { customType: "note", content: "Noted", display: false } }));
  };
  const { session, manager, server, errors } = await setUp(t, extension, {
    replies: [
      callTools({ id: "c1", name: "add", arguments: { a: 1 } }, { id: "c2", name: "add", arguments: { a: 2 } }),
      say("Done"),
    ],
  });
  await session.prompt("Add");
  assert.deepEqual(errors, []);
  assert.deepEqual(
    outlineOf(manager.getBranch()).filter((line) => !/_change$|^session_info$/.test(line)),
    [
      "user: Add",
      "custom_message",
      "assistant toolUse: [add] [add]",
      "custom",
      'result c1: {"a":11}!',
      "result c2: Not two.",
      "assistant stop: Done",
    ],
  );
  assert.deepEqual(sentMessages(server.requests[0]), ["user Add", "user Noted", "user Be quick"]);
  assert.deepEqual(heard, [
    "session_start",
    "agent_start",
    "turn_start",
    "turn_end",
    "turn_start",
    "turn_end",
    "agent_end",
    "agent_settled",
  ]);
});

test("[X1, N1] a command walks the tree; extensions may cancel the walk or write the summary", async (t) => {
  const answers: unknown[] = [];
  const seen: unknown[] = [];
  const extension = (pi: ExtensionAPI): void => {
    pi.on("session_before_tree", ({ preparation }) => {
      seen.push(["before", preparation.userWantsSummary, preparation.entriesToSummarize.length]);
      return answers.shift() as never;
    });
    pi.on("session_tree", (event, ctx) => {
      seen.push(["after", event.fromExtension, ctx.sessionManager.getLeafId() === event.newLeafId]);
    });
    pi.registerCommand("walk", {
      handler: async (args, ctx) => {
        await ctx.waitForIdle();
        const [first] = ctx.sessionManager.getTree();
        seen.push(first!.children.length);
        seen.push(await ctx.navigateTree(args, { summarize: true }));
      },
    });
  };
  const { session, manager, host, errors } = await setUp(t, extension, { replies: [say("One"), say("Two")] });
  await session.prompt("First");
  await session.prompt("Second");
  const target = idsOf(manager.getBranch(), "message")[1]!;
  const leaf = manager.getLeafId();
  answers.push({ cancel: true }, { summary: { summary: "All that was" } });
  await host.runCommand("walk", target);
  assert.deepEqual([manager.getLeafId(), seen.splice(0)], [leaf, [1, ["before", true, 2], { cancelled: true }]]);
  await host.runCommand("walk", target);
  const summary = manager.getLeafEntry();
  assert.ok(summary?.type === "branch_summary");
  assert.deepEqual([summary.summary, summary.fromExtension, summary.parentId], ["All that was", true, target]);
  assert.deepEqual(seen, [1, ["before", true, 2], ["after", true, true], { cancelled: false, summaryEntry: summary }]);
  assert.deepEqual(errors, []);
});

test("[X1, B1] commands branch, begin anew and resume; both families hear of it", async (t) => {
  const heard: unknown[] = [];
  const extension = (pi: ExtensionAPI): void => {
    for (const name of [
      "session_shutdown",
      "session_start",
      "session_switch",
      "session_branch",
      "session_fork",
    ] as const)
      pi.on(name as "session_start", (event) => void heard.push([event.type, event.reason]));
    pi.on("session_before_fork", ({ position }) => void heard.push(["session_before_fork", position]));
    pi.on("session_before_switch", ({ reason }) => void heard.push(["session_before_switch", reason]));
    pi.registerCommand("branch-it", { handler: (id, ctx) => ctx.branch(id) });
    pi.registerCommand("anew", {
      handler: (_args, ctx) =>
        ctx.newSession({
          setup: (sm) => void sm.appendCustomEntry("set-up", 1),
          withSession: (other) => other.sendMessage({ customType: "hello", content: "Hello", display: true }),
        }),
    });
    pi.registerCommand("resume", { handler: (path, ctx) => ctx.switchSession(path) });
  };
  const { session, manager, host, errors } = await setUp(t, extension, { replies: say("One") });
  await session.prompt("First");
  await session.prompt("Second");
  const second = idsOf(manager.getBranch(), "message")[2]!;
  const file = manager.getSessionFile()!;
  heard.length = 0;
  await host.runCommand("branch-it", second);
  assert.notEqual(manager.getSessionFile(), file);
  assert.deepEqual(heard.splice(0), [
    ["session_before_fork", "before"],
    ["session_shutdown", "fork"],
    ["session_start", "fork"],
    ["session_branch", undefined],
    ["session_fork", undefined],
  ]);
  await host.runCommand("anew", "");
  assert.deepEqual(
    outlineOf(manager.getBranch()).filter((line) => !/_change$|^session_info$/.test(line)),
    ["custom", "custom_message"],
  );
  await host.runCommand("resume", file);
  assert.equal(manager.getSessionFile(), file);
  assert.deepEqual(heard, [
    ["session_before_switch", "new"],
    ["session_shutdown", "new"],
    ["session_start", "new"],
    ["session_switch", "new"],
    ["session_before_switch", "resume"],
    ["session_shutdown", "resume"],
    ["session_start", "resume"],
    ["session_switch", "resume"],
  ]);
  assert.deepEqual(errors, []);
});

test("[X1] /reload from a command, with the session as it is", async (t) => {
  const heard: string[] = [];
  const { session, host, errors, manager } = await setUp(
    t,
    (pi) => {
      pi.on("session_start", ({ reason }) => void heard.push(`start ${reason}`));
      pi.on("session_shutdown", ({ reason }) => void heard.push(`shutdown ${reason}`));
      pi.registerCommand("again", { handler: (_args, ctx) => ctx.reload() });
    },
    { replies: say("One") },
  );
  await session.prompt("First");
  const leaf = manager.getLeafId();
  await host.runCommand("again", "");
  assert.deepEqual(heard, ["start startup", "shutdown reload", "start reload"]);
  assert.deepEqual([manager.getLeafId(), errors], [leaf, []]);
});

test("[X1, K3] an extension sees a compaction come, has its say, and sees it done", async (t) => {
  const seen: unknown[] = [];
  const long = "words ".repeat(4000);
  const extension = (pi: ExtensionAPI): void => {
    pi.on("session_before_compact", ({ reason, preparation, branchEntries }) => {
      seen.push([reason, preparation.messagesToSummarize.length > 0, branchEntries.length > 0]);
    });
    pi.on("session.compacting", () => ({ context: ["Mind the gap"], preserveData: { mine: 1 } }));
    pi.on("session_compact", ({ compactionEntry, fromExtension }) => {
      seen.push([compactionEntry.summary.includes("Summary"), compactionEntry.preserveData, fromExtension]);
    });
    pi.registerCommand("shorten", {
      handler: (_args, ctx) =>
        ctx.compact({ onComplete: () => seen.push("done"), onError: (error) => seen.push(error.message) }),
    });
  };
  const { session, host, server, errors } = await setUp(t, extension, {
    replies: [say(long), say(long), say("Summary")],
    compaction: { enabled: false, reserveTokens: 100, keepRecentTokens: 10 },
  });
  await session.prompt("First");
  await session.prompt("Second");
  await host.runCommand("shorten", "");
  assert.deepEqual(seen, [["manual", true, true], [true, { mine: 1 }, false], "done"]);
  assert.ok(JSON.stringify(server.requests[2]!.body).includes("Mind the gap"));
  assert.deepEqual(errors, []);
});
