import assert from "node:assert/strict";
import { test } from "node:test";
import { readSession } from "../../src/tree/reader.ts";
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
  read,
  readSound,
} from "../support/session-lines.ts";

const [a1, a2, a3, a4] = chain(null, "a1", "a2", "a3", "a4") as [string, string, string, string];
/** Ids, problems and leaf of a file that must open. */
const opened = (content: string | Uint8Array): object => {
  const reading = readSound(content);
  return { ids: ids(reading), problems: codes(reading.index.problems), leaf: reading.index.leafId };
};

test("[F6, W3] dB01 a torn tail is reported, the rest is there, and the next line goes on its own", () => {
  const torn = '{"type":"message","id":"a2","parentId":"a1","times';
  const content = file(HEADER, a1) + torn;
  const reading = readSound(content);
  assert.deepEqual(ids(reading), ["a1"]);
  assert.equal(reading.sealed, false);
  assert.deepEqual(reading.index.problems, [
    { code: "torn-tail", line: 3, text: "Line 3, the last one, was not written to its end and is left out." },
  ]);
  const after = opened(`${content}\n${file(message("a3", "a1"))}`);
  assert.deepEqual(after, { ids: ["a1", "a3"], problems: ["bad-line:3"], leaf: "a3" });
});

test("[F6] dB01 a torn tail that ends inside a multi-byte character", () => {
  const bytes = bytesOf(file(HEADER, a1) + message("ü", "a1").slice(0, 24));
  assert.deepEqual(opened(bytes.subarray(0, bytes.length - 1)), { ids: ["a1"], problems: ["torn-tail:3"], leaf: "a1" });
});

test("[F6] dB03 NUL blocks: a whole line, after a record, before one, a last line, all kept apart", () => {
  const nuls = (count: number): string => "\0".repeat(count);
  const kept = (problems: string[], leaf = "a3"): object => ({ ids: ["a1", "a2", "a3"], problems, leaf });
  assert.deepEqual(opened(file(HEADER, a1, nuls(700), a2, a3)), kept(["nul-run:3"]));
  assert.deepEqual(opened(file(HEADER, a1, a2 + nuls(9000), a3)), kept(["nul-run:3"]));
  assert.deepEqual(opened(file(HEADER, a1, nuls(9000) + a2, a3)), kept(["nul-run:3"]));
  assert.deepEqual(opened(file(HEADER, a1, a2, a3) + nuls(143_000)), kept(["nul-run:5"]));
  assert.deepEqual(opened(file(HEADER, a1, a2) + a3 + nuls(1206)), kept(["nul-run:4"]));
  assert.deepEqual(opened(file(HEADER, `${nuls(5)}${a1}${nuls(5)}${a2}`, a3)), kept(["fused-line:2"]));
  assert.deepEqual(opened(file(HEADER, `{"type":"mess${nuls(40)}${a1}`, a2, a3)), kept(["fused-line:2"]));
  assert.equal(readSound(file(HEADER, a1) + nuls(9)).sealed, false);
  assert.equal(readSound(file(HEADER, a1 + nuls(9))).index.originOf("a1")?.length, a1.length);
  assert.deepEqual(readSound(file(HEADER, nuls(3) + a1)).index.originOf("a1"), {
    line: 2,
    offset: HEADER.length + 4,
    length: a1.length,
  });
  // A NUL inside a record makes it bad; a NUL written as JSON writes it is text.
  assert.deepEqual(opened(file(HEADER, a1, a2.replace("user", "us\0er"), a3)), {
    ids: ["a1", "a3"],
    problems: ["bad-line:3", "missing-parent:4"],
    leaf: "a3",
  });
  assert.deepEqual(opened(file(HEADER, a1, a2.replace("user", String.raw`us\u0000er`), a3)), kept([]));
});

test("[F6] dB04 one bad line in the middle costs only itself", () => {
  const lines = [
    HEADER,
    a1,
    a2,
    a3,
    '{"type":"custom","da',
    message("b1", "a3"),
    message("b2", "b1"),
    message("b3", "b2"),
  ];
  assert.deepEqual(opened(file(...lines)), {
    ids: ["a1", "a2", "a3", "b1", "b2", "b3"],
    problems: ["bad-line:5"],
    leaf: "b3",
  });
});

