import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionEntry } from "../../src/tree/entries.ts";
import { readSession } from "../../src/tree/reader.ts";
import { SeededRandom, generateSession } from "../support/generate.ts";
import {
  HEADER,
  at,
  bytesOf,
  codes,
  file,
  leafRecord,
  line,
  memorySource,
  message,
  picture,
  read,
  readInChunks,
  readSound,
} from "../support/session-lines.ts";

/** Reads lazily and eagerly, the lazy one in chunks of `size`, and compares all that can be seen. */
function assertSame(content: Uint8Array, size: number, note: string): void {
  const eager = picture(readSession(memorySource(content), { eager: true }));
  assert.deepEqual(picture(readInChunks(content, size, memorySource(content))), eager, note);
}

test("[F6, T1] reading only the starts of lines gives the session that parsing them gives: generated files", () => {
  for (const shape of ["linear", "bushy", "compact"] as const)
    for (const version of [1, 2, 3] as const) {
      const content = bytesOf(file(...generateSession({ shape, entries: 700, version, seed: 5 })));
      for (const size of [1 << 20, 4096, 777]) assertSame(content, size, `${shape} ${version} ${size}`);
    }
});

/** Every kind, odd ids, times and orders, old shapes, duplicates, leaf records, escapes, CRLF, two records on a line. */
const ODD_LINES = [
  line("message", "a1", null, { message: { role: "user", content: "a \u2028 }{ \\" } }),
  message("a2", "a1", { timestamp: "2026-02-29T00:00:00.000Z" }),
  message("a2", "a1", { timestamp: "2026-02-29T00:00:00.000Z" }),
  message("a2", "a1", { extra: { parentId: "x", type: "y" } }),
  line("message", "h1", "a2", { message: { role: "hookMessage", customType: "h", content: "c" } }),
  line("compaction", "c1", "h1", { summary: "s", firstKeptEntryIndex: 2, tokensBefore: 1 }),
  line("compaction", "c2", "c1", { summary: "s", firstKeptEntryId: "a1", tokensBefore: 1 }),
  line("label", "l1", "c2", { targetId: "late", label: "one" }),
  line("label", "l2", "l1", { targetId: "a1", label: "two" }),
  leafRecord("j1", "a2"),
  message("late", "j1"),
  message("x1", "nobody"),
  line("session_info", "n1", "late", { name: "Name" }),
  line("title_change", "n2", "n1", { title: "Title", source: "auto" }),
  `${message("crlf", "n2")}\r`,
  ` ${message("space", "crlf")}`,
  message("ümlaut", "crlf"),
  message("umlaut-child", "ümlaut"),
  `{"id":"order","type":"custom","timestamp":"${at(3)}","parentId":"crlf","customType":"x"}`,
  `{"type":"custom","id":"odd\\u0061","parentId":"order","timestamp":"${at(4)}","customType":"x"}`,
  `{"type":"message","id":"twice","parentId":"a1","timestamp":"${at(5)}","message":{"role":"user","content":"x"},"id":"b"}`,
  `{"type":"message","id":"roles","parentId":"a1","timestamp":"${at(5)}","message":{"role":"user","content":"x","role":"assistant"}}`,
  `{"type":"message","id":"bad","parentId":"a1","timestamp":"${at(5)}","message":{"role":"user","content":x"}}`,
  `{"type":"custom","id":"end","parentId":"a1","timestamp":"2026-01-01T00:00:00+02:00"}`,
  `{"type":"reset_boundary","id":"r1","parentId":"a1","timestamp":"0000-01-01T00:00:00.000Z"}`,
  message("f1", "a1") + message("f2", "f1"),
  line("future_thing", "__proto__", "f2", { payload: [1] }),
  line("usage", "u1", "__proto__", { kind: "k", provider: "p", model: "m", usage: { input: 3, output: 4 } }),
  line("message", "t1", "u1", {
    message: {
      role: "assistant",
      content: [{ type: "text", text: "t" }],
      provider: "p",
      model: "m",
      usage: { input: 1 },
    },
  }),
  line("message", "o1", "t1", { message: { content: "role last", role: "user" } }),
  line("message", "self", "self", { message: { role: "toolResult", content: [] } }),
  line("message", "y1", "y2", { message: { role: "user", content: "cycle" } }),
  line("message", "y2", "y1", { message: { role: "user", content: "cycle" } }),
];

