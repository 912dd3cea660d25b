import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { repairSession } from "../../src/session/repair.ts";
import { readSession } from "../../src/tree/reader.ts";
import { generateSession } from "../support/generate.ts";
import { repairChecked } from "../support/repaired.ts";
import { temporaryFile } from "../support/session-files.ts";
import { leafRecord, memorySource } from "../support/session-lines.ts";

/** What a repair may leave: whatever it says of a record, the record is whole. */
const LEFT = new Set([
  "not-utf8",
  "no-id",
  "bad-entry",
  "bad-version",
  "duplicate-id",
  "duplicate-line",
  "missing-parent",
  "parent-cycle",
  "unknown-leaf",
  "unknown-label-target",
  "bad-pointer",
  "migration-index",
]);

function sessionLines(version: 1 | 2 | 3, seed: number): string[] {
  const shape = seed % 2 === 0 ? "bushy" : "compact";
  const lines = [...generateSession({ shape, entries: 110, seed, version, textLength: 12 })];
  if (version === 1) return lines;
  const { id } = JSON.parse(lines[20]!) as { id: string };
  lines.splice(100, 0, leafRecord("leaf-1", id));
  return lines;
}

type Damage = { kind: number; at: number; length: number; byte: number };

/** One damage of a kind that disks, editors and other programs do; `at` is a share of the file. */
function damaged(content: Buffer, { kind, at, length, byte }: Damage): Buffer {
  const from = Math.floor(at * content.length);
  const head = content.subarray(0, from);
  const tail = (cut: number): Buffer => content.subarray(Math.min(content.length, from + cut));
  const newline = content.indexOf(0x0a, from);
  const lineEnd = newline < 0 ? content.length : newline;
  const lineStart = content.lastIndexOf(0x0a, Math.max(0, lineEnd - 1)) + 1;
  const line = content.subarray(lineStart, lineEnd + 1);
  const make: (() => Buffer[])[] = [
    () => [head, Buffer.from([byte]), tail(1)],
    () => [head, tail(length)],
    () => [head, Buffer.alloc(length), tail(0)],
    () => [head, Buffer.alloc(length), tail(length)],
    () => [content.subarray(0, lineEnd), content.subarray(lineEnd + 1)],
    () => [content.subarray(0, lineEnd + 1), line, content.subarray(lineEnd + 1)],
    () => [content, content.subarray(0, from)],
    () => [content, line],
    () => [head],
    () => [head, Buffer.from("\n"), tail(0)],
    () => [content.subarray(0, lineStart), line.subarray(0, length), line, content.subarray(lineEnd + 1)],
  ];
  return Buffer.concat(make[kind % make.length]!());
}

test("[D1, F6] whatever the damage: the same session, no good byte touched, all others in quarantine, and once is enough", () => {
  const damage = fc.record({
    kind: fc.nat(10),
    at: fc.noBias(fc.nat(9_999)).map((share) => share / 10_000),
    length: fc.integer({ min: 1, max: 400 }),
    byte: fc.nat(255),
  });
  let repairs = 0;
  fc.assert(
    fc.property(
      fc.constantFrom<1 | 2 | 3>(3, 3, 3, 2, 1),
      fc.integer({ min: 1, max: 40 }),
      fc.array(damage, { minLength: 1, maxLength: 8 }),
      (version, seed, damages) => {
        const sound = Buffer.from(
          sessionLines(version, seed)
            .map((line) => `${line}\n`)
            .join(""),
        );
        const content = damages.reduce(damaged, sound);
        const path = temporaryFile(content);
        const reading = readSession(memorySource(content));
        if (reading.kind !== "session" || reading.newer) {
          assert.throws(() => repairSession(path), { name: "SessionFileError" });
          assert.deepEqual([readdirSync(dirname(path)).length, readFileSync(path).equals(content)], [1, true]);
          return;
        }
        const { left, repaired } = repairChecked(path);
        if (repaired) repairs++;
        // Old compactions count records; ids that were used twice are told apart by line numbers.
        const isCounting = left.some(({ code }) => code === "duplicate-id");
        const unexpected = left.filter(
          ({ code }) =>
            !LEFT.has(code) &&
            !(code === "second-header" && content.includes("firstKeptEntryIndex")) &&
            !(code === "fused-line" && isCounting),
        );
        assert.deepEqual(unexpected, []);
      },
    ),
    { numRuns: 50, seed: 20_261_130 },
  );
  assert.ok(repairs > 30, `${repairs} files were repaired`);
});
