/** Compaction on the screen: /compact with its preview, /uncompact, /context, the status line and the footer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { outlineOf } from "../support/agent-harness.ts";
import type { AgentSession } from "../../src/agent/agent-session.ts";
import { CompactionPanel } from "../../src/tui/compaction-panel.ts";
import { defaultKeybindings } from "../../src/tui/keybindings.ts";
import { after, fail, hangAfter, say, using } from "../support/provider-mock.ts";
import type { Reply } from "../support/provider-mock.ts";
import { startInteractive } from "./interactive-harness.ts";
import type { InteractiveHarness } from "./interactive-harness.ts";
import { TestHost } from "./selector-host.ts";

const ENTER = "\r";
const ESCAPE = "\x1b";
const SETTINGS = { enabled: true, reserveTokens: 1_000, keepRecentTokens: 3 };

const filled = (rows: readonly string[]): string[] => rows.map((row) => row.trimEnd()).filter((row) => row !== "");
const pathOf = ({ manager }: InteractiveHarness): string[] =>
  outlineOf(manager.getBranch().filter(({ type }) => type === "message" || type === "compaction"));

/** Two turns done; the replies that follow are given. */
async function talked(t: TestContext, ...replies: Reply[]): Promise<InteractiveHarness> {
  const harness = await startInteractive(t, {
    compaction: SETTINGS,
    contextWindow: 10_000,
    rows: 50,
    replies: [say("one"), say("two"), ...replies],
  });
  await harness.session.prompt("First");
  await harness.session.prompt("Second");
  await harness.see("two");
  return harness;
}

test("[K5] /compact shows the summary, which can be changed before it is written; the context is unknown until the next answer", async (t) => {
  const harness = await talked(t, say("They greeted."), say("three"));
  const { terminal, see, manager } = harness;
  terminal.type(..."/compact", ENTER);
  const preview = filled(await see("This summary will stand"));
  assert.deepEqual(preview.slice(-6, -2), [
    "─".repeat(80),
    "They greeted.",
    "─".repeat(80),
    " Enter: write it · Shift+Enter: new line · Escape: drop it, nothing is changed",
  ]);
  assert.equal(pathOf(harness).at(-1), "assistant stop: two");
  terminal.type(..." Twice.", ENTER);
  const rows = filled(await see("Compacted from 110 tokens"));
  assert.deepEqual(pathOf(harness).at(-1), "compaction");
  const entry = manager.getBranch().findLast(({ type }) => type === "compaction")!;
  assert.equal(Reflect.get(entry, "summary"), "They greeted. Twice.");
  assert.match(rows.at(-1)!, /\?\/10k/);
  terminal.type(..."Third", ENTER);
  await see("three");
  assert.match(filled(await see("1.1%/10k")).at(-1)!, /1\.1%\/10k/);
});

test("[K5] Escape in the preview drops the summary, and nothing is changed", async (t) => {
  const harness = await talked(t, say("They greeted."));
  harness.terminal.type(..."/compact", ENTER);
  await harness.see("They greeted.");
  harness.terminal.type(ESCAPE);
  await harness.see("Compaction cancelled");
  assert.deepEqual(pathOf(harness), ["user: First", "assistant stop: one", "user: Second", "assistant stop: two"]);
});

test("[K5] what stops a compaction after the summary was accepted closes no other list", async () => {
  const host = new TestHost();
  const stopping = new AbortController();
  const compact: AgentSession["compact"] = async (options) => {
    const draft = { summary: "They greeted.", firstKeptEntryId: "a", tokensBefore: 1 };
    return { cancelled: (await options!.review!(draft, stopping.signal)) === undefined };
  };
  const panel = new CompactionPanel({
    session: { compact } as AgentSession,
    host,
    keybindings: defaultKeybindings(),
    questions: { choose: () => assert.fail("nothing is asked") },
    status: { show: () => undefined, hide: () => undefined, showWorking: () => undefined },
    working: () => "",
    makeEditor: () => host.newEditor(),
  });
  const done = panel.compact({});
  host.press("enter");
  await done;
  const list = host.newEditor();
  host.show(list);
  stopping.abort();
  assert.deepEqual([host.shown, host.said], [list, []]);
});

