/** `--mode rpc` as a program: every command, over pipes, against a provider server. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { COMMANDS } from "../../../src/cli/rpc/commands.ts";
import { SessionManager } from "../../../src/session/session-manager.ts";
import { Place, connectedTo, providerFor, savedMessages } from "../../support/command.ts";
import { checkLaws } from "../../support/laws.ts";
import { TOOL_SERVER } from "../../support/mcp-tool-server.ts";
import { callTools, fail, hangAfter, say } from "../../support/provider-mock.ts";
import { rpcClient } from "../../support/rpc-client.ts";
import { SECRETS } from "../../support/secrets.ts";
import type { OutLine } from "../../support/rpc-client.ts";
import { HEADER, file, line, message } from "../../support/session-lines.ts";

/** Commands that some test of this file has sent. */
const sent = new Set<string>();

async function start(t: Parameters<typeof rpcClient>[0], args: readonly string[], place = new Place()) {
  const client = rpcClient(t, place, args);
  const { ask, data } = client;
  client.ask = (type, fields) => {
    sent.add(type);
    return ask.call(client, type, fields);
  };
  client.data = data;
  return { client, place };
}

/** Events in a few words. */
const inWords = ({ type, message: about, entry, assistantMessageEvent: update }: OutLine): string =>
  [
    type,
    (about as { role: string } | undefined)?.role,
    (entry as { type: string } | undefined)?.type,
    (update as { type: string } | undefined)?.type,
  ]
    .filter((word) => word !== undefined)
    .join(" ");

const OK = { success: true, data: {} };

test("[R1, W2] a prompt: it is answered when it is under way, and events without ids tell the rest", async (t) => {
  const server = await providerFor(
    t,
    callTools({ id: "call_1", name: "ls", arguments: {} }),
    say("Two ", "pieces\u2028\u009b."),
  );
  const { client, place } = await start(t, connectedTo(server));
  assert.deepEqual(await client.ask("prompt", { message: "List\u2028these" }), {
    success: true,
    data: { disposition: "started" },
  });
  assert.deepEqual(await client.event("agent_settled"), { type: "agent_settled", aborted: false });
  assert.ok(client.events.every((event) => !("id" in event)));
  const from = client.events.findIndex(({ type }) => type === "agent_start");
  assert.deepEqual(client.events.slice(from).map(inWords), [
    "agent_start",
    "turn_start",
    "entry_appended message",
    "entry_appended session_info",
    "session_info_changed",
    "message_start user",
    "message_end user",
    "message_start assistant",
    "message_update toolcall_start",
    "message_update toolcall_delta",
    "message_update toolcall_end",
    "entry_appended message",
    "message_end assistant",
    "tool_execution_start",
    "entry_appended message",
    "tool_execution_end",
    "message_start toolResult",
    "message_end toolResult",
    "turn_end assistant",
    "turn_start",
    "message_start assistant",
    "message_update text_start",
    "message_update text_delta",
    "message_update text_delta",
    "message_update text_end",
    "entry_appended message",
    "message_end assistant",
    "turn_end assistant",
    "agent_end",
    "agent_settled",
  ]);
  const messages = (await client.data("get_messages"))["messages"] as { role: string }[];
  assert.deepEqual(
    messages.map(({ role }) => role),
    ["user", "assistant", "toolResult", "assistant"],
  );
  assert.deepEqual(await client.end(), { code: 0, err: "" });
  assert.deepEqual(await savedMessages(place.sessionFiles()[0]), [
    "user: List\u2028these",
    "assistant: ",
    "toolResult: (empty directory)",
    "assistant: Two pieces\u2028\u009b.",
  ]);
});