test("[F6, T4] dB04 children of a lost line stay readable as a branch of their own", () => {
  const reading = readSound(file(HEADER, a1, a2.slice(0, 40), a3, a4));
  assert.deepEqual(ids(reading), ["a1", "a3", "a4"]);
  assert.equal(reading.index.leafId, "a4");
  assert.deepEqual(
    reading.index.path("a4").map((entry) => entry.id),
    ["a3", "a4"],
  );
  assert.deepEqual(reading.index.problems, [
    { code: "bad-line", line: 3, text: "Line 3 is not valid JSON and is left out." },
    {
      code: "missing-parent",
      line: 4,
      text: "Entry a3 follows a2, which is not in the file, and starts a branch of its own.",
    },
  ]);
});

test("[F6] fused lines give up every whole record they start or end with", () => {
  const frag =
    '{"type":"message","id":"zz","parentId":"a1","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"cut {\\"of';
  const all = { ids: ["a1", "a2", "a3"], problems: ["fused-line:3"], leaf: "a3" };
  assert.deepEqual(opened(file(HEADER, a1, frag + a2, a3)), all, "fragment, record");
  assert.deepEqual(opened(file(HEADER, a1, a2 + frag, a3)), all, "record, fragment");
  assert.deepEqual(opened(file(HEADER, a1, a2 + a3)), all, "record, record");
  assert.deepEqual(opened(file(HEADER, a1) + a2 + a3), all, "record, record without newline");
  assert.deepEqual(opened(file(HEADER, a1) + a2 + a3 + frag), all, "records, torn tail");
  assert.deepEqual(opened(file(HEADER, a1, `${a2}${frag}${a3}`)), all, "record, fragment, record");
  assert.deepEqual(opened(file(HEADER, a1, `${frag}${a2} \0 ${a3}\r`)), all, "fragment, record, padding, record");
  assert.deepEqual(opened(file(HEADER, a1, `${a2} oops`, a3)), all, "record, garbage");
  assert.deepEqual(opened(file(HEADER, a1, `]],"x":1}${a2}`, a3)), all, "end of something, record");
  assert.deepEqual(opened(file(`{"type":"session","ver${HEADER}`, a1)), {
    ids: ["a1"],
    problems: ["fused-line:1"],
    leaf: "a1",
  });
});

test("[F6] each record of a fused line knows its own bytes, whatever stands before it", () => {
  const content = Buffer.concat([
    Buffer.from(`${HEADER}\n{"type":"message","id":"`),
    Buffer.from([0xf0, 0x9f]),
    Buffer.from(file(a1 + message("ü→", "a1"))),
  ]);
  const reading = readSound(content);
  assert.deepEqual(ids(reading), ["a1", "ü→"]);
  for (const entry of reading.index.entries()) {
    const origin = reading.index.originOf(entry.id);
    assert.ok(origin);
    assert.deepEqual(JSON.parse(content.subarray(origin.offset, origin.offset + origin.length).toString()), entry);
  }
  assert.deepEqual(reading.index.problems, [
    {
      code: "fused-line",
      line: 2,
      text: "Line 2 holds several records or fragments run together; the 2 whole records in it are used.",
    },
  ]);
});

test("[F6] parts of a torn record are not taken for records", () => {
  const call = '{"type":"toolCall","id":"c1","name":"bash","arguments":{}}';
  const torn = `{"type":"message","id":"a2","parentId":"a1","timestamp":"${at(0)}","message":{"role":"assistant","content":[{"type":"text","text":"x"},${call}`;
  // Its start is sound and it ends with a brace, so it keeps its place, and what follows it its parent.
  assert.deepEqual(opened(file(HEADER, a1, torn, a3)), {
    ids: ["a1", "a2", "a3"],
    problems: ["bad-entry:3"],
    leaf: "a3",
  });
  assert.deepEqual(opened(file(HEADER, a1, torn.replace('"a1"', '"a\\u0031"'), a3)), {
    ids: ["a1", "a3"],
    problems: ["bad-line:3", "missing-parent:4"],
    leaf: "a3",
  });
  assert.deepEqual(opened(file(HEADER, a1) + torn), { ids: ["a1"], problems: ["torn-tail:3"], leaf: "a1" });
});

