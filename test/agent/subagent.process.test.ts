/** The task tool: another agent in a session of its own, hidden in lists, counted once, stopped with its parent. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { AgentSession } from "../../src/agent/agent-session.ts";
import { createAgentSession } from "../../src/agent/create-agent-session.ts";
import type { AgentSessionEvent } from "../../src/agent/agent-session-events.ts";
import { Settings } from "../../src/agent/settings.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { stateDir } from "../../src/session/locations.ts";
import { taskSessionOf } from "../../src/tree/task-result.ts";
import type { TaskDetails } from "../../src/tree/task-result.ts";
import { outlineOf, registryFor, sentMessages } from "../support/agent-harness.ts";
import { checkLaws, trackSession } from "../support/laws.ts";
import { after, callTools, fail, hangAfter, say, startProvider } from "../support/provider-mock.ts";
import type { MockCall, ProviderServer, ReceivedRequest, Reply } from "../support/provider-mock.ts";
import { temporaryFolder } from "../support/session-files.ts";

const PROGRAM = join(import.meta.dirname, "../support/task-program.ts");

interface Rig {
  session: AgentSession;
  manager: SessionManager;
  provider: ProviderServer;
  cwd: string;
  events: AgentSessionEvent[];
}

async function rig(t: TestContext, replies: Reply | Reply[], manager?: SessionManager): Promise<Rig> {
  const provider = await startProvider(replies);
  t.after(() => provider.close());
  const { registry, model } = await registryFor({ baseUrl: provider.baseUrl, model: "mock" });
  const cwd = manager?.getCwd() ?? temporaryFolder();
  const sessionManager = manager ?? SessionManager.create(cwd);
  const session = await createAgentSession({ sessionManager, registry, model, mcpServers: [] });
  const events: AgentSessionEvent[] = [];
  session.subscribe((event) => events.push(event));
  trackSession(t, sessionManager);
  t.after(() => session.dispose());
  return { session, manager: sessionManager, provider, cwd, events };
}

const task = (id: string, fields: object = {}): MockCall => ({
  id,
  name: "task",
  arguments: { description: "Look around", prompt: `Task ${id}`, ...fields },
});

/** The results of the task tool on the current branch. */
function results(manager: SessionManager) {
  return manager.getBranch().flatMap((entry) => {
    if (entry.type !== "message" || entry.message.role !== "toolResult") return [];
    const { content, isError, usage, details } = entry.message;
    const text = content.map((block) => (block.type === "text" ? block.text : "")).join("");
    return [{ text, isError, usage, details: details as unknown as TaskDetails, entry }];
  });
}

const open = (path: string | undefined): Promise<SessionManager> => SessionManager.open(path!, { readOnly: true });
/** The prompt a request of a subagent is about; undefined for the parent's. */
const taskOf = ({ body }: ReceivedRequest): string | undefined =>
  /Task (\w+)/.exec(JSON.stringify(body.messages.find(({ role }) => role === "user")))?.[1];

test("[P3, D2] a task is done in a session of its own, which begins with session_init and names its parent", async (t) => {
  const { session, manager, provider, cwd, events } = await rig(t, [
    callTools(task("a")),
    callTools({ id: "l", name: "ls", arguments: {} }),
    say("The folder has notes.txt."),
    say("It says notes."),
  ]);
  writeFileSync(join(cwd, "notes.txt"), "x");
  await session.prompt("What is here?");

  const [result] = results(manager);
  assert.deepEqual([result!.text, result!.isError], ["The folder has notes.txt.", false]);
  const { session: path, sessionId } = result!.details;
  assert.deepEqual(result!.details, { description: "Look around", sessionId, session: path });
  assert.equal(taskSessionOf(result!.entry), sessionId);
  const child = await open(path);
  t.after(() => child.close());
  assert.deepEqual(
    [child.getSessionId(), child.getHeader().parentSession, child.getCwd(), child.getSessionName()],
    [sessionId, manager.getSessionFile(), cwd, "Look around"],
  );
  const [first] = child.getEntries();
  assert.ok(first?.type === "session_init");
  assert.deepEqual([first.task, first.tools], ["Task a", ["read", "write", "edit", "bash", "grep", "find", "ls"]]);
  assert.match(first.systemPrompt, /You work on one task for another agent/);
  assert.deepEqual(
    outlineOf(child.getBranch()).filter((row) => /^(user|assistant|result)/.test(row)),
    ["user: Task a", "assistant toolUse: [ls]", "result l: notes.txt", "assistant stop: The folder has notes.txt."],
  );
  await checkLaws(child);

  // The other agent knows nothing of the conversation, and has no task tool of its own.
  const asked = provider.requests[1]!;
  assert.deepEqual(sentMessages(asked), ["user Task a"]);
  assert.ok(!asked.body.tools?.some(({ function: { name } }) => name === "task"));
  assert.match(JSON.stringify(asked.body.messages[0]), /You work on one task/);
  assert.ok(provider.requests[0]!.body.tools?.some(({ function: { name } }) => name === "task"));
  assert.doesNotMatch(JSON.stringify(provider.requests[0]!.body.messages[0]), /You work on one task/);
  const shown = events.flatMap((event) =>
    event.type === "tool_execution_update" ? [event.partialResult.content[0].text as string] : [],
  );
  assert.deepEqual(shown, ["", "[ls: .]", "[ls: .]"]);

  // Lists: hidden from "recent", marked for everybody else.
  const listed = await SessionManager.list(cwd);
  assert.deepEqual(
    new Map(listed.map(({ id, isSubagent, parentSession }) => [id, [isSubagent, parentSession]])),
    new Map([
      [manager.getSessionId(), [false, undefined]],
      [sessionId, [true, manager.getSessionFile()]],
    ]),
  );
});

