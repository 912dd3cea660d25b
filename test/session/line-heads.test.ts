import assert from "node:assert/strict";
import { test } from "node:test";
import { LineHeads } from "../../src/session/line-heads.ts";

/** Each line as [number, beginning, whether it is whole]. */
function headsOf(content: string, chunkSize: number): [number, string, boolean][] {
  const found: [number, string, boolean][] = [];
  const heads = new LineHeads(({ number, bytes, whole }) => found.push([number, Buffer.from(bytes).toString(), whole]));
  const bytes = Buffer.from(content);
  const buffer = Buffer.alloc(chunkSize);
  for (let offset = 0; offset < bytes.length; offset += chunkSize)
    heads.push(buffer.subarray(0, bytes.copy(buffer, 0, offset, offset + chunkSize)));
  heads.finish();
  return found;
}

test("[D2] lines come whole and numbered, whatever the size of the chunks", () => {
  for (const size of [1, 2, 3, 7, 100])
    assert.deepEqual(headsOf("one\n\ntwo é\nlast", size), [
      [1, "one", true],
      [2, "", true],
      [3, "two é", true],
      [4, "last", true],
    ]);
  assert.deepEqual(headsOf("one\n", 2), [[1, "one", true]]);
  assert.deepEqual(headsOf("", 2), []);
});

test("[D2] dB15 of a long line the first 64 KiB are held, and no more", () => {
  const long = "x".repeat(1_000_000);
  for (const size of [1000, 65_536, 3_000_000])
    assert.deepEqual(headsOf(`a\n${long}\n${long}`, size), [
      [1, "a", true],
      [2, "x".repeat(65_536), false],
      [3, "x".repeat(65_536), false],
    ]);
});