test("[F6, T5] salvaging a long line is linear: a torn record with 200,000 blocks", () => {
  const blocks = Array.from({ length: 200_000 }, () => '{"type":"text","timestamp":"t","text":"}{"}').join(",");
  const torn = `{"type":"message","id":"zz","content":[${blocks}`;
  assert.deepEqual(opened(file(HEADER, a1, torn + a2, torn)), {
    ids: ["a1", "a2"],
    problems: ["fused-line:3", "bad-line:4"],
    leaf: "a2",
  });
  // 50,000 whole records on one line are 50,000 entries.
  const fused = chain(null, ...Array.from({ length: 50_000 }, (_, n) => `f${n}`)).join("");
  assert.equal(readSound(file(HEADER, fused)).index.size, 50_000);
});

test("[F7] dB06 what is not a session is refused with the reason", () => {
  const png = Buffer.from("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489", "hex");
  const notJson = "it is not a session file: its first line is not JSON";
  const notAHeader = (type: string): string =>
    `it is not a session file: its first record is of type ${type}, not "session"`;
  const invalid = (reason: string, line = 1): object => ({ kind: "invalid", line, reason });
  assert.deepEqual(
    read(file('{"type":"event","data":"x"}', '{"type":"event","data":"y"}')),
    invalid(notAHeader('"event"')),
  );
  assert.deepEqual(read(png), invalid(notJson));
  assert.deepEqual(
    read(Buffer.concat(Array.from({ length: 20 }, () => Buffer.concat([png, Buffer.from("\n")])))),
    invalid(notJson),
  );
  assert.deepEqual(read("# Notes\n\nSome text.\n"), invalid(notJson));
  assert.deepEqual(read(`${JSON.stringify(JSON.parse(HEADER), null, 2)}\n`), invalid(notJson));
  assert.deepEqual(read(file(a1, HEADER)), invalid(notAHeader('"message"')));
  assert.deepEqual(read(file('{"name":"x"}')), invalid(notAHeader("none")));
  assert.deepEqual(read(file('{"type":7,"id":"x"}')), invalid(notAHeader("7")));
  assert.deepEqual(read(file(HEADER.replace('"id":"s1",', ""), a1)), invalid("its session header has no id"));
  assert.deepEqual(read(file(HEADER.replace('"s1"', "1"), a1)), invalid("its session header has no id"));
  assert.deepEqual(read(file(HEADER.slice(0, -9), a1)), invalid(notAHeader('"message"'), 2));
  assert.deepEqual(read("null\n[]\n"), invalid(notJson));
});

test("[F7] a file of another kind is given up early, not read to its end", () => {
  const junk = bytesOf("not JSON\n".repeat(500_000));
  let bytesRead = 0;
  const reading = readSession({
    read(offset, length) {
      const part = junk.subarray(offset, offset + length);
      bytesRead += part.length;
      return part;
    },
  });
  assert.equal(reading.kind, "invalid");
  assert.equal(bytesRead, 64 * 1024);
});

test("[F6] a damaged line before the header costs only itself", () => {
  assert.deepEqual(opened(file('{"type":"title","v":1,"tit', HEADER, a1)), {
    ids: ["a1"],
    problems: ["bad-line:1"],
    leaf: "a1",
  });
  assert.deepEqual(opened(file("\0\0\0", HEADER, a1)), { ids: ["a1"], problems: ["nul-run:1"], leaf: "a1" });
});

test("[F7] dB08 0 bytes, white space and NULs are empty; a header alone is a session without entries", () => {
  for (const content of ["", "\n\n", " \r\n\t\n", "\0".repeat(4096), "\0\n\0", "\0\n".repeat(40), "\ufeff", "\ufeff\n"])
    assert.deepEqual(read(content), { kind: "empty" }, JSON.stringify(content));
  assert.deepEqual(opened(file(HEADER)), { ids: [], problems: [], leaf: null });
  assert.deepEqual(opened(HEADER), { ids: [], problems: [], leaf: null });
});

test("[F6] dB10 a record over three physical lines is reported line by line, the rest loads", () => {
  const broken = a2.replace('"content":"a2"', '"content":"one\ntwo\nthree"');
  assert.deepEqual(opened(file(HEADER, a1, broken, message("a3", "a1"))), {
    ids: ["a1", "a3"],
    problems: ["bad-line:3", "bad-line:4", "bad-line:5"],
    leaf: "a3",
  });
});

