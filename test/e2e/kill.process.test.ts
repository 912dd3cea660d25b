/** SIGKILL at many moments of a run on a real terminal: what the screen had shown is in the file afterwards. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { SessionManager } from "../../src/session/session-manager.ts";
import { textOf } from "../../src/tree/content.ts";
import { SeededRandom } from "../support/generate.ts";
import { checkLaws } from "../support/laws.ts";
import { KEYS, Program, newFolder } from "../support/program.ts";
import { startAimock } from "../support/provider-mock.ts";

const ROUNDS = 12;
const TURNS = 4;
/** About as long as a turn takes, so that kills come at all its moments and after it. Milliseconds. */
const LONGEST = 300;

/** Everything a session file holds, all branches, as text. */
async function savedText(folder: string): Promise<string> {
  const texts: string[] = [];
  if (!existsSync(folder)) return "";
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".jsonl"),
  )) {
    const session = await SessionManager.open(join(folder, name), { readOnly: true });
    await checkLaws(session);
    for (const entry of session.getEntries())
      if (entry.type === "message" && "content" in entry.message) texts.push(textOf(entry.message.content));
  }
  return texts.join("\n");
}

test("[W1, W2] whatever the screen had acknowledged before a SIGKILL is there after reopening", async (t) => {
  const mock = await startAimock();
  t.after(() => mock.stop());
  for (let turn = 0; turn < TURNS; turn++) {
    mock.on(
      { userMessage: new RegExp(`PROMPT-${turn}`), hasToolResult: false, turnIndex: 2 * turn },
      { toolCalls: [{ name: "read", arguments: { path: `file${turn}.txt` }, id: `call_${turn}` }] },
    );
    mock.on({ userMessage: new RegExp(`PROMPT-${turn}`) }, { content: `Here is ANSWER-${turn} for you.` });
  }
  const random = new SeededRandom(20);
  const seen = { prompts: 0, results: 0, answers: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const home = newFolder("home");
    const cwd = newFolder("work");
    mkdirSync(cwd, { recursive: true });
    for (let turn = 0; turn < TURNS; turn++) writeFileSync(join(cwd, `file${turn}.txt`), `RESULT-${turn}\n`);
    const args = ["--base-url", `${mock.url}/v1`, "--model", "mock", "--api-key", "k"];
    const program = new Program({ args, cwd, home, rows: 200 });
    t.after(() => program.stop());
    await program.waitFor("mock");
    const last = round % TURNS;
    for (let turn = 0; turn <= last; turn++) {
      if (turn === 2) {
        program.send(`/tree${KEYS.enter}\u001b[H${KEYS.enter}`);
        await program.waitFor("Summarise branch?");
        program.send(KEYS.enter);
        await program.waitFor("Navigated");
        program.send(KEYS.controlU);
      }
      program.send(`PROMPT-${turn} please${KEYS.enter}`);
      if (turn < last) await program.answered(`ANSWER-${turn}`);
    }
    await sleep(random.below(LONGEST));
    program.kill("SIGKILL");
    await program.exited;
    const screen = program.everything();
    const saved = await savedText(join(home, ".bough/sessions"));
    const shown = (pattern: RegExp): string[] => [...screen.matchAll(pattern)].map(([, text]) => text as string);
    const prompts = shown(/^ › (PROMPT-\d please) *$/gm);
    const results = shown(/^ (RESULT-\d) *$/gm);
    const isWorking = screen.includes("Working");
    const answers = shown(/^ (Here is ANSWER-\d for you\.) *$/gm).slice(0, isWorking ? -1 : undefined);
    for (const text of [...prompts, ...results, ...answers])
      assert.ok(saved.includes(text), `round ${round}: "${text}" was on the screen and is not in the file\n${screen}`);
    seen.prompts += prompts.length;
    seen.results += results.length;
    seen.answers += answers.length;
  }
  t.diagnostic(`${ROUNDS} kills; acknowledged and found: ${JSON.stringify(seen)}`);
  assert.ok(
    seen.prompts > ROUNDS / 2 && seen.results > 0 && seen.answers > 0,
    "the kills came too early to prove anything",
  );
});
