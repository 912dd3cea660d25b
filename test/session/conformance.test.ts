/** The kit for other stores: a third store passes it, every store with a fault fails it, and a session lives in it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { describeSessionStore } from "../../src/session/conformance.ts";
import type { StoreMaker, TestFunction } from "../../src/session/conformance.ts";
import { FileStore } from "../../src/session/file-store.ts";
import { MemoryStore } from "../../src/session/memory-store.ts";
import { SessionFileError } from "../../src/session/session-errors.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { FAULTY_STORES, FolderStore } from "../support/folder-store.ts";
import { trackSession } from "../support/laws.ts";
import { recordsIn, temporaryFile, temporaryFolder, user } from "../support/session-files.ts";
import { HEADER, bytesOf, file, message } from "../support/session-lines.ts";

type FolderStoreClass = new (path: string, forReading?: boolean) => FolderStore;

const makerOf = (Store: FolderStoreClass): StoreMaker<FolderStore> => ({
  make: () => new Store(join(temporaryFolder(), "store")),
  reopen: (store) => new Store(store.folder),
  reader: (store) => new Store(store.folder, true),
});

/** Runs the kit with a runner of our own; the titles of the laws that do not hold. */
async function brokenLaws(Store: FolderStoreClass): Promise<string[]> {
  const laws: { title: string; run: () => Promise<void> }[] = [];
  describeSessionStore("store", { ...makerOf(Store), followWithin: 500 }, (title, run) => laws.push({ title, run }));
  const broken: string[] = [];
  for (const { title, run } of laws) {
    try {
      await run();
    } catch (error) {
      assert.ok(error instanceof assert.AssertionError, String(error));
      broken.push(title.replace(/^store: /, ""));
    }
  }
  return broken;
}

describeSessionStore("[S1] FolderStore", makerOf(FolderStore), test);

const WHOLE = "lines are kept whole and in order, each with its newline";
const TEXT = "text of any kind comes back as it was";
const TOGETHER = "lines of one append stand together, and a hundred appends come back one after the other";
const PIECES = "pieces of any length join to the same bytes";
const RANGE = "any range can be read, and reading past the end gives what is there";
const MEMORY = "a reader that brings its own memory gets the same bytes";
const STAYS = "what was read stays the same when more is written";
const FLUSH = "flush resolves with nothing, with something and several times at once";
const CLOSED = "a closed store takes no more lines, and can be closed during a flush";
const SESSION = "a session lives in it: messages, a branch and a move of the leaf";
const GOES_ON = "another store on the same place holds the same and goes on after it";
const AS_LEFT = "another store on the same place holds the session as it was left";

const FOLLOWED = "a follower sees each append in order, whole lines only, and none twice";
const STOPPED = "a follower that has stopped hears nothing more";

const FAULTS: { readonly [S in keyof typeof FAULTY_STORES]: string[] } = {
  SplittingStore: [TEXT, FOLLOWED],
  LosingStore: [GOES_ON, AS_LEFT, FOLLOWED, STOPPED],
  ReorderingStore: [GOES_ON, AS_LEFT, FOLLOWED],
  ReversingStore: [WHOLE, TEXT, TOGETHER, RANGE, SESSION, GOES_ON, AS_LEFT, FOLLOWED, STOPPED],
  LatinStore: [TEXT, TOGETHER, FOLLOWED],
  SharingStore: [PIECES, RANGE, STAYS],
  PaddingStore: [PIECES, RANGE, MEMORY],
  OverfillingStore: [MEMORY],
  OpenStore: [CLOSED],
  LooseStore: [WHOLE, TEXT, TOGETHER, RANGE, STAYS, FLUSH, GOES_ON],
  SilentStore: [FOLLOWED, STOPPED],
  StutteringStore: [FOLLOWED],
  SkippingStore: [FOLLOWED],
  TearingStore: [FOLLOWED],
  ClingingStore: [STOPPED],
};
for (const name of Object.keys(FAULTS) as (keyof typeof FAULTS)[])
  test(`[S1] the kit finds what is wrong with ${name}`, async () => {
    assert.deepEqual(await brokenLaws(FAULTY_STORES[name]), FAULTS[name]);
  });

