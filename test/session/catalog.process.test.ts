import assert from "node:assert/strict";
import { chmodSync, mkdirSync, renameSync, rmdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { beforeEach, test } from "node:test";
import { findSession, listAllSessions, listExamples, listSessions } from "../../src/session/catalog.ts";
import type { SessionInfo } from "../../src/session/catalog.ts";
import { examplesDir, sessionsDir, stateDir } from "../../src/session/locations.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { assistant, contentOf, temporaryFolder, user } from "../support/session-files.ts";
import { at, file, line } from "../support/session-lines.ts";

let projects: string;

beforeEach(() => {
  process.env["BOUGH_DIR"] = join(temporaryFolder(), "state");
  projects = temporaryFolder();
});

/** A project folder. */
function project(...parts: string[]): string {
  const folder = join(projects, ...parts);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** A file in the folder of `cwd`'s sessions. */
function put(cwd: string, name: string, content: string | Uint8Array, dir = sessionsDir(cwd)): string {
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, name), content);
  return join(dir, name);
}

const header = (id: string, cwd: string, fields: object = {}): string =>
  JSON.stringify({ type: "session", version: 3, id, timestamp: at(0), cwd, ...fields });

const said = (id: string, seconds: number, text: unknown = id, role = "user"): string =>
  line("message", id, null, { timestamp: at(seconds), message: { role, content: text } });

const names = (sessions: readonly SessionInfo[]): string[] =>
  sessions.map((session) => basename(session.path, ".jsonl"));

async function talk(session: SessionManager, text: string): Promise<string> {
  session.appendMessage(user(text));
  await session.close();
  return session.getSessionFile()!;
}

test("[D2] what a list shows of a session", async () => {
  const cwd = project("a");
  const content = file(
    header("id-1", cwd, { parentSession: "/p.jsonl", title: "Old title" }),
    line("model_change", "c", null, { provider: "p", modelId: "m" }),
    said("m1", 5, [
      { type: "text", text: "first\n  question" },
      { type: "image", data: "", mimeType: "image/png" },
    ]),
    said("m2", 30, "answer", "assistant"),
    said("m3", 20, "second"),
    line("session_info", "n", "m3", { name: "A name", source: "user", timestamp: at(99) }),
  );
  const path = put(cwd, "one.jsonl", content);
  assert.deepEqual(await listSessions(cwd), [
    {
      path,
      id: "id-1",
      cwd,
      name: "A name",
      parentSession: "/p.jsonl",
      created: new Date(at(0)),
      modified: new Date(at(30)),
      messageCount: 3,
      firstMessage: "first question",
      size: Buffer.byteLength(content),
      kind: "ok",
      reason: undefined,
      isSubagent: false,
      isComplete: true,
      isExample: false,
      cwdMissing: false,
    },
  ]);
});

test("[D2] dB08 empty, damaged, newer and unreadable files are listed with the reason; nothing throws", async () => {
  const cwd = project("a");
  put(cwd, "empty.jsonl", "");
  put(cwd, "blank.jsonl", "\n \n\0\0");
  put(cwd, "garbage.jsonl", "\u0089PNG\n");
  put(cwd, "other.jsonl", '{"type":"event"}\n');
  put(cwd, "newer.jsonl", file(header("n", cwd).replace('"version":3', '"version":4'), said("m", 1)));
  put(cwd, "torn.jsonl", `${file(header("t", cwd), said("m", 2))}{"type":"message","id":"x","par`);
  put(
    cwd,
    "holes.jsonl",
    `${file(header("h", cwd), "{bad", said("m1", 3))}\0\0\0${file(said("m2", 4))}${said("m3", 5)}${said("m4", 6)}`,
  );
  put(cwd, "notes.txt", "not listed");
  mkdirSync(join(sessionsDir(cwd), "folder.jsonl"));
  const found = (await listSessions(cwd)).map(({ path, kind, messageCount, reason }) => [
    basename(path),
    kind,
    messageCount,
    reason,
  ]);
  assert.deepEqual(
    found.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
    [
      ["blank.jsonl", "empty", 0, undefined],
      ["empty.jsonl", "empty", 0, undefined],
      ["garbage.jsonl", "damaged", 0, "line 1: it is not a session file: its first line is not JSON"],
      ["holes.jsonl", "ok", 4, undefined],
      ["newer.jsonl", "newer", 1, undefined],
      [
        "other.jsonl",
        "damaged",
        0,
        'line 1: it is not a session file: its first record is of type "event", not "session"',
      ],
      ["torn.jsonl", "ok", 1, undefined],
    ],
  );
});

