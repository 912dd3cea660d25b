/** Plan mode over real HTTP: what may be used, the plan's file, the decision, and the mode as state of the path. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { PlanMode } from "../../src/agent/plan-mode.ts";
import type { PlanModeHost } from "../../src/agent/plan-mode.ts";
import { createTools } from "../../src/agent/tools/create-tools.ts";
import { hooksFrom } from "../../src/agent/hook-port.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { noticesOf, outlineOf, sentMessages, startHarness, tool } from "../support/agent-harness.ts";
import type { Harness, HarnessOptions } from "../support/agent-harness.ts";
import { callTools, say } from "../support/provider-mock.ts";
import type { Reply } from "../support/provider-mock.ts";
import { temporaryFolder } from "../support/session-files.ts";

const PLAN = "# Migrate the MCP loader\n\n1. Move `loader.ts`.\n2. Run the tests.";
const submit = (title: string | undefined, plan = PLAN, id = "p1"): Reply =>
  callTools({ id, name: "submit_plan", arguments: { ...(title === undefined ? {} : { title }), plan } });

interface Planning extends Harness {
  plansDir: string;
}

async function start(t: TestContext, options: HarnessOptions): Promise<Planning> {
  const plansDir = join(temporaryFolder(), "plans");
  const harness = await startHarness(t, {
    tools: (cwd) => createTools({ cwd }),
    systemPrompt: () => "You work here.",
    plansDir,
    ...options,
  });
  return Object.assign(harness, { plansDir });
}

const toolNames = ({ server }: Harness, n: number): string[] =>
  (server.requests[n]?.body.tools ?? []).map((each) => each.function.name).sort();
const systemText = ({ server }: Harness, n: number): string =>
  String(server.requests[n]?.body.messages.find(({ role }) => role === "system" || role === "developer")?.content);

test("[P1, C1] while planning there are only tools that look, and the one that hands in the plan; the prompt says so", async (t) => {
  const harness = await start(t, { replies: [say("Looking."), say("Working.")] });
  const { session, manager } = harness;
  session.plan.start();
  assert.equal(session.plan.isOn, true);
  await session.prompt("How would you do it?");
  assert.deepEqual(toolNames(harness, 0), ["find", "grep", "ls", "read", "submit_plan"]);
  assert.match(systemText(harness, 0), /^You work here\.\n\nPlan mode is on: look at everything, change nothing\./);
  session.plan.stop();
  await session.prompt("Do it");
  assert.deepEqual(toolNames(harness, 1), ["bash", "edit", "find", "grep", "ls", "read", "write"]);
  assert.equal(systemText(harness, 1), "You work here.");
  const planFilePath = join(harness.plansDir, manager.getSessionId(), "plan.md");
  const changes = manager
    .getBranch()
    .flatMap((entry) => (entry.type === "mode_change" ? [[entry.mode, entry.data]] : []));
  assert.deepEqual(changes, [
    ["plan", { planFilePath }],
    ["none", undefined],
  ]);
  assert.equal(existsSync(harness.plansDir), false);
});

test("[P1] a call that would change something is refused when it comes, also when the mode was set meanwhile", async (t) => {
  let ran = 0;
  const harness = await start(t, {
    tools: () => [tool("bash", () => `ran ${++ran}`), tool("read", () => "content")],
    replies: [
      callTools({ id: "c1", name: "bash", arguments: {} }, { id: "c2", name: "read", arguments: {} }),
      callTools({ id: "c3", name: "bash", arguments: {} }),
      say("I see."),
    ],
    onRequest: (_request, n, { session }) => {
      if (n === 0) session.plan.start();
    },
  });
  await harness.session.prompt("Go");
  assert.deepEqual(outlineOf(harness.manager.getBranch()).slice(-6), [
    "assistant toolUse: [bash] [read]",
    "result c1: bash is refused: plan mode is on, and nothing may be changed. Look with read, grep, find and ls, and hand in a plan with submit_plan.",
    "result c2: content",
    "assistant toolUse: [bash]",
    "result c3: Tool bash not found",
    "assistant stop: I see.",
  ]);
  assert.equal(ran, 0);
  assert.deepEqual(
    [0, 1, 2].map((n) => toolNames(harness, n)),
    [
      ["bash", "read"],
      ["read", "submit_plan"],
      ["read", "submit_plan"],
    ],
  );
  assert.equal(sentMessages(harness.server.requests[1]).length, 4);
});

test("[P1] submit_plan writes the plan's file and nothing else, ends the turn and leaves the decision open", async (t) => {
  const harness = await start(t, {
    replies: callTools(
      { id: "p1", name: "submit_plan", arguments: { title: "migrate mcp/loader.md", plan: PLAN } },
      { id: "c2", name: "ls", arguments: {} },
    ),
  });
  const { session, manager, plansDir } = harness;
  session.plan.start();
  await session.prompt("Plan it");
  const path = join(plansDir, manager.getSessionId(), "migrate-mcploader.md");
  assert.equal(readFileSync(path, "utf8"), `${PLAN}\n`);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(
    [join(path, ".."), plansDir].map((folder) => statSync(folder).mode & 0o777),
    [0o700, 0o700],
  );
  assert.equal(harness.server.requests.length, 1);
  assert.deepEqual(session.plan.submitted, { title: "migrate-mcploader", path });
  assert.deepEqual(
    harness.events.filter(({ type }) => type === "plan_submitted"),
    [{ type: "plan_submitted", title: "migrate-mcploader", plan: PLAN, path }],
  );
  assert.deepEqual(outlineOf(manager.getBranch()).slice(-4), [
    "assistant toolUse: [submit_plan] [ls]",
    `result p1: The plan is in ${path}. The user decides on it now; stop here.`,
    "result c2: sessions/",
    "mode_change",
  ]);
});

test("[P1] feedback goes to the model in plan mode; a new version takes the place of the old one", async (t) => {
  const harness = await start(t, {
    replies: [submit("first-name"), submit(undefined, "Shorter.", "p2"), submit("other", "Shortest.", "p3")],
  });
  const { session, manager, plansDir } = harness;
  session.plan.start();
  await session.prompt("Plan it");
  await session.prompt("Shorter, please");
  const folder = join(plansDir, manager.getSessionId());
  // Without a title and a heading it keeps the name of its file.
  assert.deepEqual(session.plan.read(), {
    title: "first-name",
    path: join(folder, "first-name.md"),
    plan: "Shorter.",
  });
  await session.prompt("Shorter still");
  assert.deepEqual(session.plan.read(), { title: "other", path: join(folder, "other.md"), plan: "Shortest." });
});

test("[P1] Approve and execute: a new session that names the old one, takes the plan's title, and begins with the plan", async (t) => {
  const harness = await start(t, { replies: [submit("migrate-mcp-loader"), say("Done.")] });
  const { session, manager } = harness;
  session.plan.start();
  await session.prompt("Plan it");
  const [old, path] = [manager.getSessionFile()!, session.plan.submitted!.path];
  const order: string[] = [];
  session.subscribe((event) => {
    if (event.type === "session_changed") order.push(`changed: ${event.reason}`);
    if (event.type === "session_info_changed") order.push(`named: ${String(event.name)}`);
    if (event.type === "message_start" && event.message.role === "user") order.push("prompt");
  });
  writeFileSync(path, `${PLAN}\n3. Added by hand.\n`);
  await session.plan.approve("execute");
  assert.deepEqual(order, ["changed: new", "named: Migrate mcp loader", "prompt"]);
  assert.notEqual(manager.getSessionFile(), old);
  assert.equal(manager.getHeader().parentSession, old);
  assert.equal(manager.getSessionName(), "Migrate mcp loader");
  assert.equal(session.plan.isOn, false);
  const prompt = `The plan below is approved and kept in ${path}. Carry it out step by step, and check the result.\n\n<plan title="migrate-mcp-loader">\n${PLAN}\n3. Added by hand.\n</plan>`;
  assert.deepEqual(sentMessages(harness.server.requests[1]), [`user ${prompt}`]);
  assert.deepEqual(toolNames(harness, 1), ["bash", "edit", "find", "grep", "ls", "read", "write"]);
  assert.deepEqual(outlineOf(manager.getBranch()).slice(-2), [`user: ${prompt}`, "assistant stop: Done."]);
});

/** A session that nobody has named, as other programs leave them. */
function unnamed(dir: string): SessionManager {
  const manager = SessionManager.create(dir, join(dir, "sessions"));
  manager.appendMessage({ role: "user", content: "Hello", timestamp: 1 });
  return manager;
}

