/** MCP tools in a session: called by a model over HTTP, chosen branch by branch, told of when they are missing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { McpServerConfig } from "../../src/agent/mcp/mcp-config.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { fileLines, nextEvent, noticesOf, outlineOf, startHarness } from "../support/agent-harness.ts";
import { BAD_SERVER } from "../support/mcp-bad-server.ts";
import { TOOL_SERVER } from "../support/mcp-tool-server.ts";
import { callTools, say } from "../support/provider-mock.ts";
import type { ReceivedRequest } from "../support/provider-mock.ts";

const server = (name: string, ...args: string[]): McpServerConfig => ({
  name,
  source: "mcp.json",
  disabled: false,
  endpoint: { kind: "stdio", command: process.execPath, args, env: {}, cwd: undefined },
  problem: undefined,
  timeoutMs: undefined,
});

const offered = (request: ReceivedRequest | undefined): string[] =>
  (request?.body.tools ?? []).map(({ function: { name } }) => name).sort();
const ADD = "mcp__calc__add";
const REST = ["environment", "exit", "fail", "kinds", "learn", "repeat", "slow", "structured", "where"].map(
  (name) => `mcp__calc__${name}`,
);

test("[P3] a model calls a tool of a server that was still starting when it was asked", async (t) => {
  const {
    session,
    server: provider,
    manager,
  } = await startHarness(t, {
    replies: [callTools({ id: "c1", name: ADD, arguments: { a: 20, b: 22 } }), say("It is 42.")],
    mcp: { servers: [server("calc", TOOL_SERVER)], waitMs: 20_000 },
  });
  await session.prompt("Add them.");
  assert.deepEqual(offered(provider.requests[0]), [ADD, ...REST].sort());
  assert.deepEqual(outlineOf(manager.getBranch()).slice(-3), [
    `assistant toolUse: [${ADD}]`,
    "result c1: 42",
    "assistant stop: It is 42.",
  ]);
});

test("[P3, C1] the choice belongs to the branch: jumps, another branch and a resume bring back each its own", async (t) => {
  const {
    session,
    server: provider,
    manager,
    events,
  } = await startHarness(t, {
    replies: [say("ok")],
    mcp: { servers: [server("calc", TOOL_SERVER)], waitMs: 20_000 },
  });
  await session.prompt("one");
  const fork = manager.getLeafId()!;
  session.mcp.select([ADD]);
  assert.deepEqual(fileLines(manager).at(-1)?.["selectedToolNames"], [ADD]);
  await session.prompt("two");
  const chosen = manager.getLeafId()!;
  assert.deepEqual(offered(provider.requests.at(-1)), [ADD]);

  events.length = 0;
  await session.navigateTree(fork);
  assert.deepEqual(session.mcp.servers[0]?.tools.filter(({ isSelected }) => isSelected).length, REST.length + 1);
  await session.prompt("three");
  assert.deepEqual(offered(provider.requests.at(-1)), [ADD, ...REST].sort());
  session.mcp.select([]);
  await session.prompt("four");
  assert.deepEqual(offered(provider.requests.at(-1)), []);

  await session.navigateTree(chosen);
  await session.prompt("five");
  assert.deepEqual(offered(provider.requests.at(-1)), [ADD]);
  assert.equal(events.filter(({ type }) => type === "tool_selection_changed").length, 3);

  const again = await SessionManager.open(manager.getSessionFile()!, { readOnly: true });
  assert.deepEqual(again.buildSessionContext().mcpToolSelection, [ADD]);
  assert.deepEqual(again.buildSessionContext(fork).mcpToolSelection, undefined);
  await again.close();
});

test("[P3] a choice that changes nothing is not recorded, and a chosen tool that is gone stays chosen, told once", async (t) => {
  const manager = SessionManager.inMemory();
  manager.appendMCPToolSelection(["mcp__gone__tool", ADD]);
  const {
    session,
    events,
    server: provider,
  } = await startHarness(t, {
    replies: [say("ok")],
    manager,
    mcp: { servers: [server("calc", TOOL_SERVER)], waitMs: 20_000 },
  });
  await session.prompt("one");
  await session.prompt("two");
  assert.deepEqual(offered(provider.requests.at(-1)), [ADD]);
  assert.deepEqual(noticesOf(events), [
    "warning: Chosen on this branch, but not here now: mcp__gone__tool. They stay chosen.",
  ]);
  const before = manager.getEntries().length;
  session.mcp.select([ADD]);
  assert.equal(manager.getEntries().length, before);
  session.mcp.select(REST);
  assert.deepEqual([...(session.state.mcpToolSelection ?? [])].sort(), ["mcp__gone__tool", ...REST].sort());
});

test("[P3] servers that fail or hang are told of once, and the turn goes on without them", async (t) => {
  const {
    session,
    events,
    server: provider,
  } = await startHarness(t, {
    replies: [say("ok")],
    mcp: { servers: [server("dies", BAD_SERVER, "dies"), server("hang", BAD_SERVER, "hang")], waitMs: 1 },
  });
  if (session.mcp.servers[0]?.status === "starting") await nextEvent(session, "notice");
  await session.prompt("one");
  await session.prompt("two");
  assert.deepEqual(offered(provider.requests.at(-1)), []);
  assert.deepEqual(noticesOf(events), [
    'warning: The MCP server "dies" does not work: it ended with exit code 1; its last words: cannot find module. /mcp shows its state and starts it again.',
    'warning: Not ready yet: the MCP server "hang"; the model gets what it offers with a later prompt.',
  ]);
});

test("[P3] a server that dies in the middle of a turn gives an error result, and the turn goes on", async (t) => {
  const { session, manager } = await startHarness(t, {
    replies: [
      callTools(
        { id: "c1", name: "mcp__calc__exit", arguments: {} },
        { id: "c2", name: "mcp__calc__nothing", arguments: {} },
      ),
      callTools({ id: "c3", name: ADD, arguments: { a: 1, b: 2 } }),
      say("done"),
    ],
    mcp: { servers: [server("calc", TOOL_SERVER)], waitMs: 20_000 },
  });
  await session.prompt("go");
  assert.deepEqual(
    outlineOf(manager.getBranch())
      .filter((row) => row.startsWith("result"))
      .sort(),
    [
      'result c1: The MCP server "calc" did not answer the call: it ended with exit code 7; its last words: out of cheese.',
      "result c2: Tool mcp__calc__nothing not found",
      "result c3: 3",
    ],
  );
});
