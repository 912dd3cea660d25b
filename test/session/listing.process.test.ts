/** Tests of src/session/listing.ts, list-cache.ts and glances at files: what a list reads, and what it may say. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename, dirname, join } from "node:path";
import { beforeEach, test } from "node:test";
import type { TestContext } from "node:test";
import { listSessions } from "../../src/session/catalog.ts";
import type { SessionInfo } from "../../src/session/catalog.ts";
import { sessionsDir, stateDir } from "../../src/session/locations.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { glance, summarise } from "../../src/session/session-summary.ts";
import { SeededRandom, generateSession } from "../support/generate.ts";
import { contentOf, temporaryFile, temporaryFolder } from "../support/session-files.ts";
import { at, file, line } from "../support/session-lines.ts";

let cwd: string;

beforeEach(() => {
  process.env["BOUGH_DIR"] = join(temporaryFolder(), "state");
  cwd = temporaryFolder();
});

function put(name: string, content: string): string {
  const path = join(sessionsDir(cwd), name);
  fs.mkdirSync(dirname(path), { recursive: true });
  fs.writeFileSync(path, content);
  return path;
}

const header = (id: string, fields: object = {}): string =>
  JSON.stringify({ type: "session", version: 3, id, timestamp: at(0), cwd, ...fields });

const said = (seconds: number, text = "x", role = "user"): string =>
  line("message", `m${seconds}`, null, { timestamp: at(seconds), message: { role, content: text } });

/** Messages of about 1 KB, a second apart, from second 1 on. */
const talk = (count: number, from = 1): string[] =>
  Array.from({ length: count }, (_, n) => said(from + n, `${n} ${"x".repeat(900)}`));

const list = (complete = false): Promise<SessionInfo[]> => listSessions(cwd, undefined, { complete });

/** Bytes of session files read, and how often such a file was opened, until the test is over. */
function countReads(t: TestContext): { bytes: number; opens: number } {
  const counted = { bytes: 0, opens: 0 };
  const { openSync, readSync } = fs;
  const files = new Set<number>();
  fs.openSync = ((path: fs.PathLike, ...rest: [fs.OpenMode]) => {
    const fd = openSync(path, ...rest);
    files.delete(fd);
    if (!String(path).endsWith(".jsonl")) return fd;
    files.add(fd);
    counted.opens++;
    return fd;
  }) as typeof openSync;
  fs.readSync = ((fd: number, ...rest: [NodeJS.ArrayBufferView]) => {
    const count = readSync(fd, ...rest);
    if (files.has(fd)) counted.bytes += count;
    return count;
  }) as typeof readSync;
  syncBuiltinESMExports();
  t.after(() => {
    Object.assign(fs, { openSync, readSync });
    syncBuiltinESMExports();
  });
  return counted;
}

test("[D2, Y8] of a long file a list reads the beginning and the end, however long it is, and nothing when it knows it", async (t) => {
  const reads = countReads(t);
  for (const messages of [300, 3000]) {
    put(
      "long.jsonl",
      file(header("long"), said(0, "first"), ...talk(messages), line("session_info", "n", null, { name: "N" })),
    );
    Object.assign(reads, { bytes: 0, opens: 0 });
    const [first] = await list();
    assert.deepEqual([reads.bytes, reads.opens], [8192, 1], `${messages} messages`);
    const [again] = await list();
    assert.deepEqual([reads.bytes, reads.opens], [8192, 1]);
    assert.deepEqual(again, first);
    await list(true);
    // The last byte is looked at on opening.
    assert.equal(reads.bytes - 8192, first!.size + 1);
    const [complete] = await list();
    assert.equal(reads.bytes - 8192, first!.size + 1);
    assert.deepEqual(complete, { ...first, name: "N", messageCount: messages + 1, isComplete: true });
    assert.deepEqual(
      [first!.name, first!.messageCount, first!.firstMessage, first!.modified.toISOString(), first!.isComplete],
      [undefined, undefined, "first", at(messages), false],
    );
  }
});

test("[D2] a list tells of each session at once, and again when all of it has been read, the last used first", async () => {
  put("old.jsonl", file(header("old"), ...talk(100)));
  put("new.jsonl", file(header("new"), ...talk(100, 500)));
  put("small.jsonl", file(header("small"), said(900)));
  const told: string[] = [];
  await listSessions(cwd, undefined, {
    complete: true,
    found: ({ id, messageCount }) => told.push(`${id} ${messageCount}`),
  });
  assert.deepEqual(told.slice(0, 3).toSorted(), ["new undefined", "old undefined", "small 1"]);
  assert.deepEqual(told.slice(3), ["new 100", "old 100"]);
});

