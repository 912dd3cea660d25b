/** Which session bough works in: -c, -r, --session, --fork; and what it says about the session's folder. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { unfinishedNotice } from "../../src/agent/unfinished-turn.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { Place, connectedTo, providerFor, savedMessages } from "../support/command.ts";
import { checkLaws } from "../support/laws.ts";
import { say } from "../support/provider-mock.ts";
import { assistant } from "../support/session-files.ts";
import { HEADER, file, line, message } from "../support/session-lines.ts";

const headerFor = (id: string, cwd: string): string =>
  HEADER.replace('"s1"', JSON.stringify(id)).replace('"/w"', JSON.stringify(cwd));

/** A session of the place, by its id, with one prompt. */
function put(place: Place, folder: string, id: string): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `2026-01-01T00-00-00-000Z_${id}.jsonl`);
  writeFileSync(path, file(headerFor(id, place.cwd), message("u1", null)));
  return path;
}

test("[D2] tree, stats and doctor take an id, or its beginning, in place of a path; what is a path stays one", async () => {
  const place = new Place();
  const path = put(place, join(place.stateDir, "sessions", "any"), "01a22ee8-412c-7000");
  for (const command of ["tree", "stats", "doctor"]) {
    const byPath = await place.run([command, path]);
    assert.deepEqual([byPath.code, byPath.err], [0, ""]);
    assert.deepEqual(await place.run([command, "01a22ee8-412c"]), byPath);
  }
  assert.deepEqual(await place.run(["tree", "ffff"]), {
    code: 1,
    out: "",
    err: 'bough: No session matches "ffff"; bough -r lists the sessions of this folder, and with Tab those of all folders.\n',
  });
  writeFileSync(join(place.cwd, "01a22ee8"), "no session\n");
  assert.match((await place.run(["tree", "01a22ee8"])).err, /first line is not JSON/);
  assert.match((await place.run(["doctor", "gone.jsonl"])).err, /There is no session file at .*gone\.jsonl; check/);
});

test("[B2, L1] -c goes on with the session used last, in its file and at its leaf", async (t) => {
  const server = await providerFor(t, say("one"), say("two"), say("three"));
  const place = new Place();
  const flags = connectedTo(server);
  assert.equal((await place.run(["-c", "-p", "first", ...flags])).out, "one\n");
  const [path] = place.sessionFiles() as [string];
  const before = readFileSync(path);
  assert.equal((await place.run(["-p", "another session", "-n", "Named", ...flags])).out, "two\n");
  const second = place.sessionFiles().find((other) => other !== path);
  assert.equal((await place.run(["-cp", "second", ...flags])).out, "three\n");
  assert.equal(place.sessionFiles().length, 2);
  assert.deepEqual(readFileSync(path), before);
  assert.deepEqual(await savedMessages(second), [
    "user: another session",
    "assistant: two",
    "user: second",
    "assistant: three",
  ]);
  assert.equal((await SessionManager.open(second as string, { readOnly: true })).getSessionName(), "Named");
});

test("[D2, R1] dA03 -c says in one line, to -p and to json, that a newer session cannot be read, and goes on with an older one", async (t) => {
  const server = await providerFor(t, say("one"), say("two"), say("three"));
  const place = new Place();
  const flags = connectedTo(server);
  await place.run(["-p", "first", ...flags]);
  const [path] = place.sessionFiles() as [string];
  const damaged = join(dirname(path), "damaged.jsonl");
  const notice =
    `bough: ${damaged} is the newest session here, but it cannot be read (line 1: it is not a session file: ` +
    `its first line is not JSON), so an older one is continued; bough doctor ${damaged} tells more.\n`;
  writeFileSync(damaged, "no session\n");
  assert.deepEqual(await place.run(["-c", "-p", "second", ...flags]), { code: 0, out: "two\n", err: notice });
  assert.deepEqual(await savedMessages(path), ["user: first", "assistant: one", "user: second", "assistant: two"]);
  writeFileSync(damaged, "no session\n");
  const { code, out, err } = await place.run(["-c", "-p", "third", "--mode", "json", ...flags]);
  assert.deepEqual([code, err], [0, notice]);
  for (const event of out.trimEnd().split("\n")) JSON.parse(event);
});

test("[B2, D2] -r takes an id, its beginning or a path; what is unclear or unknown is said", async (t) => {
  const server = await providerFor(t, say("ok"));
  const place = new Place();
  const flags = ["-p", "hi", ...connectedTo(server)];
  await place.run(["-p", "hi", ...connectedTo(server)]);
  const folder = dirname(place.sessionFiles()[0] as string);
  const [abc, abd] = [put(place, folder, "abc1"), put(place, folder, "abd1")];
  const talked = ["user: u1", "user: hi", "assistant: ok"];

  assert.deepEqual(await place.run(["-r", "abc1", ...flags]), { code: 0, out: "ok\n", err: "" });
  assert.deepEqual(await savedMessages(abc), talked);
  assert.equal((await place.run(["-r", "ABD", ...flags])).code, 0);
  assert.deepEqual(await savedMessages(abd), talked);

  const before = place.picture();
  assert.deepEqual(await place.run(["-r", "ab", ...flags]), {
    code: 1,
    out: "",
    err: `bough: "ab" matches 2 sessions; give more of the id or one of these paths:\n${abc}\n${abd}\n`,
  });
  assert.deepEqual(await place.run(["-r", "nope", ...flags]), {
    code: 1,
    out: "",
    err: 'bough: No session matches "nope"; bough -r lists the sessions of this folder, and with Tab those of all folders.\n',
  });
  assert.deepEqual(await place.run(["-r", ...flags]), {
    code: 2,
    out: "",
    err: "bough: Name the session to resume: an id, its beginning, or a path.\n",
  });
  assert.deepEqual(place.picture(), before);
});