test("[P3, D2] a subagent's session is not the one that is continued", async (t) => {
  const { session, manager, cwd } = await rig(t, [callTools(task("a")), say("report"), fail(400, "no")]);
  await session.prompt("Go");
  await session.dispose();
  await manager.close();
  const recent = await SessionManager.continueRecent(cwd);
  assert.equal(recent.getSessionId(), manager.getSessionId());
  await recent.close();
});

test("[P3] what a subagent used counts in its parent, once", async (t) => {
  const { session, manager } = await rig(t, [
    callTools(task("a")),
    callTools({ id: "l", name: "ls", arguments: {} }),
    say("report"),
    say("done"),
  ]);
  await session.prompt("Go");
  const [result] = results(manager);
  const child = await open(result!.details.session);
  t.after(() => child.close());
  // The mock charges 100 tokens in and 10 out for each answer.
  assert.deepEqual([result!.usage?.input, result!.usage?.output, result!.usage?.totalTokens], [200, 20, 220]);
  assert.deepEqual([child.getUsage().input, manager.getUsage().input], [200, 400]);
  assert.deepEqual([...manager.getUsage().byModel.keys()].sort(), ["", "endpoint/mock"]);
  const reopened = await open(manager.getSessionFile());
  assert.equal(reopened.getUsage().totalTokens, 440);
  await reopened.close();
});

test("[P3] several tasks of one answer are worked on at the same time, each with the tools it was given", async (t) => {
  const both = Promise.withResolvers<void>();
  const begun = new Set<string>();
  const reply: Reply = async (response, request) => {
    const about = taskOf(request);
    if (about === undefined)
      return request.body.messages.some(({ role }) => role === "tool")
        ? say("all done")(response, request)
        : callTools(
            task("a", { tools: ["read"] }),
            task("b", { tools: [] }),
            task("c", { tools: ["read", "fly"] }),
          )(response, request);
    begun.add(about);
    if (begun.size === 2) both.resolve();
    await after(both.promise, say(`report ${about}`))(response, request);
  };
  const { session, manager, provider } = await rig(t, reply);
  await session.prompt("Go");
  assert.deepEqual(
    results(manager)
      .map(({ text, isError }) => `${isError ? "error" : "done"}: ${text}`)
      .sort(),
    ["done: report a", "done: report b", "error: There is no tool fly for it."],
  );
  const given = new Map(
    provider.requests.map((request) => [taskOf(request), (request.body.tools ?? []).map((tool) => tool.function.name)]),
  );
  assert.deepEqual([given.get("a"), given.get("b")], [["read"], []]);
});

test("[P1, P3] plan mode that is turned on while a subagent works holds for it, too, until it is turned off", async (t) => {
  const write = (id: string): MockCall => ({ id, name: "write", arguments: { path: `${id}.txt`, content: "x" } });
  const turned: { session?: AgentSession } = {};
  const turning =
    (turn: (session: AgentSession) => void, reply: Reply): Reply =>
    (response, request) => {
      turn(turned.session!);
      return reply(response, request);
    };
  const { session, manager, cwd } = await rig(t, [
    callTools(task("a")),
    turning(({ plan }) => plan.start(), callTools(write("w1"), { id: "l", name: "ls", arguments: {} })),
    turning(({ plan }) => plan.stop(), callTools(write("w2"))),
    say("Done."),
    say("All done."),
  ]);
  turned.session = session;
  await session.prompt("Go");
  const child = await open(results(manager)[0]!.details.session);
  t.after(() => child.close());
  assert.deepEqual(
    outlineOf(child.getBranch()).filter((row) => row.startsWith("result")),
    [
      "result w1: write is refused: plan mode is on, and nothing may be changed. Look with read, grep, find and ls, and hand in a plan with submit_plan.",
      "result l: (empty directory)",
      "result w2: Created w2.txt (1 line).",
    ],
  );
  assert.deepEqual(readdirSync(cwd), ["w2.txt"]);
});

