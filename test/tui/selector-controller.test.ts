/** Tests of src/tui/selector-controller.ts on a real AgentSession, real files and a real HTTP provider. */
import { deepEqual, equal, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { hooksFrom } from "../../src/agent/hook-port.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { defaultKeybindings } from "../../src/tui/keybindings.ts";
import { SelectorController } from "../../src/tui/selector-controller.ts";
import type { SelectorSettings } from "../../src/tui/selector-controller.ts";
import { fileLines, nextEvent, outlineOf } from "../support/agent-harness.ts";
import { hangAfter, say } from "../support/provider-mock.ts";
import { conversation, pathOf, start } from "./controller-harness.ts";
import { settled } from "./selector-host.ts";
import { sessionInfo } from "./session-info.ts";

test("[U3] /tree on an empty session opens nothing and says so", async (t) => {
  const { controller, host } = await start(t, { manager: SessionManager.inMemory("/") });
  controller.showTreeSelector();
  deepEqual([host.shown, host.said], [undefined, ["No entries in session"]]);
});

test("[U1, N2, L4] picking where the user stands says so and writes nothing, also after a label", async (t) => {
  const { controller, host, manager, session, events } = await conversation(t);
  session.setLabel(manager.getLeafId()!, "here");
  await manager.flush();
  const before = readFileSync(manager.getSessionFile()!);
  events.length = 0;
  controller.showTreeSelector();
  deepEqual(host.rowsShown(), [
    "  • user: one",
    "  • assistant: first answer",
    "  • user: two",
    "› • [here] assistant: second answer",
    "  (4/4)",
  ]);
  host.press("enter");
  deepEqual([host.shown, host.said, events], [undefined, ["Already at this point"], []]);
  deepEqual(readFileSync(manager.getSessionFile()!), before);
});

test("[N1, U1] a jump to a prompt moves before it and gives its text to the editor; a jump to an answer moves onto it", async (t) => {
  const { controller, host, manager } = await conversation(t);
  controller.showTreeSelector();
  host.press("up", "enter");
  await settled(() => host.said.length === 2);
  deepEqual(host.said, ["rebuilt", "Navigated to selected point (/back returns)"]);
  deepEqual(
    [host.shown, host.editor, pathOf(manager)],
    [undefined, "two", ["user: one", "assistant stop: first answer"]],
  );

  host.editor = "";
  controller.showTreeSelector();
  host.press("end", "enter");
  await settled(() => host.said.length === 4);
  deepEqual([host.editor, pathOf(manager).at(-1)], ["", "assistant stop: second answer"]);
});

test("[N4] a draft survives a jump to a prompt, and the user is told", async (t) => {
  const { controller, host, manager } = await conversation(t);
  host.editor = "my draft";
  controller.showTreeSelector();
  host.press("home", "enter");
  await settled(() => host.said.length === 2);
  deepEqual(host.said, ["rebuilt", "Navigated to selected point; your draft stays in the editor (/back returns)"]);
  deepEqual([host.editor, pathOf(manager)], ["my draft", []]);
});

test("[N3] while the agent writes the tree grows; a jump asks: No leads back to the same row, Yes stops and jumps", async (t) => {
  const { controller, host, manager, session, model } = await start(t, {
    replies: [say("first answer"), hangAfter("half an ans")],
  });
  await session.prompt("one");
  controller.showTreeSelector();
  const delivered = nextEvent(session, "message_update");
  const turn = session.prompt("two");
  await delivered;
  deepEqual(host.rowsShown(), ["  • user: one", "› • assistant: first answer", "  • user: two", "  (2/3)"]);
  host.press("enter");
  equal(host.title(), "The agent is still working");
  deepEqual(host.rowsShown(), [
    "  Jumping stops it. What it has written so far stays on",
    "  its own branch.",
    "",
    "› Yes, stop it",
    "  No, go back",
  ]);
  host.press("down", "enter");
  deepEqual([host.title(), host.rowsShown()[1]], ["Session Tree", "› • assistant: first answer"]);
  host.press("enter", "escape");
  deepEqual(
    [host.title(), host.rowsShown()[1], session.isStreaming],
    ["Session Tree", "› • assistant: first answer", true],
  );
  host.press("enter", "enter");
  await turn;
  await settled(() => host.said.length === 2);
  deepEqual(host.said, ["rebuilt", "Navigated to selected point (/back returns)"]);
  deepEqual(pathOf(manager), ["user: one", "assistant stop: first answer"]);
  deepEqual(
    outlineOf(manager.getEntries()).filter((text) => text.startsWith("assistant")),
    ["assistant stop: first answer", "assistant aborted: half an ans"],
  );
  equal(session.model?.id, model.id);
});

test("[N2, B1] a hook's cancel leaves everything as it was", async (t) => {
  const { controller, host, manager } = await conversation(t, {
    hooks: hooksFrom({
      session_before_tree: () => ({ cancel: true }),
      session_before_branch: () => ({ cancel: true }),
    }),
  });
  const leaf = manager.getLeafId();
  controller.showTreeSelector();
  host.press("home", "enter");
  await settled(() => host.said.length === 1);
  deepEqual([host.said, manager.getLeafId(), host.editor], [["Navigation cancelled"], leaf, ""]);

  controller.showUserMessageSelector();
  host.press("enter");
  await new Promise((resolve) => setTimeout(resolve, 5));
  deepEqual([host.said, host.shown, manager.getLeafId()], [["Navigation cancelled"], undefined, leaf]);
});

test("[N3] of two jumps at once the second is refused in one line", async (t) => {
  let release = (): void => {};
  const { controller, host } = await conversation(t, {
    hooks: hooksFrom({ session_before_tree: () => new Promise((resolve) => (release = () => resolve({}))) }),
  });
  for (const key of ["home", "up"] as const) {
    controller.showTreeSelector();
    host.press(key, "enter");
  }
  await settled(() => host.said.length === 1);
  ok(host.said[0]!.startsWith("error: "), host.said[0]);
  release();
  await settled(() => host.said.length === 3);
  deepEqual(host.said.slice(1), ["rebuilt", "Navigated to selected point (/back returns)"]);
});

test("[T8] a label set in the tree is in the file and in the row; where nothing can be written it is an error line", async (t) => {
  const { controller, host, manager } = await conversation(t);
  controller.showTreeSelector();
  host.press("home", "shiftL");
  for (const letter of "start here") host.shown!.handleInput!(letter);
  host.press("enter");
  equal(host.rowsShown()[0], "› • [start here] user: one");
  deepEqual(fileLines(manager).at(-1)!["label"], "start here");
  host.press("enter");
  await settled(() => host.said.length === 2);
  equal(manager.getLabel(manager.getEntries().find(({ type }) => type === "message")!.id), "start here");

  const readOnly = await SessionManager.open(manager.getSessionFile()!, { readOnly: true });
  const second = await start(t, { manager: readOnly });
  second.controller.showTreeSelector();
  second.host.press("shiftL");
  second.host.shown!.handleInput!("x");
  second.host.press("enter");
  await settled(() => second.host.said.length === 1);
  ok(second.host.said[0]!.startsWith("error: "), second.host.said[0]);
  equal(second.host.title(), "Session Tree", "the tree stays open");
});

test("[U1] Ctrl+X copies through the host; an entry without text says so", async (t) => {
  const { controller, host } = await conversation(t);
  controller.showTreeSelector();
  host.press("ctrlX");
  deepEqual([host.copied, host.said], ["second answer", []]);
  host.press("ctrlA");
  for (let row = 0; row < 10 && host.said.length === 0; row++) host.press("up", "ctrlX");
  deepEqual(host.said, ["Selected entry has no text to copy"]);
});

test("[U1] the tree opens with the filter of the settings and closes when another session is opened under it", async (t) => {
  const { controller, host, session } = await conversation(t, { settings: { treeFilterMode: "user-only" } });
  controller.showTreeSelector();
  deepEqual(host.rowsShown(), ["  • user: one", "› • user: two", "  (2/2) [user]"]);
  await session.newSession();
  equal(host.shown, undefined);
  controller.showTreeSelector("gone");
  deepEqual(host.said, ["No entries in session"]);
});

test("[B1] /branch lists the prompts of the current branch; the picked one starts a new session and goes to the editor", async (t) => {
  const { controller, host, manager } = await conversation(t);
  const before = manager.getSessionFile();
  const [first, last] = [manager.getBranch()[0]!.id, manager.getLeafId()!];
  manager.branch(first);
  manager.appendMessage({ role: "user", content: "on another branch", timestamp: 1 });
  manager.branch(last);
  controller.showUserMessageSelector();
  deepEqual(
    host.rowsShown().filter((line) => line !== ""),
    ["  one", "  Message 1 of 2", "› two", "  Message 2 of 2"],
  );
  host.editor = "draft";
  host.press("enter");
  await settled(() => host.said.length === 2);
  deepEqual(host.said, ["rebuilt", "Branched to new session"]);
  deepEqual(
    [host.editor, pathOf(manager), manager.getHeader().parentSession],
    ["two\n\ndraft", ["user: one", "assistant stop: first answer"], before],
  );

  host.editor = "";
  controller.showUserMessageSelector();
  host.press("enter");
  await settled(() => host.said.length === 4);
  deepEqual([host.editor, pathOf(manager)], ["one", []]);
  controller.showUserMessageSelector();
  equal(host.said.at(-1), "No messages to branch from; those of other branches are in /tree");
  equal(host.shown, undefined);
});

test("[B1] doubleEscapeAction=tree makes /branch open the tree; every other value leaves it the list", async (t) => {
  const settings: SelectorSettings = {};
  const { controller, host } = await conversation(t, { settings });
  const opened = (action: SelectorSettings["doubleEscapeAction"]): string | undefined => {
    settings.doubleEscapeAction = action;
    controller.showUserMessageSelector();
    return host.title();
  };
  deepEqual(
    [opened("tree"), opened("branch"), opened("fork"), opened("none"), opened(undefined)],
    ["Session Tree", ...Array<string>(4).fill("Branch from a message")],
  );
  host.press("escape");
  equal(host.shown, undefined);
});

test("[B1, N3] /branch while the agent works asks first, and stops it when told to", async (t) => {
  const { controller, host, manager, session } = await start(t, { replies: [hangAfter("half")] });
  const delivered = nextEvent(session, "message_update");
  const turn = session.prompt("one");
  await delivered;
  const before = manager.getSessionFile();
  controller.showUserMessageSelector();
  host.press("enter");
  equal(host.title(), "The agent is still working");
  host.press("escape");
  equal(host.title(), "Branch from a message");
  host.press("enter", "enter");
  await turn;
  await settled(() => host.said.length === 2);
  deepEqual([host.said.at(-1), host.editor, session.isStreaming], ["Branched to new session", "one", false]);
  equal(manager.getHeader().parentSession, before);
});

test("[B2] /resume opens the picked session; the open one and a missing one are said", async (t) => {
  const first = await conversation(t);
  const other = first.manager.getSessionFile()!;
  await first.session.newSession();
  const infos = [
    sessionInfo("other", { path: other, modified: new Date(3000) }),
    sessionInfo("missing", { path: `${other}.gone`, modified: new Date(2000) }),
  ];
  const second = await start(t, { source: { load: async (_scope, found) => infos.forEach(found) } });
  const { controller, host, manager } = second;
  controller.showSessionPicker();
  host.press("down", "enter");
  await settled(() => host.said.length === 1);
  ok(host.said[0]!.startsWith("error: ") && host.said[0]!.includes(".gone"), host.said[0]);
  controller.showSessionPicker();
  host.press("enter");
  await settled(() => host.said.length === 3);
  deepEqual(host.said.slice(1), ["rebuilt", "Resumed session"]);
  equal(manager.getSessionFile(), other);
  controller.showSessionPicker();
  ok(host.rowsShown()[0]!.includes("current"));
  host.press("enter");
  await settled(() => host.said.length === 4);
  equal(host.said.at(-1), "This session is already open");
});

test("[U4] /model: the list, a name that fits one model exactly, and a model that cannot be used", async (t) => {
  const { controller, host, session, model, registry } = await start(t);
  controller.showModelPicker();
  equal(host.title(), "Choose a model");
  ok(host.rowsShown()[0]!.includes("✓ current"));
  host.press("enter");
  await settled(() => host.said.length === 1);
  deepEqual([host.shown, host.said], [undefined, [`Model: ${model.provider}/mock`]]);
  controller.showModelPicker("mock");
  await settled(() => host.said.length === 2);
  deepEqual([host.shown, host.said[1]], [undefined, `Model: ${model.provider}/mock`]);
  controller.showModelPicker("moc");
  equal(host.title(), "Choose a model");
  host.press("escape", "escape");
  equal(host.shown, undefined);

  const keyless = { ...model, provider: "openai" };
  const withKeyless = new SelectorController({
    session,
    host,
    keybindings: defaultKeybindings(),
    models: { available: () => [...registry.available(), keyless] },
    sessions: { load: async () => {}, rename: async () => {} },
    settings: () => ({}),
  });
  withKeyless.showModelPicker("openai/mock");
  await settled(() => host.said.length === 3);
  ok(host.said[2]!.startsWith("error: There is no key for OpenAI"), host.said[2]);
});
