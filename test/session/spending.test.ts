/** What many sessions have spent: each answer once, whatever copies there are of it. */
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { TestContext } from "node:test";
import { SeenAnswers } from "../../src/session/seen-answers.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { answerKey, readSpending } from "../../src/session/spending.ts";
import type { SessionSpending, UnreadSession } from "../../src/session/spending.ts";
import { spendingOf } from "../../src/tree/usage.ts";
import { trackSession } from "../support/laws.ts";
import { assistant, temporaryFolder, user } from "../support/session-files.ts";
import { HEADER, file, line } from "../support/session-lines.ts";

/** A session with one answer of each text. */
function talk(t: TestContext, folder: string, ...texts: string[]): SessionManager {
  const session = trackSession(t, SessionManager.create("/w", folder));
  goOn(session, ...texts);
  return session;
}
function goOn(session: SessionManager, ...texts: string[]): void {
  for (const text of texts) {
    session.appendMessage(user(text));
    session.appendMessage(assistant(text));
  }
}
const pathOf = (session: SessionManager): string => session.getSessionFile() as string;

async function counted(...paths: string[]): Promise<(SessionSpending | UnreadSession)[]> {
  const all: (SessionSpending | UnreadSession)[] = [];
  for await (const read of readSpending(paths)) all.push(read);
  return all;
}
/** For each file: answers that count there, and what of others is in it, in answers. */
const inWords = (all: readonly (SessionSpending | UnreadSession)[]): unknown[] =>
  all.map((read) => ("reason" in read ? [basename(read.path), read.reason] : [read.answers, read.shared.output / 10]));

test("[D5, T7] dB56 an answer counts once over its session, a fork, a clone, a branch and a copied file", async (t) => {
  const folder = temporaryFolder();
  const parent = talk(t, folder, "one", "two");
  await parent.flush();
  const fork = trackSession(t, await SessionManager.forkFrom(pathOf(parent), "/elsewhere", folder));
  goOn(fork, "three");
  await fork.flush();
  const all = await counted(pathOf(fork), pathOf(parent));
  // The oldest session comes first, whatever the order asked for.
  assert.deepEqual(inWords(all), [
    [2, 0],
    [1, 2],
  ]);
  const answers = all.reduce((sum, read) => sum + ("reason" in read ? 0 : read.answers), 0);
  assert.equal(answers, 3);
  const [first] = all as SessionSpending[];
  assert.deepEqual(
    { ...first, created: undefined },
    {
      path: pathOf(parent),
      id: parent.getSessionId(),
      name: undefined,
      cwd: "/w",
      created: undefined,
      isSubagent: false,
      entries: 4,
      answers: 2,
      spent: parent.getUsage(),
      shared: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: 0 },
      problems: 0,
    },
  );

  const copy = join(folder, "copy.jsonl");
  copyFileSync(pathOf(parent), copy);
  const [branchAt] = parent
    .getBranch()
    .filter((entry) => entry.type === "message" && entry.message.role === "assistant");
  const branch = parent.exportBranch(branchAt!.id);
  const [whole, ...copies] = inWords(await counted(pathOf(parent), copy, branch, pathOf(fork)));
  assert.deepEqual(whole, [2, 0]);
  assert.deepEqual(new Set(copies.map(String)), new Set(["0,1", "0,2", "1,2"]));
});

test("[D5] who stops reading leaves no file open", async (t) => {
  const folder = temporaryFolder();
  const paths = [talk(t, folder, "one"), talk(t, folder, "two")].map(pathOf);
  const close = t.mock.method(SessionManager.prototype, "close");
  for await (const _ of readSpending(paths)) break;
  assert.equal(close.mock.callCount(), 1);
});

test("[D5] answers that only look alike are different ones", () => {
  const entry = (id: string, fields: object) =>
    JSON.parse(line("message", id, null, { message: { ...assistant("x"), ...fields } }));
  const key = (id: string, fields: object = {}): string => {
    const made = entry(id, fields);
    return answerKey(made, spendingOf(made)!);
  };
  assert.equal(key("a", { responseId: "r" }), key("b", { responseId: "r" }), "the same answer under another entry id");
  const different = [
    key("a"),
    key("b"),
    key("a", { responseId: "r" }),
    key("a", { responseId: "r", timestamp: 1 }),
    key("a", { responseId: "r", model: "other" }),
    key("a", { responseId: "r", usage: assistant("x", 11).usage }),
    key("a", { responseId: "", timestamp: 1 }),
  ];
  assert.equal(new Set(different).size, different.length);
});

