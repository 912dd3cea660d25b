import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { SessionManager } from "../../src/session/session-manager.ts";
import type { SavingEvent } from "../../src/session/session-writer.ts";
import { setClock } from "../support/clock.ts";
import { watchDisk } from "../support/disk-faults.ts";
import { trackSession } from "../support/laws.ts";
import { assistant, contentOf, recordsIn, temporaryFile, temporaryFolder, user } from "../support/session-files.ts";
import { HEADER, chain, codes, file, leafRecord, line, message, sealed } from "../support/session-lines.ts";

const idsOf = (session: SessionManager): string[] => session.getEntries().map((entry) => entry.id);
const opened = (path: string): Promise<SessionManager> => SessionManager.open(path, { readOnly: true });

/** A session of two messages, and all it tells of its file. `meddled`: another program changes what is in the file. */
async function watched(
  t: TestContext,
  meddled = false,
): Promise<{ session: SessionManager; path: string; events: SavingEvent[] }> {
  const path = temporaryFile(file(HEADER, ...chain(null, "a1", "a2")));
  const session = await SessionManager.open(path);
  if (meddled) t.after(() => session.close().catch(() => undefined));
  else trackSession(t, session, { unsaved: true });
  const events: SavingEvent[] = [];
  session.watchSaving((event) => events.push(event), { keepsUnsaved: true });
  // As on a screen: what nobody has looked at is lost with the file.
  session.getEntries();
  return { session, path, events };
}

const outlineOf = (events: readonly SavingEvent[]): unknown[] =>
  events.map((event) => {
    if (event.type === "unsaved") return [event.type, event.count];
    return event.type === "foreign" ? [event.type, event.entries] : [event.type];
  });

test("[W4] FT15 what another program appends becomes a branch of its own; the own leaf stays, told once", async (t) => {
  const { session, path, events } = await watched(t);
  fs.appendFileSync(
    path,
    file(...chain("a1", "x1", "x2"), line("label", "l1", "x2", { targetId: "x2", label: "there" })),
  );
  const mine = session.appendMessage(user("mine"));
  assert.deepEqual(idsOf(session), ["a1", "a2", "x1", "x2", "l1", mine]);
  assert.deepEqual(
    [session.getLeafId(), session.getEntry(mine)!.parentId, session.getLabel("x2")],
    [mine, "a2", "there"],
  );
  fs.appendFileSync(path, file(message("y1", "x2"), leafRecord("f1", "x1")));
  const second = session.appendMessage(assistant("mine, too"));
  assert.deepEqual([session.getEntry(second)!.parentId, session.getEntry("y1")!.parentId], [mine, "x2"]);
  assert.deepEqual(outlineOf(events), [["foreign", 3]]);
  assert.deepEqual(codes(session.getProblems()), ["foreign-lines:0"]);
  await session.flush();
  const again = await opened(path);
  assert.deepEqual([again.getLeafId(), idsOf(again)], [second, idsOf(session)]);
});

for (const [when, step] of [
  ["long before", 1000],
  ["in the middle of a burst", 0],
] as const)
  test(`[W4, F6] a torn line that another program left ${when} costs nothing of ours`, async (t) => {
    setClock(t, step);
    const { session, path } = await watched(t);
    const first = session.appendMessage(user("first"));
    fs.appendFileSync(path, '{"type":"message","id":"x1","par');
    const mine = session.appendMessage(user("mine"));
    const next = session.appendMessage(user("next"));
    const again = await opened(path);
    assert.deepEqual([idsOf(again), again.getLeafId()], [["a1", "a2", first, mine, next], next]);
  });

