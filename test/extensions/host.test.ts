import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import type { AgentTool } from "@earendil-works/pi-agent-core";
import type { ExtensionAPI, ExtensionContext } from "../../src/extensions/api.ts";
import { entryRendererOf, messageRendererOf } from "../../src/extensions/registrations.ts";
import { NO_UI, PLAIN_THEME } from "../../src/extensions/ui-port.ts";
import type { ExtensionTheme } from "../../src/extensions/ui-port.ts";
import { extensionHost, moduleUrl } from "../support/extension-harness.ts";

const NAMES = new Map([
  ["typebox", moduleUrl("export const Type = { Object: (properties) => ({ type: 'object', properties }) };")],
]);
const userMessage = { role: "user" as const, content: "Hi", timestamp: 1 };

test("[X1, X4] an extension in a file registers, listens, acts and keeps its state on the branch", async (t) => {
  const { host, session, manager, path, errors } = await extensionHost(t, {
    names: NAMES,
    files: {
      "counter/index.ts": `
        import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
        import { Type } from "typebox";
        import { plus } from "./plus.js";
        export default async function (pi: ExtensionAPI) {
          await Promise.resolve();
          let count = 0;
          const restore = (_event: unknown, ctx: any) => {
            count = 0;
            for (const entry of ctx.sessionManager.getBranch())
              if (entry.type === "custom" && entry.customType === "count") count = entry.data;
          };
          pi.on("session_start", restore);
          pi.on("session_tree", restore);
          pi.registerTool({
            name: "count", label: "Count", description: "Counts.", parameters: Type.Object({}),
            async execute() { count = plus(count, 1); pi.appendEntry("count", count); return { content: [{ type: "text", text: String(count) }], details: { count } }; },
          });
          pi.registerCommand("count", { description: "Says it", handler: async (args, ctx) => {
            pi.sendMessage({ customType: "count", content: \`\${args} \${count}\`, display: true }, { triggerTurn: true });
          } });
        }`,
      "counter/plus.ts": "export const plus = (a: number, b: number): number => a + b;",
    },
  });
  assert.deepEqual([host.problems, host.extensions.map((one) => one.path)], [[], [path("counter/index.ts")]]);
  await host.emit("session_start", { reason: "startup" });
  const [tool] = host.tools.merged([]) as [AgentTool];
  assert.deepEqual([tool.name, tool.label, tool.description], ["count", "Count", "Counts."]);
  assert.deepEqual(await tool.execute("1", {}), { content: [{ type: "text", text: "1" }], details: { count: 1 } });
  const one = manager.getLeafId()!;
  await tool.execute("2", {});
  assert.equal(await host.runCommand("count", "Now"), true);
  manager.branch(one);
  await host.emit("session_tree", { newLeafId: one, oldLeafId: null });
  assert.equal(await host.runCommand("count", "Then"), true);
  const said = (content: string): unknown[] => [
    "sendCustomMessage",
    { customType: "count", content, display: true },
    { triggerTurn: true },
  ];
  assert.deepEqual([session.sent, errors], [[said("Now 2"), said("Then 1")], []]);
});

test("[X1, X3] what fails to load leaves nothing behind, and the others are there", async (t) => {
  const leftovers: ExtensionAPI[] = [];
  Object.assign(globalThis, { leftovers });
  t.after(() => Reflect.deleteProperty(globalThis, "leftovers"));
  const registers = `globalThis.leftovers.push(pi); pi.registerCommand("x", { handler() {} }); pi.on("agent_start", () => {}); pi.events.on("c", () => { throw new Error("heard"); });`;
  const { host, path, errors } = await extensionHost(t, {
    limits: { factoryMs: 500 },
    files: {
      "a-throws.ts": `export default (pi) => { ${registers} throw new Error("not today"); };`,
      "b-rejects.ts": `export default async (pi) => { ${registers} await null; throw new Error("nor tomorrow"); };`,
      "c-hangs.ts": `export default (pi) => { ${registers} return new Promise(() => {}); };`,
      "d-none.ts": "export const factory = 1;",
      "e-syntax.ts": "export default (",
      "f-import.ts": 'throw new Error("at once");',
      "g-acts.ts": `export default (pi) => { pi.sendMessage({ customType: "x", content: "", display: true }); };`,
      "h-good.ts": `export default (pi) => { pi.registerCommand("good", { handler() {} }); };`,
    },
  });
  assert.deepEqual(
    host.extensions.map((one) => one.path),
    [path("h-good.ts")],
  );
  assert.deepEqual(
    host.getCommands().map(({ name }) => name),
    ["good"],
  );
  assert.equal(host.has("agent_start"), false);
  const problems = [...host.problems];
  const failed = (name: string, reason: string): string => `The extension ${path(name)} was not loaded: ${reason}`;
  const [syntax] = problems.splice(4, 1) as [string];
  assert.ok(syntax.startsWith(failed("e-syntax.ts", `${path("e-syntax.ts")}: `)), syntax);
  assert.deepEqual(problems, [
    failed("a-throws.ts", "not today"),
    failed("b-rejects.ts", "nor tomorrow"),
    failed("c-hangs.ts", "its factory has not returned within 0.5 seconds."),
    failed("d-none.ts", "its default export is not a function."),
    failed("f-import.ts", "at once"),
    failed(
      "g-acts.ts",
      "pi.sendMessage cannot be called while the extension is being loaded; call it from a handler, a command or a tool.",
    ),
  ]);
  assert.equal(leftovers.length, 3);
  for (const pi of leftovers) {
    assert.throws(() => pi.registerCommand("y", { handler: () => undefined }), /can no longer be used/);
    assert.throws(() => pi.events.emit("c"), /can no longer be used/);
  }
  assert.deepEqual(errors, []);
});