test("[D2] dA36 the order follows the content, not the time of the file", async () => {
  const cwd = project("a");
  const old = put(cwd, "old.jsonl", file(header("1", cwd), said("m", 10)));
  const recent = put(cwd, "recent.jsonl", file(header("2", cwd), said("m", 60)));
  const untouched = put(cwd, "header-only.jsonl", file(header("3", cwd, { timestamp: at(30) })));
  utimesSync(old, new Date(), new Date("2030-01-01"));
  utimesSync(recent, new Date(), new Date("2001-01-01"));
  assert.deepEqual(
    (await listSessions(cwd)).map(({ path }) => path),
    [recent, untouched, old],
  );
});

test("[D2] dB35 times that cannot be read fall back, and are no reason to fail", async () => {
  const cwd = project("a");
  const times = ["never", "", 5.49e246, -1, undefined];
  const lines = times.map((timestamp, n) =>
    line("message", `m${n}`, null, { timestamp, message: { role: "user", content: "x" } }),
  );
  put(cwd, "odd.jsonl", file(header("1", cwd), ...lines));
  put(cwd, "none.jsonl", file(header("2", cwd, { timestamp: "never" }), ...lines));
  const found = (await listSessions(cwd)).map(({ id, modified, messageCount }) => [
    id,
    modified.toISOString(),
    messageCount,
  ]);
  assert.deepEqual(found, [
    ["1", at(0), 5],
    ["2", "1970-01-01T00:00:00.000Z", 5],
  ]);
});

test("[D2, F3] other programs' lines: any order of fields, title slot, CRLF and a byte order mark", async () => {
  const cwd = project("a");
  const slot = JSON.stringify({
    type: "title",
    v: 1,
    title: "From the slot",
    source: "user",
    updatedAt: at(0),
    pad: "  ",
  });
  const odd = JSON.stringify({
    message: { content: "hello", role: "user" },
    timestamp: at(7),
    id: "m",
    parentId: null,
    type: "message",
  });
  put(
    cwd,
    "odd.jsonl",
    `\ufeff${file(slot, header("1", cwd, { title: "In the header" }), odd).replaceAll("\n", "\r\n")}`,
  );
  const [session] = await listSessions(cwd);
  assert.deepEqual(
    [session!.name, session!.messageCount, session!.firstMessage, session!.modified.toISOString()],
    ["From the slot", 1, "hello", at(7)],
  );
});

test("[D2] dB15 lines of 50 MB are counted and shown by their beginning", async () => {
  const cwd = project("a");
  const huge = "x".repeat(50_000_000);
  put(cwd, "huge.jsonl", file(header("1", cwd), said("m1", 1, huge), said("m2", 2, huge, "toolResult"), said("m3", 3)));
  const [session] = await listSessions(cwd, undefined, { complete: true });
  assert.deepEqual(
    [session!.messageCount, session!.firstMessage, session!.modified.toISOString()],
    [3, `${"x".repeat(199)}…`, at(3)],
  );
});

test("[W6] links in session folders are skipped, files and folders", async () => {
  const cwd = project("a");
  const real = put(cwd, "real.jsonl", file(header("1", cwd), said("m", 1)));
  const outside = join(temporaryFolder(), "outside.jsonl");
  writeFileSync(outside, file(header("2", cwd), said("m", 2)));
  symlinkSync(outside, join(dirname(real), "link.jsonl"));
  symlinkSync(dirname(outside), join(stateDir(), "sessions", "linked-folder"));
  assert.deepEqual([names(await listSessions(cwd)), names(await listAllSessions())], [["real"], ["real"]]);
});

test("[D2] dB59 continuing in one directory never opens another's session", async () => {
  const pairs = [
    [project("a", "b"), project("a-b")],
    [project("x", "测试"), project("x", "日本")],
    [project("Case"), project("case")],
  ];
  for (const [one, two] of pairs as [string, string][]) {
    const path = await talk(SessionManager.create(one), "in one");
    const other = await SessionManager.continueRecent(two);
    assert.deepEqual([other.hasFile(), other.getCwd()], [false, two]);
    assert.equal((await SessionManager.continueRecent(one)).getSessionFile(), path);
    assert.deepEqual((await SessionManager.list(two)).length, 0);
  }
});

test("[D2] dB59 a directory and a link to it have one list", async () => {
  const real = project("real");
  symlinkSync(real, join(projects, "link"));
  const path = await talk(SessionManager.create(join(projects, "link")), "hello");
  assert.deepEqual(
    (await SessionManager.list(real)).map((session) => session.path),
    [path],
  );
  assert.equal((await SessionManager.continueRecent(real)).getSessionFile(), path);
});