for (const [title, name] of [
  ["fix_session_naming", "Fix session naming"],
  ["foo--bar__baz", "Foo bar baz"],
  ["RefactorRouter", "RefactorRouter"],
  ["---", undefined],
] as const)
  test(`[P1] Approve and keep context: an unnamed session is named after the plan ${title}, and goes on`, async (t) => {
    const dir = temporaryFolder();
    const harness = await start(t, { manager: unnamed(dir), replies: [submit(title), say("Done.")] });
    const { session, manager } = harness;
    session.plan.start();
    await session.prompt("Plan it");
    const file = manager.getSessionFile();
    await session.plan.approve("keep");
    assert.equal(manager.getSessionFile(), file);
    assert.equal(manager.getSessionName(), name);
    assert.equal(manager.getIndex().name?.source, name === undefined ? undefined : "auto");
    assert.deepEqual(
      outlineOf(manager.getBranch())
        .slice(-5)
        .map((line) => line.split("\n")[0]!.slice(0, 30)),
      [
        ...(name === undefined ? [`result p1: The plan is in ${harness.plansDir}`.slice(0, 30)] : []),
        "mode_change",
        "mode_change",
        ...(name === undefined ? [] : ["session_info"]),
        "user: The plan below is approv",
        "assistant stop: Done.",
      ],
    );
  });