test("[F6, T1] reading lazily and eagerly are one: odd lines, in any chunks", () => {
  const content = bytesOf(file(HEADER, ...ODD_LINES));
  for (let size = 1; size < 400; size += 7) assertSame(content, size, `chunks of ${size}`);
});

test("[F6, T1] reading lazily and eagerly are one whatever happens to the bytes", () => {
  const pool = [
    ...ODD_LINES.map((text) => bytesOf(`${text}\n`)),
    ...Array.from(generateSession({ shape: "bushy", entries: 40, seed: 9 }), (text) => bytesOf(`${text}\n`)).slice(1),
  ];
  for (let seed = 1; seed <= 2000; seed++) {
    const random = new SeededRandom(seed);
    const lines = [bytesOf(`${HEADER}\n`), ...Array.from({ length: 1 + random.below(14) }, () => random.pick(pool))];
    let bytes = Uint8Array.from(Buffer.concat(lines));
    for (let change = random.below(4); change >= 0; change--) bytes = mutated(bytes, HEADER.length + 1, random);
    assertSame(bytes, 1 + random.below(900), `seed ${seed}`);
  }
});

const TELLING = bytesOf('{}":,\\\0\n\r "parentId":"id":null');

/** One byte changed, put in or taken out, a piece taken out or repeated, or a telling piece put in. */
function mutated(bytes: Uint8Array, from: number, random: SeededRandom): Uint8Array<ArrayBuffer> {
  const at = from + random.below(Math.max(1, bytes.length - from));
  const end = Math.min(bytes.length, at + random.below(60));
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  const pieces = [
    () => [before, Uint8Array.of(random.below(256)), after.subarray(1)],
    () => [before, Uint8Array.of(random.pick([...TELLING])), after.subarray(1)],
    () => [before, Uint8Array.of((bytes[at] ?? 0) ^ (1 << random.below(8))), after.subarray(1)],
    () => [before, Uint8Array.of(random.pick([...TELLING])), after],
    () => [before, after.subarray(1)],
    () => [before, bytes.subarray(end)],
    () => [before, bytes.subarray(at, end), after],
    () => [before, bytesOf('"parentId":'), after],
  ];
  return Uint8Array.from(Buffer.concat(random.pick(pieces)()));
}

/** A source that counts what is read from it. */
function counted(bytes: Uint8Array): {
  source: { read(offset: number, length: number): Uint8Array };
  read: () => number;
} {
  let sum = 0;
  return {
    read: () => sum,
    source: {
      read(offset, length) {
        const part = bytes.subarray(offset, offset + length);
        sum += part.length;
        return part;
      },
    },
  };
}

test("[Y1, Y3] opening reads each byte once and no body again; one entry costs its own line", () => {
  for (const entries of [1000, 10_000]) {
    const content = bytesOf(file(...generateSession({ shape: "linear", entries })));
    const { source, read: bytesRead } = counted(content);
    const reading = readSession(source);
    assert.equal(reading.kind, "session");
    if (reading.kind !== "session") return;
    const { index } = reading;
    assert.equal(bytesRead(), content.length);
    const middle = index.at(entries / 2);
    assert.equal(bytesRead() - content.length, index.originOf(middle.id)?.length);
    index.at(entries / 2);
    assert.equal(bytesRead() - content.length, index.originOf(middle.id)?.length);
  }
});

test("[F6] a bad body is found when it is looked at; it keeps its place and adds nothing", () => {
  const bad = message("a2", "a1").replace('"content":', '"content"');
  const { index } = readSound(file(HEADER, message("a1", null), bad, message("a3", "a2")));
  assert.deepEqual(codes(index.problems), []);
  assert.deepEqual(index.at(1), { type: "message", id: "a2", parentId: "a1", timestamp: at(0) });
  assert.deepEqual(index.problems, [
    {
      code: "bad-entry",
      line: 3,
      text: "Entry a2 is a broken message (its line is not valid JSON); it keeps its place in the tree and adds nothing.",
    },
  ]);
  assert.deepEqual(index.pathOrdinals("a3"), [0, 1, 2]);
});

