import assert from "node:assert/strict";
import { test } from "node:test";
import type { ExtensionAPI, ExtensionContext } from "../../src/extensions/api.ts";
import type { HookEvent, HookName } from "../../src/agent/hook-port.ts";
import { HOOK_NAMES } from "../../src/extensions/merge-rules.ts";
import type { AgentMessage } from "../../src/tree/messages.ts";
import { extensionHost } from "../support/extension-harness.ts";

const preparation = {
  targetId: "a",
  oldLeafId: "b",
  commonAncestorId: null,
  entriesToSummarize: [],
  userWantsSummary: true,
};
const message: AgentMessage = { role: "user", content: "Hi", timestamp: 1 };
const signal = new AbortController().signal;
/** One event of each kind; those that are not here have nothing in them. */
const EVENTS: { [N in HookName]?: HookEvent<N> } = {
  session_before_tree: { preparation, signal },
  context: { messages: [message] },
  before_agent_start: { messageType: "user", prompt: "Go", systemPrompt: "Be good." },
  before_provider_request: { payload: { model: "m" } },
  message_end: { message },
  tool_call: { toolName: "bash", toolCallId: "1", input: { command: "ls" } },
  tool_result: { toolName: "bash", toolCallId: "1", input: {}, content: [], details: {}, isError: false },
  input: { text: "go", source: "rpc" },
  user_bash: { command: "ls", excludeFromContext: false, cwd: "/" },
};
const emitted = (name: string): never => (EVENTS[name as HookName] ?? {}) as never;

/** What bough acts on when every listener of an extension fails. */
const WITHOUT: { readonly [N in HookName]?: unknown } = {
  context: { messages: [message] },
  before_agent_start: {},
  before_provider_request: { model: "m" },
  tool_call: { block: true, reason: "The call was blocked because the extension inline:1 failed: tool_call!" },
  input: { action: "continue" },
  resources_discover: { skillPaths: [], promptPaths: [], themePaths: [] },
  user_bash: {
    result: {
      output: "The command was not run because the extension inline:1 failed: user_bash!",
      exitCode: 1,
      cancelled: false,
      truncated: false,
    },
  },
};

test("[X3] an extension that throws at everything is told of once for each event, and others go on", async (t) => {
  const heard: string[] = [];
  const { host, errors, told } = await extensionHost(t, {
    inline: [
      (pi) => {
        for (const name of HOOK_NAMES)
          pi.on(name as "agent_start", () => {
            throw new Error(`${name}!`);
          });
      },
      (pi) => {
        for (const name of HOOK_NAMES) pi.on(name as "agent_start", () => void heard.push(name));
      },
    ],
  });
  const answers: Record<string, unknown> = {};
  for (const name of HOOK_NAMES) answers[name] = await host.emit(name as HookName, emitted(name));
  for (const name of HOOK_NAMES) await host.emit(name as HookName, emitted(name));
  assert.deepEqual(answers, Object.fromEntries([...HOOK_NAMES].map((name) => [name, WITHOUT[name as HookName]])));
  // Where a failure decides, nobody else is asked.
  const others = [...HOOK_NAMES].filter((name) => name !== "tool_call" && name !== "user_bash");
  assert.deepEqual(heard, [...others, ...others]);
  assert.deepEqual(
    told,
    [...HOOK_NAMES].map((name) => `error: The extension inline:1 failed at "${name}": ${name}!`),
  );
  assert.equal(errors.length, 2 * HOOK_NAMES.size);
  const { stack = "", ...first } = errors[0]!;
  assert.deepEqual(first, { extensionPath: "inline:1", event: "session_start", error: "session_start!" });
  assert.match(stack, /hostile\.test\.ts:\d+:\d+/);
});

