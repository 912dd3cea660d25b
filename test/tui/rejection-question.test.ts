/** The question after a provider has refused the conversation in every form: what it says and where it leads. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { SessionManager } from "../../src/session/session-manager.ts";
import { outlineOf } from "../support/agent-harness.ts";
import { fail, say } from "../support/provider-mock.ts";
import type { Reply } from "../support/provider-mock.ts";
import { assistant, user } from "../support/session-files.ts";
import { startInteractive } from "./interactive-harness.ts";
import type { InteractiveHarness } from "./interactive-harness.ts";

const ENTER = "\r";
const ESCAPE = "\x1b";
const DOWN = "\x1b[B";
const TITLE = "The provider refuses this conversation";
const GO_ON = "Go on from the last good point; what came after it stays in the tree";
const STAY = "Stay here; another model may take it (/model)";
/** Names a place in the request, and would drive a terminal. */
const REFUSED = fail(400, "messages.3: \x1b[2J\x07call-7 is wrong\nand so on");

/** First ─ read ─ its result ─ fine; the next request is refused. */
async function refused(t: TestContext, replies: readonly Reply[] = [REFUSED]): Promise<InteractiveHarness> {
  const manager = SessionManager.inMemory();
  manager.appendMessage({ ...user("First"), timestamp: 1 });
  const call = { type: "toolCall" as const, id: "call-7", name: "read", arguments: { path: "a.ts" } };
  manager.appendMessage({ ...assistant(""), content: [call], stopReason: "toolUse", timestamp: 2 });
  const content = [{ type: "text" as const, text: "the file" }];
  manager.appendMessage({
    role: "toolResult",
    toolCallId: "call-7",
    toolName: "read",
    content,
    isError: false,
    timestamp: 3,
  });
  manager.appendMessage({ ...assistant("fine"), timestamp: 4 });
  return startInteractive(t, { manager, replies });
}

const rowsWith = (screen: readonly string[], ...texts: string[]): string[] =>
  texts.filter((text) => screen.some((row) => row.includes(text)));

test("[C3, U5] it names the entry and the reason, whatever is in that, and offers the last good point", async (t) => {
  const { session, manager, see } = await refused(t);
  await session.prompt("Second");
  const call = manager.getEntries().find((entry) => outlineOf([entry])[0] === "assistant toolUse: [read]")!;
  const screen = await see(TITLE);
  assert.deepEqual(rowsWith(screen, GO_ON, STAY, `because of entry ${call.id}`), [
    GO_ON,
    STAY,
    `because of entry ${call.id}`,
  ]);
  const text = screen.map((row) => row.trim()).join(" ");
  assert.match(text, /call-7 is wrong/);
  assert.ok(!/\p{Cc}/u.test(text.replaceAll("\n", "")));
});

test("[C3, N1] going on: the leaf is before the refused turn, its prompt in the editor, and the rest stays in the tree", async (t) => {
  const { session, manager, terminal, see } = await refused(t, [REFUSED, REFUSED, say("now it works")]);
  await session.prompt("Second");
  const before = manager.getEntries();
  await see(TITLE);
  terminal.type(ENTER);
  await see("Went back to the start of the session (/back returns)");
  assert.deepEqual([manager.getLeafId(), manager.getEntries()], [null, before]);
  terminal.type(ENTER);
  await see("now it works");
  assert.deepEqual(
    outlineOf(manager.getBranch()).filter((row) => /^(user|assistant)/.test(row)),
    ["user: First", "assistant stop: now it works"],
  );
});

for (const [how, ...keys] of [
  ["Escape", ESCAPE],
  ["the second choice", DOWN, ENTER],
] as const)
  test(`[C3] staying with ${how}: nothing moves, and the reason stays on the screen`, async (t) => {
    const { session, manager, terminal, see, seeNo } = await refused(t);
    await session.prompt("Second");
    await see(TITLE);
    const leaf = manager.getLeafId();
    terminal.type(...keys);
    await seeNo(STAY);
    await see("The provider refuses the conversation because of entry");
    assert.equal(manager.getLeafId(), leaf);
  });

test("[C3, N4] a draft is not replaced by the prompt that comes back", async (t) => {
  const { session, terminal, see } = await refused(t);
  const turn = session.prompt("Second");
  terminal.type(..."my draft");
  await turn;
  await see(TITLE);
  terminal.type(ENTER);
  await see("Went back to");
  await see("my draft");
});

test("[C3, N3] who is in another list is not torn from it: the reason is told as an error", async (t) => {
  const { session, terminal, see } = await refused(t);
  terminal.type(..."/tree", ENTER);
  await see("Session Tree");
  await session.prompt("Second");
  const screen = await see("Session Tree");
  assert.deepEqual(rowsWith(screen, TITLE, GO_ON), []);
  terminal.type(ESCAPE);
  await see("The provider refuses the conversation because of entry");
});