test("[R1] the queue: steer, follow_up, streamingBehavior, clear_queue, and a prompt while a turn runs", async (t) => {
  const server = await providerFor(t, hangAfter("Half"), say("on"), say("and on"));
  const { client, place } = await start(t, connectedTo(server));
  await client.data("prompt", { message: "go" });
  await client.next(
    ({ assistantMessageEvent: update }) => (update as { delta?: string } | undefined)?.delta === "Half",
  );
  assert.deepEqual(await client.ask("prompt", { message: "again" }), {
    success: false,
    code: "refused",
    error: 'A turn is running; give streamingBehavior "steer" or "followUp" to queue this, or stop the turn first.',
  });
  const image = { type: "image", data: "AAAA", mimeType: "image/png" };
  assert.deepEqual(await client.ask("steer", { message: "left", images: [image] }), OK);
  assert.deepEqual(await client.ask("follow_up", { message: "later" }), OK);
  const queued = { success: true, data: { disposition: "queued" } };
  assert.deepEqual(await client.ask("prompt", { message: "right", streamingBehavior: "steer" }), queued);
  assert.deepEqual(await client.ask("prompt", { message: "last", streamingBehavior: "followUp" }), queued);
  assert.deepEqual(
    client.lines.findLast(({ type }) => type === "queue_update"),
    {
      type: "queue_update",
      steering: ["left", "right"],
      followUp: ["later", "last"],
    },
  );
  assert.equal((await client.data("get_state"))["pendingMessageCount"], 4);
  assert.deepEqual(await client.ask("clear_queue"), {
    success: true,
    data: { steering: ["left", "right"], followUp: ["later", "last"] },
  });
  await client.data("steer", { message: "next" });
  assert.deepEqual(await client.ask("abort"), OK);
  assert.deepEqual(await client.event("agent_settled"), { type: "agent_settled", aborted: true });
  const from = client.lines.length;
  await client.data("prompt", { message: "go on" });
  await client.event("agent_settled", from);
  assert.deepEqual(await client.end(), { code: 0, err: "" });
  assert.deepEqual(await savedMessages(place.sessionFiles()[0]), [
    "user: go",
    "assistant: Half",
    "user: go on",
    "user: next",
    "assistant: on",
  ]);
});

test("[R1] a prompt right behind abort is answered when it is under way, not when its own answer is there", async (t) => {
  const server = await providerFor(t, hangAfter("Half"), say("on"));
  const { client } = await start(t, connectedTo(server));
  await client.data("prompt", { message: "go" });
  await client.event("message_update");
  const from = client.lines.length;
  client.write('{"id":"a","type":"abort"}\n{"id":"p","type":"prompt","message":"go on"}\n');
  await client.next(({ id }) => id === "p");
  await client.next(({ type, aborted }) => type === "agent_settled" && aborted === false, from);
  assert.deepEqual(
    client.lines
      .slice(from)
      .flatMap(({ type, id, aborted }) => (id ? [id] : type === "agent_settled" ? [aborted] : [])),
    [true, "a", "p", false],
  );
});

test("[R1] abort_retry: the failed answer stands, and the client is told why", async (t) => {
  const server = await providerFor(t, fail(500, "too busy"));
  const { client, place } = await start(t, connectedTo(server), withSettings({ retry: { baseDelayMs: 60_000 } }));
  await client.data("prompt", { message: "go" });
  await client.event("auto_retry_start");
  assert.deepEqual(await client.ask("abort_retry"), OK);
  await client.event("agent_settled");
  const ended = await client.event("auto_retry_end");
  assert.deepEqual([ended["success"], typeof ended["finalError"]], [false, "string"]);
  assert.equal((await client.end()).code, 0);
  assert.deepEqual(await savedMessages(place.sessionFiles()[0]), ["user: go", "assistant: "]);
});

function withSettings(settings: object): Place {
  const place = new Place();
  place.writeSettings(settings);
  return place;
}

test("[R1] bash and abort_bash: one command at a time, its output as it comes, and a record of it", async (t) => {
  const server = await providerFor(t);
  const { client } = await start(t, connectedTo(server));
  const run = client.ask("bash", { command: "echo one; sleep 60", excludeFromContext: true });
  await client.next(({ type, output }) => type === "bash_update" && output === "one");
  assert.deepEqual(await client.ask("bash", { command: "true" }), {
    success: false,
    code: "refused",
    error: "A command is still running; wait for its end, or stop it first.",
  });
  assert.equal((await client.data("get_state"))["isBashRunning"], true);
  assert.deepEqual(await client.ask("abort_bash"), OK);
  const { data } = await run;
  const { timestamp, ...record } = data ?? {};
  assert.equal(typeof timestamp, "number");
  assert.deepEqual(record, {
    role: "bashExecution",
    command: "echo one; sleep 60",
    output: "one",
    cancelled: true,
    truncated: false,
    excludeFromContext: true,
  });
  assert.deepEqual(await client.end(), { code: 0, err: "" });
});

