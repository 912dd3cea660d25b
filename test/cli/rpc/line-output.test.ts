/** LineOutput against a reader in our hands: what it holds, joins, cuts and replaces. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LineOutput } from "../../../src/cli/rpc/line-output.ts";

/** A reader that takes one write when it is told to. */
class SlowReader {
  writes: Buffer[] = [];
  #taken: ((error?: Error | null) => void) | undefined;
  readonly output = new LineOutput((bytes, done) => {
    this.writes.push(Buffer.from(bytes));
    this.#taken = done;
  });

  take(error?: Error): void {
    const taken = this.#taken;
    this.#taken = undefined;
    taken?.(error);
  }
  takeAll(): string {
    while (this.#taken !== undefined) this.take();
    return this.text();
  }
  /** What was written since the last call. */
  text(): string {
    return Buffer.concat(this.writes.splice(0)).toString();
  }
}

test("[R1] lines that wait are written together, long ones in pieces, and none before the one ahead is taken", () => {
  const reader = new SlowReader();
  reader.output.send({ n: 1 });
  reader.output.send({ n: 2 });
  reader.output.send({ n: 3 });
  assert.equal(reader.text(), '{"n":1}\n');
  reader.take();
  assert.equal(reader.text(), '{"n":2}\n{"n":3}\n');
  const text = "\u{1f333}".repeat(50_000);
  reader.output.send({ text });
  reader.output.send({ n: 4 });
  while (reader.writes.length < 4) reader.take();
  assert.deepEqual(
    reader.writes.map(({ length }) => length),
    [65_536, 65_536, 65_536, 200_012 - 3 * 65_536 + 8],
  );
  assert.equal(reader.takeAll(), `{"text":"${text}"}\n{"n":4}\n`);
});

test("[R1] of events that tell the same anew only the newest waits, in the place of the first", () => {
  const reader = new SlowReader();
  const send = (n: number, key?: string): void => reader.output.send({ n }, key);
  send(0);
  send(1, "a");
  send(2, "b");
  send(3);
  for (let n = 4; n < 1000; n++) send(n, "a");
  assert.equal(reader.takeAll(), '{"n":0}\n{"n":999}\n{"n":2}\n{"n":3}\n');
  // What has been written is replaced no more.
  send(1000, "a");
  send(1001, "a");
  send(1002, "a");
  assert.equal(reader.takeAll(), '{"n":1000}\n{"n":1002}\n');
});

test("[R1] there is room up to a mebibyte; then writers wait until the reader has taken enough", async () => {
  const reader = new SlowReader();
  const { output } = reader;
  const line = { text: "x".repeat(1 << 18) };
  let sent = 0;
  for (; output.room() === undefined; sent++) output.send(line);
  assert.equal(sent, 4);
  let hasRoom = false;
  const waiting = output.room()?.then(() => (hasRoom = true));
  reader.take();
  await waiting;
  assert.equal(hasRoom, true);
  assert.equal(output.room(), undefined);
});

test("[R1] a reader that has gone away is told of, and nothing waits for it", async () => {
  const reader = new SlowReader();
  const { output } = reader;
  for (let n = 0; n < 10; n++) output.send({ text: "x".repeat(1 << 18) });
  const room = output.room();
  reader.take(new Error("EPIPE"));
  await Promise.all([room, output.gone]);
  output.send({ n: 1 });
  assert.equal(await output.end(), true);
  assert.equal(reader.writes.length, 1);
});

test("[R1] what cannot be written as JSON throws, and changes nothing", () => {
  const reader = new SlowReader();
  const circle: { self?: object } = {};
  circle.self = circle;
  assert.throws(() => reader.output.send(circle), TypeError);
  reader.output.send({ n: 1 });
  assert.equal(reader.takeAll(), '{"n":1}\n');
});