test("[W4] FT15 a line that comes between the write and the look at the file is read in behind ours", async (t) => {
  setClock(t, 0);
  const { session, path, events } = await watched(t);
  const { lstatSync } = fs;
  let looks = 0;
  const appendFirst = (...args: Parameters<typeof lstatSync>): unknown => {
    // The first look is before the write.
    if (++looks === 2) fs.appendFileSync(path, file(message("x1", "a2")));
    return lstatSync(...args);
  };
  t.after(() => {
    Object.assign(fs, { lstatSync });
    syncBuiltinESMExports();
  });
  Object.assign(fs, { lstatSync: appendFirst });
  syncBuiltinESMExports();
  const mine = session.appendMessage(user("mine"));
  assert.deepEqual([idsOf(session), session.getLeafId()], [["a1", "a2", mine, "x1"], mine]);
  assert.deepEqual(outlineOf(events), [["foreign", 1]]);
  await session.flush();
  assert.equal((await opened(path)).getLeafId(), mine);
});

// A store that is opened anew after each append makes calls of its own.
const countsCalls = { skip: process.env["LAWS"] === "reopen" && "LAWS=reopen opens the file anew each time" };
test("[W4] for each entry of a burst one write and after it one stat, at any size", countsCalls, async (t) => {
  setClock(t, 0);
  const disk = watchDisk(t);
  for (const size of [10, 1000]) {
    disk.writes.length = 0;
    const ids = Array.from({ length: size }, (_, n) => `m${n}`);
    const path = temporaryFile(file(HEADER.replace("s1", `size-${size}`), ...chain(null, ...ids)));
    const session = trackSession(t, await SessionManager.open(path));
    const { lstatSync, fstatSync, readSync } = fs;
    const calls = { stat: 0, fstat: 0, read: 0 };
    const counted =
      <A extends unknown[]>(name: keyof typeof calls, call: (...args: A) => unknown) =>
      (...args: A): unknown => {
        calls[name]++;
        return call(...args);
      };
    Object.assign(fs, {
      lstatSync: counted("stat", lstatSync),
      fstatSync: counted("fstat", fstatSync),
      readSync: counted("read", readSync),
    });
    syncBuiltinESMExports();
    try {
      session.appendMessage(user("one"));
      session.appendMessage(user("two"));
    } finally {
      Object.assign(fs, { lstatSync, fstatSync, readSync });
      syncBuiltinESMExports();
    }
    assert.deepEqual([calls, disk.writes.length], [{ stat: 3, fstat: 0, read: 0 }, 2]);
  }
});

for (const [how, lose] of [
  ["replaced", (path: string) => fs.renameSync(temporaryFile("somebody else's\n"), path)],
  ["removed", (path: string) => fs.rmSync(path)],
  ["cut", (path: string) => fs.truncateSync(path, contentOf(path).indexOf('{"type":"message"'))],
  ["emptied", (path: string) => fs.truncateSync(path, 0)],
] as const)
  test(`[W4] FT15 a file that is ${how} under the session is left alone; all goes on in a recovery file`, async (t) => {
    const { session, path, events } = await watched(t, true);
    const first = session.appendMessage(user("before"));
    lose(path);
    const left = fs.existsSync(path) ? contentOf(path) : undefined;
    const second = session.appendMessage(user("at that moment"));
    const third = session.appendMessage(user("after"));
    const recovered = session.getSessionFile()!;
    assert.match(recovered.slice(dirname(path).length), /^\/s1\.recovered-[\dTZ-]+\.jsonl$/);
    assert.equal(fs.statSync(recovered).mode & 0o777, 0o600);
    const branch = ["a1", "a2", first, second, third];
    for (const found of [session, await opened(recovered)])
      assert.deepEqual(
        [found.getBranch().map(({ id }) => id), found.getEntries().length, found.getSessionId()],
        [branch, branch.length, "s1"],
      );
    assert.deepEqual(outlineOf(events), [["moved"]]);
    assert.deepEqual(
      codes(session.getProblems()).filter((code) => code.startsWith("file-changed")),
      ["file-changed:0"],
    );
    // The write that found the loss may have reached the old file; nothing else has.
    const now = fs.existsSync(path) ? contentOf(path) : undefined;
    assert.ok(how === "replaced" || how === "removed" ? now === left : now!.startsWith(left!));
    assert.equal(session.getUnsavedCount(), 0);
    await session.flush();
  });