test("[X1] tools: the first of a name counts, also before bough's own; which are active is the extensions' to say", async (t) => {
  const own = (name: string): AgentTool => ({
    name,
    label: name,
    description: `bough's ${name}`,
    parameters: { type: "object" },
    execute: async () => ({ content: [], details: undefined }),
  });
  const tool = (name: string, description: string) => ({
    name,
    label: name,
    description,
    parameters: { type: "object" } as never,
    promptSnippet: `About ${name}`,
    execute: async () => ({ content: [{ type: "text" as const, text: description }], details: undefined }),
  });
  let api: ExtensionAPI | undefined;
  const { host } = await extensionHost(t, {
    builtInTools: () => [own("read"), own("bash")],
    inline: [
      (pi) => {
        api = pi;
        pi.registerTool(tool("bash", "first"));
        pi.registerTool({ ...tool("bad", "bad"), execute: async () => "no" as never });
      },
      (pi) => pi.registerTool(tool("bash", "second")),
    ],
  });
  const described = (): string[] => host.tools.merged([own("read"), own("bash")]).map(({ description }) => description);
  assert.deepEqual(api!.getActiveTools(), ["read", "bash", "bad"]);
  assert.deepEqual(described(), ["bough's read", "first", "bad"]);
  assert.deepEqual(
    api!.getAllTools().map(({ name, sourceInfo }) => [name, sourceInfo.path]),
    [
      ["read", "builtin:read"],
      ["bash", "inline:1"],
      ["bad", "inline:1"],
    ],
  );
  assert.equal(host.tools.promptNotes([{ name: "read" }, { name: "bash" }]), "- bash: About bash");
  const bad = host.tools.merged([]).find(({ name }) => name === "bad")!;
  await assert.rejects(bad.execute("1", {}), {
    message: 'The tool "bad" has given no result: its content must be a list of blocks.',
  });
  api!.setActiveTools(["bash", "unknown"]);
  assert.deepEqual([api!.getActiveTools(), described()], [["bash"], ["first"]]);
  api!.registerTool(tool("late", "late"));
  assert.deepEqual(api!.getActiveTools(), ["bash", "late"]);
  assert.deepEqual(host.problems, [
    'The extensions inline:1 and inline:2 both have a tool "bash"; the former\'s is used.',
  ]);
});

test("[X1] flags: the command line's value, else the default; wrong ones are told of", async (t) => {
  const seen: unknown[] = [];
  const { host } = await extensionHost(t, {
    inline: [
      (pi) => {
        pi.registerFlag("plan", { type: "boolean", default: false, description: "Plan" });
        pi.registerFlag("level", { type: "string", default: "low" });
        pi.registerFlag("level", { type: "string", default: "again" });
        seen.push(pi.getFlag("plan"), pi.getFlag("level"), pi.getFlag("others"));
        pi.on("session_start", () => void seen.push(pi.getFlag("plan"), pi.getFlag("level")));
      },
      (pi) => pi.registerFlag("others", { type: "boolean" }),
    ],
  });
  assert.deepEqual(
    host.setFlags([
      { name: "plan" },
      { name: "level", value: "high" },
      { name: "none" },
      { name: "others", value: "x" },
    ]),
    [
      "There is no flag --none: neither bough nor an extension that is loaded has it.",
      '--others is on or off and takes no text, but was given "x".',
    ],
  );
  await host.emit("session_start", { reason: "startup" });
  assert.deepEqual(host.setFlags([{ name: "level" }]), ["--level needs a text behind it."]);
  await host.emit("session_start", { reason: "startup" });
  assert.deepEqual(seen, [false, "low", undefined, true, "high", false, "low"]);
  assert.deepEqual(
    host.getFlags().map(({ name }) => name),
    ["plan", "level", "others"],
  );
});