/** Two branches after a1; the leaf is b2. */
const FORKED = file(
  HEADER,
  message("a1", null),
  line("message", "a2", "a1", {
    message: { role: "assistant", content: [{ type: "text", text: "left" }], usage: usage(1) },
  }),
  message("b1", "a1"),
  line("message", "b2", "b1", {
    message: { role: "assistant", content: [{ type: "text", text: "right" }], usage: usage(2) },
  }),
);
function usage(dollars: number): object {
  return { input: 10, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 11, cost: { total: dollars } };
}

test("[R1, N3] the tree: rows, entries by cursor, moves with the leaf the client expects, labels", async (t) => {
  const place = new Place();
  const path = place.file("forked.jsonl", FORKED);
  const { client } = await start(t, ["--session", path], place);
  const { rows, total, leafId } = (await client.data("get_tree", { limit: 3 })) as {
    rows: Record<string, unknown>[];
    total: number;
    leafId: string;
  };
  assert.deepEqual([total, leafId, rows.map(({ id }) => id)], [4, "b2", ["a1", "b1", "b2"]]);
  assert.deepEqual(rows[1], {
    row: 2,
    after: 1,
    branch: 1,
    branches: 2,
    indent: 1,
    prefix: "├─ ",
    id: "b1",
    parentId: "a1",
    type: "message",
    role: "user",
    active: true,
    current: false,
    text: "user: b1",
  });
  const found = (await client.data("get_tree", { from: 1, search: "left", filter: "no-tools" })) as { rows: OutLine[] };
  assert.deepEqual(
    found.rows.map(({ id, text }) => [id, text]),
    [["a2", "assistant: left"]],
  );

  const ids = async (fields: object): Promise<unknown[]> => {
    const { entries, ...rest } = (await client.data("get_entries", fields)) as { entries: { id: string }[] };
    return [...entries.map(({ id }) => id), rest];
  };
  assert.deepEqual(await ids({ limit: 3 }), ["a1", "a2", "b1", { more: true, leafId: "b2" }]);
  assert.deepEqual(await ids({ since: "b1" }), ["b2", { more: false, leafId: "b2" }]);
  assert.deepEqual(await client.ask("get_entries", { since: "zz" }), {
    success: false,
    code: "refused",
    error: "Entry zz not found",
  });

  const elsewhere = {
    success: false,
    code: "leaf",
    error: "The session stands at b2, not at a2; nothing was done.",
    data: { leafId: "b2" },
  };
  for (const [type, fields] of [
    ["navigate", { targetId: "a1" }],
    ["back", {}],
    ["forward", {}],
    ["prompt", { message: "hi" }],
  ] as const)
    assert.deepEqual(await client.ask(type, { ...fields, expectedLeaf: "a2" }), elsewhere);
  assert.equal(readFileSync(path, "utf8"), FORKED, "nothing is written");

  assert.deepEqual(await client.ask("navigate", { targetId: "a2", expectedLeaf: "b2" }), {
    success: true,
    data: { cancelled: false, leafId: "a2" },
  });
  // A move that no entry tells of is seen as the leaf.
  assert.deepEqual(await ids({ since: "b2" }), [{ more: false, leafId: "a2" }]);
  assert.deepEqual(
    client.lines.findLast(({ type }) => type === "session_changed"),
    {
      type: "session_changed",
      reason: "tree",
      sessionId: "s1",
      sessionFile: path,
      leafId: "a2",
    },
  );
  assert.deepEqual(await client.data("navigate", { targetId: "a1" }), {
    cancelled: false,
    leafId: null,
    editorText: "a1",
  });
  assert.deepEqual(await client.data("back", { expectedLeaf: null }), { cancelled: false, moved: true, leafId: "a2" });
  assert.deepEqual(await client.data("forward"), { cancelled: false, moved: true, leafId: null });
  assert.deepEqual(await client.data("forward"), { cancelled: false, moved: false, leafId: null });
  assert.deepEqual(await client.ask("navigate", { targetId: "nope" }), {
    success: false,
    code: "refused",
    error: "Entry nope not found",
  });

  await client.data("navigate", { targetId: "b2" });
  assert.deepEqual(await client.ask("set_label", { entryId: "a2", label: "dead end" }), OK);
  const labelled = (await client.data("get_tree", { filter: "labeled-only" })) as { rows: OutLine[] };
  assert.deepEqual(
    labelled.rows.map(({ id, label }) => [id, label]),
    [["a2", "dead end"]],
  );
  assert.deepEqual(await client.ask("set_label", { entryId: "a2" }), OK);
  assert.deepEqual((await client.data("get_tree", { filter: "labeled-only" }))["rows"], []);
  assert.equal((await client.ask("set_label", { entryId: "nope", label: "x" })).error, "Entry nope not found");
  assert.equal((await client.end()).code, 0);
  const session = await SessionManager.open(path, { readOnly: true });
  await checkLaws(session);
});

