/** `/branch`, `/clone`, `/new`, `/resume` and the names of sessions. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { hooksFrom } from "../../src/agent/hook-port.ts";
import { nameFromPrompt } from "../../src/agent/session-naming.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { nextEvent, noticesOf, outlineOf, sentMessages, startHarness } from "../support/agent-harness.ts";
import type { Harness } from "../support/agent-harness.ts";
import { watchDisk } from "../support/disk-faults.ts";
import { after, fail, hangAfter, say } from "../support/provider-mock.ts";
import { assistant, temporaryFile, temporaryFolder, user } from "../support/session-files.ts";

const promptId = ({ session }: Harness, text: string): string => {
  const found = session.getUserMessages().find((message) => message.text === text);
  assert.ok(found, `no prompt ${text}`);
  return found.entryId;
};

/** A session file with these prompts in one line. */
async function sessionOf(...prompts: string[]): Promise<Buffer> {
  const folder = temporaryFolder();
  const manager = SessionManager.create(folder, folder);
  for (const prompt of prompts) manager.appendMessage(user(prompt));
  await manager.close();
  return readFileSync(manager.getSessionFile()!);
}

/** All hooks of a change of session, written down as they come. */
function recordedHooks(answers: { cancel?: boolean; skipConversationRestore?: boolean } = {}): {
  heard: unknown[];
  hooks: ReturnType<typeof hooksFrom>;
} {
  const heard: unknown[] = [];
  const hooks = hooksFrom({
    session_before_branch: (event) => {
      heard.push(["session_before_branch", event]);
      return answers;
    },
    session_branch: (event) => void heard.push(["session_branch", event]),
    session_before_switch: (event) => {
      heard.push(["session_before_switch", event]);
      return answers;
    },
    session_switch: (event) => void heard.push(["session_switch", event]),
  });
  return { heard, hooks };
}

test("[B1] a branch from a later prompt is a new file with what came before it, and the prompt goes to the editor", async (t) => {
  const { heard, hooks } = recordedHooks();
  const harness = await startHarness(t, { replies: [say("one"), say("two"), say("three")], hooks });
  const { session, manager, server, events } = harness;
  await session.prompt("First");
  await session.prompt("Second");
  const source = manager.getSessionFile()!;
  const bytes = readFileSync(source, "utf8");
  const entryId = promptId(harness, "Second");
  assert.deepEqual(await session.branch(entryId), { selectedText: "Second", cancelled: false });
  const file = manager.getSessionFile()!;
  assert.notEqual(file, source);
  assert.equal(existsSync(file), true);
  assert.equal(manager.getHeader().parentSession, source);
  assert.deepEqual(outlineOf(manager.getBranch()), [
    "model_change",
    "user: First",
    "session_info",
    "assistant stop: one",
    "session_info",
  ]);
  assert.equal(readFileSync(source, "utf8"), bytes);
  assert.deepEqual(heard, [
    ["session_before_branch", { entryId, position: "before" }],
    ["session_branch", { previousSessionFile: source }],
  ]);
  assert.deepEqual(events.at(-1), { type: "session_changed", reason: "branch" });
  await session.prompt("Second, edited");
  assert.deepEqual(sentMessages(server.requests[2]), ["user First", "assistant one", "user Second, edited"]);
  assert.equal(manager.getSessionName(), "First (fork)");
});

test("[B1] a branch from the first prompt of all is an empty session that names its parent", async (t) => {
  const dir = temporaryFolder();
  const manager = SessionManager.create(dir, dir);
  const root = manager.appendMessage(user("Root"));
  manager.appendMessage(assistant("answer"));
  manager.setSessionName("Mine", "user");
  const source = manager.getSessionFile()!;
  const { session } = await startHarness(t, { manager });
  assert.deepEqual(await session.branch(root), { selectedText: "Root", cancelled: false });
  assert.deepEqual(manager.getEntries(), []);
  assert.equal(manager.getHeader().parentSession, source);
  assert.equal(manager.getSessionName(), undefined, "two sessions of one name cannot be told apart");
});