test("[X1] keys: reserved ones are refused, the last of two counts, and what throws is told of each time", async (t) => {
  const pressed: string[] = [];
  const keys = (who: string) => (pi: ExtensionAPI) => {
    pi.registerShortcut("Ctrl+X" as "ctrl+x", { description: who, handler: () => void pressed.push(who) });
    pi.registerShortcut("ctrl+c", { handler: () => void pressed.push("never") });
  };
  const { host, told } = await extensionHost(t, {
    isReservedKey: (key) => key === "ctrl+c",
    inline: [
      keys("a"),
      keys("b"),
      (pi) =>
        pi.registerShortcut("f5", {
          handler: () => {
            throw new Error("broken");
          },
        }),
    ],
  });
  const [x, f5] = host.getShortcuts();
  assert.deepEqual([x?.key, x?.description, f5?.key], ["ctrl+x", "b", "f5"]);
  for (const shortcut of [x!, f5!, f5!]) await host.runShortcut(shortcut);
  assert.deepEqual(pressed, ["b"]);
  const broken = 'error: The extension inline:3 failed at "key f5": broken';
  assert.deepEqual(told, [broken, broken]);
  assert.deepEqual(host.problems, [
    "The extension inline:1 wants the key ctrl+c, which bough needs itself; it is not given.",
    "The extensions inline:1 and inline:2 both want the key ctrl+x; the latter has it.",
    "The extension inline:2 wants the key ctrl+c, which bough needs itself; it is not given.",
  ]);
});

test("[X1] commands: completions, failures and what is not there", async (t) => {
  const { host, told } = await extensionHost(t, {
    inline: [
      (pi) => {
        pi.registerCommand("go", {
          description: "Goes",
          getArgumentCompletions: (prefix) => [{ value: `${prefix}1`, label: "One" }],
          handler: async () => {
            throw new Error("no way");
          },
        });
        pi.registerCommand("bad", { getArgumentCompletions: () => "x" as never, handler: () => 5 });
      },
    ],
    otherCommands: () => [],
  });
  assert.deepEqual(await host.completeCommand("go", "a"), [{ value: "a1", label: "One" }]);
  assert.equal(await host.completeCommand("bad", "a"), null);
  assert.equal(await host.completeCommand("none", "a"), null);
  assert.deepEqual([await host.runCommand("go", ""), await host.runCommand("go", "")], [true, true]);
  assert.deepEqual([await host.runCommand("bad", ""), await host.runCommand("none", "")], [true, false]);
  const failed = 'error: The extension inline:1 failed at "/go": no way';
  assert.deepEqual(told, [failed, failed]);
});

test("[X1] renderers: of a type the first counts", async (t) => {
  const [one, two, state] = [() => undefined, () => undefined, () => undefined];
  const { host } = await extensionHost(t, {
    inline: [
      (pi) => {
        pi.registerMessageRenderer("note", one);
        pi.registerMessageRenderer("note", two);
        pi.registerEntryRenderer("state", state);
      },
      (pi) => pi.registerMessageRenderer("note", two),
    ],
  });
  const [first] = host.extensions;
  assert.deepEqual(messageRendererOf(host.extensions, "note"), { extension: first, value: one });
  assert.deepEqual(entryRendererOf(host.extensions, "state"), { extension: first, value: state });
  assert.equal(messageRendererOf(host.extensions, "state"), undefined);
});

test("[X1] contexts say what there is, and answer without a screen as documented", async (t) => {
  let seen: Record<string, unknown> | undefined;
  const { host, cwd, session } = await extensionHost(t, {
    inline: [
      (pi) => {
        pi.on("session_start", async (_event, ctx) => {
          seen = { ...facts(ctx), ...(await answers(ctx)) };
          await ctx.compact("Briefly");
          ctx.compact({ onError: (error) => (seen!["compact"] = error.message) });
        });
      },
    ],
  });
  await host.emit("session_start", { reason: "startup" });
  assert.deepEqual(seen, {
    mode: "print",
    hasUI: false,
    cwd,
    model: undefined,
    thinkingLevel: "off",
    idle: true,
    pending: false,
    trusted: true,
    usage: { tokens: 10, contextWindow: 100, percent: 10 },
    systemPrompt: "Be good.",
    models: [],
    dialogs: [undefined, false, undefined, undefined, undefined],
    text: "",
    red: "x",
    compact: "The compaction was cancelled.",
  });
  assert.deepEqual(session.sent, [
    ["compact", { focus: "Briefly" }],
    ["compact", {}],
  ]);
});

