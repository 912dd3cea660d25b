/** Slash commands on the screen, against a real session. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { outlineOf } from "../support/agent-harness.ts";
import { say } from "../support/provider-mock.ts";
import { startInteractive } from "./interactive-harness.ts";

const ENTER = "\r";
const filled = (rows: readonly string[]): string[] => rows.map((row) => row.trimEnd()).filter((row) => row !== "");

test("[B2] /session tells where the session is, what is in it and what it cost", async (t) => {
  const { terminal, see, session, manager } = await startInteractive(t, { replies: say("fine"), columns: 140 });
  await session.prompt("How *are* you?");
  await see("fine");
  terminal.type(..."/session", ENTER);
  const rows = filled(await see("Cost:"));
  const from = rows.findIndex((row) => row.startsWith(" - Name:"));
  assert.deepEqual(rows.slice(from, from + 9), [
    " - Name: How *are* you?",
    ` - File: ${manager.getSessionFile()}`,
    ` - Id: ${manager.getSessionId()}`,
    " - Messages here: 2 (prompts 1, answers 1, tool calls 0, results 0)",
    " - Tree: 4 entries, 1 branch",
    " - Tokens in: 100, cached 0, written to cache 0",
    " - Tokens out: 10",
    " - Cost: $0.0000",
    " - Cost of endpoint/mock: $0.0000",
  ]);
});

test("[T8, U3] /label labels the point the user stands on, also when a label came after it; without a text it only shows it", async (t) => {
  const { terminal, see, session, manager } = await startInteractive(t, { replies: say("fine") });
  await session.prompt("Hi");
  const answer = manager.getBranch().findLast(({ type }) => type === "message")!.id;
  await see("fine");
  terminal.type(..."/label good one", ENTER);
  await see("Label set: good one");
  assert.equal(manager.getLabel(answer), "good one");
  terminal.type(..."/label", ENTER);
  await see("This point is labelled good one; Shift+L in /tree changes or removes it");
  terminal.type(..."/label better", ENTER);
  await see("Label set: better");
  assert.equal(manager.getLabel(answer), "better");
  assert.deepEqual(outlineOf(manager.getBranch()).slice(-2), ["label", "label"]);
});

test("[B1] /clone copies the branch into a new session, and says so when there is nothing yet", async (t) => {
  const { terminal, see, answered, manager } = await startInteractive(t, { replies: say("fine") });
  await see("0.0.0");
  terminal.type(..."/clone", ENTER);
  await see("Nothing to clone yet");
  terminal.type(..."Hi", ENTER);
  await answered("fine");
  const first = manager.getSessionFile()!;
  terminal.type(..."/clone", ENTER);
  await see("Cloned to new session");
  assert.notEqual(manager.getSessionFile(), first);
  assert.equal(manager.getHeader()?.parentSession, first);
  assert.ok(readFileSync(first, "utf8").includes("fine"));
});

test("[B1, B2] /branch gives a message's text back to the editor, in a new session before it", async (t) => {
  const { terminal, see, session, manager } = await startInteractive(t, { replies: [say("one"), say("two")] });
  await session.prompt("first");
  await session.prompt("second");
  await see("two");
  terminal.type(..."/branch", ENTER);
  await see("Message 2 of 2");
  terminal.type(ENTER);
  const rows = filled(await see("Branched to new session"));
  assert.deepEqual(rows.slice(2), [
    " › first",
    " one",
    " Branched to new session",
    "─".repeat(80),
    "second",
    "─".repeat(80),
    ...rows.slice(-2),
  ]);
  assert.deepEqual(
    outlineOf(manager.getBranch()).filter((line) => /^(user|assistant)/.test(line)),
    ["user: first", "assistant stop: one"],
  );
});

test("[U4] /thinking without levels, /copy without an answer and with one, /hotkeys", async (t) => {
  const { terminal, see, answered } = await startInteractive(t, { replies: say("copy **me**"), rows: 200 });
  await see("0.0.0");
  terminal.type(..."/copy", ENTER);
  await see("No answer to copy yet");
  terminal.type(..."/thinking enormous", ENTER);
  await see("There is no thinking level enormous");
  terminal.type(..."Hi", ENTER);
  await answered("copy me");
  terminal.type(..."/copy", ENTER);
  await see("Copied the last answer");
  terminal.type(..."/hotkeys", ENTER);
  await see("app.interrupt");
});

test("[U4] /quit leaves with exit code 0", async (t) => {
  const { terminal, see, finished } = await startInteractive(t);
  await see("0.0.0");
  terminal.type(..."/quit", ENTER);
  assert.equal(await finished, 0);
});
