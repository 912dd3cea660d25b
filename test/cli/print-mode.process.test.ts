/** `bough -p` as a program: the answer on standard output, all else on standard error, the exit code. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { textOf } from "../../src/tree/content.ts";
import { Place, connectedTo, providerFor, savedMessages } from "../support/command.ts";
import { callTools, say } from "../support/provider-mock.ts";
import type { ProviderServer } from "../support/provider-mock.ts";

/** The prompts of a request, the last last. */
const promptsOf = (server: ProviderServer, request = -1): string[] =>
  (server.requests.at(request)?.body.messages ?? [])
    .filter(({ role }) => role === "user")
    .map(({ content }) => textOf(content));

test("[R1] -p prints the answer's text alone, and the session is saved", async (t) => {
  const server = await providerFor(
    t,
    callTools({ id: "call_1", name: "read", arguments: { path: "notes.txt" } }),
    say("The note ", "says PELICAN.\u001b[31m"),
  );
  const place = new Place();
  place.file("notes.txt", "PELICAN\n");
  assert.deepEqual(await place.run(["-p", "What do", "my notes say?", ...connectedTo(server)]), {
    code: 0,
    out: "The note says PELICAN.\u001b[31m\n",
    err: "",
  });
  assert.deepEqual(promptsOf(server), ["What do my notes say?"]);
  assert.deepEqual(await savedMessages(place.sessionFiles()[0]), [
    "user: What do my notes say?",
    "assistant: ",
    "toolResult: PELICAN",
    "assistant: The note says PELICAN.\u001b[31m",
  ]);
});

test("[R1] standard input goes before the prompt, or is the prompt", async (t) => {
  const server = await providerFor(t, say("ok"));
  const place = new Place();
  const flags = ["-p", "--no-session", ...connectedTo(server)];
  await place.run(["Explain.", ...flags], {}, "line 1\n  line 2\n\n");
  assert.deepEqual(promptsOf(server), ["line 1\n  line 2\n\nExplain."]);
  await place.run(flags, {}, "only this\n");
  assert.deepEqual(promptsOf(server), ["only this"]);
  assert.deepEqual(await place.run(flags, {}, " \n"), {
    code: 2,
    out: "",
    err: 'bough: There is no prompt: bough -p "…", or write one to standard input.\n',
  });
  assert.equal(server.requests.length, 2);
});

test("[R1, T9] --no-session leaves nothing on disk", async (t) => {
  const server = await providerFor(t, say("ok"));
  const place = new Place();
  assert.deepEqual(await place.run(["-p", "hi", "--no-session", ...connectedTo(server)]), {
    code: 0,
    out: "ok\n",
    err: "",
  });
  assert.equal(existsSync(`${place.stateDir}/sessions`), false);
});

test("[R1] a model, a level or a terminal that is not there: one sentence, and nothing is made", async () => {
  const place = new Place();
  const before = place.picture();
  const key = { OPENAI_API_KEY: "k" };
  assert.deepEqual(await place.run(["-p", "hi", "--model", "nonesuch"], key), {
    code: 2,
    out: "",
    err: 'bough: No model is named "nonesuch"; /model lists those you can use.\n',
  });
  assert.deepEqual(await place.run(["-p", "hi", "--thinking", "hard"], key), {
    code: 2,
    out: "",
    err: 'bough: --thinking takes off, minimal, low, medium, high, xhigh, max, not "hard".\n',
  });
  assert.deepEqual(await place.run(["hi"], key), {
    code: 2,
    out: "",
    err: 'bough: This is no terminal; for one answer use bough -p "…".\n',
  });
  // Without -p as well, what is wrong in the arguments goes before that.
  for (const [args, err] of [
    [["--nope"], "Unknown option '--nope'. See bough --help."],
    [["--thinking", "hard"], '--thinking takes off, minimal, low, medium, high, xhigh, max, not "hard".'],
    [["--model", "nonesuch"], 'No model is named "nonesuch"; /model lists those you can use.'],
  ] as const)
    assert.deepEqual(await place.run([...args], key), { code: 2, out: "", err: `bough: ${err}\n` });
  assert.deepEqual(place.picture(), before);
});

test("[R1, X3] what an extension has left running keeps neither the answer nor the end of the program", async (t) => {
  const server = await providerFor(t, say("ok"));
  const place = new Place();
  place.file("lingers.js", "export default () => void setInterval(() => {}, 1000);");
  const result = await place.run(["-e", "lingers.js", "-p", "hi", ...connectedTo(server)]);
  assert.deepEqual(result, { code: 0, out: "ok\n", err: "" });
});