/** What a glance may leave open, and then has to say so. */
function checkGlance(path: string, whole: SessionInfo | Awaited<ReturnType<typeof summarise>>, what: string): boolean {
  const seen = glance(path, fs.statSync(path).size);
  if (seen === undefined) return false;
  if (seen.isComplete) assert.deepEqual(seen, whole, what);
  else {
    const { name: _name, messageCount: _count, isComplete: _complete, firstMessage, ...known } = seen;
    assert.deepEqual([seen.name, seen.messageCount], [undefined, undefined], what);
    assert.ok(firstMessage === "" || firstMessage === whole.firstMessage, what);
    const { name: _n, messageCount: _m, isComplete: _c, firstMessage: _f, ...all } = whole as typeof seen;
    assert.deepEqual(known, all, what);
  }
  return true;
}

test("[D2] whatever a glance says of made-up sessions is what reading them says, wherever they end", async () => {
  const path = temporaryFile("");
  let glances = 0;
  for (let seed = 1; seed <= 60; seed++) {
    const random = new SeededRandom(seed);
    const shape = random.pick(["linear", "bushy", "compact"] as const);
    const content = Buffer.from(
      file(...generateSession({ shape, entries: 5 + random.below(300), seed, textLength: 300 })),
    );
    fs.writeFileSync(path, content.subarray(0, random.chance(50) ? content.length : random.below(content.length)));
    if (checkGlance(path, await summarise(path), `seed ${seed}`)) glances++;
  }
  assert.ok(glances > 50);
});

test("[D2] dB15 long lines at either end are read over, and what a glance cannot see is not told", async () => {
  const long = "x".repeat(20_000);
  const cases: [what: string, lines: string[], seen: boolean][] = [
    ["a long first message", [header("1"), said(1, long), ...talk(50, 2)], true],
    ["a long last line", [header("1"), ...talk(50), said(90, long, "assistant")], true],
    ["a huge last line", [header("1"), ...talk(50), said(90, long.repeat(20), "assistant")], false],
    ["a long header", [header("1", { extra: long }), ...talk(50)], true],
    ["a huge header", [header("1", { extra: long.repeat(20) }), ...talk(50)], false],
    ["a huge first message", [header("1"), said(1, long.repeat(20)), ...talk(50, 2)], true],
    ["no message of the user's", [header("1"), ...talk(400).map((each) => each.replace("user", "assistant"))], true],
    [
      "many other kinds at the end",
      [header("1"), ...talk(50), ...talk(90).map((each) => each.replace("message", "custom"))],
      false,
    ],
    ["no session", ["{}", ...talk(50)], false],
  ];
  for (const [what, lines, seen] of cases) {
    const path = temporaryFile(file(...lines));
    assert.equal(checkGlance(path, await summarise(path), what), seen, what);
  }
});

const cacheFiles = (): string[] => {
  const folder = join(stateDir(), "cache", "lists");
  return fs.existsSync(folder) ? fs.readdirSync(folder).map((name) => join(folder, name)) : [];
};

test("[D2, W6] the cache is for the user alone, and holds the files that there are", async () => {
  put("a.jsonl", file(header("a"), said(1, "a")));
  const b = put("b.jsonl", file(header("b"), said(2, "b")));
  await list();
  const [cache, ...others] = cacheFiles() as [string];
  assert.deepEqual(
    [others, fs.statSync(cache).mode & 0o777, fs.statSync(dirname(cache)).mode & 0o777],
    [[], 0o600, 0o700],
  );
  assert.match(contentOf(cache), /b\.jsonl/);
  fs.rmSync(b);
  assert.deepEqual(
    (await list()).map(({ id }) => id),
    ["a"],
  );
  assert.doesNotMatch(contentOf(cache), /b\.jsonl/);
  assert.deepEqual(cacheFiles(), [cache]);
});