test("[R1, N1, K6] a summary at a move: by a model, without one, with none that could be asked", async (t) => {
  const server = await providerFor(t, say("What was found on the right."), fail(400, "no"));
  const place = new Place();
  const { client } = await start(t, ["--session", place.file("forked.jsonl", FORKED), ...connectedTo(server)], place);
  const moved = await client.data("navigate", {
    targetId: "a2",
    summarize: true,
    customInstructions: "Mention the right.",
    label: "came from the right",
  });
  const { type, parentId, summary, id } = moved["summaryEntry"] as Record<string, unknown>;
  assert.deepEqual([type, parentId, moved["cancelled"]], ["branch_summary", "a2", false]);
  assert.match(String(summary), /What was found on the right\.$/);
  assert.match(JSON.stringify(server.requests[0]?.body.messages), /Mention the right\./);
  const { rows } = (await client.data("get_tree", { filter: "labeled-only" })) as { rows: OutLine[] };
  assert.deepEqual(
    rows.map((row) => [row.id, row["label"]]),
    [[id, "came from the right"]],
  );

  const failed = await client.ask("navigate", { targetId: "b2", summarize: true });
  assert.deepEqual([failed.success, failed.code], [false, "summary"]);
  assert.equal((await client.data("get_state"))["leafId"], moved["leafId"], "nothing was moved");
  const digested = await client.data("navigate", { targetId: "b2", summarize: "digest" });
  assert.equal((digested["summaryEntry"] as OutLine | undefined)?.["parentId"], "b2");
  assert.equal((await client.end()).code, 0);
});

test("[R1, N2] abort ends the writing of a summary, and with it the move; commands behind it are done then", async (t) => {
  const server = await providerFor(t, hangAfter("Half a summ"));
  const place = new Place();
  const { client } = await start(t, ["--session", place.file("forked.jsonl", FORKED), ...connectedTo(server)], place);
  const move = client.ask("navigate", { targetId: "a2", summarize: true });
  await client.event("branch_summary_start");
  const label = client.ask("set_label", { entryId: "a1", label: "x" });
  const { isIdle, leafId } = await client.data("get_state");
  assert.equal(isIdle, false);
  assert.deepEqual(await client.ask("abort"), OK);
  assert.deepEqual(await move, { success: true, data: { cancelled: true, aborted: true, leafId } });
  assert.deepEqual(await label, OK);
  assert.equal((await client.end()).code, 0);
});

test("[R1, K1, K6] compact: by a digest, by a model, stopped, and with nothing to compact", async (t) => {
  const server = await providerFor(t, hangAfter("Half"), say("Short."));
  const place = new Place();
  const long = (id: string, parentId: string | null): string =>
    message(id, parentId, { message: { role: "user", content: id.repeat(20_000), timestamp: 0 } });
  const path = place.file("long.jsonl", file(HEADER, long("a", null), long("b", "a"), long("c", "b"), long("d", "c")));
  place.writeSettings({ compaction: { keepRecentTokens: 1000 } });
  const { client } = await start(t, ["--session", path, ...connectedTo(server)], place);
  const compacting = client.ask("compact", { focus: "the letters" });
  await client.event("compaction_start");
  await until(() => server.requests.length === 1);
  assert.equal((await client.data("get_state"))["isCompacting"], true);
  assert.deepEqual(await client.ask("abort_compaction"), OK);
  assert.deepEqual(await compacting, { success: true, data: { cancelled: true } });

  const { cancelled, entry } = await client.data("compact", { focus: "the letters" });
  const { type, summary } = entry as Record<string, unknown>;
  assert.deepEqual([cancelled, type], [false, "compaction"]);
  assert.match(String(summary), /Short\./);
  assert.match(JSON.stringify(server.requests[1]?.body.messages), /the letters/);
  const again = await client.ask("compact", { digest: true });
  assert.deepEqual([again.success, again.code], [false, "refused"]);

  const context = await client.data("get_context");
  assert.deepEqual(Object.keys(context), ["systemPrompt", "tools", "entries", "dropped"]);
  const [first] = context["entries"] as { kind: string; entryId: string }[];
  assert.deepEqual([first?.kind, first?.entryId], ["summary", (entry as { id: string }).id]);
  const { leafId } = await client.data("get_state");
  assert.equal((await client.ask("uncompact", { expectedLeaf: "a" })).code, "leaf");
  const above = await client.data("uncompact", { expectedLeaf: leafId });
  assert.equal(above["leafId"], (entry as { parentId: string }).parentId);
  assert.equal((await client.ask("uncompact")).error, "There is no compaction on this branch.");
  assert.equal((await client.end()).code, 0);
  await checkLaws(await SessionManager.open(path, { readOnly: true }));
});

