/**
 * FT7, FT8, FT9: the power goes. What was flushed must be there; of the rest a part of the end may be missing.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SessionManager } from "../../src/session/session-manager.ts";
import { SeededRandom } from "../support/generate.ts";
import { temporaryFile, temporaryFolder, user } from "../support/session-files.ts";
import { HEADER, file, message } from "../support/session-lines.ts";
import { watchCalls } from "./disk-calls.ts";
import { inside } from "./fault-plan.ts";
import type { FaultTest, Tally } from "./fault-test.ts";
import { imageOf, mounted, runProgram } from "./means.ts";
import { RecordedDisk } from "./recorded-disk.ts";
import type { CrashState } from "./recorded-disk.ts";
import { Writer, checkAcks, checkNextAppend, tornLines } from "./writing.ts";
import type { Ack } from "./writing.ts";
import type { Order } from "./written-text.ts";

/** What one kind of use promises. */
type Promised = "flushed" | "written";

type Kind = "ext4" | "xfs";
const IMAGE_MEGABYTES = 400;
/** Files looked at in each copy: a test must not take longer and longer. */
const NEW_FILES = 8;

/**
 * Copies the image below a mounted file system, in no time, at many moments while a program writes to it. Each copy is
 * what the disk held at that moment, and is then mounted like after a power cut.
 */
async function snapshots(tally: Tally, kind: Kind, points: number, promised: Promised): Promise<void> {
  const outer = imageOf("xfs", 6 * IMAGE_MEGABYTES, ["-q", "-m", "reflink=1"]);
  try {
    const inner = imageOf(kind, IMAGE_MEGABYTES, ["-q"], outer.folder);
    const flush = promised === "flushed";
    const order: Order = {
      place: join(inner.folder, "sessions"),
      seed: points,
      count: 1e6,
      smallest: 200,
      largest: 2e4,
      flush,
      pause: 2,
      newSessionEvery: 60,
      onError: "stop",
    };
    mkdirSync(order.place);
    runProgram("sync", "-f", inner.folder);
    const writer = new Writer(order);
    const random = new SeededRandom(points);
    try {
      for (let point = 0; point < points; point++) {
        await sleep(50 + random.below(400));
        const acks = [...writer.acks];
        const copy = join(outer.folder, "snapshot");
        runProgram("cp", "--reflink=always", inner.image, copy);
        await checkCopy(tally, `${kind} point ${point}`, { copy, kind, order, acks, promised });
        rmSync(copy);
        tally.cases++;
      }
    } finally {
      await writer.kill();
      tally.same(writer.errors, [], `${kind}: errors of the writer`);
      tally.note(`${kind}: ${writer.acks.length} entries ${promised} in ${writer.files.length} files`);
      inner.end();
    }
  } finally {
    outer.end();
  }
}

interface Copy {
  copy: string;
  kind: Kind;
  order: Order;
  acks: readonly Ack[];
  promised: Promised;
}

async function checkCopy(tally: Tally, what: string, { copy, kind, order, acks, promised }: Copy): Promise<void> {
  const disk = mounted(["-o", kind === "xfs" ? "loop,nouuid" : "loop", copy]);
  try {
    const folder = join(disk.folder, "sessions");
    const names = new Set(readdirSync(folder));
    const byFile = [...Map.groupBy(acks, (ack) => basename(ack.file))];
    for (const [n, [name, fileAcks]] of byFile.entries()) {
      // All are looked at while they are new, some later.
      if (n < byFile.length - NEW_FILES && n % NEW_FILES !== 0) continue;
      const path = join(folder, name);
      const here = fileAcks.map((ack) => ({ ...ack, file: path }));
      if (promised === "flushed") {
        if (!names.has(name)) for (const { id } of here) tally.lose(`${what}: ${id} is gone with its file ${name}`);
        else await checkFlushed(tally, what, order, here, path);
      } else if (names.has(name)) await checkWritten(tally, what, here, path);
    }
    const last = acks.at(-1);
    if (last !== undefined && promised === "flushed" && names.has(basename(last.file)))
      await asAfterTheCut(() => checkNextAppend(tally, join(folder, basename(last.file))));
  } finally {
    disk.end();
  }
}

