/** Plan mode, rules and service tiers on the screen. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { readRule } from "../../src/agent/rule-files.ts";
import { createTools } from "../../src/agent/tools/create-tools.ts";
import { tierCommand } from "../../src/tui/tier-command.ts";
import { builtInTheme } from "../../src/tui/themes.ts";
import { callTools, hangAfter, say } from "../support/provider-mock.ts";
import type { Reply } from "../support/provider-mock.ts";
import { temporaryFolder } from "../support/session-files.ts";
import { untilScreen } from "../support/virtual-terminal.ts";
import { startInteractive } from "./interactive-harness.ts";
import type { InteractiveHarness, InteractiveHarnessOptions } from "./interactive-harness.ts";

const submit = (title: string, plan = "# The way\n\n1. Begin."): Reply =>
  callTools({ id: "p1", name: "submit_plan", arguments: { title, plan } });

const start = (t: TestContext, options: InteractiveHarnessOptions): Promise<InteractiveHarness> =>
  startInteractive(t, {
    tools: (cwd) => createTools({ cwd }),
    plansDir: join(temporaryFolder(), "plans"),
    columns: 100,
    ...options,
  });
const footerHas = (rows: readonly string[], word: string): boolean =>
  rows.some((row) => row.startsWith(`${word} `) && row.includes("mock"));

test("[P1, U3] /plan and Alt+M turn plan mode on and off: footer, title and border say so", async (t) => {
  const { terminal, see, session } = await start(t, { mode: { env: { TERM: "xterm", COLORTERM: "truecolor" } } });
  await see("0.0.0");
  const border = builtInTheme("dark", "truecolor").fg("planMode", "─".repeat(100));
  assert.ok(!terminal.output.includes(border));
  terminal.type("/plan", "\r");
  await see("Plan mode: nothing is changed until you approve a plan; /plan leaves it");
  assert.equal(session.plan.isOn, true);
  await untilScreen(terminal, (rows) => footerHas(rows, "plan"));
  assert.ok(terminal.output.includes(border));
  assert.match(terminal.title, /^bough \(plan\) - /);
  terminal.type("\x1bm");
  await see("Plan mode is off");
  await untilScreen(terminal, (rows) => !footerHas(rows, "plan"));
  assert.equal(session.plan.isOn, false);
  assert.match(terminal.title, /^bough - /);
});

test("[P1] the plan is shown when it is handed in, with the question; Escape keeps planning, feedback is a prompt", async (t) => {
  const { terminal, see, seeNo, session, server } = await start(t, { replies: [submit("first"), submit("second")] });
  await see("0.0.0");
  terminal.type("/plan How would you begin?", "\r");
  const rows = await see("Approve and execute");
  assert.deepEqual(
    rows.filter((row) => /^(› | {2})(Approve|Keep)/.test(row)).map((row) => row.slice(2).trimEnd()),
    ["Approve and execute", "Approve and compact context", "Approve and keep context", "Keep planning"],
  );
  assert.ok(rows.some((row) => row.includes("Plan: first")) && rows.some((row) => row.includes("1. Begin.")));
  terminal.type("\x1b");
  await see("Say what should change; /plan-review shows the plan again.");
  await seeNo("Approve and execute");
  terminal.type("Shorter", "\r");
  await see("Plan: second");
  assert.equal(server.requests.length, 2);
  terminal.type("\x1b[B", "\x1b[B", "\x1b[B", "\r");
  await seeNo("Approve and execute");
  terminal.type("/plan-review", "\r");
  await see("Plan: second");
  assert.equal(session.plan.submitted?.title, "second");
});

test("[P1] /plan-review without a plan says so; a prompt typed ahead is asked first, then the plan", async (t) => {
  const { terminal, see, session } = await start(t, {
    replies: [submit("one"), say("By the way.")],
    onRequest: (_request, n, harness) => {
      if (n === 0) harness.session.steer("And this?");
    },
  });
  await see("0.0.0");
  terminal.type("/plan-review", "\r");
  await see("There is no plan to decide on here.");
  terminal.type("\x03");
  session.plan.start();
  terminal.type("Plan it", "\r");
  const rows = await see("Plan: one");
  assert.ok(rows.some((row) => row.includes("By the way.")));
});

test("[P1] an approved plan names an unnamed session, and the terminal's title follows", async (t) => {
  const { terminal, see, manager } = await start(t, { replies: [submit("fix_session_naming"), say("All done.")] });
  await see("0.0.0");
  terminal.type("/plan Go", "\r");
  await see("Approve and execute");
  terminal.type("\r");
  await see("All done.");
  assert.equal(manager.getSessionName(), "Fix session naming");
  assert.match(terminal.title, /^bough - Fix session naming - /);
  await see("Fix session naming");
});

test("[P2] a rule that stops an answer is one line in the chat", async (t) => {
  const { rule } = readRule({ path: "/r/no-logs.md", text: "---\ncondition: console\\.log\n---\nUse the logger." });
  const { terminal, see } = await start(t, {
    rules: [rule!],
    replies: [hangAfter(`console.log is fine ${"x".repeat(70)}`), say("The logger it is.")],
  });
  await see("0.0.0");
  terminal.type("Go", "\r");
  const rows = await see("The logger it is.");
  const shown = rows.map((row) => row.trim()).filter((row) => /Stopped|Rule|logger/.test(row));
  assert.deepEqual(shown, [
    "Stopped.",
    "Rule no-logs: the answer was stopped and is asked for again.",
    "The logger it is.",
  ]);
});

test("[P3] /tier shows, sets and refuses; it is sent with the next request", async (t) => {
  const { terminal, see, server } = await start(t, { replies: say("Hi.") });
  await see("0.0.0");
  terminal.type("/tier", "\r");
  await see("Service tier: auto (of auto, default, flex, scale, priority)");
  terminal.type("/tier fast", "\r");
  await see("There is no service tier fast; endpoint has auto, default, flex, scale, priority");
  terminal.type("/tier Flex", "\r");
  await see("Service tier: flex");
  terminal.type("Go", "\r");
  await see("Hi.");
  assert.equal(server.requests[0]?.body["service_tier"], "flex");
});

test("[P3] /tier says when a provider has no tiers, and when there is no model", () => {
  const said: string[] = [];
  const host = (model: object | undefined) =>
    ({ session: { model, state: {} }, setStatus: (text: string) => said.push(text) }) as never;
  tierCommand(host({ provider: "groq", api: "openai-completions" }), "flex");
  tierCommand(host(undefined), "");
  assert.deepEqual(said, [
    "groq has no service tiers that bough can ask for",
    "No model is chosen; /model chooses one",
  ]);
});