test("[R1, P1] plan mode: begun, a plan handed in, read, and carried out", async (t) => {
  const plan = { title: "paint-it", plan: "# Paint it\n\n1. Green." };
  const server = await providerFor(t, callTools({ id: "p", name: "submit_plan", arguments: plan }), say("Painted."));
  const { client, place } = await start(t, connectedTo(server));
  assert.match((await client.ask("get_plan")).error ?? "", /./);
  assert.equal((await client.ask("approve_plan", { choice: "keep" })).success, false);
  assert.deepEqual(await client.ask("set_plan_mode", { on: true }), OK);
  assert.equal((await client.data("get_state"))["mode"], "plan");
  await client.data("prompt", { message: "Paint it." });
  await client.event("agent_settled");
  assert.equal((await client.event("plan_submitted"))["title"], "paint-it");
  const { title, plan: text } = await client.data("get_plan");
  assert.deepEqual([title, text], ["paint-it", plan.plan]);
  const from = client.lines.length;
  assert.deepEqual(await client.data("approve_plan", { choice: "execute" }), { started: true });
  await client.event("agent_settled", from);
  const state = await client.data("get_state");
  assert.deepEqual([state["mode"], state["sessionName"]], ["none", "Paint it"]);
  assert.deepEqual(await client.ask("set_plan_mode", { on: false }), OK);
  assert.equal((await client.end()).code, 0);
  assert.equal(place.sessionFiles().length, 2);
});

test("[R1, P3] get_mcp and select_mcp_tools: the tools of this branch", async (t) => {
  const place = new Place();
  place.writeSettings({});
  const calc = { command: process.execPath, args: [TOOL_SERVER] };
  writeFileSync(join(place.stateDir, "mcp.json"), JSON.stringify({ mcpServers: { calc } }));
  const { client } = await start(t, ["--no-session"], place);
  const servers = async () =>
    (await client.data("get_mcp"))["servers"] as { status: string; tools: { name: string; isSelected: boolean }[] }[];
  while ((await servers())[0]?.status !== "ready") await client.event("mcp_changed", client.lines.length);
  const names = async () => (await servers())[0]?.tools.filter(({ isSelected }) => isSelected).map(({ name }) => name);
  const all = await names();
  assert.ok(all !== undefined && all.length > 1 && all.includes("mcp__calc__add"));
  assert.deepEqual(await client.ask("select_mcp_tools", { names: ["mcp__calc__add"] }), OK);
  assert.deepEqual(await names(), ["mcp__calc__add"]);
  assert.deepEqual(await client.ask("select_mcp_tools", { names: ["mcp__calc__fly"] }), {
    success: false,
    code: "refused",
    error: "No MCP server has a tool mcp__calc__fly now.",
  });
  assert.equal((await client.end()).code, 0);
});

async function until(look: () => boolean): Promise<void> {
  while (!look()) await new Promise((resolve) => setTimeout(resolve, 10));
}

