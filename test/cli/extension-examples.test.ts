/** The extensions of examples/, on the program as it is assembled: each does what it says. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { textOf } from "../../src/tree/content.ts";
import { startProgram } from "../support/extended-program.ts";
import { callTools, say } from "../support/provider-mock.ts";

const example = (name: string): string =>
  fileURLToPath(new URL(`../../examples/extensions/${name}.ts`, import.meta.url));
const ENTER = "\r";
const ESCAPE = "\x1b";

test("[X1, X4] permission-gate: a risky command is asked for, and not run without a yes", async (t) => {
  const bough = await startProgram(t, {
    args: ["-e", example("permission-gate")],
    replies: [
      callTools({ id: "c1", name: "bash", arguments: { command: "rm -rf gone" } }),
      callTools({ id: "c2", name: "bash", arguments: { command: "rm -rf gone; echo allowed" } }),
      say("Understood."),
    ],
  });
  bough.enter("Clean up");
  await bough.see("Run this command?");
  bough.terminal.type(ESCAPE);
  await bough.see("echo allowed");
  await bough.see("Run this command?");
  bough.terminal.type(ENTER);
  await bough.see("Understood.");
  const results = bough.session.messages.flatMap((message) =>
    message.role === "toolResult" ? [textOf(message.content)] : [],
  );
  assert.deepEqual(results, ["The user does not want this command to be run.", "allowed"]);
});

test("[X1, X4] todo: the list follows the branch, in the footer too", async (t) => {
  const bough = await startProgram(t, {
    args: ["-e", example("todo")],
    replies: [callTools({ id: "c1", name: "todo", arguments: { items: ["milk", "bread"] } }), say("Noted.")],
  });
  bough.enter("Remember milk and bread");
  await bough.see("Noted.");
  await bough.session.waitForIdle();
  bough.enter("/todos");
  await bough.see("bread");
  assert.equal((await bough.see("2 to do")).findLast((row) => row.trim() !== "")?.trim(), "2 to do");
  await bough.session.navigateTree(bough.session.getUserMessages()[0]!.entryId);
  await bough.seeNo("2 to do");
});

test("[X1, X4] checkpoint: after a jump the files can be had as they were", async (t) => {
  const bough = await startProgram(t, {
    args: ["-e", example("checkpoint")],
    files: { "a.txt": "first\n" },
    replies: [say("One."), say("Two.")],
  });
  const git = (...args: string[]): void => {
    const name = ["-c", "user.email=a@example.org", "-c", "user.name=A"];
    execFileSync("git", [...name, ...args], { cwd: bough.cwd, stdio: "ignore" });
  };
  git("init");
  git("config", "user.email", "a@example.org");
  git("config", "user.name", "A");
  git("add", ".");
  git("commit", "-m", "one");
  const path = join(bough.cwd, "a.txt");
  writeFileSync(path, "second\n");
  bough.enter("One");
  await bough.see("One.");
  await bough.session.waitForIdle();
  const there = bough.manager.getLeafId()!;
  bough.enter("Two");
  await bough.see("Two.");
  await bough.session.waitForIdle();
  git("checkout", "a.txt");
  const moved = bough.session.navigateTree(there);
  await bough.see("Bring the files back as they were here?");
  bough.terminal.type(ENTER);
  await moved;
  await bough.see("The files are as they were.");
  assert.equal(readFileSync(path, "utf8"), "second\n");
});

test("[X1, X4, K3] own-compaction: the summary is the prompts, and no model was asked for it", async (t) => {
  const bough = await startProgram(t, {
    args: ["-e", example("own-compaction")],
    replies: [say("A".repeat(200_000)), say("Second answer"), say("Third answer")],
  });
  for (const prompt of ["Paint it red", "Paint it blue", "Paint it green"]) {
    await bough.session.prompt(prompt);
  }
  const { entry } = await bough.session.compact({});
  assert.match(entry?.summary ?? "", /^The user asked, one after the other:\n- Paint it red/);
  assert.equal(bough.server.requests.length, 3);
});

test("[X1, X4] other-summary: the model of the flag writes it, and its tokens count", async (t) => {
  const bough = await startProgram(t, {
    args: ["-e", example("other-summary"), "--summary-by", "endpoint/mock"],
    replies: [say("One."), say("Two."), say("Tried two.")],
  });
  await bough.session.prompt("First");
  const there = bough.manager.getLeafId()!;
  await bough.session.prompt("Second");
  const { summaryEntry } = await bough.session.navigateTree(there, { summarize: true });
  assert.deepEqual([summaryEntry?.summary.includes("Tried two."), summaryEntry?.fromExtension], [true, true]);
  assert.match(JSON.stringify(bough.server.requests.at(-1)?.body.messages), /Say in five lines/);
});
