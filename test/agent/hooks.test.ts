/** What hooks are told in one run and around it, in which order; what becomes of each answer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { HookFunctions, HookName, HookPort } from "../../src/agent/hook-port.ts";
import { hooksFrom } from "../../src/agent/hook-port.ts";
import {
  fileLines,
  nextEvent,
  noticesOf,
  outlineOf,
  sentMessages,
  startHarness,
  tool,
} from "../support/agent-harness.ts";
import { callTools, hangAfter, say } from "../support/provider-mock.ts";

const ALL: readonly HookName[] = [
  "session_start",
  "session_shutdown",
  "session_before_switch",
  "session_switch",
  "session_before_branch",
  "session_branch",
  "session_before_tree",
  "session_tree",
  "session_info_changed",
  "session_before_compact",
  "session.compacting",
  "session_compact",
  "session_compact_failed",
  "context",
  "before_agent_start",
  "before_provider_request",
  "after_provider_response",
  "agent_start",
  "agent_end",
  "agent_settled",
  "turn_start",
  "turn_end",
  "message_start",
  "message_update",
  "message_end",
  "tool_execution_start",
  "tool_execution_update",
  "tool_execution_end",
  "tool_call",
  "tool_result",
  "input",
  "user_bash",
  "model_select",
  "thinking_level_select",
];

/** Listens to all and keeps the names, one for runs of message updates. */
function listening(): { hooks: HookPort; heard: string[]; told: [HookName, unknown][] } {
  const heard: string[] = [];
  const told: [HookName, unknown][] = [];
  const hooks: HookPort = {
    has: () => true,
    emit: async (name, event) => {
      const role = (event as { message?: { role?: string } }).message?.role;
      const shown = role === undefined ? name : `${name} ${role}`;
      // How many of these there are is the provider's business.
      if (name === "provider_stream_event") return undefined;
      if (heard.at(-1) !== shown || name !== "message_update") heard.push(shown);
      told.push([name, structuredClone(name === "session_before_tree" ? {} : event)]);
      return undefined;
    },
  };
  return { hooks, heard, told };
}

const echo = () => [tool("echo", ({ text }) => `echo ${String(text)}`)];
const calling = (text = "x") => callTools({ id: "c1", name: "echo", arguments: { text } });

test("[X2] one prompt with a tool call: every hook in the order in which things happen", async (t) => {
  const { hooks, heard, told } = listening();
  const { session } = await startHarness(t, { hooks, tools: echo, replies: [calling(), say("done")] });
  await session.begin();
  await session.prompt("Go");
  const request = ["context", "before_provider_request", "after_provider_response"];
  const answer = ["message_start assistant", "message_update assistant", "message_end assistant"];
  assert.deepEqual(
    heard.filter((name) => name !== "session_info_changed"),
    [
      "session_start",
      "input",
      "before_agent_start",
      "agent_start",
      "turn_start",
      "message_start user",
      "message_end user",
      ...request,
      ...answer,
      "tool_execution_start",
      "tool_call",
      "tool_result",
      "tool_execution_end",
      "message_start toolResult",
      "message_end toolResult",
      "turn_end assistant",
      "turn_start",
      ...request,
      ...answer,
      "turn_end assistant",
      "agent_end",
      "agent_settled",
    ],
  );
  const turns = told.flatMap(([name, event]) =>
    name === "turn_start" || name === "turn_end" ? [[name, (event as { turnIndex: number }).turnIndex]] : [],
  );
  assert.deepEqual(turns, [
    ["turn_start", 0],
    ["turn_end", 0],
    ["turn_start", 1],
    ["turn_end", 1],
  ]);
  assert.deepEqual(told.find(([name]) => name === "tool_call")?.[1], {
    toolName: "echo",
    toolCallId: "c1",
    input: { text: "x" },
  });
  assert.deepEqual(told.at(-1), ["agent_settled", { aborted: false }]);
  assert.deepEqual(
    told.map(([name]) => name).filter((name) => !ALL.includes(name)),
    [],
  );
});

