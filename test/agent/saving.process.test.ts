/** What a turn does when its session cannot be saved, or when another program meddles with the file. */
import assert from "node:assert/strict";
import { appendFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { SessionManager } from "../../src/session/session-manager.ts";
import { fileLines, noticesOf, outlineOf, startHarness, tool } from "../support/agent-harness.ts";
import { watchDisk } from "../support/disk-faults.ts";
import { callTools, say } from "../support/provider-mock.ts";
import { message } from "../support/session-lines.ts";
import { temporaryFolder } from "../support/session-files.ts";

const UNSAVED =
  "error: This session cannot be saved: the disk is full (ENOSPC). It goes on in memory and is saved as soon as that is " +
  "possible; /save-as PATH saves all of it elsewhere.";

test("[W4] on a full disk the turn goes on in memory, told once; all is saved with the next write that can be", async (t) => {
  const disk = watchDisk(t);
  const { session, manager, server, events } = await startHarness(t, {
    unsaved: true,
    goesOnUnsaved: true,
    tools: () => [tool("echo", ({ text }) => String(text))],
    replies: [say("one"), callTools({ id: "c1", name: "echo", arguments: { text: "x" } }), say("two"), say("three")],
  });
  await session.prompt("First");
  const saved = fileLines(manager).length;
  disk.writeFault = { code: "ENOSPC" };
  await session.prompt("Second");
  assert.deepEqual([server.requests.length, fileLines(manager).length], [3, saved]);
  assert.deepEqual(outlineOf(manager.getBranch()).slice(-4), [
    "user: Second",
    "assistant toolUse: [echo]",
    "result c1: x",
    "assistant stop: two",
  ]);
  assert.deepEqual([noticesOf(events), manager.getUnsavedCount()], [[UNSAVED], 4]);
  await assert.rejects(session.newSession(), { code: "write-failed" });
  disk.writeFault = undefined;
  await session.prompt("Third");
  assert.deepEqual(noticesOf(events), [UNSAVED, "info: All of this session is saved again."]);
  assert.deepEqual([fileLines(manager).length, manager.getUnsavedCount()], [saved + 6, 0]);
});

test("[W4] disposing of a session that is still unsaved rejects", async (t) => {
  const disk = watchDisk(t);
  const { session } = await startHarness(t, { unsaved: true, goesOnUnsaved: true, replies: say("one") });
  disk.writeFault = { code: "ENOSPC" };
  disk.openFault = { code: "ENOSPC" };
  await session.prompt("First");
  await assert.rejects(session.dispose(), { code: "write-failed" });
  disk.writeFault = disk.openFault = undefined;
});

test("[W4] save-as goes on in the new file, from the session's folder", async (t) => {
  const { session, manager, dir } = await startHarness(t, { replies: [say("one"), say("two")] });
  await session.prompt("First");
  assert.equal(session.saveAs("copy.jsonl"), join(dir, "copy.jsonl"));
  await session.prompt("Second");
  assert.deepEqual(
    [manager.getSessionFile(), outlineOf(manager.getBranch()).at(-1)],
    [join(dir, "copy.jsonl"), "assistant stop: two"],
  );
  assert.ok(readFileSync(join(dir, "copy.jsonl"), "utf8").includes("two"));
});

test("[W4] another program's lines and a replaced file are told of, and the turn goes on on its own branch", async (t) => {
  const other = await startHarness(t, { replies: [say("one"), say("two"), say("three")] });
  await other.session.prompt("First");
  const path = other.manager.getSessionFile()!;
  const [first] = other.manager.getEntries().filter(({ type }) => type === "message");
  appendFileSync(path, `${message("x1", first!.id)}\n`);
  await other.session.prompt("Second");
  assert.deepEqual(noticesOf(other.events), [
    `warning: Another program has written to ${path} (1 entry); what it wrote is a branch of its own in /tree.`,
  ]);
  assert.equal(
    other.manager.getBranch().some(({ id }) => id === "x1"),
    false,
  );
  assert.equal(other.manager.getEntry("x1")?.parentId, first!.id);
});

test("[W4] a file that is replaced during a turn: told at once, and all of the turn is in the recovery file", async (t) => {
  const dir = temporaryFolder();
  const manager = SessionManager.create(dir, join(dir, "sessions"));
  const { session, events } = await startHarness(t, {
    manager,
    unsaved: true,
    replies: [say("one"), callTools({ id: "c1", name: "meddle", arguments: {} }), say("two")],
    tools: () => [
      tool("meddle", () => {
        const path = manager.getSessionFile()!;
        writeFileSync(`${path}.new`, readFileSync(path));
        renameSync(`${path}.new`, path);
        return "done";
      }),
    ],
  });
  await session.prompt("First");
  const path = manager.getSessionFile()!;
  await session.prompt("Second");
  const recovered = manager.getSessionFile()!;
  assert.notEqual(recovered, path);
  assert.deepEqual(noticesOf(events), [
    `warning: ${path} was replaced by another program; all of this session is in ${recovered}, where it goes on.`,
  ]);
  const again = await SessionManager.open(recovered, { readOnly: true });
  assert.deepEqual(outlineOf(again.getBranch()), outlineOf(manager.getBranch()));
  assert.deepEqual(outlineOf(again.getBranch()).slice(-2), ["result c1: done", "assistant stop: two"]);
});