test("[P1] a name that the session has stays, whoever gave it", async (t) => {
  const harness = await start(t, { replies: [submit("new-name"), say("Done.")] });
  harness.session.plan.start();
  await harness.session.prompt("The first prompt names it");
  await harness.session.plan.approve("keep");
  assert.equal(harness.manager.getSessionName(), "The first prompt names it");
});

test("[P1] a choice that does not come about is a warning: nothing is sent, nothing named, the plan still waits", async (t) => {
  const dir = temporaryFolder();
  const harness = await start(t, {
    manager: unnamed(dir),
    replies: [submit("a-b")],
    hooks: hooksFrom({ session_before_switch: () => ({ cancel: true }) }),
  });
  const { session, manager, server } = harness;
  session.plan.start();
  await session.prompt("Plan it");
  const before = manager.getEntries().length;
  await session.plan.approve("execute");
  assert.deepEqual(noticesOf(harness.events), [
    "warning: The plan is not carried out yet: the new session was refused. /plan-review shows it again.",
  ]);
  assert.deepEqual([manager.getEntries().length, server.requests.length], [before, 1]);
  assert.deepEqual([manager.getSessionName(), session.plan.submitted?.title], [undefined, "a-b"]);
});

test("[P1] Approve and compact context: first the compaction with the plan in view; then the name, then the prompt", async (t) => {
  const harness = await start(t, { manager: unnamed(temporaryFolder()), replies: [submit("fix_it"), say("Done.")] });
  const { session, manager } = harness;
  session.plan.start();
  await session.prompt("Plan it");
  const outcomes: Awaited<ReturnType<PlanModeHost["compact"]>>[] = [
    { kind: "cancelled" },
    { kind: "failed", reason: "No model is connected." },
    { kind: "done" },
  ];
  const order: string[] = [];
  const plan = new PlanMode({
    sessionManager: manager,
    state: session.state,
    plansDir: () => harness.plansDir,
    isStreaming: () => session.isStreaming,
    emit: (event) => order.push(event.type === "notice" ? `${event.level}: ${event.text}` : event.type),
    named: () => order.push(`named ${manager.getSessionName() ?? ""}`),
    newSession: () => assert.fail("no new session"),
    compact: async (focus) => {
      order.push(`compact ${focus.split("\n")[0]!}`, focus.includes(PLAN) ? "with the plan" : "without");
      return outcomes.shift()!;
    },
    prompt: async (text) => void order.push(text.split("\n")[0]!),
    followUp: () => assert.fail("nothing is queued"),
  });
  const focus = [
    "compact The plan below has been approved and is carried out next; keep what that needs.",
    "with the plan",
  ];
  await plan.approve("compact");
  await plan.approve("compact");
  assert.deepEqual([plan.submitted?.title, manager.getSessionName()], ["fix_it", undefined]);
  await plan.approve("compact");
  assert.deepEqual(order, [
    ...focus,
    "warning: The plan is not carried out yet: the compaction was cancelled. /plan-review shows it again.",
    ...focus,
    "warning: The plan is not carried out yet: No model is connected. /plan-review shows it again.",
    ...focus,
    "named Fix it",
    `The plan below is approved and kept in ${join(harness.plansDir, manager.getSessionId(), "fix_it.md")}. Carry it out step by step, and check the result.`,
  ]);
  assert.equal(plan.isOn, false);
});

test("[P1] plan mode is not left while an approved plan waits for the compaction, so a cancelled one still has its plan", async (t) => {
  const hooks = hooksFrom({
    session_before_compact: () => {
      assert.throws(() => session.plan.stop(), {
        message: "The plan is approved and about to be carried out; Escape stops that, and then /plan leaves.",
      });
      return { cancel: true };
    },
  });
  const { session } = await start(t, { replies: [say("x".repeat(200_000)), say("y"), submit("a-b")], hooks });
  await session.prompt("One");
  await session.prompt("Two");
  session.plan.start();
  await session.prompt("Plan it");
  await session.plan.approve("compact");
  assert.equal(session.plan.submitted?.title, "a-b");
  session.plan.stop();
  assert.equal(session.plan.isOn, false);
});

