/**
 * FT15: while a program has a session open, another one appends to its file, cuts it short, or puts another in its place.
 */
import { appendFileSync, readFileSync, renameSync, truncateSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { SessionManager } from "../../src/session/session-manager.ts";
import type { SessionEntry } from "../../src/tree/entries.ts";
import { temporaryFile, user } from "../support/session-files.ts";
import { HEADER, chain, file, message } from "../support/session-lines.ts";
import type { FaultTest, Tally } from "./fault-test.ts";
import { checkKeptSomewhere } from "./writing.ts";

const start = (): string => temporaryFile(file(HEADER, ...chain(null, "a1", "a2", "a3")));

/** The ids in a file now, in order, of whoever looks. */
async function idsIn(path: string): Promise<{ ids: string[]; parentOf(id: string): string | null | undefined }> {
  const reader = await SessionManager.open(path, { readOnly: true });
  const entries = reader.getEntries();
  await reader.close();
  const byId = new Map<string, SessionEntry>(entries.map((entry) => [entry.id, entry]));
  return { ids: entries.map(({ id }) => id), parentOf: (id) => byId.get(id)?.parentId };
}

/** Lines of an old program that knows nothing of leases, between the owner's own. Both are there, each on its branch. */
async function foreignAppends(tally: Tally, rounds: number, foreign: (n: number) => string): Promise<void> {
  const path = start();
  const owner = await SessionManager.open(path);
  const all = ["a1", "a2", "a3"];
  const own: string[] = [];
  for (let n = 0; n < rounds; n++) {
    appendFileSync(path, foreign(n));
    const parent = owner.getLeafId();
    const id = owner.appendMessage(user(`own ${n}`));
    own.push(id);
    all.push(`f${n}`, id);
    const { ids, parentOf } = await idsIn(path);
    for (const known of all) if (!ids.includes(known)) tally.lose(`foreign append ${n}: ${known} is gone`);
    tally.same(parentOf(id), parent, `foreign append ${n}: the owner's entry goes on where the owner was`);
    tally.check(!own.includes(parentOf(`f${n}`) ?? ""), `foreign append ${n}: a foreign entry was moved`);
    tally.cases++;
  }
  tally.same(
    owner
      .getBranch()
      .map(({ id }) => id)
      .slice(-rounds),
    own,
    "the owner's branch is its own",
  );
  await owner.close();
}

/** What another program left of the file stays as that program left it; what the owner adds comes after. */
async function foreignCut(tally: Tally, cut: number): Promise<void> {
  const path = start();
  const owner = await SessionManager.open(path);
  const before = owner.appendMessage(user("before"));
  truncateSync(path, cut);
  const left = readFileSync(path);
  const id = tryAppend(owner);
  const now = readFileSync(path);
  tally.check(now.subarray(0, left.length).equals(left), `cut at ${cut}: what was left was overwritten`);
  tally.check(!now.includes(0), `cut at ${cut}: there is a hole in the file`);
  if (id !== undefined)
    for (const own of [before, id]) checkKeptSomewhere(tally, "a file cut short", own, dirname(path));
  await closeAnyway(owner);
  tally.cases++;
}

/** A file put in the place of the session's is another's: no byte of it changes. */
async function foreignReplacement(tally: Tally): Promise<void> {
  const path = start();
  const owner = await SessionManager.open(path);
  const before = owner.appendMessage(user("before"));
  const other = `${path}.new`;
  const content = file(HEADER.replace('"s1"', '"another"'), message("x", null));
  writeFileSync(other, content);
  renameSync(other, path);
  const id = tryAppend(owner);
  tally.same(readFileSync(path, "utf8"), content, "a replaced file was written to");
  if (id !== undefined)
    for (const own of [before, id]) checkKeptSomewhere(tally, "a replaced file", own, dirname(path));
  await closeAnyway(owner);
  tally.cases++;
}

/** Undefined when it is refused. */
function tryAppend(session: SessionManager): string | undefined {
  try {
    return session.appendMessage(user("after"));
  } catch {
    return undefined;
  }
}

/** What was not saved may be told again on closing. */
async function closeAnyway(session: SessionManager): Promise<void> {
  await session.close().catch(() => undefined);
}

async function allHands(tally: Tally, rounds: number): Promise<void> {
  const childOfSeed = (n: number): string => file(message(`f${n}`, "a3"));
  await foreignAppends(tally, rounds, childOfSeed);
  await foreignAppends(tally, rounds, (n) => file(message(`f${n}`, n === 0 ? "a2" : `f${n - 1}`)));
  // An editor that saved without a last newline.
  await foreignAppends(tally, 1, (n) => message(`f${n}`, "a3"));
  const size = readFileSync(start()).length;
  const cuts = rounds > 10 ? Array.from({ length: size }, (_, n) => n) : [0, size >> 1, size - 1];
  for (const cut of cuts) await foreignCut(tally, cut);
  await foreignReplacement(tally);
}

export const ft15: FaultTest = {
  id: "FT15",
  title: "others append to, cut and replace an open file",
  long: { needs: [], run: (tally) => allHands(tally, 100) },
  short: { needs: [], run: (tally) => allHands(tally, 5) },
};