async function checkFlushed(
  tally: Tally,
  what: string,
  order: Order,
  acks: readonly Ack[],
  path: string,
): Promise<void> {
  const session = await checkAcks(tally, order, acks, path);
  const wrong = session.getProblems().filter(({ code, line }) => code !== "torn-tail" && line <= acks.length + 1);
  tally.same(wrong, [], `${what}: ${basename(path)}: wrong within what was flushed`);
  await session.close();
}

/** A file that was never flushed: it may be empty, and what is there of it is a beginning. */
async function checkWritten(tally: Tally, what: string, acks: readonly Ack[], path: string): Promise<void> {
  let session: SessionManager;
  try {
    session = await SessionManager.open(path, { readOnly: true });
  } catch (error) {
    tally.same((error as { code?: string }).code, "empty", `${what}: ${basename(path)} cannot be opened`);
    return;
  }
  const there = acks.map(({ id }) => session.getEntry(id) !== undefined);
  const kept = there.lastIndexOf(true) + 1;
  tally.same(there.slice(0, kept).includes(false), false, `${what}: ${basename(path)} lost more than its end`);
  if (tornLines(session) > 0) {
    const said = session.getProblems().every(({ line }) => line >= kept + 2);
    tally.check(said && kept < acks.length + 1, `${what}: ${basename(path)}: the bytes at its end are told as such`);
  }
  await session.close();
  await checkNextAppend(tally, path);
}

/** In this process: every state in which the power could have left the file, after every call. */
async function recorded(tally: Tally, flushesAfter: (n: number) => boolean): Promise<void> {
  const folder = temporaryFolder();
  const disk = new RecordedDisk(folder);
  const stop = watchCalls(folder, disk.watcher);
  const session = SessionManager.create("/w", folder);
  const points: { flushed: string[]; states: CrashState[] }[] = [];
  const written: string[] = [];
  let flushed: string[] = [];
  const look = (): void => void points.push({ flushed, states: disk.states() });
  try {
    for (let n = 0; n < 12; n++) {
      written.push(session.appendMessage(user(`${n} ${"x".repeat(n * 700)}`)));
      look();
      if (!flushesAfter(n)) continue;
      await session.flush();
      flushed = [...written];
      look();
    }
  } finally {
    stop();
    await session.close();
  }
  for (const point of points)
    for (const state of point.states) {
      await checkState(tally, state, point.flushed, written);
      tally.cases++;
    }
}

async function checkState(
  tally: Tally,
  state: CrashState,
  flushed: readonly string[],
  written: readonly string[],
): Promise<void> {
  if (state.bytes === undefined || state.bytes.every((byte) => byte === 0)) {
    for (const id of flushed) tally.lose(`${state.name}: ${id} is gone with its file`);
    return;
  }
  const path = join(temporaryFolder(), "session.jsonl");
  writeFileSync(path, state.bytes);
  let session: SessionManager;
  try {
    session = await SessionManager.open(path, { readOnly: true });
  } catch (error) {
    for (const id of flushed) tally.lose(`${state.name}: ${id} is gone: ${String(error)}`);
    return;
  }
  const ids = session.getEntries().map(({ id }) => id);
  for (const id of flushed) if (!ids.includes(id)) tally.lose(`${state.name}: ${id} was flushed and is gone`);
  if (state.onlyEndMissing) tally.same(ids, written.slice(0, ids.length), `${state.name}: a beginning is left`);
  await session.close();
  await checkNextAppend(tally, path);
}

/** The writer that goes on here still has its lease; after a power cut there is none. */
async function asAfterTheCut(check: () => Promise<void>): Promise<void> {
  const state = process.env["BOUGH_DIR"];
  process.env["BOUGH_DIR"] = temporaryFolder();
  try {
    await check();
  } finally {
    if (state === undefined) delete process.env["BOUGH_DIR"];
    else process.env["BOUGH_DIR"] = state;
  }
}