test("[D2] dB59 in a folder shared by several directories only the asked one's sessions count", async () => {
  const shared = temporaryFolder();
  const [one, two] = [project("one"), project("two")];
  const first = await talk(SessionManager.create(one, shared), "one");
  await talk(SessionManager.create(two, shared), "two");
  put(one, "empty.jsonl", "", shared);
  assert.deepEqual(names(await SessionManager.list(one, shared)), [basename(first, ".jsonl"), "empty"]);
  assert.equal((await SessionManager.continueRecent(one, shared)).getSessionFile(), first);
});

test("[D2] dA33 a subagent's session is never continued by itself, but listed as such", async () => {
  const cwd = project("a");
  const path = await talk(SessionManager.create(cwd), "mine");
  const child = SessionManager.create(cwd);
  child.appendSessionInit({ systemPrompt: "s", task: "t", tools: [] });
  await talk(child, "its");
  assert.deepEqual(
    (await SessionManager.list(cwd)).map((session) => session.isSubagent),
    [true, false],
  );
  assert.equal((await SessionManager.continueRecent(cwd)).getSessionFile(), path);
});

test("[D2] damaged and newer files are not continued; without any session a new one starts", async () => {
  const cwd = project("a");
  const fresh = await SessionManager.continueRecent(cwd);
  assert.deepEqual([fresh.hasFile(), dirname(fresh.getSessionFile()!)], [false, sessionsDir(cwd)]);
  put(cwd, "empty.jsonl", "");
  put(cwd, "newer.jsonl", file(header("n", cwd, { version: 99 }), said("m", 99)));
  assert.equal((await SessionManager.continueRecent(cwd)).hasFile(), false);
  const path = put(cwd, "good.jsonl", file(header("g", cwd), said("m", 1)));
  assert.equal((await SessionManager.continueRecent(cwd)).getSessionFile(), path);
});

test("[D2] a branch just made is the most recent session, though its messages are old", async () => {
  const cwd = project("a");
  const session = SessionManager.create(cwd);
  const first = session.appendMessage(user("one"));
  session.appendMessage(assistant("two"));
  await new Promise((done) => setTimeout(done, 5));
  const branch = session.createBranchedSession(first);
  await session.close();
  assert.equal((await SessionManager.continueRecent(cwd)).getSessionFile(), branch);
});

test("[D2, G2] examples have a list of their own, for each directory", async () => {
  const cwd = project("a");
  put(cwd, "other.jsonl", file(header("o", project("b")), said("m", 999)), examplesDir());
  const path = put(cwd, "example.jsonl", file(header("e", cwd), said("m", 999)), examplesDir());
  assert.deepEqual([await listSessions(cwd), await listAllSessions()], [[], []]);
  assert.deepEqual(
    (await listExamples(cwd)).map((session) => [session.path, session.isExample]),
    [[path, true]],
  );
  assert.equal((await SessionManager.continueRecent(cwd)).hasFile(), false);
});

test("[D2] dB60 a session whose directory is gone is marked, and still opens", async () => {
  const cwd = project("gone");
  const path = await talk(SessionManager.create(cwd), "hello");
  rmdirSync(cwd);
  const [session] = await listAllSessions();
  assert.deepEqual([session!.path, session!.cwdMissing], [path, true]);
  assert.deepEqual(
    (await SessionManager.list(cwd)).map((found) => found.cwdMissing),
    [true],
  );
  assert.equal((await SessionManager.open(path)).getCwd(), cwd);
});

test("[D2] a folder that is missing or no folder at all holds no sessions", async () => {
  const cwd = project("a");
  assert.deepEqual([await listSessions(cwd), await listAllSessions(), await listExamples(cwd)], [[], [], []]);
  mkdirSync(stateDir(), { recursive: true });
  writeFileSync(join(stateDir(), "sessions"), "a file");
  assert.deepEqual(await listAllSessions(), []);
});

