import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { generateSession } from "../support/generate.ts";
import {
  HEADER,
  at,
  bytesOf,
  chain,
  codes,
  file,
  ids,
  line,
  message,
  picture,
  read,
  readInChunks,
  readSound,
} from "../support/session-lines.ts";

const joined = (...parts: (string | Uint8Array)[]): Uint8Array =>
  Buffer.concat(parts.map((part) => Buffer.from(bytesOf(part))));

test("[F1, F2] a plain file: header, entries, place of each line, nothing wrong", () => {
  const [a1, a2] = chain(null, "a1", "a2") as [string, string];
  const reading = readSound(file(HEADER, a1, a2));
  assert.deepEqual(reading.header, JSON.parse(HEADER));
  assert.deepEqual(reading.index.entries(), [JSON.parse(a1), JSON.parse(a2)]);
  assert.deepEqual(reading.index.originOf("a1"), { line: 2, offset: HEADER.length + 1, length: a1.length });
  assert.deepEqual(reading.index.originOf("a2"), { line: 3, offset: HEADER.length + a1.length + 2, length: a2.length });
  assert.equal(reading.index.originOf("zz"), undefined);
  const { bytes, lines, sealed, migratedFrom, newer, changedLines } = reading;
  assert.deepEqual(
    { bytes, lines, sealed, migratedFrom, newer, changedLines },
    {
      bytes: HEADER.length + a1.length + a2.length + 3,
      lines: 3,
      sealed: true,
      migratedFrom: undefined,
      newer: false,
      changedLines: new Map(),
    },
  );
  assert.deepEqual(reading.index.problems, []);
  assert.equal(reading.index.leafId, "a2");
});

test("[F8] the size of the chunks makes no difference, also inside multi-byte characters", () => {
  const content = joined(
    "\ufeff" + HEADER + "\r\n\n  \n",
    message("ä→🌿", null) + "\n",
    message("a2", "ä→🌿") + "\0\0\0\n\0\0\0\0\n\0\0" + message("a3", "a2") + "\n",
    '{"type":"message","id":"🌿' + message("a4", "a3") + "\n",
    Uint8Array.of(0xf0, 0x9f, 0x8c, 0x0a),
    line("custom", "a5", "a4", { customType: "x", data: "\u2028\u0085" }) + "\r\n",
    message("a6", "a5").slice(0, -3),
  );
  const whole = picture(read(content));
  for (let size = 1; size <= content.length; size++)
    assert.deepEqual(picture(readInChunks(content, size)), whole, `chunks of ${size}`);
  assert.deepEqual(ids(readSound(content)), ["ä→🌿", "a2", "a3", "a4", "a5"]);
});

test("[F8] generated sessions of every shape and version read alike in any chunks", () => {
  for (const shape of ["linear", "bushy", "compact"] as const)
    for (const version of [1, 2, 3] as const) {
      const content = file(...generateSession({ shape, version, entries: 400, seed: 3 }));
      const reading = readSound(content);
      assert.equal(reading.index.size, 400);
      assert.equal(reading.migratedFrom, version === 3 ? undefined : version);
      assert.deepEqual(
        codes(reading.index.problems).filter((code) => !code.startsWith("other-tip")),
        [],
      );
      assert.deepEqual(picture(readInChunks(content, 1021)), picture(reading));
    }
});

test("[F6, W3] every byte prefix of a file opens with exactly its whole lines", () => {
  const lines = [HEADER, ...chain(null, "a1", "ü2", "a3"), line("label", "l1", "a3", { targetId: "a1", label: "🌿" })];
  const content = bytesOf(file(...lines));
  const ends = lines.map((_, n) => bytesOf(file(...lines.slice(0, n + 1))).length);
  for (let size = ends[0] as number; size <= content.length; size++) {
    const reading = readSound(content.subarray(0, size));
    // The last line counts as whole once only its LF is missing.
    const whole = ends.filter((end) => end <= size + 1).length;
    assert.deepEqual(ids(reading), ["a1", "ü2", "a3", "l1"].slice(0, whole - 1), `${size} bytes`);
    const torn = !ends.includes(size) && !ends.includes(size + 1);
    assert.deepEqual(codes(reading.index.problems), torn ? [`torn-tail:${whole + 1}`] : [], `${size} bytes`);
    assert.equal(reading.sealed, ends.includes(size), `${size} bytes`);
  }
});

test("[F7] every byte prefix of a header alone is empty or no session", () => {
  const content = bytesOf(HEADER);
  assert.deepEqual(read(""), { kind: "empty" });
  for (let size = 1; size < content.length; size++)
    assert.deepEqual(read(content.subarray(0, size)), {
      kind: "invalid",
      line: 1,
      reason: "it is not a session file: its first line is not JSON",
    });
});

test("[F6] LF alone ends a line: U+2028, U+2029, U+0085 and CR are text or space", () => {
  const text = "one\u2028two\u2029three\u0085four";
  const entry = line("custom", "a1", null, { customType: "x", data: text });
  const reading = readSound(file(HEADER, entry));
  assert.equal(Reflect.get(reading.index.at(0), "data"), text);
  assert.deepEqual(reading.index.problems, []);
});

