/**
 * Repairs of damaged session files, each checked from the outside: by bytes, by a second look at the files, and by what
 * a reader makes of them.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import { repairSession } from "../../src/session/repair.ts";
import type { Repair } from "../../src/session/repair.ts";
import { temporaryFile } from "./session-files.ts";
import { codes, picture, readSound } from "./session-lines.ts";

const LF = 0x0a;

/** The whole records of a file whose lines hold one each, as the standard tools would find them. */
function linesOf(content: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < content.length;) {
    const newline = content.indexOf(LF, start);
    const end = newline < 0 ? content.length : newline;
    const text = content
      .subarray(start, end)
      .toString("latin1")
      .replace(/^\xef\xbb\xbf/, "");
    const record = Buffer.from(text.replace(/^[ \t\r]+|[ \t\r]+$/g, ""), "latin1");
    if (record.length > 0) lines.push(record);
    start = end + 1;
  }
  return lines;
}

const without = (content: Buffer, byte: number): Buffer => Buffer.from(content.filter((one) => one !== byte));

interface Piece {
  line: number;
  offset: number;
  length: number;
  code: string;
  text?: string;
  base64?: string;
  nuls?: number;
}

/** What a quarantine file gives back. */
export function quarantined(path: string | undefined): { code: string; line: number; offset: number; bytes: Buffer }[] {
  if (path === undefined) return [];
  const [head, ...pieces] = readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Piece);
  assert.deepEqual(Object.keys(head!), ["type", "version", "timestamp", "file"]);
  return pieces.map(({ line, offset, length, code, text, base64, nuls }) => {
    assert.equal([text, base64, nuls].filter((value) => value !== undefined).length, 1);
    const bytes =
      text === undefined
        ? base64 === undefined
          ? Buffer.alloc(nuls!)
          : Buffer.from(base64, "base64")
        : Buffer.from(text);
    assert.equal(bytes.length, length);
    return { code, line, offset, bytes };
  });
}

/** All that a reader makes of a file but where it found it. */
function session(content: Buffer): unknown {
  const reading = readSound(content);
  const seen = picture(reading) as Record<string, unknown>;
  const kept = Object.entries(seen).filter(
    ([name]) => !["bytes", "lines", "sealed", "changedLines", "origins", "problems", "faults"].includes(name),
  );
  return Object.fromEntries(kept);
}

/** The bytes of each entry, in order. */
function entryBytes(content: Buffer): string[] {
  const { index } = readSound(content);
  return index.entries().map(({ id }) => {
    const { offset, length } = index.originOf(id)!;
    return content.subarray(offset, offset + length).toString("latin1");
  });
}

/** Repairs the file and checks all that is promised of a repair. */
export function repairChecked(path: string): Repair {
  const before = readFileSync(path);
  const repair = repairSession(path);
  const after = readFileSync(repair.path);
  const files = readdirSync(dirname(repair.path)).sort();
  const made = [repair.quarantine, repair.backup].flatMap((file) => file ?? []);
  for (const file of made) assert.ok(files.includes(basename(file)), file);

  const pieces = quarantined(repair.quarantine);
  const rest: Buffer[] = [];
  let done = 0;
  for (const { offset, bytes } of pieces) {
    assert.ok(bytes.equals(before.subarray(offset, offset + bytes.length)), "quarantine gives the bytes back");
    rest.push(before.subarray(done, offset));
    done = offset + bytes.length;
  }
  rest.push(before.subarray(done));
  assert.ok(without(Buffer.concat(rest), LF).equals(without(after, LF)), "every byte is in the file or in quarantine");
  const lines = new Set(pieces.map(({ line }) => line)).size;
  assert.deepEqual(repair.bad, { lines, bytes: pieces.reduce((sum, { bytes }) => sum + bytes.length, 0) });

  if (repair.repaired) assert.ok(readFileSync(repair.backup!).equals(before), "the backup has the file as it was");
  else assert.ok(before.equals(after) && made.length === 0);
  if (!repair.left.some(({ code }) => code === "fused-line")) {
    const good = linesOf(after);
    const hash = createHash("sha256");
    for (const line of good) hash.update(line).update("\n");
    assert.deepEqual(repair.good, { count: good.length, sha256: hash.digest("hex") });
  }
  assert.equal(after.at(-1), LF);
  assert.deepEqual(session(after), session(before), "it is the same session");
  assert.deepEqual(entryBytes(after), entryBytes(before));

  const again = repairSession(path);
  assert.deepEqual(again, {
    ...repair,
    repaired: false,
    bad: { lines: 0, bytes: 0 },
    split: 0,
    sealed: false,
    quarantine: undefined,
    backup: undefined,
  });
  assert.deepEqual(readdirSync(dirname(repair.path)).sort(), files, "nothing to repair, nothing written");
  return repair;
}

/** Repairs content in a folder of its own; what matters of the result. */
export function repaired(content: string | Uint8Array): { content: string; moved: string[]; left: string[] } {
  const repair = repairChecked(temporaryFile(content));
  return {
    content: readFileSync(repair.path, "utf8"),
    moved: codes(quarantined(repair.quarantine) as unknown as Parameters<typeof codes>[0]),
    left: codes(repair.left),
  };
}