test("[X2] a hook that nobody listens to is never called and no payload is made for it", async (t) => {
  let calls = 0;
  const asked = new Set<string>();
  const hooks: HookPort = {
    has: (name) => {
      asked.add(name);
      return false;
    },
    emit: async () => {
      calls += 1;
      return undefined;
    },
  };
  const { session, manager } = await startHarness(t, { hooks, tools: echo, replies: [calling(), say("done")] });
  const copies = t.mock.method(globalThis, "structuredClone");
  await session.begin();
  await session.prompt("Go");
  await session.runBash("true");
  await session.navigateTree(manager.getEntries()[1]!.id);
  await session.newSession();
  await session.dispose();
  assert.equal(calls, 0);
  // The loop copies the arguments of the one call; hooks would have had the conversation copied twice and the call.
  assert.equal(copies.mock.calls.filter(({ arguments: [value] }) => Array.isArray(value)).length, 0);
  for (const name of ["session_start", "context", "tool_call", "user_bash", "session_before_tree", "session_shutdown"])
    assert.ok(asked.has(name), name);
});

test("[X2] what fails in a hook is told and disturbs nothing; only a call and a command it would decide on are blocked", async (t) => {
  const failing: HookFunctions = Object.fromEntries(
    ALL.map((name) => [
      name,
      () => {
        throw new Error(`no ${name}`);
      },
    ]),
  );
  const { session, manager, events } = await startHarness(t, {
    hooks: hooksFrom(failing),
    tools: echo,
    replies: [calling(), say("done")],
  });
  await session.begin();
  await session.prompt("Go");
  await assert.rejects(session.runBash("true"), {
    message: "The command was not run: an extension failed: no user_bash",
  });
  assert.deepEqual(
    outlineOf(manager.getBranch()).filter((row) => row !== "model_change" && row !== "session_info"),
    ["user: Go", "assistant toolUse: [echo]", "result c1: The call was blocked: no tool_call", "assistant stop: done"],
  );
  const told = new Set(noticesOf(events));
  for (const name of ["session_start", "context", "tool_call", "message_end", "agent_settled", "input"])
    assert.ok(told.has(`error: An extension failed in ${name}: no ${name}`), name);
});

test("[X2] context: copies are given, the answer goes out this once as a valid request, and nothing is kept", async (t) => {
  const { session, manager, server } = await startHarness(t, {
    hooks: hooksFrom({
      context: ({ messages }) => {
        for (const message of messages) if (message.role === "user") message.content = "changed in place";
        // The call without its result would be refused by providers.
        return {
          messages: [
            ...messages.filter(({ role }) => role !== "toolResult"),
            { role: "custom", customType: "note", content: "by the way", display: false, timestamp: 1 },
          ],
        };
      },
    }),
    tools: echo,
    replies: [calling(), say("done")],
  });
  await session.prompt("Go");
  assert.deepEqual(sentMessages(server.requests[0]), ["user changed in place", "user by the way"]);
  const sent = sentMessages(server.requests[1]);
  assert.deepEqual(
    [sent[0], sent[1], sent.at(-1)],
    ["user changed in place", "assistant [1 calls]", "user by the way"],
  );
  assert.match(sent[2]!, /^tool c1 /);
  assert.deepEqual(outlineOf(fileLines(manager).slice(1) as never), outlineOf(manager.getEntries()));
  assert.ok(outlineOf(manager.getBranch()).includes("user: Go"));
  assert.ok(outlineOf(manager.getBranch()).includes("result c1: echo x"));
});

for (const [what, messages] of [
  ["none", []],
  ["no list", "all"],
  ["no messages", [null]],
] as const)
  test(`[X2] context: an answer with ${what} is refused, and what was there is sent`, async (t) => {
    const { session, server, events } = await startHarness(t, {
      hooks: hooksFrom({ context: () => ({ messages }) as never }),
      replies: say("ok"),
    });
    await session.prompt("Go");
    assert.deepEqual(sentMessages(server.requests[0]), ["user Go"]);
    assert.deepEqual(noticesOf(events), [
      "error: An extension's answer to context has no list of messages; nothing was changed.",
    ]);
  });

