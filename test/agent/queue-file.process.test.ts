/** Queued prompts across the end of a program. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { AgentSession } from "../../src/agent/agent-session.ts";
import { KEPT_IMAGE_BYTES } from "../../src/agent/queue-file.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import type { ImageContent } from "../../src/tree/messages.ts";
import { nextEvent, noticesOf, outlineOf, startHarness, tool } from "../support/agent-harness.ts";
import { callTools, say } from "../support/provider-mock.ts";
import { temporaryFolder } from "../support/session-files.ts";

/** The files of queues, with what is in them. */
function queuesIn(state: string): unknown[] {
  const folder = join(state, "queues");
  try {
    return readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as unknown);
  } catch {
    return [];
  }
}

function stateFolder(t: TestContext): string {
  const before = process.env["BOUGH_DIR"];
  const state = join(temporaryFolder(), "state");
  process.env["BOUGH_DIR"] = state;
  t.after(() => {
    process.env["BOUGH_DIR"] = before;
  });
  return state;
}

test("[W2, W6] what is queued is on disk until it is in the session, and for the user alone", async (t) => {
  const state = stateFolder(t);
  const gate = Promise.withResolvers<string>();
  const { session, manager } = await startHarness(t, {
    replies: [callTools({ id: "c1", name: "wait", arguments: {} }), say("two"), say("three")],
    tools: () => [tool("wait", () => gate.promise)],
  });
  const turn = session.prompt("First");
  await nextEvent(session, "tool_execution_start");
  session.steer("left");
  const dropped = session.followUp("dropped");
  session.followUp("after");
  session.removeQueued(dropped);
  assert.deepEqual(queuesIn(state), [
    [
      { kind: "steer", text: "left" },
      { kind: "followUp", text: "after" },
    ],
  ]);
  const folder = join(state, "queues");
  const modes = [folder, join(folder, readdirSync(folder)[0]!)].map((path) => statSync(path).mode & 0o777);
  assert.deepEqual(modes, [0o700, 0o600]);
  const seen: unknown[] = [];
  session.subscribe((event) => {
    if (event.type === "entry_appended" && event.entry.type === "message" && event.entry.message.role === "user")
      seen.push(queuesIn(state));
  });
  gate.resolve("x");
  await turn;
  assert.deepEqual(seen, [[[{ kind: "followUp", text: "after" }]], []]);
  assert.deepEqual(
    outlineOf(manager.getBranch()).filter((row) => row.startsWith("user")),
    ["user: First", "user: left", "user: after"],
  );
});

test("[W2] after a crash queued prompts are given back once, and nothing is sent by itself", async (t) => {
  const state = stateFolder(t);
  const first = await startHarness(t, { replies: say("one") });
  await first.session.prompt("First");
  first.session.steer("waits");
  first.session.followUp("waits, too");
  // The program is gone: nothing of it runs any more, and its lease is free.
  await first.manager.close();
  const manager = await SessionManager.open(first.manager.getSessionFile()!);
  const { session, server } = await startHarness(t, { manager, replies: say("two") });
  assert.deepEqual(
    [session.takeUnsent(), session.queue, server.requests.length],
    [[{ text: "waits" }, { text: "waits, too" }], [], 0],
  );
  assert.equal(queuesIn(state).length, 1);
  await session.prompt("waits");
  assert.deepEqual([queuesIn(state), session.takeUnsent()], [[], []]);
});

test("[W2, F7] a queue file that cannot be read gives nothing back; a session in memory keeps none", async (t) => {
  const state = stateFolder(t);
  const { session } = await startHarness(t, { manager: SessionManager.inMemory("/w") });
  session.steer("x");
  assert.deepEqual([queuesIn(state), session.takeUnsent()], [[], []]);
  assert.ok(session instanceof AgentSession);
});

const image = (data: string): ImageContent => ({ type: "image", data, mimeType: "image/png" });

test("[W2, W6] images of queued prompts come back after a crash, those beyond the limit are named when they are queued", async (t) => {
  const state = stateFolder(t);
  const first = await startHarness(t, { replies: say("one") });
  await first.session.prompt("First");
  const large = "A".repeat(KEPT_IMAGE_BYTES - 4);
  first.session.steer("small", [image("QUJD")]);
  first.session.steer("both", [image(large), image("REVG")]);
  first.session.followUp("none");
  first.session.followUp("late", [image("R0hJ")]);
  assert.deepEqual(noticesOf(first.events), [
    "warning: An image of queued messages would not survive a crash: more than 16 MB of them are not kept.",
    "warning: 2 images of queued messages would not survive a crash: more than 16 MB of them are not kept.",
  ]);
  const folder = join(state, "queues");
  assert.equal(statSync(join(folder, readdirSync(folder)[0]!)).mode & 0o777, 0o600);
  await first.manager.close();
  const manager = await SessionManager.open(first.manager.getSessionFile()!);
  const { session } = await startHarness(t, { manager });
  assert.deepEqual(session.takeUnsent(), [
    { text: "small", images: [image("QUJD")] },
    { text: "both", images: [image(large)] },
    { text: "none" },
    { text: "late" },
  ]);
});

test("[W2, F7] of a queue file only what is a message or an image comes back", async (t) => {
  const state = stateFolder(t);
  const { session, manager } = await startHarness(t, { replies: say("one") });
  await session.prompt("First");
  session.steer("x");
  const [name] = readdirSync(join(state, "queues"));
  const odd = [
    null,
    7,
    { text: 1 },
    { text: "a", images: [null, 7, { type: "image", data: 1 }, image("QUJD")] },
    { text: "b", images: 3 },
  ];
  writeFileSync(join(state, "queues", name!), JSON.stringify(odd));
  await manager.close();
  const again = await startHarness(t, { manager: await SessionManager.open(manager.getSessionFile()!) });
  assert.deepEqual(again.session.takeUnsent(), [{ text: "a", images: [image("QUJD")] }, { text: "b" }]);
});