test("[R1, D5] get_stats: what was spent, whole, by model and on each branch", async (t) => {
  const place = new Place();
  const { client } = await start(t, ["--session", place.file("forked.jsonl", FORKED)], place);
  const spent = (dollars: number): object => ({
    input: 10,
    output: 1,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 11,
    cost: dollars,
  });
  const total = { input: 20, output: 2, cacheRead: 0, cacheWrite: 0, totalTokens: 22, cost: 3 };
  assert.deepEqual(await client.data("get_stats"), {
    total,
    byModel: { "": total },
    branches: [
      { tipId: "b2", forkId: "a1", active: true, entries: 3, path: spent(2), own: spent(2) },
      { tipId: "a2", forkId: "a1", active: false, entries: 2, path: spent(1), own: spent(1) },
    ],
    branchCount: 2,
    context: null,
  });
  assert.equal((await client.end()).code, 0);
});

test("[R1, B1, B2] sessions: branch, clone, new, switch, list, name, save under another path", async (t) => {
  const server = await providerFor(t, say("one"), say("two"));
  const { client, place } = await start(t, connectedTo(server));
  for (const text of ["first", "second"]) {
    const from = client.lines.length;
    await client.data("prompt", { message: text });
    await client.event("agent_settled", from);
  }
  const first = await client.data("get_state");
  const prompts = (await client.data("get_tree", { filter: "user-only" })) as { rows: OutLine[] };
  const second = prompts.rows[1]?.id;
  assert.deepEqual(await client.data("branch", { entryId: second }), { cancelled: false, selectedText: "second" });
  const branched = await client.data("get_state");
  assert.notEqual(branched["sessionFile"], first["sessionFile"]);
  assert.deepEqual(await savedMessages(branched["sessionFile"] as string), ["user: first", "assistant: one"]);
  assert.deepEqual(await client.ask("branch", { entryId: branched["leafId"] }), {
    success: false,
    code: "refused",
    error: "Invalid entry ID for branching",
  });
  assert.deepEqual(await client.data("clone"), { cancelled: false });
  assert.deepEqual(await client.ask("set_name", { name: "Copy" }), OK);
  const cloned = await client.data("get_state");
  assert.deepEqual([cloned["sessionName"], cloned["messageCount"]], ["Copy", 2]);

  assert.deepEqual(await client.data("new_session", { parentSession: "/elsewhere.jsonl" }), { cancelled: false });
  assert.equal((await client.data("get_state"))["leafId"], null);
  const id = first["sessionId"] as string;
  assert.deepEqual(await client.data("switch_session", { session: id.slice(0, 30) }), { cancelled: false });
  assert.equal((await client.data("get_state"))["leafId"], first["leafId"]);
  assert.match((await client.ask("switch_session", { session: "nope" })).error ?? "", /^No session matches "nope"/);
  assert.equal((await client.data("get_state"))["leafId"], first["leafId"], "the current one stays");

  const { sessions } = (await client.data("list_sessions")) as { sessions: OutLine[] };
  assert.deepEqual(
    new Set(sessions.map(({ path, messages, kind, cwd }) => String([path, messages, kind, cwd]))),
    new Set(
      [branched, cloned, first].map(({ sessionFile }, n) => String([sessionFile, n === 2 ? 4 : 2, "ok", place.cwd])),
    ),
  );
  assert.equal(((await client.data("list_sessions", { all: true }))["sessions"] as unknown[]).length, 3);

  const elsewhere = join(place.cwd, "saved.jsonl");
  assert.deepEqual(await client.data("save_as", { path: "saved.jsonl" }), { sessionFile: elsewhere });
  assert.equal((await client.ask("save_as", { path: "saved.jsonl" })).success, false);
  assert.deepEqual(await client.end(), { code: 0, err: "" });
  assert.deepEqual(readFileSync(elsewhere), readFileSync(first["sessionFile"] as string));
});

