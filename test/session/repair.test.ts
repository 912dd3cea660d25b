import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { repairSession } from "../../src/session/repair.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { checkLaws } from "../support/laws.ts";
import { quarantined, repairChecked, repaired } from "../support/repaired.ts";
import { contentOf, temporaryFile, temporaryFolder } from "../support/session-files.ts";
import { HEADER, chain, codes, file, leafRecord, line, message } from "../support/session-lines.ts";

const [a1, a2, a3, a4] = chain(null, "a1", "a2", "a3", "a4") as [string, string, string, string];
const FRAGMENT = '{"type":"message","id":"zz","parentId":"a1","timestamp":"2026-01-01T00:00:00.000Z","message":{"ro';
const nuls = (count: number): string => "\0".repeat(count);

test("[D1, F6] a sound file: nothing to repair, and nothing written", () => {
  const path = temporaryFile(file(HEADER, a1, a2));
  assert.deepEqual(repairChecked(path), {
    path,
    repaired: false,
    good: { count: 3, sha256: createHash("sha256").update(contentOf(path)).digest("hex") },
    bad: { lines: 0, bytes: 0 },
    split: 0,
    sealed: false,
    quarantine: undefined,
    backup: undefined,
    left: [],
  });
  assert.deepEqual(readdirSync(dirname(path)), [basename(path)]);
});

test("[D1, F6] dB01 dB03 dB04 what no reader can use is moved out, and all else stays byte for byte", () => {
  const good = file(HEADER, a1, a2, a3);
  const cases: [name: string, content: string | Uint8Array, moved: string[]][] = [
    ["torn tail", file(HEADER, a1, a2, a3) + FRAGMENT, ["torn-tail:5"]],
    ["bad line", file(HEADER, a1, "{oops", a2, a3), ["bad-line:3"]],
    [
      "a record over three lines",
      file(HEADER, a1, '{"type":"custom","x":"', "two", 'three"}', a2, a3),
      ["bad-line:3", "bad-line:4", "bad-line:5"],
    ],
    [
      "bare values",
      file(HEADER, "null", a1, "[1]", '"x"', a2, "7", a3),
      ["not-an-object:2", "not-an-object:4", "not-an-object:5", "not-an-object:7"],
    ],
    [
      "second headers",
      file(HEADER, a1, HEADER, a2, HEADER.replace("s1", "s2"), a3),
      ["second-header:3", "second-header:5"],
    ],
    ["a repeated line", file(HEADER, a1, a2, a1, a3), ["duplicate-line:4"]],
    ["NUL line", file(HEADER, a1, nuls(700), a2, a3), ["nul-run:3"]],
    ["NULs around records", file(HEADER, a1 + nuls(9000), nuls(3) + a2, a3), ["nul-run:2", "nul-run:3"]],
    ["NUL tail", file(HEADER, a1, a2, a3) + nuls(143_000), ["nul-run:5"]],
    ["NULs and a fragment", file(HEADER, a1, `${FRAGMENT}${nuls(40)}${a2}`, a3), ["fused-line:3", "nul-run:3"]],
    ["records run together", file(HEADER, a1 + a2 + a3), []],
    ["record, fragment, record", file(HEADER, a1, `${a2}${FRAGMENT}${a3}`), ["fused-line:3"]],
    ["records and a torn tail", file(HEADER, a1) + a2 + a3 + FRAGMENT, ["fused-line:3"]],
    ["fragment before the header", file(`{"type":"ses${HEADER}`, a1, a2, a3), ["fused-line:1"]],
    [
      "lines before the header",
      file('{"type":"title","v":1,"tit', nuls(5), HEADER, a1, a2, a3),
      ["bad-line:1", "nul-run:2"],
    ],
    ["header in a fused line", file(HEADER + HEADER + a1 + a1, a2, a3), ["second-header:1", "duplicate-line:1"]],
    ["no last newline", file(HEADER, a1, a2) + a3, []],
  ];
  for (const [name, content, moved] of cases)
    assert.deepEqual(repaired(content), { content: good, moved, left: [] }, name);
});

