/** Jumps with summaries on the real program: a terminal, a provider over HTTP, the file on disk. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { canonicalPath, directoryKey } from "../../src/session/locations.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { outlineOf, sentMessages } from "../support/agent-harness.ts";
import { checkLaws } from "../support/laws.ts";
import { KEYS, Program, newFolder } from "../support/program.ts";
import { hangAfter, say, startProvider } from "../support/provider-mock.ts";
import type { ProviderServer, Reply } from "../support/provider-mock.ts";

interface Running {
  program: Program;
  server: ProviderServer;
  /** Presses the keys one after the other, each when the screen shows what stands before it. */
  press(...steps: [shown: string | RegExp, keys: string][]): Promise<void>;
  /** Quits, and gives the entries of the current path and of the whole file. */
  left(): Promise<{ path: string[]; all: string[] }>;
}

async function run(t: TestContext, ...replies: Reply[]): Promise<Running> {
  const server = await startProvider(replies);
  t.after(() => server.close());
  const [home, cwd] = [newFolder("home"), newFolder("work")];
  const args = ["--base-url", server.baseUrl, "--model", "mock", "--api-key", "k"];
  const program = new Program({ args, cwd, home });
  t.after(() => program.stop());
  const press: Running["press"] = async (...steps) => {
    for (const [shown, keys] of steps) {
      await program.waitFor(shown);
      program.send(keys);
    }
  };
  const left: Running["left"] = async () => {
    program.send(`${KEYS.controlU}/quit${KEYS.enter}`);
    assert.equal((await program.exited).exitCode, 0);
    const folder = join(home, ".bough/sessions", directoryKey(canonicalPath(cwd)));
    const [file] = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
    const manager = await SessionManager.open(join(folder, file!), { readOnly: true });
    await checkLaws(manager);
    const known = (texts: string[]): string[] =>
      texts.filter((text) => !text.endsWith("_change") && text !== "session_info");
    return { path: known(outlineOf(manager.getBranch())), all: known(outlineOf(manager.getEntries())) };
  };
  return { program, server, press, left };
}

const HOME = "\u001b[H";
const isDone = /An answer\.[\s\S]*mock/;

test("[N1, N2, K4] summarise and jump: the summary is on the new branch, and in the next request", async (t) => {
  const { program, server, press, left } = await run(t, say("An answer."), say("WOMBAT-7 was tried."), say("Onwards."));
  await press(
    ["mock", `First try${KEYS.enter}`],
    [isDone, `/tree${KEYS.enter}`],
    ["Session Tree", HOME],
    [/^› .*user: First try/m, KEYS.enter],
    ["› No summary", KEYS.down],
    ["› Summarise", KEYS.enter],
    ["Branch summary (Ctrl+O to expand)", "\u000f"],
    ["WOMBAT-7 was tried.", `, again${KEYS.enter}`],
  );
  await program.waitFor("Onwards.");
  const [summary, prompt] = sentMessages(server.requests[2]);
  assert.match(
    summary!,
    /^user The conversation was on another branch.*<summary>\nWOMBAT-7 was tried\.\n<\/summary>$/s,
  );
  assert.equal(prompt, "user First try, again");
  const { path, all } = await left();
  assert.deepEqual(path, ["branch_summary", "user: First try, again", "assistant stop: Onwards."]);
  assert.deepEqual(all, ["user: First try", "assistant stop: An answer.", ...path]);
});

test("[N2] abort a summary: Escape ends it, the tree is back on the same row, the session as before", async (t) => {
  const { program, press, left } = await run(t, say("An answer."), hangAfter("half a summ"));
  await press(
    ["mock", `First try${KEYS.enter}`],
    [isDone, `/tree${KEYS.enter}`],
    ["Session Tree", HOME],
    [/^› .*user: First try/m, KEYS.enter],
    ["› No summary", KEYS.down],
    ["› Summarise", KEYS.enter],
    ["Summarising branch… (Escape to cancel)", KEYS.escape],
    [/^› .*user: First try/m, KEYS.escape],
  );
  const screen = await program.waitFor((shown) => !shown.includes("Session Tree") && shown.includes("cancelled"));
  assert.match(screen, /Branch summary cancelled/);
  const { path, all } = await left();
  assert.deepEqual([path, all], [["user: First try", "assistant stop: An answer."], path]);
});

test("[N1, N3, N4] jump while a turn runs: it asks, stops the turn, and what it wrote is on its own branch", async (t) => {
  const { press, left } = await run(t, say("An answer."), hangAfter("half an ans"), say("WOMBAT-7 was tried."));
  await press(
    ["mock", `First try${KEYS.enter}`],
    [isDone, `Second try${KEYS.enter}`],
    ["half an ans", `later${KEYS.enter}`],
    ["Steering: later", `/tree${KEYS.enter}`],
    ["Session Tree", HOME + KEYS.down],
    [/^› .*assistant: An answer/m, KEYS.enter],
    ["The agent is still working", KEYS.enter],
    ["› No summary", KEYS.down],
    ["› Summarise", KEYS.enter],
    ["Branch summary (Ctrl+O to expand)", ""],
    ["Steering: later", ""],
  );
  const { path, all } = await left();
  assert.deepEqual(path, ["user: First try", "assistant stop: An answer.", "branch_summary"]);
  assert.deepEqual(all, [
    "user: First try",
    "assistant stop: An answer.",
    "user: Second try",
    "assistant aborted: half an ans",
    "branch_summary",
  ]);
});
