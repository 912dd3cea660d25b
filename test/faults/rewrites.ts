/**
 * FT16: the program dies at each step of making a whole file: a migration, a branch, an export, a fork.
 */
import { once } from "node:events";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { SessionManager } from "../../src/session/session-manager.ts";
import type { SessionEntry } from "../../src/tree/entries.ts";
import { temporaryFolder } from "../support/session-files.ts";
import { file } from "../support/session-lines.ts";
import { inside, traced } from "./fault-plan.ts";
import type { FaultTest, Tally } from "./fault-test.ts";
import { allFiles } from "./peer-files.ts";
import type { NamedFile } from "./peer-files.ts";
import type { Rewrite } from "./rewriter.ts";
import { checkNextAppend, startProgram } from "./writing.ts";
import type { StartOptions } from "./writing.ts";

const REWRITER = fileURLToPath(new URL("rewriter.ts", import.meta.url));
/** More calls than any rewrite makes. */
const MANY_STEPS = 80;

/** How to end the program at its step `k`. */
type Kill = (folder: string, k: number) => StartOptions;

const killInside =
  (effect: "kill" | "kill-halfway"): Kill =>
  (folder, at) =>
    inside({ folder, at, effect });
/** By the kernel, as the call begins. Which files they are on is not asked: some are Node's own. */
const killByKernel =
  (calls: string): Kill =>
  (_, at) =>
    traced(calls, { inject: `signal=SIGKILL:when=${at}` });

/** Runs it, and returns the file it says it has made; undefined when it was killed first. */
async function run(rewrite: Rewrite, options: StartOptions): Promise<string | undefined> {
  const child = startProgram(REWRITER, rewrite, options);
  const ended = once(child, "close");
  let said: string | undefined;
  createInterface({ input: child.stdout! }).on("line", (line) => (said = line));
  await ended;
  return said?.startsWith("done ") === true ? said.slice("done ".length) : undefined;
}

interface Case {
  source: NamedFile;
  what: Rewrite["what"];
}

/** Kills at step 1, 2, 3 … until the program comes to its end. */
async function killAtEachStep(tally: Tally, { source, what }: Case, kill: Kill): Promise<void> {
  for (let k = 1; k <= MANY_STEPS; k++) {
    const place = temporaryFolder();
    const folder = join(place, "sessions");
    mkdirSync(folder);
    const path = join(folder, "source.jsonl");
    writeFileSync(path, source.content);
    const made = await run({ what, source: path, folder }, kill(folder, k));
    await checkSource(tally, `${what} of ${source.name}, step ${k}`, path, source, what);
    await checkOthers(tally, `${what} of ${source.name}, step ${k}`, path, what);
    tally.cases++;
    if (made === undefined) continue;
    tally.check(what === "open" || readdirSync(folder).includes(basename(made)), `${what}: ${made} is not there`);
    return;
  }
  tally.check(false, `${what} of ${source.name}: did not end after ${MANY_STEPS} steps`);
}

/** The old file whole, or the new one whole and the old one beside it. Then it is opened, and goes on. */
async function checkSource(
  tally: Tally,
  step: string,
  path: string,
  source: NamedFile,
  what: Rewrite["what"],
): Promise<void> {
  const now = readFileSync(path);
  const backups = readdirSync(dirname(path)).filter((name) => name.endsWith(".bak"));
  for (const name of backups)
    if (!readFileSync(join(dirname(path), name)).equals(source.content))
      tally.lose(`${step}: ${name} is not the original`);
  if (now.equals(source.content)) {
    tally.check(what === "open" || backups.length === 0, `${step}: a backup of an unchanged file`);
  } else {
    tally.check(what === "open", `${step}: the source was changed`);
    if (backups.length === 0) tally.lose(`${step}: the original is gone`);
  }
  const expected = await entriesOf(tally, source);
  const session = await SessionManager.open(path);
  const entries = session.getEntries();
  tally.same(withoutIds(entries), withoutIds(expected), `${step}: entries, opened again`);
  tally.same(session.getProblems(), [], `${step}: problems, opened again`);
  await session.close();
  await checkNextAppend(tally, path);
}