test("[X2] before_agent_start: messages go behind the prompt, the system prompt holds for the run", async (t) => {
  const seen: unknown[] = [];
  const { session, manager, server } = await startHarness(t, {
    systemPrompt: () => "Base.",
    hooks: hooksFrom({
      before_agent_start: (event) => {
        seen.push(event);
        return seen.length > 1
          ? undefined
          : {
              messages: [
                { customType: "a", content: "one", display: true, details: { n: 1 } },
                { customType: "b", content: "two", display: false },
              ],
              systemPrompt: `${event.systemPrompt} More.`,
            };
      },
    }),
    tools: echo,
    replies: [calling(), say("done"), say("again")],
  });
  await session.prompt("Go", { images: [{ type: "image", data: "QUJD", mimeType: "image/png" }] });
  await session.prompt("Next");
  const system = server.requests.map(({ body }) => body.messages?.find(({ role }) => role === "system")?.content);
  assert.deepEqual(system, ["Base. More.", "Base. More.", "Base."]);
  assert.deepEqual(seen, [
    {
      messageType: "user",
      prompt: "Go",
      images: [{ type: "image", data: "QUJD", mimeType: "image/png" }],
      systemPrompt: "Base.",
    },
    { messageType: "user", prompt: "Next", systemPrompt: "Base." },
  ]);
  const custom = manager.getBranch().filter((entry) => entry.type === "custom_message");
  assert.deepEqual(
    custom.map(({ customType, content, display, details }) => [customType, content, display, details]),
    [
      ["a", "one", true, { n: 1 }],
      ["b", "two", false, undefined],
    ],
  );
  assert.deepEqual(
    outlineOf(manager.getBranch()).filter((row) => row.startsWith("user") || row.startsWith("custom")),
    ["user: Go", "custom_message", "custom_message", "user: Next"],
  );
});

test("[X2] tool_call: an input changed in place or replaced is checked anew; what does not fit blocks the call", async (t) => {
  const inputs: ((input: Record<string, unknown>) => Record<string, unknown> | undefined)[] = [
    (input) => void (input["text"] = "in place"),
    () => ({ text: "replaced" }),
    () => ({ text: { no: "text" } }),
  ];
  const { session, manager } = await startHarness(t, {
    hooks: hooksFrom({
      tool_call: ({ input }) => {
        const other = inputs.shift()?.(input);
        return other === undefined ? undefined : { input: other };
      },
    }),
    tools: echo,
    replies: [calling(), calling(), calling(), say("done")],
  });
  await session.prompt("Go");
  const results = outlineOf(manager.getBranch()).filter((row) => row.startsWith("result"));
  assert.deepEqual(results.slice(0, 2), ["result c1: echo in place", "result c1: echo replaced"]);
  assert.match(results[2]!, /^result c1: The call was blocked: Validation failed for tool "echo":/);
  // The call stands as the model made it.
  const calls = manager
    .getBranch()
    .flatMap((entry) =>
      entry.type === "message" && entry.message.role === "assistant"
        ? entry.message.content.flatMap((block) => (block.type === "toolCall" ? [block.arguments] : []))
        : [],
    );
  assert.deepEqual(calls, [{ text: "x" }, { text: "x" }, { text: "x" }]);
});

test("[X2] tool_call: a blocked call has the reason as its failed result, and the tool does not run", async (t) => {
  let runs = 0;
  const { session, manager } = await startHarness(t, {
    hooks: hooksFrom({ tool_call: () => ({ block: true, reason: "Not in here." }) }),
    tools: () => [tool("echo", () => `ran ${++runs}`)],
    replies: [calling(), say("done")],
  });
  await session.prompt("Go");
  assert.equal(runs, 0);
  const result = manager.getBranch().find((entry) => entry.type === "message" && entry.message.role === "toolResult");
  assert.ok(result?.type === "message" && result.message.role === "toolResult");
  assert.deepEqual([result.message.content, result.message.isError], [[{ type: "text", text: "Not in here." }], true]);
});

