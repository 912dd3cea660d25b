/** A jump with a summary on the screen: the question, the wait, and every way on when there is none. */
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { AgentSession } from "../../src/agent/agent-session.ts";
import { ModelRegistry } from "../../src/agent/models.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import type { BranchSummaryEntry } from "../../src/tree/entries.ts";
import { defaultKeybindings } from "../../src/tui/keybindings.ts";
import { SelectorController } from "../../src/tui/selector-controller.ts";
import { nextEvent, noticesOf } from "../support/agent-harness.ts";
import { trackSession } from "../support/laws.ts";
import { fail, hangAfter, say } from "../support/provider-mock.ts";
import { conversation, pathOf, start } from "./controller-harness.ts";
import type { Controlled, StartOptions } from "./controller-harness.ts";
import { settled } from "./selector-host.ts";
import { startInteractive } from "./interactive-harness.ts";

const ASKS = { branchSummary: { skipPrompt: false } };
const QUESTION = ["› No summary", "  Summarise", "  Summarise with custom prompt"];
const FAILED = ["› Try again", "  Go without a summary", "  Use a digest (no model)"];

/** A conversation whose first answer was chosen in the tree: the question stands. */
async function asked(t: TestContext, options: StartOptions = {}): Promise<Controlled> {
  const replies = [say("first answer"), say("second answer"), say("What was tried.")];
  const started = await conversation(t, { replies, settings: { ...ASKS }, ...options });
  started.controller.showTreeSelector();
  started.host.press("home", "down", "enter");
  await settled(() => started.host.title() === "Summarise branch?");
  return started;
}

const summaryOf = ({ manager }: Controlled): string | undefined =>
  (manager.getLeafEntry() as BranchSummaryEntry).summary;
const until = (host: Controlled["host"], title: string): Promise<void> => settled(() => host.title() === title);

test("[N1] the question: three options; no summary jumps as ever", async (t) => {
  const started = await asked(t);
  const { host, manager, server } = started;
  deepEqual(host.rowsShown(), QUESTION);
  host.press("enter");
  await settled(() => host.said.length === 2);
  deepEqual(host.said, ["rebuilt", "Navigated to selected point (/back returns)"]);
  deepEqual(pathOf(manager), ["user: one", "assistant stop: first answer"]);
  equal(server.requests.length, 2);
});

test("[N1, N4] Summarise: the summary hangs at the chosen answer, and the draft stays", async (t) => {
  const started = await asked(t);
  const { host, manager } = started;
  host.editor = "my draft";
  host.press("down", "enter");
  await settled(() => host.said.length === 2);
  deepEqual(
    [host.said, host.shown, host.editor],
    [["rebuilt", "Navigated to selected point (/back returns)"], undefined, "my draft"],
  );
  deepEqual(pathOf(manager), ["user: one", "assistant stop: first answer", "branch_summary"]);
  equal(summaryOf(started), "What was tried.");
});

test("[N1] Escape leads back to the tree on the same row; from the instructions to the three options", async (t) => {
  const { host, manager, server } = await asked(t);
  const leaf = manager.getLeafId();
  host.press("end", "enter");
  await until(host, "Custom instructions for the summary");
  host.press("escape");
  await until(host, "Summarise branch?");
  host.press("escape");
  await until(host, "Session Tree");
  equal(host.rowsShown()[1], "› • assistant: first answer");
  deepEqual([manager.getLeafId(), server.requests.length, host.said], [leaf, 2, []]);
});

test("[N1, K4] custom instructions of several lines reach the model", async (t) => {
  const started = await asked(t);
  const { host, server } = started;
  host.press("up", "enter");
  await until(host, "Custom instructions for the summary");
  for (const letter of "the tests") host.shown!.handleInput!(letter);
  host.shown!.handleInput!("\x1b[200~\nand \x1b[31mwhy\x1b[201~");
  host.press("enter");
  await settled(() => host.said.length === 2);
  const prompt = String(server.requests[2]!.body.messages.at(-1)!.content);
  ok(prompt.endsWith("Additional focus: the tests\nand [31mwhy"), JSON.stringify(prompt.slice(-60)));
  equal(summaryOf(started), "What was tried.");
});

test("[N2] Escape while the summary is written: the status, the tree on the same row, the leaf as it was", async (t) => {
  const begun = Promise.withResolvers<void>();
  const replies = [say("first answer"), say("second answer"), hangAfter("half", () => begun.resolve())];
  const { host, manager, session } = await asked(t, { replies });
  const leaf = manager.getLeafId();
  host.press("down", "enter");
  await begun.promise;
  await session.abort();
  await until(host, "Session Tree");
  deepEqual(host.said, ["Branch summary cancelled"]);
  equal(host.rowsShown()[1], "› • assistant: first answer");
  equal(manager.getLeafId(), leaf);
});

test("[N2, K6] a failure says why and offers three ways on: again, without, the digest; Escape leads to the tree", async (t) => {
  const replies = [say("first answer"), say("second answer"), fail(400, "no"), say(" "), say("At last.")];
  const started = await asked(t, { replies });
  const { host, manager, server } = started;
  const leaf = manager.getLeafId();
  const why = "The summary could not be written: 400: no. Nothing was moved.";
  host.press("down", "enter");
  await until(host, "The branch was not summarised");
  equal(
    host
      .rowsShown()
      .slice(0, -4)
      .map((row) => row.trim())
      .join(" "),
    why,
  );
  deepEqual(host.rowsShown().slice(-3), FAILED);
  host.press("escape");
  await until(host, "Session Tree");
  equal(manager.getLeafId(), leaf);

  host.press("enter");
  await until(host, "Summarise branch?");
  host.press("down", "enter");
  await until(host, "The branch was not summarised");
  equal(host.rowsShown()[0], "  The model answered with an empty summary. Nothing was");
  host.press("enter");
  await settled(() => host.said.length === 2);
  deepEqual([summaryOf(started), server.requests.length], ["At last.", 5]);
});

