import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { SessionManager } from "../../src/session/session-manager.ts";
import type { SessionEntry } from "../../src/tree/entries.ts";
import { watchDisk } from "../support/disk-faults.ts";
import { writeSessionFile } from "../support/generate.ts";
import { trackSession } from "../support/laws.ts";
import { assistant, contentOf, recordsIn, temporaryFile, temporaryFolder, user } from "../support/session-files.ts";
import { HEADER, chain, file, leafRecord, line, message, sealed, unsealed } from "../support/session-lines.ts";

const links = (entries: readonly SessionEntry[]): [string, string | null][] =>
  entries.map(({ id, parentId }) => [id, parentId]);
const linesOf = (path: string): string[] => contentOf(path).split("\n").slice(0, -1);

test("[T7] the path becomes a file of its own, ids kept, lines copied byte for byte; the source is untouched", async (t) => {
  const odd =
    '{"type":"custom","id":"a2",  "parentId":"a1","timestamp":"2026-01-01T00:00:00.000Z","customType":"x","zz":{"b":1,"a":[]}}';
  const future = line("future_thing", "a3", "a2", { anything: "\u2028" });
  const header = HEADER.replace(
    "}",
    ',"additionalDirectories":["/x"],"title":"T","titleSource":"user","parentSession":"/older.jsonl"}',
  );
  const content = file(
    header,
    message("a1", null),
    message("b1", "a1"),
    odd,
    future,
    message("a4", "a3"),
    message("c1", "a4"),
  );
  const source = temporaryFile(content);
  const session = trackSession(t, await SessionManager.open(source));
  const path = session.createBranchedSession("a4")!;
  assert.deepEqual([session.getSessionFile(), dirname(path), existsSync(path)], [path, dirname(source), true]);
  assert.equal(contentOf(source), content);
  const [first, ...lines] = linesOf(path);
  const { id, timestamp, ...rest } = JSON.parse(unsealed(first!)) as Record<string, unknown>;
  assert.deepEqual(rest, {
    additionalDirectories: ["/x"],
    type: "session",
    version: 3,
    cwd: "/w",
    parentSession: source,
  });
  assert.notEqual(id, "s1");
  assert.equal(timestamp, session.getHeader().timestamp);
  assert.deepEqual(lines.slice(0, 4), [message("a1", null), odd, future, message("a4", "a3")]);
  assert.equal(session.getLeafId(), session.getEntries().at(-1)!.id);
  assert.equal(session.getSessionName(), "T (fork)");
  session.appendMessage(user("goes on in the new file"));
  assert.equal(contentOf(source), content);
});

test("[T7, T8] dB26 labels are left out, what followed one is re-chained, labels in effect are built anew", async (t) => {
  const label = (id: string, parentId: string, targetId: string, text?: string): string =>
    line("label", id, parentId, { targetId, ...(text === undefined ? {} : { label: text }) });
  const content = file(
    HEADER,
    message("m1", null),
    label("l1", "m1", "m1", "one"),
    label("l2", "l1", "l1", "a label's label"),
    message("m2", "l2"),
    label("l3", "m2", "m2", "gone"),
    message("m3", "l3"),
    label("l4", "m3", "m2"),
    label("l5", "m3", "m1", "from another branch"),
    message("x1", "m2"),
    label("l6", "x1", "x1", "off the path"),
  );
  const session = trackSession(t, await SessionManager.open(temporaryFile(content)));
  const before = session.getBranch("l4").filter((entry) => entry.type === "message");
  const path = session.createBranchedSession("l4")!;
  const added = session.getEntries().at(-1)!;
  assert.deepEqual(links(session.getEntries()), [
    ["m1", null],
    ["m2", "m1"],
    ["m3", "m2"],
    [added.id, "m3"],
  ]);
  const { id: _id, timestamp: _time, ...fields } = added;
  assert.deepEqual(fields, { type: "label", parentId: "m3", targetId: "m1", label: "from another branch" });
  assert.equal(session.buildSessionContext().messages.length, before.length);
  assert.doesNotMatch(contentOf(path), /"l[1-6]"/);
});

