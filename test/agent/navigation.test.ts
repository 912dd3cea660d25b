/** `/tree`: jumps within a session, alone and while a turn runs, and what extensions see of them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { AgentSession } from "../../src/agent/agent-session.ts";
import { hooksFrom } from "../../src/agent/hook-port.ts";
import type { HookFunctions } from "../../src/agent/hook-port.ts";
import { ModelRegistry } from "../../src/agent/models.ts";
import { collectEntriesForBranchSummary } from "../../src/agent/navigation.ts";
import type { AssistantMessage } from "../../src/tree/messages.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { fileLines, nextEvent, outlineOf, sentMessages, startHarness, tool } from "../support/agent-harness.ts";
import { callTools, hangAfter, say } from "../support/provider-mock.ts";
import { trackSession } from "../support/laws.ts";
import { assistant as anthropicAnswer, temporaryFile, user } from "../support/session-files.ts";
import { HEADER, file, line, message } from "../support/session-lines.ts";

/** An answer of the model that the harness has. */
const assistant = (text: string): AssistantMessage => ({
  ...anthropicAnswer(text),
  api: "openai-completions",
  provider: "endpoint",
  model: "mock",
});

/** The id of the first entry with this outline text. */
function idOf(manager: SessionManager, text: string): string {
  const entry = manager.getEntries().find((candidate) => outlineOf([candidate])[0] === text);
  assert.ok(entry, `no entry ${text}`);
  return entry.id;
}

test("[N1, L1] a jump to the first prompt and another answer make two branches, and the file reopens on the second", async (t) => {
  const { session, manager, server } = await startHarness(t, { replies: [say("one"), say("two"), say("other")] });
  await session.prompt("First");
  await session.prompt("Second");
  const first = idOf(manager, "user: First");
  assert.deepEqual(await session.navigateTree(first), { cancelled: false, editorText: "First" });
  assert.deepEqual(outlineOf(manager.getBranch()), ["model_change"]);
  await session.prompt("First, edited");
  assert.deepEqual(sentMessages(server.requests[2]), ["user First, edited"]);
  assert.deepEqual(outlineOf(manager.getBranch()), ["model_change", "user: First, edited", "assistant stop: other"]);
  const root = idOf(manager, "model_change");
  assert.deepEqual(outlineOf(manager.getChildren(root)), ["user: First", "user: First, edited"]);
  const reopened = trackSession(t, await SessionManager.open(manager.getSessionFile()!, { readOnly: true }));
  assert.deepEqual(outlineOf(reopened.getBranch()), outlineOf(manager.getBranch()));
});

test("[L1] a jump that nothing follows is in the file when navigateTree resolves", async (t) => {
  const { session, manager } = await startHarness(t, { replies: say("one") });
  await session.prompt("First");
  const answer = idOf(manager, "assistant stop: one");
  await session.prompt("Second");
  await session.navigateTree(answer);
  const record = fileLines(manager).at(-1);
  assert.deepEqual(
    { type: record?.type, parentId: record?.["parentId"], via: record?.["via"] },
    { type: "leaf", parentId: answer, via: "jump" },
  );
});

test("[N1] the leaf for each kind of target", async (t) => {
  const manager = SessionManager.inMemory();
  const root = manager.appendMessage(user("root"));
  const answer = manager.appendMessage(assistant("answer"));
  const custom = manager.appendCustomMessageEntry(
    "note",
    [
      { type: "text", text: "a " },
      { type: "text", text: "note" },
    ],
    true,
  );
  const model = manager.appendModelChange("p", "m");
  manager.appendMessage(user("last"));
  const { session } = await startHarness(t, { manager });
  const jump = async (id: string): Promise<unknown> => ({
    ...(await session.navigateTree(id)),
    leaf: manager.getLeafId(),
  });
  assert.deepEqual(await jump(custom), { cancelled: false, editorText: "a note", leaf: answer });
  assert.deepEqual(await jump(model), { cancelled: false, leaf: model });
  assert.deepEqual(await jump(root), { cancelled: false, editorText: "root", leaf: null });
  assert.deepEqual(await jump(answer), { cancelled: false, leaf: answer });
});