for (const [keys, path, summary] of [
  [["down", "enter"], ["user: one", "assistant stop: first answer"], undefined],
  [
    ["end", "enter"],
    ["user: one", "assistant stop: first answer", "branch_summary"],
    "## Goals\n- two\n\n## Last words\nsecond answer",
  ],
] as const)
  test(`[N2, K6] after a failure ${summary === undefined ? "going without" : "the digest"} jumps without a model`, async (t) => {
    const started = await asked(t, { replies: [say("first answer"), say("second answer"), fail(400, "no")] });
    const { host, manager, server } = started;
    host.press("down", "enter");
    await until(host, "The branch was not summarised");
    host.press(...keys);
    await settled(() => host.said.length === 2);
    deepEqual([pathOf(manager), server.requests.length], [path, 3]);
    if (summary !== undefined) equal(summaryOf(started), summary);
  });

test("[N1] nothing is asked where nothing is left behind, where it is switched off, without a model, and while following", async (t) => {
  const { host, controller, manager } = await asked(t);
  host.press("enter");
  await settled(() => host.said.length === 2);
  controller.showTreeSelector();
  host.press("end", "enter");
  await settled(() => host.said.length === 4);
  equal(pathOf(manager).at(-1), "assistant stop: second answer", "forward: nothing is left behind");

  const skips = await conversation(t, { settings: { branchSummary: { skipPrompt: true } } });
  const modelless = new SelectorController({
    session: new AgentSession({ sessionManager: manager, registry: await ModelRegistry.load({ environment: {} }) }),
    host,
    keybindings: defaultKeybindings(),
    models: { available: () => [] },
    sessions: { load: async () => {}, rename: async () => {} },
    settings: () => ASKS,
  });
  modelless.showTreeSelector();
  host.press("home", "enter");
  await settled(() => host.said.length === 6);
  deepEqual(pathOf(manager), []);

  const readOnly = await SessionManager.open(manager.getSessionFile()!, { readOnly: true });
  trackSession(t, readOnly);
  const follows = await start(t, { manager: readOnly, settings: { ...ASKS } });
  follows.manager.branch(follows.manager.getEntries().at(-1)!.id);
  for (const { host: other, controller: tree } of [skips, follows]) {
    tree.showTreeSelector();
    other.press("home", "down", "enter");
    await settled(() => other.said.length === 2);
    equal(other.said[1], "Navigated to selected point (/back returns)");
  }
});

test("[N3] while the agent works it asks twice, and the second No leaves it working", async (t) => {
  const replies = [say("first answer"), hangAfter("half an ans"), say("Summed up.")];
  const started = await start(t, { replies, settings: { ...ASKS } });
  const { host, manager, session, controller } = started;
  await session.prompt("one");
  const delivered = nextEvent(session, "message_update");
  const turn = session.prompt("two");
  await delivered;
  session.steer("later");
  controller.showTreeSelector();
  host.press("home", "down", "enter");
  equal(host.title(), "The agent is still working");
  host.press("enter");
  await until(host, "Summarise branch?");
  host.press("escape");
  await until(host, "Session Tree");
  equal(session.isStreaming, true);
  host.press("enter", "enter");
  await until(host, "Summarise branch?");
  host.press("down", "enter");
  await turn;
  await settled(() => host.said.length === 2);
  deepEqual(
    [pathOf(manager), summaryOf(started), session.queue.map(({ text }) => text)],
    [["user: one", "assistant stop: first answer", "branch_summary"], "Summed up.", ["later"]],
  );
});

test("[N2, U4] the real screen: what is being done, Escape ends the summary alone, and how a summary looks", async (t) => {
  const begun = Promise.withResolvers<void>();
  const replies = [say("first answer"), hangAfter("half", () => begun.resolve()), say("What was tried.")];
  const { terminal, see, seeNo, session, events } = await startInteractive(t, { replies, mode: { settings: {} } });
  await session.prompt("one");
  terminal.type("\x1b", "\x1b");
  await see("Session Tree");
  terminal.type("\x1b[H", "\r");
  await see("Summarise branch?");
  terminal.type("\x1b[B", "\r");
  await begun.promise;
  await see("Summarising branch… (Escape to cancel)");
  terminal.type("my draft", "\x1b");
  await see("Session Tree");
  await seeNo("Summarising");
  await see("Branch summary cancelled");
  await see("› • user: one");
  terminal.type("\r");
  await see("Summarise branch?");
  terminal.type("\x1b[B", "\r");
  await see("Branch summary (Ctrl+O to expand)");
  await see("my draft");
  terminal.type("\x0f");
  await see("What was tried.");
  deepEqual(noticesOf(events), []);
});

test("[N2, U4] quitting while a summary is written leaves no tree behind, and nothing moved", async (t) => {
  const begun = Promise.withResolvers<void>();
  const replies = [say("first answer"), hangAfter("half", () => begun.resolve())];
  const harness = await startInteractive(t, { replies, mode: { settings: {} } });
  const { terminal, see, session, manager, finished } = harness;
  await session.prompt("one");
  const leaf = manager.getLeafId();
  terminal.type("\x1b", "\x1b");
  await see("Session Tree");
  terminal.type("\x1b[H", "\r");
  await see("Summarise branch?");
  terminal.type("\x1b[B", "\r");
  await begun.promise;
  await see("Summarising branch…");
  terminal.type("\x03", "\x03");
  equal(await finished, 0);
  equal(manager.getLeafId(), leaf);
  const screen = (await terminal.scrollback()).join("\n");
  ok(!screen.includes("• user: one"), screen);
});