test("[D2, Y8] of many files each is known again, by this program and by the next one", async (t) => {
  for (let n = 0; n < 150; n++) put(`${n}.jsonl`, file(header(`s${n}`), said(n, `prompt ${n} “${n}”`)));
  const first = await list();
  assert.deepEqual([first.length, first[0]!.firstMessage], [150, "prompt 149 “149”"]);
  const reads = countReads(t);
  assert.deepEqual(await list(), first);
  // The cache of one folder is held in memory.
  await listSessions(cwd, temporaryFolder());
  assert.deepEqual(await list(), first);
  assert.equal(reads.opens, 0);
});

test("[D2] a file that changed in any way is read again: longer, replaced, or of the same length and time", async () => {
  const path = put("a.jsonl", file(header("a"), said(1, "one")));
  const firsts = async (): Promise<unknown[]> =>
    (await list()).map(({ firstMessage, messageCount }) => [firstMessage, messageCount]);
  assert.deepEqual(await firsts(), [["one", 1]]);
  fs.appendFileSync(path, file(said(2)));
  assert.deepEqual(await firsts(), [["one", 2]]);
  const { atime, mtime } = fs.statSync(path);
  fs.writeFileSync(path, file(header("a"), said(1, "two"), said(2)));
  fs.utimesSync(path, atime, mtime);
  assert.deepEqual(await firsts(), [["two", 2]]);
  fs.writeFileSync(`${path}.new`, file(header("a"), said(1, "six"), said(2)));
  fs.utimesSync(`${path}.new`, atime, mtime);
  fs.renameSync(`${path}.new`, path);
  assert.deepEqual(await firsts(), [["six", 2]]);
});

test("[D2] a cache that is broken, foreign or cannot be written changes nothing in a list", async (t) => {
  put("a.jsonl", file(header("a"), ...talk(30)));
  put("b.jsonl", file(header("b"), said(900)));
  const expected = await list(true);
  const [path] = cacheFiles() as [string];
  const content = contentOf(path);
  const lies = content.replace('"messageCount":30', '"messageCount":31');
  assert.notEqual(lies, content);
  const reads = countReads(t);
  const broken = [
    "",
    "\0".repeat(500),
    content.slice(0, -40),
    lies,
    content.replace("list 1", "list 0"),
    "{}\n[]",
    "\n",
  ];
  for (const text of broken) {
    fs.writeFileSync(path, text);
    assert.deepEqual(await list(true), expected);
    reads.opens = 0;
    assert.deepEqual(await list(true), expected);
    assert.equal(reads.opens, 0, "it was made again");
  }
  const other = put("../elsewhere/c.jsonl", file(header("c"), said(1)));
  fs.copyFileSync(path, join(dirname(path), "of-another-folder.json"));
  assert.deepEqual(names(await listSessions(cwd, dirname(other))), ["c"]);
  fs.rmSync(dirname(path), { recursive: true });
  fs.writeFileSync(dirname(path), "in the way");
  assert.deepEqual(await list(true), expected);
});

const names = (sessions: readonly SessionInfo[]): string[] => sessions.map(({ path }) => basename(path, ".jsonl"));

test("[D2] dB69 several programs that list one folder while it changes leave no broken cache and no wrong row", async (t) => {
  for (let n = 0; n < 20; n++) put(`${n}.jsonl`, file(header(`s${n}`), ...talk(1 + n)));
  const program = `
    const { listSessions } = await import(${JSON.stringify(new URL("../../src/session/catalog.ts", import.meta.url).href)});
    for (let n = 0; n < 40; n++) await listSessions(${JSON.stringify(cwd)}, undefined, { complete: n % 2 === 0 });`;
  const children = [1, 2, 3].map(() =>
    spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "ignore", "inherit"] }),
  );
  const ends = children.map((child) => once(child, "exit"));
  t.after(() => children.forEach((child) => child.kill("SIGKILL")));
  let running = true;
  void Promise.all(ends).then(() => (running = false));
  for (let round = 0; running; round++) {
    const path = put(`${round % 20}.jsonl`, file(header(`s${round % 20}`), ...talk(1 + (round % 30))));
    const listed = (await list(true)).find((session) => session.path === path);
    assert.equal(listed?.messageCount, 1 + (round % 30));
    await new Promise((done) => setTimeout(done, 3));
  }
  assert.deepEqual(
    (await Promise.all(ends)).map(([code]) => code as number),
    [0, 0, 0],
  );
  assert.deepEqual(
    cacheFiles().filter((path) => path.endsWith(".tmp")),
    [],
  );
  const counts = new Map((await list(true)).map(({ path, messageCount }) => [path, messageCount]));
  for (const [path, count] of counts) assert.equal(count, contentOf(path).split("\n").length - 2);
});