test("[F6, F7] bytes that are gone or changed since do not throw: what is known stays, and a Problem", () => {
  const content = bytesOf(file(HEADER, message("a1", null), message("a2", "a1"), message("a3", "a2")));
  let now = content;
  const reading = readSession({ read: (offset, length) => now.subarray(offset, offset + length) });
  assert.equal(reading.kind, "session");
  if (reading.kind !== "session") return;
  const { index } = reading;
  now = bytesOf(file(HEADER, message("a1", null), message("b2", "a1")));
  assert.deepEqual(
    index.entries().map((entry) => Object.keys(entry).length),
    [5, 4, 4],
  );
  assert.deepEqual(index.at(2), { type: "message", id: "a3", parentId: "a2", timestamp: at(0) });
  assert.deepEqual(
    index.problems.map(({ line: where, text }) => `${where}: ${text}`),
    [
      "3: Entry a2 is a broken message (its line in the file is gone or has changed); it keeps its place in the tree and adds nothing.",
      "4: Entry a3 is a broken message (its line in the file is gone or has changed); it keeps its place in the tree and adds nothing.",
    ],
  );
});

test("[F8, Y3] bodies that were looked at are let go again, and the largest does not push out more than there is room", () => {
  const big = "x".repeat(9 * 1024 * 1024);
  const lines = Array.from({ length: 6 }, (_, n) => message(`b${n}`, n === 0 ? null : `b${n - 1}`, { big }));
  const content = bytesOf(file(HEADER, ...lines));
  const { source, read: bytesRead } = counted(content);
  const reading = readSession(source);
  assert.equal(reading.kind, "session");
  if (reading.kind !== "session") return;
  const { index } = reading;
  const before = bytesRead();
  for (let n = 0; n < 6; n++) index.at(n);
  index.at(5);
  assert.equal(bytesRead() - before, lines.join("").length, "the last one is still there");
  index.at(0);
  assert.equal(bytesRead() - before, lines.join("").length + lines[0]!.length, "the first one is not");
});

test("[Y3, Y6] a body that is asked for again and again stays, however many others are looked at once", () => {
  const big = "x".repeat(100_000);
  const lines = Array.from({ length: 1000 }, (_, n) => message(`b${n}`, n === 0 ? null : `b${n - 1}`, { big }));
  const content = bytesOf(file(HEADER, ...lines));
  const { source, read: bytesRead } = counted(content);
  const reading = readSession(source);
  assert.equal(reading.kind, "session");
  if (reading.kind !== "session") return;
  const { index } = reading;
  index.at(0);
  for (let n = 1; n < 1000; n++) {
    index.at(n);
    const before = bytesRead();
    assert.equal(index.at(0).id, "b0");
    assert.equal(bytesRead(), before, `after ${n} others`);
  }
});

test("[T5] ids of every form are found again, among many", () => {
  const made = Array.from({ length: 5000 }, (_, n) => ["", "é", "🙂", "id with spaces ", "\u0000"][n % 5]! + n);
  const { index } = read(file(HEADER, ...made.map((id, n) => message(id, made[n - 1] ?? null)))) as ReturnType<
    typeof readSound
  >;
  assert.deepEqual(
    made.map((id) => index.ordinal(id)),
    made.map((_, n) => n),
  );
  assert.deepEqual(
    made.map((_, n) => index.idAt(n)),
    made,
  );
  assert.deepEqual(
    ["x", "", "é", "5", "5000"].map((id) => index.has(id)),
    [false, false, false, true, false],
  );
});

test("[T1] usage counted in slices is that counted at once; a slice reads its own entries, and appended ones are in it", () => {
  const content = bytesOf(file(...generateSession({ shape: "bushy", entries: 2000 })));
  const whole = readSound(content).index;
  const { source, read: bytesRead } = counted(content);
  const reading = readSession(source);
  assert.equal(reading.kind, "session");
  if (reading.kind !== "session") return;
  const { index } = reading;
  const before = bytesRead();
  const slices: number[] = [];
  while (!index.countUsage(300)) {
    slices.push(bytesRead() - before);
    if (slices.length !== 2) continue;
    const message = { role: "assistant", content: [], provider: "p", model: "m", usage: { input: 5 } };
    const entry = { type: "message", id: "live", parentId: index.leafId, timestamp: at(0), message };
    index.append(structuredClone(entry) as unknown as SessionEntry);
    whole.append(structuredClone(entry) as unknown as SessionEntry);
  }
  assert.equal(slices.length, 6);
  assert.ok(slices[0]! < content.length / 3, `the first slice reads ${slices[0]} of ${content.length} bytes`);
  assert.deepEqual(index.usage(), whole.usage());
  assert.equal(index.usage().byModel.get("p/m")?.input, 5);
});
