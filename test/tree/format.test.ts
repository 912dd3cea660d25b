import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { encodeLine, readTime } from "../../src/tree/format.ts";

test("[F2] type, id, parentId and timestamp are written first, the rest in insertion order", () => {
  assert.equal(
    encodeLine({
      message: { role: "user" },
      7: "seven",
      timestamp: "t",
      parentId: null,
      id: "a1",
      extra: [],
      type: "message",
    }),
    '{"type":"message","id":"a1","parentId":null,"timestamp":"t","7":"seven","message":{"role":"user"},"extra":[]}',
  );
  assert.equal(
    encodeLine({ timestamp: "t", id: "a", type: "reset_boundary", parentId: "b" }),
    '{"type":"reset_boundary","id":"a","parentId":"b","timestamp":"t"}',
  );
  assert.equal(
    encodeLine({ type: "custom", id: "a", parentId: "b", timestamp: "t", data: undefined }),
    '{"type":"custom","id":"a","parentId":"b","timestamp":"t"}',
  );
});

test("[F1] a header keeps the order of its fields", () => {
  const header = { type: "session", version: 3, id: "s", timestamp: "t", cwd: "/w" };
  assert.equal(encodeLine(header), '{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/w"}');
});

test("[F5] dB34 magic keys are data in both directions", () => {
  const line =
    '{"type":"custom","id":"__proto__","parentId":"constructor","timestamp":"t","__proto__":{"polluted":1},"toString":1,"data":{"__proto__":{"x":[]}}}';
  assert.equal(encodeLine(JSON.parse(line) as object), line);
  assert.equal(Reflect.get({}, "polluted"), undefined);
});

test("[F2] lone surrogates are escaped, so that the line is well-formed", () => {
  const line = encodeLine({ type: "custom", id: "a", data: "x\ud83d", "\udc00": 1 });
  assert.equal(line, '{"type":"custom","id":"a","data":"x\\ud83d","\\udc00":1}');
  assert.equal(line.isWellFormed(), true);
});

test("[F4, F5] every record is the same after a line and back, and the line has no LF", () => {
  const key = fc.oneof(
    fc.constantFrom("__proto__", "constructor", "0", "type", "id", "timestamp"),
    fc.string({ unit: "binary" }),
  );
  const record = fc
    .dictionary(key, fc.jsonValue({ noUnicodeString: false }))
    .map((fields) => JSON.parse(JSON.stringify(fields)) as object);
  fc.assert(
    fc.property(record, (value) => {
      const line = encodeLine(value);
      assert.deepEqual(JSON.parse(line), value);
      assert.equal(line.includes("\n"), false);
      assert.equal(encodeLine(JSON.parse(line) as object), line);
    }),
    { seed: 11, numRuns: 100 },
  );
});

test("[T4] dB35 only an ISO date and time is a readable time", () => {
  assert.equal(readTime("2026-01-01T00:00:01.500Z"), Date.UTC(2026, 0, 1) + 1500);
  assert.equal(readTime("2026-01-01T02:00:00+02:00"), Date.UTC(2026, 0, 1));
  for (const value of ["never", "", "never 1", "1", "-1", "2026-13-45T99:99:99Z", 5.49e246, -1, 0, null, undefined, {}])
    assert.equal(readTime(value), Number.NaN);
});
