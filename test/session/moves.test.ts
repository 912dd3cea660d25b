/** `back()` and `forward()` of SessionManager: what they move, what they write, and what a reopened session knows. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { SessionFileError } from "../../src/session/session-errors.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { watchDisk } from "../support/disk-faults.ts";
import { checkLaws, trackSession } from "../support/laws.ts";
import { contentOf, recordsIn, temporaryFile, temporaryFolder, user } from "../support/session-files.ts";
import { HEADER, chain, file, leafRecord, message } from "../support/session-lines.ts";

/** a1 ─ a2 ─ a3 (left) and a1 ─ b2 ─ b3 (the leaf), in a file of its own. */
function forked(t: TestContext): { session: SessionManager; ids: Record<"a1" | "a2" | "a3" | "b2" | "b3", string> } {
  const session = trackSession(t, SessionManager.create("/w", temporaryFolder()));
  const say = (text: string): string => session.appendMessage(user(text));
  const [a1, a2, a3] = [say("a1"), say("a2"), say("a3")];
  session.branch(a1);
  return { session, ids: { a1, a2, a3, b2: say("b2"), b3: say("b3") } };
}

/** A copy of the file, as a session of its own: another program's view. */
async function reopened(t: TestContext, session: SessionManager): Promise<SessionManager> {
  const copy = join(temporaryFolder(), "copy.jsonl");
  const content = readFileSync(session.getSessionFile()!, "utf8");
  writeFileSync(copy, content.replace(session.getSessionId(), randomUUID()));
  return trackSession(t, await SessionManager.open(copy));
}

/** All that can be reached one way, and the leaf then. */
function walk(session: SessionManager, via: "back" | "forward"): (string | null)[] {
  const places: (string | null)[] = [];
  for (let place = session[via](); place !== undefined; place = session[via]()) {
    assert.equal(session.getLeafId(), place);
    places.push(place);
  }
  return places;
}

const movesWritten = (session: SessionManager): unknown[] =>
  (recordsIn(session.getSessionFile()!) as { type: string; parentId: unknown; via: unknown }[]).flatMap((record) =>
    record.type === "leaf" ? [[record.via, record.parentId]] : [],
  );

test("[L3] back and forward between the ends of two branches, each written at once under its own word", (t) => {
  const { session, ids } = forked(t);
  assert.deepEqual([session.canGoBack(), session.canGoForward()], [true, false]);
  assert.equal(session.back(), ids.a3);
  assert.deepEqual([session.canGoBack(), session.canGoForward()], [false, true]);
  assert.equal(session.forward(), ids.b3);
  assert.deepEqual([session.getLeafId(), session.canGoBack(), session.canGoForward()], [ids.b3, true, false]);
  assert.deepEqual(movesWritten(session), [
    ["back", ids.a3],
    ["forward", ids.b3],
  ]);
});

test("[L3] where there is nowhere to go nothing is done", async (t) => {
  const { session, ids } = forked(t);
  assert.equal(session.forward(), undefined);
  session.back();
  const before = contentOf(session.getSessionFile()!);
  assert.deepEqual([session.back(), session.getLeafId()], [undefined, ids.a3]);
  await session.flush();
  assert.equal(contentOf(session.getSessionFile()!), before);
  const empty = trackSession(t, SessionManager.inMemory("/w"));
  assert.deepEqual(
    [empty.back(), empty.forward(), empty.canGoBack(), empty.canGoForward()],
    [undefined, undefined, false, false],
  );
});

test("[L1, L3] a jump that no record tells of yet is undone too, and written before the step", async (t) => {
  const { session, ids } = forked(t);
  session.branch(ids.a2);
  assert.deepEqual([session.getRetraceTarget("back"), session.canGoForward()], [ids.b3, false]);
  assert.equal(session.back(), ids.b3);
  assert.deepEqual(movesWritten(session), [
    ["jump", ids.a2],
    ["back", ids.b3],
  ]);
  const other = await reopened(t, session);
  assert.deepEqual([other.getLeafId(), other.forward(), other.back(), other.back()], [ids.b3, ids.a2, ids.b3, ids.a3]);
});

test("[L3] dB30 jump away from the end, exit, continue: one is there, and back leads to the end again", async (t) => {
  const session = trackSession(t, SessionManager.create("/w", temporaryFolder()));
  const [, a2, , , a5] = ["a1", "a2", "a3", "a4", "a5"].map((text) => session.appendMessage(user(text)));
  session.branch(a2!);
  await session.flush();
  const other = await reopened(t, session);
  assert.deepEqual([other.getLeafId(), other.back(), other.forward(), other.forward()], [a2, a5, a2, undefined]);
});