test("[W4, Y7] entries that were cut off before anybody looked at them are told of, and nothing is made up for them", async (t) => {
  setClock(t, 1000);
  const path = temporaryFile(file(HEADER, ...chain(null, "a1", "a2", "a3"), leafRecord("f1", "a2")));
  const session = await SessionManager.open(path);
  t.after(() => session.close());
  const events: SavingEvent[] = [];
  session.watchSaving((event) => events.push(event), { keepsUnsaved: true });
  session.getEntry("a3");
  const before = session.appendMessage(user("before"));
  fs.truncateSync(path, contentOf(path).indexOf('{"type":"message","id":"a2"'));
  const after = session.appendMessage(user("after"));
  const recovered = session.getSessionFile()!;
  for (const found of [session, await opened(recovered)])
    assert.deepEqual(
      found.getEntries().map(({ id, parentId }) => [id, parentId]),
      [
        ["a1", null],
        ["a3", "a1"],
        [before, "a1"],
        [after, before],
      ],
    );
  const text = `${path} was cut or rewritten by another program; all of this session is in ${recovered}, where it goes on, but for 1 entry that could not be read any more.`;
  const problem = { code: "file-changed", line: 0, text };
  assert.deepEqual(events, [{ type: "moved", path: recovered, problem }]);
  assert.deepEqual(session.getProblems(), [problem]);
});

test("[W4] without a folder beside it the recovery file is in the state folder; without any, work goes on in memory", async (t) => {
  const { session, path, events } = await watched(t, true);
  fs.rmSync(dirname(path), { recursive: true });
  session.appendMessage(user("one"));
  assert.equal(dirname(session.getSessionFile()!), join(process.env["BOUGH_DIR"]!, "recovered"));
  assert.deepEqual(outlineOf(events), [["moved"]]);

  await session.close();

  const other = await watched(t, true);
  const disk = watchDisk(t);
  fs.rmSync(other.path);
  disk.openFault = { code: "EROFS" };
  const ids = [other.session.appendMessage(user("one")), other.session.appendMessage(user("two"))];
  assert.deepEqual(outlineOf(other.events), [
    ["unsaved", 1],
    ["unsaved", 2],
  ]);
  await assert.rejects(other.session.flush(), { code: "file-changed" });
  disk.openFault = undefined;
  await other.session.flush();
  const again = await opened(other.session.getSessionFile()!);
  assert.deepEqual([again.getBranch().map(({ id }) => id), other.session.getUnsavedCount()], [["a1", "a2", ...ids], 0]);
});

test("[W4] what cannot be written is kept, tried again with each entry, and written in order with one write", async (t) => {
  const { session, path, events } = await watched(t);
  const disk = watchDisk(t);
  disk.writeFault = { code: "ENOSPC" };
  const ids = ["one", "two", "three"].map((text) => session.appendMessage(user(text)));
  session.setSessionName("unsaved, too");
  assert.deepEqual(
    outlineOf(events),
    [1, 2, 3, 4].map((count) => ["unsaved", count]),
  );
  assert.deepEqual([session.getUnsavedCount(), session.getBranch().length], [4, 6]);
  await assert.rejects(session.flush(), { code: "write-failed" });
  assert.throws(() => session.newSession(), { code: "write-failed" });
  assert.throws(() => session.createBranchedSession("a1"), { code: "write-failed" });
  disk.writeFault = undefined;
  const before = disk.writes.length;
  session.appendMessage(user("there is room"));
  assert.equal(disk.writes.length, before + 1);
  assert.deepEqual([outlineOf(events).at(-1), session.getUnsavedCount()], [["saved"], 0]);
  const again = await opened(path);
  assert.deepEqual(idsOf(again), idsOf(session));
  assert.deepEqual(ids, idsOf(session).slice(2, 5));
  assert.deepEqual(codes(again.getProblems()), []);
});