test("[T7, F4] a line whose parent was a label changes in that alone", async (t) => {
  const label = line("label", "l1", "m1", { targetId: "m1" });
  const rest =
    ',"timestamp":"2026-01-01T00:00:00.000Z", "big":12345678901234567890,"message":{"role":"user","content":"\\u0041"}}';
  const content = file(HEADER, message("m1", null), label, `{"type":"message","id":"m2","parentId":"l1"${rest}`);
  const session = trackSession(t, await SessionManager.open(temporaryFile(content)));
  const path = session.createBranchedSession("m2")!;
  assert.equal(linesOf(path)[2], sealed(`{"type":"message","id":"m2","parentId":"m1"${rest}`));
});

test("[T7, F4] so does a line with its members in another order, and a compaction that kept from a label", async (t) => {
  const time = '"timestamp":"2026-01-01T00:00:00.000Z"';
  const data = '"data":{"parentId":"l1","n":1.0,"text":"\\u0041\\\\\\"]}"}';
  const content = file(
    HEADER,
    message("m1", null),
    line("label", "l1", "m1", { targetId: "m1" }),
    `{"type":"custom","customType":"x",${data},"id":"c1","parentId":"l1",${time}}`,
    `{ "parentId" : "c1", "type":"future", "id" : "f1", ${time}, "n": 1.0 }`,
    `{"type":"compaction","id":"k1","parentId":"f1",${time},"firstKeptEntryId":"l1","summary":"s","n":1.0}`,
  );
  const session = trackSession(t, await SessionManager.open(temporaryFile(content)));
  assert.deepEqual(linesOf(session.createBranchedSession("k1")!).slice(2), [
    sealed(`{"type":"custom","customType":"x",${data},"id":"c1","parentId":"m1",${time}}`),
    `{ "parentId" : "c1", "type":"future", "id" : "f1", ${time}, "n": 1.0 }`,
    sealed(`{"type":"compaction","id":"k1","parentId":"f1",${time},"firstKeptEntryId":"c1","summary":"s","n":1.0}`),
  ]);
});

test("[T7, F6] a line that names its parent twice, or under an escaped name, follows its new parent", async (t) => {
  const rest = '"timestamp":"","message":{"role":"user","content":"x"}';
  const content = file(
    HEADER,
    message("m1", null),
    line("label", "l1", "m1", { targetId: "m1" }),
    `{"type":"message","id":"m2","parentId":"l1",${rest},"parentId":"l1"}`,
    line("label", "l2", "m2", { targetId: "m1" }),
    `{"type":"message","id":"m3","parent\\u0049d":"l2",${rest}}`,
  );
  const session = trackSession(t, await SessionManager.open(temporaryFile(content)));
  session.createBranchedSession("m3");
  assert.deepEqual(links(session.getEntries()), [
    ["m1", null],
    ["m2", "m1"],
    ["m3", "m2"],
  ]);
});

test("[T7, M3] a compaction that counts what it kept from keeps from the same entry", async (t) => {
  const content = file(
    HEADER,
    message("m1", null),
    message("aside", "m1"),
    message("m2", "m1"),
    line("compaction", "k1", "m2", { summary: "s", firstKeptEntryIndex: 3 }),
  );
  const session = trackSession(t, await SessionManager.open(temporaryFile(content)));
  const before = session.buildSessionContext();
  session.createBranchedSession("k1");
  assert.deepEqual(session.buildSessionContext(), before);
  assert.equal(before.messages.length, 2);
});

