/** Messages, entries and tool calls as extensions draw them, in the chat and after a session is opened anew. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Box, Text, stripTerminalSequences } from "@earendil-works/pi-tui";
import type { ToolDefinition } from "../../src/extensions/api.ts";
import { ChatView } from "../../src/tui/chat-view.ts";
import { NO_EXTENSIONS } from "../../src/tui/screen-extensions.ts";
import type { Owned, ScreenExtensions } from "../../src/tui/screen-extensions.ts";
import { tool } from "../support/agent-harness.ts";
import { callTools, say } from "../support/provider-mock.ts";
import { textOf } from "../../src/tree/content.ts";
import { startExtended } from "./screen-extensions.ts";

const ENTER = "\r";
const EXPAND = "\x0f";

const shown = (rows: readonly string[]): string[] => rows.map((row) => row.trim()).filter((row) => row !== "");

test("[U2] an extension draws its message, also expanded and with its details; the message itself stays as it is", async (t) => {
  const { session, terminal, see, manager } = await startExtended(t, (owned) => ({
    messageRenderer: (type) =>
      type !== "note"
        ? undefined
        : owned((message, { expanded, outputPad }, theme) => {
            const box = new Box(outputPad, 0, (text) => theme.bg("customMessageBg", text));
            const text = textOf(message.content);
            box.addChild(new Text(`${theme.fg("accent", "*")} ${text} ${expanded ? "long" : "short"}`, 0, 0));
            message.content = "changed by the renderer";
            return box;
          }),
  }));
  await session.sendCustomMessage({ customType: "note", content: "Hello", display: true, details: { n: 1 } });
  await see("* Hello short");
  terminal.type(EXPAND);
  await see("* Hello long");
  await session.sendCustomMessage({ customType: "other", content: "Plain", display: true });
  const rows = shown(await see("Plain"));
  assert.deepEqual(rows.slice(rows.indexOf("[other]"), rows.indexOf("[other]") + 2), ["[other]", "Plain"]);
  await session.sendCustomMessage({ customType: "note", content: "Never seen", display: false });
  assert.deepEqual(
    manager.getEntries().flatMap((entry) => (entry.type === "custom_message" ? [entry.content] : [])),
    ["Hello", "Plain", "Never seen"],
  );
});

test("[U2, X3] a renderer that throws, at once or while it is drawn, or gives nothing leaves the usual box", async (t) => {
  const { session, see, failures } = await startExtended(t, (owned) => ({
    messageRenderer: (type) =>
      owned(() => {
        if (type === "now") throw new Error("at once");
        if (type === "nothing") return undefined;
        return {
          render: () => {
            throw new Error("while drawn");
          },
          invalidate: () => undefined,
        };
      }),
  }));
  for (const customType of ["now", "later", "nothing"])
    await session.sendCustomMessage({ customType, content: `text of ${customType}`, display: true });
  const rows = shown(await see("text of nothing"));
  assert.deepEqual(rows.slice(2, 8), [
    "[now]",
    "text of now",
    "[later]",
    "text of later",
    "[nothing]",
    "text of nothing",
  ]);
  assert.deepEqual(failures, ["mine.ts message renderer: at once", "mine.ts message renderer: while drawn"]);
});

test("[U2, X3] extensions change texts before they are drawn, one after the other; what fails changes nothing", async (t) => {
  const contexts: string[] = [];
  const { session, see, failures, server } = await startExtended(
    t,
    (owned) => ({
      markdownTransformers: (type) => [
        owned((text: string, { messageType, isStreaming, availableWidth }) => {
          contexts.push(`${messageType} ${isStreaming} ${availableWidth > 0}`);
          return isStreaming ? text : text.replace("cat", "dog");
        }),
        owned(() => (type === "user" ? (5 as never) : (Promise.reject(new Error("late")).catch(() => "") as never))),
        owned((text: string) => `${text.replace("dog", "fox")}\u001b[31m!`),
        owned(() => {
          throw new Error("broken");
        }),
      ],
    }),
    { replies: say("A **cat**.") },
  );
  await session.prompt("My cat");
  const rows = shown(await see("A fox"));
  assert.ok(rows.includes("› My fox!") && rows.includes("A fox.!"), rows.join("\n"));
  assert.equal(textOf((session.messages[0] as { content: string }).content), "My cat");
  assert.deepEqual(new Set(failures), new Set(["mine.ts markdown transformer: broken"]));
  assert.ok(contexts.includes("user false true") && contexts.includes("assistant false true"), contexts.join("\n"));
  assert.equal(server.requests.length, 1);
});

test("[U2, X3] what fails while the chat is drawn is said below it, and the chat can be drawn again", async () => {
  const failed = (): void => chat.addNotice("error", "It failed.");
  const value = (): never => {
    throw new Error("at once");
  };
  const chat: ChatView = new ChatView({
    expanded: false,
    hideThinking: false,
    expandKey: "ctrl+o",
    home: "/home",
    extensions: { ...NO_EXTENSIONS, entryRenderer: () => ({ owner: { name: "mine.ts", failed }, value }) },
  });
  const entry = { type: "custom", customType: "card", id: "1", parentId: null, timestamp: "" } as const;
  chat.addText("Before");
  chat.apply({ type: "entry_appended", entry });
  const draw = (): string[] => shown([...chat.render(40)].map((row) => stripTerminalSequences(row)));
  assert.deepEqual(draw(), ["Before"]);
  await Promise.resolve();
  assert.deepEqual(
    [draw(), draw()],
    [
      ["Before", "Error: It failed."],
      ["Before", "Error: It failed."],
    ],
  );
});

test("[U2] entries that an extension draws stand where they were appended, live and when the session is shown anew", async (t) => {
  const { session, terminal, see, seeNo } = await startExtended(
    t,
    (owned) => ({
      hasEntryRenderers: () => true,
      entryRenderer: (type) =>
        type === "card" ? owned((entry) => new Text(`card ${String(entry.data)}`, 0, 0)) : undefined,
    }),
    { replies: [say("one"), say("two")] },
  );
  terminal.type(..."first", ENTER);
  await see("one");
  await seeNo("Working");
  session.appendCustomEntry("card", "A");
  session.appendCustomEntry("unknown", "never");
  terminal.type(..."second", ENTER);
  await see("two");
  await seeNo("Working");
  session.appendCustomEntry("card", "B");
  const expected = ["› first", "one", "card A", "› second", "two", "card B"];
  const chat = (rows: readonly string[]): string[] => shown(rows).filter((row) => /^(›|one|two|card)/.test(row));
  assert.deepEqual(chat(await see("card B")), expected);
  const leaf = session.sessionManager.getLeafId()!;
  await session.navigateTree(session.getUserMessages()[0]!.entryId);
  await seeNo("card A");
  await session.navigateTree(leaf);
  assert.deepEqual(chat(await see("card B")), expected);
});

const drawnTool = (
  owned: <T>(value: T) => Owned<T>,
  renderers: Partial<ToolDefinition>,
): Partial<ScreenExtensions> => ({
  tool: (name) =>
    name === "greet"
      ? owned({ ...tool("greet", async () => "Hello Ada"), ...renderers } as unknown as ToolDefinition)
      : undefined,
});

test("[U2] a tool draws its call and its result, with state of its own, and what it leaves out is drawn as usual", async (t) => {
  const { terminal, see } = await startExtended(
    t,
    (owned) =>
      drawnTool(owned, {
        renderCall: (args, theme, { state, isPartial }) => {
          Object.assign(state as object, { calls: ((state as { calls?: number }).calls ?? 0) + 1 });
          return new Text(theme.bold(`greeting ${JSON.stringify(args)} ${isPartial ? "…" : "done"}`), 0, 0);
        },
        renderResult: (result, { expanded }, _theme, { state }) =>
          new Text(
            `${result.content[0]?.type === "text" ? result.content[0].text : ""} ${expanded} ${(state as { calls: number }).calls > 0}`,
            0,
            0,
          ),
      }),
    {
      replies: [callTools({ id: "c1", name: "greet", arguments: { who: "Ada" } }), say("Done")],
      tools: () => [tool("greet", async () => "Hello Ada")],
    },
  );
  terminal.type(..."Go", ENTER);
  await see("Done");
  await see('greeting {"who":"Ada"} done');
  await see("Hello Ada false true");
  terminal.type(EXPAND);
  await see("Hello Ada true true");
});

test("[U2, X3] a tool's renderers that throw leave bough's row", async (t) => {
  const { terminal, see, failures } = await startExtended(
    t,
    (owned) =>
      drawnTool(owned, {
        renderCall: () => {
          throw new Error("no call");
        },
        renderResult: () => ({
          render: () => {
            throw new Error("no result");
          },
          invalidate: () => undefined,
        }),
      }),
    {
      replies: [callTools({ id: "c1", name: "greet", arguments: { who: "Ada" } }), say("Done")],
      tools: () => [tool("greet", async () => "Hello Ada")],
    },
  );
  terminal.type(..."Go", ENTER);
  await see("Done");
  await see('greet {"who":"Ada"}');
  await see("Hello Ada");
  assert.deepEqual([...new Set(failures)].sort(), ["mine.ts renderCall: no call", "mine.ts renderResult: no result"]);
});

test("[U2, X4] commands of extensions complete with where they come from and run; bough's own of a name win", async (t) => {
  const ran: string[] = [];
  const command = (name: string, source: string) => ({
    name,
    description: `does ${name}`,
    source,
    complete: (prefix: string) => [{ value: `${prefix}x`, label: `${prefix}x` }],
    run: async (args: string) => void ran.push(`${name} ${args}`),
  });
  const { terminal, see, seeNo, server } = await startExtended(t, () => ({
    commands: () => [command("deploy:1", "user"), command("deploy:2", "npm:tools"), command("session", "user")],
    shortcuts: () => [{ key: "ctrl+g", description: "go", run: async () => void ran.push("key") }],
  }));
  terminal.type(..."/depl");
  await see("does deploy:1 [user]");
  await see("does deploy:2 [npm:tools]");
  terminal.type("\x1b", ..."oy:2 now", ENTER);
  await seeNo("does deploy");
  assert.deepEqual(ran, ["deploy:2 now"]);
  terminal.type(..."/session", ENTER);
  await see("Messages here");
  terminal.type("\x07");
  assert.deepEqual(ran, ["deploy:2 now", "key"]);
  assert.equal(server.requests.length, 0);
});