test("[F7, N1, B1] dB42 entries without a usable message can be gone to, are no prompts, and say nothing of the context", async (t) => {
  const shapes = [null, 5, "text", [], {}, { role: "assistant", usage: null }, { role: "assistant", usage: "x" }];
  const lines = shapes.map((shape, n) => line("message", `b${n}`, n === 0 ? "a" : `b${n - 1}`, { message: shape }));
  const path = temporaryFile(file(HEADER, message("a", null), ...lines, message("z", "b6")));
  const { session, manager } = await startHarness(t, { manager: await SessionManager.open(path), replies: say("one") });
  assert.deepEqual(
    session.getUserMessages().map(({ text }) => text),
    ["a", "z"],
  );
  for (const n of shapes.keys()) {
    assert.deepEqual(await session.navigateTree(`b${n}`), { cancelled: false });
    assert.equal(manager.getLeafId(), `b${n}`);
    assert.ok(session.getContextUsage()!.tokens > 0);
  }
  await session.prompt("on");
  assert.deepEqual(outlineOf(manager.getBranch().slice(-2)), ["user: on", "assistant stop: one"]);
});

test("[N2, L4] choosing where one already is does nothing, labels and extension state behind it included", async (t) => {
  const heard: string[] = [];
  const hooks = hooksFrom({
    session_before_tree: () => void heard.push("before"),
    session_tree: () => void heard.push("after"),
  });
  const { session, manager, events } = await startHarness(t, { replies: say("one"), hooks });
  await session.prompt("First");
  const answer = idOf(manager, "assistant stop: one");
  assert.deepEqual(await session.navigateTree(answer), { cancelled: false });
  session.setLabel(answer, "here");
  manager.appendCustomEntry("state", { n: 1 });
  const leaf = manager.getLeafId()!;
  assert.deepEqual(await session.navigateTree(answer), { cancelled: false });
  assert.deepEqual(await session.navigateTree(leaf), { cancelled: false });
  assert.equal(manager.getLeafId(), leaf);
  assert.deepEqual(heard, []);
  assert.equal(
    events.some((event) => event.type === "session_changed"),
    false,
  );
});

test("[N1] an unknown target is refused before anything else", async (t) => {
  const { session } = await startHarness(t);
  await assert.rejects(session.navigateTree("deadbeef", { summarize: true }), { message: "Entry deadbeef not found" });
});

/** root ─ a ─ b ─ c (old leaf), and root ─ x. */
function forked(): { manager: SessionManager; ids: Record<"root" | "a" | "b" | "c" | "x", string> } {
  const manager = SessionManager.inMemory();
  const root = manager.appendMessage(user("root"));
  const x = manager.appendMessage(assistant("x"));
  manager.branch(root);
  const a = manager.appendMessage(assistant("a"));
  const b = manager.appendMessage(user("b"));
  const c = manager.appendMessage(assistant("c"));
  return { manager, ids: { root, a, b, c, x } };
}

test("[N1] what a jump leaves behind: down to the common ancestor, oldest first", () => {
  const { manager, ids } = forked();
  const collect = (from: string | null, to: string): unknown => {
    const { entries, commonAncestorId } = collectEntriesForBranchSummary(manager, from, to);
    return { texts: outlineOf(entries), commonAncestorId };
  };
  assert.deepEqual(collect(ids.c, ids.x), {
    texts: ["assistant stop: a", "user: b", "assistant stop: c"],
    commonAncestorId: ids.root,
  });
  assert.deepEqual(collect(ids.c, ids.a), { texts: ["user: b", "assistant stop: c"], commonAncestorId: ids.a });
  assert.deepEqual(collect(ids.a, ids.c), { texts: [], commonAncestorId: ids.a });
  assert.deepEqual(collect(null, ids.c), { texts: [], commonAncestorId: null });
  manager.resetLeaf();
  const otherRoot = manager.appendMessage(user("another root"));
  assert.deepEqual(collect(otherRoot, ids.x), { texts: ["user: another root"], commonAncestorId: null });
});