test("[R1, E3] export writes what was asked for and gives the places of masked secrets; a refusal writes nothing", async (t) => {
  const token = SECRETS["github token"]!;
  const server = await providerFor(t, say("ok"));
  const { client, place } = await start(t, connectedTo(server));
  assert.deepEqual(await client.ask("export", {}), {
    success: false,
    code: "refused",
    error: "Nothing of this session is in a file; save_as writes one that can be exported.",
  });
  await client.ask("prompt", { message: `use ${token}` });
  await client.event("agent_settled");
  const { bytes, ...done } = await client.data("export", { out: "x.jsonl", redact: true });
  const entries = (await client.data("get_entries"))["entries"] as { id: string; message?: { role: string } }[];
  const prompt = entries.find(({ message: about }) => about?.role === "user")!.id;
  const path = join(place.cwd, "x.jsonl");
  const places = (done["redacted"] as { places: { entryId: string; field: string }[] }).places;
  assert.deepEqual(
    { ...done, redacted: places.find(({ entryId }) => entryId === prompt) },
    {
      path,
      format: "jsonl",
      entries: entries.length,
      imagesLeftOut: 0,
      linesLeftOut: 0,
      redacted: {
        entryId: prompt,
        field: places.find(({ entryId }) => entryId === prompt)!.field,
        kind: "github token",
        count: 1,
      },
    },
  );
  const text = readFileSync(path, "utf8");
  assert.deepEqual([bytes, text.includes(token)], [Buffer.byteLength(text), false]);
  assert.deepEqual(await client.ask("export", { out: "x.jsonl" }), {
    success: false,
    code: "refused",
    error: `${path} is there already; name another file, or replace it with --force.`,
  });
  assert.equal((await client.ask("export", { out: "y.md", branch: "none" })).success, false);
  assert.deepEqual(await client.end(), { code: 0, err: "" });
  assert.ok(!existsSync(join(place.cwd, "y.md")));
});

test("[R1, B2] the model and the thinking level: chosen by name, recorded, restored by a move back", async (t) => {
  const server = await providerFor(t, say("ok"));
  const place = new Place();
  mkdirSync(place.stateDir, { recursive: true });
  const models = [
    { id: "plain", name: "Plain" },
    { id: "deep", name: "Deep", reasoning: true },
  ];
  const provider = { baseUrl: server.baseUrl, api: "openai-completions", apiKey: "k", models };
  writeFileSync(join(place.stateDir, "models.json"), JSON.stringify({ providers: { own: provider } }));
  const { client } = await start(t, ["--model", "own/plain"], place);
  const listed = (await client.data("get_available_models"))["models"] as { id: string; provider: string }[];
  assert.deepEqual(
    listed.map((model) => `${model.provider}/${model.id}`),
    ["own/plain", "own/deep"],
  );
  await client.data("prompt", { message: "hi" });
  await client.event("agent_settled");
  const { leafId } = await client.data("get_state");
  const chosen = await client.data("set_model", { model: "deep:high" });
  assert.deepEqual([(chosen["model"] as OutLine).id, chosen["thinkingLevel"]], ["deep", "high"]);
  assert.deepEqual(await client.data("set_thinking_level", { level: "low" }), { level: "low" });
  assert.deepEqual(await client.ask("set_model", { model: "nope" }), {
    success: false,
    code: "refused",
    error: 'No model is named "nope"; /model lists those you can use.',
  });
  assert.deepEqual(
    client.events.filter(({ type }) => type === "model_changed"),
    [{ type: "model_changed", provider: "own", modelId: "deep" }],
  );
  await client.data("navigate", { targetId: leafId });
  const state = await client.data("get_state");
  assert.deepEqual([(state["model"] as OutLine).id, state["thinkingLevel"]], ["plain", "off"]);
  assert.equal((await client.end()).code, 0);
});

test("[R1, W2] take_unsent: what was queued when bough was killed comes back once", async (t) => {
  const server = await providerFor(t, hangAfter("Half"), say("ok"));
  const { client, place } = await start(t, connectedTo(server));
  await client.data("prompt", { message: "go" });
  await client.event("message_update");
  await client.data("steer", { message: "not yet sent" });
  client.child.kill("SIGKILL");
  await client.done;
  const again = (await start(t, ["-c", ...connectedTo(server)], place)).client;
  assert.deepEqual(await again.data("take_unsent"), { messages: ["not yet sent"] });
  assert.equal((await again.end()).code, 0);
});

test("[R1, W5] a session that another bough has open is refused at the start; one that was handed over can be asked for", async (t) => {
  const place = new Place();
  const path = place.file("forked.jsonl", FORKED);
  const { client } = await start(t, ["--session", path], place);
  await client.data("set_label", { entryId: "a1", label: "x" });
  const { pid } = client.child;
  const second = rpcClient(t, place, ["--session", path]);
  assert.deepEqual(await second.done, { code: 1, signal: null });
  assert.deepEqual(second.lines, []);
  assert.match(second.err, new RegExp(`^bough: [^\\n]*process ${pid}[^\\n]*\\n$`));

  assert.deepEqual(await client.ask("take_over"), {
    success: false,
    code: "refused",
    error: "This session is written here already.",
  });
  const other = (await start(t, ["--no-session"], place)).client;
  assert.match((await other.ask("switch_session", { session: path })).error ?? "", new RegExp(`process ${pid}`));
  assert.equal((await client.end()).code, 0);
  assert.deepEqual(await other.data("switch_session", { session: path }), { cancelled: false });
  assert.equal((await other.end()).code, 0);
});