test("[B1] in memory the entries are replaced", async (t) => {
  const manager = SessionManager.inMemory();
  const root = manager.appendMessage(user("Root"));
  manager.appendMessage(assistant("one"));
  const second = manager.appendMessage(user("Second"));
  manager.appendMessage(assistant("two"));
  const { session } = await startHarness(t, { manager });
  assert.deepEqual(await session.branch(second), { selectedText: "Second", cancelled: false });
  assert.deepEqual(outlineOf(manager.getEntries()), ["user: Root", "assistant stop: one"]);
  assert.equal(manager.getSessionFile(), undefined);
  assert.deepEqual(await session.branch(root), { selectedText: "Root", cancelled: false });
  assert.deepEqual(manager.getEntries(), []);
});

test("[B1] a hook can cancel: the session, the queue and the file are as before", async (t) => {
  const { heard, hooks } = recordedHooks({ cancel: true });
  const harness = await startHarness(t, { replies: say("one"), hooks });
  const { session, manager } = harness;
  await session.prompt("First");
  session.followUp("waiting");
  const file = manager.getSessionFile();
  const entryId = promptId(harness, "First");
  assert.deepEqual(await session.branch(entryId), { selectedText: "First", cancelled: true });
  assert.deepEqual(await session.clone(), { cancelled: true });
  assert.deepEqual(await session.newSession(), { cancelled: true });
  assert.deepEqual(await session.switchSession(file!), { cancelled: true });
  assert.equal(manager.getSessionFile(), file);
  assert.equal(session.queue.length, 1);
  assert.deepEqual(
    heard.map((entry) => (entry as unknown[])[0]),
    ["session_before_branch", "session_before_branch", "session_before_switch", "session_before_switch"],
  );
});

test("[B1] only a user's message can be branched from", async (t) => {
  const { session, manager } = await startHarness(t, { replies: say("one") });
  await session.prompt("First");
  for (const id of [manager.getLeafId()!, "deadbeef"])
    await assert.rejects(session.branch(id), { message: "Invalid entry ID for branching" });
});

test("[B1] queued messages are dropped with a notice", async (t) => {
  const harness = await startHarness(t, { replies: say("one") });
  await harness.session.prompt("First");
  harness.session.followUp("a");
  harness.session.steer("b");
  await harness.session.branch(promptId(harness, "First"));
  assert.deepEqual(noticesOf(harness.events), ["warning: 2 queued messages were dropped: a · b"]);
  assert.deepEqual(harness.session.queue, []);
});

test("[B1] a clone is the current branch in a new file; nothing is not cloned", async (t) => {
  const { heard, hooks } = recordedHooks();
  const { session, manager, events } = await startHarness(t, { replies: say("one"), hooks });
  await assert.rejects(session.clone(), { message: "There is nothing to clone yet." });
  await session.prompt("First");
  const [source, path, leaf] = [manager.getSessionFile()!, outlineOf(manager.getBranch()), manager.getLeafId()!];
  assert.deepEqual(await session.clone(), { cancelled: false });
  assert.deepEqual(outlineOf(manager.getBranch()), [...path, "session_info"]);
  assert.equal(manager.getHeader().parentSession, source);
  assert.deepEqual(heard, [
    ["session_before_branch", { entryId: leaf, position: "at" }],
    ["session_branch", { previousSessionFile: source }],
  ]);
  assert.deepEqual(events.at(-1), { type: "session_changed", reason: "clone" });
});

test("[B1, W4] dB69 the file is deleted by another program: the turn goes on in a recovery file, and so does a clone", async (t) => {
  const source = temporaryFile(await sessionOf("First", "Second"));
  const harness = await startHarness(t, {
    manager: await SessionManager.open(source),
    replies: [say("one"), say("two"), say("three")],
  });
  const { session, manager, events } = harness;
  await session.prompt("Third");
  const before = outlineOf(manager.getBranch());
  rmSync(source);
  await session.prompt("Lost?");
  const recovered = manager.getSessionFile()!;
  assert.notEqual(recovered, source);
  await session.clone();
  await session.prompt("Fourth");
  const saved = await SessionManager.open(manager.getSessionFile()!, { readOnly: true });
  const after = ["user: Lost?", "assistant stop: two", "user: Fourth", "assistant stop: three"];
  assert.deepEqual(outlineOf(saved.getBranch()), [...before, ...after]);
  assert.equal(existsSync(source), false);
  assert.deepEqual(noticesOf(events), [
    `warning: ${source} was removed by another program; all of this session is in ${recovered}, where it goes on.`,
  ]);
});