test("[N1] hooks see the preparation before, and the new leaf after the move", async (t) => {
  const { manager, ids } = forked();
  const seen: unknown[] = [];
  const hooks = hooksFrom({
    session_before_tree: ({ preparation, signal }) => {
      seen.push({
        ...preparation,
        entriesToSummarize: outlineOf(preparation.entriesToSummarize),
        aborted: signal.aborted,
      });
      return undefined;
    },
    session_tree: (event) => void seen.push({ ...event, leaf: manager.getLeafId() }),
  });
  const { session } = await startHarness(t, { manager, hooks });
  session.subscribe((event) => {
    if (event.type === "session_changed") seen.push(event);
  });
  assert.deepEqual(await session.navigateTree(ids.b), { cancelled: false, editorText: "b" });
  assert.deepEqual(seen, [
    {
      targetId: ids.b,
      oldLeafId: ids.c,
      commonAncestorId: ids.b,
      entriesToSummarize: ["assistant stop: c"],
      userWantsSummary: false,
      aborted: false,
    },
    { type: "session_changed", reason: "tree" },
    { newLeafId: ids.a, oldLeafId: ids.c, leaf: ids.a },
  ]);
});

test("[N2] a hook can cancel: nothing has moved, nothing else is told", async (t) => {
  const { manager, ids } = forked();
  const after: unknown[] = [];
  const hooks = hooksFrom({
    session_before_tree: () => ({ cancel: true }),
    session_tree: (event) => void after.push(event),
  });
  const { session, events } = await startHarness(t, { manager, hooks });
  const size = manager.getEntries().length;
  assert.deepEqual(await session.navigateTree(ids.x), { cancelled: true });
  assert.deepEqual([manager.getLeafId(), manager.getEntries().length], [ids.c, size]);
  assert.deepEqual([after, events], [[], []]);
});

test("[N1, N2] a hook's summary is used when the user wants one, and hangs at the new position", async (t) => {
  const { manager, ids } = forked();
  const after: unknown[] = [];
  const hooks = hooksFrom({
    session_before_tree: () => ({ summary: { summary: "What was tried", details: { files: 1 } } }),
    session_tree: (event) => void after.push(event),
  });
  const { session } = await startHarness(t, { manager, hooks });
  assert.deepEqual(await session.navigateTree(ids.a), { cancelled: false });
  assert.equal(manager.getLeafId(), ids.a);

  manager.branch(ids.c);
  const result = await session.navigateTree(ids.x, { summarize: true });
  const summaryEntry = manager.getLeafEntry();
  assert.ok(summaryEntry?.type === "branch_summary");
  const { parentId, summary, details, fromExtension } = summaryEntry;
  assert.deepEqual(
    { parentId, summary, details, fromExtension },
    {
      parentId: ids.x,
      summary: "What was tried",
      details: { files: 1 },
      fromExtension: true,
    },
  );
  assert.deepEqual(result, { cancelled: false, summaryEntry });
  assert.deepEqual(after, [
    { newLeafId: ids.a, oldLeafId: ids.c },
    { newLeafId: summaryEntry.id, oldLeafId: ids.c, summaryEntry, fromExtension: true },
  ]);

  manager.branch(ids.c);
  await session.navigateTree(ids.root, { summarize: true });
  assert.deepEqual([manager.getLeafEntry()?.parentId, manager.getLeafEntry()?.type], [null, "branch_summary"]);
});