test("[F6] dB11 a BOM at the start is skipped, one inside a text is kept", () => {
  const entry = line("custom", "a1", null, { customType: "x", data: "\ufeffkept\ufeff" });
  const reading = readSound(`\ufeff${file(HEADER, `\ufeff${entry}`)}`);
  assert.deepEqual(reading.index.entries(), [JSON.parse(entry)]);
  assert.deepEqual(reading.index.originOf("a1"), { line: 2, offset: HEADER.length + 7, length: bytesOf(entry).length });
  assert.deepEqual(reading.index.problems, []);
});

test("[F6, W3] dB12 CRLF, mixed line ends and no final newline", () => {
  const [a1, a2, a3] = chain(null, "a1", "a2", "a3") as [string, string, string];
  const reading = readSound(`${HEADER}\r\n${a1}\r\n${a2}\n\r\n \t \n${a3}`);
  assert.deepEqual(
    reading.index.entries(),
    [a1, a2, a3].map((text) => JSON.parse(text)),
  );
  assert.deepEqual(reading.index.problems, []);
  assert.equal(reading.sealed, false);
  assert.equal(reading.lines, 6);
  // The place of an entry is that of its record, without CR and spaces.
  assert.equal(reading.index.originOf("a1")?.length, a1.length);
});

test("[F3] omp's title slot names the session, an empty one unnames it, anything else in line 1 is no slot", () => {
  const slot = (title: string, more: object = {}): string =>
    JSON.stringify({ type: "title", v: 1, title, updatedAt: at(0), pad: "   ", ...more });
  const titled = JSON.stringify({ ...(JSON.parse(HEADER) as object), title: "From the header", titleSource: "auto" });
  const name = (...lines: string[]): unknown => readSound(file(...lines)).index.name;
  assert.deepEqual(name(titled), { text: "From the header", source: "auto" });
  assert.deepEqual(name(slot("From the slot", { source: "auto" }), titled), { text: "From the slot", source: "auto" });
  assert.deepEqual(name(slot("No source"), HEADER), { text: "No source", source: "user" });
  assert.equal(name(slot(""), titled), undefined);
  assert.equal(readSound(file(slot("x"), HEADER, message("a1", null))).index.originOf("a1")?.line, 3);
  assert.deepEqual(read(file(slot("x", { v: 2 }), HEADER)), {
    kind: "invalid",
    line: 1,
    reason: 'it is not a session file: its first record is of type "title", not "session"',
  });
  assert.deepEqual(read(file(slot("x"))), { kind: "invalid", line: 1, reason: "it has no session header" });
});

test("[F3] what pi and omp write beside messages is read as it is, and nothing of it is a problem", () => {
  const lines = [
    message("p1", null),
    line("title_change", "t1", "p1", { title: "Bread", source: "auto", trigger: "x" }),
    line("model_change", "mc", "t1", { model: "anthropic/claude", role: "default" }),
    line("service_tier_change", "st", "mc", { serviceTier: "flex" }),
    line("mode_change", "mo", "st", { mode: "plan", data: { file: "p.md" } }),
    line("mcp_tool_selection", "mt", "mo", { selectedToolNames: ["a"] }),
    line("ttsr_injection", "tt", "mt", { injectedRules: ["r"] }),
    line("usage", "us", "tt", { kind: "cache_warm", provider: "p", model: "m", usage: {} }),
    line("model_usage", "mu", "us", { purpose: "title", provider: "p", model: "m", usage: {} }),
    line("context_edit", "ce", "mu", { targetId: "p1", replacement: null }),
    line("credential_pin", "cp", "ce", { provider: "p", hash: "00" }),
    line("session_init", "si", "cp", { systemPrompt: "s", task: "t", tools: [] }),
    line("branch_summary", "bs", "si", { fromId: "V1StGXR8", summary: "s", fromExtension: true }),
    line("compaction", "co", "bs", { summary: "s", firstKeptEntryId: "p1", tokensBefore: 1, fromHook: true }),
    line("reset_boundary", "V1StGXR8_Z5jdHi6B-myT", "co"),
  ];
  const reading = readSound(file(HEADER, ...lines));
  assert.deepEqual(
    reading.index.entries(),
    lines.map((text) => JSON.parse(text)),
  );
  assert.deepEqual(reading.index.problems, []);
  assert.equal(reading.index.leafId, "V1StGXR8_Z5jdHi6B-myT");
});

test("[F6] whatever bytes follow a valid header, nothing throws and the good entries before them are there", () => {
  const good = bytesOf(file(HEADER, ...chain(null, "a1", "a2")));
  const tokens = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    '"',
    "\\",
    "\n",
    "\0",
    "\r",
    '{"type":"',
    '"timestamp":"t"',
    message("a3", "a2"),
    "null",
    "1e999",
    "\u2028",
    HEADER,
  );
  const junk = fc.oneof(
    fc.uint8Array({ maxLength: 80 }),
    fc.array(tokens, { maxLength: 12 }).map((parts) => bytesOf(parts.join(""))),
  );
  fc.assert(
    fc.property(junk, fc.integer({ min: 1, max: 50 }), (bytes, size) => {
      const content = joined(good, bytes);
      const reading = readSound(content);
      assert.deepEqual(ids(reading).slice(0, 2), ["a1", "a2"]);
      reading.index.tree();
      assert.deepEqual(picture(readInChunks(content, size)), picture(reading));
    }),
    { seed: 5, numRuns: 400 },
  );
});
