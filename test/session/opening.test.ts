import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  linkSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { openSession } from "../../src/session/open-session.ts";
import type { OpenSession } from "../../src/session/open-session.ts";
import { stampOf } from "../../src/session/replaced-file.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { watchDisk } from "../support/disk-faults.ts";
import { trackSession } from "../support/laws.ts";
import { assistant, contentOf, recordsIn, temporaryFile, temporaryFolder, user } from "../support/session-files.ts";
import { HEADER, chain, codes, file, leafRecord, line, message, sealed } from "../support/session-lines.ts";

const idsOf = (session: SessionManager): string[] => session.getEntries().map((entry) => entry.id);

/** As SessionManager opens it; its lease ends with the test. */
function openUntilDone(t: TestContext, ...[path, options]: Parameters<typeof openSession>): OpenSession {
  const session = openSession(path, options);
  t.after(() => session.lease?.release());
  return session;
}

const V1_HEADER = '{"type":"session","id":"old","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/w","extra":1}';
const v1 = (type: string, fields: object): string =>
  JSON.stringify({ type, timestamp: "2025-01-01T00:00:00.000Z", ...fields });
const V1 = [
  V1_HEADER,
  v1("message", { message: { role: "user", content: "one" } }),
  v1("message", { message: { role: "hookMessage", customType: "h", content: "two", display: true } }),
  "{bad line",
  v1("compaction", { summary: "s", firstKeptEntryIndex: 2, tokensBefore: 5 }),
  v1("mystery", { anything: [1] }),
];

test("[F7] dB07 a missing path is an error with the path, and no file is made", async () => {
  const path = join(temporaryFolder(), "nope.jsonl");
  const expected = {
    name: "SessionFileError",
    code: "missing",
    path,
    message: `There is no session file at ${path}; check the path.`,
  };
  await assert.rejects(SessionManager.open(path), expected);
  await assert.rejects(SessionManager.open(path, { readOnly: true }), expected);
  await assert.rejects(SessionManager.forkFrom(path, "/w", dirname(path)), expected);
  assert.deepEqual(readdirSync(dirname(path)), []);
});

test("[F7] dB08 an empty file is told to be empty and stays so; a header alone is a session", async (t) => {
  const path = temporaryFile("");
  await assert.rejects(SessionManager.open(path), {
    code: "empty",
    path,
    message: `${path} is empty: it holds no session; nothing was changed.`,
  });
  assert.equal(contentOf(path), "");
  const alone = trackSession(t, await SessionManager.open(temporaryFile(file(HEADER))));
  assert.deepEqual([alone.getEntries(), alone.getLeafId(), alone.getSessionId()], [[], null, "s1"]);
  alone.appendMessage(user("a"));
  assert.equal(recordsIn(alone.getSessionFile()!).length, 2);
});

test("[F7] dB06 what is no session is refused by name and line, bytes untouched", async () => {
  const contents = [
    [
      '{"type":"event","data":"x"}\n',
      `(line 1: it is not a session file: its first record is of type "event", not "session")`,
    ],
    ["\u0089PNG\r\n\u001a\n\0\0", "(line 1: it is not a session file: its first line is not JSON)"],
    ['{"type":"session","version":3}\n', "(line 1: its session header has no id)"],
  ] as const;
  for (const [content, reason] of contents) {
    const path = temporaryFile(content);
    const expected = {
      code: "not-a-session",
      path,
      message: `${path} cannot be opened ${reason}; nothing was changed.`,
    };
    await assert.rejects(SessionManager.open(path), expected);
    const session = SessionManager.inMemory();
    const a = session.appendMessage(user("a"));
    await assert.rejects(session.setSessionFile(path), expected);
    assert.deepEqual([contentOf(path), idsOf(session), session.getLeafId()], [content, [a], a]);
  }
});

test("[F7] opening for reading changes no byte and refuses every appender; the leaf still moves", async (t) => {
  const path = temporaryFile(`${file(HEADER, ...chain(null, "a1", "a2"))}{"type":"mess`);
  const before = statSync(path).mtimeMs;
  const session = trackSession(t, await SessionManager.open(path, { readOnly: true }));
  session.branch("a1");
  assert.equal(session.getLeafId(), "a1");
  const expected = { code: "read-only", message: `${path} is open for reading only; open it again to continue it.` };
  assert.throws(() => session.appendMessage(user("x")), expected);
  assert.throws(() => session.setSessionName("x"), expected);
  assert.throws(() => session.createBranchedSession("a1"), expected);
  await session.close();
  assert.deepEqual([statSync(path).mtimeMs, readdirSync(dirname(path))], [before, [basename(path)]]);
});

