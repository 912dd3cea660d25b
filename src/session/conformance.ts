/**
 * `bough/session/conformance`, the kit of the `SessionStore` port: what every store must do, as tests for any runner.
 * Part of `session/`, of its public face; used by the tests of this room's stores and by whoever writes another store.
 */
import * as assert from "node:assert/strict";
import type { SessionEntry } from "../tree/entries.ts";
import { readSession } from "../tree/reader.ts";
import { SessionManager } from "./session-manager.ts";
import type { SessionStore } from "./session-store.ts";

/** How the kit gets the stores it tests. */
export interface StoreMaker<Store extends SessionStore = SessionStore> {
  /** A new, empty store. */
  make(): Store;
  /** A second store on what `store`, which is closed, has kept; left out by stores that keep nothing. */
  reopen?(store: Store): Store;
  /**
   * A second store, for reading alone (it has a `refusal`), on the place to which `store` goes on writing; left out by stores
   * that cannot be followed.
   */
  reader?(store: Store): Store;
  /** How long an append may take to reach a follower; milliseconds. Default 5,000. */
  followWithin?: number;
  /** Called after each test. */
  dispose?(): void;
}

/** `test` of node:test and Bun, `it` or `test` of Vitest, Jest and Mocha, or a function of your own. */
export interface TestFunction {
  (title: string, run: () => Promise<void>): unknown;
  /** Takes the tests that do not apply to a store; without it they are left out. */
  skip?(title: string, run: () => Promise<void>): unknown;
}

interface Law {
  title: string;
  needs?: "reopen" | "reader";
  run(store: SessionStore, maker: StoreMaker): Promise<void>;
}

const LACKS = { reopen: "this store keeps nothing", reader: "this store has no follow" } as const;

const line = (n: number, text = "x"): string => JSON.stringify({ type: "custom", id: String(n), text });

const contentOf = (store: SessionStore): string => Buffer.from(store.read(0, store.size())).toString();

const LAWS: readonly Law[] = [
  {
    title: "a new store is empty",
    async run(store) {
      assert.deepEqual([store.size(), contentOf(store), store.refusal], [0, "", undefined]);
    },
  },
  {
    title: "lines are kept whole and in order, each with its newline",
    async run(store) {
      store.append(line(1));
      store.append(line(2), line(3));
      assert.equal(contentOf(store), `${line(1)}\n${line(2)}\n${line(3)}\n`);
      assert.equal(store.size(), Buffer.byteLength(contentOf(store)));
    },
  },
  {
    title: "text of any kind comes back as it was",
    async run(store) {
      const texts = ["\u2028\u2029", "🙂 é 日本", '\\\\"', "\u0000", "x".repeat(3_000_000)];
      store.append(...texts.map((text, n) => line(n, text)));
      assert.equal(contentOf(store), texts.map((text, n) => `${line(n, text)}\n`).join(""));
    },
  },
  {
    title: "lines of one append stand together, and a hundred appends come back one after the other",
    async run(store) {
      const lines = Array.from({ length: 300 }, (_, n) => line(n, "é".repeat(n % 97)));
      for (let n = 0; n < lines.length; n += 3) store.append(...lines.slice(n, n + 3));
      assert.equal(contentOf(store), lines.map((text) => `${text}\n`).join(""));
    },
  },
  {
    title: "pieces of any length join to the same bytes",
    async run(store) {
      store.append(line(1, "🙂 é 日本"), line(2));
      const whole = contentOf(store);
      for (const length of [1, 2, 3, 7, 64]) {
        const pieces: Uint8Array[] = [];
        for (let at = 0; at < store.size(); at += length) pieces.push(store.read(at, length));
        assert.equal(Buffer.concat(pieces).toString(), whole, `in pieces of ${length}`);
      }
    },
  },
  {
    title: "any range can be read, and reading past the end gives what is there",
    async run(store) {
      store.append("abc", "def");
      const ranges = [store.read(2, 3), store.read(6, 100), store.read(8, 1), store.read(100, 5)];
      assert.deepEqual(
        ranges.map((bytes) => Buffer.from(bytes).toString()),
        ["c\nd", "f\n", "", ""],
      );
    },
  },
  {
    title: "a reader that brings its own memory gets the same bytes",
    async run(store) {
      store.append(line(1, "é"), line(2));
      const memory = new Uint8Array(store.size() + 10);
      const whole = contentOf(store);
      assert.equal(Buffer.from(store.read(0, store.size(), memory)).toString(), whole);
      assert.equal(Buffer.from(store.read(3, 1000, new Uint8Array(1000))).toString(), whole.slice(3));
    },
  },
  {
    title: "what was read stays the same when more is written",
    async run(store) {
      store.append(line(1));
      const before = store.read(0, store.size());
      store.append(line(2));
      store.read(1, store.size());
      assert.equal(Buffer.from(before).toString(), `${line(1)}\n`);
    },
  },
  {
    title: "flush resolves with nothing, with something and several times at once",
    async run(store) {
      await store.flush();
      store.append(line(1));
      await Promise.all([store.flush(), store.flush()]);
      assert.equal(contentOf(store), `${line(1)}\n`);
    },
  },
  {
    title: "a closed store takes no more lines, and can be closed during a flush",
    async run(store) {
      store.append(line(1));
      const flushed = store.flush();
      store.close();
      store.close();
      await flushed;
      assert.throws(() => store.append(line(2)));
    },
  },
  {
    title: "a session lives in it: messages, a branch and a move of the leaf",
    async run(store) {
      await keepSession(store);
    },
  },
  {
    title: "another store on the same place holds the same and goes on after it",
    needs: "reopen",
    async run(store, maker) {
      const lines = [1, 2, 3, 4].map((n) => line(n));
      store.append(lines[0]!);
      store.append(lines[1]!);
      store.append(lines[2]!, lines[3]!);
      await store.flush();
      store.close();
      const again = maker.reopen!(store);
      again.append(line(5));
      const all = [...lines, line(5)].map((text) => `${text}\n`).join("");
      assert.deepEqual([contentOf(again), again.path, again.size()], [all, store.path, Buffer.byteLength(all)]);
      again.close();
    },
  },
  {
    title: "another store on the same place holds the session as it was left",
    needs: "reopen",
    async run(store, maker) {
      const left = await keepSession(store);
      store.close();
      const again = maker.reopen!(store);
      assert.deepEqual(treeIn(again), left);
      again.close();
    },
  },
  {
    title: "a follower sees each append in order, whole lines only, and none twice",
    needs: "reader",
    async run(store, maker) {
      const writer = SessionManager.openStore(store, "/");
      const say = (content: string): string => writer.appendMessage({ role: "user", content, timestamp: 0 });
      const first = say("there before");
      const follower = new Follower(maker.reader!(store), maker.followWithin);
      try {
        for (const text of ["one", "🙂 é \u2028", "x".repeat(3_000_000), "after it"]) {
          const id = say(text);
          await follower.until((reader) => reader.getLeafId() === id, `an append of ${text.length} characters`);
        }
        for (let n = 0; n < 200; n++) say(`one of many, ${n}`);
        writer.branch(first);
        await writer.flush();
        await follower.until((reader) => reader.getLeafId() === first, "200 appends and a move of the leaf");
        assert.deepEqual(follower.heard, writer.getEntries().slice(1));
        assert.deepEqual(follower.reader.getIndex().problems, []);
      } finally {
        await follower.reader.close();
      }
    },
  },
  {
    title: "a follower that has stopped hears nothing more",
    needs: "reader",
    async run(store, maker) {
      const writer = SessionManager.openStore(store, "/");
      const say = (content: string): string => writer.appendMessage({ role: "user", content, timestamp: 0 });
      say("there before");
      const [one, other] = [1, 2].map(() => new Follower(maker.reader!(store), maker.followWithin)) as [
        Follower,
        Follower,
      ];
      try {
        one.stop();
        const id = say("not for one");
        await other.until((reader) => reader.getLeafId() === id, "an append");
        assert.deepEqual([one.heard.length, other.heard.length], [0, 1]);
      } finally {
        await Promise.all([one.reader.close(), other.reader.close()]);
      }
    },
  },
];

