/** `/back` and `/forward` on the screen: what they say, where they lead, and what they ask. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { hooksFrom } from "../../src/agent/hook-port.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { defaultKeybindings } from "../../src/tui/keybindings.ts";
import { placeText } from "../../src/tui/place-text.ts";
import { outlineOf } from "../support/agent-harness.ts";
import { trackSession } from "../support/laws.ts";
import { hangAfter, say } from "../support/provider-mock.ts";
import { user } from "../support/session-files.ts";
import { startInteractive } from "./interactive-harness.ts";

const ENTER = "\r";
const ESCAPE = "\x1b";
const [UP, DOWN] = ["\x1b[A", "\x1b[B"];
const [F2, F3] = ["\x1bOQ", "\x1bOR"];
const filled = (rows: readonly string[]): string[] => rows.map((row) => row.trimEnd()).filter((row) => row !== "");

/** The chat below the header, and the draft in the editor. */
function chatAndDraft(rows: readonly string[]): string[] {
  const shown = filled(rows).slice(2);
  return shown
    .slice(
      0,
      shown.findLastIndex((row) => row.startsWith("──")),
    )
    .filter((row) => !row.startsWith("──"));
}

test("[L3, U3] a jump says how to return; /back and /forward redraw the chat and say where one is", async (t) => {
  const { terminal, see, session, manager } = await startInteractive(t, { replies: [say("one"), say("two")] });
  await session.prompt("first");
  await session.prompt("second");
  await see("two");
  terminal.type(ESCAPE, ESCAPE);
  await see("Session Tree");
  terminal.type(UP, UP, ENTER);
  assert.deepEqual(chatAndDraft(await see("Navigated to")), [
    " › first",
    " one",
    " Navigated to selected point (/back returns)",
  ]);
  terminal.type(..."/back", ENTER);
  assert.deepEqual(chatAndDraft(await see("Went back")), [
    " › first",
    " one",
    " › second",
    " two",
    " Went back to assistant: two (/forward returns)",
  ]);
  session.setLabel(manager.getEntries().find((entry) => outlineOf([entry])[0] === "assistant stop: one")!.id, "cause");
  terminal.type(..."/forward", ENTER);
  assert.deepEqual(chatAndDraft(await see("Went forward")), [
    " › first",
    " one",
    " Went forward to [cause] assistant: one (/back returns)",
  ]);
});

test("[L3, U3] with nowhere to go /back and /forward say so", async (t) => {
  const { terminal, see, session } = await startInteractive(t, { replies: say("one") });
  await session.prompt("first");
  await see("one");
  terminal.type(..."/back", ENTER);
  await see("Nothing to go back to");
  terminal.type(..."/forward", ENTER);
  await see("Nothing to go forward to");
});

test("[L3, U3, N4] keys of the user's choice do the same, and the draft stays", async (t) => {
  const keybindings = defaultKeybindings();
  keybindings.setUserBindings({ "app.session.back": "f2", "app.session.forward": "f3" });
  const { terminal, see, session } = await startInteractive(t, { replies: [say("one")], mode: { keybindings } });
  await session.prompt("first");
  await see("one");
  await session.navigateTree(session.sessionManager.getEntries()[0]!.id);
  terminal.type(..."my draft", F2);
  assert.deepEqual(chatAndDraft(await see("Went back to assistant: one")).at(-1), "my draft");
  terminal.type(F3);
  assert.deepEqual(chatAndDraft(await see("Went forward to [model: mock] (/back returns)")), [
    " At the start of the session; /tree shows what there is.",
    " Went forward to [model: mock] (/back returns)",
    "my draft",
  ]);
});

test("[L3, N3] while the agent works /back asks: No leaves it alone, Yes stops it and goes", async (t) => {
  const { terminal, see, session, manager } = await startInteractive(t, { replies: [say("one"), hangAfter("half")] });
  await session.prompt("first");
  await see("one");
  const end = manager.getLeafId();
  await session.navigateTree(session.getUserMessages()[0]!.entryId);
  terminal.type(..."again", ENTER);
  await see("half");
  terminal.type(..."/back", ENTER);
  await see("The agent is still working");
  terminal.type(DOWN, ENTER);
  await see("Working");
  assert.equal(session.isStreaming, true);
  terminal.type(..."/back", ENTER);
  await see("The agent is still working");
  terminal.type(ENTER);
  await see("Went back to assistant: one (/forward returns)");
  assert.deepEqual([manager.getLeafId(), session.isStreaming], [end, false]);
});

test("[L3, N2] an extension can cancel the step", async (t) => {
  const hooks = hooksFrom({ session_before_tree: () => ({ cancel: true }) });
  const manager = SessionManager.inMemory("/w");
  const first = manager.appendMessage(user("first"));
  manager.appendMessage(user("second"));
  manager.branch(first);
  const { terminal, see } = await startInteractive(t, { manager, hooks });
  await see("first");
  terminal.type(..."/back", ENTER);
  await see("Navigation cancelled");
  assert.equal(manager.getLeafId(), first);
});

test("[L3, U5] the place in words: a start, its label, nothing that drives the terminal", (t) => {
  const manager = trackSession(t, SessionManager.inMemory("/w"));
  const here = (): string => placeText(manager.getIndex());
  assert.equal(here(), "the start of the session");
  const id = manager.appendMessage(user("\x1b]0;owned\x07Why is\n it \u202eslow?"));
  assert.equal(here(), "user: ]0;owned Why is it ⟦U+202E⟧slow?");
  manager.appendLabelChange(id, "\x1b[31mred");
  manager.setSessionName("a name");
  assert.equal(here(), "[red] user: ]0;owned Why is it ⟦U+202E⟧s…");
  manager.appendMessage(user(`${"x".repeat(33)}🌿 and more`));
  assert.equal(here(), `user: ${"x".repeat(33)}…`);
});