test("[D1, F6] bytes that are no text, and long ones, come back from quarantine as they were", () => {
  const binary = Buffer.from([0x7b, 0xff, 0xfe, 0xf0, 0x9f, 0x0d, 0x80]);
  const euros = `{"x":"a${"\u20ac".repeat(800_000)}`;
  const mixed = Buffer.concat([Buffer.from(euros), binary, Buffer.from(nuls(3)), Buffer.from("\ufeffx")]);
  const newline = Buffer.from("\n");
  const path = temporaryFile(Buffer.concat([Buffer.from(file(HEADER, a1)), binary, newline, mixed, newline]));
  const { quarantine } = repairChecked(path);
  const pieces = quarantined(quarantine);
  assert.deepEqual(Buffer.concat(pieces.map(({ bytes }) => bytes)), Buffer.concat([binary, mixed]));
  assert.deepEqual(
    pieces.map(({ line: number, bytes }) => [number, bytes.length > 1 << 20]),
    [
      [3, false],
      [4, false],
      [4, false],
      [4, false],
    ],
  );
  const texts = contentOf(quarantine!)
    .split("\n")
    .filter((row) => row.includes('"text"'));
  assert.equal(texts.length, 2, "a cut falls between characters");
});

test("[D1, F4] white space, line ends, unknown kinds and members of good lines stay as they are", () => {
  const odd = line("future_thing", "x", "a1", { payload: { deep: [1] }, 0: true, __extra: "\u2028" });
  const spaced = `\ufeff  ${JSON.stringify(JSON.parse(a2), null, 1).replaceAll("\n", " ")}\t`;
  const content = `\ufeff${HEADER}\r\n\r\n${a1}\r\n${odd}${a3}\r\n  \n${spaced}\n{oops\r\n${spaced.replace("a2", "b2")}${nuls(2)}`;
  assert.deepEqual(repaired(content), {
    content: `\ufeff${HEADER}\r\n\r\n${a1}\r\n${odd}\n${a3}\r\n  \n${spaced}\n${spaced.replace("a2", "b2")}\n`,
    moved: ["bad-line:7", "nul-run:8"],
    left: [],
  });
});

test("[D1, T5] what would need a guess is reported, left, and said why", () => {
  const compaction = line("compaction", "c1", "a1", { summary: "s", firstKeptEntryId: "absent", tokensBefore: 1 });
  const repeated = line("custom", "k", "a1", { customType: "x" });
  const reordered =
    '{"id":"k","type":"custom","parentId":"a1","timestamp":"2026-01-01T00:00:00.000Z","customType":"x"}';
  const notUtf8 = Buffer.from(file(message("?", "a1")));
  notUtf8[notUtf8.lastIndexOf("?")] = 0xff;
  const text = file(
    HEADER,
    a1,
    "{bad",
    message("b1", "gone"),
    compaction,
    message("x1", "x2"),
    message("x2", "x1"),
    message("a1", "b1"),
    line("label", "l1", "c1", { targetId: "absent", label: "x" }),
    line("message", "m1", "c1", { message: 1 }),
    leafRecord("f", "absent"),
    '{"type":"message"}',
    repeated,
    reordered,
  );
  const path = temporaryFile(Buffer.concat([Buffer.from(text), notUtf8]));
  const { left } = repairChecked(path);
  // Line numbers stay as they are up to the last entry that is known by its own.
  assert.deepEqual(
    left.map(({ code, line: number, reason }) => `${code}:${number} ${reason}`),
    [
      "missing-parent:4 any other place in the tree would be a guess",
      "bad-pointer:5 what was meant cannot be told from the file",
      "parent-cycle:7 what was meant cannot be told from the file",
      "duplicate-id:8 both records are whole, and each may be the one that others name",
      "unknown-label-target:9 what was meant cannot be told from the file",
      "bad-entry:10 the record is whole, and another program may know more of it",
      "unknown-leaf:11 what was meant cannot be told from the file",
      "no-id:12 the record is whole, and another program may know more of it",
      "duplicate-line:14 it says the same in other bytes",
      "not-utf8:15 the bytes that were there are lost, and the rest of the record is good",
    ],
  );
});

test("[D1, T5, F4] an entry known by its line number keeps it: the line before it stays, empty, and fused ones stay fused", () => {
  const second = message("a1", "a2", { second: true });
  const label = line("label", "l1", "a2", { targetId: "a1~5", label: "here" });
  const after = `${a3}${a4}`;
  assert.deepEqual(repaired(file(HEADER, a1, "{oops", a2, second, "{more", label, after)), {
    content: file(HEADER, a1, "", a2, second, label, a3, a4),
    moved: ["bad-line:3", "bad-line:6"],
    left: ["duplicate-id:5"],
  });
  assert.deepEqual(repaired(file(HEADER, a1 + a2, `${a3}{oops`, second, label.replace("~5", "~4"))), {
    content: file(HEADER, a1 + a2, a3, second, label.replace("~5", "~4")),
    moved: ["fused-line:3"],
    left: ["fused-line:2", "duplicate-id:4"],
  });
});