test("[F7] dB17 a newer version opens for reading, says so, and appenders throw", async (t) => {
  const path = temporaryFile(
    file(HEADER.replace('"version":3', '"version":99'), ...chain(null, "a1", "a2"), line("future_thing", "x", "a2")),
  );
  const session = trackSession(t, await SessionManager.open(path));
  assert.deepEqual(
    [session.isReadOnly(), idsOf(session), codes(session.getProblems())],
    [true, ["a1", "a2", "x"], ["newer-version:1"]],
  );
  const expected = {
    code: "newer-version",
    message: `${path} was made by a newer version of bough, so it can only be read; update bough to continue it.`,
  };
  assert.throws(() => session.appendMessage(user("x")), expected);
  assert.throws(() => session.createBranchedSession("a1"), expected);
  assert.throws(() => session.exportBranch("a1"), expected);
  await assert.rejects(SessionManager.forkFrom(path, "/w", dirname(path)), expected);
});

test("[F6, W3] dB01 a torn tail is reported, kept, and the next entry stands on a line of its own", async (t) => {
  const content = `${file(HEADER, message("a1", null))}{"type":"message","id":"a2","parentId":"a1","times`;
  const path = temporaryFile(content);
  const session = trackSession(t, await SessionManager.open(path));
  assert.deepEqual([contentOf(path), codes(session.getProblems())], [content, ["torn-tail:3"]]);
  const a3 = session.appendMessage(user("a3"));
  assert.equal(contentOf(path), `${content}\n${sealed(JSON.stringify(session.getEntry(a3)))}\n`);
  const again = await SessionManager.open(path, { readOnly: true });
  assert.deepEqual([idsOf(again), again.getEntry(a3)!.parentId], [["a1", a3], "a1"]);
});

test("[F6, W3] FT10 after every prefix of a file the complete lines load and the next entry is readable", async () => {
  const lines = [HEADER, ...chain(null, "a1", "é2", "a3"), line("label", "l1", "a3", { targetId: "a1", label: "x" })];
  const whole = Buffer.from(file(...lines));
  const ends = lines.map((_, n) => Buffer.byteLength(file(...lines.slice(0, n + 1))));
  const folder = temporaryFolder();
  const path = join(folder, "prefix.jsonl");
  for (let length = ends[0]! - 1; length <= whole.length; length++) {
    writeFileSync(path, whole.subarray(0, length));
    const complete = ends.filter((end) => length >= end - 1).length - 1;
    const session = await SessionManager.open(path);
    const expected = ["a1", "é2", "a3", "l1"].slice(0, complete);
    assert.deepEqual(idsOf(session), expected, `the first ${length} bytes`);
    if (length % 7 === 0) {
      const added = session.appendMessage(user("next"));
      const again = await SessionManager.open(path, { readOnly: true });
      assert.deepEqual(idsOf(again), [...expected, added], `appended after ${length} bytes`);
      assert.equal(again.getEntry(added)!.parentId, expected.at(-1) ?? null);
      await again.close();
    }
    await session.close();
  }
});

test("[F6, W3] dB12 CRLF, mixed, without a final newline: loads, old bytes stay, the first append starts a line", async (t) => {
  const [a1, a2, a3] = chain(null, "a1", "a2", "a3");
  const content = `${HEADER}\r\n${a1}\r\n${a2}\n${a3}`;
  const path = temporaryFile(content);
  const session = trackSession(t, await SessionManager.open(path));
  const added = session.appendMessage(user("next"));
  assert.deepEqual(idsOf(session), ["a1", "a2", "a3", added]);
  assert.equal(contentOf(path), `${content} \n${sealed(JSON.stringify(session.getEntry(added)))}\n`);
});

test("[W3, F6] a torn tail that ends like a whole record is taken for none, when it is the last line and later", async (t) => {
  const torn = message("b", "a1").slice(0, -1);
  const path = temporaryFile(`${file(HEADER, message("a1", null))}${torn}`);
  const session = trackSession(t, await SessionManager.open(path));
  const added = session.appendMessage(user("next"));
  await session.close();
  const again = trackSession(t, await SessionManager.open(path, { readOnly: true }));
  assert.deepEqual([idsOf(again), codes(again.getProblems())], [["a1", added], ["bad-line:3"]]);
});

