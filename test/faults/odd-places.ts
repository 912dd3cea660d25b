/**
 * FT17: the file system is read-only, files cannot be opened, files and folders vanish, the clock goes back.
 */
import { mkdirSync, openSync, closeSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { SessionManager } from "../../src/session/session-manager.ts";
import { temporaryFile, temporaryFolder, user } from "../support/session-files.ts";
import { HEADER, chain, file } from "../support/session-lines.ts";
import { systemError, watchCalls } from "./disk-calls.ts";
import type { FaultTest, Tally } from "./fault-test.ts";
import { missing, runProgram, tmpfs } from "./means.ts";
import { checkKeptSomewhere, checkNextAppend } from "./writing.ts";

const CONTENT = file(HEADER, ...chain(null, "a1", "a2"));

/** What an action throws: its name and code; undefined when nothing. */
async function thrown(action: () => unknown): Promise<{ name: string; code: string; message: string } | undefined> {
  try {
    await action();
    return undefined;
  } catch (error) {
    const { name, code, message } = error as { name: string; code: string; message: string };
    return { name, code, message };
  }
}

async function expectError(
  tally: Tally,
  what: string,
  code: string,
  reason: string,
  action: () => unknown,
): Promise<void> {
  const error = await thrown(action);
  tally.same([error?.name, error?.code], ["SessionFileError", code], what);
  tally.check(error?.message.includes(reason) === true, `${what}: "${error?.message}" does not say "${reason}"`);
  tally.cases++;
}

/** `folder` holds session.jsonl and cannot be written any more. */
async function readOnlyPlace(tally: Tally, folder: string): Promise<void> {
  const path = join(folder, "session.jsonl");
  const before = readdirSync(folder).sort();
  const reason = "the file system is read-only (EROFS)";
  const session = await SessionManager.open(path);
  tally.same(
    [session.isReadOnly(), session.getProblems().map(({ code }) => code)],
    [true, ["not-writable"]],
    "read-only: open",
  );
  await expectError(tally, "read-only: append", "no-access", reason, () => session.appendMessage(user("x")));
  tally.same(session.getLeafId(), "a2", "read-only: the tree after a refused append");
  await session.close();
  const fresh = SessionManager.create("/w", folder);
  await expectError(tally, "read-only: first write", "write-failed", reason, () => fresh.appendMessage(user("x")));
  tally.same([fresh.getEntries(), fresh.hasFile()], [[], false], "read-only: nothing in memory either");
  await expectError(tally, "read-only: fork", "write-failed", reason, () =>
    SessionManager.forkFrom(path, "/w", folder),
  );
  tally.same([readdirSync(folder).sort(), readFileSync(path, "utf8")], [before, CONTENT], "read-only: the folder");
}

async function readOnlyBySimulation(tally: Tally): Promise<void> {
  const folder = dirname(temporaryFile(CONTENT));
  const stop = watchCalls(folder, {
    before: (call) => {
      throw systemError("EROFS", call.name);
    },
  });
  try {
    await readOnlyPlace(tally, folder);
  } finally {
    stop();
  }
}

async function readOnlyByMount(tally: Tally): Promise<void> {
  const disk = tmpfs("1m");
  try {
    writeFileSync(join(disk.folder, "session.jsonl"), CONTENT);
    runProgram("mount", "-o", "remount,ro", disk.folder);
    await readOnlyPlace(tally, disk.folder);
  } finally {
    disk.end();
  }
}

/** Takes all descriptors there are, tries, and gives them back: then all goes well. */
async function tooManyFiles(tally: Tally): Promise<void> {
  const path = temporaryFile(CONTENT);
  const folder = temporaryFolder();
  const reason = "too many files are open (EMFILE)";
  const fresh = SessionManager.create("/w", folder);
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync("/dev/null", "r"));
  } catch {
    // All are taken.
  }
  try {
    await expectError(tally, "EMFILE: open", "no-access", reason, () => SessionManager.open(path));
    await expectError(tally, "EMFILE: first write", "write-failed", reason, () => fresh.appendMessage(user("x")));
  } finally {
    for (const fd of taken) closeSync(fd);
  }
  tally.same([readFileSync(path, "utf8"), readdirSync(folder)], [CONTENT, []], "EMFILE: nothing was changed");
  await checkNextAppend(tally, path);
  fresh.appendMessage(user("x"));
  await fresh.close();
  await checkNextAppend(tally, fresh.getSessionFile()!);
}

/** The file or its folder goes away under its owner; a new session makes its folder anew. */
async function vanished(tally: Tally): Promise<void> {
  for (const gone of ["file", "folder"]) {
    const folder = join(temporaryFolder(), "sessions");
    mkdirSync(folder);
    const path = join(folder, "session.jsonl");
    writeFileSync(path, CONTENT);
    const session = await SessionManager.open(path);
    rmSync(gone === "file" ? path : folder, { recursive: true });
    let id: string | undefined;
    await thrown(() => (id = session.appendMessage(user("x"))));
    if (id !== undefined) checkKeptSomewhere(tally, `deleted ${gone}`, id, folder);
    tally.same(session.getEntry("a2")?.id, "a2", `deleted ${gone}: memory is as it was`);
    const branch = await thrown(() => session.exportBranch("a2"));
    tally.check(branch === undefined || branch.name === "SessionFileError", `deleted ${gone}: ${branch?.message}`);
    await session.close().catch(() => undefined);
    await expectError(tally, `deleted ${gone}: open`, "missing", path, () => SessionManager.open(path));
    const fresh = SessionManager.create("/w", folder);
    fresh.appendMessage(user("x"));
    await fresh.close();
    tally.check(
      readdirSync(folder).includes(basename(fresh.getSessionFile()!)),
      `deleted ${gone}: no new session there`,
    );
    await checkNextAppend(tally, fresh.getSessionFile()!);
  }
}

/** The order is the file's, whatever the clock says. */
async function clockBack(tally: Tally): Promise<void> {
  const folder = temporaryFolder();
  const session = SessionManager.create("/w", folder);
  const RealDate = Date;
  let now = RealDate.now();
  const backwards = class extends RealDate {
    constructor(...args: [] | [number | string]) {
      super(...((args.length === 0 ? [(now -= 3_600_000)] : args) as [number]));
    }
    static override now(): number {
      return (now -= 3_600_000);
    }
  };
  const ids: string[] = [];
  globalThis.Date = backwards as DateConstructor;
  try {
    for (let n = 0; n < 50; n++) ids.push(session.appendMessage(user(String(n))));
    await session.close();
  } finally {
    globalThis.Date = RealDate;
  }
  const path = session.getSessionFile()!;
  const again = await SessionManager.open(path, { readOnly: true });
  tally.same(
    again.getBranch().map(({ id }) => id),
    ids,
    "a clock that goes back: the branch",
  );
  tally.same([again.getLeafId(), again.getProblems()], [ids.at(-1), []], "a clock that goes back: the leaf");
  await again.close();
  await checkNextAppend(tally, path);
  tally.cases += ids.length;
}

async function everywhere(tally: Tally): Promise<void> {
  await readOnlyBySimulation(tally);
  await tooManyFiles(tally);
  await vanished(tally);
  await clockBack(tally);
}

export const ft17: FaultTest = {
  id: "FT17",
  title: "read-only, no descriptors, vanished, clock going back",
  long: {
    needs: [],
    run: async (tally) => {
      const reason = missing(["mount"]);
      if (reason === undefined) await readOnlyByMount(tally);
      else tally.note(`read-only without a mount, which ${reason}`);
      await everywhere(tally);
    },
  },
  short: { needs: [], run: everywhere },
};
