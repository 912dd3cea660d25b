/** Sessions that are odd but sessions, in the terminal: what is said about them, once, and what is written. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { Place } from "../support/command.ts";
import { KEYS, Program } from "../support/program.ts";
import { HEADER, file, message } from "../support/session-lines.ts";

const headerIn = (cwd: string, version = 3): string =>
  HEADER.replace('"version":3', `"version":${version}`).replace('"/w"', JSON.stringify(cwd));

function open(t: TestContext, { cwd, home }: Place, ...args: string[]): Program {
  const program = new Program({ args, cwd, home, columns: 200, env: { ANTHROPIC_API_KEY: "k" } });
  t.after(() => program.stop());
  return program;
}

async function quit(program: Program): Promise<string> {
  program.send(`${KEYS.controlU}/quit${KEYS.enter}`);
  assert.equal((await program.exited).exitCode, 0);
  return program.everything();
}

test("[F6] a damaged session is told of once, in one plain line", async (t) => {
  const place = new Place();
  const path = place.file("damaged.jsonl", file(headerIn(place.cwd), message("u1", null), "{bad", message("u2", "u1")));
  const program = open(t, place, "--session", path);
  await program.waitFor("Line 3 is not valid JSON and is left out.");
  const everything = await quit(program);
  assert.deepEqual(everything.match(/Line 3|bough doctor/g), ["Line 3"]);
});

test("[D2] a session that a kill has cut short says when it is opened that its last turn has no answer", async (t) => {
  const place = new Place();
  const path = place.file("cut.jsonl", file(headerIn(place.cwd), message("u1", null)));
  const program = open(t, place, "--session", path);
  await program.waitFor(
    "The last turn here was interrupted before its answer came. Write on to continue, or change the prompt with /tree.",
  );
  await quit(program);
});

test("[F7] dB17 a newer version opens for reading; a prompt is refused and nothing is written", async (t) => {
  const place = new Place();
  const path = place.file("newer.jsonl", file(headerIn(place.cwd, 99), message("u1", null), message("u2", "u1")));
  const before = place.picture();
  const program = open(t, place, "--session", path);
  await program.waitFor("The file has version 99: it was made by a newer version of the program");
  await program.waitFor(/› +u2/);
  program.send(`Go on${KEYS.enter}`);
  await program.waitFor(`${path} was made by a newer version of bough, so it can only be read`);
  await program.waitFor(/^Go on *$/m);
  await quit(program);
  assert.deepEqual(place.picture(), before);
});

test("[D2] dA03 -c says which newer file it has passed over", async (t) => {
  const place = new Place();
  const good = place.file("good.jsonl", file(headerIn(place.cwd), message("u1", null)));
  const first = open(t, place, "--fork", good);
  await first.waitFor(/› +u1/);
  await quit(first);
  const [path] = place.sessionFiles() as [string];
  const damaged = join(dirname(path), "damaged.jsonl");
  writeFileSync(damaged, "no session\n");
  const second = open(t, place, "-c");
  await second.waitFor(/› +u1/);
  await second.waitFor(`bough doctor ${damaged} tells more`);
  const everything = await quit(second);
  assert.match(everything.replace(/\s+/g, ""), new RegExp(`${damaged}isthenewestsessionhere,butitcannotberead`));
});

test("[D2] a session whose folder is gone says so and how to go on", async (t) => {
  const place = new Place();
  const gone = join(place.home, "gone");
  const path = place.file("gone.jsonl", file(headerIn(gone), message("u1", null)));
  const program = open(t, place, "--session", path);
  await program.waitFor(`The folder this session was made in is gone: ${gone}. To go on here: bough --fork ${path}`);
  await quit(program);
});

test("[F7] dB07 a missing path: no terminal is opened and nothing is made", async (t) => {
  const place = new Place();
  const before = place.picture();
  const program = open(t, place, "--session", "nope.jsonl");
  assert.equal((await program.exited).exitCode, 1);
  assert.equal(
    program.everything(),
    `bough: There is no session file at ${join(place.cwd, "nope.jsonl")}; check the path.`,
  );
  assert.deepEqual(place.picture(), before);
});