test("[X3] an extension that never answers is waited for as long as the limits say; a tool call is blocked then", async (t) => {
  const { host, told } = await extensionHost(t, {
    limits: { handlerMs: 5, shutdownMs: 1 },
    inline: [
      (pi) => {
        for (const name of ["agent_start", "tool_call", "session_shutdown"] as const)
          pi.on(name as "agent_start", () => new Promise<void>(() => undefined));
      },
    ],
  });
  assert.equal(await host.emit("agent_start", {}), undefined);
  assert.equal(await host.emit("session_shutdown", { reason: "quit" }), undefined);
  assert.deepEqual(await host.emit("tool_call", emitted("tool_call")), {
    block: true,
    reason:
      'The call was blocked because the extension inline:1 failed: Nothing came of "tool_call" within 0.005 seconds.',
  });
  assert.deepEqual(told, [
    'error: The extension inline:1 failed at "agent_start": Nothing came of "agent_start" within 0.005 seconds.',
    'error: The extension inline:1 failed at "session_shutdown": Nothing came of "session_shutdown" within 0.001 seconds.',
    'error: The extension inline:1 failed at "tool_call": Nothing came of "tool_call" within 0.005 seconds.',
  ]);
});

test("[X3] goodbyes are said to all at once", async (t) => {
  const order: string[] = [];
  const both = Promise.withResolvers<void>();
  const says = (who: string) => (pi: ExtensionAPI) => {
    pi.on("session_shutdown", async () => {
      order.push(who);
      if (order.length === 2) both.resolve();
      await both.promise;
      order.push(`${who} done`);
    });
  };
  const { host, errors } = await extensionHost(t, { inline: [says("a"), says("b")] });
  await host.emit("session_shutdown", { reason: "quit" });
  assert.deepEqual([order, errors], [["a", "b", "a done", "b done"], []]);
});

test("[X3] what an extension does to what it is told stays with it", async (t) => {
  const { host } = await extensionHost(t, {
    inline: [
      (pi) => {
        for (const name of HOOK_NAMES)
          pi.on(name as "agent_start", (event) => {
            if (name !== "context" && name !== "before_provider_request") spoil(event);
          });
      },
    ],
  });
  const before = structuredClone({ ...EVENTS, session_before_tree: undefined });
  for (const name of HOOK_NAMES) await host.emit(name as HookName, emitted(name));
  assert.deepEqual({ ...EVENTS, session_before_tree: undefined }, before);
  assert.deepEqual(preparation.entriesToSummarize, []);
});

/** Changes everything that can be reached. */
function spoil(value: unknown): void {
  if (typeof value !== "object" || value === null || value instanceof AbortSignal) return;
  for (const key of Object.keys(value)) {
    spoil((value as Record<string, unknown>)[key]);
    (value as Record<string, unknown>)[key] = "spoiled";
  }
  if (Array.isArray(value)) value.push("spoiled");
}

test("[X3] answers of the wrong kind are told of and count as none", async (t) => {
  const answers = (pi: ExtensionAPI): void => {
    pi.on("context", () => ({ messages: "none" as never }));
    pi.on("before_agent_start", () => ({ message: { content: "no type" } as never, systemPrompt: 5 as never }));
    pi.on("tool_result", () => ({ content: "text" as never }));
    pi.on("session_before_switch", () => "cancel" as never);
  };
  const { host, told } = await extensionHost(t, { inline: [answers] });
  assert.deepEqual(await host.emit("context", emitted("context")), { messages: [message] });
  assert.deepEqual(await host.emit("before_agent_start", emitted("before_agent_start")), {});
  assert.equal(await host.emit("tool_result", emitted("tool_result")), undefined);
  assert.equal(await host.emit("session_before_switch", { reason: "new" }), undefined);
  assert.deepEqual(told, [
    'error: The extension inline:1 failed at "context": The answer to "context" must be a list of messages.',
    'error: The extension inline:1 failed at "before_agent_start": A message must have a customType, and text or a list of blocks as its content.',
    'error: The extension inline:1 failed at "tool_result": The answer to "tool_result" must be an object whose content is a list.',
  ]);
});

test("[X3] things that cannot be shown are thrown, and shown", async (t) => {
  const { host, errors } = await extensionHost(t, {
    inline: [
      (pi) => {
        pi.on("agent_start", () => {
          throw Object.create(null);
        });
        pi.on("agent_end", () => Promise.reject(undefined));
      },
    ],
  });
  await host.emit("agent_start", {});
  await host.emit("agent_end", { messages: [] });
  assert.deepEqual(errors, [
    { extensionPath: "inline:1", event: "agent_start", error: "something that cannot be shown" },
    { extensionPath: "inline:1", event: "agent_end", error: "undefined" },
  ]);
});

