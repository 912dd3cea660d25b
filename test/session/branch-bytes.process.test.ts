/** What making a session out of a branch reads and writes, counted. Stands between the program and node:fs. */
import assert from "node:assert/strict";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { SessionManager } from "../../src/session/session-manager.ts";
import { writeSessionFile } from "../support/generate.ts";
import { checkLaws } from "../support/laws.ts";
import { temporaryFile, temporaryFolder } from "../support/session-files.ts";
import { HEADER, chain, file, message } from "../support/session-lines.ts";

function countBytes(t: TestContext): { read: number; written: number } {
  const counted = { read: 0, written: 0 };
  const { readSync, writeSync } = fs;
  fs.readSync = ((...args: Parameters<typeof readSync>) => {
    const count = readSync(...args);
    counted.read += count;
    return count;
  }) as typeof readSync;
  fs.writeSync = ((...args: Parameters<typeof writeSync>) => {
    const count = writeSync(...args);
    counted.written += count;
    return count;
  }) as typeof writeSync;
  syncBuiltinESMExports();
  t.after(() => {
    Object.assign(fs, { readSync, writeSync });
    syncBuiltinESMExports();
  });
  return counted;
}

test("[Y7, T7] a branch reads the bytes of its path once and writes its own once, at any size, and reads nothing of what it wrote", async (t) => {
  const bytes = countBytes(t);
  for (const entries of [400, 4000]) {
    const path = join(temporaryFolder(), "session.jsonl");
    const size = writeSessionFile(path, { shape: "linear", entries });
    const session = await SessionManager.open(path);
    t.after(() => session.close());
    const leaf = session.getLeafId() as string;
    session.branch(leaf);
    Object.assign(bytes, { read: 0, written: 0 });
    const copy = session.createBranchedSession(leaf) as string;
    const { read, written } = { ...bytes };
    // Below: the owner's note of the lease, which is a small file of its own, and the new file's last byte.
    const note = 400;
    assert.ok(written - fs.statSync(copy).size < note, `${written} bytes written`);
    assert.ok(read <= size, `${read} of ${size} bytes read`);
    await checkLaws(session);
  }
});

test("[D2, Y7] a fork for another directory reads the source twice, writes its own once, and reads nothing of what it wrote", async (t) => {
  const bytes = countBytes(t);
  const path = join(temporaryFolder(), "session.jsonl");
  const size = writeSessionFile(path, { shape: "bushy", entries: 20_000 });
  Object.assign(bytes, { read: 0, written: 0 });
  const fork = await SessionManager.forkFrom(path, "/elsewhere", temporaryFolder());
  t.after(() => fork.close());
  const { read, written } = { ...bytes };
  const chunk = 1 << 20;
  assert.ok(size > 2 * chunk && read < 2 * size + chunk + 4096, `${read} bytes read of ${size}`);
  assert.ok(written - fs.statSync(fork.getSessionFile()!).size < 400, `${written} bytes written`);
  fork.appendMessage({ role: "user", content: "goes on", timestamp: 0 });
  await checkLaws(fork);
});

test("[Y7] of a path that is a small part of its session little more is read than the path", async (t) => {
  const bytes = countBytes(t);
  const filler = Array.from({ length: 3000 }, (_, n) => message(`f${n}`, "a0", { extra: "x".repeat(1000) }));
  const ids = Array.from({ length: 30 }, (_, n) => `a${n}`);
  const mine = chain(null, ...ids);
  const lines = mine.flatMap((line, n) => [line, ...filler.slice(n * 100, n * 100 + 100)]);
  const session = await SessionManager.open(temporaryFile(file(HEADER, ...lines)));
  t.after(() => session.close());
  bytes.read = 0;
  const copy = session.exportBranch("a29");
  assert.equal(bytes.read, fs.statSync(copy).size - (fs.readFileSync(copy).indexOf("\n") + 1));
});

test("[T7, T1] a session that goes on in its branch is the one that a reader of the file finds, whatever was odd in the source", async (t) => {
  const content = file(
    HEADER,
    ...chain(null, "a1", "a2"),
    `${message("a3", "a2")}${message("a4", "a3")}`,
    `\0\0${message("a5", "a4")}`,
    message("n1", "a5", { extra: "EXTRA" }).replace("EXTRA", "\0"),
    `  ${message("a6", "n1")}\r`,
    message("a7", "a6", { parentIds: '"parentId":' }),
    '{"parentId":"a7","id":"a8","type":"custom","timestamp":"never"}',
    message("a9", "a8"),
  );
  const session = await SessionManager.open(temporaryFile(content));
  t.after(() => session.close());
  const leaf = session.getLeafId() as string;
  const before = session.getBranch().map(({ id }) => id);
  session.createBranchedSession(leaf);
  assert.deepEqual(
    session.getBranch().map(({ id }) => id),
    before,
  );
  session.appendMessage({ role: "user", content: "goes on", timestamp: 0 });
  await checkLaws(session);
});