/** The file system is shut down under the writer; what the disk has then is mounted again. */
async function shutdown(tally: Tally, rounds: number): Promise<void> {
  const random = new SeededRandom(9);
  for (let round = 0; round < rounds; round++) {
    const disk = imageOf("xfs", IMAGE_MEGABYTES, ["-q"]);
    try {
      const order: Order = {
        place: disk.folder,
        seed: round,
        count: 1e6,
        smallest: 200,
        largest: 2e4,
        flush: true,
        onError: "stop",
      };
      const writer = new Writer(order);
      await writer.until(() => writer.acks.length > 0);
      await sleep(random.below(500));
      const before = [...writer.acks];
      runProgram("xfs_io", "-x", "-c", "shutdown", disk.folder);
      tally.same(await writer.done, 1, `round ${round}: the exit code`);
      tally.same(writer.errors.length, 1, `round ${round}: errors`);
      tally.check(
        writer.errors.every(({ text }) => text.includes("(EIO)")),
        `round ${round}: the error names no cause: ${writer.errors.map(({ text }) => text).join("; ")}`,
      );
      runProgram("umount", disk.folder);
      runProgram("mount", "-o", "loop", disk.image, disk.folder);
      await checkFlushed(tally, `round ${round}`, order, before, writer.files[0]!);
      await tellUncertain(tally, writer, before.length);
      await checkNextAppend(tally, writer.files[0]!);
      tally.cases++;
    } finally {
      disk.end();
    }
  }
}

/** A sync that runs while the kernel shuts down may be answered though its pages were dropped: one entry at most. */
async function tellUncertain(tally: Tally, writer: Writer, sure: number): Promise<void> {
  const session = await SessionManager.open(writer.files[0]!, { readOnly: true });
  const gone = writer.acks.slice(sure).filter(({ id }) => session.getEntry(id) === undefined);
  await session.close();
  const last = gone.length === 0 || (gone.length === 1 && gone[0] === writer.acks.at(-1));
  tally.check(last, `more than the entry that was being synced during the shutdown is gone: ${gone.length}`);
  if (gone.length > 0) tally.note("an entry whose sync the kernel answered while it shut down is gone");
}

const bothKinds = (promised: Promised) => async (tally: Tally) => {
  await snapshots(tally, "ext4", 30, promised);
  await snapshots(tally, "xfs", 30, promised);
};

export const ft7: FaultTest = {
  id: "FT7",
  title: "power cut while writing, each entry flushed",
  long: { needs: ["xfs", "loop"], run: bothKinds("flushed") },
  short: { needs: [], run: (tally) => recorded(tally, () => true) },
};

export const ft8: FaultTest = {
  id: "FT8",
  title: "power cut while writing, nothing flushed",
  long: { needs: ["xfs", "loop"], run: bothKinds("written") },
  short: { needs: [], run: (tally) => recorded(tally, (n) => n === 2) },
};

/** From some call on the disk answers with errors alone, as one does that was pulled out. */
async function deadDisk(tally: Tally, firstCalls: readonly number[]): Promise<void> {
  for (const at of firstCalls) {
    const place = temporaryFile(file(HEADER, message("first", null)));
    const order: Order = { place, seed: at, count: 50, smallest: 200, largest: 20_000, flush: true, onError: "stop" };
    const writer = new Writer(order, inside({ folder: dirname(place), at, lasting: true, effect: "EIO" }));
    tally.same(await writer.done, 1, `dead from call ${at} on: the exit code`);
    tally.same(writer.errors.length, 1, `dead from call ${at} on: errors`);
    tally.check(
      writer.errors.every(({ text }) => text.includes("(EIO)")),
      `dead from call ${at} on: no cause is told`,
    );
    await (await checkAcks(tally, order, writer.acks, place)).close();
    await checkNextAppend(tally, place);
    tally.cases++;
  }
}

export const ft9: FaultTest = {
  id: "FT9",
  title: "file system shut down under the writer",
  long: { needs: ["xfs"], run: (tally) => shutdown(tally, 6) },
  short: { needs: [], run: (tally) => deadDisk(tally, [2, 9, 14]) },
};
