/**
 * FT18: a session file made to harm: it must end soon, take little memory, and change nothing but itself.
 */
import { spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFile, temporaryFolder } from "../support/session-files.ts";
import { HEADER, chain, file, message } from "../support/session-lines.ts";
import type { FaultTest, Tally } from "./fault-test.ts";
import type { Survey } from "./surveyor.ts";

const SURVEYOR = fileURLToPath(new URL("surveyor.ts", import.meta.url));
/** A program that reads any of these for longer hangs; milliseconds. */
const PATIENCE = 120_000;
/** Of memory for the program itself, and for each byte of a file in all its forms on the way to an entry; bytes. */
const MEMORY = 180e6;
const MEMORY_PER_BYTE = 12;

interface Hostile {
  name: string;
  /** Writes the file and returns its path. */
  make(): string;
  entries: number;
  codes: readonly string[];
  /** Entries from the leaf to its root. */
  branch: number;
  lastText?: string;
}

const lines =
  (...all: string[]): (() => string) =>
  () =>
    temporaryFile(file(HEADER, ...all));
const content = (id: string, parentId: string | null, json: string): string =>
  `{"type":"message","id":"${id}","parentId":${JSON.stringify(parentId)},"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":${json},"timestamp":0}}`;

function hostileFiles(depth: number, megabytes: number): Hostile[] {
  const deep = "[".repeat(depth) + "]".repeat(depth);
  const polluted = `{"type":"message","id":"p","parentId":"a1","timestamp":"2026-01-01T00:00:00.000Z","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"message":{"role":"user","content":"p","timestamp":0,"__proto__":{"polluted":1}}}`;
  return [
    { name: "__proto__ as a member", make: lines(...chain(null, "a1"), polluted), entries: 2, codes: [], branch: 2 },
    {
      name: "__proto__, constructor, toString as ids",
      make: lines(...chain(null, "__proto__", "constructor", "toString", "hasOwnProperty")),
      entries: 4,
      codes: [],
      branch: 4,
    },
    {
      name: "one id 200 times",
      make: lines(...Array.from({ length: 200 }, (_, n) => content("same", null, `"${n}"`))),
      entries: 200,
      codes: Array.from({ length: 199 }, () => "duplicate-id"),
      branch: 1,
    },
    {
      name: "a cycle",
      make: lines(message("a", "c"), message("b", "a"), message("c", "b")),
      entries: 3,
      codes: ["parent-cycle"],
      branch: 1,
    },
    { name: "its own parent", make: lines(message("a", "a")), entries: 1, codes: ["parent-cycle"], branch: 1 },
    {
      name: `nested ${depth} deep`,
      make: lines(...chain(null, "a1"), content("deep", "a1", deep), message("after", "deep")),
      entries: 3,
      codes: ["bad-entry"],
      branch: 3,
      lastText: "after",
    },
    {
      name: `one line of ${megabytes} MB`,
      make: () => longLine(megabytes),
      entries: 2,
      codes: [],
      branch: 2,
      lastText: "after",
    },
    {
      name: "half characters, U+2028, U+2029, NUL as an escape",
      make: lines(content("a", null, String.raw`"\ud800 \udc00 ${"\u2028\u2029"} \u0000 \u001b[2J"`)),
      entries: 1,
      codes: [],
      branch: 1,
      lastText: "\ud800 \udc00 \u2028\u2029 \0 \x1B[2J",
    },
    {
      name: "numbers, members and texts no program would write",
      make: lines(
        `{"type":"message","id":"n","parentId":null,"timestamp":1e999,"message":{"role":"user","content":"n","timestamp":-1e999,"a":1,"a":2}}`,
      ),
      entries: 1,
      codes: [],
      branch: 1,
      lastText: "n",
    },
  ];
}

/** Written in parts: the test itself has not the memory either. */
function longLine(megabytes: number): string {
  const path = join(temporaryFolder(), "session.jsonl");
  const [before, after] = content("long", null, '"|"').split("|") as [string, string];
  const fd = openSync(path, "wx");
  writeSync(fd, `${HEADER}\n${before}`);
  const part = "x".repeat(1_000_000);
  for (let n = 0; n < megabytes; n++) writeSync(fd, part);
  writeSync(fd, `${after}\n${message("after", "long")}\n`);
  closeSync(fd);
  return path;
}

function survey(tally: Tally, hostile: Hostile): void {
  const path = hostile.make();
  const size = readFileSync(path).length;
  const result = spawnSync(process.execPath, [SURVEYOR, path], { encoding: "utf8", timeout: PATIENCE });
  tally.cases++;
  if (!tally.check(result.status === 0, `${hostile.name}: ${result.error?.message ?? result.stderr}`)) return;
  const { entries, codes, branch, lastText, appended, polluted, memory } = JSON.parse(result.stdout) as Survey;
  tally.same(
    [entries, codes.filter((code) => code !== "other-tip"), branch],
    [hostile.entries, hostile.codes, hostile.branch],
    hostile.name,
  );
  tally.same([appended, polluted], [true, false], `${hostile.name}: appended, polluted`);
  if (hostile.lastText !== undefined) tally.same(lastText, hostile.lastText, `${hostile.name}: the last text`);
  const limit = MEMORY + MEMORY_PER_BYTE * size;
  tally.check(memory < limit, `${hostile.name}: ${memory} bytes of memory for a file of ${size}`);
}

const surveyAll = (depth: number, megabytes: number) => async (tally: Tally) => {
  for (const hostile of hostileFiles(depth, megabytes)) survey(tally, hostile);
};

export const ft18: FaultTest = {
  id: "FT18",
  title: "hostile JSON: cycles, depth, long lines, __proto__",
  long: { needs: [], run: surveyAll(200_000, 100) },
  short: { needs: [], run: surveyAll(20_000, 8) },
};
