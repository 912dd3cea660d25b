/** Sessions that are odd but sessions: a header alone, a newer version, damage. What is shown, said and written. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Place, connectedTo, providerFor, savedMessages } from "../support/command.ts";
import { say } from "../support/provider-mock.ts";
import { HEADER, chain, file, message } from "../support/session-lines.ts";

test("[F7] dB08 a header alone is a session one can go on with", async (t) => {
  const server = await providerFor(t, say("ok"));
  const place = new Place();
  const header = HEADER.replace('"/w"', JSON.stringify(place.cwd));
  const path = place.file("header.jsonl", file(header));
  assert.deepEqual(await place.run(["tree", path]), { code: 0, out: "No entries found\n", err: "" });
  assert.deepEqual(await place.run(["doctor", path]), {
    code: 0,
    out: `No problems in ${path} (1 line, 0 entries, 0 branches, ${header.length + 1} bytes).\n`,
    err: "",
  });
  assert.deepEqual(await place.run(["-p", "hi", "--session", path, ...connectedTo(server)]), {
    code: 0,
    out: "ok\n",
    err: "",
  });
  assert.deepEqual(await savedMessages(path), ["user: hi", "assistant: ok"]);
  assert.ok(readFileSync(path, "utf8").startsWith(file(header)));
});

test("[F7] dB17 a newer version is shown, and a prompt is refused without a byte written", async (t) => {
  const server = await providerFor(t, say("never"));
  const place = new Place();
  const header = HEADER.replace('"version":3', '"version":99').replace('"/w"', JSON.stringify(place.cwd));
  const path = place.file("newer.jsonl", file(header, ...chain(null, "u1", "u2")));
  const before = place.picture();
  const notice =
    "The file has version 99: it was made by a newer version of the program and is opened for reading only.";
  assert.deepEqual(await place.run(["tree", path]), {
    code: 0,
    out: "  • user: u1\n› • user: u2\n",
    err: `${path}:1: ${notice}\n`,
  });
  const refusal = `${path} was made by a newer version of bough, so it can only be read; update bough to continue it.`;
  assert.deepEqual(await place.run(["-p", "hi", "--session", path, ...connectedTo(server)]), {
    code: 1,
    out: "",
    err: `bough: ${notice}\nbough: ${refusal}\n`,
  });
  assert.deepEqual(place.picture(), before);
  assert.equal(server.requests.length, 0);
});

test("[F6, R1] a damaged session is told of once, in one line, and goes on", async (t) => {
  const server = await providerFor(t, say("ok"));
  const place = new Place();
  const header = HEADER.replace('"/w"', JSON.stringify(place.cwd));
  const path = place.file("damaged.jsonl", `${file(header, message("u1", null), "{bad", message("u2", "u1"))}{"type`);
  const { code, out, err } = await place.run(["-p", "hi", "--session", path, ...connectedTo(server)]);
  assert.deepEqual([code, out], [0, "ok\n"]);
  assert.equal(err, `bough: Line 3 is not valid JSON and is left out. 1 more: bough doctor ${path} lists them.\n`);
  assert.deepEqual(await savedMessages(path), ["user: u1", "user: u2", "user: hi", "assistant: ok"]);
});