test("[D2] continuing finds the newest message in the middle of a file, and reads no file whole that cannot hold it", async (t) => {
  const middle = put("middle.jsonl", file(header("middle"), ...talk(30), said(5000, "newest"), ...talk(30, 100)));
  put("end.jsonl", file(header("end"), ...talk(60, 1000)));
  const old = put("old.jsonl", file(header("old"), ...talk(60, 200)));
  fs.utimesSync(old, new Date(at(300)), new Date(at(300)));
  const reads = countReads(t);
  const continued = await SessionManager.continueRecent(cwd);
  t.after(() => continued.close());
  assert.equal(continued.getSessionFile(), middle);
  const counts = new Map((await list()).map(({ id, messageCount }) => [id, messageCount]));
  assert.equal(counts.get("old"), undefined);
  await continued.close();

  // As programs leave them: no file is older than its last message.
  for (const [name, seconds] of [
    ["middle", 5000],
    ["end", 6000],
  ] as const) {
    const path = put(`${name}.jsonl`, file(header(name), ...talk(60, seconds)));
    fs.utimesSync(path, new Date(at(seconds + 60)), new Date(at(seconds + 60)));
  }
  reads.bytes = 0;
  const again = await SessionManager.continueRecent(cwd);
  const opening = fs.statSync(again.getSessionFile()!).size;
  assert.equal(basename(again.getSessionFile()!), "end.jsonl");
  // Two glances, and the session itself: for its header and for all of it, each time with a look at the last byte.
  assert.equal(reads.bytes, 2 * 8192 + 2 * opening + 3);
  await again.close();
});

test("[D2] a large session of a subagent is not continued; one that only says so late is known when it is read", async (t) => {
  const init = line("session_init", "i", null, { systemPrompt: "", task: "t", tools: [] });
  put("early.jsonl", file(header("early"), init, ...talk(60, 900)));
  put("mine.jsonl", file(header("mine"), ...talk(60, 100)));
  const one = await SessionManager.continueRecent(cwd);
  await one.close();
  put("late.jsonl", file(header("late"), ...talk(30, 500), init, ...talk(30, 600)));
  await list(true);
  const two = await SessionManager.continueRecent(cwd);
  t.after(() => two.close());
  assert.deepEqual(
    [one, two].map((session) => basename(session.getSessionFile()!)),
    ["mine.jsonl", "mine.jsonl"],
  );
});

test("[D2, F7] dA03 a newer file that cannot be continued is named, with the reason and what to do", async () => {
  const good = put("good.jsonl", file(header("good"), said(10)));
  const bad: [name: string, content: string, why: string, advice: string][] = [
    ["empty.jsonl", "", "it is empty", "bough doctor PATH tells more"],
    ["nul.jsonl", "\0\0\0\n", "it is empty", "bough doctor PATH tells more"],
    [
      "damaged.jsonl",
      "no session\n",
      "it cannot be read (line 1: it is not a session file: its first line is not JSON)",
      "bough doctor PATH tells more",
    ],
    [
      "newer.jsonl",
      file(header("newer", { version: 4 }), said(20)),
      "it was made by a newer version of bough",
      "update bough to continue it",
    ],
  ];
  const told = async (): Promise<unknown[]> => {
    const session = await SessionManager.continueRecent(cwd);
    await session.close();
    return [session.getSessionFile() === good, session.getProblems()];
  };
  const problem = (path: string, why: string, advice: string, instead: string): object => ({
    code: "passed-over",
    line: 0,
    text: `${path} is the newest session here, but ${why}, so ${instead}; ${advice.replace("PATH", path)}.`,
  });
  assert.deepEqual(await told(), [true, []]);
  for (const [name, content, why, advice] of bad) {
    const path = put(name, content);
    assert.deepEqual(await told(), [true, [problem(path, why, advice, "an older one is continued")]]);
    fs.rmSync(good);
    assert.deepEqual(await told(), [false, [problem(path, why, advice, "this is a new session")]]);
    put("good.jsonl", file(header("good"), said(10)));
    fs.utimesSync(path, new Date(at(9)), new Date(at(9)));
    // The time of a newer version's messages can be read.
    if (name === "newer.jsonl") put("good.jsonl", file(header("good"), said(30)));
    assert.deepEqual(await told(), [true, []], "one that is older is not told of");
    fs.rmSync(path);
  }
});