test("[X2] tool_result: what the answer has replaces the result's parts, in the file and for the model", async (t) => {
  const { session, manager, server, events } = await startHarness(t, {
    hooks: hooksFrom({
      tool_result: ({ content, isError, toolCallId }) =>
        toolCallId === "bad"
          ? ({ content: "no list" } as never)
          : { content: [...content, { type: "text", text: " and more" }], details: { seen: isError }, isError: true },
    }),
    tools: echo,
    replies: [
      callTools(
        { id: "c1", name: "echo", arguments: { text: "x" } },
        { id: "bad", name: "echo", arguments: { text: "y" } },
      ),
      say("done"),
    ],
  });
  await session.prompt("Go");
  const results = manager
    .getBranch()
    .flatMap((entry) => (entry.type === "message" && entry.message.role === "toolResult" ? [entry.message] : []));
  assert.deepEqual(
    results.map(({ toolCallId, content, details, isError }) => [toolCallId, content.length, details, isError]),
    [
      ["c1", 2, { seen: false }, true],
      ["bad", 1, undefined, false],
    ],
  );
  assert.deepEqual(sentMessages(server.requests[1]).slice(-2), ["tool c1 echo x\n and more", "tool bad echo y"]);
  assert.deepEqual(noticesOf(events), [
    "error: An extension's answer to tool_result has content that is no list of blocks; nothing was changed.",
  ]);
});

test("[X2] input: transformed, dealt with, or as it is; idle, queued, and from where", async (t) => {
  const seen: unknown[] = [];
  const gate = Promise.withResolvers<string>();
  const { session, manager, server } = await startHarness(t, {
    hooks: hooksFrom({
      input: (event) => {
        seen.push(event);
        if (event.text.startsWith("?")) return { action: "handled" };
        return event.text.startsWith("=") ? { action: "transform", text: event.text.slice(1) } : undefined;
      },
    }),
    tools: () => [tool("wait", () => gate.promise)],
    replies: [callTools({ id: "c1", name: "wait", arguments: {} }), say("done")],
  });
  const said: string[] = [];
  const accepted = (disposition: string): void => void said.push(disposition);
  await session.prompt("?what", { accepted });
  assert.equal(server.requests.length, 0);
  const turn = session.prompt("=Go", { source: "rpc", accepted });
  await nextEvent(session, "tool_execution_start");
  await session.prompt("=steered", { streamingBehavior: "steer", accepted });
  await session.sendUserMessage("from an extension", { deliverAs: "followUp" });
  gate.resolve("x");
  await turn;
  assert.deepEqual(said, ["handled", "started", "queued"]);
  assert.deepEqual(seen, [
    { text: "?what", source: "interactive" },
    { text: "=Go", source: "rpc" },
    { text: "=steered", source: "interactive", streamingBehavior: "steer" },
    { text: "from an extension", source: "extension", streamingBehavior: "followUp" },
  ]);
  assert.deepEqual(
    outlineOf(manager.getBranch()).filter((row) => row.startsWith("user")),
    ["user: Go", "user: steered", "user: from an extension"],
  );
});

test("[X2] user_bash: a hook's result is recorded in place of running it, its operations run it", async (t) => {
  const asked: unknown[] = [];
  const ran: unknown[] = [];
  const { session, manager, dir } = await startHarness(t, {
    hooks: hooksFrom({
      user_bash: (event) => {
        asked.push(event);
        if (event.command === "told")
          return { result: { output: "said so", exitCode: 3, cancelled: false, truncated: false } };
        if (event.command !== "remote") return undefined;
        return {
          operations: {
            exec: async (command, cwd, { onData }) => {
              ran.push([command, cwd]);
              onData(Buffer.from("far "));
              onData(Buffer.from("away\n"));
              return { exitCode: 0 };
            },
          },
        };
      },
    }),
  });
  await session.runBash("told", { excludeFromContext: true });
  await session.runBash("remote");
  await session.runBash("echo here");
  assert.deepEqual(ran, [["remote", dir]]);
  assert.deepEqual(asked[0], { command: "told", excludeFromContext: true, cwd: dir });
  const recorded = manager
    .getEntries()
    .flatMap((entry) => (entry.type === "message" && entry.message.role === "bashExecution" ? [entry.message] : []));
  assert.deepEqual(
    recorded.map(({ command, output, exitCode, excludeFromContext }) => [
      command,
      output.trim(),
      exitCode,
      excludeFromContext,
    ]),
    [
      ["told", "said so", 3, true],
      ["remote", "far away", 0, undefined],
      ["echo here", "here", 0, undefined],
    ],
  );
});

