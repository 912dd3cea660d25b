/**
 * FT2, FT3, FT4: the disk takes a part of a line and no more; then there is room again.
 */
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../support/session-files.ts";
import type { FaultTest, Tally } from "./fault-test.ts";
import { imageOf, tmpfs } from "./means.ts";
import type { Mounted } from "./means.ts";
import { Writer, checkAcks, checkNextAppend, tornLines } from "./writing.ts";
import type { Order } from "./written-text.ts";

/** Messages after there is room again. */
const AFTER = 5;

/** Fills what is left with a file that can be taken away. */
function ballast(folder: string, bytes: number): string {
  const path = join(folder, "ballast");
  writeFileSync(path, new Uint8Array(bytes));
  return path;
}

/** Writes until the disk is full, makes room, and lets the writer go on. */
async function fill(tally: Tally, order: Order, freeSpace: () => void): Promise<void> {
  const writer = new Writer(order);
  try {
    await fillWith(tally, writer, freeSpace);
  } finally {
    await writer.kill();
  }
}

async function fillWith(tally: Tally, writer: Writer, freeSpace: () => void): Promise<void> {
  const { order } = writer;
  const code = order.flush === true ? /^(write|sync)-failed$/ : /^write-failed$/;
  // Of each message that does not fit, both tries are told.
  await writer.until(() => writer.errors.length >= 2);
  const failed = [...writer.errors];
  const before = writer.acks.length;
  tally.same(
    failed.map(({ n }) => n),
    [before, before],
    `seed ${order.seed}: one error per attempt, none confirmed`,
  );
  for (const error of failed) {
    tally.check(code.test(error.code), `seed ${order.seed}: ${error.code} instead of write-failed`);
    tally.check(error.text.includes("the disk is full (ENOSPC)"), `seed ${order.seed}: "${error.text}" names no cause`);
  }
  freeSpace();
  writer.goOn();
  tally.same(await writer.done, 0, `seed ${order.seed}: the exit code`);
  tally.same(writer.acks.length, before + AFTER, `seed ${order.seed}: the acks`);
  const path = writer.files[0]!;
  const ids = writer.acks.map(({ id }) => id);
  tally.same(writer.ended, { leaf: ids.at(-1), length: ids.length }, `seed ${order.seed}: the tree in memory`);
  const session = await checkAcks(tally, order, writer.acks, path);
  tally.same(
    session.getBranch().map(({ id }) => id),
    ids,
    `seed ${order.seed}: the branch`,
  );
  tally.check(tornLines(session) <= 2, `seed ${order.seed}: ${tornLines(session)} lines are torn`);
  await session.close();
  await checkNextAppend(tally, path);
  tally.cases++;
}

async function fillOften(tally: Tally, rounds: number, disk: Mounted, ballastBytes: number): Promise<void> {
  try {
    for (let seed = 0; seed < rounds; seed++) {
      const place = join(disk.folder, "session.jsonl");
      const start = `{"type":"session","version":3,"id":"full-${seed}","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}\n`;
      writeFileSync(place, start);
      const path = ballast(disk.folder, ballastBytes);
      const order: Order = {
        place,
        seed,
        count: 1_000_000,
        countAfterWait: AFTER,
        smallest: 200,
        largest: 60_000,
        onError: "wait",
      };
      await fill(tally, order, () => rmSync(path));
      rmSync(place);
    }
    await firstWrite(tally, disk);
  } finally {
    disk.end();
  }
}

/** A disk without room for a first message: no file is left, and the same message makes one when there is room. */
async function firstWrite(tally: Tally, disk: Mounted): Promise<void> {
  const path = join(disk.folder, "ballast");
  writeFileSync(path, "");
  for (let size = 1 << 20; size >= 512; size /= 2) {
    try {
      for (;;) writeFileSync(path, new Uint8Array(size), { flag: "a" });
    } catch {
      // What was written in part counts too.
    }
  }
  const place = join(disk.folder, "new");
  try {
    writeFileSync(join(disk.folder, "probe"), "");
    rmSync(join(disk.folder, "probe"));
  } catch {
    tally.note("no room for names either: the first write was not tried");
    return;
  }
  const order: Order = { place: disk.folder, seed: 99, count: 2, smallest: 5_000, largest: 5_000, onError: "wait" };
  const writer = new Writer(order);
  await writer.until(() => writer.errors.length >= 2);
  const files = (): string[] => readdirSync(disk.folder).filter((name) => name.endsWith(".jsonl"));
  tally.same(files(), [], "a first write that failed leaves no file");
  rmSync(path);
  writer.goOn();
  await writer.done;
  tally.same([writer.acks.map(({ n }) => n), files().length], [[0, 1], 1], "the first write, when there is room");
  const session = await checkAcks(tally, order, writer.acks, writer.files[0]!);
  tally.same(session.getProblems(), [], "a file begun anew has nothing wrong");
  await session.close();
  rmSync(place, { force: true });
  tally.cases++;
}

/** The shell's limit is the kernel's: it cuts the write that crosses it, and refuses all after it. */
async function limit(tally: Tally, blocks: readonly number[]): Promise<void> {
  for (const seed of blocks) {
    const order: Order = {
      place: temporaryFolder(),
      seed,
      count: 1_000_000,
      smallest: 200,
      largest: 9_000,
      onError: "stop",
    };
    const writer = new Writer(order, { through: ["sh", "-c", `ulimit -f ${seed}; exec "$0" "$@"`] });
    tally.same(await writer.done, 1, `limit ${seed}: the exit code`);
    const path = writer.files[0]!;
    tally.same([writer.errors.length, writer.errors[0]?.code], [1, "write-failed"], `limit ${seed}: one error`);
    tally.same(
      writer.ended,
      { leaf: writer.acks.at(-1)?.id, length: writer.acks.length },
      `limit ${seed}: the tree in memory`,
    );
    const session = await checkAcks(tally, order, writer.acks, path);
    tally.same(
      session.getBranch().map(({ id }) => id),
      writer.acks.map(({ id }) => id),
      `limit ${seed}: the branch`,
    );
    tally.check(tornLines(session) <= 1, `limit ${seed}: ${tornLines(session)} lines are torn`);
    await session.close();
    await checkNextAppend(tally, path);
    tally.cases++;
  }
}

const upTo = (count: number, first: number, step: number): number[] =>
  Array.from({ length: count }, (_, n) => first + n * step);

const shortForm = { needs: [], run: (tally: Tally) => limit(tally, [40, 101]) } as const;

export const ft2: FaultTest = {
  id: "FT2",
  title: "1 MB of memory file system, full, then freed",
  long: { needs: ["mount"], run: (tally) => fillOften(tally, 30, tmpfs("1m"), 500_000) },
  short: shortForm,
};

export const ft3: FaultTest = {
  id: "FT3",
  title: "8 MB of ext4 without a journal, full, then freed",
  long: {
    needs: ["loop"],
    run: (tally) => fillOften(tally, 10, imageOf("ext4", 8, ["-q", "-O", "^has_journal", "-m", "0"]), 1_000_000),
  },
  short: shortForm,
};

export const ft4: FaultTest = {
  id: "FT4",
  title: "limit on the file's size (ulimit -f)",
  long: { needs: [], run: (tally) => limit(tally, upTo(40, 20, 7)) },
  short: shortForm,
};
