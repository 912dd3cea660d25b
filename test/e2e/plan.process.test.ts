/** Plans and rules on the real program: a terminal, a provider over HTTP, files on disk. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { SessionManager } from "../../src/session/session-manager.ts";
import { outlineOf } from "../support/agent-harness.ts";
import { Place, connectedTo, providerFor } from "../support/command.ts";
import { checkLaws } from "../support/laws.ts";
import { KEYS, Program } from "../support/program.ts";
import { callTools, fail, say } from "../support/provider-mock.ts";
import type { Reply } from "../support/provider-mock.ts";
import { assistant } from "../support/session-files.ts";

const submit = (title: string): Reply =>
  callTools({ id: "p1", name: "submit_plan", arguments: { title, plan: "# The way\n\n1. Begin." } });

function open(t: TestContext, place: Place, ...args: string[]): Program {
  const program = new Program({ args, cwd: place.cwd, home: place.home });
  t.after(() => program.stop());
  return program;
}

async function leave(program: Program): Promise<void> {
  program.send(`/quit${KEYS.enter}`);
  assert.equal((await program.exited).exitCode, 0);
}

async function read(path: string | undefined): Promise<SessionManager> {
  const session = await SessionManager.open(path!, { readOnly: true });
  await checkLaws(session);
  return session;
}

/** A session without a name, as pi leaves them: nobody names it after the prompt that began it. */
async function unnamedSession(place: Place, ...answers: string[]): Promise<string> {
  const folder = join(place.stateDir, "sessions", "elsewhere");
  const session = SessionManager.create(place.cwd, folder);
  session.appendMessage({ role: "user", content: "Hello", timestamp: 1 });
  for (const answer of [...answers, "Hello to you."]) session.appendMessage(assistant(answer));
  await session.flush();
  const path = session.getSessionFile()!;
  await session.close();
  return path;
}

test("[P1] Approve and execute: planned with --plan, approved, carried out in a new session with the plan's name", async (t) => {
  const server = await providerFor(t, submit("migrate-mcp-loader"), say("All carried out."));
  const place = new Place();
  const program = open(t, place, "--plan", ...connectedTo(server));
  await program.waitFor(/^plan .*mock/m);
  program.send(`How would you migrate it?${KEYS.enter}`);
  await program.waitFor("Approve and execute");
  const [first] = place.sessionFiles();
  const id = (await read(first)).getSessionId();
  const path = join(place.stateDir, "plans", id, "migrate-mcp-loader.md");
  assert.equal(readFileSync(path, "utf8"), "# The way\n\n1. Begin.\n");
  assert.equal(statSync(path).mode & 0o777, 0o600);
  program.send(KEYS.enter);
  await program.waitFor((screen) => screen.includes("All carried out.") && screen.includes("• Migrate mcp loader"));
  await leave(program);

  const [old, made] = place.sessionFiles();
  assert.equal(old, first);
  const session = await read(made);
  assert.deepEqual([session.getSessionName(), session.getHeader().parentSession], ["Migrate mcp loader", first]);
  assert.deepEqual(
    server.requests.map(({ body }) => (body.tools ?? []).map((tool) => tool.function.name).sort()),
    [
      ["find", "grep", "ls", "read", "submit_plan"],
      ["bash", "edit", "find", "grep", "ls", "read", "task", "write"],
    ],
  );
  assert.match(JSON.stringify(server.requests[1]?.body.messages), /<plan title=.*1\. Begin\./);
});

test("[P1] Approve and keep context: the same session goes on under the plan's name; the mode is there after a restart", async (t) => {
  const server = await providerFor(t, submit("foo--bar__baz"), say("All carried out."));
  const place = new Place();
  const path = await unnamedSession(place);
  const first = open(t, place, "--session", path, ...connectedTo(server));
  await first.waitFor("Hello to you.");
  first.send(`/plan Plan it${KEYS.enter}`);
  await first.waitFor("Approve and keep context");
  first.send(KEYS.escape);
  await first.waitFor("/plan-review shows the plan again");
  await leave(first);

  const second = open(t, place, "--session", path, ...connectedTo(server));
  await second.waitFor(/^plan .*mock/m);
  await second.waitFor("A plan waits for your decision; /plan-review shows it.");
  second.send(`/plan-review${KEYS.enter}`);
  await second.waitFor("Approve and keep context");
  second.send(`${KEYS.down}${KEYS.down}${KEYS.enter}`);
  await second.waitFor((screen) => screen.includes("All carried out.") && screen.includes("• Foo bar baz"));
  await leave(second);
  const session = await read(path);
  assert.equal(session.getSessionName(), "Foo bar baz");
  assert.deepEqual(outlineOf(session.getBranch()).at(-1), "assistant stop: All carried out.");
});

