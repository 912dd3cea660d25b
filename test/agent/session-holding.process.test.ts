/** Two AgentSessions on one session: following, taking over, handing over. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { hostname } from "node:os";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { askForHandOver } from "../../src/session/hand-over.ts";
import { leasePath, locksDir, writePrivately } from "../../src/session/lease.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { nextEvent, noticesOf, outlineOf, startHarness, tool } from "../support/agent-harness.ts";
import { callTools, say } from "../support/provider-mock.ts";

const other = `another bough (process ${process.pid})`;

test("[W5] a follower shows what the writer does, refuses prompts, and takes over when the writer is gone", async (t) => {
  const writer = await startHarness(t, { followed: true, replies: [say("one"), say("two")] });
  await writer.session.prompt("First");
  const manager = await SessionManager.open(writer.manager.getSessionFile()!, { readOnly: true });
  const reader = await startHarness(t, { followed: true, manager, replies: say("three") });
  assert.equal(reader.session.isFollowing, true);
  await assert.rejects(reader.session.prompt("Mine"), { message: /^You follow this session/ });
  await writer.session.prompt("Second");
  while (manager.getLeafId() !== writer.manager.getLeafId()) await nextEvent(reader.session, "session_changed");
  assert.deepEqual(outlineOf(manager.getBranch()), outlineOf(writer.manager.getBranch()));
  await writer.session.dispose();
  await writer.manager.close();
  await reader.session.takeOver();
  await reader.session.prompt("Third");
  assert.deepEqual(outlineOf(manager.getBranch()).slice(-2), ["user: Third", "assistant stop: three"]);
  assert.deepEqual(
    [noticesOf(reader.events), reader.session.isFollowing],
    [["info: This session is written here now."], false],
  );
});

test("[W5] a writer that is asked finishes its turn, saves, and follows; both can go back and forth", async (t) => {
  const gate = Promise.withResolvers<string>();
  const writer = await startHarness(t, {
    followed: true,
    replies: [callTools({ id: "c1", name: "wait", arguments: {} }), say("done")],
    tools: () => [tool("wait", () => gate.promise)],
  });
  const turn = writer.session.prompt("First");
  await nextEvent(writer.session, "tool_execution_start");
  const manager = await SessionManager.open(writer.manager.getSessionFile()!, { readOnly: true });
  const reader = await startHarness(t, { followed: true, manager, replies: say("mine") });
  const taken = reader.session.takeOver();
  await nextEvent(writer.session, "notice");
  assert.deepEqual([reader.session.isFollowing, writer.session.isFollowing], [true, false]);
  gate.resolve("late");
  await turn;
  await taken;
  assert.deepEqual([reader.session.isFollowing, writer.session.isFollowing], [false, true]);
  await reader.session.prompt("Second");
  while (writer.manager.getLeafId() !== manager.getLeafId()) await nextEvent(writer.session, "session_changed");
  assert.deepEqual(outlineOf(writer.manager.getBranch()).slice(-4), [
    "result c1: late",
    "assistant stop: done",
    "user: Second",
    "assistant stop: mine",
  ]);
  assert.deepEqual(noticesOf(writer.events), [
    `info: This session is asked for by ${other}, which gets it when nothing runs here any more.`,
    `warning: This session was handed over to ${other}; you follow it now, and /take-over asks for it back.`,
  ]);
  assert.deepEqual(noticesOf(reader.events), [
    `info: Asked ${other} to hand over this session when its turn is done.`,
    "info: This session is written here now.",
  ]);
  await writer.session.takeOver();
  assert.deepEqual([reader.session.isFollowing, writer.session.isFollowing], [true, false]);
});

test("[W5] waiting for a hand-over can be stopped; what is written here cannot be taken over", async (t) => {
  const gate = Promise.withResolvers<string>();
  const writer = await startHarness(t, {
    followed: true,
    replies: [callTools({ id: "c1", name: "wait", arguments: {} }), say("done")],
    tools: () => [tool("wait", () => gate.promise)],
  });
  const turn = writer.session.prompt("First");
  await nextEvent(writer.session, "tool_execution_start");
  await assert.rejects(writer.session.takeOver(), { message: "This session is written here already." });
  const manager = await SessionManager.open(writer.manager.getSessionFile()!, { readOnly: true });
  const reader = await startHarness(t, { followed: true, manager });
  const taken = reader.session.takeOver();
  await nextEvent(reader.session, "notice");
  await reader.session.abort();
  await assert.rejects(taken, { message: "The session was not handed over." });
  assert.equal(reader.session.isFollowing, true);
  gate.resolve("x");
  await turn;
});

test("[W5, B1] what is followed can be cloned and branched into a session of one's own", async (t) => {
  const writer = await startHarness(t, { replies: [say("one"), say("two")] });
  await writer.session.prompt("First");
  await writer.session.prompt("Second");
  const path = writer.manager.getSessionFile()!;
  const manager = await SessionManager.open(path, { readOnly: true });
  const reader = await startHarness(t, { followed: true, manager, replies: say("three") });
  const [, second] = reader.session.getUserMessages();
  assert.deepEqual(await reader.session.branch(second!.entryId), { selectedText: "Second", cancelled: false });
  await reader.session.prompt("Mine");
  assert.deepEqual([reader.session.isFollowing, manager.getHeader().parentSession], [false, path]);
  assert.deepEqual(
    outlineOf(manager.getBranch()).filter((row) => row.startsWith("user")),
    ["user: First", "user: Mine"],
  );
  await writer.manager.flush();
});

/** A program that asks for a session and says so; it ends when it is killed. */
async function asker(t: TestContext, sessionId: string): Promise<{ pid: number; kill(): Promise<void> }> {
  const script = `
    import { askForHandOver } from ${JSON.stringify(new URL("../../src/session/hand-over.ts", import.meta.url).href)};
    askForHandOver(${JSON.stringify(sessionId)});
    console.log("asked");
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
    // Without it the program would look for what the tests load.
    env: { ...process.env, NODE_OPTIONS: "" },
  });
  t.after(() => child.kill("SIGKILL"));
  await once(child.stdout, "data");
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  return { pid: child.pid!, kill };
}

const requestOf = (manager: SessionManager): string => `${leasePath(manager.getSessionId())}.request.json`;

test("[W5] an asker that dies while it waits gets nothing and leaves nothing; the writer keeps the session", async (t) => {
  const gate = Promise.withResolvers<string>();
  const writer = await startHarness(t, {
    replies: [callTools({ id: "c1", name: "wait", arguments: {} }), say("done")],
    tools: () => [tool("wait", () => gate.promise)],
  });
  const turn = writer.session.prompt("First");
  await nextEvent(writer.session, "tool_execution_start");
  const { pid, kill } = await asker(t, writer.manager.getSessionId());
  await nextEvent(writer.session, "notice");
  await kill();
  assert.equal(existsSync(requestOf(writer.manager)), true);
  gate.resolve("late");
  await turn;
  await nextEvent(writer.session, "notice");
  assert.deepEqual([writer.session.isFollowing, existsSync(requestOf(writer.manager))], [false, false]);
  assert.deepEqual(noticesOf(writer.events), [
    `info: This session is asked for by another bough (process ${pid}), which gets it when nothing runs here any more.`,
    `info: This session is no longer asked for by another bough (process ${pid}); it stays here.`,
  ]);
});

test("[W5] the request of an asker that is gone when it is seen is removed, and nobody is told", async (t) => {
  const writer = await startHarness(t, { replies: [say("one"), say("two")] });
  await writer.session.prompt("First");
  const path = requestOf(writer.manager);
  writePrivately(path, JSON.stringify({ id: "a", pid: 2 ** 22 + 1, host: hostname() }));
  while (existsSync(path)) await sleep(10);
  assert.deepEqual([writer.session.isFollowing, noticesOf(writer.events)], [false, []]);
});

test("[W5] a writer that begins takes no old request for a new one, and who still waits asks it again", async (t) => {
  const writer = await startHarness(t, { followed: true, replies: say("one") });
  await writer.session.prompt("First");
  const path = writer.manager.getSessionFile()!;
  await writer.session.dispose();
  const asked = askForHandOver(writer.manager.getSessionId());
  await writer.manager.close();
  const manager = await SessionManager.open(path);
  const next = await startHarness(t, { followed: true, manager });
  assert.equal(existsSync(requestOf(manager)), false);
  asked.repeat();
  while (!next.session.isFollowing) await nextEvent(next.session, "session_changed");
  assert.equal(existsSync(requestOf(manager)), false);
  asked.takeBack();
});

test("[W5] a hand-over between two that do nothing, back and forth, leaves no request", async (t) => {
  const writer = await startHarness(t, { followed: true, replies: say("one") });
  await writer.session.prompt("First");
  const manager = await SessionManager.open(writer.manager.getSessionFile()!, { readOnly: true });
  const reader = await startHarness(t, { followed: true, manager });
  const times: number[] = [];
  for (let round = 0; round < 6; round++) {
    const [from, to] = round % 2 === 0 ? [writer, reader] : [reader, writer];
    const start = performance.now();
    await to.session.takeOver();
    times.push(performance.now() - start);
    assert.deepEqual([from.session.isFollowing, to.session.isFollowing], [true, false]);
  }
  t.diagnostic(`handed over within ${Math.max(...times).toFixed(0)} ms`);
  assert.deepEqual(
    readdirSync(locksDir()).filter((name) => name.endsWith(".request.json")),
    [],
  );
});