test("[P2, P3] a rule that fits what a subagent writes stops it there; the parent's path is not told of it", async (t) => {
  const rules = join(stateDir(), "rules");
  mkdirSync(rules, { recursive: true });
  t.after(() => rmSync(rules, { recursive: true }));
  writeFileSync(join(rules, "no-logs.md"), "---\ncondition: console\\.log\n---\nUse the logger.");
  const { session, manager, provider } = await rig(t, [
    callTools(task("a")),
    say(`I use console.log ${"x".repeat(100)}`),
    say("I use the logger."),
    say("Good."),
  ]);
  await session.prompt("Go");
  const [result] = results(manager);
  assert.deepEqual([result!.text, result!.isError], ["I use the logger.", false]);
  assert.match(sentMessages(provider.requests[2]).at(-1)!, /<rule name="no-logs">\nUse the logger\.\n<\/rule>$/);
  const child = await open(result!.details.session);
  t.after(() => child.close());
  assert.deepEqual(child.getContextState().injectedTtsrRules, ["no-logs"]);
  assert.deepEqual(manager.getContextState().injectedTtsrRules, []);
});

test("[P3] stopping the parent stops its subagents, and what they have cost is kept", async (t) => {
  const started = Promise.withResolvers<void>();
  const { session, manager } = await rig(t, [
    callTools(task("a")),
    callTools({ id: "l", name: "ls", arguments: {} }),
    hangAfter("half a rep", started.resolve),
  ]);
  const turn = session.prompt("Go");
  await started.promise;
  await session.abort();
  await turn;
  const [result] = results(manager);
  assert.deepEqual([result!.isError, result!.usage?.input], [true, 100]);
  assert.match(result!.text, /\[Stopped by the user\.\]$/);
  const child = await open(result!.details.session);
  t.after(() => child.close());
  assert.match(outlineOf(child.getBranch()).at(-1)!, /^assistant aborted: /);
  assert.equal(session.isIdle, true);
});

test("[P3] a provider that fails a subagent is an error result with the reason; the parent goes on", async (t) => {
  const { session, manager } = await rig(t, [callTools(task("a")), fail(400, "no such luck"), say("I tried.")]);
  await session.prompt("Go");
  const [result] = results(manager);
  assert.equal(result!.isError, true);
  assert.match(result!.text, /no such luck/);
  assert.equal(outlineOf(manager.getBranch()).at(-1), "assistant stop: I tried.");
});

test("[P3, T9] the subagent of a session in memory is in memory, too", async (t) => {
  const { session, manager } = await rig(
    t,
    [callTools(task("a")), say("report"), say("done")],
    SessionManager.inMemory(temporaryFolder()),
  );
  await session.prompt("Go");
  const [result] = results(manager);
  assert.deepEqual([result!.text, "session" in result!.details], ["report", false]);
});

test("[P3] the settings may name the model for subagents", async (t) => {
  const provider = await startProvider([callTools(task("a")), say("report"), say("done")]);
  t.after(() => provider.close());
  const { registry, model } = await registryFor({ baseUrl: provider.baseUrl, model: "mock" });
  await registryFor({ baseUrl: provider.baseUrl, model: "small" }, registry);
  const dir = temporaryFolder();
  writeFileSync(join(dir, "settings.json"), JSON.stringify({ subagentModel: "endpoint/small" }));
  const sessionManager = trackSession(t, SessionManager.create(temporaryFolder()));
  const settings = new Settings({ stateDir: dir });
  const session = await createAgentSession({ sessionManager, registry, model, settings, mcpServers: [] });
  t.after(() => session.dispose());
  await session.prompt("Go");
  assert.deepEqual(
    provider.requests.map(({ body }) => body.model),
    ["mock", "small", "mock"],
  );
});

test("[P3, W1] a crash leaves the subagent's session readable, up to its last word", async (t) => {
  const started = Promise.withResolvers<void>();
  const provider = await startProvider([
    callTools(task("a")),
    callTools({ id: "l", name: "ls", arguments: {} }),
    hangAfter("never heard", started.resolve),
  ]);
  t.after(() => provider.close());
  const cwd = temporaryFolder();
  const program = spawn(process.execPath, [PROGRAM, provider.baseUrl, cwd], {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, BOUGH_DIR: stateDir() },
  });
  const exited = once(program, "exit");
  await Promise.race([started.promise, exited]);
  program.kill("SIGKILL");
  await exited;
  const listed = await SessionManager.list(cwd);
  assert.deepEqual(listed.map(({ kind, isSubagent }) => `${kind} ${isSubagent}`).sort(), ["ok false", "ok true"]);
  const child = trackSession(t, await SessionManager.open(listed.find(({ isSubagent }) => isSubagent)!.path));
  assert.deepEqual(outlineOf(child.getBranch()).slice(-3), [
    "user: Task a",
    "assistant toolUse: [ls]",
    "result l: (empty directory)",
  ]);
});
