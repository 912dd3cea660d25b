/** Repairs that are killed, hindered or raced: the session's name always has the old file or the new one, complete. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs, { chmodSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { repairSession } from "../../src/session/repair.ts";
import { watchDisk } from "../support/disk-faults.ts";
import { quarantined, repairChecked } from "../support/repaired.ts";
import { contentOf, temporaryFile, temporaryFolder } from "../support/session-files.ts";
import { HEADER, chain, file } from "../support/session-lines.ts";

const PROGRAM = fileURLToPath(new URL("../support/killed-repair.ts", import.meta.url));
const [a1, a2, a3] = chain(null, "a1", "a2", "a3") as [string, string, string];
const OLD = `${file(HEADER, a1, "{oops", a2 + a3)}{"type":"mess`;
const NEW = file(HEADER, a1, a2, a3);
const MODE = 0o777;

const filesBeside = (path: string): string[] => readdirSync(dirname(path)).sort();
const movedOut = (path: string): string => Buffer.concat(quarantined(path).map(({ bytes }) => bytes)).toString();

/** Nothing is left of a repair that did not take place. */
function unchanged(path: string, content = OLD): void {
  assert.deepEqual([contentOf(path), filesBeside(path)], [content, [basename(path)]]);
}

/** Whether the repair was killed before its end. */
async function killedBefore(step: number): Promise<boolean> {
  const path = temporaryFile(OLD);
  // All are the same session, which one program at a time may change.
  const env = { ...process.env, BOUGH_DIR: temporaryFolder() };
  const child = spawn(process.execPath, [PROGRAM, path, String(step)], { env, stdio: ["ignore", "ignore", "inherit"] });
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  assert.ok(signal === "SIGKILL" || code === 0, `step ${step}`);
  const isNew = contentOf(path) === NEW;
  assert.ok(isNew || contentOf(path) === OLD, `step ${step}: the old or the new file`);
  if (isNew) {
    const [quarantine] = filesBeside(path).filter((name) => name.includes(".quarantine-"));
    assert.deepEqual(
      [contentOf(`${path}.bak`), movedOut(join(dirname(path), quarantine!))],
      [OLD, '{oops{"type":"mess'],
      `step ${step}: with the new file, all of the old one is there`,
    );
  }
  const again = repairSession(path);
  assert.deepEqual([again.repaired, again.good.count, contentOf(path)], [!isNew, 4, NEW], `step ${step}`);
  return signal === "SIGKILL";
}

test("[D1] FT16 killed before each step: the old file or the new one, complete, and the next repair ends it", async (t) => {
  const together = 3;
  let killed = 0;
  for (let step = 0; ; step += together) {
    const steps = await Promise.all(Array.from({ length: together }, (_, n) => killedBefore(step + n)));
    killed += steps.filter(Boolean).length;
    if (steps.includes(false)) break;
  }
  t.diagnostic(`killed before ${killed} steps`);
  assert.ok(killed >= 15);
});

test("[D1, W6] files of a repair are for the user alone, whatever the umask and the file's own mode", () => {
  const umask = process.umask(0);
  try {
    const path = temporaryFile(OLD);
    chmodSync(path, 0o666);
    const { quarantine, backup } = repairChecked(path);
    for (const made of [path, quarantine!, backup!]) assert.equal(statSync(made).mode & MODE, 0o600, made);
  } finally {
    process.umask(umask);
  }
});

test("[D1, W6] a link is resolved: the file it leads to is repaired in its own folder, and the link stays", () => {
  const path = temporaryFile(OLD);
  const link = join(temporaryFolder(), "link.jsonl");
  symlinkSync(path, link);
  const repair = repairChecked(link);
  assert.deepEqual([repair.path, repair.backup, contentOf(path)], [path, `${path}.bak`, NEW]);
  assert.deepEqual([filesBeside(link), fs.lstatSync(link).isSymbolicLink()], [["link.jsonl"], true]);
});

test(
  "[D1, F7] a folder that takes no file: the reason, and nothing changed",
  { skip: process.getuid?.() === 0 && "the superuser may write everywhere" },
  () => {
    const path = temporaryFile(OLD);
    chmodSync(dirname(path), 0o500);
    try {
      const message = `Cannot repair ${path}: permission denied (EACCES); nothing was changed.`;
      assert.throws(() => repairSession(path), { code: "write-failed", message });
    } finally {
      chmodSync(dirname(path), 0o700);
    }
    unchanged(path);
  },
);

test("[D1] FT2 a disk that fills up at any write: the reason, and nothing changed", (t) => {
  const disk = watchDisk(t);
  const path = temporaryFile(OLD);
  const message = `Cannot repair ${path}: the disk is full (ENOSPC); nothing was changed.`;
  for (const partly of [0, 1, 100, NEW.length - 1]) {
    disk.writeFault = { code: "ENOSPC", partly };
    assert.throws(() => repairSession(path), { code: "write-failed", message });
    disk.writeFault = undefined;
    unchanged(path);
  }
  disk.openFault = { code: "EMFILE" };
  assert.throws(() => repairSession(path), { code: "no-access" });
  disk.openFault = undefined;
  unchanged(path);
  repairChecked(path);
});

