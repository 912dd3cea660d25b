/** Dialogs of extensions on the real screen: what they show, how they end, and that they wait for each other. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { say } from "../support/provider-mock.ts";
import { startExtended } from "./screen-extensions.ts";

const ENTER = "\r";
const ESCAPE = "\x1b";
const DOWN = "\x1b[B";

test("[U2] select shows the title's first line, what follows it, and the options; Enter answers, Escape does not", async (t) => {
  const { ui, terminal, see, seeNo } = await startExtended(t);
  const chosen = ui.select("Dangerous command\n\n  rm -rf /\n\nAllow it?", ["Yes", "No", "Always"]);
  const rows = (await see("Dangerous command")).map((row) => row.trim());
  const start = rows.indexOf("Dangerous command");
  assert.deepEqual(
    rows.slice(start, start + 13).filter((row) => row !== "" && !row.startsWith("─")),
    ["Dangerous command", "Enter: choose · Escape: back", "rm -rf /", "Allow it?", "› Yes", "No", "Always"],
  );
  terminal.type(DOWN, DOWN, ENTER);
  assert.equal(await chosen, "Always");
  await seeNo("Dangerous command");
  const again = ui.select("Once more", ["a"]);
  await see("Once more");
  terminal.type(ESCAPE);
  assert.equal(await again, undefined);
});

test("[U2] of many options a window is shown that follows the selection", async (t) => {
  const { ui, terminal, see } = await startExtended(t, undefined, { rows: 30 });
  const chosen = ui.select(
    "Which?",
    Array.from({ length: 100 }, (_, n) => `option ${n}`),
  );
  await see("(1/100)");
  terminal.type("\x1b[A", ENTER);
  assert.equal(await chosen, "option 99");
});

test("[U2] confirm is yes or no; a time limit that runs down, a signal and Escape are no", async (t) => {
  const { ui, terminal, see, seeNo } = await startExtended(t);
  const yes = ui.confirm("Go on?", "It costs something.");
  await see("It costs something.");
  terminal.type(ENTER);
  assert.equal(await yes, true);

  const late = ui.confirm("Still there?", "", { timeout: 300 });
  await see("Still there? (1 s)");
  assert.equal(await late, false);
  await seeNo("Still there?");

  const stop = new AbortController();
  const stopped = ui.confirm("And now?", "", { signal: stop.signal });
  await see("And now?");
  stop.abort();
  assert.equal(await stopped, false);
  await seeNo("And now?");
  assert.equal(await ui.confirm("Never seen", "", { signal: stop.signal }), false);
});

test("[U2] input gives a line with its placeholder until something is typed, editor gives several", async (t) => {
  const { ui, terminal, see } = await startExtended(t);
  const line = ui.input("Name", "such as Ada");
  await see("such as Ada");
  terminal.type(..."Grace", ENTER);
  assert.equal(await line, "Grace");
  const cancelled = ui.input("Again");
  await see("Again");
  terminal.type(ESCAPE);
  assert.equal(await cancelled, undefined);

  const text = ui.editor("Instructions", "first\nsecond");
  await see("second");
  terminal.type(..."!", ENTER);
  assert.equal(await text, "first\nsecond!");
});

test("[U2] dialogs come one after the other, also those of several extensions", async (t) => {
  const { ui, uiOf, terminal, see, seeNo } = await startExtended(t);
  const first = ui.select("First", ["a"]);
  const second = uiOf("other.ts").select("Second", ["b"]);
  const third = ui.input("Third");
  await see("First");
  await seeNo("Second");
  terminal.type(ENTER);
  assert.equal(await first, "a");
  await see("Second");
  await seeNo("Third");
  terminal.type(ENTER);
  assert.equal(await second, "b");
  await see("Third");
  terminal.type(..."c", ENTER);
  assert.equal(await third, "c");
});

test("[U2] a dialog waits until the user has left the tree", async (t) => {
  const { ui, terminal, see, seeNo } = await startExtended(t, undefined, { replies: say("Hello") });
  terminal.type(..."Hi", ENTER);
  await see("Hello");
  await seeNo("Working");
  terminal.type(..."/tree", ENTER);
  await see("Session Tree");
  const asked = ui.confirm("While you look", "");
  await see("Session Tree");
  terminal.type(ESCAPE);
  await see("While you look");
  terminal.type(ENTER);
  assert.equal(await asked, true);
});

test("[U2] dialogs of an extension that is gone end unanswered, shown or waiting; the draft is still there", async (t) => {
  const { ui, uiOf, terminal, see, seeNo, leave } = await startExtended(t);
  terminal.type(..."half a prompt");
  await see("half a prompt");
  const shown = ui.select("Mine", ["a"]);
  const waiting = ui.input("Mine too");
  const others = uiOf("other.ts").confirm("Not mine", "");
  await see("Mine");
  leave();
  assert.deepEqual(await Promise.all([shown, waiting]), [undefined, undefined]);
  await see("Not mine");
  terminal.type(ENTER);
  assert.equal(await others, true);
  await see("half a prompt");
  await seeNo("Mine");
  assert.equal(await ui.confirm("Too late", ""), false);
});