/** Between two looks at what a follower has heard; milliseconds. */
const LOOK_MS = 5;
const FOLLOW_MS = 5_000;

/** A session that follows, and what it was told. */
class Follower {
  readonly reader: SessionManager;
  readonly heard: SessionEntry[] = [];
  readonly stop: () => void;
  readonly #within: number;

  constructor(store: SessionStore, within = FOLLOW_MS) {
    assert.equal(readSession(withEnd(store)).kind, "session", "the store holds no session");
    this.reader = SessionManager.openStore(withEnd(store));
    this.#within = within;
    this.stop = this.reader.follow((news) => {
      if (news.type === "entries") this.heard.push(...news.entries);
    });
  }

  async until(isThere: (reader: SessionManager) => boolean, what: string): Promise<void> {
    for (const end = Date.now() + this.#within; !isThere(this.reader);) {
      assert.ok(Date.now() < end, `${what} did not reach the follower within ${this.#within} ms`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
}

/** Writes a session with two branches into a store, checks that the store holds it, and returns its tree. */
async function keepSession(store: SessionStore): Promise<unknown> {
  const session = SessionManager.openStore(store, "/");
  const say = (content: string): string => session.appendMessage({ role: "user", content, timestamp: 0 });
  const first = say("first");
  say("on a branch");
  session.branch(first);
  const second = say("on another");
  session.appendLabelChange(second, "here");
  session.branch(first);
  await session.flush();
  const { entries, leafId } = { entries: session.getEntries(), leafId: session.getLeafId() };
  const kept = treeIn(store);
  assert.deepEqual(kept, JSON.parse(JSON.stringify({ entries, leafId })));
  return kept;
}

/** What is read from a store's bytes. */
function treeIn(store: SessionStore): unknown {
  const reading = readSession(withEnd(store));
  assert.ok(reading.kind === "session", "the store holds no session");
  assert.deepEqual(reading.index.problems, []);
  return JSON.parse(JSON.stringify({ entries: reading.index.entries(), leafId: reading.index.leafId }));
}

/** The store with nothing behind its size: one that reads on past its end would be read without end. */
function withEnd(store: SessionStore): SessionStore {
  return {
    path: store.path,
    refusal: store.refusal,
    size: () => store.size(),
    read: (offset, length) => store.read(offset, Math.max(0, Math.min(length, store.size() - offset))),
    append: (...lines) => store.append(...lines),
    flush: () => store.flush(),
    close: () => store.close(),
    ...(store.follow === undefined ? {} : { follow: (changed) => store.follow!(changed) }),
  };
}

/**
 * Registers one test per law with `test`. Titles begin with `name`; that of a skipped one ends with the reason. A test
 * rejects with an AssertionError of Node when its law does not hold.
 */
export function describeSessionStore<Store extends SessionStore>(
  name: string,
  maker: StoreMaker<Store>,
  test: TestFunction,
): void {
  for (const law of LAWS) {
    const title = `${name}: ${law.title}`;
    const run = async (): Promise<void> => {
      const store = maker.make();
      try {
        await law.run(store, maker);
      } finally {
        store.close();
        maker.dispose?.();
      }
    };
    if (law.needs === undefined || maker[law.needs] !== undefined) test(title, run);
    else test.skip?.(`${title} (${LACKS[law.needs]})`, run);
  }
}
