/**
 * The bash tool: what the model is told about a command.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { bashTool } from "../../src/agent/tools/bash.ts";
import { temporaryFolder } from "../support/session-files.ts";
import { callTool } from "../support/tool-call.ts";

const cwd = temporaryFolder();
const outputDir = join(cwd, "output");
const tool = bashTool(cwd, outputDir);
const bash = (args: object) => callTool(tool, args);

test("[A3] success is the output alone", async () => {
  const { text, isError, details } = await bash({ command: "echo hello" });
  assert.deepEqual([text, isError], ["hello", false]);
  assert.deepEqual(details, {
    shownLines: 1,
    totalLines: 1,
    truncated: false,
    partialLine: false,
    endedBy: "exit",
    leftRunning: false,
    exitCode: 0,
  });
  assert.equal((await bash({ command: "true" })).text, "(no output)");
});

test("[A3] failure is an error with the output and how it ended", async () => {
  const outcomes = [
    await bash({ command: "echo partial; exit 7" }),
    await bash({ command: "kill -KILL $$" }),
    await bash({ command: "echo begun; sleep 60", timeout: 0.2 }),
    await bash({ command: "exit 0", timeout: "5" }),
  ];
  assert.deepEqual(
    outcomes.map(({ text, isError }) => [text, isError]),
    [
      ["partial\n\n[Exit code 7.]", true],
      ["(no output)\n\n[Ended by the signal SIGKILL.]", true],
      ["begun\n\n[Stopped after 0.2 seconds: the time was up.]", true],
      ["(no output)", false],
    ],
  );
});

test("[A3] abort keeps the output", async () => {
  const controller = new AbortController();
  const outcome = await callTool(
    tool,
    { command: "echo begun; sleep 60" },
    { signal: controller.signal, onUpdate: () => controller.abort() },
  );
  assert.deepEqual([outcome.text, outcome.isError], ["begun\n\n[Stopped by the user.]", true]);
});

test("[A1, A3] a long output says what is shown and where the rest is", async () => {
  const { text, details } = await bash({ command: "seq 1 5000; exit 1" });
  const { fullOutputPath } = details as { fullOutputPath: string };
  const shown = Array.from({ length: 2000 }, (_, n) => 3001 + n).join("\n");
  assert.equal(text, `${shown}\n\n[Lines 3001-5000 of 5000; all of it is in ${fullOutputPath}.]\n[Exit code 1.]`);
  const line = await bash({ command: "head -c 60000 /dev/zero | tr '\\0' x" });
  assert.equal(
    line.text,
    `${"x".repeat(51_200)}\n\n[Only the end of line 1 is shown; all of it is in ${(line.details as { fullOutputPath: string }).fullOutputPath}.]`,
  );
});

test("[A3] updates are streamed", async () => {
  const updates: string[] = [];
  await callTool(tool, { command: "echo one" }, { onUpdate: (text) => updates.push(text) });
  assert.deepEqual(updates, ["one"]);
});

test("[A3] what is left running is mentioned", async () => {
  const { text, isError } = await bash({ command: "sleep 2 & echo begun" });
  assert.deepEqual(
    [text, isError],
    ["begun\n\n[Something it started still runs; what that prints from now on is not shown.]", false],
  );
});

test("[A3] what cannot be started, and wrong arguments, are errors", async () => {
  const { text, isError } = await callTool(bashTool(join(cwd, "gone"), undefined), { command: "true" });
  assert.deepEqual(
    [text, isError],
    [`The command was not run: the working directory ${join(cwd, "gone")} does not exist.`, true],
  );
  assert.equal((await bash({ command: "true", timeout: 0 })).isError, true);
});
