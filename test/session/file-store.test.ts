import assert from "node:assert/strict";
import fs, {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { describeSessionStore } from "../../src/session/conformance.ts";
import { FileStore } from "../../src/session/file-store.ts";
import { MemoryStore } from "../../src/session/memory-store.ts";
import { SessionFileError } from "../../src/session/session-errors.ts";
import { setClock } from "../support/clock.ts";
import { watchDisk } from "../support/disk-faults.ts";
import { contentOf, temporaryFile, temporaryFolder } from "../support/session-files.ts";

describeSessionStore(
  "[S1] FileStore",
  {
    make: () => FileStore.create(join(temporaryFolder(), "a", "b", "session.jsonl")),
    reopen: (store) => FileStore.open(store.path!),
    reader: (store) => FileStore.open(store.path!, { readOnly: true }),
  },
  test,
);
describeSessionStore("[S1] MemoryStore", { make: () => new MemoryStore() }, test);

const withCode = (code: string) => (error: unknown) => error instanceof SessionFileError && error.code === code;

test("[W1] each append is one write of whole lines, whatever their size", (t) => {
  const disk = watchDisk(t);
  const store = FileStore.create(join(temporaryFolder(), "session.jsonl"));
  store.append("header", "first");
  store.append("second");
  store.append("x".repeat(3_000_000));
  store.close();
  assert.deepEqual(disk.writes, ["header\nfirst\n", "second\n", `${"x".repeat(3_000_000)}\n`]);
});

test("[W2] flush syncs once per batch, and not at all when nothing was written since", async (t) => {
  const disk = watchDisk(t);
  const store = FileStore.create(join(temporaryFolder(), "session.jsonl"));
  await store.flush();
  store.append("a");
  store.append("b");
  await store.flush();
  await store.flush();
  store.append("c");
  await store.flush();
  store.close();
  assert.equal(disk.syncs, 2);
});

test("[W1, W3] a write that fails in the middle of a line: the next one starts a line of its own", (t) => {
  const disk = watchDisk(t);
  const path = join(temporaryFolder(), "session.jsonl");
  const store = FileStore.create(path);
  store.append("header");
  disk.writeFault = { code: "ENOSPC", partly: 3 };
  assert.throws(
    () => store.append("second"),
    new SessionFileError(
      "write-failed",
      path,
      `Cannot write to ${path}: the disk is full (ENOSPC); the entry was not saved, so remove the cause and try again.`,
    ),
  );
  assert.throws(() => store.append("second"), withCode("write-failed"));
  assert.equal(contentOf(path), "header\nsec");
  disk.writeFault = undefined;
  store.append("second");
  store.append("third");
  store.close();
  assert.equal(contentOf(path), "header\nsec\nsecond\nthird\n");
});

test("[W1] a short write that the kernel then completes is a whole line", (t) => {
  const disk = watchDisk(t);
  const path = join(temporaryFolder(), "session.jsonl");
  const store = FileStore.create(path);
  store.append("header");
  const write = disk.write.bind(disk);
  disk.write = (original, fd, bytes, offset) =>
    offset === 0 ? original(fd, bytes, 0, 2) : write(original, fd, bytes, offset);
  store.append("second");
  store.close();
  assert.equal(contentOf(path), "header\nsecond\n");
});

test("[W3] when only the newline of a line was written, the next write is not moved", (t) => {
  const disk = watchDisk(t);
  const path = temporaryFile("header\nfrag");
  const store = FileStore.open(path);
  disk.writeFault = { code: "EIO", partly: 1 };
  assert.throws(() => store.append("second"), withCode("write-failed"));
  disk.writeFault = undefined;
  store.append("second");
  store.close();
  assert.equal(contentOf(path), "header\nfrag\nsecond\n");
});

test("[W1, F7] when the very first write fails, no file is left and the next try makes it", (t) => {
  const disk = watchDisk(t);
  const path = join(temporaryFolder(), "session.jsonl");
  const store = FileStore.create(path);
  disk.writeFault = { code: "ENOSPC", partly: 9 };
  assert.throws(() => store.append("header", "first"), withCode("write-failed"));
  assert.equal(existsSync(path), false);
  disk.writeFault = undefined;
  store.append("header", "first");
  store.close();
  assert.equal(contentOf(path), "header\nfirst\n");
});

test("[W3] a tail without newline is closed by the next write, nothing is cut off", () => {
  for (const tail of ["frag", "\0\0\0", "{"]) {
    const path = temporaryFile(`header\n${tail}`);
    const store = FileStore.open(path);
    store.append("next");
    store.append("after");
    store.close();
    assert.equal(contentOf(path), `header\n${tail}\nnext\nafter\n`);
  }
});

test("[W1] a file that is there already is not touched by the first write of a new session", () => {
  const path = temporaryFile("someone else's\n");
  const store = FileStore.create(path);
  assert.throws(
    () => store.append("header"),
    new SessionFileError(
      "write-failed",
      path,
      `Cannot make the session file ${path}: a file of that name is already there (EEXIST); nothing was changed.`,
    ),
  );
  store.close();
  assert.equal(contentOf(path), "someone else's\n");
});

test("[W6] a link in the place of the file is not followed", () => {
  const folder = temporaryFolder();
  const target = temporaryFile("target\n");
  const path = join(folder, "session.jsonl");
  symlinkSync(target, path);
  assert.throws(() => FileStore.open(path), withCode("no-access"));
  const dangling = join(folder, "dangling.jsonl");
  symlinkSync(join(folder, "nowhere"), dangling);
  const store = FileStore.create(dangling);
  assert.throws(() => store.append("header"), withCode("write-failed"));
  assert.deepEqual([contentOf(target), existsSync(join(folder, "nowhere"))], ["target\n", false]);
});

test("[F7] folders and missing paths are refused by name", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "dir.jsonl"));
  assert.throws(() => FileStore.open(join(folder, "dir.jsonl")), withCode("not-a-file"));
  assert.throws(() => FileStore.open(join(folder, "dir.jsonl"), { readOnly: true }), withCode("not-a-file"));
  assert.throws(() => FileStore.open(join(folder, "none.jsonl")), withCode("missing"));
  assert.throws(() => FileStore.open("/dev/null", { readOnly: true }), withCode("not-a-file"));
});

