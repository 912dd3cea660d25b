/**
 * FT10, FT11, FT12: a file is cut off anywhere, one of its bits is flipped, or something that is no record stands in it.
 */
import { isDeepStrictEqual } from "node:util";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SessionManager } from "../../src/session/session-manager.ts";
import type { SessionEntry, SessionHeader } from "../../src/tree/entries.ts";
import type { Problem } from "../../src/tree/problems.ts";
import { SeededRandom } from "../support/generate.ts";
import { temporaryFolder, user } from "../support/session-files.ts";
import type { FaultTest, Tally } from "./fault-test.ts";
import { allFiles } from "./peer-files.ts";
import type { NamedFile } from "./peer-files.ts";

const LF = 0x0a;

interface Found {
  header: SessionHeader;
  entries: SessionEntry[];
  problems: Problem[];
}

/** What a file holds, read by a path used again and again; an error's code when it is no session. */
async function read(path: string, bytes: Uint8Array): Promise<Found | string> {
  // ext4 writes a file that was cut to nothing out to the disk at once; a new one it does not.
  rmSync(path, { force: true });
  writeFileSync(path, bytes);
  try {
    const session = await SessionManager.open(path, { readOnly: true });
    const entries = session.getEntries();
    const found = { header: session.getHeader(), entries, problems: session.getProblems() };
    await session.close();
    return found;
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

async function readSound(tally: Tally, what: string, path: string, bytes: Uint8Array): Promise<Found | undefined> {
  const found = await read(path, bytes);
  if (typeof found !== "string") return found;
  tally.check(false, `${what}: cannot be opened (${found})`);
  return undefined;
}

/** Where each line ends, its newline included. */
function lineEnds(bytes: Uint8Array): number[] {
  const ends: number[] = [];
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) ends.push(at + 1);
  return ends;
}

// FT10

interface Steps {
  /** Bytes from one beginning to the next; those around a newline are tried in any case. */
  length: number;
  /** After each so many the next entry is written. */
  append: number;
}

/** Beginnings of a file: their complete lines load. */
async function prefixes(tally: Tally, { name, content }: NamedFile, step: Steps): Promise<void> {
  const path = join(temporaryFolder(), "session.jsonl");
  const whole = await readSound(tally, name, path, content);
  if (whole === undefined) return;
  const ends = lineEnds(content);
  const linesBefore = ends.length - whole.entries.length;
  for (let length = 0; length < content.length; length++) {
    const atNewline = [length, length + 1, length - 1].some((end) => ends.includes(end));
    if (length % step.length !== 0 && !atNewline) continue;
    const prefix = content.subarray(0, length);
    // A record is complete when its newline alone is missing.
    const complete = ends.filter((end) => end - 1 <= length).length;
    const what = `${name}: the first ${length} bytes`;
    const found = await read(path, prefix);
    tally.cases++;
    if (complete < linesBefore) {
      tally.check(found === "empty" || found === "not-a-session", `${what}: ${JSON.stringify(found)}`);
      continue;
    }
    if (typeof found === "string") {
      tally.lose(`${what}: ${found}`);
      continue;
    }
    const expected = whole.entries.slice(0, complete - linesBefore);
    const torn = ends.includes(length) || ends.includes(length + 1) || length === 0 ? [] : ["torn-tail"];
    if (!isDeepStrictEqual(found.entries, expected)) tally.lose(`${what}: ${found.entries.length} entries`);
    const codes = found.problems.map(({ code }) => code).filter((code) => code !== "unknown-label-target");
    tally.same(codes, torn, what);
    if (tally.cases % step.append === 0) await appendAfter(tally, what, path, prefix, expected);
  }
}

async function appendAfter(
  tally: Tally,
  what: string,
  path: string,
  before: Buffer,
  expected: readonly SessionEntry[],
): Promise<void> {
  const session = await SessionManager.open(path);
  const leaf = session.getLeafId();
  const id = session.appendMessage(user("next"));
  await session.close();
  tally.check(readFileSync(path).subarray(0, before.length).equals(before), `${what}: earlier bytes were changed`);
  const again = await SessionManager.open(path, { readOnly: true });
  tally.same(again.getEntries().slice(0, -1), expected, `${what}, then an append`);
  const last = again.getEntries().at(-1);
  tally.same([last?.id, last?.parentId, again.getLeafId()], [id, leaf, id], `${what}: the appended entry`);
  await again.close();
}

// FT11

/** Lines that one flipped bit may cost: its own and, when it was a newline, the next. */
const COLLATERAL = 2;

interface Flips {
  wrong: number;
  undetected: number;
  /** Times that the whole file was read as one of an older version. */
  takenForOld: number;
}

/** One flipped bit at a time. Whatever differs from the original must be told with its line. */
async function flips(tally: Tally, { name, content }: NamedFile, count: number): Promise<void> {
  const path = join(temporaryFolder(), "session.jsonl");
  const seen: Flips = { wrong: 0, undetected: 0, takenForOld: 0 };
  const original = await readSound(tally, name, path, content);
  if (original === undefined) return;
  const sealed = /,"c":"[0-9a-f]{8}"\}$/.test(content.toString("utf8").split("\n", 1)[0]!);
  const random = new SeededRandom(11);
  const flipped = Buffer.from(content);
  const headerBits = 8 * lineEnds(content)[1]!;
  for (let n = 0; n < count; n++) {
    // The header decides how all others are read, so every bit of the first two lines has its turn.
    const place = n % 2 === 0 && n / 2 < headerBits ? n / 2 : random.below(8 * content.length);
    const at = place >> 3;
    const bit = place & 7;
    flipped[at]! ^= 1 << bit;
    const what = `${name}: bit ${bit} of byte ${at}`;
    const found = await read(path, flipped);
    flipped[at] = content[at]!;
    tally.cases++;
    // A header that is none any more: refused, and told.
    if (typeof found === "string") {
      tally.check(found === "not-a-session", `${what}: ${found}`);
      continue;
    }
    const { wrong, lost, detected } = compared(original, found);
    // Nothing tells a file of version 1 from one whose header lost its version, unless the header is sealed.
    if (!sealed && lost === original.entries.length) seen.takenForOld++;
    else tally.check(lost <= COLLATERAL, `${what}: ${lost} entries are lost`);
    if (wrong === 0) continue;
    seen.wrong++;
    if (detected) continue;
    seen.undetected++;
    if (sealed) tally.lose(`${what}: an entry is not what was written, and nothing is told`);
  }
  const { wrong, undetected, takenForOld } = seen;
  tally.note(
    sealed
      ? `${name}: ${wrong} changes of content, ${undetected} untold`
      : `${name}: no seals (needs W7): ${undetected} of ${wrong} changes of content untold, ${takenForOld} times taken for an old version`,
  );
}

