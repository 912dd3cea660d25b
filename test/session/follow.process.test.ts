import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs, { appendFileSync, readFileSync, renameSync, rmSync, truncateSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { FollowNews } from "../../src/session/follower.ts";
import { SessionInUse } from "../../src/session/session-errors.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { trackSession } from "../support/laws.ts";
import { contentOf, temporaryFile, temporaryFolder, user } from "../support/session-files.ts";
import { HEADER, chain, codes, file, leafRecord, line, message } from "../support/session-lines.ts";

const OWNER = fileURLToPath(new URL("../support/session-owner.ts", import.meta.url));

/** A session that follows a file, and what it was told; `until` waits for the next news that makes `done` true. */
async function follower(t: TestContext, path: string) {
  const session = trackSession(t, await SessionManager.open(path, { readOnly: true }), { followed: true });
  const news: FollowNews[] = [];
  let told = (): void => undefined;
  session.follow((item) => {
    news.push(item);
    told();
  });
  const until = async (done: () => boolean): Promise<void> => {
    while (!done()) await new Promise<void>((resolve) => (told = resolve));
  };
  return { session, news, until };
}

const idsOf = (session: SessionManager): string[] => session.getEntries().map(({ id }) => id);

test("[W5] dB31 a follower sees each entry of another program, with its own leaf where the writer's is", async (t) => {
  const owner = spawn(process.execPath, [OWNER, temporaryFolder()], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => owner.kill("SIGKILL"));
  const lines = createInterface({ input: owner.stdout })[Symbol.asyncIterator]();
  const path = (await lines.next()).value as string;
  const { session, until } = await follower(t, path);
  const delays: number[] = [];
  for (let n = 0; n < 20; n++) {
    owner.stdin.write(`message ${n}\n`);
    const id = (await lines.next()).value as string;
    const written = performance.now();
    await until(() => session.getEntry(id) !== undefined);
    delays.push(performance.now() - written);
    assert.equal(session.getLeafId(), id);
  }
  t.diagnostic(`entry visible after at most ${Math.max(...delays).toFixed(1)} ms`);
  owner.kill("SIGKILL");
  await once(owner, "exit");
  await session.setSessionFile(path);
  const mine = session.appendMessage(user("taken over"));
  assert.deepEqual([session.isReadOnly(), session.getBranch().length], [false, 22]);
  await assert.rejects(SessionManager.open(path), SessionInUse);
  await session.setSessionFile(path, { readOnly: true });
  assert.deepEqual([session.isReadOnly(), session.getLeafId()], [true, mine]);
  await (await SessionManager.open(path)).close();
});

test("[W5, L2] what a follower has is what a reader of the file has: labels, moves, damage, long lines, cut lines", async (t) => {
  const path = temporaryFile(`${file(HEADER, ...chain(null, "a1", "a2"))}{"type":"message","id":"a3",`);
  const { session, until } = await follower(t, path);
  appendFileSync(path, `${message("a3", "a2").slice('{"type":"message","id":"a3",'.length)}\n`);
  await until(() => session.getEntry("a3") !== undefined);
  const long = line("custom", "big", "a3", { customType: "x", data: "y".repeat(3_000_000) });
  appendFileSync(path, long.slice(0, 2_000_000));
  await new Promise((done) => setTimeout(done, 100));
  assert.deepEqual(idsOf(session), ["a1", "a2", "a3"]);
  appendFileSync(path, `${long.slice(2_000_000)}\n{damaged\n`);
  appendFileSync(path, file(line("label", "l1", "big", { targetId: "a1", label: "first" }), leafRecord("f1", "a1")));
  await until(() => session.getLeafId() === "a1");
  appendFileSync(path, file(message("b1", "f1")));
  await until(() => session.getEntry("b1") !== undefined);
  const again = trackSession(t, await SessionManager.open(path, { readOnly: true }));
  assert.deepEqual([session.getLeafId(), session.getLabel("a1")], ["b1", "first"]);
  assert.deepEqual([idsOf(session), session.getTree()], [idsOf(again), again.getTree()]);
  assert.ok(codes(session.getProblems()).includes("bad-line:6"));
});

for (const [how, meddle] of [
  ["removed", (path: string) => rmSync(path)],
  ["replaced", (path: string) => renameSync(temporaryFile(readFileSync(path)), path)],
  ["shrunk", (path: string) => truncateSync(path, 10)],
] as const)
  test(`[W5, W4] a follower whose file is ${how} says so once and keeps what it has`, async (t) => {
    const path = temporaryFile(file(HEADER, message("a1", null)));
    const session = await SessionManager.open(path, { readOnly: true });
    t.after(() => session.close());
    const news: FollowNews[] = [];
    const lost = new Promise<void>((resolve) => {
      session.follow((item) => {
        news.push(item);
        resolve();
      });
    });
    meddle(path);
    await lost;
    await new Promise((done) => setTimeout(done, 100));
    assert.deepEqual(
      news.map((item) => (item.type === "lost" ? item.error.code : item.type)),
      ["file-changed"],
    );
    assert.deepEqual(idsOf(session), ["a1"]);
  });

test("[W5, W4] a follower that may not look at its file for a while goes on when it may again", async (t) => {
  const path = temporaryFile(file(HEADER, message("a1", null)));
  const { session, news, until } = await follower(t, path);
  const { statSync } = fs;
  const { promise: refused, resolve } = Promise.withResolvers<void>();
  let refusals = 0;
  Object.assign(fs, {
    statSync: (at: fs.PathLike, options: fs.StatSyncOptions): unknown => {
      if (basename(String(at)) !== basename(path)) return statSync(at, options);
      if (++refusals === 3) resolve();
      throw Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
    },
  });
  syncBuiltinESMExports();
  await refused;
  Object.assign(fs, { statSync });
  syncBuiltinESMExports();
  appendFileSync(path, file(message("a2", "a1")));
  await until(() => session.getEntry("a2") !== undefined);
  assert.deepEqual(
    news.map(({ type }) => type),
    ["entries"],
  );
});

test("[W5] following ends when it is told to and when the session is left; a writer follows nobody", async (t) => {
  const path = temporaryFile(file(HEADER, message("a1", null)));
  const session = await SessionManager.open(path, { readOnly: true });
  t.after(() => session.close());
  const news: FollowNews[] = [];
  session.follow((item) => news.push(item))();
  appendFileSync(path, file(message("a2", "a1")));
  await new Promise((done) => setTimeout(done, 120));
  assert.deepEqual([news, idsOf(session)], [[], ["a1"]]);
  const writer = trackSession(t, await SessionManager.open(temporaryFile(contentOf(path).replace("s1", "s2"))));
  assert.throws(() => writer.follow(() => undefined), { message: "A session that is written here follows nobody" });
});

test("[W5, T7] what is followed can be branched into a session of one's own", async (t) => {
  const path = temporaryFile(file(HEADER, ...chain(null, "a1", "a2")));
  const { session, news } = await follower(t, path);
  const before = contentOf(path);
  const copy = session.exportBranch("a1");
  await session.setSessionFile(copy);
  session.appendMessage(user("mine"));
  appendFileSync(path, file(message("a3", "a2")));
  await new Promise((done) => setTimeout(done, 120));
  assert.deepEqual([session.getSessionFile(), session.isReadOnly(), news], [copy, false, []]);
  assert.ok(contentOf(path).startsWith(before));
});
