import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { diagnose } from "../../src/session/doctor.ts";
import { contentOf, temporaryFile, temporaryFolder } from "../support/session-files.ts";
import { HEADER, chain, codes, file, leafRecord, line, message } from "../support/session-lines.ts";

test("[D1] a sound file: nothing to tell, and its numbers", () => {
  const path = temporaryFile(
    file(HEADER, ...chain(null, "a1", "a2", "a3"), message("b1", "a1"), leafRecord("f", "a3")),
  );
  assert.deepEqual(diagnose(path), {
    path,
    sessionId: "s1",
    version: 3,
    problems: [],
    notes: [],
    bytes: statSync(path).size,
    lines: 6,
    entries: 4,
    branches: 2,
    leafId: "a3",
  });
});

test("[D1, F6, C4] every problem with its line, in order, and no byte changed", () => {
  const compaction = (id: string, parentId: string, firstKeptEntryId: string): string =>
    line("compaction", id, parentId, { summary: "s", firstKeptEntryId, tokensBefore: 1 });
  const content =
    file(
      HEADER,
      message("a1", null),
      "{bad",
      message("a2", "nowhere"),
      "\0\0\0",
      "[1]",
      HEADER,
      compaction("c1", "a1", "absent"),
      compaction("c2", "c1", "a1"),
      message("d1", "a1"),
      compaction("c3", "d1", "c2"),
      compaction("c4", "c3", "c4"),
      message("x1", "x2"),
      message("x2", "x1"),
      message("a1", null),
      message("a1", "a2"),
      line("label", "l1", "c2", { targetId: "absent", label: "x" }),
      line("message", "m1", "c2", { message: "no object" }),
      leafRecord("f", "absent"),
      `${message("y1", "c2")}{"type":"message","id":"y2","par${message("y3", "c2")}`,
    ) + '{"type":"mess';
  const path = temporaryFile(content);
  const { problems, leafId } = diagnose(path);
  assert.deepEqual(codes(problems), [
    "bad-line:3",
    "missing-parent:4",
    "nul-run:5",
    "not-an-object:6",
    "second-header:7",
    "bad-pointer:8",
    "bad-pointer:11",
    "parent-cycle:14",
    "duplicate-line:15",
    "duplicate-id:16",
    "unknown-label-target:17",
    "bad-entry:18",
    "unknown-leaf:19",
    "fused-line:20",
    "torn-tail:21",
  ]);
  assert.equal(leafId, "y3");
  assert.deepEqual([contentOf(path), readdirSync(dirname(path))], [content, [basename(path)]]);
});

test("[D1, M1] an old file is judged as it would be read, under the version it has", () => {
  const path = temporaryFile(
    file(
      '{"type":"session","id":"old","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/w"}',
      '{"type":"compaction","timestamp":"2025-01-01T00:00:00.000Z","summary":"s","firstKeptEntryIndex":9,"tokensBefore":1}',
    ),
  );
  const { version, problems } = diagnose(path);
  assert.deepEqual([version, problems.map(({ code }) => code).sort()], [1, ["bad-pointer", "migration-index"]]);
});

test("[D1, F7] what is no session is an error with the path", () => {
  const missing = join(temporaryFolder(), "none.jsonl");
  assert.throws(() => diagnose(missing), { code: "missing", path: missing });
  assert.throws(() => diagnose(temporaryFile("")), { code: "empty" });
  assert.throws(() => diagnose(temporaryFile("text\n")), { code: "not-a-session" });
});