test("[T7] several labels are chained after the last kept entry, the last of them is the leaf", (t) => {
  const session = trackSession(t, SessionManager.create("/w", temporaryFolder()));
  const a = session.appendMessage(user("a"));
  session.appendLabelChange(a, "first");
  const b = session.appendMessage(assistant("b"));
  session.appendLabelChange(b, "second");
  session.createBranchedSession(session.getLeafId()!);
  const [, , l1, l2] = session.getEntries();
  assert.deepEqual(links(session.getEntries()), [
    [a, null],
    [b, a],
    [l1!.id, b],
    [l2!.id, l1!.id],
  ]);
  assert.deepEqual([session.getLeafId(), session.getLabel(a), session.getLabel(b)], [l2!.id, "first", "second"]);
});

test("[T7] dB44 a compaction that keeps from a label keeps from what followed it; the context is the same", async (t) => {
  const session = trackSession(t, SessionManager.create("/w", temporaryFolder()));
  session.appendMessage(user("old"));
  const u1 = session.appendMessage(user("u1"));
  const label = session.appendLabelChange(u1, "x");
  const u2 = session.appendMessage(user("u2"));
  session.appendCompaction("summary", label, 10);
  const u3 = session.appendMessage(user("u3"));
  const before = session.buildSessionContext();
  session.createBranchedSession(u3);
  const compaction = session.getEntries().find((entry) => entry.type === "compaction");
  assert.equal(compaction?.firstKeptEntryId, u2);
  assert.deepEqual(session.buildSessionContext(), before);
});

test("[T7] dB44 a fork of a compacted session keeps the pointer and the kept messages", async (t) => {
  const folder = temporaryFolder();
  const source = trackSession(t, SessionManager.create("/w", folder));
  source.appendMessage(user("u1"));
  const u2 = source.appendMessage(user("u2"));
  source.appendCompaction("summary", u2, 10);
  source.appendMessage(user("u3"));
  await source.flush();
  const fork = trackSession(t, await SessionManager.forkFrom(source.getSessionFile()!, "/elsewhere", folder));
  assert.deepEqual(fork.getEntries(), source.getEntries());
  assert.deepEqual(fork.buildSessionContext(), source.buildSessionContext());
});

test("[T7] dB52 a branch before any answer: the file is there when its path is returned, and goes on", async (t) => {
  const session = trackSession(t, SessionManager.create("/w", temporaryFolder()));
  const a = session.appendMessage(user("a"));
  const path = session.createBranchedSession(a)!;
  assert.equal(recordsIn(path).length, 2);
  session.appendMessage(assistant("b"));
  assert.deepEqual(
    recordsIn(path).map((record) => (record as { type: string }).type),
    ["session", "message", "message"],
  );
});

test("[T7] a session whose file does not exist yet has no parent to name", (t) => {
  const session = trackSession(t, SessionManager.create("/w", temporaryFolder()));
  const mode = session.appendModeChange("plan");
  const old = session.getSessionFile()!;
  const path = session.createBranchedSession(mode)!;
  assert.deepEqual([existsSync(old), existsSync(path), session.getHeader().parentSession], [false, true, undefined]);
});

test("[T7] on any error nothing has changed", async (t) => {
  const disk = watchDisk(t);
  const folder = temporaryFolder();
  const session = trackSession(t, SessionManager.create("/w", folder));
  const a = session.appendMessage(user("a"));
  const b = session.appendMessage(assistant("b"));
  session.branch(a);
  const before = {
    file: session.getSessionFile(),
    header: session.getHeader(),
    entries: session.getEntries(),
    leaf: a,
  };
  const content = contentOf(before.file!);
  disk.writeFault = { code: "ENOSPC", partly: 40 };
  assert.throws(() => session.createBranchedSession(b), { name: "SessionFileError", code: "write-failed" });
  assert.throws(() => session.exportBranch(b), { code: "write-failed" });
  disk.writeFault = undefined;
  const after = {
    file: session.getSessionFile(),
    header: session.getHeader(),
    entries: session.getEntries(),
    leaf: session.getLeafId(),
  };
  assert.deepEqual(after, before);
  assert.deepEqual([contentOf(before.file!), readdirSync(folder).length], [content, 1]);
});