test("[N1] a summary without a model is refused before any hook; with nothing left behind none is made", async (t) => {
  const { manager, ids } = forked();
  let asked = 0;
  const hooks = hooksFrom({ session_before_tree: () => void asked++ });
  const { session, server } = await startHarness(t, { manager, hooks });
  const registry = await ModelRegistry.load({ environment: {} });
  const modelless = new AgentSession({ sessionManager: manager, registry, hooks });
  await assert.rejects(modelless.navigateTree(ids.x, { summarize: true }), {
    message: "No model available for summarization",
  });
  assert.deepEqual([asked, manager.getLeafId()], [0, ids.c]);
  manager.branch(ids.a);
  assert.deepEqual(await session.navigateTree(ids.c, { summarize: true }), { cancelled: false });
  assert.deepEqual([asked, manager.getLeafId(), server.requests.length], [1, ids.c, 0]);
});

/** A hook that is waiting for `answer`, and a jump that has reached it. */
async function waitingJump(
  start: (functions: HookFunctions) => Promise<AgentSession>,
  targetId: string,
): Promise<{ session: AgentSession; jump: ReturnType<AgentSession["navigateTree"]>; answer: () => void }> {
  const reached = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<undefined>();
  const session = await start({
    session_before_tree: () => {
      reached.resolve();
      return answer.promise;
    },
  });
  const jump = session.navigateTree(targetId);
  await reached.promise;
  return { session, jump, answer: () => answer.resolve(undefined) };
}

test("[N3] while a jump waits, a second one, a prompt and another session are refused", async (t) => {
  const { manager, ids } = forked();
  const { session, jump, answer } = await waitingJump(
    async (functions) => (await startHarness(t, { manager, hooks: hooksFrom(functions) })).session,
    ids.x,
  );
  const refusal = { message: "Another jump or change of session is under way; wait for its end." };
  await assert.rejects(session.navigateTree(ids.a), refusal);
  await assert.rejects(session.prompt("Hi"), refusal);
  await assert.rejects(session.newSession(), refusal);
  assert.equal(session.isIdle, false);
  answer();
  assert.deepEqual(await jump, { cancelled: false });
  assert.deepEqual([manager.getLeafId(), session.isIdle], [ids.x, true]);
});

test("[N2] abort ends the wait for a hook: cancelled, aborted, the leaf where it was", async (t) => {
  const { manager, ids } = forked();
  const { session, jump } = await waitingJump(
    async (functions) => (await startHarness(t, { manager, hooks: hooksFrom(functions) })).session,
    ids.x,
  );
  await session.abort();
  assert.deepEqual(await jump, { cancelled: true, aborted: true });
  assert.equal(manager.getLeafId(), ids.c);
});

test("[N3] a message that came while the hook was asked stops the jump; an extension's state does not", async (t) => {
  const { manager, ids } = forked();
  let during = (): void => {
    manager.appendMessage(user("meanwhile"));
  };
  const hooks = hooksFrom({
    session_before_tree: () => {
      during();
      return undefined;
    },
  });
  const { session } = await startHarness(t, { manager, hooks });
  await assert.rejects(session.navigateTree(ids.x), {
    message: "The session went on while the jump was being prepared; nothing was moved.",
  });
  assert.deepEqual(outlineOf([manager.getLeafEntry()!]), ["user: meanwhile"]);
  during = () => void manager.appendCustomEntry("state", { n: 1 });
  assert.deepEqual(await session.navigateTree(ids.x), { cancelled: false });
  assert.equal(manager.getLeafId(), ids.x);
});

test("[N1] a hook that throws is reported and does not stop the jump", async (t) => {
  const { manager, ids } = forked();
  const hooks = hooksFrom({
    session_before_tree: () => {
      throw new Error("broken extension");
    },
  });
  const { session, events } = await startHarness(t, { manager, hooks });
  assert.deepEqual(await session.navigateTree(ids.x), { cancelled: false });
  assert.deepEqual(events[0], {
    type: "notice",
    level: "error",
    text: "An extension failed in session_before_tree: broken extension",
  });
});