test("[W4] lines of a batch that are in the file already are not written again", async (t) => {
  const { session, path } = await watched(t);
  const disk = watchDisk(t);
  disk.writeFault = { code: "ENOSPC" };
  const one = session.appendMessage(user("one"));
  const first = sealed(JSON.stringify(session.getEntry(one)));
  // The first line and a part of the second fit.
  disk.writeFault = { code: "ENOSPC", partly: Buffer.byteLength(first) + 20 };
  session.appendMessage(user("two"));
  assert.equal(session.getUnsavedCount(), 1);
  disk.writeFault = undefined;
  session.appendMessage(user("three"));
  const again = await opened(path);
  assert.deepEqual([idsOf(again), codes(again.getProblems())], [idsOf(session), ["bad-line:5"]]);
});

test("[W4, W1] a first write that ends in its middle leaves no file, and all lines wait for the next", async (t) => {
  const session = trackSession(t, SessionManager.create("/w", temporaryFolder()));
  session.watchSaving(() => undefined, { keepsUnsaved: true });
  session.setSessionName("named");
  const disk = watchDisk(t);
  disk.writeFault = { code: "ENOSPC", partly: 250 };
  const one = session.appendMessage(user("one"));
  assert.deepEqual([session.getUnsavedCount(), fs.existsSync(session.getSessionFile()!)], [3, false]);
  disk.writeFault = undefined;
  await session.flush();
  const again = await opened(session.getSessionFile()!);
  assert.deepEqual([again.getSessionName(), again.getLeafId(), codes(again.getProblems())], ["named", one, []]);
});

test("[W4, L3] steps back and forward that cannot be written are kept like entries, and reach the file in order", async (t) => {
  const { session, path } = await watched(t);
  session.branch("a1");
  const b1 = session.appendMessage(user("b1"));
  const disk = watchDisk(t);
  disk.writeFault = { code: "ENOSPC" };
  assert.deepEqual([session.back(), session.getUnsavedCount()], ["a2", 1]);
  assert.deepEqual([session.forward(), session.back(), session.getLeafId()], [b1, "a2", "a2"]);
  await assert.rejects(session.flush(), { code: "write-failed" });
  disk.writeFault = undefined;
  await session.flush();
  const again = await opened(path);
  assert.deepEqual(
    [again.getLeafId(), again.canGoBack(), again.getRetraceTarget("forward"), codes(again.getProblems())],
    ["a2", false, b1, []],
  );
  const target = join(temporaryFolder(), "elsewhere.jsonl");
  disk.writeFault = { code: "ENOSPC" };
  session.forward();
  disk.writeFault = undefined;
  session.saveAs(target);
  assert.deepEqual([session.getLeafId(), session.getRetraceTarget("back")], [b1, "a2"]);
});

test("[W4] origins stay right behind other programs' lines and torn writes", async (t) => {
  const { session, path } = await watched(t);
  const disk = watchDisk(t);
  const one = session.appendMessage(user("one"));
  fs.appendFileSync(path, `${message("x1", "a2")}\n\n{"type":"mess`);
  const two = session.appendMessage(user("two"));
  disk.writeFault = { code: "ENOSPC", partly: 9 };
  const three = session.appendMessage(user("three"));
  disk.writeFault = undefined;
  const four = session.appendMessage(user("four"));
  const again = await opened(path);
  const [index, other] = [session.getIndex(), again.getIndex()];
  assert.deepEqual(idsOf(session), ["a1", "a2", one, "x1", two, three, four]);
  assert.deepEqual(idsOf(again), idsOf(session));
  for (const id of idsOf(session))
    if (id !== three) assert.deepEqual([id, index.originOf(id)], [id, other.originOf(id)]);
  // Its line was written later than it was added, so it stays in memory.
  assert.equal(index.originOf(three), undefined);
});

test("[W4, W1] unless told otherwise the appender throws, and the tree is as before", async (t) => {
  const { session, path } = await watched(t);
  session.watchSaving(() => undefined);
  const disk = watchDisk(t);
  disk.writeFault = { code: "EIO" };
  assert.throws(() => session.appendMessage(user("lost")), { code: "write-failed" });
  assert.deepEqual([idsOf(session), session.getUnsavedCount()], [["a1", "a2"], 0]);
  disk.writeFault = undefined;
  await session.flush();
  assert.deepEqual(recordsIn(path).length, 3);
});