const facts = (ctx: ExtensionContext) => ({
  mode: ctx.mode,
  hasUI: ctx.hasUI,
  cwd: ctx.cwd,
  model: ctx.model,
  thinkingLevel: ctx.thinkingLevel,
  idle: ctx.isIdle(),
  pending: ctx.hasPendingMessages(),
  trusted: ctx.isProjectTrusted(),
  usage: ctx.getContextUsage(),
  systemPrompt: ctx.getSystemPrompt(),
  models: ctx.modelRegistry.getAvailable(),
});
async function answers({ ui }: ExtensionContext): Promise<Record<string, unknown>> {
  const dialogs = [
    await ui.select("Which?", ["a"]),
    await ui.confirm("Sure?", ""),
    await ui.input("What?"),
    await ui.editor("Text"),
    await ui.custom(() => assert.fail("not drawn")),
  ];
  ui.notify("unheard");
  return { dialogs, text: ui.getEditorText(), red: ui.theme.fg("error", "x") };
}

test("[X1] a command's context moves in the tree and between sessions, and the text goes to the editor", async (t) => {
  const texts: string[] = [];
  const results: unknown[] = [];
  const { host, session, manager, errors } = await extensionHost(t, {
    inline: [
      (pi) => {
        pi.registerCommand("move", {
          handler: async (_args, ctx) => {
            const id = ctx.sessionManager.getLeafId()!;
            await ctx.waitForIdle();
            results.push(await ctx.navigateTree(id), await ctx.branch(id), await ctx.fork(id, { position: "at" }));
            results.push(await ctx.switchSession("/none", { withSession: () => assert.fail("cancelled") }));
            const moved = await ctx.newSession({
              setup: (sm) => void sm.appendMessage(userMessage),
              withSession: async (other) => {
                results.push(other.sessionManager.getEntries().length);
                await other.sendUserMessage("Go on");
              },
            });
            results.push(moved);
          },
        });
      },
    ],
  });
  host.setUi(() => ({ ...NO_UI, setEditorText: (text) => texts.push(text) }));
  const id = manager.appendMessage(userMessage);
  await host.runCommand("move", "");
  assert.deepEqual(errors, []);
  assert.deepEqual(results, [
    { cancelled: false },
    { cancelled: false },
    { cancelled: false },
    { cancelled: true },
    1,
    { cancelled: false },
  ]);
  assert.deepEqual(texts, ["Edit me", "Again"]);
  assert.deepEqual(session.sent, [
    ["branch", id],
    ["clone", id],
    ["sendUserMessage", "Go on", {}],
  ]);
});

test("[X1] extensions talk to each other; a listener that throws, at once or later, is told of", async (t) => {
  const heard: unknown[] = [];
  const { host, told } = await extensionHost(t, {
    inline: [
      (pi) => {
        pi.events.on("news", () => {
          throw new Error("not me");
        });
        pi.events.on("news", async () => {
          await Promise.resolve();
          throw new Error("nor me");
        });
      },
      (pi) => {
        const end = pi.events.on("news", (data) => void heard.push(data));
        pi.on("agent_start", () => {
          pi.events.emit("news", 1);
          end();
          pi.events.emit("news", 2);
        });
      },
    ],
  });
  await host.emit("agent_start", {});
  await new Promise(setImmediate);
  assert.deepEqual(heard, [1]);
  assert.deepEqual(told, ['error: The extension inline:1 failed at "events news": not me']);
});