test("[D1, L1] leaf, labels and name are the same, and repeated leaf records go", () => {
  const name = line("session_info", "n", "a2", { name: "The name" });
  const label = line("label", "l", "n", { targetId: "a1", label: "start" });
  const path = temporaryFile(
    file(HEADER, a1, a2 + name, FRAGMENT, label, leafRecord("f", "a1"), leafRecord("g", "a2"), leafRecord("f", "a1")),
  );
  const { quarantine, left } = repairChecked(path);
  assert.deepEqual(
    quarantined(quarantine).map(({ code, line: number }) => `${code}:${number}`),
    ["bad-line:4", "duplicate-line:8"],
  );
  assert.deepEqual(left, []);
});

test("[D1, M1] an old file stays old, and keeps its second header where compactions count records", async () => {
  const header = '{"type":"session","id":"old","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/w"}';
  const said = (text: string): string =>
    JSON.stringify({
      type: "message",
      timestamp: "2025-01-01T00:00:00.000Z",
      message: { role: "user", content: text, timestamp: 0 },
    });
  const compaction =
    '{"type":"compaction","timestamp":"2025-01-01T00:00:00.000Z","summary":"s","firstKeptEntryIndex":3,"tokensBefore":1}';
  const counted = [header, said("a"), header, said("b"), compaction, said("c") + said("d")];
  assert.deepEqual(repaired(file(...counted, "{oops")), {
    content: file(...counted.slice(0, -1), said("c"), said("d")),
    moved: ["bad-line:7"],
    left: ["second-header:3"],
  });
  assert.deepEqual(repaired(file(header, said("a"), header, said("a"), "{oops")), {
    content: file(header, said("a"), said("a")),
    moved: ["second-header:3", "bad-line:5"],
    left: [],
  });
  const second = repaired(file(HEADER.replace(":3", ":2"), a1, a1, a2.replace("user", "hookMessage"), "{"));
  assert.deepEqual(second, {
    content: file(HEADER.replace(":3", ":2"), a1, a2.replace("user", "hookMessage")),
    moved: ["duplicate-line:3", "bad-line:5"],
    left: [],
  });
  const path = temporaryFile(file(...counted, "{oops"));
  repairSession(path);
  await checkLaws(await SessionManager.open(path));
});

test("[D1, F7] what is no session or newer is refused, and not touched", () => {
  const cases: [content: string, code: string][] = [
    [file(HEADER.replace(":3", ":9"), "{oops"), "newer-version"],
    ["text\n", "not-a-session"],
    ["", "empty"],
  ];
  for (const [content, code] of cases) {
    const path = temporaryFile(content);
    assert.throws(() => repairSession(path), { name: "SessionFileError", code, path });
    assert.deepEqual([contentOf(path), readdirSync(dirname(path))], [content, [basename(path)]]);
  }
  const missing = join(temporaryFolder(), "none.jsonl");
  assert.throws(() => repairSession(missing), { code: "missing" });
});

test("[D1] backups and quarantines of other repairs stay", () => {
  const content = file(HEADER, a1, "{oops");
  const path = temporaryFile(content);
  writeFileSync(`${path}.bak`, "older");
  const first = repairSession(path);
  writeFileSync(path, `${content}{more`);
  const second = repairSession(path);
  assert.deepEqual([first.backup, second.backup], [`${path}.bak.2`, `${path}.bak.3`]);
  assert.deepEqual([`${path}.bak`, `${path}.bak.2`, `${path}.bak.3`].map(contentOf), [
    "older",
    content,
    `${content}{more`,
  ]);
  assert.deepEqual(
    [first, second].map(({ quarantine }) => quarantined(quarantine).map(({ bytes }) => bytes.toString())),
    [["{oops"], ["{oops", "{more"]],
  );
  assert.equal(codes(second.left).length, 0);
  assert.deepEqual(readFileSync(path, "utf8"), file(HEADER, a1));
});
