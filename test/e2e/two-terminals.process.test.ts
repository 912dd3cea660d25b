/** Two terminals on one session, and a third way in that must fail. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { SessionManager } from "../../src/session/session-manager.ts";
import { canonicalPath, directoryKey } from "../../src/session/locations.ts";
import { outlineOf } from "../support/agent-harness.ts";
import { KEYS, Program, cleanEnvironment, newFolder } from "../support/program.ts";
import { startAimock } from "../support/provider-mock.ts";

/** Programs in one folder, and a provider that answers a prompt by a word in it. */
async function terminals(t: TestContext, answers: Record<string, string>) {
  const mock = await startAimock();
  t.after(() => mock.stop());
  for (const [word, content] of Object.entries(answers)) mock.on({ userMessage: new RegExp(word) }, { content });
  const [home, cwd] = [newFolder("home"), newFolder("work")];
  const flags = ["--base-url", `${mock.url}/v1`, "--model", "mock", "--api-key", "k"];
  const start = (...args: string[]): Program => {
    const program = new Program({ args: [...args, ...flags], cwd, home });
    t.after(() => program.stop());
    return program;
  };
  return { home, cwd, flags, start };
}

async function say(program: Program, prompt: string): Promise<void> {
  program.send(prompt);
  await program.waitFor(prompt);
  program.send(KEYS.enter);
}

test("[W5, U4] dB31 the second terminal follows live, is handed the session, and takes over when the first is killed", async (t) => {
  const { home, cwd, flags, start } = await terminals(t, {
    one: "ANSWER-1",
    two: "ANSWER-2",
    three: "ANSWER-3",
    four: "ANSWER-4",
  });
  const first = start();
  await first.waitFor("Ctrl+C");
  await say(first, "say one");
  await first.answered("ANSWER-1");
  const second = start("-c");
  await second.waitFor("This session is open in another bough");
  await second.waitFor("Ask for a hand-over");
  second.send(KEYS.enter);
  await second.waitFor((screen) => !screen.includes("Ask for a hand-over"));
  await second.waitFor("you follow it live");
  await second.waitFor(/following/);
  await say(first, "say two");
  await second.waitFor("ANSWER-2");
  await say(second, "not mine");
  await second.waitFor("You follow this session and cannot write to it");

  const headless = spawn(
    process.execPath,
    [join(import.meta.dirname, "../../src/cli/main.ts"), "-c", "-p", "hi", ...flags],
    {
      cwd,
      env: cleanEnvironment(home),
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const [out, err, [exitCode]] = await Promise.all([
    text(headless.stdout),
    text(headless.stderr),
    once(headless, "close") as Promise<[number]>,
  ]);
  assert.equal(out, "");
  assert.match(
    err,
    /^bough: \S+\.jsonl is open in another bough \(process \d+ on \S+, since [\dT:.Z-]+\); close it there first\.\n$/,
  );
  assert.equal(exitCode, 1);

  second.send(KEYS.controlU);
  await say(second, "/take-over");
  await second.waitFor("This session is written here now.");
  await first.waitFor("was handed over to another bough");
  await say(second, "say three");
  await second.answered("ANSWER-3");
  await first.waitFor("ANSWER-3");
  second.kill("SIGKILL");
  await say(first, "/take-over");
  await first.waitFor("This session is written here now.");
  await say(first, "say four");
  await first.answered("ANSWER-4");
  await first.stop();

  const folder = join(home, ".bough/sessions", directoryKey(canonicalPath(cwd)));
  const files = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  assert.equal(files.length, 1);
  const session = await SessionManager.open(join(folder, files[0]!), { readOnly: true });
  const said = outlineOf(session.getBranch()).filter((row) => /^(user|assistant)/.test(row));
  assert.deepEqual(
    said,
    ["one", "two", "three", "four"].flatMap((word, n) => [`user: say ${word}`, `assistant stop: ANSWER-${n + 1}`]),
  );
  assert.deepEqual(session.getProblems(), []);
});

test("[W5, U4] a session in use, picked or opened, can be followed, copied or asked for; Escape keeps the one on the screen", async (t) => {
  const { home, cwd, start } = await terminals(t, { one: "ANSWER-1", two: "ANSWER-2", mine: "ANSWER-MINE" });
  const first = start();
  await first.waitFor("Ctrl+C");
  await say(first, "say one");
  await first.answered("ANSWER-1");

  // A session of its own is on the screen and stays there after Escape.
  const second = start();
  await second.waitFor("Ctrl+C");
  await say(second, "say mine");
  await second.answered("ANSWER-MINE");
  const pickFirst = async (): Promise<void> => {
    await say(second, "/resume");
    await second.waitFor("Resume a session");
    await second.waitFor("say one");
    second.send("one");
    await second.waitFor(/› .*say one/);
    second.send(KEYS.enter);
    await second.waitFor(/This session is open in another bough[^]*It is process \d+ on [^]*Ask for a hand-over/);
  };
  await pickFirst();
  second.send(KEYS.escape);
  await second.waitFor("Resume a session");
  second.send(KEYS.escape);
  await second.waitFor((screen) => screen.includes("ANSWER-MINE") && !screen.includes("Resume a session"));

  await pickFirst();
  second.send(KEYS.enter);
  await second.waitFor("you follow it live");
  await second.waitFor("ANSWER-1");
  await say(first, "say two");
  await second.waitFor("ANSWER-2");

  // Started on it: the third has a copy, then the second gets it from the first.
  const third = start("-c");
  await third.waitFor("Ask for a hand-over");
  third.send(KEYS.down);
  third.send(KEYS.enter);
  await third.waitFor("Copied the branch to a session of your own");
  await say(third, "say mine too");
  await third.answered("ANSWER-MINE");
  await third.stop();
  await second.stop();

  const fourth = start("--session", sessionOf(cwd, home, "say one"));
  await fourth.waitFor("Ask for a hand-over");
  fourth.send(KEYS.up);
  fourth.send(KEYS.enter);
  await fourth.waitFor("This session is written here now.");
  await first.waitFor("was handed over to another bough");
  await fourth.stop();
  await first.stop();

  const folder = join(home, ".bough/sessions", directoryKey(canonicalPath(cwd)));
  const prompts: string[][] = [];
  for (const name of readdirSync(folder).sort()) {
    const session = await SessionManager.open(join(folder, name), { readOnly: true });
    prompts.push(outlineOf(session.getBranch()).filter((row) => row.startsWith("user")));
    assert.deepEqual(session.getProblems(), []);
  }
  assert.deepEqual(prompts, [
    ["user: say one", "user: say two"],
    ["user: say mine"],
    ["user: say one", "user: say two", "user: say mine too"],
  ]);
});

/** The oldest session of a folder that says `text`. */
function sessionOf(cwd: string, home: string, text: string): string {
  const folder = join(home, ".bough/sessions", directoryKey(canonicalPath(cwd)));
  const names = readdirSync(folder).sort();
  return join(
    folder,
    names.find((name) => readFileSync(join(folder, name), "utf8").includes(text))!,
  );
}