test("[W6] dB71 folders are 0700 and files 0600; folders that were there keep their mode", () => {
  const folder = temporaryFolder();
  chmodSync(folder, 0o755);
  const store = FileStore.create(join(folder, "a", "b", "session.jsonl"));
  store.append("header");
  store.close();
  const modes = ["", "a", "a/b", "a/b/session.jsonl"].map((path) => statSync(join(folder, path)).mode & 0o777);
  assert.deepEqual(modes, [0o755, 0o700, 0o700, 0o600]);
});

test("[W2] a sync that fails is told, and no later one claims that all is well", async (t) => {
  const disk = watchDisk(t);
  const path = join(temporaryFolder(), "session.jsonl");
  const store = FileStore.create(path);
  store.append("header");
  disk.syncFault = { code: "EIO" };
  const expected = {
    name: "SessionFileError",
    code: "sync-failed",
    message:
      `The disk did not confirm what was written to ${path}: the disk reported an error (EIO); ` +
      "the last entries may not survive a power cut, so copy the session elsewhere.",
  };
  await assert.rejects(store.flush(), expected);
  disk.syncFault = undefined;
  await assert.rejects(store.flush(), expected);
  store.append("more");
  await assert.rejects(store.flush(), expected);
  store.close();
  assert.equal(contentOf(path), "header\nmore\n");
});

test("[F7] a store opened for reading refuses lines and leaves the file as it is", () => {
  const path = temporaryFile("header\nfrag");
  const store = FileStore.open(path, { readOnly: true });
  assert.throws(() => store.append("x"), withCode("read-only"));
  assert.equal(store.refusal?.message, `${path} is open for reading only; open it again to continue it.`);
  store.close();
  assert.equal(contentOf(path), "header\nfrag");
});

