/** Summaries without a model. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { digestOf } from "../../src/agent/digest.ts";
import type { AgentMessage } from "../../src/tree/messages.ts";
import { answer, call, user } from "../tree/message-fixtures.ts";

const bash = (command: string, exitCode: number, fields: object = {}): AgentMessage => ({
  role: "bashExecution",
  command,
  output: "",
  exitCode,
  cancelled: false,
  truncated: false,
  timestamp: 0,
  ...fields,
});

test("[K6] goals, an earlier summary, files, commands, errors and the last words, the same each time", () => {
  const messages: AgentMessage[] = [
    { role: "compactionSummary", summary: "Before: nothing.", tokensBefore: 9, timestamp: 0 },
    user("Fix the\nbug"),
    answer([
      { type: "text", text: "I look." },
      call("1", "read", { path: "a.ts" }),
      call("2", "bash", { command: "npm test" }),
    ]),
    {
      role: "toolResult",
      toolCallId: "2",
      toolName: "bash",
      content: [{ type: "text", text: "exit 1\nFAIL" }],
      isError: true,
      timestamp: 0,
    },
    bash("make", 2),
    bash("secret", 0, { excludeFromContext: true }),
    answer([], { stopReason: "error", errorMessage: "529 overloaded" }),
    user("And now?"),
    answer([{ type: "text", text: "Changed it.\n\nAll is well." }, call("3", "edit", { path: "a.ts" })]),
  ];
  const digest = [
    "## Goals\n- Fix the bug\n- And now?",
    "## Earlier summary\nBefore: nothing.",
    "## Files changed\na.ts",
    "## Commands\n- npm test\n- make (exit code 2)",
    "## Errors\n- bash: exit 1 FAIL\n- 529 overloaded",
    "## Last words\nChanged it.\n\nAll is well.",
  ].join("\n\n");
  assert.equal(digestOf(messages), digest);
  assert.equal(digestOf(structuredClone(messages)), digest);
  assert.equal(
    digestOf([user("Hi")], { readFiles: ["r.ts"], modifiedFiles: ["m.ts"] }),
    "## Goals\n- Hi\n\n## Files read\nr.ts\n\n## Files changed\nm.ts",
  );
});

test("[K6] its length is bounded, and what is left out is said", () => {
  const messages: AgentMessage[] = Array.from({ length: 1_000 }, (_, n) => user(`goal ${n} ${"x".repeat(1_000)}`));
  messages.push(answer(`${"w".repeat(3_999)}😀 and more`));
  const lines = digestOf(messages).split("\n");
  assert.deepEqual(
    [lines.length, lines[1]!.slice(0, 8), lines[2], lines[3]!.slice(0, 10), lines.at(-1)],
    [1 + 1 + 1 + 19 + 2 + 1, "- goal 0", "- (980 left out)", "- goal 981", `${"w".repeat(3_999)} […]`],
  );
  assert.ok(lines.every((line) => line.length <= 4_004));
});

test("[K6] nothing said gives nothing, and broken messages do no harm", () => {
  assert.equal(digestOf([]), "");
  const odd = [
    null,
    { role: "user" },
    { role: "assistant", content: null, errorMessage: 7 },
    { role: "assistant", content: [{ type: "toolCall", name: "bash", arguments: null }] },
    { role: "toolResult", isError: true },
    { role: "bashExecution" },
    { role: "branchSummary" },
  ] as unknown as AgentMessage[];
  assert.equal(digestOf(odd), "## Errors\n- tool: ");
});