test("[T7, F7] dB69 entries another program has cut off are never invented: no branched file is made", async () => {
  const lines = [HEADER, ...chain(null, "a1", "a2"), line("label", "l1", "a2", { targetId: "a1", label: "mark" })];
  for (const damage of ["", `${HEADER}\n${"x".repeat(20)}`, `${lines.slice(0, 2).join("\n")}\n`]) {
    const path = temporaryFile(file(...lines));
    const session = await SessionManager.open(path);
    writeFileSync(path, damage);
    assert.throws(() => session.createBranchedSession("a2"), {
      name: "SessionFileError",
      code: "write-failed",
      message: /entries cannot be read any more; nothing was changed\.$/,
    });
    assert.deepEqual(readdirSync(dirname(path)), [basename(path)]);
    assert.deepEqual([session.getSessionFile(), session.getLeafId(), contentOf(path)], [path, "l1", damage]);
    await session.close();
  }
});

test("[T7, W1] dB69 entries that have been looked at outlive the file, in a branch", async () => {
  const path = temporaryFile(file(HEADER, ...chain(null, "a1", "a2")));
  const session = await SessionManager.open(path);
  session.getBranch();
  writeFileSync(path, "");
  const saved = await SessionManager.open(session.createBranchedSession("a2")!, { readOnly: true });
  assert.deepEqual(
    saved.getEntries().map(({ id }) => id),
    ["a1", "a2"],
  );
  assert.deepEqual(saved.getProblems(), []);
  await session.close();
});

test("[T7] the folder is gone: an error, and the session is as it was", (t) => {
  const folder = join(temporaryFolder(), "sessions");
  const session = trackSession(t, SessionManager.create("/w", folder), { unsaved: true });
  const a = session.appendMessage(user("a"));
  const file = session.getSessionFile();
  rmSync(folder, { recursive: true });
  writeFileSync(folder, "a file in its place");
  assert.throws(() => session.createBranchedSession(a), { code: "write-failed" });
  assert.deepEqual([session.getSessionFile(), session.getLeafId()], [file, a]);
  rmSync(folder);
  mkdirSync(folder);
});

test("[T9, T7] in memory the entries are replaced and nothing is returned", (t) => {
  const session = trackSession(t, SessionManager.inMemory("/w"));
  const a = session.appendMessage(user("a"));
  const b = session.appendMessage(assistant("b"));
  session.appendMessage(user("c"));
  session.setSessionName("Named");
  const id = session.getSessionId();
  assert.equal(session.createBranchedSession(b), undefined);
  assert.deepEqual(
    [links(session.getEntries()), session.getLeafId()],
    [
      [
        [a, null],
        [b, a],
      ],
      b,
    ],
  );
  assert.notEqual(session.getSessionId(), id);
  session.appendMessage(user("d"));
  assert.equal(session.getBranch().length, 3);
});

test("[T7] exportBranch writes the same file and switches nothing", async (t) => {
  const session = trackSession(t, SessionManager.create("/w", temporaryFolder()));
  const a = session.appendMessage(user("a"));
  const b = session.appendMessage(assistant("b"));
  session.appendLabelChange(a, "label");
  session.branch(a);
  const file = session.getSessionFile();
  const path = session.exportBranch(b);
  assert.deepEqual([session.getSessionFile(), session.getLeafId()], [file, a]);
  const exported = trackSession(t, await SessionManager.open(path));
  assert.deepEqual(links(exported.getEntries()).slice(0, 2), [
    [a, null],
    [b, a],
  ]);
  assert.deepEqual([exported.getLabel(a), exported.getHeader().parentSession], ["label", file]);
});