test("[L3] the way back and forward is the same after every restart, on it as well", async (t) => {
  const { session, ids } = forked(t);
  session.branch(ids.a2);
  await session.flush();
  session.resetLeaf();
  const c1 = session.appendMessage(user("c1"));
  session.branch(ids.b2);
  session.appendLabelChange(ids.b2, "here");
  await session.flush();
  const labelled = session.getLeafId()!;
  const all = [c1, ids.a2, ids.b3, ids.a3];
  const other = await reopened(t, session);
  assert.deepEqual(walk(other, "back"), all);
  const third = await reopened(t, other);
  assert.deepEqual([third.canGoBack(), walk(third, "forward")], [false, [ids.b3, ids.a2, c1, labelled]]);
  third.back();
  const fourth = await reopened(t, third);
  assert.deepEqual([fourth.forward(), walk(fourth, "back")], [labelled, all]);
});

test("[L3] what is added after going back ends the way forward; a label, a name or extension state does not", async (t) => {
  const { session, ids } = forked(t);
  session.back();
  session.appendLabelChange(ids.a3, "was left");
  session.setSessionName("Two ways");
  session.appendCustomEntry("state", { n: 1 });
  const left = session.getLeafId()!;
  const other = await reopened(t, session);
  for (const each of [session, other]) assert.deepEqual([each.forward(), each.back()], [ids.b3, left]);
  session.appendModelChange("p", "m");
  assert.deepEqual([session.canGoForward(), session.canGoBack()], [false, false]);
  other.appendMessage(user("a4"));
  assert.deepEqual([other.canGoForward(), other.canGoBack()], [false, false]);
});

test("[L3, T6] a summary of what was left is a move, on another place and not on this one", (t) => {
  const { session, ids } = forked(t);
  session.branchWithSummary(ids.b3, "so far");
  assert.equal(session.getRetraceTarget("back"), ids.a3);
  const here = session.getLeafId();
  session.branchWithSummary(null, "from the start");
  assert.equal(session.back(), here);
});

test("[L3, T7, T9] a new session, a branch in a file and one in memory begin without a history", (t) => {
  const { session, ids } = forked(t);
  session.createBranchedSession(ids.b3);
  assert.deepEqual([session.canGoBack(), session.canGoForward()], [false, false]);
  const memory = trackSession(t, SessionManager.inMemory("/w"));
  const first = memory.appendMessage(user("first"));
  memory.resetLeaf();
  const second = memory.appendMessage(user("second"));
  assert.deepEqual([memory.back(), memory.forward()], [first, second]);
  memory.createBranchedSession(first);
  assert.deepEqual([memory.canGoBack(), memory.canGoForward()], [false, false]);
  memory.newSession();
  assert.deepEqual([memory.canGoBack(), memory.canGoForward()], [false, false]);
});

test("[L3, W1] moves among state entries, before a file exists, are in the file that the first message makes", async (t) => {
  const session = trackSession(t, SessionManager.create("/w", temporaryFolder()));
  const one = session.appendModelChange("p", "one");
  session.resetLeaf();
  const two = session.appendModelChange("p", "two");
  assert.equal(session.back(), one);
  await session.flush();
  assert.equal(session.hasFile(), false);
  assert.equal(session.forward(), two);
  session.back();
  session.appendMessage(user("hello"));
  assert.deepEqual(movesWritten(session), [
    ["back", one],
    ["forward", two],
    ["back", one],
  ]);
  await checkLaws(session);
});

test("[L3] with all branches copied, the history is copied too", async (t) => {
  const { session, ids } = forked(t);
  session.back();
  await session.flush();
  const fork = await SessionManager.forkFrom(session.getSessionFile()!, "/elsewhere", temporaryFolder());
  trackSession(t, fork);
  assert.equal(fork.forward(), ids.b3);
});

test("[L3, F7] a session open for reading goes back and forth without a byte written", async (t) => {
  const path = temporaryFile(
    file(HEADER, ...chain(null, "a1", "a2"), message("b2", "a1"), leafRecord("j1", "a2", "back")),
  );
  const before = contentOf(path);
  const session = trackSession(t, await SessionManager.open(path, { readOnly: true }));
  assert.deepEqual([session.forward(), session.back(), session.back()], ["b2", "a2", undefined]);
  session.branch("a1");
  assert.deepEqual([session.back(), session.forward()], ["a2", "a1"]);
  assert.equal(contentOf(path), before);
});

test("[L3, W1] a step that cannot be written is not made", (t) => {
  const disk = watchDisk(t);
  const { session, ids } = forked(t);
  disk.writeFault = { code: "EIO" };
  assert.throws(() => session.back(), SessionFileError);
  assert.deepEqual([session.getLeafId(), session.getRetraceTarget("back")], [ids.b3, ids.a3]);
  disk.writeFault = undefined;
  assert.equal(session.back(), ids.a3);
});