test("[K1] Escape stops a summary that is being written; what is typed meanwhile is sent afterwards", async (t) => {
  const gate = Promise.withResolvers<void>();
  const harness = await talked(t, hangAfter("half"), after(gate.promise, say("They greeted.")), say("three"));
  const { terminal, see, answered } = harness;
  terminal.type(..."/compact", ENTER);
  await see("Compacting context… (Escape to cancel)");
  terminal.type(ESCAPE);
  await see("Compaction cancelled");

  terminal.type(..."/compact on greetings", ENTER);
  await see("Compacting context…");
  terminal.type(..."Third", ENTER);
  await see("Steering: Third");
  gate.resolve();
  await see("This summary will stand");
  terminal.type(ENTER);
  await answered("three");
  assert.deepEqual(pathOf(harness).slice(-3), ["compaction", "user: Third", "assistant stop: three"]);
});

test("[K1, K6] a summary that fails is offered again, or as a digest without a model", async (t) => {
  const harness = await talked(t, fail(400, "no"), fail(400, "no"));
  const { terminal, see, server } = harness;
  terminal.type(..."/compact", ENTER);
  const rows = filled(await see("The context was not compacted"));
  assert.ok(
    rows.some((row) => row.includes("Try again")),
    rows.join("\n"),
  );
  terminal.type("\x1b[B", ENTER);
  await see("This summary will stand");
  terminal.type(ENTER);
  await see("[compaction]");
  assert.equal(server.requests.length, 3);
});

test("[K5, U3] /uncompact goes back above the compaction, and /back returns; without one it says so", async (t) => {
  const harness = await talked(t, say("They greeted."), say("three"));
  const { terminal, see, session } = harness;
  terminal.type(..."/uncompact", ENTER);
  await see("There is no compaction on this branch.");
  await session.compact();
  await session.prompt("Third");
  // A bare command that was refused is not in the editor: the next one would be written behind it.
  terminal.type(..."/uncompact", ENTER);
  await see("The conversation is back above its last compaction");
  assert.deepEqual(pathOf(harness), ["user: First", "assistant stop: one", "user: Second", "assistant stop: two"]);
  terminal.type(..."/back", ENTER);
  await see("three");
  assert.deepEqual(pathOf(harness).slice(-3), ["compaction", "user: Third", "assistant stop: three"]);
});

test("[K5] /context shows what the next request holds and what it leaves out", async (t) => {
  const harness = await talked(t, say("They greeted."), fail(400, "out of order"), say("four"));
  const { terminal, see, session, manager } = harness;
  await session.compact();
  await session.prompt("Third");
  terminal.type(..."/context", ENTER);
  const rows = filled(await see("so that the request is valid"));
  const from = rows.findIndex((row) => row.includes("The next request"));
  const id = (text: string): string => manager.getEntries().find((entry) => outlineOf([entry])[0] === text)!.id;
  const compaction = manager.getBranch().findLast(({ type }) => type === "compaction")!.id;
  assert.deepEqual(
    rows
      .slice(
        from,
        rows.findIndex((row, n) => n > from && row.startsWith("─")),
      )
      .map((row) => row.trim()),
    [
      "The next request: about 42 of 10,000 tokens.",
      "- System prompt: 0",
      "- 0 tools: 0",
      "- Summary: 37",
      `- 37 ${compaction} summary: They greeted.`,
      "- Kept by the compaction, 2 messages: 3",
      `- 2 ${id("user: Second")} user: Second`,
      `- 1 ${id("assistant stop: two")} assistant: two`,
      "- Conversation: 2",
      `- 2 ${id("user: Third")} user: Third`,
      "Not sent: 2 earlier entries, which /tree still shows. The latest prompts:",
      `- ${id("user: First")} First`,
      "Left out or changed, so that the request is valid:",
      `- ${id("assistant error: ")} An answer that failed or was stopped was not sent.`,
    ],
  );
});

test("[K1] a compaction in the middle of a turn shows what is done, and its row", async (t) => {
  const gate = Promise.withResolvers<void>();
  const harness = await startInteractive(t, {
    compaction: SETTINGS,
    contextWindow: 10_000,
    replies: [using(9_500, say("one")), after(gate.promise, say("They greeted.")), say("two")],
  });
  const { terminal, see, answered, session } = harness;
  await session.prompt("First ".repeat(1_000));
  terminal.type(..."Second", ENTER);
  await see("Auto-compacting… (Escape to cancel)");
  gate.resolve();
  await see("Compacted from 9,502 tokens");
  await answered("two");
  assert.deepEqual(pathOf(harness).slice(-3), ["user: Second", "compaction", "assistant stop: two"]);
});
