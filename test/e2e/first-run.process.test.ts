/**
 * bough where nothing is configured: the example session, a key, a model server on this machine. One file, as its tests
 * must not run side by side: a server that one of them starts would be found by the others.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { discoverLoopback } from "../../src/agent/model-discovery.ts";
import { directoryKey } from "../../src/session/locations.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { Place, savedMessages } from "../support/command.ts";
import { checkLaws } from "../support/laws.ts";
import { KEYS, Program } from "../support/program.ts";
import { say } from "../support/provider-mock.ts";
import type { ReceivedRequest } from "../support/provider-mock.ts";

const NO_MODEL =
  "bough: No model is connected; set a key such as ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, " +
  "or start a local server, or give --base-url and --model.";
/** Such a server would be used. */
const skip = (await discoverLoopback()).length > 0 && "a model server runs on this machine";

const CONNECT =
  /To connect a model,\s+set a key such as ANTHROPIC_API_KEY, .*\s+or name any endpoint: bough --base-url URL/;

/** bough in a terminal of 80 columns. */
function open(t: TestContext, { cwd, home }: Place, args: string[] = [], env: Record<string, string> = {}): Program {
  const program = new Program({ args, cwd, home, env, columns: 80 });
  t.after(() => program.stop());
  return program;
}

async function quit(program: Program): Promise<void> {
  program.send(`${KEYS.controlU}/quit${KEYS.enter}`);
  assert.equal((await program.exited).exitCode, 0);
}

/** The copy that bough makes for the place's folder. */
const exampleOf = ({ stateDir, cwd }: Place): string => join(stateDir, `examples/example-${directoryKey(cwd)}.jsonl`);