/** Puts `before` in front of a call of node:fs until the test is over. */
function inFrontOf<Name extends "writeSync" | "fsyncSync" | "linkSync" | "renameSync">(
  t: TestContext,
  name: Name,
  before: (...args: Parameters<(typeof fs)[Name]>) => void,
): void {
  const original = fs[name] as (...args: unknown[]) => unknown;
  Object.assign(fs, {
    [name]: (...args: unknown[]) => {
      before(...(args as Parameters<(typeof fs)[Name]>));
      return original(...args);
    },
  });
  syncBuiltinESMExports();
  t.after(() => {
    Object.assign(fs, { [name]: original });
    syncBuiltinESMExports();
  });
}

test("[D1] any step that fails takes back the steps before it", (t) => {
  const path = temporaryFile(OLD);
  let stepsLeft = -1;
  const fail = (...args: unknown[]): void => {
    // Who holds the lease is said for messages only.
    if (args.some((arg) => String(arg).includes("/locks/") || String(arg).includes('"host":'))) return;
    if (stepsLeft-- === 0) throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
  };
  for (const name of ["writeSync", "fsyncSync", "linkSync", "renameSync"] as const) inFrontOf(t, name, fail);
  const message = `Cannot repair ${path}: the disk reported an error (EIO); nothing was changed.`;
  // A link that cannot be made is replaced by a rename, for the quarantine file, and by a copy, for the backup.
  const outcomes = new Map<string, number>();
  for (let step = 0; step < 12; step++) {
    stepsLeft = step;
    let outcome = "repaired";
    try {
      repairSession(path);
    } catch (error) {
      outcome = (error as { code: string }).code;
      if (outcome === "write-failed") assert.equal((error as Error).message, message);
    }
    stepsLeft = -1;
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    if (outcome === "write-failed") {
      unchanged(path);
      continue;
    }
    assert.deepEqual([contentOf(path), contentOf(`${path}.bak`)], [NEW, OLD]);
    for (const name of filesBeside(path)) fs.rmSync(join(dirname(path), name));
    writeFileSync(path, OLD);
  }
  // The folder's last sync comes when all is done: the error says that the disk did not confirm it.
  assert.deepEqual(
    [...outcomes],
    [
      ["write-failed", 7],
      ["repaired", 4],
      ["sync-failed", 1],
    ],
  );
});

test("[D1] bytes that the disk has mixed up are noticed when they are read back, and nothing is changed", (t) => {
  const path = temporaryFile(OLD);
  let isWrong = (_text: string): boolean => false;
  let fromEnd = 5;
  inFrontOf(t, "writeSync", (_fd, bytes) => {
    const written = bytes as unknown as Buffer;
    if (isWrong(written.toString())) written[written.length - fromEnd]! ^= 1;
  });
  const message = `${path} was not repaired: what was written, read again, is not the same session; nothing was changed.`;
  for (const start of ['{"type":"session"', '{"type":"quarantine"'])
    for (fromEnd of [5, 2]) {
      isWrong = (text) => text.startsWith(start);
      assert.throws(() => repairSession(path), { code: "not-repaired", message });
      unchanged(path);
    }
});

test("[D1] a file that another program writes to meanwhile stays as it is, with what was written", (t) => {
  const path = temporaryFile(OLD);
  let write: (() => void) | undefined;
  const once = (): void => {
    const now = write;
    write = undefined;
    now?.();
  };
  for (const name of ["fsyncSync", "renameSync"] as const)
    inFrontOf(t, name, (...args) => {
      if (name === "fsyncSync" || args[1] === path) once();
    });
  const error = {
    code: "file-changed",
    message: `${path} was changed by another program while it was repaired, so it stays as it is; close the program and try again.`,
  };
  write = () => fs.appendFileSync(path, "more\n");
  assert.throws(() => repairSession(path), error);
  unchanged(path, `${OLD}more\n`);

  write = () => fs.rmSync(path);
  assert.throws(() => repairSession(path), error);
  assert.deepEqual(filesBeside(path), [], "what was removed does not come back");

  writeFileSync(path, OLD);
  // To the very last moment, by a program that has the file open.
  const fd = fs.openSync(path, "a");
  let steps = 0;
  const late = (): void => {
    if (++steps === 6) fs.writeSync(fd, "late\n");
    else write = late;
  };
  write = late;
  assert.throws(() => repairSession(path), error);
  write = undefined;
  fs.closeSync(fd);
  assert.equal(steps, 6);
  unchanged(path, `${OLD}late\n`);
});