/** New sessions are whole or not there; unfinished ones are in nobody's way. */
async function checkOthers(tally: Tally, step: string, path: string, what: Rewrite["what"]): Promise<void> {
  const folder = dirname(path);
  const names = readdirSync(folder).filter((name) => name.endsWith(".jsonl") && name !== basename(path));
  tally.check(names.length <= 1 && (what !== "open" || names.length === 0), `${step}: files ${names.join(", ")}`);
  const lists = await Promise.all(["/w", "/srv/bakery"].map((cwd) => SessionManager.list(cwd, folder)));
  const listed = lists
    .flat()
    .map((info) => basename(info.path))
    .sort();
  tally.same(listed, [basename(path), ...names].sort(), `${step}: the list`);
  const old = await SessionManager.open(path, { readOnly: true });
  for (const name of names) {
    const made = await SessionManager.open(join(folder, name), { readOnly: true });
    const kept = old
      .getBranch()
      .slice(0, -1)
      .filter(({ type }) => type !== "label");
    const there = new Set(made.getEntries().map(({ id }) => id));
    for (const { id } of kept) if (!there.has(id)) tally.lose(`${step}: ${name} lacks ${id}`);
    tally.same(
      made.getProblems().filter(({ code }) => code !== "other-tip"),
      [],
      `${step}: problems of ${name}`,
    );
    await made.close();
    await checkNextAppend(tally, join(folder, name));
  }
  await old.close();
}

/** What a file holds, read before anything happened to it. */
async function entriesOf(tally: Tally, { name, content }: NamedFile): Promise<SessionEntry[]> {
  const path = join(temporaryFolder(), "session.jsonl");
  writeFileSync(path, content);
  const session = await SessionManager.open(path, { readOnly: true });
  tally.same(session.getProblems(), [], `${name}: problems`);
  await session.close();
  return session.getEntries();
}

/** Version 1 has none of its own. */
const withoutIds = (entries: readonly SessionEntry[]): unknown[] =>
  entries.map(({ id: _id, parentId: _parentId, ...rest }) =>
    "firstKeptEntryId" in rest ? { ...rest, firstKeptEntryId: "" } : rest,
  );

/** The same conversation as an older program would have written it. */
function olderVersion({ name, content }: NamedFile, version: 1 | 2): NamedFile {
  const lines = content.toString("utf8").split("\n").slice(0, -1);
  const older = lines.map((text) => {
    const record = JSON.parse(text) as Record<string, unknown>;
    if (record["type"] === "title") return text;
    const { id, parentId, ...rest } = record;
    if (record["type"] === "session")
      return JSON.stringify({ ...record, version: version === 1 ? undefined : version });
    return JSON.stringify(version === 2 ? { ...rest, id, parentId } : rest);
  });
  const hook = {
    type: "message",
    timestamp: "2026-05-04T08:00:00.000Z",
    message: { role: "hookMessage", customType: "h", content: "late", display: true },
  };
  const last = JSON.parse(lines.at(-1)!) as { id: string };
  const ids = version === 2 ? { id: "00hook00", parentId: last.id } : {};
  return {
    name: `${name} (version ${version})`,
    content: Buffer.from(file(...older, JSON.stringify({ ...hook, ...ids }))),
  };
}

/** Version 1 counts records where later ones name an entry. */
function withoutPointers(file: NamedFile): NamedFile {
  const lines = file.content.toString("utf8").split("\n");
  const content = lines
    .filter((text) => !/"type":"(compaction|label|context_edit|branch_summary)"/.test(text))
    .join("\n");
  return { ...file, content: Buffer.from(content) };
}

async function allCases(): Promise<Case[]> {
  const [own, pi, omp] = (await allFiles()) as [NamedFile, NamedFile, NamedFile];
  const migrations = [olderVersion(withoutPointers(pi), 1), olderVersion(pi, 2), olderVersion(omp, 2)];
  return [
    ...migrations.map((source): Case => ({ source, what: "open" })),
    ...[own, pi, omp].flatMap((source) =>
      (["branch", "export", "fork"] as const).map((what): Case => ({ source, what })),
    ),
  ];
}

async function killEverywhere(tally: Tally, kills: readonly Kill[], cases: readonly Case[]): Promise<void> {
  for (const kill of kills) for (const one of cases) await killAtEachStep(tally, one, kill);
}

const SYSTEM_CALLS = "fsync,fdatasync,rename,renameat,renameat2,link,linkat,unlink,unlinkat,chmod,fchmod";

export const ft16: FaultTest = {
  id: "FT16",
  title: "killed at each step of migration, branch and fork",
  long: {
    needs: ["strace"],
    run: async (tally) => {
      const cases = await allCases();
      await killEverywhere(tally, [killInside("kill"), killInside("kill-halfway")], cases);
      await killEverywhere(tally, [killByKernel(SYSTEM_CALLS), killByKernel("write")], cases);
    },
  },
  short: {
    needs: [],
    run: async (tally) => {
      const [first, ...rest] = await allCases();
      await killEverywhere(tally, [killInside("kill-halfway")], [first!, rest.at(-1)!]);
    },
  },
};
