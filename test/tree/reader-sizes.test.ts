import assert from "node:assert/strict";
import { test } from "node:test";
import { parseLine } from "../../src/tree/line-parser.ts";
import { LineSplitter } from "../../src/tree/line-splitter.ts";
import { readSession } from "../../src/tree/reader.ts";
import { HEADER, bytesOf, file, ids, line, message, readSound } from "../support/session-lines.ts";

test("[F8] dB14 H, newlines up to 512 MiB + 16 MiB, then an entry", () => {
  const gap = (512 + 16) * 1024 * 1024;
  const [head, tail] = [bytesOf(file(HEADER)), bytesOf(file(message("a1", null)))];
  const newlines = new Uint8Array(1024 * 1024).fill(0x0a);
  let bytesRead = 0;
  const reading = readSession({
    read(offset, length) {
      const part =
        offset < head.length
          ? head.subarray(offset)
          : offset < head.length + gap
            ? newlines.subarray(0, Math.min(length, head.length + gap - offset))
            : tail.subarray(offset - head.length - gap);
      bytesRead += part.length;
      return part;
    },
  });
  assert.equal(reading.kind, "session");
  if (reading.kind !== "session") return;
  assert.equal(bytesRead, reading.bytes);
  assert.deepEqual(ids(reading), ["a1"]);
  assert.deepEqual(reading.index.originOf("a1"), { line: gap + 2, offset: head.length + gap, length: tail.length - 1 });
  assert.deepEqual(reading.index.problems, []);
  assert.equal(reading.bytes, head.length + gap + tail.length);
});

test("[F8] dB15 one line of 50 MB, as text and as an image", () => {
  const size = 50 * 1024 * 1024;
  const big = "x".repeat(size);
  const result = { role: "toolResult", toolCallId: "c", toolName: "bash", isError: false, timestamp: 0 };
  const text = line("message", "a1", null, { message: { ...result, content: [{ type: "text", text: big }] } });
  const image = line("message", "a2", "a1", {
    message: { ...result, content: [{ type: "image", data: big, mimeType: "image/png" }] },
  });
  const reading = readSound(file(HEADER, text, image, message("a3", "a2")));
  assert.deepEqual(ids(reading), ["a1", "a2", "a3"]);
  assert.equal(reading.index.originOf("a2")?.length, image.length);
  assert.deepEqual(reading.index.problems, []);
});

/** What a splitter that reads lines of up to 1,000 bytes makes of chunks of 100. */
function split(content: string): object[] {
  const lines: object[] = [];
  const splitter = new LineSplitter(
    ({ bytes, ...rest }) => lines.push({ ...rest, text: new TextDecoder().decode(bytes) }),
    1000,
  );
  for (let at = 0; at < content.length; at += 100) splitter.push(bytesOf(content.slice(at, at + 100)));
  splitter.finish();
  return lines;
}

test("[F8, F6] dB14 as a hole: NULs before or after a record do not count, those within it do", () => {
  const hole = "\0".repeat(5000);
  const sound = { number: 1, terminated: true, tooLong: false };
  assert.deepEqual(split(`${hole}text\n`), [{ ...sound, offset: 5000, nuls: 5000, text: "text" }]);
  assert.deepEqual(split(`text${hole}\n`), [{ ...sound, offset: 0, nuls: 5000, text: "text" }]);
  assert.deepEqual(split(`${hole}text${hole}`), [
    { ...sound, terminated: false, offset: 5000, nuls: 10_000, text: "text" },
  ]);
  assert.deepEqual(split(`${hole}\n${hole}`), [
    { ...sound, offset: 5000, nuls: 5000, text: "" },
    { ...sound, number: 2, terminated: false, offset: 10_001, nuls: 5000, text: "" },
  ]);
  const within = "\0".repeat(500);
  assert.deepEqual(split(`one${within}two\n`), [{ ...sound, offset: 0, nuls: 0, text: `one${within}two` }]);
  assert.deepEqual(split(`one${hole}two\nnext\n`), [
    { ...sound, tooLong: true, offset: 0, nuls: 0, text: "" },
    { ...sound, number: 2, offset: 5007, nuls: 0, text: "next" },
  ]);
});

test("[F8] a line too long to read costs only itself", () => {
  const sound = { terminated: true, tooLong: false, nuls: 0 };
  const fits = "x".repeat(1000);
  assert.deepEqual(split(`a\n${fits}\n${fits}x\n${fits}${fits}\nb`), [
    { ...sound, number: 1, offset: 0, text: "a" },
    { ...sound, number: 2, offset: 2, text: fits },
    { ...sound, number: 3, offset: 1003, tooLong: true, text: "" },
    { ...sound, number: 4, offset: 2005, tooLong: true, text: "" },
    { ...sound, number: 5, offset: 4006, terminated: false, text: "b" },
  ]);
  const line = { bytes: new Uint8Array(0), offset: 0, number: 7, nuls: 0, terminated: true, tooLong: true };
  assert.deepEqual(parseLine(line), {
    records: [],
    problem: { code: "bad-line", line: 7, text: "Line 7 is longer than 512 MiB and is left out." },
  });
});