test("[T7, B2] --fork copies a session into a new one of this folder, and the source stays as it is", async (t) => {
  const server = await providerFor(t, say("ok"));
  const place = new Place();
  const source = place.file("source.jsonl", file(headerFor("s1", "/elsewhere"), message("u1", null)));
  const before = readFileSync(source);
  assert.deepEqual(await place.run(["-p", "hi", "--fork", "source.jsonl", ...connectedTo(server)]), {
    code: 0,
    out: "ok\n",
    err: "",
  });
  assert.deepEqual(readFileSync(source), before);
  const [path, ...more] = place.sessionFiles() as [string];
  assert.deepEqual(more, []);
  const session = await SessionManager.open(path, { readOnly: true });
  await checkLaws(session);
  assert.deepEqual([session.getCwd(), session.getHeader().parentSession], [place.cwd, source]);
  assert.notEqual(session.getSessionId(), "s1");
  assert.deepEqual(await savedMessages(path), ["user: u1", "user: hi", "assistant: ok"]);
});

test("[D2] a session of another folder, and of one that is gone, says so", async (t) => {
  const server = await providerFor(t, say("ok"), say("ok"), say("ok"));
  const place = new Place();
  const other = join(place.home, "other");
  mkdirSync(other);
  const path = place.file("other.jsonl", file(headerFor("s1", other), message("u1", null)));
  const args = ["-p", "hi", "--session", basename(path), ...connectedTo(server)];
  const elsewhere = {
    code: 0,
    out: "ok\n",
    err: `bough: This session works in ${other}. Settings, rules and MCP servers are still those of ${place.cwd}; start bough there to work with that folder's own.\n`,
  };
  assert.deepEqual(await place.run(args), elsewhere);
  // The example works in the folder it was first opened in, and is opened from every folder.
  const examples = join(place.stateDir, "examples");
  mkdirSync(examples, { recursive: true });
  writeFileSync(join(examples, "example-session.jsonl"), file(headerFor("e1", other), message("u1", null)));
  assert.deepEqual(await place.run(["-p", "hi", "-r", "e1", ...connectedTo(server)]), elsewhere);
  rmSync(other, { recursive: true });
  assert.deepEqual(await place.run(args), {
    code: 0,
    out: "ok\n",
    err: `bough: The folder this session was made in is gone: ${other}. To go on here: bough --fork ${path}\n`,
  });
});

test("[D2] a session whose last turn has no answer says so, and no other does", async () => {
  const place = new Place();
  const answer = (id: string, parent: string, stopReason: string): string =>
    line("message", id, parent, { message: { ...assistant("an answer"), stopReason } });
  const result = { role: "toolResult", toolCallId: "c", toolName: "ls", content: [], isError: false, timestamp: 1 };
  const asked = [HEADER, message("u", null)];
  const interrupted =
    "The last turn here was interrupted before its answer came. Write on to continue, or change the prompt with /tree.";
  const cases: [string[], string | undefined][] = [
    [[HEADER], undefined],
    [asked, interrupted],
    [[...asked, line("label", "l", "u", { targetId: "u", label: "here" })], interrupted],
    [[...asked, answer("a", "u", "toolUse")], interrupted],
    [[...asked, answer("a", "u", "toolUse"), line("message", "r", "a", { message: result })], interrupted],
    [[...asked, answer("a", "u", "stop")], undefined],
    [[...asked, answer("a", "u", "aborted")], undefined],
    [[...asked, line("branch_summary", "b", "u", { fromId: "x", summary: "s" })], undefined],
    [[...asked, line("message", "m", "u", { message: null })], undefined],
  ];
  for (const [lines, notice] of cases) {
    const path = place.file("s.jsonl", file(...lines));
    for (const readOnly of [false, true]) {
      const session = await SessionManager.open(path, { readOnly });
      assert.equal(unfinishedNotice(session), readOnly ? undefined : notice, lines.at(-1));
      await checkLaws(session);
      await session.close();
    }
  }
});

test("[X5] a project's settings count with --trust alone, and the notice names them", async (t) => {
  const server = await providerFor(t, say("ok"));
  const place = new Place();
  mkdirSync(join(place.cwd, ".bough"));
  writeFileSync(join(place.cwd, ".bough/settings.json"), '{\n  "treeFilterMode": "everything"\n}\n');
  const args = ["-p", "hi", "--no-session", ...connectedTo(server)];
  assert.deepEqual(await place.run(args), {
    code: 0,
    out: "ok\n",
    err: `bough: ${place.cwd}/.bough is not used until you trust it: read it, then start with --trust.\n`,
  });
  const used =
    `bough: ${place.cwd}/.bough/settings.json:2: "treeFilterMode" must be one of ` +
    "default, no-tools, user-only, labeled-only, all; it is ignored.\n";
  assert.deepEqual(await place.run([...args, "--trust"]), { code: 0, out: "ok\n", err: used });
  // Only for that run.
  assert.match((await place.run(args)).err, /is not used until you trust it/);
});