test("[L2] dB28 a name that another process wrote last, low on the path, does not move the leaf", async (t) => {
  const chained = chain(null, "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9");
  const path = temporaryFile(file(HEADER, ...chained, line("session_info", "n1", "a3", { name: "Named" })));
  const session = trackSession(t, await SessionManager.open(path));
  assert.deepEqual([session.getLeafId(), session.getSessionName()], ["a9", "Named"]);
});

test("[T8] dB27 odd labels: the last one in file order wins, empty clears, absent targets are kept but not shown", async (t) => {
  const label = (id: string, parentId: string, targetId: string, text?: unknown): string =>
    line("label", id, parentId, { targetId, label: text });
  const long = "x".repeat(10_000);
  const path = temporaryFile(
    file(
      HEADER,
      ...chain(null, "a1", "a2"),
      label("l1", "a2", "absent", "ghost"),
      label("l2", "l1", "l1", "on a label"),
      label("l3", "l2", "s1", "on the header"),
      label("l4", "l3", "a1", "first"),
      label("l5", "l4", "a1", ""),
      label("l6", "l5", "a1", "second"),
      label("l7", "a1", "a2", long),
      label("l8", "l6", "l6", null),
      label("l9", "l8", "l5", "a\nb\u001b[31m"),
    ),
  );
  const session = trackSession(t, await SessionManager.open(path));
  assert.deepEqual(
    new Map(session.getIndex().labels()),
    new Map([
      ["l1", "on a label"],
      ["a1", "second"],
      ["a2", long],
      ["l5", "a\nb\u001b[31m"],
    ]),
  );
  assert.deepEqual(codes(session.getProblems()), ["unknown-label-target:4", "unknown-label-target:6"]);
  assert.equal(session.getEntries().length, 11);
});

test("[F5] dB34 magic ids and keys are plain data and survive the way to disk and back", async (t) => {
  const entries = [
    message("__proto__", null),
    message("constructor", "__proto__"),
    '{"type":"message","id":"toString","parentId":"constructor","timestamp":"2026-01-01T00:00:00.000Z",' +
      '"message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"t","arguments":{"__proto__":{"polluted":1}}}]}}',
    line("label", "valueOf", "toString", { targetId: "__proto__", label: "__proto__" }),
  ];
  const path = temporaryFile(file(HEADER, ...entries));
  const session = trackSession(t, await SessionManager.open(path));
  assert.deepEqual(idsOf(session), ["__proto__", "constructor", "toString", "valueOf"]);
  assert.deepEqual(
    session.getBranch().map((entry) => entry.id),
    idsOf(session),
  );
  assert.deepEqual(session.getChildren("hasOwnProperty"), []);
  assert.equal(session.getLabel("__proto__"), "__proto__");
  assert.equal(({} as { polluted?: number }).polluted, undefined);
  const copy = session.createBranchedSession("toString")!;
  assert.deepEqual(contentOf(copy).split("\n").slice(1, 4), entries.slice(0, 3));
});

test("[T5] dB20 (a) lines repeated byte for byte are ignored, (b) an id with other content is kept beside, both told", async (t) => {
  const lines = chain(null, ...Array.from({ length: 7000 }, (_, n) => `e${n}`));
  const repeated = lines.slice(100, 110);
  const other = line("custom", "e5", "e6999", { customType: "other" });
  const content = file(HEADER, ...lines.slice(0, 110), ...repeated, ...lines.slice(110), other);
  const session = trackSession(t, await SessionManager.open(temporaryFile(content)));
  assert.deepEqual(session.getEntries().length, 7001);
  assert.equal(session.getEntry("e5~7012")!.type, "custom");
  assert.deepEqual(codes(session.getProblems()), [
    ...repeated.map((_, n) => `duplicate-line:${112 + n}`),
    "duplicate-id:7012",
  ]);
});

test("[W6] a path with links is resolved first; the session keeps its real path", async (t) => {
  const path = temporaryFile(file(HEADER, message("a1", null)));
  const link = join(temporaryFolder(), "link.jsonl");
  symlinkSync(path, link);
  const session = trackSession(t, await SessionManager.open(link));
  session.appendMessage(user("b"));
  assert.deepEqual([session.getSessionFile(), recordsIn(path).length], [path, 3]);
});

test("[T2] setSessionFile switches to the session of a file", async (t) => {
  const session = trackSession(t, SessionManager.create("/w", temporaryFolder()));
  session.appendMessage(user("old"));
  const path = temporaryFile(file(HEADER, ...chain(null, "a1", "a2"), leafRecord("f1", "a1")));
  await session.setSessionFile(path);
  assert.deepEqual(
    [session.getSessionFile(), session.getSessionId(), session.getLeafId(), idsOf(session)],
    [path, "s1", "a1", ["a1", "a2"]],
  );
  session.appendMessage(assistant("on"));
  assert.equal(recordsIn(path).length, 5);
});

