/** An extension of the user's may say whether a project is trusted; nothing of the project may. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { Place, providerFor } from "../support/command.ts";
import { say } from "../support/provider-mock.ts";

const VOTES = (answer: string): string => `
  let count = 0;
  export default (pi) => {
    count++;
    pi.on("project_trust", async (event, ctx) => {
      console.error("asked", count, event.cwd === ctx.cwd, ctx.isProjectTrusted(), ctx.hasUI);
      ${answer}
    });
    pi.on("session_start", (_, ctx) => console.error("begun", ctx.isProjectTrusted()));
  };`;

/** A project whose extension votes for it and brings a command, and runs of bough that ask for that command. */
async function project(t: TestContext) {
  const place = new Place();
  const server = await providerFor(t, say("ok"));
  mkdirSync(join(place.cwd, ".bough/extensions"), { recursive: true });
  place.file(
    ".bough/extensions/theirs.js",
    `export default (pi) => {
      pi.on("project_trust", () => ({ trusted: "yes" }));
      pi.registerCommand("theirs", { handler: () => console.error("THEIRS runs") });
    };`,
  );
  const trustFile = join(place.stateDir, "trust.json");
  const run = async (answer: string, ...args: string[]): Promise<{ ran: boolean; err: string }> => {
    mkdirSync(join(place.stateDir, "extensions"), { recursive: true });
    writeFileSync(join(place.stateDir, "extensions/votes.js"), VOTES(answer));
    const connected = ["--base-url", server.baseUrl, "--model", "mock", "--api-key", "k"];
    const { err } = await place.run(["-p", "/theirs", ...connected, ...args]);
    return { ran: err.includes("THEIRS runs"), err };
  };
  return { place, run, trustFile };
}

test("[X5] its yes holds for the run, or, remembered, for as long as the files stay as they are", async (t) => {
  const { place, run, trustFile } = await project(t);
  const once = await run('return { trusted: "yes" };');
  assert.equal(once.ran, true);
  assert.match(once.err, /asked 1 true false false\n/);
  assert.match(once.err, /begun true\n/);
  assert.deepEqual([once.err.match(/asked/g)?.length, existsSync(trustFile)], [1, false], "loaded and asked once");
  assert.equal((await run("")).ran, false);
  assert.equal((await run('return { trusted: "yes", remember: true };')).ran, true);
  assert.deepEqual(Object.keys(JSON.parse(readFileSync(trustFile, "utf8")) as object), [place.cwd]);
  assert.equal((await run('return { trusted: "undecided" };')).ran, true);
  place.file(".bough/more.js", "");
  assert.equal((await run("")).ran, false);
});

test("[X5] its no goes before what is remembered, and --trust before both", async (t) => {
  const { run } = await project(t);
  assert.equal((await run('return { trusted: "yes", remember: true };')).ran, true);
  const refused = await run('return { trusted: "no" };');
  assert.equal(refused.ran, false);
  assert.match(refused.err, /\.bough is not used: an extension has decided so\./);
  assert.match(refused.err, /begun false/);
  const flagged = await run('return { trusted: "no" };', "--trust");
  assert.deepEqual([flagged.ran, flagged.err.includes("asked")], [true, false]);
});

test("[X3, X5] one that throws or answers nonsense decides nothing, and the project's own is never asked", async (t) => {
  const { run } = await project(t);
  const thrown = await run('throw new Error("broken");');
  assert.deepEqual([thrown.ran, /votes\.js failed at "project_trust": broken/.test(thrown.err)], [false, true]);
  for (const answer of ["return true;", 'return { trusted: true, remember: "yes" };', 'return { trusted: "YES" };']) {
    const { ran, err } = await run(answer);
    assert.deepEqual([ran, err.includes("is not used until you trust it")], [false, true], answer);
  }
});

test("[X5] what changes while it decides is not what it has said yes to", async (t) => {
  const { run } = await project(t);
  const { ran, err } = await run(`
    (await import("node:fs")).appendFileSync(".bough/extensions/theirs.js", "// changed");
    return { trusted: "yes" };`);
  assert.deepEqual([ran, err.includes("is not used until you trust it")], [false, true]);
});
