import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { repairSession } from "../../src/session/repair.ts";
import { SessionInUse } from "../../src/session/session-errors.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { trackSession } from "../support/laws.ts";
import { contentOf, temporaryFile, temporaryFolder, user } from "../support/session-files.ts";
import { HEADER, codes, file, message } from "../support/session-lines.ts";

const OWNER = fileURLToPath(new URL("../support/session-owner.ts", import.meta.url));
/** What the kernel may take to end a process and drop its locks; milliseconds. */
const KERNEL = 100;

/** A program that has the session at `place` open, and the session's file. */
async function startOwner(t: TestContext, place: string): Promise<{ owner: ChildProcess; path: string }> {
  const owner = spawn(process.execPath, [OWNER, place], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => owner.kill("SIGKILL"));
  const lines = createInterface({ input: owner.stdout! })[Symbol.asyncIterator]();
  return { owner, path: (await lines.next()).value as string };
}

function stateFolder(t: TestContext): string {
  const before = process.env["BOUGH_DIR"];
  const state = join(temporaryFolder(), "state");
  process.env["BOUGH_DIR"] = state;
  t.after(() => {
    process.env["BOUGH_DIR"] = before;
  });
  return state;
}

const lockName = (id: string): string => createHash("sha256").update(id).digest("hex");
const idOf = (path: string): string => (JSON.parse(contentOf(path).split("\n")[0]!) as { id: string }).id;

