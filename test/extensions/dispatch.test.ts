import assert from "node:assert/strict";
import { test } from "node:test";
import type { ExtensionAPI } from "../../src/extensions/api.ts";
import type { AgentMessage } from "../../src/tree/messages.ts";
import { NO_UI } from "../../src/extensions/ui-port.ts";
import { extensionHost } from "../support/extension-harness.ts";

const user = (text: string): AgentMessage => ({ role: "user", content: text, timestamp: 1 });

test("[X2] listeners hear in the order of the extensions, then of their registration, each under its own name", async (t) => {
  const heard: unknown[] = [];
  const listens = (who: string) => (pi: ExtensionAPI) => {
    pi.on("session_before_fork", (event) => void heard.push([who, event]));
    pi.on("session_before_branch", (event) => void heard.push([who, event]));
  };
  const { host } = await extensionHost(t, { inline: [listens("first"), listens("second")] });
  assert.equal(host.has("session_before_branch"), true);
  assert.equal(host.has("session_branch"), false);
  assert.equal(await host.emit("session_before_branch", { entryId: "a", position: "before" }), undefined);
  const event = { entryId: "a", position: "before" };
  assert.deepEqual(heard, [
    ["first", { ...event, type: "session_before_fork" }],
    ["first", { ...event, type: "session_before_branch" }],
    ["second", { ...event, type: "session_before_fork" }],
    ["second", { ...event, type: "session_before_branch" }],
  ]);
});

test("[X2] before a change of session everyone is asked until one cancels; otherwise the last answer counts", async (t) => {
  let asked = 0;
  const answers = (answer: object | undefined) => (pi: ExtensionAPI) => {
    pi.on("session_before_tree", () => {
      asked += 1;
      return answer as never;
    });
  };
  const preparation = {
    targetId: "a",
    oldLeafId: "b",
    commonAncestorId: null,
    entriesToSummarize: [],
    userWantsSummary: true,
  };
  const event = { preparation, signal: new AbortController().signal };
  const one = await extensionHost(t, {
    inline: [answers({ label: "x" }), answers({ summary: { summary: "S" } }), answers(undefined)],
  });
  assert.deepEqual(await one.host.emit("session_before_tree", event), { summary: { summary: "S" } });
  assert.equal(asked, 3);
  const two = await extensionHost(t, { inline: [answers({ cancel: true }), answers({ label: "x" })] });
  assert.deepEqual(await two.host.emit("session_before_tree", event), { cancel: true });
  assert.equal(asked, 4);
});

test("[X2] context: each sees the messages of the one before, none those of the session", async (t) => {
  const { host } = await extensionHost(t, {
    inline: [
      (pi) => void pi.on("context", ({ messages }) => ({ messages: [...messages, user("added")] })),
      // What is changed in place counts, too.
      (pi) => {
        pi.on("context", ({ messages }) => {
          (messages[0] as { content: string }).content = "changed";
          messages.push(user("pushed"));
        });
      },
    ],
  });
  const messages = [user("one")];
  assert.deepEqual(await host.emit("context", { messages }), {
    messages: [user("changed"), user("added"), user("pushed")],
  });
  assert.deepEqual(messages, [user("one")]);
});

test("[X2] before_agent_start: messages accumulate, the system prompt is handed on, sections stand at its end", async (t) => {
  const prompts: string[] = [];
  const { host } = await extensionHost(t, {
    inline: [
      (pi) => {
        pi.on("before_agent_start", (event) => {
          prompts.push(event.systemPrompt);
          event.systemPromptOptions.sections["guide"] = "Guide.";
          return {
            message: { customType: "a", content: "A", display: true },
            systemPrompt: `${event.systemPrompt} More.`,
          };
        });
      },
      (pi) => {
        pi.on("before_agent_start", (event) => {
          prompts.push(event.systemPrompt);
          assert.deepEqual(event.systemPromptOptions.selectedTools, []);
          return { message: { customType: "b", content: "B", display: false, details: { x: 1 } } };
        });
      },
    ],
  });
  const event = { messageType: "user" as const, prompt: "Go", systemPrompt: "Be good." };
  assert.deepEqual(await host.emit("before_agent_start", event), {
    messages: [
      { customType: "a", content: "A", display: true },
      { customType: "b", content: "B", display: false, details: { x: 1 } },
    ],
    systemPrompt: "Be good. More.\n\nGuide.",
  });
  assert.deepEqual(prompts, ["Be good.", "Be good. More."]);
});