/** Entries that are not in the original as they are now, entries that are gone, and whether something was told. */
function compared(original: Found, found: Found): { wrong: number; lost: number; detected: boolean } {
  const texts = new Set(original.entries.map((entry) => JSON.stringify(entry)));
  const kept = new Set(found.entries.map((entry) => JSON.stringify(entry)));
  const changed = found.entries.filter((entry) => !texts.has(JSON.stringify(entry)));
  const lost = original.entries.filter((entry) => !kept.has(JSON.stringify(entry)));
  const headerChanged = !isDeepStrictEqual(original.header, found.header);
  const told = found.problems.length > original.problems.length;
  return { wrong: changed.length + (headerChanged ? 1 : 0), lost: lost.length, detected: told };
}

async function flipAll(tally: Tally, count: number): Promise<void> {
  for (const file of await allFiles()) await flips(tally, file, count);
}

// FT12

/** NULs after every `step`th byte of a file's end, as a disk leaves them that lost power. */
async function nulTails(tally: Tally, { name, content }: NamedFile, offsets: number): Promise<void> {
  const path = join(temporaryFolder(), "session.jsonl");
  const whole = await readSound(tally, name, path, content);
  if (whole === undefined) return;
  const ends = lineEnds(content);
  const linesBefore = ends.length - whole.entries.length;
  const first = ends[linesBefore - 1]!;
  for (let n = 0; n < offsets; n++) {
    const offset = first + Math.floor(((content.length - first) * n) / offsets);
    const what = `${name}: NULs from byte ${offset} on`;
    const bytes = Buffer.concat([content.subarray(0, offset), Buffer.alloc(1 + ((n * 977) % 9000))]);
    const found = await readSound(tally, what, path, bytes);
    tally.cases++;
    if (found === undefined) continue;
    const complete = ends.filter((end) => end - 1 <= offset).length;
    const expected = whole.entries.slice(0, complete - linesBefore);
    if (!isDeepStrictEqual(found.entries, expected)) tally.lose(`${what}: ${found.entries.length} entries`);
    const codes = found.problems.map(({ code }) => code).filter((code) => code !== "unknown-label-target");
    const cut = !ends.includes(offset) && !ends.includes(offset + 1);
    tally.same(codes, [cut ? "torn-tail" : "nul-run"], what);
    await appendAfter(tally, what, path, bytes, expected);
  }
}