test("[D2] finding a session by path, id, beginning of an id or of a file name, in any case", async () => {
  const [here, there] = [project("here"), project("there")];
  const abc = put(here, "2026-01-01T00-00-00-000Z_ABC1.jsonl", file(header("abc1", here), said("m", 1)));
  const abd = put(there, "2026-01-02T00-00-00-000Z_abd2.jsonl", file(header("abd2", there), said("m", 1)));
  const renamed = put(there, "renamed.jsonl", file(header("zz9", there), said("m", 1)));
  const local = join(here, "local.jsonl");
  writeFileSync(local, file(header("l", here)));
  const found = [
    "abc",
    "ABC1",
    "abd",
    "2026-01-02",
    "2026-01-01T00-00-00-000Z_ABC1.jsonl",
    "zz",
    "renamed",
    "local.jsonl",
    "./local.jsonl",
    abd,
  ].map((asked) => findSession(asked, here));
  assert.deepEqual(found, [abc, abc, abd, abd, abc, renamed, renamed, local, local, abd]);
});

test("[D2] a local match goes first, an exact one before prefixes; what is unclear names the candidates", async () => {
  const [here, there] = [project("here"), project("there")];
  const one = put(here, "t_ab.jsonl", file(header("ab", here)));
  const two = put(here, "t_abc.jsonl", file(header("abc", here)));
  put(there, "t_abcd.jsonl", file(header("abcd", there)));
  assert.deepEqual([findSession("ab", here), findSession("abc", here)], [one, two]);
  assert.throws(() => findSession("a", here), {
    name: "SessionFileError",
    code: "ambiguous",
    message: `"a" matches 2 sessions; give more of the id or one of these paths:\n${one}\n${two}`,
  });
  assert.throws(() => findSession("nope", here), {
    code: "not-found",
    message:
      'No session matches "nope"; bough -r lists the sessions of this folder, and with Tab those of all folders.',
  });
  assert.throws(() => findSession("", here), { code: "not-found" });
  const missing = join(here, "nope", "x.jsonl");
  assert.throws(() => findSession("nope/x.jsonl", here), {
    code: "missing",
    message: `There is no session file at ${missing}; check the path.`,
  });
});

test("[D2, B1, B2] a branch of an example is an example; a new session begun in one is a session like any other", async () => {
  const cwd = project("p");
  const path = put(cwd, "example.jsonl", file(header("e", cwd), said("m", 1)), examplesDir());
  const manager = await SessionManager.open(path);
  const branched = manager.createBranchedSession("m");
  const started = manager.newSession();
  manager.appendMessage(user("new"));
  await manager.close();
  assert.deepEqual(
    [branched, started].map((made) => dirname(made!)),
    [examplesDir(), sessionsDir(cwd)],
  );
  assert.equal((await listSessions(cwd)).length, 1);
  assert.equal((await listExamples(cwd)).length, 2);
});

test("[D2] examples are found by id too", () => {
  const path = put("/", "tour.jsonl", file(header("tour-1", "/")), examplesDir());
  assert.equal(findSession("tour", "/"), path);
});

test("[D2] a session moved by hand to another directory's folder is not continued there", async () => {
  const [one, two] = [project("one"), project("two")];
  const path = await talk(SessionManager.create(one), "hello");
  mkdirSync(sessionsDir(two), { recursive: true });
  renameSync(path, join(sessionsDir(two), basename(path)));
  assert.deepEqual((await SessionManager.continueRecent(two)).hasFile(), false);
  assert.deepEqual(
    (await listAllSessions()).map((session) => session.cwd),
    [one],
  );
});

test("[W6] dB71 everything bough makes is for the user alone, whatever the umask", async () => {
  for (const umask of [0, 0o022, 0o277]) {
    const before = process.umask(umask);
    try {
      const cwd = project(`umask-${umask}`);
      chmodSync(cwd, 0o700);
      const session = SessionManager.create(cwd);
      const first = session.appendMessage(user("one"));
      await session.flush();
      const fork = await SessionManager.forkFrom(session.getSessionFile()!, cwd);
      const branch = session.exportBranch(first);
      const v1 = put(
        cwd,
        "old.jsonl",
        '{"type":"session","id":"old","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/w"}\n{"type":"custom","customType":"x"}\n',
      );
      chmodSync(v1, 0o644);
      await (await SessionManager.open(v1)).close();
      const files = [session.getSessionFile()!, fork.getSessionFile()!, branch, v1, `${v1}.v1.bak`];
      assert.deepEqual(
        files.map((path) => (statSync(path).mode & 0o777).toString(8)),
        files.map(() => "600"),
      );
      const folders = [sessionsDir(cwd), dirname(sessionsDir(cwd)), stateDir()];
      assert.deepEqual(
        folders.map((path) => (statSync(path).mode & 0o777).toString(8)),
        folders.map(() => "700"),
      );
      assert.equal(contentOf(branch).length > 0, true);
    } finally {
      process.umask(before);
    }
  }
});