test("[D5, P3] a subagent's work counts in its own session when that is read, else in its parent", async (t) => {
  const folder = temporaryFolder();
  const parent = talk(t, folder, "one");
  // Of two sessions of one millisecond chance says which is the older one.
  await sleep(2);
  const child = trackSession(t, SessionManager.create("/w", folder));
  child.appendSessionInit({ systemPrompt: "s", task: "t", tools: [] });
  goOn(child, "in the child");
  parent.appendMessage({
    role: "toolResult",
    toolCallId: "c",
    toolName: "task",
    content: [],
    isError: false,
    timestamp: 1,
    usage: assistant("in the child").usage,
    details: { description: "d", sessionId: child.getSessionId() },
  });
  await Promise.all([parent.flush(), child.flush()]);
  assert.deepEqual(inWords(await counted(pathOf(parent))), [[2, 0]]);
  const [first, second] = (await counted(pathOf(parent), pathOf(child))) as SessionSpending[];
  assert.deepEqual(inWords([first!, second!]), [
    [1, 1],
    [1, 0],
  ]);
  assert.deepEqual([first?.isSubagent, second?.isSubagent], [false, true]);
  assert.deepEqual([...(second?.spent.byModel.keys() ?? [])], ["anthropic/claude-x"]);
});

test("[D5, F3] what omp's subagents did lies in a folder named after their session, which adds it up", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "parent.jsonl");
  const usage = assistant("x").usage;
  const result = { role: "toolResult", toolCallId: "c", toolName: "task", content: [], details: { usage } };
  writeFileSync(path, file(HEADER, line("message", "r", null, { message: result })));
  mkdirSync(join(folder, "parent"));
  const child = join(folder, "parent", "0-look.jsonl");
  writeFileSync(child, file(HEADER.replace("s1", "s2"), line("message", "a", null, { message: assistant("x") })));
  assert.deepEqual(inWords(await counted(child, path)), [
    [1, 0],
    [0, 1],
  ]);
});

test("[D5, F6, F7] damaged, empty and missing files are told of, and hide no other", async (t) => {
  const folder = temporaryFolder();
  const good = talk(t, folder, "one");
  await good.flush();
  const put = (name: string, content: string): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const torn = put("torn.jsonl", `${file(HEADER, line("message", "a", null, { message: assistant("x") }))}{"type":`);
  const all = await counted(
    pathOf(good),
    torn,
    put("no.jsonl", "nothing\n"),
    put("empty.jsonl", ""),
    join(folder, "gone.jsonl"),
  );
  const told = new Map(all.map((read) => [basename(read.path), read]));
  assert.deepEqual(inWords([told.get("torn.jsonl")!]), [[1, 0]]);
  assert.equal((told.get("torn.jsonl") as SessionSpending).problems, 1);
  assert.deepEqual(inWords([told.get(basename(pathOf(good)))!]), [[1, 0]]);
  for (const name of ["no.jsonl", "empty.jsonl", "gone.jsonl"])
    assert.match((told.get(name) as UnreadSession).reason, new RegExp(name.replace(".", "\\.")));
  assert.equal(all.length, 5);
});

test("[D5] one session is read at a time, when it is its turn", async (t) => {
  const folder = temporaryFolder();
  const [first, second] = [talk(t, folder, "one"), file(HEADER.replace("2026-01-01", "2999-01-01"))];
  await first.flush();
  const later = join(folder, "later.jsonl");
  writeFileSync(later, second);
  const reading = readSpending([pathOf(first), later]);
  await reading.next();
  rmSync(later);
  const { value } = await reading.next();
  assert.ok(value !== undefined && "reason" in value, "it was not read before");
});

test("[D5] a hundred thousand answers are known again, and no other", () => {
  const seen = new SeenAnswers();
  for (let n = 0; n < 100_000; n++) assert.ok(seen.add(`answer ${n}`));
  assert.equal(seen.size, 100_000);
  for (let n = 0; n < 100_000; n += 7) assert.ok(!seen.add(`answer ${n}`));
  assert.ok(seen.add("another"));
});