test("[W4] a new session whose folder cannot be made is kept in memory until it can", async (t) => {
  const folder = join(temporaryFolder(), "sessions");
  fs.writeFileSync(folder, "in the way");
  const session = trackSession(t, SessionManager.create("/w", folder));
  const events: SavingEvent[] = [];
  session.watchSaving((event) => events.push(event), { keepsUnsaved: true });
  const ids = [session.appendMessage(user("one")), session.appendMessage(assistant("two"))];
  assert.deepEqual(
    [outlineOf(events), session.hasFile()],
    [
      [
        ["unsaved", 2],
        ["unsaved", 3],
      ],
      false,
    ],
  );
  fs.rmSync(folder);
  await session.flush();
  assert.deepEqual([outlineOf(events).at(-1), session.hasFile()], [["saved"], true]);
  assert.deepEqual(idsOf(await opened(session.getSessionFile()!)), ids);
});

test("[W4] save-as writes all of a session, saved or not, to a new file and goes on there", async (t) => {
  const { session, path, events } = await watched(t);
  const disk = watchDisk(t);
  disk.writeFault = { code: "ENOSPC" };
  const one = session.appendMessage(user("one"));
  disk.writeFault = undefined;
  const before = contentOf(path);
  assert.throws(() => session.saveAs(path), { code: "write-failed" });
  const target = join(temporaryFolder(), "elsewhere.jsonl");
  assert.equal(session.saveAs(target), target);
  const two = session.appendMessage(user("two"));
  assert.deepEqual([session.getSessionFile(), session.getUnsavedCount(), contentOf(path)], [target, 0, before]);
  assert.deepEqual(idsOf(await opened(target)), ["a1", "a2", one, two]);
  await session.flush();
  assert.deepEqual(outlineOf(events), [["unsaved", 1], ["saved"]]);

  const memory = trackSession(t, SessionManager.inMemory("/w"));
  const id = memory.appendMessage(user("kept after all"));
  memory.saveAs(join(temporaryFolder(), "kept.jsonl"));
  assert.deepEqual(idsOf(await opened(memory.getSessionFile()!)), [id]);
});

test("[W4] a session that is closed unsaved says so and leaves a recovery file", async (t) => {
  const { session } = await watched(t);
  const disk = watchDisk(t);
  disk.writeFault = { code: "EFBIG" };
  const id = session.appendMessage(user("unsaved"));
  let recovered = "";
  // Only the session's own file is too large.
  const { openSync } = fs;
  fs.openSync = ((at: fs.PathLike, ...rest: [fs.OpenMode, fs.Mode?]) => {
    if (String(at).includes(".recovered-")) disk.writeFault = undefined;
    return openSync(at, ...rest);
  }) as typeof openSync;
  syncBuiltinESMExports();
  await assert.rejects(session.close(), (error: Error & { path: string }) => {
    recovered = error.path;
    return error.message.endsWith(`All of this session is in ${recovered}.`);
  });
  Object.assign(fs, { openSync });
  syncBuiltinESMExports();
  assert.deepEqual(idsOf(await opened(recovered)), ["a1", "a2", id]);
});

test("[W4] FT4 dB69 at the kernel's limit of a file's size work goes on in memory, and all is saved when there is room", async (t) => {
  const program = fileURLToPath(new URL("../support/append-when-full.ts", import.meta.url));
  const folder = temporaryFolder();
  const child = spawn("sh", ["-c", 'ulimit -f 20; exec "$0" "$@"', process.execPath, program, folder], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  const { value } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  const report = JSON.parse(value as string) as { ids: string[]; unsaved: number; rest: string; path: string };
  assert.ok(report.unsaved > 5);
  // The limit is per file: each of the files stays below it, and together they hold everything.
  const [one, two] = [await opened(report.path), await opened(report.rest)];
  assert.deepEqual(new Set([...idsOf(one), ...idsOf(two)]), new Set(report.ids));
});
