// A store of your own: five methods over any place that can add lines and give bytes back. The kit proves it sound.
import { SessionManager } from "bough/session";
import { describeSessionStore } from "bough/session/conformance";

/** Keeps its lines in one entry of a Map; another store on the same entry goes on where this one ended. */
class MapStore {
  path = undefined;
  refusal = undefined;
  #closed = false;

  constructor(map, key) {
    this.map = map;
    this.key = key;
  }
  #bytes() {
    return this.map.get(this.key) ?? Buffer.alloc(0);
  }
  size() {
    return this.#bytes().length;
  }
  read(offset, length) {
    return this.#bytes().subarray(offset, offset + length);
  }
  append(...lines) {
    if (this.#closed) throw new Error("The store is closed");
    const added = Buffer.from(lines.map((line) => `${line}\n`).join(""));
    this.map.set(this.key, Buffer.concat([this.#bytes(), added]));
  }
  async flush() {}
  close() {
    this.#closed = true;
  }
}

// `test` of any runner will do; this one only counts.
const laws = [];
const maker = { make: () => new MapStore(new Map(), "a"), reopen: (store) => new MapStore(store.map, store.key) };
describeSessionStore("MapStore", maker, (title, run) => laws.push({ title, run }));
for (const { run } of laws) await run();
console.log(`${laws.length} laws hold`);

const places = new Map();
const session = SessionManager.openStore(new MapStore(places, "shop"));
session.appendMessage({ role: "user", content: "Why is the shop slow?", timestamp: Date.now() });
await session.close();
const again = SessionManager.openStore(new MapStore(places, "shop"));
console.log(`${again.getEntries().length} entry came back`);
await again.close();