test("[B1, W2] a disk that does not confirm: a clone is the way out, and the failure is told once", async (t) => {
  const disk = watchDisk(t);
  const harness = await startHarness(t, { replies: say("one") });
  const { session, manager, events } = harness;
  await session.prompt("First");
  const source = manager.getSessionFile()!;
  disk.syncFault = { code: "EIO" };
  await assert.rejects(session.prompt("Second"), { name: "SessionFileError", code: "sync-failed" });
  disk.syncFault = undefined;
  await session.clone();
  const told = `error: The last step is not saved: The disk did not confirm what was written to ${source}: the disk reported an error (EIO); the last entries may not survive a power cut, so copy the session elsewhere.`;
  assert.deepEqual(noticesOf(events), [told]);
  await session.prompt("Third");
  assert.deepEqual(outlineOf(manager.getBranch()).slice(-2), ["user: Third", "assistant stop: one"]);
});

test("[B1] skipConversationRestore keeps the model and the thinking level", async (t) => {
  const { hooks } = recordedHooks({ skipConversationRestore: true });
  const manager = SessionManager.inMemory();
  manager.appendThinkingLevelChange("low");
  manager.appendMessage(user("First"));
  const second = manager.appendMessage(user("Second"));
  manager.appendThinkingLevelChange("high");
  const { session } = await startHarness(t, { manager, hooks });
  assert.equal(session.thinkingLevel, "high");
  await session.branch(second);
  assert.equal(session.thinkingLevel, "high");
});

test("[B2] /new and /resume tell the hooks, and a prompt goes to the session that is open", async (t) => {
  const { heard, hooks } = recordedHooks();
  const { session, manager, server, events } = await startHarness(t, {
    replies: [say("one"), say("two"), say("three")],
    hooks,
  });
  await session.prompt("First");
  const first = manager.getSessionFile()!;
  assert.deepEqual(await session.newSession(), { cancelled: false });
  await session.prompt("Elsewhere");
  const second = manager.getSessionFile()!;
  assert.deepEqual(sentMessages(server.requests[1]), ["user Elsewhere"]);
  assert.deepEqual(await session.switchSession(first), { cancelled: false });
  await session.prompt("Back");
  assert.deepEqual(sentMessages(server.requests[2]), ["user First", "assistant one", "user Back"]);
  assert.deepEqual(heard, [
    ["session_before_switch", { reason: "new" }],
    ["session_switch", { reason: "new", previousSessionFile: first }],
    ["session_before_switch", { reason: "resume", targetSessionFile: first }],
    ["session_switch", { reason: "resume", previousSessionFile: second }],
  ]);
  assert.deepEqual(
    events.flatMap((event) => (event.type === "session_changed" ? [event.reason] : [])),
    ["new", "resume"],
  );
});

test("[B2] a file that is no session is refused and the current session stays", async (t) => {
  const { session, manager } = await startHarness(t, { replies: say("one") });
  await session.prompt("First");
  const file = manager.getSessionFile();
  session.followUp("waiting");
  const broken = temporaryFile("no session\n");
  await assert.rejects(session.switchSession(broken), { code: "not-a-session" });
  await assert.rejects(session.switchSession(join(temporaryFolder(), "gone.jsonl")), { code: "missing" });
  assert.equal(manager.getSessionFile(), file);
  assert.equal(session.queue.length, 1);
  assert.equal(session.isIdle, true);
});