test("[F6] values that are no records, records without type or id, a second header", () => {
  const other = HEADER.replace("s1", "s2");
  const values = ["null", "0", '""', "false", "12", '"text"', "[]", "[{}]"];
  const lines = [
    HEADER,
    a1,
    ...values,
    other,
    "{}",
    '{"type":"message"}',
    '{"id":"x"}',
    '{"type":1,"id":"x"}',
    '{"type":"message","id":1}',
    a2,
  ];
  const reading = readSound(file(...lines));
  assert.equal(reading.header.id, "s1");
  assert.deepEqual(opened(file(...lines)), {
    ids: ["a1", "a2"],
    problems: [
      ...values.map((_, n) => `not-an-object:${n + 3}`),
      "second-header:11",
      ...[12, 13, 14, 15, 16].map((n) => `no-id:${n}`),
    ],
    leaf: "a2",
  });
});

test("[F6] duplicate keys: the last one counts, as JSON readers do", () => {
  const twice = '{"type":"custom","id":"x","id":"a1","parentId":"zz","parentId":null,"timestamp":"t","customType":"c"}';
  assert.deepEqual(opened(file(HEADER, twice)), { ids: ["a1"], problems: [], leaf: "a1" });
});

test("[F6] a record nested 100,000 deep keeps its place and adds nothing", () => {
  const deep = "[".repeat(100_000) + "]".repeat(100_000);
  const objects = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
  for (const nested of [deep, objects]) {
    const record = line("message", "a2", "a1", { message: 0 }).replace(
      '"message":0',
      `"message":{"role":"user","content":${nested}}`,
    );
    const reading = readSound(file(HEADER, a1, record, a3));
    assert.deepEqual(opened(file(HEADER, a1, record, a3)), {
      ids: ["a1", "a2", "a3"],
      problems: ["bad-entry:3"],
      leaf: "a3",
    });
    assert.deepEqual(reading.index.get("a2"), { type: "message", id: "a2", parentId: "a1", timestamp: at(0) });
    assert.equal(reading.index.originOf("a2")?.length, record.length);
  }
});

test("[F6] bytes that are not UTF-8 are shown as U+FFFD and reported", () => {
  const record = Buffer.from(message("a1", null));
  record[record.indexOf("a1", record.indexOf("content"))] = 0xff;
  const reading = readSound(Buffer.concat([Buffer.from(file(HEADER)), record, Buffer.from("\n")]));
  assert.deepEqual(reading.index.get("a1"), {
    ...JSON.parse(a1),
    message: { role: "user", content: "\ufffd1", timestamp: 0 },
  });
  assert.deepEqual(codes(reading.index.problems), ["not-utf8:2"]);
});

test("[F7, F4] dB17 a newer version opens for reading; unknown kinds keep their place and fields", () => {
  const future = line("future_thing", "x", "a1", { payload: { deep: [1] }, __extra: true });
  const reading = readSound(file(HEADER.replace('"version":3', '"version":99'), a1, future, message("a2", "x")));
  assert.equal(reading.newer, true);
  assert.equal(reading.migratedFrom, undefined);
  assert.equal(reading.header.version, 99);
  assert.deepEqual(reading.index.get("x"), JSON.parse(future));
  assert.deepEqual(
    reading.index.path("a2").map((entry) => entry.id),
    ["a1", "x", "a2"],
  );
  assert.deepEqual(reading.index.problems, [
    {
      code: "newer-version",
      line: 1,
      text: "The file has version 99: it was made by a newer version of the program and is opened for reading only.",
    },
  ]);
});

test("[F7] versions that are no plain number", () => {
  const versionRead = (version: string): object => {
    const reading = readSound(file(HEADER.replace('"version":3', `"version":${version}`), a1));
    const { newer, migratedFrom } = reading;
    return { newer, migratedFrom, problems: codes(reading.index.problems) };
  };
  const sound = { newer: false, migratedFrom: undefined, problems: [] };
  assert.deepEqual(versionRead("3.0"), sound);
  assert.deepEqual(versionRead('"3"'), sound);
  assert.deepEqual(versionRead("null"), { ...sound, migratedFrom: 1 });
  assert.deepEqual(versionRead("0"), { ...sound, migratedFrom: 1 });
  assert.deepEqual(versionRead("-7"), { ...sound, migratedFrom: 1 });
  assert.deepEqual(versionRead("2.5"), { ...sound, migratedFrom: 2 });
  assert.deepEqual(versionRead("3.5"), { ...sound, newer: true, problems: ["newer-version:1"] });
  assert.deepEqual(versionRead("1e999"), { ...sound, newer: true, problems: ["newer-version:1"] });
  for (const odd of ['"three"', '""', "{}", "[3]", "true"])
    assert.deepEqual(versionRead(odd), { ...sound, problems: ["bad-version:1"] }, odd);
});

