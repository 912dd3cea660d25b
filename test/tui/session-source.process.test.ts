/** Tests of src/tui/session-source.ts: the sessions on disk as the picker gets them. Sets BOUGH_DIR. */
import { deepEqual, equal, rejects } from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { listSessions } from "../../src/session/catalog.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import type { SessionScope, SessionSource } from "../../src/tui/session-picker.ts";
import { sessionSource } from "../../src/tui/session-source.ts";

const home = realpathSync(mkdtempSync(join(tmpdir(), "bough-source-")));
const outer = process.env["BOUGH_DIR"];
const [here, there] = [join(home, "here"), join(home, "there")];

before(() => {
  process.env["BOUGH_DIR"] = join(home, "state");
  mkdirSync(here);
  mkdirSync(there);
});
after(() => {
  if (outer === undefined) delete process.env["BOUGH_DIR"];
  else process.env["BOUGH_DIR"] = outer;
  rmSync(home, { recursive: true });
});

async function session(cwd: string, prompt: string): Promise<SessionManager> {
  const manager = SessionManager.create(cwd);
  manager.appendMessage({ role: "user", content: prompt, timestamp: 0 });
  await manager.flush();
  return manager;
}

function source(manager: SessionManager): SessionSource {
  return sessionSource({
    cwd: here,
    sessionManager: manager,
    setSessionName: (name) => void manager.setSessionName(name, "user"),
  });
}

async function prompts(
  from: SessionSource,
  scope: SessionScope,
  signal = new AbortController().signal,
): Promise<string[]> {
  const found: string[] = [];
  await from.load(
    scope,
    (each) =>
      found.push(
        `${each.firstMessage || each.kind}${each.isExample ? " (example)" : ""}${each.isSubagent ? " (subagent)" : ""}`,
      ),
    signal,
  );
  return found.sort();
}

test("[D2, F7] the folder's sessions, or all, with damaged and empty files, the example, and subagents' marked as such", async () => {
  const mine = await session(here, "mine");
  await session(there, "far away");
  const child = SessionManager.create(here);
  child.appendSessionInit({ systemPrompt: "", task: "sub", tools: [] });
  child.appendMessage({ role: "user", content: "a subagent's", timestamp: 0 });
  await child.flush();
  const folder = dirname(mine.getSessionFile()!);
  writeFileSync(join(folder, "empty.jsonl"), "");
  writeFileSync(join(folder, "damaged.jsonl"), "no session\n");
  mkdirSync(join(home, "state", "examples"), { recursive: true });
  // An example of each folder; that of the other is no use here.
  for (const cwd of [here, there])
    await (await SessionManager.forkFrom(mine.getSessionFile()!, cwd, join(home, "state", "examples"))).close();

  const from = source(mine);
  const sub = "a subagent's (subagent)";
  deepEqual(await prompts(from, "folder"), [sub, "damaged", "empty", "mine", "mine (example)"]);
  deepEqual(await prompts(from, "all"), [sub, "damaged", "empty", "far away", "mine", "mine (example)"]);
  deepEqual(await prompts(from, "all", AbortSignal.abort()), []);
});

test("[U4, B2] a rename reaches the open session and any other file; what cannot be written rejects", async () => {
  const mine = await session(here, "open now");
  const other = await session(here, "lies on disk");
  await other.close();
  const listed = await listSessions(here);
  const infoOf = (manager: SessionManager) => listed.find(({ path }) => path === manager.getSessionFile())!;
  const from = source(mine);

  await from.rename(infoOf(mine), "Mine");
  equal(mine.getSessionName(), "Mine");
  await from.rename(infoOf(other), "Other");
  const reopened = await SessionManager.open(other.getSessionFile()!, { readOnly: true });
  deepEqual(reopened.getIndex().name, { text: "Other", source: "user" });
  await reopened.close();
  await from.rename(infoOf(other), undefined);
  const names = async () => (await listSessions(here)).filter(({ name }) => name !== undefined).map(({ name }) => name);
  deepEqual(await names(), ["Mine"]);

  rmSync(other.getSessionFile()!);
  await rejects(from.rename(infoOf(other), "x"), /there is no/i);
});