test("[P1, K1] Approve and compact context: the conversation is summarised with the plan in view, named, and goes on", async (t) => {
  const server = await providerFor(t, submit("fix_session_naming"), say("All that was said."), say("All carried out."));
  const place = new Place();
  place.writeSettings({ compaction: { keepRecentTokens: 400 } });
  const path = await unnamedSession(place, "many words ".repeat(400));
  const program = open(t, place, "--session", path, ...connectedTo(server));
  await program.waitFor("Hello to you.");
  program.send(`/plan Plan it${KEYS.enter}`);
  await program.waitFor("Approve and compact context");
  program.send(`${KEYS.down}${KEYS.enter}`);
  await program.waitFor((screen) => screen.includes("All carried out.") && screen.includes("• Fix session naming"));
  await leave(program);
  assert.match(
    JSON.stringify(server.requests[1]?.body.messages),
    /has been approved and is carried out next.*1\. Begin\./,
  );
  assert.match(JSON.stringify(server.requests[2]?.body.messages), /All that was said\..*<plan title=/);
  const session = await read(path);
  assert.equal(session.getSessionName(), "Fix session naming");
  assert.deepEqual(
    outlineOf(session.getBranch())
      .slice(-5)
      .map((line) => line.split("\n")[0]),
    [
      "compaction",
      "mode_change",
      "session_info",
      `user: The plan below is approved and kept in ${join(place.stateDir, "plans", session.getSessionId(), "fix_session_naming.md")}. Carry it out step by step, and check the result.`,
      "assistant stop: All carried out.",
    ],
  );
});

test("[P1] Approve and compact context: a summary that fails is a warning; the plan still waits, nothing is named", async (t) => {
  const server = await providerFor(t, submit("a-plan"), fail(400, "no summaries today"));
  const place = new Place();
  place.writeSettings({ compaction: { keepRecentTokens: 400 } });
  const path = await unnamedSession(place, "many words ".repeat(400));
  const program = open(t, place, "--session", path, ...connectedTo(server));
  await program.waitFor("Hello to you.");
  program.send(`/plan Plan it${KEYS.enter}`);
  await program.waitFor("Approve and compact context");
  program.send(`${KEYS.down}${KEYS.enter}`);
  await program.waitFor(/Warning: The plan is not carried out yet: [^]*no\s+summaries\s+today/);
  await program.waitFor(/^plan .*mock/m);
  await leave(program);
  const session = await read(path);
  assert.deepEqual(
    [session.getSessionName(), session.buildSessionContext().modeData?.["title"]],
    [undefined, "a-plan"],
  );
  assert.equal(server.requests.length, 2);
});

test("[P1, R1] -p --plan: the plan is the answer, and nobody is asked", async (t) => {
  const server = await providerFor(t, submit("RefactorRouter"));
  const place = new Place();
  assert.deepEqual(await place.run(["-p", "--plan", "How?", ...connectedTo(server)]), {
    code: 0,
    out: "# The way\n\n1. Begin.\n",
    err: "",
  });
  assert.equal(server.requests.length, 1);
});

const RULE = "---\ncondition: 'console\\.log\\('\nscope: tool:write(*.ts)\n---\nUse the logger.\n";

test("[P2, X5] a project's rule fires once it is trusted; a broken one is a notice with its line", async (t) => {
  const write = (content: string): Reply =>
    callTools({ id: "w1", name: "write", arguments: { path: "a.ts", content } });
  const server = await providerFor(t, write('console.log("a");\n'), write('logger.info("a");\n'), say("Written."));
  const place = new Place();
  mkdirSync(join(place.cwd, ".bough/rules"), { recursive: true });
  writeFileSync(join(place.cwd, ".bough/rules/no-logs.md"), RULE);
  writeFileSync(join(place.cwd, ".bough/rules/broken.md"), "---\nname: x\ncondition: '('\n---\nNo.\n");
  const program = open(t, place, "--trust", ...connectedTo(server));
  await program.waitFor("rules/broken.md:3: the condition is no regular expression");
  program.send(`Write it${KEYS.enter}`);
  await program.answered("Written.");
  assert.ok(program.everything().includes("Rule no-logs: the answer was stopped and is asked for again."));
  await leave(program);
  assert.equal(readFileSync(join(place.cwd, "a.ts"), "utf8"), 'logger.info("a");\n');
  const session = await read(place.sessionFiles()[0]);
  assert.deepEqual(outlineOf(session.getBranch()).slice(2), [
    "session_info",
    "assistant aborted: [write]",
    "ttsr_injection",
    "custom_message",
    "assistant toolUse: [write]",
    "result w1: Created a.ts (1 line).",
    "assistant stop: Written.",
  ]);
});