test("[T7] while a turn runs no change of session is possible", async (t) => {
  const harness = await startHarness(t, { replies: hangAfter("…") });
  const { session, manager } = harness;
  const settled = session.prompt("First");
  await nextEvent(session, "message_update");
  const refusal = { message: "A turn is running; wait for its end, or stop it first." };
  await assert.rejects(session.branch(promptId(harness, "First")), refusal);
  await assert.rejects(session.clone(), refusal);
  await assert.rejects(session.newSession(), refusal);
  await assert.rejects(session.switchSession(manager.getSessionFile()!), refusal);
  await session.abort();
  await settled;
});

test("[B1] all prompts of all branches are offered, in the order of the file, those without text left out", async (t) => {
  const manager = SessionManager.inMemory();
  const root = manager.appendMessage(user("Root"));
  manager.appendMessage({
    role: "user",
    content: [{ type: "image", data: "AA==", mimeType: "image/png" }],
    timestamp: 1,
  });
  manager.branch(root);
  const other = manager.appendMessage({ role: "user", content: [{ type: "text", text: "Other" }], timestamp: 1 });
  const { session } = await startHarness(t, { manager });
  assert.deepEqual(session.getUserMessages(), [
    { entryId: root, text: "Root" },
    { entryId: other, text: "Other" },
  ]);
});

test("[B5] names from a prompt: its first line with text, cut at a word, whole characters", () => {
  const long = "Move the loader of the servers into a room of its own and keep its tests green";
  assert.deepEqual(
    ["Fix it", "\n\n  Fix\tthe   bug \nplease", long, "x".repeat(59) + "😀😀", "", " \n "].map(nameFromPrompt),
    [
      "Fix it",
      "Fix the bug",
      "Move the loader of the servers into a room of its own and…",
      `${"x".repeat(59)}…`,
      "",
      "",
    ],
  );
});

test("[B5] the first prompt names an unnamed session, the second does not, and a user's name stays", async (t) => {
  const { session, manager, events } = await startHarness(t, { replies: say("ok") });
  await session.prompt("Fix the loader\nIt is broken.");
  assert.deepEqual(manager.getIndex().name, { text: "Fix the loader", source: "auto" });
  await session.prompt("Now the tests");
  assert.equal(manager.getSessionName(), "Fix the loader");
  session.setSessionName("Mine");
  assert.deepEqual(manager.getIndex().name, { text: "Mine", source: "user" });
  assert.deepEqual(
    events.filter((event) => event.type === "session_info_changed"),
    [
      { type: "session_info_changed", name: "Fix the loader" },
      { type: "session_info_changed", name: "Mine" },
    ],
  );
  await session.newSession();
  session.setSessionName("Before the prompt");
  await session.prompt("Something");
  assert.equal(manager.getSessionName(), "Before the prompt");
});

test("[B5] an unnamed session that is resumed stays unnamed", async (t) => {
  const manager = SessionManager.inMemory();
  manager.appendMessage(user("Old prompt"));
  manager.appendMessage(assistant("old answer"));
  const { session } = await startHarness(t, { manager, replies: say("ok") });
  await session.prompt("go on");
  assert.equal(manager.getSessionName(), undefined);
});

test("[B5, D5] a small model names the session beside the turn; when it fails the first line does", async (t) => {
  const gate = Promise.withResolvers<void>();
  const small = await startHarness(t, {
    replies: [after(gate.promise, say('"Repair the loader."')), fail(500, "down")],
  });
  const { session, manager } = await startHarness(t, {
    replies: say("ok"),
    smallModel: small.model,
    registry: small.registry,
  });
  await session.prompt("Fix the loader, it is broken");
  assert.equal(manager.getSessionName(), undefined);
  gate.resolve();
  assert.deepEqual(await nextEvent(session, "session_info_changed"), {
    type: "session_info_changed",
    name: "Repair the loader",
  });
  assert.deepEqual(manager.getIndex().name, { text: "Repair the loader", source: "auto" });
  assert.equal(small.server.requests.length, 1);
  const spent = manager.getEntries().flatMap((entry) => (entry.type === "usage" ? [entry] : []));
  assert.deepEqual(
    spent.map(({ kind, model, usage }) => [kind, model, usage.totalTokens]),
    [["name", "mock", 110]],
  );
  await session.newSession();
  await session.prompt("Another task");
  if (manager.getSessionName() === undefined) await nextEvent(session, "session_info_changed");
  assert.equal(manager.getSessionName(), "Another task");
});

