/**
 * The limits of tool results: cutting from the front, from the back and within a line, and plain text of output.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BoundedLines,
  counted,
  formatSize,
  nextCharacter,
  plainOutput,
  startOfLine,
  tailOf,
  withNotes,
} from "../../src/agent/output-limits.ts";

test("[A1] lines are taken until one is over the number of lines or of bytes", () => {
  const few = new BoundedLines(2, 100);
  assert.deepEqual(
    [few.add("a"), few.add("b"), few.add("c"), few.toString(), few.size],
    [true, true, false, "a\nb", 2],
  );
  const short = new BoundedLines(10, 6);
  assert.deepEqual([short.add("äb"), short.add("cd"), short.add("e"), short.toString()], [true, false, true, "äb\ne"]);
});

test("[A1] the tail of a text is its last whole lines", () => {
  assert.deepEqual(tailOf("a\nb\nc\n", 2, 100), { text: "b\nc", lines: 2, cut: true, partialLine: false });
  assert.deepEqual(tailOf("a\nb\nc", 3, 100), { text: "a\nb\nc", lines: 3, cut: false, partialLine: false });
  assert.deepEqual(tailOf("aaaa\nbb\ncc", 9, 5), { text: "bb\ncc", lines: 2, cut: true, partialLine: false });
  assert.deepEqual(tailOf("a\n\n\nb", 2, 100), { text: "\nb", lines: 2, cut: true, partialLine: false });
  assert.deepEqual(tailOf("\n\n\n", 2, 100), { text: "\n", lines: 2, cut: true, partialLine: false });
  assert.deepEqual(tailOf("", 2, 100), { text: "", lines: 0, cut: false, partialLine: false });
});

test("[A1] one overlong last line is cut at its beginning, between characters", () => {
  assert.deepEqual(tailOf("x\näöü", 9, 5), { text: "öü", lines: 1, cut: true, partialLine: true });
  assert.deepEqual(tailOf("😀😀", 9, 7), { text: "😀", lines: 1, cut: true, partialLine: true });
});

test("[A1] lines are cut between characters", () => {
  assert.equal(startOfLine("abc", 3), "abc");
  assert.equal(startOfLine("ab😀c", 3), "ab");
  assert.equal(startOfLine("ab😀c", 4), "ab😀");
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5].map((offset) => nextCharacter(Buffer.from("a😀b"), offset)),
    [0, 1, 5, 5, 5, 5],
  );
});

test("[A3] output is plain text: no escape sequences, of redrawn lines the last state", () => {
  const cases: [printed: string, plain: string][] = [
    ["\x1b[31mred\x1b[0m", "red"],
    ["a\r\nb\r\n", "a\nb\n"],
    ["10%\r20%\r100%\ndone", "100%\ndone"],
    ["10%\r20%\r", "20%"],
    ["\x1b]0;title\x07text", "text"],
    ["\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"],
    ["\x1b]52;c;never ends\nnext line", "\nnext line"],
    ["\x1b(B\x1b=\x1bM.", "."],
    ["bell\x07 null\0 back\b del\x7f csi\x9b31mx", "bell null back del csix"],
    ["tab\tstays", "tab\tstays"],
    ["\x1b", ""],
    ["\x1b[", ""],
    ["\u2028 ä 😀", "\u2028 ä 😀"],
  ];
  for (const [printed, plain] of cases) assert.equal(plainOutput(printed), plain);
});

test("[A1] sizes, counts and notes read as sentences", () => {
  assert.deepEqual([0, 1, 1023, 1024, 51_200, 5 * 1024 ** 2, 3 * 1024 ** 3].map(formatSize), [
    "0 bytes",
    "1 byte",
    "1023 bytes",
    "1.0 KB",
    "50.0 KB",
    "5.0 MB",
    "3.0 GB",
  ]);
  assert.deepEqual(
    [counted(1, "line"), counted(2000, "line"), counted(0, "match", "matches")],
    ["1 line", "2,000 lines", "0 matches"],
  );
  assert.equal(withNotes("text", ["One.", "Two."]), "text\n\n[One.]\n[Two.]");
  assert.equal(withNotes("", ["One."]), "[One.]");
  assert.equal(withNotes("text", []), "text");
});