test("[W1] two stores on one file add whole lines side by side", () => {
  const path = temporaryFile("header\n");
  const stores = [FileStore.open(path), FileStore.open(path)];
  for (let n = 0; n < 10; n++) stores[n % 2]!.append(`line ${n}`);
  for (const store of stores) store.close();
  assert.equal(contentOf(path), `header\n${Array.from({ length: 10 }, (_, n) => `line ${n}\n`).join("")}`);
});

const TAKEN_AWAY: [how: string, take: (path: string) => void, left: string | undefined][] = [
  ["deleted", (path) => rmSync(path), undefined],
  ["moved", (path) => renameSync(path, `${path}.old`), undefined],
  [
    "replaced",
    (path) => {
      writeFileSync(`${path}.new`, "header\n");
      renameSync(`${path}.new`, path);
    },
    "header\n",
  ],
  ["cut short", (path) => truncateSync(path, 7), "header\n"],
  [
    "below what is no folder any more",
    (path) => {
      rmSync(dirname(path), { recursive: true });
      writeFileSync(dirname(path), "");
    },
    undefined,
  ],
  [
    "a link now",
    (path) => {
      renameSync(path, `${path}.old`);
      symlinkSync(`${path}.old`, path);
    },
    "header\nfirst\n",
  ],
];

for (const [how, take, left] of TAKEN_AWAY)
  test(`[W1, M2] dB69 the file is ${how} while it is in use: the append says so, and nothing comes back to life`, (t) => {
    setClock(t, 1000);
    const path = join(temporaryFolder(), "session.jsonl");
    const store = FileStore.create(path);
    t.after(() => store.close());
    store.append("header", "first");
    take(path);
    const displaced = { name: "SessionFileError", code: "file-changed", path };
    assert.throws(() => store.append("second"), displaced);
    assert.throws(() => store.append("second"), displaced);
    assert.equal(existsSync(path) ? contentOf(path) : undefined, left);
  });

test("[W3] what another program leaves without a newline at the end is closed before the next line", (t) => {
  setClock(t, 1000);
  const path = join(temporaryFolder(), "session.jsonl");
  const store = FileStore.create(path);
  t.after(() => store.close());
  store.append("header");
  appendFileSync(path, "torn");
  store.append("first");
  appendFileSync(path, "whole\n");
  store.append("second");
  assert.equal(contentOf(path), "header\ntorn\nfirst\nwhole\nsecond\n");
});

// A store that is opened anew after each append looks each time.
const inOneStore = { skip: process.env["LAWS"] === "reopen" && "LAWS=reopen opens the file anew each time" };
test(
  "[W4] within a burst a file that was taken away is seen with the next append, which is then in no other file",
  inOneStore,
  (t) => {
    setClock(t, 0);
    for (const [how, take, left] of TAKEN_AWAY) {
      const path = join(temporaryFolder(), "session.jsonl");
      const store = FileStore.create(path);
      t.after(() => store.close());
      store.append("header", "first");
      store.append("second");
      take(path);
      assert.throws(() => store.append("third"), { code: "file-changed" }, how);
      assert.throws(() => store.append("fourth"), { code: "file-changed" }, how);
      // It was the session's own file until then: of that one only the end has grown.
      const ours = how === "cut short" ? "third\n" : how === "a link now" ? "second\nthird\n" : "";
      assert.equal(existsSync(path) ? contentOf(path) : undefined, left && left + ours, how);
    }
  },
);

test("[W4] a look counts for 10 milliseconds: then there is one before the next append as well", inOneStore, (t) => {
  const path = temporaryFile("header\n");
  const store = FileStore.open(path);
  t.after(() => store.close());
  const looks: number[] = [];
  const { lstatSync } = fs;
  const look = t.mock.method(fs, "lstatSync", lstatSync);
  syncBuiltinESMExports();
  t.after(() => {
    look.mock.restore();
    syncBuiltinESMExports();
  });
  let now = 0;
  t.mock.method(performance, "now", () => now);
  for (const time of [0, 5, 10, 20.5, 25]) {
    now = time;
    const before = look.mock.callCount();
    store.append("line");
    looks.push(look.mock.callCount() - before);
  }
  assert.deepEqual(looks, [2, 1, 1, 2, 1]);
});