test("[X3] who calls back after a reload is refused, with everything it kept", async (t) => {
  let kept: { pi: ExtensionAPI; ctx: ExtensionContext } | undefined;
  const late = Promise.withResolvers<void>();
  const { host, errors, session } = await extensionHost(t, {
    limits: { handlerMs: 5 },
    inline: [
      (pi) => {
        pi.on("session_start", (_event, ctx) => void (kept ??= { pi, ctx }));
        pi.on("agent_start", async () => {
          await late.promise;
          pi.sendUserMessage("late");
        });
      },
    ],
  });
  await host.emit("session_start", { reason: "startup" });
  await host.emit("agent_start", {});
  const { pi, ctx } = kept!;
  const { ui, sessionManager } = ctx;
  await host.reload();
  late.resolve();
  const stale = {
    message: "This extension has been loaded anew or was not loaded; its former objects can no longer be used.",
  };
  for (const use of [
    () => pi.on("agent_end", () => undefined),
    () => pi.sendMessage({ customType: "x", content: "x", display: true }),
    () => pi.appendEntry("x"),
    () => pi.getFlag("x"),
    () => pi.exec("true"),
    () => pi.events.emit("x"),
    () => pi.registerCommand("x", { handler: () => undefined }),
    () => ctx.cwd,
    () => ctx.sessionManager,
    () => ctx.isIdle(),
    () => ctx.mode,
    () => ui.notify("x"),
  ])
    assert.throws(use, stale);
  assert.equal(sessionManager.getLeafId(), null);
  assert.deepEqual(session.sent, []);
  assert.deepEqual(
    errors.map(({ error }) => error),
    ['Nothing came of "agent_start" within 0.005 seconds.'],
  );
});

test("[X3] an extension that floods and clashes takes nobody's place and stops nobody", async (t) => {
  const floods = (pi: ExtensionAPI): void => {
    for (let n = 0; n < 1000; n += 1) pi.registerCommand(`c${n}`, { handler: () => undefined });
    for (const name of ["quit", "both"]) pi.registerCommand(name, { handler: () => undefined });
    pi.on("agent_end", () => {
      for (let n = 0; n < 1000; n += 1) pi.sendMessage({ customType: "flood", content: `${n}`, display: true });
    });
  };
  const { host, session } = await extensionHost(t, {
    builtInCommands: new Set(["quit"]),
    inline: [floods, (pi) => pi.registerCommand("both", { handler: () => undefined })],
  });
  await host.emit("agent_end", { messages: [] });
  assert.equal(session.sent.length, 1000);
  const commands = host.getCommands().map(({ name }) => name);
  assert.deepEqual(commands.slice(0, 2), ["c0", "c1"]);
  assert.deepEqual(commands.slice(1000), ["both:1", "both:2"]);
  assert.equal(await host.runCommand("quit", ""), false);
  assert.deepEqual(host.problems, [
    "The extension inline:1 has a command /quit, which is bough's own; bough's is used.",
  ]);
});

test("[X3] a name that cannot be typed, or that providers would refuse, is refused when it is registered", async (t) => {
  let pi: ExtensionAPI | undefined;
  const { host } = await extensionHost(t, { inline: [(given) => void (pi = given)] });
  const handler = (): undefined => undefined;
  const tool = { label: "t", description: "d", parameters: { type: "object" }, execute: () => assert.fail("not run") };
  for (const name of ["two words", "a\u001b[31mb", "line\nend", "bell\u0007", "\u009b"]) {
    const refusal = { message: "The name of a tool or command must have no spaces and no control characters." };
    assert.throws(() => pi!.registerCommand(name, { handler }), refusal);
    assert.throws(() => pi!.registerTool({ ...tool, name } as never), refusal);
  }
  assert.deepEqual(host.getCommands(), []);
  pi!.registerCommand("zusammenfügen:2", { handler });
  assert.deepEqual(
    host.getCommands().map(({ name }) => name),
    ["zusammenfügen:2"],
  );
});