/** What other programs do to a text file: nothing is lost, and what is told is this. */
async function otherHands(tally: Tally, { name, content }: NamedFile): Promise<void> {
  const path = join(temporaryFolder(), "session.jsonl");
  const whole = await readSound(tally, name, path, content);
  if (whole === undefined) return;
  const text = content.toString("utf8");
  const lines = text.split("\n").slice(0, -1);
  const glued = [...lines.slice(0, 11), lines[11]! + lines[12]!, ...lines.slice(13), ""].join("\n");
  const cases: [string, string, string[]][] = [
    ["a byte order mark", `\uFEFF${text}`, []],
    ["CR before LF", text.replaceAll("\n", "\r\n"), []],
    ["a byte order mark and CR", `\uFEFF${text.replaceAll("\n", "\r\n")}`, []],
    ["blank lines", text.replaceAll("\n", "\n\n \t\n"), []],
    ["two records on one line", glued, ["fused-line"]],
    ["a fragment before a record", text.replace(`\n${lines[20]}`, `\n{"type":"mess${lines[20]}`), ["fused-line"]],
    ["NULs before a record", text.replace(`\n${lines[20]}`, `\n\0\0\0${lines[20]}`), ["nul-run"]],
    ["a second header", `${text}${lines.find((line) => line.startsWith('{"type":"session"'))}\n`, ["second-header"]],
    ["a line twice", `${text}${lines.at(-1)}\n`, ["duplicate-line"]],
  ];
  for (const [damage, changed, expected] of cases) {
    const what = `${name}: ${damage}`;
    const found = await readSound(tally, what, path, Buffer.from(changed));
    tally.cases++;
    if (found === undefined) continue;
    if (!isDeepStrictEqual(found.entries, whole.entries)) tally.lose(`${what}: entries are not as they were`);
    tally.same(
      found.problems.map(({ code }) => code),
      expected,
      what,
    );
    await appendAfter(tally, what, path, Buffer.from(changed), whole.entries);
  }
}

async function damagedTails(tally: Tally, offsets: number): Promise<void> {
  for (const file of await allFiles()) {
    await nulTails(tally, file, offsets);
    await otherHands(tally, file);
  }
}

export const ft10: FaultTest = {
  id: "FT10",
  title: "every beginning of a file, then an append",
  long: {
    needs: [],
    run: async (tally) => {
      for (const file of await allFiles()) await prefixes(tally, file, { length: 1, append: 1 });
    },
  },
  short: {
    needs: [],
    run: async (tally) => {
      for (const file of await allFiles()) await prefixes(tally, file, { length: 127, append: 13 });
    },
  },
};

export const ft11: FaultTest = {
  id: "FT11",
  title: "one flipped bit",
  long: { needs: [], run: (tally) => flipAll(tally, 20_000) },
  short: { needs: [], run: (tally) => flipAll(tally, 400) },
};

export const ft12: FaultTest = {
  id: "FT12",
  title: "NUL tails, BOM, CRLF, blank and glued lines",
  long: { needs: [], run: (tally) => damagedTails(tally, 280) },
  short: { needs: [], run: (tally) => damagedTails(tally, 40) },
};