test("[F7] header fields of other types become absent or empty", () => {
  const reading = readSound(
    '{"type":"session","version":3,"id":"s1","timestamp":5,"cwd":null,"parentSession":{},"title":7,"own":[1]}\n',
  );
  assert.deepEqual(reading.header, { type: "session", version: 3, id: "s1", timestamp: "", cwd: "", own: [1] });
  assert.equal(reading.index.name, undefined);
});

test("[F6, F7] known kinds with wrong fields stay in the tree, add nothing and break nothing", () => {
  const bad = [
    line("message", "e1", null),
    line("message", "e2", "e1", { message: "text" }),
    line("message", "e3", "e2", { message: { content: "no role" } }),
    line("compaction", "e4", "e3", { firstKeptEntryId: "e1" }),
    line("branch_summary", "e5", "e4", { summary: 5 }),
    line("custom", "e6", "e5"),
    line("custom_message", "e7", "e6", { customType: "x", content: 9 }),
    line("label", "e8", "e7", { label: "no target" }),
    line("model_change", "e9", "e8", { model: "no-slash" }),
    line("mode_change", "e10", "e9"),
    line("mcp_tool_selection", "e11", "e10", { selectedToolNames: "all" }),
    line("ttsr_injection", "e12", "e11"),
    line("session_info", "e13", "e12", { name: null }),
    line("title_change", "e14", "e13", { title: 1 }),
    line("usage", "e15", "e14", { usage: 12 }),
    line("model_usage", "e16", "e15"),
    line("context_edit", "e17", "e16"),
  ];
  const reading = readSound(file(HEADER, ...bad));
  assert.equal(reading.index.size, bad.length);
  reading.index.readAll();
  assert.deepEqual(
    codes(reading.index.problems),
    bad.map((_, n) => `bad-entry:${n + 2}`),
  );
  assert.equal(
    reading.index.problems[0]?.text,
    "Entry e1 is a broken message (no message); it keeps its place in the tree and adds nothing.",
  );
  assert.equal(reading.index.faultAt(0), "no message");
  assert.equal(reading.index.leafId, "e17");
  assert.deepEqual([...reading.index.labels()], []);
  assert.equal(reading.index.name, undefined);
  assert.deepEqual(reading.index.usage(), {
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 0,
    cost: 0,
    byModel: new Map(),
  });
});

test("[F6, T4] a parentId that is no id, a timestamp that is no text", () => {
  const record = '{"type":"custom","id":"b1","timestamp":-1,"customType":"x"}';
  const reading = readSound(
    file(HEADER, a1, record, line("custom", "b2", null, { customType: "x" }).replace("null", "7")),
  );
  assert.deepEqual(reading.index.get("b1"), {
    type: "custom",
    id: "b1",
    parentId: null,
    timestamp: "",
    customType: "x",
  });
  assert.deepEqual(reading.index.problems, [
    { code: "missing-parent", line: 3, text: "Entry b1 names no parent and starts a branch of its own." },
    { code: "missing-parent", line: 4, text: "Entry b2 names no parent and starts a branch of its own." },
  ]);
  assert.equal(reading.index.leafId, "a1");
});

test("[F5] dB34 ids like __proto__, constructor and toString are plain data", () => {
  const proto =
    '{"type":"message","id":"__proto__","parentId":null,"timestamp":"t","message":{"role":"user","content":"x","__proto__":{"polluted":1}}}';
  const label = line("label", "toString", "constructor", { targetId: "__proto__", label: "__proto__" });
  const reading = readSound(file(HEADER, proto, message("constructor", "__proto__"), label));
  assert.deepEqual(
    reading.index.path("toString").map((entry) => entry.id),
    ["__proto__", "constructor", "toString"],
  );
  assert.equal(reading.index.label("__proto__"), "__proto__");
  assert.equal(reading.index.has("hasOwnProperty"), false);
  assert.equal(reading.index.label("valueOf"), undefined);
  assert.equal(JSON.stringify(reading.index.get("__proto__")), proto);
  assert.equal(Reflect.get({}, "polluted"), undefined);
  assert.deepEqual(reading.index.problems, []);
});