test("[X2] before_provider_request replaces the body; after_provider_response has status and headers", async (t) => {
  const responses: unknown[] = [];
  const { session, server } = await startHarness(t, {
    hooks: hooksFrom({
      before_provider_request: ({ payload }) => ({ ...(payload as object), user: "me" }),
      after_provider_response: ({ status, headers }) => void responses.push([status, typeof headers["content-type"]]),
    }),
    replies: say("ok"),
  });
  await session.prompt("Go");
  assert.equal((server.requests[0]!.body as { user?: string }).user, "me");
  assert.deepEqual(responses, [[200, "string"]]);
});

test("[X2] provider_stream_event has each piece as the provider sent it, before what is made of it is told", async (t) => {
  const order: string[] = [];
  const { session } = await startHarness(t, {
    hooks: hooksFrom({
      provider_stream_event: ({ provider, api, model, data }) => {
        const { choices } = data as { choices: { delta: { content?: string } }[] };
        order.push(`${provider}/${model} ${api}: ${choices[0]?.delta.content ?? "-"}`);
      },
      message_update: ({ assistantMessageEvent: event }) => {
        if (event.type === "text_delta") order.push(`told: ${event.delta}`);
      },
    }),
    replies: say("one ", "two"),
  });
  await session.prompt("Go");
  const from = "endpoint/mock openai-completions";
  assert.deepEqual(order.filter((line) => /: (?:one |two)$/.test(line)).sort(), [
    `${from}: one `,
    `${from}: two`,
    "told: one ",
    "told: two",
  ]);
  assert.ok(order.indexOf(`${from}: one `) < order.indexOf("told: one "));
  assert.ok(order.indexOf(`${from}: two`) < order.indexOf("told: two"));
});

test("[X2] model and thinking level: set, cycled, and brought back by the path", async (t) => {
  const told: unknown[] = [];
  const { session, manager, registry, model, server } = await startHarness(t, {
    hooks: hooksFrom({
      model_select: (event) => void told.push([event.source, event.previousModel?.id, event.model.id]),
      session_info_changed: ({ name }) => void told.push(["name", name]),
    }),
    replies: say("ok"),
  });
  await session.prompt("Go");
  told.length = 0;
  const answer = manager.getLeafId()!;
  const added = await registry.addEndpoint({ baseUrl: server.baseUrl, model: "other" });
  assert.ok("model" in added);
  const both = (await registry.addEndpoint({ baseUrl: server.baseUrl, model: "mock" })) as { model: typeof model };
  session.setModel(added.model, "cycle");
  session.setModel(both.model);
  session.setModel(added.model);
  await session.navigateTree(answer);
  session.setSessionName("Named");
  assert.deepEqual(told, [
    ["cycle", "mock", "other"],
    ["set", "other", "mock"],
    ["set", "mock", "other"],
    ["restore", "other", "mock"],
    ["name", "Named"],
  ]);
});