/** All sessions below the state folder that are no example of bough's own. */
function ownSessions(place: Place): string[] {
  const names = readdirSync(place.stateDir, { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => name.endsWith(".jsonl")).map((name) => join(place.stateDir, name));
  return files.filter((path) => path !== exampleOf(place));
}

test(
  "[G2, U3] the example: tree, search, label, /branch, /resume; a private copy that is never recent",
  { skip },
  async (t) => {
    const place = new Place();
    const copy = exampleOf(place);
    const first = open(t, place);
    const greeting = await first.waitFor(CONNECT);
    assert.match(greeting, /Since this morning the carrier nordpost/);
    assert.match(greeting, /no model: \/model/);
    assert.equal(statSync(copy).mode & 0o777, 0o600);
    assert.equal(statSync(join(copy, "..")).mode & 0o777, 0o700);

    first.send(`/tree${KEYS.enter}`);
    await first.waitFor("Session Tree");
    first.send("dead end");
    await first.waitFor(/^› .*\[cache: dead end\] assistant: The cache makes/m);
    first.send("L");
    await first.waitFor("Label (empty to remove):");
    first.send(`${KEYS.controlU}my mark${KEYS.enter}`);
    await first.waitFor("Session Tree");
    first.send(KEYS.escape);
    await first.waitFor(/Search: *$[\s\S]*\[my mark\] assistant: The cache makes/m);
    first.send(KEYS.escape);
    await first.waitFor((screen) => !screen.includes("Session Tree"));

    first.send(`/resume${KEYS.enter}`);
    await first.waitFor(/^ {2}Example\n› Slow quotes/m);
    first.send(KEYS.escape);
    await first.waitFor((screen) => !screen.includes("Resume a session"));

    first.send(`/branch${KEYS.enter}`);
    await first.waitFor("Message 4 of 4");
    first.send(KEYS.enter);
    await first.waitFor(
      /Branched to new session[\s\S]*Write the note to the operators about nordpost, three sentences\./,
    );
    await quit(first);

    const example = await SessionManager.open(copy, { readOnly: true });
    await checkLaws(example);
    assert.deepEqual(
      [...example.getIndex().labels().values()].filter((label) => label === "my mark"),
      ["my mark"],
    );
    assert.equal(example.getCwd(), place.cwd);
    const [branched, ...more] = ownSessions(place);
    assert.deepEqual(more, []);
    assert.equal((await SessionManager.open(branched as string, { readOnly: true })).getHeader().parentSession, copy);

    const second = open(t, place, ["-c"]);
    await second.waitFor("no model: /model");
    assert.doesNotMatch(second.everything(), /Slow quotes|nordpost|example/);
    await quit(second);

    const before = readFileSync(copy);
    const third = open(t, place);
    await third.waitFor(CONNECT);
    third.send(`/tree${KEYS.enter}`);
    await third.waitFor("Session Tree");
    third.send("my mark");
    await third.waitFor(/^› .*\[my mark\] assistant: The cache makes/m);
    third.send(KEYS.escape);
    await third.waitFor(/Search: *$/m);
    third.send(KEYS.escape);
    await third.waitFor((screen) => !screen.includes("Session Tree"));
    await quit(third);
    assert.deepEqual(readFileSync(copy), before, "the copy is used again, and looking at it changes nothing");
  },
);

test("[G2] a prompt in the example says that there is no model, and nothing is lost", { skip }, async (t) => {
  const place = new Place();
  const program = open(t, place);
  await program.waitFor(CONNECT);
  const copy = exampleOf(place);
  const before = readFileSync(copy);
  program.send(`Go on${KEYS.enter}`);
  await program.waitFor(/No model is connected; set a key such as/);
  await program.waitFor(/^Go on *$/m);
  await quit(program);
  assert.deepEqual(readFileSync(copy), before);
});

test("[G2] the example cannot be kept: one sentence, and no terminal is opened", { skip }, async (t) => {
  const place = new Place();
  const file = place.file("a-file", "");
  const program = open(t, place, [], { BOUGH_DIR: `${file}/state` });
  assert.equal((await program.exited).exitCode, 1);
  const said = program.everything().replaceAll("\n", "");
  assert.equal(
    said,
    `bough: Cannot make the session file ${file}/state/examples/example-${directoryKey(place.cwd)}.jsonl: ` +
      "a part of the path is not a folder (ENOTDIR); nothing was changed.",
  );
});

test("[G2] with a key in the environment there is no example", async (t) => {
  const place = new Place();
  const program = open(t, place, [], { ANTHROPIC_API_KEY: "k" });
  await program.waitFor(/claude/);
  assert.doesNotMatch(program.everything(), /example|no model/);
  await quit(program);
  assert.deepEqual(readdirSync(place.home), []);
});

test("[G2, R1] a model server on this machine is found and used without any configuration", { skip }, async (t) => {
  const server = createServer((incoming, response) => {
    if (incoming.method === "GET") response.end(JSON.stringify({ object: "list", data: [{ id: "homemade-7b" }] }));
    else void say("Hello from home.")(response, {} as ReceivedRequest);
  });
  server.listen(11434, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const place = new Place();
  const program = open(t, place);
  await program.waitFor("homemade-7b");
  assert.doesNotMatch(program.everything(), /example/);
  program.send(`Anyone there?${KEYS.enter}`);
  await program.answered("Hello from home.");
  await quit(program);
  assert.deepEqual(await savedMessages(place.sessionFiles()[0]), [
    "user: Anyone there?",
    "assistant: Hello from home.",
  ]);
  assert.deepEqual(await place.run(["-cp", "And now?"]), { code: 0, out: "Hello from home.\n", err: "" });
});

test("[R1] without a model or with one that is not there: one sentence, and nothing is made", { skip }, async () => {
  const place = new Place();
  const before = place.picture();
  assert.deepEqual(await place.run(["-p", "hi"]), { code: 1, out: "", err: `${NO_MODEL}\n` });
  assert.deepEqual(await place.run(["-p", "hi", "--model", "anthropic"]), {
    code: 2,
    out: "",
    err: "bough: There is no key for Anthropic; set ANTHROPIC_API_KEY and start bough again.\n",
  });
  assert.deepEqual(place.picture(), before);
});

test("[A9, R1] a models.json that cannot be read is named when no model is there", { skip }, async () => {
  const place = new Place();
  place.writeSettings({});
  const path = `${place.stateDir}/models.json`;
  writeFileSync(path, "{\n  oops");
  const problem = `${path} line 2 is not JSON; your own models are left out until it is corrected.\n`;
  assert.deepEqual(await place.run(["-p", "hi"]), { code: 1, out: "", err: `${NO_MODEL} ${problem}` });
});