test("[F7] a file that may not be written opens for reading and says why", async (t) => {
  const disk = watchDisk(t);
  const path = temporaryFile(file(HEADER, message("a1", null)));
  for (const [code, reason] of [
    ["EROFS", "the file system is read-only (EROFS)"],
    ["EACCES", "permission denied (EACCES)"],
  ]) {
    disk.openFault = { code: code! };
    const session = trackSession(t, await SessionManager.open(path));
    assert.deepEqual([session.isReadOnly(), idsOf(session)], [true, ["a1"]]);
    assert.deepEqual(session.getProblems(), [
      { code: "not-writable", line: 0, text: `${path} cannot be written: ${reason}; it is open for reading only.` },
    ]);
    assert.throws(() => session.appendMessage(user("x")), {
      code: "no-access",
      message: `Cannot open ${path}: ${reason}.`,
    });
  }
});

test("[M2] a migration that cannot be written leaves all as it was; the session goes on in memory and says so", async (t) => {
  const disk = watchDisk(t);
  const path = temporaryFile(file(...V1));
  disk.writeFault = { code: "ENOSPC", partly: 50 };
  const session = trackSession(t, await SessionManager.open(path));
  disk.writeFault = undefined;
  assert.deepEqual([contentOf(path), readdirSync(dirname(path))], [file(...V1), [basename(path)]]);
  assert.deepEqual(session.getProblems()[0], {
    code: "not-writable",
    line: 0,
    text: `${path} could not be brought up to date: the disk is full (ENOSPC); this session goes on in memory and is not saved.`,
  });
  session.appendMessage(user("on"));
  assert.deepEqual([session.getSessionFile(), session.getEntries().length], [undefined, 5]);
});

// Migration

test("[M1, M2] a version 1 file is rewritten once, the original kept, bad lines kept, ids chained", async (t) => {
  const content = file(...V1);
  const path = temporaryFile(content);
  const session = trackSession(t, await SessionManager.open(path));
  const [one, two, compaction, mystery] = idsOf(session);
  for (const id of idsOf(session)) assert.match(id, /^[0-9a-f]{8}$/);
  const records = recordsIn(path);
  const time = "2025-01-01T00:00:00.000Z";
  assert.deepEqual(records, [
    { type: "session", version: 3, id: "old", timestamp: time, cwd: "/w", extra: 1 },
    { type: "message", id: one, parentId: null, timestamp: time, message: { role: "user", content: "one" } },
    {
      type: "message",
      id: two,
      parentId: one,
      timestamp: time,
      message: { role: "custom", customType: "h", content: "two", display: true },
    },
    "{bad line",
    {
      type: "compaction",
      id: compaction,
      parentId: two,
      timestamp: time,
      summary: "s",
      tokensBefore: 5,
      firstKeptEntryId: two,
    },
    { type: "mystery", id: mystery, parentId: compaction, timestamp: time, anything: [1] },
  ]);
  const backup = `${path}.v1.bak`;
  assert.deepEqual(
    [contentOf(backup), statSync(backup).mode & 0o777, statSync(path).mode & 0o777],
    [content, 0o600, 0o600],
  );
  assert.deepEqual(readdirSync(dirname(path)).sort(), [basename(path), basename(backup)]);
  const after = contentOf(path);
  await session.close();
  const again = trackSession(t, await SessionManager.open(path));
  assert.deepEqual([idsOf(again), contentOf(path)], [[one, two, compaction, mystery], after]);
});

test("[M2] version 2: only changed lines are encoded anew, all others keep their bytes", async (t) => {
  const header = HEADER.replace('"version":3', '"version":2');
  const odd =
    '{ "id":"a1", "type":"message","parentId":null,  "timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"\\u0041"},"zz":1}';
  const hook = line("message", "a2", "a1", {
    message: { role: "hookMessage", customType: "h", content: "c", display: true },
  });
  const torn = '{"type":"mess';
  const path = temporaryFile(`${file(header, odd, hook, "", message("a3", "a2"))}${torn}`);
  trackSession(t, await SessionManager.open(path));
  const changed = sealed(hook.replace("hookMessage", "custom"));
  const expected = [HEADER, odd, changed, "", message("a3", "a2"), torn];
  assert.equal(contentOf(path), file(...expected));
  assert.equal(existsSync(`${path}.v2.bak`), true);
});

