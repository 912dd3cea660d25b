/** The question whether a project's own files may be used: asked in the terminal, once, before anything of them counts. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { Place } from "../support/command.ts";
import { KEYS, Program } from "../support/program.ts";

const QUESTION = "Trust them as they are now? [y/N]";

/** A project whose settings are noticed when they are used, and bough in it. */
function project(t: TestContext): { place: Place; open: (...args: string[]) => Program; trustFile: string } {
  const place = new Place();
  mkdirSync(join(place.cwd, ".bough/rules"), { recursive: true });
  writeFileSync(join(place.cwd, ".bough/settings.json"), '{"treeFilterMode": "everything"}');
  writeFileSync(join(place.cwd, ".bough/rules/evil\u001b]0;x\u0007\n.md"), "Be nice.");
  const open = (...args: string[]): Program => {
    const program = new Program({ args, cwd: place.cwd, home: place.home, env: { ANTHROPIC_API_KEY: "k" } });
    t.after(() => program.stop());
    return program;
  };
  return { place, open, trustFile: join(place.stateDir, "trust.json") };
}

/** What bough says of the project's settings, when it uses them. */
const USED = '"treeFilterMode" must be one of';

/** Leaves bough; whether it has used the project's settings. */
async function leave(program: Program): Promise<boolean> {
  await program.waitFor("/ commands");
  program.send(`/quit${KEYS.enter}`);
  assert.equal((await program.exited).exitCode, 0);
  return program.everything().includes(USED);
}

test("[X5] y trusts the files as they are, is remembered, and one changed byte asks again", async (t) => {
  const { place, open, trustFile } = project(t);
  const first = open();
  const question = await first.waitFor(QUESTION);
  assert.deepEqual(question.split("\n"), [
    "This project has files that can change what bough does:",
    "  .bough/rules/evil .md",
    "  .bough/settings.json",
    QUESTION,
  ]);
  first.send(`y${KEYS.enter}`);
  await first.waitFor(USED);
  assert.equal(await leave(first), true);
  assert.doesNotMatch(first.everything(), /not used until you trust/);
  assert.deepEqual(Object.keys(JSON.parse(readFileSync(trustFile, "utf8")) as object), [place.cwd]);

  const second = open();
  await second.waitFor(USED);
  assert.ok(!second.everything().includes(QUESTION));
  assert.equal(await leave(second), true);

  writeFileSync(join(place.cwd, ".bough/rules/new.md"), "Be evil.");
  const third = open();
  await third.waitFor("  .bough/rules/new.md");
  await third.waitFor(QUESTION);
  third.send(KEYS.enter);
  await third.waitFor("is not used until you trust it");
  assert.equal(await leave(third), false);
});

for (const [name, keys] of [
  ["Enter", KEYS.enter],
  ["Escape", KEYS.escape],
  ["the end of input", KEYS.controlD],
  ["words typed ahead", `you should know${KEYS.enter}`],
] as const)
  test(`[X5] ${name} is no: nothing is used, nothing is remembered, the notice says how`, async (t) => {
    const { place, open, trustFile } = project(t);
    const program = open();
    await program.waitFor(QUESTION);
    program.send(keys);
    await program.waitFor(`${place.cwd}/.bough is not used until you trust it`);
    assert.equal(await leave(program), false);
    assert.equal(existsSync(trustFile), false);
  });

test("[X5] Control+C at the question ends bough", async (t) => {
  const { open, trustFile } = project(t);
  const program = open();
  await program.waitFor(QUESTION);
  program.send(KEYS.controlC);
  assert.equal((await program.exited).signal, 2);
  assert.equal(existsSync(trustFile), false);
});

test("[X5] --trust asks nothing, trusts for this run and remembers nothing", async (t) => {
  const { open, trustFile } = project(t);
  const program = open("--trust");
  await program.waitFor(USED);
  assert.equal(await leave(program), true);
  assert.ok(!program.everything().includes(QUESTION));
  assert.equal(existsSync(trustFile), false);
});

test("[X5] an extension asks in its own way, before anything is drawn; undecided leaves it to bough's question", async (t) => {
  const { place, open, trustFile } = project(t);
  const path = place.file(
    "votes.js",
    `export default (pi) => pi.on("project_trust", async ({ cwd }, ctx) => {
      ctx.ui.notify("About " + cwd);
      const choice = await ctx.ui.select("Trust\u001b[31m it?", ["Remember", "Once", "You decide"]);
      const note = choice === "Once" ? await ctx.ui.input("A note") : "";
      if (note) ctx.ui.notify("NOTED " + note);
      if (choice === "Once") return { trusted: (await ctx.ui.confirm("Really?", "It can act.")) ? "yes" : "no" };
      return choice === "Remember" ? { trusted: "yes", remember: true } : { trusted: "undecided" };
    });`,
  );
  const first = open("-e", path);
  const asked = await first.waitFor("Which number?");
  assert.deepEqual(asked.split("\n").slice(1), [
    "Trust it?",
    "  1  Remember",
    "  2  Once",
    "  3  You decide",
    "Which number?",
  ]);
  first.send(`3${KEYS.enter}`);
  await first.waitFor(QUESTION);
  first.send(KEYS.enter);
  assert.equal(await leave(first), false);

  const second = open("-e", path);
  await second.waitFor("Which number?");
  second.send(`2${KEYS.enter}`);
  await second.waitFor("A note:");
  second.send(`fine${KEYS.enter}`);
  await second.waitFor("NOTED fine");
  await second.waitFor("Really?");
  second.send(`y${KEYS.enter}`);
  assert.equal(await leave(second), true);
  assert.ok(!existsSync(trustFile));

  const third = open("-e", path);
  await third.waitFor("Which number?");
  third.send(`1${KEYS.enter}`);
  assert.equal(await leave(third), true);
  assert.ok(existsSync(trustFile));
});
