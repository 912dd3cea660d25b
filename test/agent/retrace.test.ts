/** `/back` and `/forward` of AgentSession: the guards and hooks of a jump, without its text for the editor. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { hooksFrom } from "../../src/agent/hook-port.ts";
import type { HookFunctions } from "../../src/agent/hook-port.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { fileLines, nextEvent, outlineOf, startHarness, tool } from "../support/agent-harness.ts";
import { trackSession } from "../support/laws.ts";
import { callTools, hangAfter, say } from "../support/provider-mock.ts";
import { user } from "../support/session-files.ts";

/** first ─ one (left) and first ─ other (the leaf). */
function forked(): { manager: SessionManager; first: string; one: string; other: string } {
  const manager = SessionManager.inMemory("/w");
  const first = manager.appendMessage(user("first"));
  const one = manager.appendMessage(user("one"));
  manager.branch(first);
  return { manager, first, one, other: manager.appendMessage(user("other")) };
}

test("[L3, N1] a jump is undone and done again, saved by the time it is over, and no text goes to the editor", async (t) => {
  const { session, manager } = await startHarness(t, { replies: [say("one"), say("two")] });
  await session.prompt("First");
  await session.prompt("Second");
  const end = manager.getLeafId();
  const [first] = session.getUserMessages();
  await session.navigateTree(first!.entryId);
  const start = manager.getLeafId();
  assert.deepEqual(await session.back(), { cancelled: false, place: end });
  assert.deepEqual(outlineOf(session.sessionManager.getBranch()).at(-1), "assistant stop: two");
  const last = (): unknown[] => {
    const { type, parentId, via } = fileLines(manager).at(-1)!;
    return [type, parentId, via];
  };
  assert.deepEqual(last(), ["leaf", end, "back"]);
  assert.deepEqual(await session.forward(), { cancelled: false, place: start });
  assert.deepEqual(last(), ["leaf", start, "forward"]);
  const reopened = trackSession(t, await SessionManager.open(manager.getSessionFile()!, { readOnly: true }));
  assert.deepEqual([reopened.getLeafId(), reopened.getRetraceTarget("back")], [start, end]);
});

test("[L3, N2] with nowhere to go nothing is asked, told or moved", async (t) => {
  const asked: string[] = [];
  const hooks = hooksFrom({
    session_before_tree: () => void asked.push("before"),
    session_tree: () => void asked.push("after"),
  });
  const { session, manager, events } = await startHarness(t, { hooks });
  assert.deepEqual(await session.back(), { cancelled: false, place: undefined });
  assert.deepEqual(await session.forward(), { cancelled: false, place: undefined });
  assert.deepEqual([asked, events, manager.getLeafId()], [[], [], null]);
});

test("[L3, N1] hooks are told as of any jump, with the place as the target", async (t) => {
  const { manager, first, one, other } = forked();
  const told: unknown[] = [];
  const hooks = hooksFrom({
    session_before_tree: ({ preparation: { entriesToSummarize, ...preparation } }) => {
      told.push({ ...preparation, entries: outlineOf(entriesToSummarize) });
      return undefined;
    },
    session_tree: (event) => void told.push(event),
  });
  const { session, events } = await startHarness(t, { manager, hooks });
  await session.back();
  assert.deepEqual(told, [
    { targetId: one, oldLeafId: other, commonAncestorId: first, userWantsSummary: false, entries: ["user: other"] },
    { newLeafId: one, oldLeafId: other },
  ]);
  assert.deepEqual(events, [{ type: "session_changed", reason: "tree" }]);
  manager.resetLeaf();
  manager.branch(first);
  await manager.flush();
  manager.resetLeaf();
  await manager.flush();
  await session.back();
  told.length = 0;
  await session.forward();
  assert.deepEqual(told, [
    { targetId: "root", oldLeafId: first, commonAncestorId: null, userWantsSummary: false, entries: ["user: first"] },
    { newLeafId: null, oldLeafId: first },
  ]);
});