test("[T7, F6] what is wrong in the source does not come along: missing parents, used ids, leaf records", async (t) => {
  const content = file(
    HEADER,
    message("a1", "nowhere"),
    leafRecord("f1", "a1"),
    message("a2", "f1"),
    message("a1", "a2", { extra: "the same id again" }),
    message("a3", "a1~5"),
  );
  const session = trackSession(t, await SessionManager.open(temporaryFile(content)));
  const path = session.createBranchedSession("a1~5")!;
  assert.deepEqual(links(session.getEntries()), [
    ["a1", null],
    ["a2", "a1"],
    ["a1~5", "a2"],
  ]);
  assert.deepEqual([session.getProblems(), linesOf(path).length], [[], 4]);
});

test("[T7, M3] old shapes and version 1 sources, opened for reading, export as version 3", async (t) => {
  const old = temporaryFile(
    file(
      '{"type":"session","id":"old","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/w"}',
      '{"type":"message","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"user","content":"one"}}',
      '{"type":"message","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"hookMessage","customType":"h","content":"two","display":true}}',
    ),
  );
  const reader = trackSession(t, await SessionManager.open(old, { readOnly: true }));
  const exported = trackSession(t, await SessionManager.open(reader.exportBranch(reader.getLeafId()!)));
  assert.deepEqual(exported.getEntries(), reader.getEntries());
  assert.equal(exported.getHeader().version, 3);
});

test("[T7] a fork copies the whole tree, leaf records and damaged lines too, under a new id and working directory", async (t) => {
  const content =
    file(`\ufeff${HEADER}`, ...chain(null, "a1", "a2", "a3"), "{damaged", message("b1", "a1"), leafRecord("f1", "a2")) +
    '{"type":"to';
  const source = temporaryFile(content);
  const folder = temporaryFolder();
  const fork = trackSession(t, await SessionManager.forkFrom(source, "/elsewhere", folder));
  assert.equal(contentOf(source), content);
  const [header, ...lines] = linesOf(fork.getSessionFile()!);
  assert.deepEqual(lines, content.split("\n").slice(1));
  const { id, timestamp, ...rest } = JSON.parse(unsealed(header!)) as Record<string, unknown>;
  assert.deepEqual(rest, { type: "session", version: 3, cwd: "/elsewhere", parentSession: source });
  assert.deepEqual([id, timestamp], [fork.getSessionId(), fork.getHeader().timestamp]);
  assert.notEqual(id, "s1");
  assert.deepEqual([fork.getLeafId(), dirname(fork.getSessionFile()!)], ["a2", folder]);
  fork.appendMessage(user("x"));
  assert.equal(contentOf(source), content);
});

test("[T7, T5] dB20 a fork of a file with repeated lines, and with an id for two entries, is what opening it gives", async (t) => {
  const lines = chain(null, ...Array.from({ length: 60 }, (_, n) => `a${n}`));
  const other = message("a50", "a49", { message: { role: "user", content: "b50", timestamp: 0 } });
  const source = temporaryFile(file(HEADER, ...lines.slice(0, 40), ...lines.slice(30), other));
  const fork = trackSession(t, await SessionManager.forkFrom(source, "/w", temporaryFolder()));
  const opened = trackSession(t, await SessionManager.open(source, { readOnly: true }));
  for (const [n, seen] of [fork, opened].entries()) {
    assert.equal(seen.buildSessionContext().messages.length, 51, `${n}`);
    assert.equal(seen.getBranch("a59").length, 60, `${n}`);
  }
  assert.deepEqual(fork.getEntries(), opened.getEntries());
  assert.deepEqual(fork.getProblems(), opened.getProblems());
  assert.equal(opened.getProblems().filter(({ code }) => code === "duplicate-line").length, 10);
});

test("[T7, M2] a fork of a version 1 file is version 3, the source keeps its bytes and gets no backup", async (t) => {
  const content = file(
    '{"type":"session","id":"old","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/w"}',
    '{"type":"message","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"user","content":"one"}}',
    '{"type":"message","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"user","content":"two"}}',
  );
  const source = temporaryFile(content);
  const fork = trackSession(t, await SessionManager.forkFrom(source, "/w", temporaryFolder()));
  assert.deepEqual([contentOf(source), readdirSync(dirname(source)).length], [content, 1]);
  assert.deepEqual(
    fork.getBranch().map((entry) => entry.type === "message" && entry.message.role),
    ["user", "user"],
  );
});