test("[X1] a reload says goodbye, reads every file anew and begins again", async (t) => {
  const events: string[] = [];
  Object.assign(globalThis, { reloadEvents: events });
  t.after(() => Reflect.deleteProperty(globalThis, "reloadEvents"));
  const source = (text: string): string => `
    import { word } from "./words/word.js";
    export default function (pi) {
      for (const name of ["session_start", "session_shutdown"])
        pi.on(name, (event) => void globalThis.reloadEvents.push(\`${text} \${word} \${event.type} \${event.reason}\`));
      pi.registerCommand("${text}", { handler: (args, ctx) => ctx.reload() });
      pi.registerFlag("f", { type: "string" });
      pi.on("agent_start", () => void globalThis.reloadEvents.push(pi.getFlag("f")));
    }`;
  let cleared = 0;
  const { host, path, told, errors } = await extensionHost(t, {
    clearScreen: () => (cleared += 1),
    files: {
      "one.ts": source("one"),
      "words/word.ts": 'export const word: string = "old";',
      "gone.ts": "export default (pi) => { pi.setSomething; };",
    },
  });
  host.setFlags([{ name: "f", value: "v" }]);
  await host.emit("session_start", { reason: "startup" });
  writeFileSync(path("one.ts"), source("two"));
  writeFileSync(path("words/word.ts"), 'export const word: string = "new";');
  writeFileSync(path("bad.ts"), "export default 5;");
  rmSync(path("gone.ts"));
  await host.runCommand("one", "");
  await host.emit("agent_start", {});
  assert.deepEqual(events, [
    "one old session_start startup",
    "one old session_shutdown reload",
    "two new session_start reload",
    "v",
  ]);
  assert.deepEqual(
    host.getCommands().map(({ name }) => name),
    ["two"],
  );
  assert.deepEqual(told, [
    `warning: The extension ${path("bad.ts")} was not loaded: its default export is not a function.`,
  ]);
  assert.deepEqual([cleared, errors], [1, []]);
});

test("[X3] with the debug switch the place in the extension is told", async (t) => {
  const { host, path, told } = await extensionHost(t, {
    debug: true,
    files: {
      "a.ts": 'export default (pi) => {\n  pi.on("agent_start", () => {\n    throw new Error("here");\n  });\n};',
      "b.ts": 'enum Two {}\nthrow new Error("there");',
    },
  });
  await host.emit("agent_start", {});
  assert.ok(told[0]?.includes(`${path("a.ts")}:3:11`), told[0]);
  assert.ok(host.problems[0]?.includes(path("b.ts")), host.problems[0]);
});

test("[X4] what bough does not have is told of, and the extension works without it", async (t) => {
  const { host } = await extensionHost(t, {
    files: {
      "a.ts": `export default (pi) => { pi.registerToolRenderer(() => undefined); pi.on("cache_warming_decision", () => {}); pi.registerCommand("x", { handler() {} }); };`,
    },
  });
  assert.deepEqual(
    host.getCommands().map(({ name }) => name),
    ["x"],
  );
  assert.deepEqual(
    host.problems.map((problem) => problem.replace(/\S+a\.ts/, "a.ts")),
    [
      "The extension a.ts uses pi.registerToolRenderer, which bough does not have; that part of it does nothing.",
      'The extension a.ts listens to "cache_warming_decision", which bough does not have; that is never told.',
    ],
  );
});

test("[X3] a theme or a screen that is not there yet does not matter to extensions", async (t) => {
  const colours: string[] = [];
  const loud: ExtensionTheme = { ...PLAIN_THEME, fg: (token, text) => `<${token}>${text}` };
  const { host } = await extensionHost(t, {
    mode: "tui",
    inline: [
      (pi) => {
        pi.on("agent_start", (_event, ctx) => void colours.push(ctx.ui.theme.fg("dim", "x")));
      },
    ],
  });
  await host.emit("agent_start", {});
  host.setUi(() => ({ ...NO_UI, theme: loud }));
  await host.emit("agent_start", {});
  host.setUi(() => NO_UI);
  await host.emit("agent_start", {});
  assert.deepEqual(colours, ["x", "<dim>x", "x"]);
});

test("[X1] a message in the user's name runs a command of an extension only where that is asked for", async (t) => {
  const ran: string[] = [];
  let api: ExtensionAPI | undefined;
  const { session } = await extensionHost(t, {
    inline: [
      (pi) => {
        api = pi;
        pi.registerCommand("go", { handler: (args) => void ran.push(args) });
      },
    ],
  });
  for (const text of ["/go", "/go there  now", "/gone away", "go"])
    api!.sendUserMessage(text, { expandPromptTemplates: true });
  api!.sendUserMessage("/go", { deliverAs: "followUp" });
  await new Promise(setImmediate);
  assert.deepEqual(ran, ["", "there  now"]);
  assert.deepEqual(session.sent, [
    ["sendUserMessage", "go", {}],
    ["sendUserMessage", "/go", { deliverAs: "followUp" }],
    ["sendUserMessage", "/gone away", {}],
  ]);
});