test("[W5] dB31 a session that another program writes is refused with who that is, and read without a lease", async (t) => {
  const state = stateFolder(t);
  const { owner, path } = await startOwner(t, temporaryFolder());
  const before = contentOf(path);
  const refusal = await SessionManager.open(path).then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.ok(refusal instanceof SessionInUse);
  const { code, pid, host, since, message: text } = refusal;
  assert.deepEqual([code, pid, host, refusal.path], ["in-use", owner.pid, hostname(), path]);
  assert.match(since!, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  const who = `(process ${owner.pid} on ${hostname()}, since ${since})`;
  assert.equal(text, `${path} is open in another bough ${who}; close it there first.`);

  const reader = trackSession(t, await SessionManager.open(path, { readOnly: true }));
  assert.deepEqual([reader.getEntries().length, contentOf(path)], [1, before]);
  const sidecar = join(state, "locks", `${lockName(idOf(path))}.json`);
  const { dev, ino } = statSync(path);
  const said = JSON.parse(readFileSync(sidecar, "utf8")) as Record<string, unknown>;
  assert.deepEqual([said["pid"], said["path"]], [owner.pid, path]);
  // The file did not exist yet when the lease of a new session was taken.
  assert.ok(said["ino"] === undefined || (said["ino"] === ino && said["dev"] === dev));
});

test("[W5] FT14 the lease of a killed owner is free at once", async (t) => {
  stateFolder(t);
  const { owner, path } = await startOwner(t, temporaryFolder());
  await assert.rejects(SessionManager.open(path), SessionInUse);
  owner.kill("SIGKILL");
  await once(owner, "exit");
  const start = performance.now();
  let session: SessionManager | undefined;
  while (session === undefined && performance.now() - start < KERNEL)
    session = await SessionManager.open(path).catch(() => undefined);
  assert.ok(session !== undefined, `the lease is still held ${KERNEL} ms after its owner is gone`);
  trackSession(t, session).appendMessage(user("the next owner's"));
  assert.equal(session.getEntries().length, 2);
});

test("[W5] FT14 a stopped owner stays the owner", async (t) => {
  stateFolder(t);
  const { owner, path } = await startOwner(t, temporaryFolder());
  owner.kill("SIGSTOP");
  for (let attempt = 0; attempt < 10; attempt++) {
    await assert.rejects(SessionManager.open(path), { name: "SessionInUse", pid: owner.pid });
    await new Promise((done) => setTimeout(done, 20));
  }
  owner.kill("SIGCONT");
});

test("[W5, W6] FT14 whatever path leads to a session, it has one lock; locks are the user's alone", async (t) => {
  const state = stateFolder(t);
  const folder = temporaryFolder();
  const { path } = await startOwner(t, folder);
  const link = join(temporaryFolder(), "link");
  symlinkSync(folder, link);
  await assert.rejects(SessionManager.open(path.replace(folder, link)), SessionInUse);
  const copy = temporaryFile(contentOf(path));
  await assert.rejects(SessionManager.open(copy), SessionInUse);
  const locks = join(state, "locks");
  const name = lockName(idOf(path));
  assert.deepEqual(readdirSync(locks).sort(), [`${name}.json`, `${name}.lock`]);
  assert.deepEqual(
    [locks, join(locks, `${name}.json`), join(locks, `${name}.lock`)].map((at) => statSync(at).mode & 0o777),
    [0o700, 0o600, 0o600],
  );
});

test("[W5] a new session is locked by its first write, and let go when it is closed or left", async (t) => {
  const state = stateFolder(t);
  const session = trackSession(t, SessionManager.create("/w", temporaryFolder()));
  session.setSessionName("not yet");
  assert.deepEqual(readdirSync(temporaryParent(state)), []);
  const entry = session.appendMessage(user("a"));
  const first = session.getSessionFile()!;
  await assert.rejects(SessionManager.open(first), { name: "SessionInUse", pid: process.pid });
  const second = session.createBranchedSession(entry)!;
  await assert.rejects(SessionManager.open(second), SessionInUse);
  const again = await SessionManager.open(first);
  await again.close();
  await session.setSessionFile(second);
  await session.setSessionFile(first);
  await assert.rejects(SessionManager.open(first), SessionInUse);
  await (await SessionManager.open(second)).close();
  assert.deepEqual(
    readdirSync(join(state, "locks")).filter((name) => name.endsWith(".json")),
    [`${lockName(session.getSessionId())}.json`],
  );
});

test("[W5, F7] an open that fails leaves no lock, and the session it was asked from stays locked", async (t) => {
  stateFolder(t);
  const path = temporaryFile(file(HEADER, message("a1", null)));
  const session = trackSession(t, await SessionManager.open(path));
  const busy = temporaryFile(file(HEADER.replace("s1", "s2"), message("a1", null)));
  const other = trackSession(t, await SessionManager.open(busy));
  await assert.rejects(session.setSessionFile(busy), SessionInUse);
  await assert.rejects(session.setSessionFile(`${path}.missing`), { code: "missing" });
  assert.equal(session.getSessionFile(), path);
  await assert.rejects(SessionManager.open(path), SessionInUse);
  await other.close();
  await (await SessionManager.open(busy)).close();
  const newer = temporaryFile(file(HEADER.replace('"version":3,"id":"s1"', '"version":9,"id":"s3"')));
  await SessionManager.open(newer);
  await SessionManager.open(newer);
});

test("[W5, M2] a file is brought up to date under the lease: two programs cannot both do it", async (t) => {
  stateFolder(t);
  const old = file(HEADER.replace('"version":3', '"version":2'), message("a1", null));
  const path = temporaryFile(old);
  const holder = trackSession(t, await SessionManager.open(temporaryFile(file(HEADER, message("a1", null)))));
  await assert.rejects(SessionManager.open(path), SessionInUse);
  assert.equal(contentOf(path), old);
  await holder.close();
  const session = trackSession(t, await SessionManager.open(path));
  await assert.rejects(SessionManager.open(path), SessionInUse);
  assert.equal(session.getHeader().version, 3);
});

test("[W5, D1] a session that is open is not repaired; one that needs no repair is only read, and a repair leaves no lease", async (t) => {
  stateFolder(t);
  const sound = file(HEADER, message("a1", null));
  const path = temporaryFile(`${sound}{oops\n`);
  const holder = await SessionManager.open(path);
  assert.throws(() => repairSession(path), SessionInUse);
  assert.deepEqual([contentOf(path), readdirSync(dirname(path))], [`${sound}{oops\n`, ["session.jsonl"]]);
  assert.equal(repairSession(temporaryFile(sound)).repaired, false);
  await holder.close();
  assert.equal(repairSession(path).repaired, true);
  trackSession(t, await SessionManager.open(path));
});

test("[W5] without a folder for locks a session is used all the same, and says so", async (t) => {
  const state = stateFolder(t);
  mkdirSync(state);
  writeFileSync(join(state, "locks"), "in the way");
  const path = temporaryFile(file(HEADER, message("a1", null)));
  const session = trackSession(t, await SessionManager.open(path));
  session.appendMessage(user("a2"));
  assert.deepEqual(codes(session.getProblems()), ["no-lease:0"]);
  assert.match(session.getProblems()[0]!.text, /^No lock could be made in .*locks: .*; do not open|so do not open it/);
  chmodSync(state, 0o700);
});

test("[W5] nothing is printed by taking a lease", async (t) => {
  stateFolder(t);
  const owner = spawn(process.execPath, [OWNER, temporaryFolder()], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  owner.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const [code] = (await once(owner, "close")) as [number];
  assert.deepEqual([code, said], [0, ""]);
});

/** The folder of the locks, which may not exist yet. */
function temporaryParent(state: string): string {
  mkdirSync(join(state, "locks"), { recursive: true });
  return join(state, "locks");
}