test("[T7, F6] records that run on in the header's line come along", async (t) => {
  const source = temporaryFile(`${HEADER}${message("a1", null)}\n${message("a2", "a1")}\n`);
  const fork = trackSession(t, await SessionManager.forkFrom(source, "/w", temporaryFolder()));
  assert.deepEqual(links(fork.getEntries()), [
    ["a1", null],
    ["a2", "a1"],
  ]);
});

test("[T7, F3] oh-my-pi's title slot does not come along, the name does", async (t) => {
  const slot = JSON.stringify({
    type: "title",
    v: 1,
    title: "Slot",
    source: "user",
    updatedAt: "2026-01-01T00:00:00.000Z",
    pad: " ".repeat(20),
  });
  const source = temporaryFile(file(slot, HEADER, message("a1", null)));
  const fork = trackSession(t, await SessionManager.forkFrom(source, "/w", temporaryFolder()));
  assert.deepEqual(
    recordsIn(fork.getSessionFile()!).map((record) => (record as { type: string }).type),
    ["session", "message", "session_info"],
  );
  assert.equal(fork.getSessionName(), "Slot (fork)");
});

test("[T7] dB62 copies of a named session can be told apart, and who named it stays known", async (t) => {
  const folder = temporaryFolder();
  const session = trackSession(t, SessionManager.create("/w", folder));
  const a = session.appendMessage(user("a"));
  session.setSessionName("Parser", "auto");
  await session.flush();
  const names: (string | undefined)[] = [];
  for (let n = 0; n < 3; n++) {
    session.createBranchedSession(a);
    names.push(session.getSessionName());
  }
  assert.deepEqual(names, ["Parser (fork)", "Parser (fork 2)", "Parser (fork 3)"]);
  const fork = trackSession(t, await SessionManager.forkFrom(session.getSessionFile()!, "/w", folder));
  assert.equal(fork.getSessionName(), "Parser (fork 4)");
  assert.notEqual(fork.setSessionName("An automatic name", "auto"), undefined);
});

test("[T5, T7] a path of 20,000 entries is written without recursion, bytes kept", async () => {
  const lines = chain(null, ...Array.from({ length: 20_000 }, (_, n) => `e${n}`));
  const session = await SessionManager.open(temporaryFile(file(HEADER, ...lines)));
  const path = session.createBranchedSession("e19999")!;
  assert.deepEqual(linesOf(path).slice(1), lines);
  await session.close();
});

test("[T7, Y7] a branch is copied without a body being parsed, with labels on it and off it, at any size", async (t) => {
  for (const entries of [300, 3000]) {
    const source = join(temporaryFolder(), "session.jsonl");
    writeSessionFile(source, { shape: "linear", entries });
    const session = await SessionManager.open(source);
    const expected = session.getBranch().filter(({ type }) => type !== "label");
    const parse = t.mock.method(JSON, "parse");
    const copy = session.exportBranch(session.getLeafId()!);
    assert.equal(parse.mock.callCount(), 0);
    parse.mock.restore();
    const opened = await SessionManager.open(copy, { readOnly: true });
    const copied = opened.getEntries().slice(0, expected.length);
    let parentId: string | null = null;
    for (const [n, entry] of expected.entries()) {
      assert.deepEqual(copied[n], { ...entry, parentId });
      parentId = entry.id;
    }
    assert.deepEqual(
      new Map(opened.getIndex().labels()),
      new Map([...session.getIndex().labels()].filter(([id]) => session.getEntry(id)?.type !== "label")),
    );
    await Promise.all([opened.close(), session.close()]);
  }
});
