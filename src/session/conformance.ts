/**
 * `bough/session/conformance`, the kit of the `SessionStore` port: what every store must do, as tests for any runner.
 * Part of `session/`, of its public face; used by the tests of this room's stores and by whoever writes another store.
 */
import * as assert from "node:assert/strict";
import { readSession } from "../tree/reader.ts";
import { SessionManager } from "./session-manager.ts";
import type { SessionStore } from "./session-store.ts";

/** How the kit gets the stores it tests. */
export interface StoreMaker<Store extends SessionStore = SessionStore> {
  /** A new, empty store. */
  make(): Store;
  /** A second store on what `store`, which is closed, has kept; left out by stores that keep nothing. */
  reopen?(store: Store): Store;
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
  needsReopen?: boolean;
  run(store: SessionStore, maker: StoreMaker): Promise<void>;
}

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
    needsReopen: true,
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
    needsReopen: true,
    async run(store, maker) {
      const left = await keepSession(store);
      store.close();
      const again = maker.reopen!(store);
      assert.deepEqual(treeIn(again), left);
      again.close();
    },
  },
];

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

/** What is read from a store's bytes, and only from them: a store that reads on past its end would never end here. */
function treeIn(store: SessionStore): unknown {
  const size = store.size();
  const reading = readSession({ read: (offset, length) => store.read(offset, Math.min(length, size - offset)) });
  assert.ok(reading.kind === "session", "the store holds no session");
  assert.deepEqual(reading.index.problems, []);
  return JSON.parse(JSON.stringify({ entries: reading.index.entries(), leafId: reading.index.leafId }));
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
    if (law.needsReopen !== true || maker.reopen !== undefined) test(title, run);
    else test.skip?.(`${title} (this store keeps nothing)`, run);
  }
}