test("[S1] a runner that can skip is told of the laws that need a second opening, another is not", () => {
  const run: string[] = [];
  const skipped: string[] = [];
  const runner: TestFunction = (title) => run.push(title);
  runner.skip = (title) => skipped.push(title);
  const maker = { make: () => new MemoryStore() };
  describeSessionStore("memory", maker, runner);
  assert.deepEqual(skipped, [
    ...[GOES_ON, AS_LEFT].map((law) => `memory: ${law} (this store keeps nothing)`),
    ...[FOLLOWED, STOPPED].map((law) => `memory: ${law} (this store has no follow)`),
  ]);
  const withoutSkip: string[] = [];
  describeSessionStore("memory", maker, (title) => withoutSkip.push(title));
  assert.deepEqual(withoutSkip, run);
});

test("[S1, T9] a session in a store of the caller's: written with its first content, and found again", async (t) => {
  const folder = join(temporaryFolder(), "store");
  const store = new FolderStore(folder);
  const session = trackSession(t, SessionManager.openStore(store, "/work"));
  session.appendModelChange("anthropic", "claude");
  await session.flush();
  assert.equal(store.size(), 0);
  const first = session.appendMessage(user("first"));
  session.appendMessage(user("second"));
  session.branch(first);
  await session.flush();
  const again = trackSession(t, SessionManager.openStore(new FolderStore(folder)));
  assert.deepEqual(again.getEntries(), session.getEntries());
  assert.deepEqual(
    [again.getLeafId(), again.getCwd(), again.getSessionId(), again.getProblems()],
    [first, "/work", session.getSessionId(), []],
  );
  again.appendMessage(user("third"));
  await again.flush();
  const types = recordsIn(again.exportBranch(again.getLeafId()!)).map((record) => (record as { type: string }).type);
  assert.deepEqual(types, ["session", "model_change", "message", "message"]);
});

test("[S1, T9] such a session makes no other in a place nobody chose", (t) => {
  const session = trackSession(t, SessionManager.openStore(new FolderStore(join(temporaryFolder(), "store"))));
  const id = session.appendMessage(user("first"));
  const refusal = new Error(
    "This session lives in a store of its own, which holds no second one; make another store and open that with openStore.",
  );
  assert.throws(() => session.newSession(), refusal);
  assert.throws(() => session.createBranchedSession(id), refusal);
  assert.deepEqual([session.getLeafId(), session.getEntries().length], [id, 1]);
});

test("[S1, W5] a session in a store without a path can be followed if the store can, and says so if not", async (t) => {
  const folder = join(temporaryFolder(), "store");
  const writer = trackSession(t, SessionManager.openStore(new FolderStore(folder)));
  const first = writer.appendMessage(user("first"));
  const place = new FolderStore(folder, true);
  const reader = SessionManager.openStore(place);
  const heard = new Promise<unknown>((resolve) => reader.follow(resolve));
  const second = writer.appendMessage(user("second"));
  assert.deepEqual(await heard, { type: "entries", entries: [writer.getEntry(second)] });
  assert.deepEqual([reader.getLeafId(), reader.getEntries().map(({ id }) => id)], [second, [first, second]]);
  await reader.close();
  Object.assign(place, { follow: undefined });
  const other = SessionManager.openStore(place);
  assert.throws(
    () => other.follow(() => undefined),
    new Error("This session lives in a store that cannot be followed"),
  );
});

test("[S1, F7] a store that holds no session is refused and left as it is", () => {
  const store = new MemoryStore(bytesOf(file("{}")));
  assert.throws(
    () => SessionManager.openStore(store),
    new SessionFileError(
      "not-a-session",
      "the store",
      'the store cannot be opened (line 1: it is not a session file: its first record is of type none, not "session"); nothing was changed.',
    ),
  );
  assert.equal(store.size(), 3);
});

test("[S1, M2] an old version in a store can be read and not continued", () => {
  const store = new MemoryStore(bytesOf(file(HEADER.replace('"version":3', '"version":2'), message("a", null))));
  const size = store.size();
  const session = SessionManager.openStore(store);
  assert.deepEqual([session.isReadOnly(), session.getEntries().map(({ id }) => id)], [true, ["a"]]);
  assert.throws(
    () => session.appendMessage(user("more")),
    new SessionFileError(
      "read-only",
      "the store",
      "the store holds format version 2, which is brought up to date in files only; it can only be read.",
    ),
  );
  assert.equal(store.size(), size);
});

test("[S1, F7] a store that refuses lines is opened for reading, and says why", () => {
  const path = temporaryFile(file(HEADER, message("a", null)));
  const store = FileStore.open(path, { readOnly: true });
  const session = SessionManager.openStore(store);
  assert.ok(session.isReadOnly());
  assert.throws(() => session.appendMessage(user("more")), store.refusal);
  store.close();
});
