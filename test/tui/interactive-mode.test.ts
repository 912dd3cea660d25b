/** The interactive mode as the user has it: keys in, screen out, a real session and a provider over HTTP between. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { SessionManager } from "../../src/session/session-manager.ts";
import { defaultKeybindings } from "../../src/tui/keybindings.ts";
import { builtInTheme } from "../../src/tui/themes.ts";
import {
  fileLines,
  nextEvent,
  noticesOf,
  outlineOf,
  sentMessages,
  startHarness,
  tool,
} from "../support/agent-harness.ts";
import { callTools, fail, hangAfter, say } from "../support/provider-mock.ts";
import { untilScreen } from "../support/virtual-terminal.ts";
import { checkLaws } from "../support/laws.ts";
import { chain, file, HEADER, sealed } from "../support/session-lines.ts";
import { temporaryFolder, user } from "../support/session-files.ts";
import { type InteractiveHarnessOptions, startInteractive } from "./interactive-harness.ts";

const ENTER = "\r";
const ESCAPE = "\x1b";
const ALT_ENTER = "\x1b\r";
const ALT_UP = "\x1b[1;3A";
const UP = "\x1b[A";
const F2 = "\x1bOQ";
const CTRL_C = "\x03";
const CTRL_D = "\x04";

const filled = (rows: readonly string[]): string[] => rows.map((row) => row.trimEnd()).filter((row) => row !== "");

test("[U4] a prompt, its answer, and a footer with folder, name, tokens, context and model", async (t) => {
  const { terminal, see, seeNo, answered, dir } = await startInteractive(t, { replies: say("Hello **there**") });
  await see("0.0.0");
  terminal.type(..."Hi", ENTER);
  await answered("Hello there");
  await see("↑");
  const rows = filled(await seeNo("Working"));
  assert.deepEqual(rows, [
    " bough 0.0.0",
    " Escape stops · / commands · @ files · ! shell · Ctrl+C twice quits",
    " › Hi",
    " Hello there",
    "─".repeat(80),
    "─".repeat(80),
    `${dir} • Hi`,
    `↑100 ↓10 0.1%/128k${" ".repeat(47)}(endpoint) mock`,
  ]);
  assert.equal(terminal.title, `bough - Hi - ${dir.slice(dir.lastIndexOf("/") + 1)}`);
});

test("[W2, U4] a prompt is on the screen only once it is in the file", async (t) => {
  const { terminal, see, manager, session } = await startInteractive(t, { replies: say("ok") });
  await see("0.0.0");
  const inFile: boolean[] = [];
  const stop = session.subscribe(() => {
    if (terminal.output.includes("› Save me"))
      inFile.push(fileLines(manager).some((line) => JSON.stringify(line).includes("Save me")));
  });
  terminal.type(..."Save me", ENTER);
  await see("ok");
  stop();
  assert.deepEqual([...new Set(inFile)], [true]);
});

test("[U4] Enter while the agent works steers, Alt+Enter follows up, Alt+Up takes both back before the draft", async (t) => {
  const { terminal, see, seeNo, session } = await startInteractive(t, { replies: hangAfter("thinking about it") });
  await see("0.0.0");
  terminal.type(..."Go", ENTER);
  await see("thinking about it");
  terminal.type(..."turn left", ENTER, ..."then stop", ALT_ENTER, ..."draft");
  const rows = filled(await see("then stop"));
  assert.deepEqual(rows.slice(rows.indexOf(" Steering: turn left"), rows.indexOf(" Steering: turn left") + 3), [
    " Steering: turn left",
    " Follow-up: then stop",
    " ↳ Alt+Up to edit all queued messages",
  ]);
  assert.deepEqual(
    session.queue.map(({ kind, text }) => `${kind}: ${text}`),
    ["steer: turn left", "followUp: then stop"],
  );
  terminal.type(ALT_UP);
  const after = filled(await seeNo("Steering:"));
  const border = after.indexOf("─".repeat(80));
  assert.deepEqual(after.slice(border + 1, border + 4), ["turn left", "then stop", "draft"]);
  assert.deepEqual(session.queue, []);
});

test("[U4] Escape while the agent works stops it and brings the queue back into the editor", async (t) => {
  const { terminal, see, session } = await startInteractive(t, { replies: hangAfter("working on it") });
  await see("0.0.0");
  terminal.type(..."Go", ENTER);
  await see("working on it");
  await see("Working… (Escape to stop)");
  const settled = nextEvent(session, "agent_settled");
  terminal.type(..."later", ENTER, ESCAPE);
  assert.deepEqual(await settled, { type: "agent_settled", aborted: true });
  const rows = filled(await see("Stopped."));
  assert.deepEqual(rows.slice(-5, -2), ["─".repeat(80), "later", "─".repeat(80)]);
});

test("[U4] a failed answer is asked for again after a countdown, which Escape ends", async (t) => {
  const { terminal, see, session } = await startInteractive(t, {
    replies: fail(503, "overloaded"),
    retry: { enabled: true, maxRetries: 3, baseDelayMs: 60_000, maxDelayMs: 60_000 },
  });
  await see("0.0.0");
  terminal.type(..."Go", ENTER);
  await see("Retrying (1/3) in 60s… (Escape to cancel)");
  const settled = nextEvent(session, "agent_settled");
  terminal.type(ESCAPE);
  await settled;
  const rows = filled(await see("Error: "));
  assert.ok(!rows.some((row) => row.includes("Retrying")));
});

test("[U3, B1] Escape twice on an empty editor opens the tree, also with the setting `tree`", async (t) => {
  for (const mode of [{}, { settings: { doubleEscapeAction: "tree" as const } }]) {
    const { terminal, see, session, seeNo } = await startInteractive(t, { replies: say("ok"), mode });
    await session.prompt("first");
    await see("ok");
    terminal.type(ESCAPE, ESCAPE);
    await see("Session Tree");
    terminal.type(ESCAPE);
    await seeNo("Session Tree");
  }
});

test("[B1, N4] Escape twice opens the tree over a draft, too, which is there again afterwards", async (t) => {
  const { terminal, see, seeNo, session } = await startInteractive(t, { replies: say("ok") });
  await session.prompt("first");
  await see("ok");
  terminal.type(..."half a thought", ESCAPE);
  assert.deepEqual(filled(await see("half a thought")).slice(-4, -2), ["half a thought", "─".repeat(80)]);
  terminal.type(ESCAPE);
  await see("Session Tree");
  terminal.type(ESCAPE);
  const rows = filled(await seeNo("Session Tree"));
  assert.deepEqual(rows.slice(-4, -2), ["half a thought", "─".repeat(80)]);
});

test("[U3, B1] two Escapes that arrive in one read are two: they open the tree, and in it the first closes it", async (t) => {
  const { terminal, see, session, seeNo } = await startInteractive(t, { replies: say("ok") });
  await session.prompt("first");
  await see("ok");
  terminal.type(ESCAPE + ESCAPE);
  await see("Session Tree");
  terminal.type(ESCAPE + ESCAPE);
  await seeNo("Session Tree");
  // The second of them was the first on the editor.
  terminal.type(ESCAPE);
  await see("Session Tree");
});

test("[B1] with the setting `branch` Escape twice opens the list of messages, with `none` nothing", async (t) => {
  const branch = await startInteractive(t, {
    replies: say("ok"),
    mode: { settings: { doubleEscapeAction: "branch" } },
  });
  await branch.session.prompt("first");
  branch.terminal.type(ESCAPE, ESCAPE);
  await branch.see("Message 1 of 1");
  branch.terminal.type(ESCAPE);

  const none = await startInteractive(t, { replies: say("ok"), mode: { settings: { doubleEscapeAction: "none" } } });
  await none.session.prompt("first");
  none.terminal.type(ESCAPE, ESCAPE, ..."/name", ENTER);
  const rows = await none.see("The session's name is first");
  assert.ok(!rows.some((row) => row.includes("Session Tree") || row.includes("Message 1 of 1")));
});

test("[B1] typing between two Escapes makes them two single ones", async (t) => {
  const { terminal, see, session } = await startInteractive(t, { replies: say("ok") });
  await session.prompt("first");
  await see("ok");
  terminal.type(ESCAPE, "x", "\x7f", ESCAPE, ..."/name", ENTER);
  const rows = await see("The session's name is first");
  assert.ok(!rows.some((row) => row.includes("Session Tree")));
});

test("[N1, N4] a jump to a message puts its text into the empty editor", async (t) => {
  const { terminal, see, session } = await startInteractive(t, { replies: [say("one"), say("two")] });
  await session.prompt("first");
  await session.prompt("second");
  await see("two");
  const before = session.sessionManager.getEntry(session.getUserMessages()[1]!.entryId)?.parentId;
  terminal.type(ESCAPE, ESCAPE);
  await see("Session Tree");
  terminal.type(UP, ENTER);
  const rows = filled(await see("Navigated to selected point"));
  assert.deepEqual(rows.slice(2), [
    " › first",
    " one",
    " Navigated to selected point (/back returns)",
    "─".repeat(80),
    "second",
    ...rows.slice(-3),
  ]);
  assert.equal(session.sessionManager.getLeafId(), before);
});

test("[U3, N4] a draft survives a jump begun with a key of the user's choice; the message's text is one key away", async (t) => {
  const keybindings = defaultKeybindings();
  keybindings.setUserBindings({ "app.session.tree": "f2" });
  const { terminal, see, answered } = await startInteractive(t, {
    replies: [say("one"), say("two")],
    mode: { keybindings },
  });
  await see("0.0.0");
  for (const [prompt, answer] of [
    ["first", "one"],
    ["second", "two"],
  ] as const) {
    terminal.type(...prompt, ENTER);
    await answered(` ${answer}`);
  }
  terminal.type(..."my draft", F2);
  await see("Session Tree");
  terminal.type(UP, ENTER);
  const rows = filled(await see("your draft stays in the editor"));
  assert.deepEqual(rows.slice(-5, -2), ["─".repeat(80), "my draft", "─".repeat(80)]);
  terminal.type("\x01", UP);
  await see("second");
});

test("[U3] an unknown command is named, and stays in the editor", async (t) => {
  const { terminal, see, server } = await startInteractive(t, { replies: say("ok") });
  await see("0.0.0");
  terminal.type(..."/nonsense now", ENTER);
  const rows = filled(await see("There is no command /nonsense; type / to see those there are."));
  assert.deepEqual(rows.slice(-5, -2), ["─".repeat(80), "/nonsense now", "─".repeat(80)]);
  assert.equal(server.requests.length, 0);
});

test("[U3] a path at the start of a prompt is no command", async (t) => {
  const { terminal, see, server } = await startInteractive(t, { replies: say("ok") });
  await see("0.0.0");
  terminal.type(..."/usr/bin/env is missing", ENTER);
  await see("ok");
  assert.deepEqual(sentMessages(server.requests[0]), ["user /usr/bin/env is missing"]);
});

test("[U4] !command runs in the shell and is told to the model, !!command is not", async (t) => {
  const { terminal, see, server, session, manager } = await startInteractive(t, { replies: say("ok") });
  await see("0.0.0");
  const recorded = nextEvent(session, "entry_appended");
  terminal.type(..."!echo one $((1+1))", ENTER);
  // The output is shown while the command still runs; the second one has to wait for its end.
  await recorded;
  terminal.type(..."!!echo secret; exit 3", ENTER);
  const rows = filled(await see("Not sent to the model."));
  const from = rows.indexOf(" $ echo one $((1+1))");
  assert.deepEqual(rows.slice(from, from + 6), [
    " $ echo one $((1+1))",
    " one 2",
    " $ echo secret; exit 3",
    " secret",
    " Exit code 3.",
    " Not sent to the model.",
  ]);
  await session.prompt("What did I run?");
  assert.deepEqual(outlineOf(manager.getBranch()).slice(0, 2), [
    "bash: echo one $((1+1))",
    "bash: echo secret; exit 3",
  ]);
  assert.deepEqual(
    sentMessages(server.requests[0]).map((message) => /one 2|secret|What did I run/.exec(message)?.[0]),
    ["one 2", "What did I run"],
  );
});

test("[U4] Escape stops a running command, leaves a shell draft, and does so one at a time", async (t) => {
  const { terminal, see, seeNo } = await startInteractive(t);
  await see("0.0.0");
  terminal.type(..."!echo begun; sleep 60", ENTER);
  await see("begun");
  terminal.type(..."!echo again", ESCAPE);
  const rows = filled(await see("Stopped."));
  assert.deepEqual(rows.slice(-5, -2), ["─".repeat(80), "!echo again", "─".repeat(80)]);
  terminal.type(ESCAPE);
  const after = filled(await seeNo("!echo again"));
  assert.deepEqual(after.slice(-4, -2), ["─".repeat(80), "─".repeat(80)]);
});

test("[U4] Ctrl+C clears the draft, which Up brings back; twice it leaves with exit code 0", async (t) => {
  const { terminal, see, finished } = await startInteractive(t);
  await see("0.0.0");
  terminal.type(..."a long thought", CTRL_C);
  await see("Press it again to quit.");
  terminal.type(UP);
  await see("a long thought");
  terminal.type(CTRL_C, CTRL_C);
  assert.equal(await finished, 0);
});

test("[U4] Ctrl+D leaves on an empty editor only", async (t) => {
  const { terminal, see, finished } = await startInteractive(t);
  await see("0.0.0");
  terminal.type(..."ab", "\x01", CTRL_D);
  const rows = filled(await see("b"));
  assert.deepEqual(rows.slice(-5, -2), ["─".repeat(80), "b", "─".repeat(80)]);
  terminal.type(CTRL_D, CTRL_D);
  assert.equal(await finished, 0);
});

test("[U4] a tool's row: pending, then collapsed output that Ctrl+O expands", async (t) => {
  const release = Promise.withResolvers<void>();
  const output = Array.from({ length: 12 }, (_, n) => `line ${n + 1}`).join("\n");
  const { terminal, see, seeNo } = await startInteractive(t, {
    replies: [callTools({ id: "c1", name: "bash", arguments: { command: "count" } }), say("done")],
    tools: () => [tool("bash", () => release.promise.then(() => output))],
  });
  await see("0.0.0");
  terminal.type(..."Count", ENTER);
  await see("$ count");
  release.resolve();
  const rows = filled(await see("done"));
  const from = rows.indexOf(" $ count");
  assert.deepEqual(rows.slice(from, from + 7), [
    " $ count",
    " … 7 earlier lines (Ctrl+O to expand)",
    ...[8, 9, 10, 11, 12].map((n) => ` line ${n}`),
  ]);
  terminal.type("\x0f");
  const expanded = filled(await see("line 1"));
  assert.ok(expanded.includes(" line 3") && !expanded.some((row) => row.includes("earlier lines")));
  terminal.type("\x0f");
  await seeNo("line 3");
});

test("[U4, U5] the notices of the start stand below the conversation, where they are seen", async (t) => {
  const { see } = await startInteractive(t, { mode: { notices: ["Made \x1b[2Jnew.", "Second."] } });
  const rows = filled(await see("Second."));
  assert.deepEqual(rows.slice(2, 4), [" Made new.", " Second."]);
});

test("[B2] /new starts a session, /name names it, the title follows", async (t) => {
  const { terminal, see, seeNo, answered, dir } = await startInteractive(t, { replies: say("answer one") });
  await see("0.0.0");
  terminal.type(..."first", ENTER);
  await answered("answer one");
  terminal.type(..."/new", ENTER);
  await see("✓ New session started");
  await seeNo("answer one");
  terminal.type(..."/name  The   plan", ENTER);
  await see("The session's name is now The plan");
  assert.equal(terminal.title, `bough - The plan - ${dir.slice(dir.lastIndexOf("/") + 1)}`);
});

test("[U4] a later remark takes the place of the one before, not its own line", async (t) => {
  const { terminal, see, seeNo } = await startInteractive(t);
  await see("0.0.0");
  terminal.type("\x14");
  await see("Thinking is hidden");
  terminal.type("\x14");
  await see("Thinking is shown");
  await seeNo("Thinking is hidden");
});

test("[U4] a prompt that cannot be sent comes back into the editor, with the reason", async (t) => {
  const { terminal, see } = await startInteractive(t, { model: undefined });
  await see("no model: /model");
  terminal.type(..."Hello?", ENTER);
  const rows = filled(await see("Error: "));
  assert.deepEqual(rows.slice(-5, -2), ["─".repeat(80), "Hello?", "─".repeat(80)]);
});

test("[F6, U4] what is wrong with a session's file is told once, in one line", async (t) => {
  const dir = temporaryFolder();
  const path = join(dir, "torn.jsonl");
  const header = { type: "session", version: 3, id: "s", timestamp: "2026-01-01T00:00:00Z", cwd: dir };
  const entry = { type: "message", id: "a", parentId: null, timestamp: "2026-01-01T00:00:00Z" };
  const message = { role: "user", content: "kept", timestamp: 0 };
  const answer = { ...entry, id: "b", parentId: "a", message: { role: "assistant", content: [], timestamp: 0 } };
  const good = [header, { ...entry, message }, answer].map((line) => JSON.stringify(line));
  writeFileSync(path, `${good.join("\n")}\n{"type":"mess\n{"type":"mo\n`);
  const manager = await SessionManager.open(path);
  const { see, seeNo, session } = await startInteractive(t, { manager, columns: 200 });
  const problems = manager.getProblems();
  const told = (rows: string[]): string[] =>
    rows.filter((row) => row.includes("Warning: ")).map((row) => row.trimEnd());
  const expected = [` Warning: ${problems[0]!.text} 1 more: bough doctor ${path} lists them.`];
  assert.deepEqual(told(await see("› kept")), expected);
  assert.equal(problems.length, 2);
  // A jump draws the chat anew; the line is not told again.
  await session.navigateTree("a");
  assert.deepEqual(told(await seeNo("› kept")), []);
});

test("[W7, Y13] of a long session the end is drawn at once; a changed line before it is told when it has been read", async (t) => {
  const dir = temporaryFolder();
  const path = join(dir, "long.jsonl");
  const lines = chain(null, ...Array.from({ length: 500 }, (_, n) => `m${n}`)).map(sealed);
  lines[3] = lines[3]!.replace('"content":"m3"', '"content":"M3"');
  writeFileSync(path, file(sealed(HEADER.replace('"/w"', JSON.stringify(dir))), ...lines));
  const manager = await SessionManager.open(path);
  const { see } = await startInteractive(t, { manager, columns: 200 });
  const rows = await see("Warning: ");
  assert.deepEqual(
    manager.getProblems().map(({ code, line }) => [code, line]),
    [["changed-line", 5]],
  );
  const shown = rows.map((row) => row.trim()).filter((row) => /^(›|Warning)/.test(row));
  assert.deepEqual(shown.slice(-2), ["› m499", `Warning: ${manager.getProblems()[0]!.text}`]);
  assert.deepEqual(manager.getLatestMessages(100).earlier, 400);
});

test("[U4] what a change of session says is still there when the other session is drawn", async (t) => {
  const dir = temporaryFolder();
  const path = join(dir, "other.jsonl");
  const at = "2026-01-01T00:00:00Z";
  const lines = [
    { type: "session", version: 3, id: "s", timestamp: at, cwd: dir },
    { type: "model_change", id: "m", parentId: null, timestamp: at, provider: "gone", modelId: "model" },
    {
      type: "message",
      id: "u",
      parentId: "m",
      timestamp: at,
      message: { role: "user", content: "from there", timestamp: 0 },
    },
  ];
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const { see, session, events } = await startInteractive(t, { columns: 200 });
  await see("0.0.0");
  await session.switchSession(path);
  const rows = filled(await see("› from there"));
  const [notice] = noticesOf(events).map((text) => text.replace("warning: ", " Warning: "));
  assert.deepEqual(rows.slice(2, 4), [" › from there", notice]);
});

test("[W5, U4] who follows a session that goes back before its first entry is told where it stands", async (t) => {
  const { manager } = await startHarness(t, { followed: true });
  manager.appendMessage(user("theirs"));
  const follower = await SessionManager.open(manager.getSessionFile()!, { readOnly: true });
  const { see, seeNo } = await startInteractive(t, { manager: follower, followed: true });
  const start = "At the start of the session; /tree shows what there is.";
  assert.ok(!(await see("› theirs")).some((row) => row.includes(start)));
  manager.resetLeaf();
  await manager.flush();
  await see(start);
  await seeNo("› theirs");
});

test("[D2] a session that is opened later on says that its last turn has no answer; a new one that begins like it does not", async (t) => {
  const lost = SessionManager.create(temporaryFolder());
  lost.appendMessage(user("from there"));
  await checkLaws(lost);
  await lost.close();
  const { see, session } = await startInteractive(t, { columns: 200 });
  await see("0.0.0");
  await session.newSession({ setup: (manager) => manager.appendMessage(user("from an extension")) });
  const before = filled(await see("› from an extension"));
  await session.switchSession(lost.getSessionFile()!);
  const after = filled(await see("› from there"));
  const notice = " The last turn here was interrupted before its answer came.";
  assert.deepEqual(
    [before, after].map((rows) => rows.filter((row) => row.startsWith(notice)).length),
    [0, 1],
  );
});

test("[U4] leaving with something unsaved says so and gives exit code 1", async (t) => {
  const { terminal, see, session, finished } = await startInteractive(t);
  await see("0.0.0");
  t.mock.method(session, "dispose", () => Promise.reject(new Error("the disk is full")), { times: 1 });
  terminal.type(CTRL_D);
  assert.equal(await finished, 1);
  await see("Error: Not everything of this session could be saved: the disk is full");
});

test("[U4] a retry that works goes on as if nothing had failed, its countdown gone", async (t) => {
  const { terminal, see, seeNo } = await startInteractive(t, { replies: [fail(503, "overloaded"), say("here I am")] });
  await see("0.0.0");
  terminal.type(..."Go", ENTER);
  await see("here I am");
  const rows = filled(await seeNo("Retrying"));
  assert.deepEqual(
    rows.filter((row) => /^ (›|Error|here)/.test(row)).map((row) => row.slice(0, 11)),
    [" › Go", " Error: 503", " here I am"],
  );
});

test("[U4] an answer that fails again and again is one row with the provider's sentence and the number of attempts", async (t) => {
  const { terminal, see, session } = await startInteractive(t, { replies: fail(503, "overloaded") });
  await see("0.0.0");
  const settled = nextEvent(session, "agent_settled");
  terminal.type(..."Go", ENTER);
  await settled;
  const rows = filled(await see("(4 times)"));
  assert.deepEqual(
    rows.filter((row) => row.includes("Error")),
    [" Error: 503: overloaded (4 times)"],
  );
});

test("[U4] Ctrl+G edits the draft in the user's editor; one that fails leaves it as it was", async (t) => {
  const editor = (command: string): InteractiveHarnessOptions => ({ mode: { settings: { externalEditor: command } } });
  const good = await startInteractive(t, editor('sh -c \'printf "more than that\\n" >> "$1"\' sh'));
  await good.see("0.0.0");
  good.terminal.type(..."a draft", "\x07");
  assert.deepEqual(filled(await good.see("more than that")).slice(-4, -2), ["a draftmore than that", "─".repeat(80)]);
  const bad = await startInteractive(t, editor("false"));
  await bad.see("0.0.0");
  bad.terminal.type(..."a draft", "\x07");
  const rows = filled(await bad.see('Error: The editor "false" ended with code 1.'));
  assert.deepEqual(rows.slice(-4, -2), ["a draft", "─".repeat(80)]);
});

test("[U4] a theme that cannot be used is named, and the dark one stands in", async (t) => {
  const { see } = await startInteractive(t, { mode: { settings: { theme: "../../evil" } } });
  await see('Warning: "../../evil" is no name of a theme; use letters, digits, - and _.');
});

test("[U4] a terminal that says its background is white gets the light theme", async (t) => {
  const { terminal, see } = await startInteractive(t, { mode: { env: { TERM: "xterm", COLORTERM: "truecolor" } } });
  await see("0.0.0");
  const dark = builtInTheme("dark", "truecolor").getFgAnsi("accent");
  const light = builtInTheme("light", "truecolor").getFgAnsi("accent");
  assert.ok(terminal.output.includes(dark) && !terminal.output.includes(light));
  terminal.type("\x1b]11;rgb:ffff/ffff/ffff\x07", "\x1b[?62;22c");
  await untilScreen(terminal, () => terminal.output.includes(light));
});

test("[U3] the editor's border is that of the thinking level, and another one for a !command", async (t) => {
  const { terminal, see } = await startInteractive(t, { mode: { env: { TERM: "xterm", COLORTERM: "truecolor" } } });
  await see("0.0.0");
  const look = builtInTheme("dark", "truecolor");
  const border = (token: "thinkingOff" | "bashMode"): string => look.fg(token, "─".repeat(80));
  assert.ok(terminal.output.includes(border("thinkingOff")) && !terminal.output.includes(border("bashMode")));
  terminal.type("!");
  await untilScreen(terminal, () => terminal.output.includes(border("bashMode")));
});