test("[M2, F6] a damaged line of a version 1 file gives up all its records", async (t) => {
  const [first, second] = [
    v1("message", { message: { role: "user", content: "one" } }),
    v1("custom", { customType: "x" }),
  ];
  const path = temporaryFile(file(V1_HEADER, `${first}${second}`));
  const session = trackSession(t, await SessionManager.open(path));
  assert.deepEqual(
    session.getEntries().map((entry) => entry.type),
    ["message", "custom"],
  );
});

test("[M2] an older backup is never replaced", async (t) => {
  const path = temporaryFile(file(...V1));
  writeFileSync(`${path}.v1.bak`, "precious");
  writeFileSync(`${path}.v1.bak.2`, "precious too");
  trackSession(t, await SessionManager.open(path));
  const backups = ["", ".2", ".3"].map((end) => contentOf(`${path}.v1.bak${end}`));
  assert.deepEqual(backups, ["precious", "precious too", file(...V1)]);
});

test("[M2, F7] opening for reading migrates in memory, with the same ids as the rewrite will give", async (t) => {
  const path = temporaryFile(file(...V1));
  const reader = trackSession(t, await SessionManager.open(path, { readOnly: true }));
  assert.deepEqual(
    [contentOf(path), readdirSync(dirname(path)), reader.getEntries().length],
    [file(...V1), [basename(path)], 4],
  );
  const ids = idsOf(reader);
  await reader.close();
  const other = temporaryFile(file(...V1));
  const writer = trackSession(t, await SessionManager.open(other));
  assert.deepEqual(idsOf(writer), ids);
});

test("[M2] dB32 a file that changes once during the migration is read again, and nothing is lost", (t) => {
  const path = temporaryFile(file(...V1));
  let looks = 0;
  const opened = openUntilDone(t, path, {
    stampOf: (asked) => {
      if (++looks === 2) appendFileSync(path, `${v1("message", { message: { role: "user", content: "late" } })}\n`);
      return stampOf(asked);
    },
  });
  opened.store.close();
  assert.deepEqual([opened.index.size, opened.problems, recordsIn(path).length], [5, [], 7]);
  assert.equal(contentOf(`${path}.v1.bak`).split("\n").length, 8);
});

test("[M2] dB32 a file that keeps changing is left alone: the session goes on in memory and says so", (t) => {
  const path = temporaryFile(file(...V1));
  const late = `${v1("message", { message: { role: "user", content: "late" } })}\n`;
  let looks = 0;
  const opened = openUntilDone(t, path, {
    stampOf: (asked) => {
      looks++;
      appendFileSync(path, late);
      return stampOf(asked);
    },
  });
  assert.equal(contentOf(path), file(...V1) + late.repeat(looks));
  assert.deepEqual(readdirSync(dirname(path)), [basename(path)]);
  assert.deepEqual([opened.store.path, opened.refusal, opened.index.size], [undefined, undefined, 4 + looks - 1]);
  assert.deepEqual(opened.problems, [
    {
      code: "changed-while-open",
      line: 0,
      text:
        `${path} was changed by another program while it was brought up to date, ` +
        "so this session goes on in memory and is not saved to that file.",
    },
  ]);
});

test("[M2] dB32 a file that is deleted during the migration does not come back", (t) => {
  const path = temporaryFile(file(...V1));
  let looks = 0;
  const opened = openUntilDone(t, path, {
    stampOf: (asked) => {
      if (++looks === 2) rmSync(path);
      return stampOf(asked);
    },
  });
  assert.deepEqual([readdirSync(dirname(path)), opened.store.path, opened.index.size], [[], undefined, 4]);
  assert.equal(opened.problems[0]!.code, "changed-while-open");
});

test("[M2] dB32 a file that is replaced by another of the same size is noticed", (t) => {
  const path = temporaryFile(file(...V1));
  const replacement = temporaryFile(file(...V1).replace('"one"', '"two"'));
  let looks = 0;
  const opened = openUntilDone(t, path, {
    stampOf: (asked) => {
      if (++looks === 2) renameSync(replacement, path);
      return stampOf(asked);
    },
  });
  opened.store.close();
  assert.match(contentOf(path), /"two"/);
  assert.match(contentOf(`${path}.v1.bak`), /"two"/);
});

test("[M2] a second name of the file keeps the original", async (t) => {
  const path = temporaryFile(file(...V1));
  const other = join(temporaryFolder(), "other.jsonl");
  linkSync(path, other);
  trackSession(t, await SessionManager.open(path));
  assert.equal(contentOf(other), file(...V1));
});