test("[X2] changes of session: left, opened with the reason, then the older hooks; only what was begun is told", async (t) => {
  const { hooks, told } = listening();
  const { session, manager } = await startHarness(t, { hooks, replies: say("ok") });
  await session.newSession();
  assert.deepEqual(
    told.map(([name]) => name).filter((name) => name.startsWith("session_s")),
    ["session_switch"],
  );
  await session.begin();
  await session.begin();
  await session.prompt("Go");
  const first = manager.getSessionFile()!;
  told.length = 0;
  await session.newSession({ setup: (made) => made.appendCustomEntry("made", 1) });
  const second = manager.getSessionFile()!;
  assert.deepEqual(outlineOf(manager.getEntries()), ["custom"]);
  await session.switchSession(first);
  await assert.rejects(session.switchSession(`${first}.not`));
  await session.clone(manager.getEntries()[1]!.id);
  await session.reload(async () => void told.push(["input", {} as never]));
  await session.dispose();
  const told2 = told.filter(([name]) => name !== "session_info_changed" && name !== "model_select");
  assert.deepEqual(told2, [
    ["session_before_switch", { reason: "new" }],
    ["session_shutdown", { reason: "new" }],
    ["session_start", { reason: "new", previousSessionFile: first }],
    ["session_switch", { reason: "new", previousSessionFile: first }],
    ["session_before_switch", { reason: "resume", targetSessionFile: first }],
    ["session_shutdown", { reason: "resume", targetSessionFile: first }],
    ["session_start", { reason: "resume", previousSessionFile: second }],
    ["session_switch", { reason: "resume", previousSessionFile: second }],
    ["session_before_switch", { reason: "resume", targetSessionFile: `${first}.not` }],
    ["session_shutdown", { reason: "resume", targetSessionFile: `${first}.not` }],
    // It could not be opened: the session that was left goes on.
    ["session_start", { reason: "resume", previousSessionFile: first }],
    ["session_before_branch", { entryId: manager.getEntries()[1]!.id, position: "at" }],
    ["session_shutdown", { reason: "fork" }],
    ["session_start", { reason: "fork", previousSessionFile: first }],
    ["session_branch", { previousSessionFile: first }],
    ["session_shutdown", { reason: "reload" }],
    ["input", {}],
    ["session_start", { reason: "reload" }],
    ["session_shutdown", { reason: "quit" }],
  ]);
});

test("[X2] who does not let go of a session is left behind", async (t) => {
  const { session } = await startHarness(t, {
    hooks: hooksFrom({ session_shutdown: () => new Promise(() => undefined) }),
  });
  await session.begin();
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const disposed = session.dispose();
  await new Promise(setImmediate);
  t.mock.timers.tick(2_000);
  await disposed;
});

for (const name of ["context", "tool_call", "tool_result", "before_agent_start", "message_end", "turn_start"] as const)
  test(`[X2] ${name} that never answers: an abort ends the turn all the same`, async (t) => {
    const asked = Promise.withResolvers<void>();
    const { session, events } = await startHarness(t, {
      hooks: hooksFrom({
        [name]: () => {
          asked.resolve();
          return new Promise(() => undefined);
        },
      }),
      stopTimeoutMs: 50,
      tools: echo,
      replies: [calling(), hangAfter("never")],
    });
    const turn = session.prompt("Go");
    await asked.promise;
    await session.abort();
    await turn;
    assert.deepEqual(events.at(-1), { type: "agent_settled", aborted: true });
  });

test("[X2] tools of extensions: added and left out from the next request on, in the middle of a turn, too", async (t) => {
  let names = ["echo"];
  const all = [...echo(), tool("other", () => "other ran")];
  const { session, manager, server } = await startHarness(t, {
    tools: () => [],
    extendTools: () => all.filter(({ name }) => names.includes(name)),
    hooks: hooksFrom({ tool_execution_end: () => void (names = ["other"]) }),
    replies: [calling(), callTools({ id: "c2", name: "other", arguments: {} }), say("done")],
  });
  await session.prompt("Go");
  const offered = server.requests.map(({ body }) =>
    ((body as { tools?: { function: { name: string } }[] }).tools ?? []).map((one) => one.function.name),
  );
  assert.deepEqual(offered, [["echo"], ["other"], ["other"]]);
  assert.deepEqual(
    outlineOf(manager.getBranch()).filter((row) => row.startsWith("result")),
    ["result c1: echo x", "result c2: other ran"],
  );
});