test("[X2] tool_call: input is changed in place or answered, the first block ends it", async (t) => {
  const { host } = await extensionHost(t, {
    inline: [
      (pi) => {
        pi.on("tool_call", ({ input }) => void (input["a"] = 1));
        pi.on("tool_call", ({ input }) => ({ input: { ...input, b: 2 } }));
        pi.on("tool_call", ({ input }) => (input["stop"] === true ? { block: true, reason: "No." } : undefined));
        pi.on("tool_call", ({ input }) => void (input["last"] = true));
      },
    ],
  });
  const event = { toolName: "bash", toolCallId: "1", input: { command: "ls" } };
  assert.deepEqual(await host.emit("tool_call", event), { input: { command: "ls", a: 1, b: 2, last: true } });
  assert.deepEqual(event.input, { command: "ls" });
  const stopped = await host.emit("tool_call", { ...event, input: { stop: true } });
  assert.deepEqual(stopped, { block: true, reason: "No." });
});

test("[X2] tool_result: patches add up; input: transforms chain and handled ends it", async (t) => {
  const { host } = await extensionHost(t, {
    inline: [
      (pi) => {
        pi.on("tool_result", () => ({ details: { seen: 1 } }));
        pi.on("tool_result", (event) => ({
          isError: true,
          content: [{ type: "text", text: JSON.stringify(event.details) }],
        }));
        pi.on("input", ({ text }) => ({ action: "transform", text: `${text}!` }));
        pi.on("input", ({ text }) => (text === "stop!" ? { action: "handled" } : { action: "continue" }));
        pi.on("input", ({ text }) => ({ action: "transform", text: `${text}?` }));
      },
    ],
  });
  const result = { toolName: "read", toolCallId: "1", input: {}, content: [], details: undefined, isError: false };
  assert.deepEqual(await host.emit("tool_result", result), {
    details: { seen: 1 },
    isError: true,
    content: [{ type: "text", text: '{"seen":1}' }],
  });
  assert.deepEqual(await host.emit("input", { text: "go", source: "rpc" }), { action: "transform", text: "go!?" });
  assert.deepEqual(await host.emit("input", { text: "stop", source: "rpc" }), { action: "handled" });
});

test("[X2] user_bash: the first who runs it; a payload: any answer; resources: all of them; compacting: the last", async (t) => {
  const { host } = await extensionHost(t, {
    inline: [
      (pi) => {
        pi.on("user_bash", () => undefined);
        pi.on("user_bash", () => ({ result: { output: "done", exitCode: 0, cancelled: false, truncated: false } }));
        pi.on("user_bash", () => assert.fail("never asked"));
        pi.on("before_provider_request", ({ payload }) => ({ ...(payload as object), a: 1 }));
        pi.on("before_provider_request", ({ payload }) => void ((payload as { b: number }).b = 2));
        // What is no record is no answer: `array.push` returns a number.
        pi.on("before_provider_request", () => 3);
        pi.on("resources_discover", () => ({ skillPaths: ["one"] }));
        pi.on("resources_discover", () => ({ skillPaths: ["two"], themePaths: ["t"] }));
        pi.on("session.compacting", () => ({ prompt: "First" }));
        pi.on("session.compacting", () => ({ context: ["Second"] }));
      },
    ],
  });
  assert.deepEqual(await host.emit("user_bash", { command: "x", excludeFromContext: false, cwd: "/" }), {
    result: { output: "done", exitCode: 0, cancelled: false, truncated: false },
  });
  assert.deepEqual(await host.emit("before_provider_request", { payload: { model: "m" } }), { model: "m", a: 1, b: 2 });
  assert.deepEqual(await host.emit("resources_discover", { cwd: "/", reason: "startup" }), {
    skillPaths: ["one", "two"],
    promptPaths: [],
    themePaths: ["t"],
  });
  assert.deepEqual(await host.emit("session.compacting", { sessionId: "s", messages: [] }), { context: ["Second"] });
});

test("[X2] who has stopped listening hears nothing more, also of an event under way", async (t) => {
  const heard: string[] = [];
  const { host } = await extensionHost(t, {
    inline: [
      (pi) => {
        pi.on("agent_start", () => {
          heard.push("first");
          end();
        });
        const end = pi.on("agent_start", () => void heard.push("second"));
      },
    ],
  });
  await host.emit("agent_start", {});
  await host.emit("agent_start", {});
  assert.deepEqual(heard, ["first", "first"]);
});

test("[X3] a dialog of the extension stops its clock", async (t) => {
  const answer = Promise.withResolvers<boolean>();
  const { host, errors } = await extensionHost(t, {
    limits: { handlerMs: 20 },
    mode: "tui",
    inline: [
      (pi) => {
        pi.on("tool_call", async (_event, ctx) => ({ block: !(await ctx.ui.confirm("Sure?", "")), reason: "No." }));
      },
    ],
  });
  const asked = Promise.withResolvers<void>();
  host.setUi(() => ({
    ...NO_UI,
    confirm: () => {
      asked.resolve();
      return answer.promise;
    },
  }));
  const call = host.emit("tool_call", { toolName: "bash", toolCallId: "1", input: {} });
  await asked.promise;
  // Longer than the limit.
  setTimeout(() => answer.resolve(true), 60);
  assert.deepEqual(await call, { input: {} });
  assert.deepEqual(errors, []);
});
