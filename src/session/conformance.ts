/**
 * The conformance kit of the `SessionStore` port: what every store must do, as tests that any runner can take.
 * Part of `session/`; used by the tests of this room's stores and by whoever writes another store.
 */
import * as assert from "node:assert/strict";
import type { SessionStore } from "./session-store.ts";

/** How the kit gets the stores it tests. */
export interface StoreMaker {
  /** A new, empty store. */
  make(): SessionStore;
  /** A second store on what `store`, which is closed, has kept; left out by stores that keep nothing. */
  reopen?(store: SessionStore): SessionStore;
  /** Called after each test. */
  dispose?(): void;
}

/** A test function such as that of node:test. `skip` is the reason why a test does not apply. */
export type TestFunction = (title: string, options: { skip: string | false }, run: () => Promise<void>) => unknown;

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
    title: "what was read stays the same when more is written",
    async run(store) {
      store.append(line(1));
      const before = store.read(0, store.size());
      store.append(line(2));
      store.read(0, store.size());
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
    title: "another store on the same place holds the same and goes on after it",
    needsReopen: true,
    async run(store, maker) {
      store.append(line(1));
      await store.flush();
      store.close();
      const again = maker.reopen!(store);
      again.append(line(2));
      assert.deepEqual([contentOf(again), again.path], [`${line(1)}\n${line(2)}\n`, store.path]);
      again.close();
    },
  },
];

/** Registers one test per law with `test`. Titles begin with `name`. */
export function describeSessionStore(name: string, maker: StoreMaker, test: TestFunction): void {
  for (const law of LAWS) {
    const skip = law.needsReopen === true && maker.reopen === undefined ? "this store keeps nothing" : false;
    test(`${name}: ${law.title}`, { skip }, async () => {
      const store = maker.make();
      try {
        await law.run(store, maker);
      } finally {
        store.close();
        maker.dispose?.();
      }
    });
  }
}