test("[R1, D2] dB60 a session whose folder is gone: the client is told, with the way to re-root it", async (t) => {
  const place = new Place();
  const gone = join(place.home, "gone");
  const path = place.file("gone.jsonl", FORKED.replace('"/w"', JSON.stringify(gone)));
  const { client } = await start(t, ["--session", path], place);
  assert.deepEqual(await client.event("notice"), {
    type: "notice",
    level: "warning",
    text: `The folder this session was made in is gone: ${gone}. To go on here: bough --fork ${path}`,
  });
  assert.equal((await client.data("get_state"))["messageCount"], 3);
  assert.equal((await client.end()).code, 0);
});

test("[R1, X5] a project's own settings count with --trust alone; nobody is asked", async (t) => {
  const place = new Place();
  mkdirSync(join(place.cwd, ".bough"));
  writeFileSync(join(place.cwd, ".bough/settings.json"), '{"defaultThinkingLevel": 7}');
  const told = async (args: string[]): Promise<unknown[]> => {
    const { client } = await start(t, ["--no-session", ...args], place);
    await client.data("get_state");
    assert.equal((await client.end()).code, 0);
    return client.events.map(({ text }) => text);
  };
  assert.deepEqual(await told([]), [
    `${place.cwd}/.bough is not used until you trust it: read it, then start with --trust.`,
  ]);
  const [used, ...more] = await told(["--trust"]);
  assert.match(String(used), /settings\.json:1: "defaultThinkingLevel" must be one of/);
  assert.deepEqual(more, []);
});

test("[R1, T9] without a session file and without a model everything but the model's answer works", async (t) => {
  const { client, place } = await start(t, ["--no-session"]);
  const refused = await client.ask("prompt", { message: "hi" });
  assert.equal(refused.code, "refused");
  assert.match(refused.error ?? "", /^No model is connected/);
  const state = await client.data("get_state");
  assert.deepEqual([state["model"], state["sessionFile"], state["leafId"]], [null, null, null]);
  assert.deepEqual(await client.ask("clone"), {
    success: false,
    code: "refused",
    error: "There is nothing to clone yet.",
  });
  assert.equal((await client.end()).code, 0);
  assert.ok(!existsSync(join(place.stateDir, "sessions")));
  rmSync(place.cwd, { recursive: true });
});

test("[R1, X1] without extensions there are no commands of theirs, and nothing to load anew", async (t) => {
  const { client } = await start(t, ["--no-session"]);
  assert.deepEqual(await client.data("get_commands"), { commands: [] });
  assert.deepEqual(await client.data("reload_extensions"), {});
  assert.equal((await client.end()).code, 0);
});

test("[R1, X1] get_commands and reload_extensions: what extensions offer, and what they offer after a change", async (t) => {
  const place = new Place();
  const extension = (name: string): string =>
    `export default (bough) => bough.registerCommand("${name}", { description: "Says ${name}", handler: async () => {} });\n`;
  const path = place.file("greeter.mjs", extension("hello"));
  const { client } = await start(t, ["-e", path], place);
  const commands = async (): Promise<unknown> => (await client.data("get_commands"))["commands"];
  assert.deepEqual(await commands(), [{ name: "hello", source: path, description: "Says hello" }]);
  assert.deepEqual(await client.data("prompt", { message: "/hello" }), { disposition: "handled" });
  writeFileSync(path, extension("goodbye"));
  assert.deepEqual(await client.ask("reload_extensions"), OK);
  assert.deepEqual(await commands(), [{ name: "goodbye", source: path, description: "Says goodbye" }]);
  assert.deepEqual(await client.end(), { code: 0, err: "" });
});

test("[R1] every command of the table was sent by these tests", () => {
  assert.deepEqual(
    Object.keys(COMMANDS).filter((name) => !sent.has(name)),
    [],
  );
});