test("[P1] there is nothing to approve without a plan, after it was approved, and when its file is gone", async (t) => {
  const harness = await start(t, { replies: [submit("a"), say("Done.")] });
  const { session } = harness;
  await assert.rejects(session.plan.approve("keep"), /^Error: There is no plan to decide on here\.$/);
  session.plan.start();
  await assert.rejects(session.plan.approve("keep"), /There is no plan to decide on here/);
  await session.prompt("Plan it");
  const { path } = session.plan.submitted!;
  rmSync(path);
  await assert.rejects(
    session.plan.approve("keep"),
    new RegExp(`^Error: The plan in ${path} cannot be read: it is gone\\.$`),
  );
  writeFileSync(path, "Again");
  await session.plan.approve("keep");
  await assert.rejects(session.plan.approve("keep"), /There is no plan to decide on here/);
});

test("[P1] an approved plan that comes while the model works is queued behind it", async (t) => {
  const harness = await start(t, {
    replies: [submit("a"), say("Talking."), say("Done.")],
    onRequest: (_request, n, { session }) => {
      if (n === 1) void session.plan.approve("keep");
    },
  });
  const { session, manager } = harness;
  session.plan.start();
  await session.prompt("Plan it");
  await session.prompt("A question");
  assert.deepEqual(
    outlineOf(manager.getBranch())
      .slice(-4)
      .map((line) => line.slice(0, 25)),
    ["mode_change", "assistant stop: Talking.", "user: The plan below is a", "assistant stop: Done."],
  );
});

test("[P1, C1] the mode and its plan follow the leaf: jumps, /back, and opening the session again", async (t) => {
  const harness = await start(t, { replies: [say("Hi."), submit("a-plan")] });
  const { session, manager } = harness;
  await session.prompt("Hello");
  const before = manager.getLeafId()!;
  session.plan.start();
  await session.prompt("Plan it");
  const modes: string[] = [];
  session.subscribe((event) => {
    if (event.type === "mode_changed") modes.push(event.mode);
  });
  await session.navigateTree(before);
  assert.deepEqual([session.plan.isOn, session.plan.submitted], [false, undefined]);
  await session.back();
  assert.equal(session.plan.submitted?.title, "a-plan");
  await session.switchSession(manager.getSessionFile()!);
  assert.equal(session.plan.submitted?.title, "a-plan");
  await session.newSession();
  assert.equal(session.plan.isOn, false);
  assert.deepEqual(modes, ["none", "plan", "none"]);
});

test("[P1] a session file cannot lead the plan to another place: only the name of its file is believed", async (t) => {
  const dir = temporaryFolder();
  const victim = join(dir, "victim.md");
  writeFileSync(victim, "mine");
  for (const recorded of [victim, `../../../${basename(victim)}`, "/", "..", "x/../..", 5, "a\0b.md", "..\\v.md"]) {
    const manager = unnamed(temporaryFolder());
    manager.appendModeChange("plan", { planFilePath: recorded, title: "t" });
    const harness = await start(t, { manager, replies: submit(undefined, "No heading.") });
    const folder = join(harness.plansDir, manager.getSessionId());
    assert.equal(join(harness.session.plan.submitted!.path, ".."), folder);
    await harness.session.prompt("Plan it");
    assert.equal(join(harness.session.plan.submitted!.path, ".."), folder);
    assert.equal(readFileSync(victim, "utf8"), "mine");
  }
});

test("[P1] a plan that says nothing, or cannot be written, is an error for the model, and it goes on", async (t) => {
  const dir = temporaryFolder();
  writeFileSync(join(dir, "file"), "");
  const harness = await start(t, { replies: [submit("a", "  \n"), say("Hm.")] });
  harness.session.plan.start();
  await harness.session.prompt("Plan it");
  assert.ok(
    outlineOf(harness.manager.getBranch()).includes("result p1: The plan is empty; hand in all of it as plan."),
  );
  const blocked = await start(t, { plansDir: join(dir, "file"), replies: [submit("a"), say("Hm.")] });
  blocked.session.plan.start();
  await blocked.session.prompt("Plan it");
  const [result] = outlineOf(blocked.manager.getBranch()).filter((line) => line.startsWith("result"));
  assert.match(result!, /^result p1: The plan was not written to .*\/a\.md: .+\.$/);
  assert.equal(blocked.session.plan.submitted, undefined);
});