test("[N3] while a turn runs a jump is refused; with abort it stops the turn, and all of it is on its branch", async (t) => {
  const running = Promise.withResolvers<void>();
  const { session, manager, server, events } = await startHarness(t, {
    replies: [say("one"), callTools({ id: "c1", name: "wait", arguments: {} }), say("elsewhere")],
    tools: () => [
      tool("wait", async (_args, signal) => {
        running.resolve();
        await new Promise((resolve) => signal?.addEventListener("abort", resolve));
        return "stopped";
      }),
    ],
  });
  await session.prompt("First");
  const target = idOf(manager, "assistant stop: one");
  const settled = session.prompt("Second");
  await running.promise;
  session.followUp("still here");
  await assert.rejects(session.navigateTree(target), {
    message: "A turn is running; wait for its end, or stop it first.",
  });
  assert.deepEqual(await session.navigateTree(target, { abort: true }), { cancelled: false });
  await settled;
  assert.equal(manager.getLeafId(), target);
  const result = idOf(manager, "result c1: stopped");
  assert.deepEqual(outlineOf(manager.getBranch(result)).slice(-3), [
    "user: Second",
    "assistant toolUse: [wait]",
    "result c1: stopped",
  ]);
  assert.equal(server.requests.length, 2);
  const kinds = events.filter((event) => event.type === "agent_settled" || event.type === "session_changed");
  assert.deepEqual(kinds.slice(-2), [
    { type: "agent_settled", aborted: true },
    { type: "session_changed", reason: "tree" },
  ]);
  // [N4] what was queued is still there, and goes out behind the next prompt.
  assert.deepEqual(
    session.queue.map(({ text }) => text),
    ["still here"],
  );
});

test("[N3] a tool that does not listen finishes after the jump, on the branch it belongs to", async (t) => {
  const running = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const { session, manager } = await startHarness(t, {
    replies: [say("one"), callTools({ id: "c1", name: "deaf", arguments: {} }), say("elsewhere")],
    stopTimeoutMs: 10,
    tools: () => [
      tool("deaf", async () => {
        running.resolve();
        await release.promise;
        return "late";
      }),
    ],
  });
  await session.prompt("First");
  const settled = session.prompt("Second");
  await running.promise;
  await session.navigateTree(idOf(manager, "user: First"), { abort: true });
  await settled;
  await session.prompt("First, edited");
  const here = outlineOf(manager.getBranch());
  release.resolve();
  const { entry } = await nextEvent(session, "entry_appended");
  assert.deepEqual(outlineOf(manager.getBranch(entry.id)).slice(-2), ["assistant toolUse: [deaf]", "result c1: late"]);
  assert.deepEqual(outlineOf(manager.getBranch()), here);
});

test("[N4] queued messages survive a jump", async (t) => {
  const { session, manager } = await startHarness(t, { replies: [say("one"), hangAfter("…")] });
  await session.prompt("First");
  const settled = session.prompt("Second");
  await nextEvent(session, "message_update");
  session.steer("later");
  await session.navigateTree(idOf(manager, "user: First"), { abort: true });
  await settled;
  assert.deepEqual(session.queue, [{ id: "queued-1", kind: "steer", text: "later" }]);
});

test("[N1, C1] a jump brings back the model and the thinking level of its path", async (t) => {
  const { session, manager, registry, model, server, events } = await startHarness(t, { replies: say("ok") });
  const added = await registry.addEndpoint({ baseUrl: server.baseUrl, model: "other" });
  assert.ok("model" in added);
  const other = { ...added.model, reasoning: true };
  await session.prompt("First");
  const answer = manager.getLeafId()!;
  session.setModel(other);
  session.setThinkingLevel("high");
  await session.prompt("Second");
  const tip = manager.getLeafId()!;
  events.length = 0;
  await session.navigateTree(answer);
  assert.deepEqual([session.model?.id, session.thinkingLevel], ["other", "off"]);
  assert.deepEqual(
    events.map((event) => (event.type === "notice" ? event.text : event.type)),
    [
      "This conversation used endpoint/mock, which cannot be used here; it continues with other.",
      "thinking_level_changed",
      "session_changed",
    ],
  );
  await session.navigateTree(tip);
  assert.deepEqual([session.model?.id, session.thinkingLevel], ["other", "high"]);
  assert.equal(model.id, "mock");
});
