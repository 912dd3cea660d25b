/**
 * FT14: one program at a time writes a session, whatever becomes of it and by whatever name the file is opened.
 */
import { mkdirSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SessionManager } from "../../src/session/session-manager.ts";
import { temporaryFile, temporaryFolder } from "../support/session-files.ts";
import { HEADER, file, message } from "../support/session-lines.ts";
import type { FaultTest, Tally } from "./fault-test.ts";
import { mounted } from "./means.ts";
import { Writer, checkAcks, checkNextAppend } from "./writing.ts";
import type { Order } from "./written-text.ts";

/** How long the kernel may take to give back a dead program's lock, and a busy machine to let us see it; milliseconds. */
const AT_ONCE = 100;

const isInUse = (error: unknown): boolean => (error as { name?: string }).name === "SessionInUse";

/** Undefined when the session is in use by another. */
async function openUnlessInUse(path: string): Promise<SessionManager | undefined> {
  try {
    return await SessionManager.open(path);
  } catch (error) {
    if (isInUse(error)) return undefined;
    throw error;
  }
}

async function expectRefusal(tally: Tally, what: string, path: string): Promise<void> {
  const session = await openUnlessInUse(path);
  tally.check(session === undefined, `${what}: there are two owners`);
  await session?.close();
  tally.cases++;
}

const orderFor = (place: string, seed: number): Order => ({
  place,
  seed,
  count: 1e6,
  smallest: 200,
  largest: 2e3,
  pause: 1,
  onError: "stop",
});

/** An owner that dies loses the lease at once; one that only sleeps keeps it. */
async function dyingOwner(tally: Tally, seed: number, sleepMilliseconds: number): Promise<void> {
  const path = temporaryFile(file(HEADER.replace('"s1"', `"lease-${seed}"`), message("first", null)));
  const order = orderFor(path, seed);
  const writer = new Writer(order);
  try {
    await writer.until(() => writer.acks.length > 2);
    await expectRefusal(tally, "a running owner", path);
    for (const [name, other] of otherNames(path)) await expectRefusal(tally, `a running owner, through ${name}`, other);
    writer.child.kill("SIGSTOP");
    const tries = 5;
    for (let n = 0; n < tries; n++) {
      await sleep(sleepMilliseconds / tries);
      await expectRefusal(tally, "a stopped owner", path);
    }
    writer.child.kill("SIGCONT");
    const heard = writer.acks.length;
    await writer.until(() => writer.acks.length > heard);
  } finally {
    await writer.kill();
  }
  await sleep(AT_ONCE);
  const next = await openUnlessInUse(path);
  tally.check(next !== undefined, `the owner is dead for ${AT_ONCE} ms and the session is still in use`);
  await next?.close();
  await (await checkAcks(tally, order, writer.acks, path)).close();
  await checkNextAppend(tally, path);
}

/** Links to the file, to its folder, and a path with dots. */
function otherNames(path: string): [string, string][] {
  const folder = temporaryFolder();
  const link = join(folder, "link.jsonl");
  symlinkSync(path, link);
  const folderLink = join(folder, "folder");
  symlinkSync(dirname(path), folderLink);
  return [
    ["a link", link],
    ["a linked folder", join(folderLink, basename(path))],
    ["a roundabout path", join(dirname(path), "..", basename(dirname(path)), ".", basename(path))],
  ];
}

/** Of several that open a session at the same moment one gets it. */
async function race(tally: Tally, seed: number): Promise<void> {
  const path = temporaryFile(file(HEADER.replace('"s1"', `"race-${seed}"`), message("first", null)));
  const writers = Array.from({ length: 4 }, (_, n) => new Writer(orderFor(path, 4 * seed + n)));
  const settled = (writer: Writer): boolean => writer.acks.length > 0;
  let ended = 0;
  for (const writer of writers) void writer.done.then(() => ended++);
  for (const writer of writers) await writer.until(() => settled(writer) || ended === writers.length - 1);
  const owners = writers.filter(settled);
  tally.same(owners.length, 1, `race ${seed}: owners`);
  for (const writer of writers) await writer.kill();
  for (const { order, acks } of owners) await (await checkAcks(tally, order, acks, path)).close();
  tally.cases++;
}

/** The same folder mounted at two places. */
async function twoMounts(tally: Tally): Promise<void> {
  const folder = join(temporaryFolder(), "sessions");
  mkdirSync(folder);
  const other = mounted(["--bind", folder]);
  try {
    const writer = new Writer(orderFor(folder, 77));
    try {
      await writer.until(() => writer.acks.length > 0);
      await expectRefusal(tally, "another mount", join(other.folder, basename(writer.files[0]!)));
    } finally {
      await writer.kill();
    }
  } finally {
    other.end();
  }
}

export const ft14: FaultTest = {
  id: "FT14",
  title: "lease: owner killed, stopped, raced, by other names",
  long: {
    needs: ["mount", "lease"],
    run: async (tally) => {
      for (let seed = 0; seed < 10; seed++) await dyingOwner(tally, seed, seed === 0 ? 15_000 : 500);
      for (let seed = 0; seed < 10; seed++) await race(tally, seed);
      await twoMounts(tally);
    },
  },
  short: {
    needs: ["lease"],
    run: async (tally) => {
      await dyingOwner(tally, 1, 500);
      await race(tally, 1);
    },
  },
};