test("[B5] a name that comes after the session was left, or named, is not used", async (t) => {
  const gate = Promise.withResolvers<void>();
  const small = await startHarness(t, { replies: after(gate.promise, say("Too late")) });
  const { session, manager } = await startHarness(t, {
    replies: say("ok"),
    smallModel: small.model,
    registry: small.registry,
  });
  await session.prompt("First");
  await session.newSession();
  gate.resolve();
  await session.dispose();
  assert.equal(manager.getSessionName(), undefined);
});

test("[T7, B1] dB52 a copy made before any answer: a later run that fails says its own reason, and the copy goes on", async (t) => {
  const replies = [fail(400, "first refusal"), fail(400, "second refusal"), say("ok")];
  const { session, manager } = await startHarness(t, { replies });
  await session.prompt("go");
  const source = manager.getSessionFile() as string;
  manager.branch(session.getUserMessages()[0]!.entryId);
  const before = readFileSync(source);
  assert.deepEqual(await session.clone(), { cancelled: false });
  const copy = manager.getSessionFile() as string;
  assert.deepEqual([copy === source, existsSync(copy)], [false, true]);
  await session.prompt("again");
  const failed = session.messages.at(-1);
  assert.ok(failed?.role === "assistant" && failed.errorMessage?.includes("second refusal"), JSON.stringify(failed));
  await session.prompt("once more");
  assert.equal(outlineOf(manager.getBranch()).at(-1), "assistant stop: ok");
  assert.deepEqual(readFileSync(source).subarray(0, before.length), before);
});

test("[D2] who resumes a session of another folder is told whose settings are in use; back at home there is nothing to tell", async (t) => {
  const { session, manager, events, dir } = await startHarness(t, { replies: say("ok") });
  await session.prompt("Here");
  const here = manager.getSessionFile()!;
  const away = temporaryFolder();
  const other = SessionManager.create(away, join(dir, "sessions"));
  other.appendMessage(user("There"));
  await other.close();
  await session.switchSession(other.getSessionFile()!);
  const told =
    `info: This session works in ${away}. Settings, rules and MCP servers are still those of ${dir}; ` +
    "start bough there to work with that folder's own.";
  assert.deepEqual([noticesOf(events), session.cwd], [[told], away]);
  await session.newSession();
  await session.switchSession(here);
  assert.deepEqual([noticesOf(events), session.cwd], [[told], dir]);
});

test("[T7, B1] dB52 a copy made before any answer is there at once, and a run in it that fails tells its own error", async (t) => {
  const manager = SessionManager.create(temporaryFolder(), temporaryFolder());
  manager.appendMessage(user("first"));
  const prompt = manager.appendMessage(user("second"));
  const { session, events } = await startHarness(t, { manager, replies: [fail(400, "bad request"), say("ok")] });
  await session.branch(prompt);
  const path = manager.getSessionFile()!;
  assert.ok(existsSync(path));
  await session.prompt("second, again");
  const answers = (): string[] => outlineOf(manager.getBranch()).filter((row) => /^(user|assistant)/.test(row));
  assert.deepEqual(answers(), ["user: first", "user: second, again", "assistant error: "]);
  const failed = manager.getBranch().findLast(({ type }) => type === "message");
  assert.ok(failed?.type === "message" && failed.message.role === "assistant");
  assert.match(failed.message.errorMessage ?? "", /bad request/);
  assert.deepEqual([noticesOf(events), manager.getSessionFile()], [[], path]);
  await session.prompt("third");
  assert.deepEqual(answers().slice(3), ["user: third", "assistant stop: ok"]);
  assert.match(readFileSync(path, "utf8"), /bad request[\s\S]*third/);
});
