/** `bough -p` when something goes wrong: the partial answer, the reason in one sentence, the exit code. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Place, connectedTo, providerFor, savedMessages } from "../support/command.ts";
import { dropAfter, fail, say } from "../support/provider-mock.ts";

/** A place where a failed request is not tried again. */
function placeWithoutRetries(): Place {
  const place = new Place();
  place.writeSettings({ retry: { enabled: false } });
  return place;
}

test("[R1] a provider that refuses or fails: its reason on standard error, exit code 1", async (t) => {
  const server = await providerFor(t, fail(401, "Your key \u001b[2Jis wrong"), fail(500, "Out of order"));
  const place = placeWithoutRetries();
  const flags = ["-p", "hi", ...connectedTo(server)];
  const [refused, failed] = [await place.run(flags), await place.run(flags)];
  assert.deepEqual([refused.code, refused.out, failed.code, failed.out], [1, "", 1, ""]);
  assert.match(refused.err, /^bough: [^\p{Cc}]*401[^\p{Cc}]*is wrong[^\p{Cc}]*\n$/u);
  assert.match(failed.err, /^bough: [^\p{Cc}]*Out of order[^\p{Cc}]*\n$/u);
});

test("[R1, C3] a connection that drops in the middle: what came is printed and kept, exit code 1", async (t) => {
  const server = await providerFor(t, dropAfter("Half an ans"), say("whole"));
  const place = placeWithoutRetries();
  const { code, out, err } = await place.run(["-p", "hi", ...connectedTo(server)]);
  assert.deepEqual([code, out], [1, "Half an ans\n"]);
  assert.match(err, /^bough: [^\n]+\n$/);
  assert.deepEqual(await savedMessages(place.sessionFiles()[0]), ["user: hi", "assistant: Half an ans"]);
});

test("[R1] a retry is told on standard error, and its answer is the one that is printed", async (t) => {
  const server = await providerFor(t, dropAfter("Half"), say("Whole."));
  const place = new Place();
  place.writeSettings({ retry: { baseDelayMs: 1 } });
  const { code, out, err } = await place.run(["-p", "hi", ...connectedTo(server)]);
  assert.deepEqual([code, out], [0, "Whole.\n"]);
  assert.match(err, /^bough: [^\n]+ \(trying again in 1 s, 1 of 5\)\n$/);
});

test("[R1] an answer that reached the limit of output is printed, exit code 1", async (t) => {
  const server = await providerFor(t, (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const event = (delta: object, reason: string | null): string =>
      `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "mock", choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
    response.end(`${event({ role: "assistant", content: "As far as" }, null)}${event({}, "length")}data: [DONE]\n\n`);
  });
  assert.deepEqual(await new Place().run(["-p", "hi", ...connectedTo(server)]), {
    code: 1,
    out: "As far as\n",
    err: "bough: The answer was cut off at the model's limit of output.\n",
  });
});

test("[R1, W1] a session that cannot be written: one sentence, exit code 1, and the model is not asked", async (t) => {
  const server = await providerFor(t, say("ok"));
  const place = new Place();
  const file = place.file("a-file", "");
  const { code, out, err } = await place.run(["-p", "hi", ...connectedTo(server)], { BOUGH_DIR: `${file}/state` });
  assert.deepEqual([code, out, server.requests.length], [1, "", 0]);
  assert.match(
    err,
    /^bough: Cannot make the session file \S+\.jsonl: a part of the path is not a folder \(ENOTDIR\); nothing was changed\.\n$/,
  );
});

test("[R1, W1] an answer that no longer fits on the disk is printed all the same, exit code 1", async (t) => {
  const answer = "x".repeat(30_000);
  const server = await providerFor(t, say(answer));
  const place = new Place();
  // The shell's limit is the kernel's: it cuts the write that crosses it and refuses the next.
  const command = place.startInShell('ulimit -f 16; exec "$@"', ["-p", "hi", ...connectedTo(server)]);
  const { code, out, err } = await command.done;
  assert.deepEqual([code, out], [1, `${answer}\n`]);
  const [path] = place.sessionFiles();
  const reason = "the file would be larger than allowed (EFBIG)";
  assert.equal(
    err,
    `bough: Cannot write to ${path}: ${reason}; the entry was not saved, so remove the cause and try again.\n`,
  );
  assert.deepEqual(await savedMessages(path), ["user: hi"]);
});

test("[R1] a reader that goes away ends nothing: the answer is saved", async (t) => {
  const server = await providerFor(t, say("y".repeat(300_000)));
  const place = new Place();
  const command = place.start(["-p", "hi", ...connectedTo(server)]);
  command.child.stdout?.destroy();
  const { err } = await command.done;
  assert.deepEqual([command.child.exitCode, err], [0, ""]);
  assert.equal((await savedMessages(place.sessionFiles()[0]))[1]?.length, "assistant: ".length + 300_000);
});

test("[R1] a slow reader gets every byte", async (t) => {
  const answer = "z".repeat(2_000_000);
  const server = await providerFor(t, say(answer));
  const place = new Place();
  const command = place.startInShell('"$@" | (sleep 0.3; cat)', ["-p", "hi", "--no-session", ...connectedTo(server)]);
  const { out, err } = await command.done;
  assert.deepEqual([out.length, err], [answer.length + 1, ""]);
});