test("[L3, N2] a hook can cancel, and a hook that moves the leaf meanwhile stops the step", async (t) => {
  const { manager, first, one, other } = forked();
  let answer: NonNullable<HookFunctions["session_before_tree"]> = () => ({ cancel: true });
  const hooks = hooksFrom({ session_before_tree: (event) => answer(event) });
  const { session } = await startHarness(t, { manager, hooks });
  assert.deepEqual(await session.back(), { cancelled: true, place: undefined });
  assert.deepEqual([manager.getLeafId(), manager.getRetraceTarget("back")], [other, one]);
  const refusal = { message: "The session went on while the jump was being prepared; nothing was moved." };
  answer = () => {
    manager.appendMessage(user("meanwhile"));
    return undefined;
  };
  await assert.rejects(session.back(), refusal);
  const leaf = manager.getLeafId()!;
  answer = async () => {
    manager.branch(first);
    await manager.flush();
    manager.branch(leaf);
    await manager.flush();
    return undefined;
  };
  await assert.rejects(session.back(), refusal);
  assert.equal(manager.getLeafId(), leaf);
});

test("[L3, N2] abort ends the wait for a hook; of two steps at once the second is refused", async (t) => {
  const { manager, other } = forked();
  const reached = Promise.withResolvers<void>();
  const hooks = hooksFrom({
    session_before_tree: () => {
      reached.resolve();
      return new Promise<undefined>(() => undefined);
    },
  });
  const { session } = await startHarness(t, { manager, hooks });
  const step = session.back();
  await reached.promise;
  await assert.rejects(session.back(), {
    message: "Another jump or change of session is under way; wait for its end.",
  });
  await session.abort();
  assert.deepEqual(await step, { cancelled: true, aborted: true, place: undefined });
  assert.equal(manager.getLeafId(), other);
});

test("[L3, N3, N4] while a turn runs a step is refused; with abort it stops the turn, which stays on its branch and can be gone forward to", async (t) => {
  const { session, manager } = await startHarness(t, { replies: [say("one"), hangAfter("half")] });
  await session.prompt("First");
  const end = manager.getLeafId();
  await session.navigateTree(session.getUserMessages()[0]!.entryId);
  const settled = session.prompt("Second");
  await nextEvent(session, "message_update");
  session.followUp("still here");
  await assert.rejects(session.back(), { message: "A turn is running; wait for its end, or stop it first." });
  assert.deepEqual(await session.back({ abort: true }), { cancelled: false, place: end });
  await settled;
  assert.deepEqual(
    session.queue.map(({ text }) => text),
    ["still here"],
  );
  await session.forward();
  assert.deepEqual(outlineOf(manager.getBranch()).slice(-2), ["user: Second", "assistant aborted: half"]);
});

test("[L3, N3] the late result of a tool that does not listen is there when one goes back", async (t) => {
  const running = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const { session, manager } = await startHarness(t, {
    replies: [callTools({ id: "c1", name: "deaf", arguments: {} })],
    stopTimeoutMs: 10,
    tools: () => [
      tool("deaf", async () => {
        running.resolve();
        await release.promise;
        return "late";
      }),
    ],
  });
  const settled = session.prompt("First");
  await running.promise;
  await session.navigateTree(session.getUserMessages()[0]!.entryId, { abort: true });
  await settled;
  const here = manager.getLeafId();
  release.resolve();
  await nextEvent(session, "entry_appended");
  assert.equal(manager.getLeafId(), here);
  await session.back();
  assert.deepEqual(outlineOf(manager.getBranch()).slice(-2), ["assistant toolUse: [deaf]", "result c1: late"]);
  assert.deepEqual(await session.forward(), { cancelled: false, place: here });
});

test("[L3, C1] a step brings back the thinking level of its path, and adds nothing", async (t) => {
  const { session, manager, registry, server } = await startHarness(t, { replies: say("ok") });
  const added = await registry.addEndpoint({ baseUrl: server.baseUrl, model: "other" });
  assert.ok("model" in added);
  session.setModel({ ...added.model, reasoning: true });
  await session.prompt("First");
  const answer = manager.getLeafId()!;
  session.setThinkingLevel("high");
  await session.prompt("Second");
  await session.navigateTree(answer);
  const size = manager.getEntries().length;
  const levels = [session.thinkingLevel];
  for (const step of ["back", "forward", "back"] as const) {
    await session[step]();
    levels.push(session.thinkingLevel);
  }
  assert.deepEqual([levels, manager.getEntries().length], [["off", "high", "off", "high"], size]);
});
