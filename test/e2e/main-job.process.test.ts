/** The main job on the real program: a terminal, a provider over HTTP, files on disk; for each protocol. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { LLMock } from "@copilotkit/aimock";
import { canonicalPath, directoryKey } from "../../src/session/locations.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { textOf } from "../../src/tree/content.ts";
import type { SessionEntry } from "../../src/tree/entries.ts";
import { checkLaws } from "../support/laws.ts";
import { KEYS, Program, newFolder } from "../support/program.ts";
import { startAimock } from "../support/provider-mock.ts";

const PROTOCOLS: [api: string, path: string][] = [
  ["openai-completions", "/v1"],
  ["openai-responses", "/v1"],
  ["anthropic-messages", ""],
];

/** Answers the first prompt with a tool call and, after its result, with text; the edited prompt with other text. */
function teach(mock: LLMock): void {
  mock.on({ userMessage: /in French/ }, { content: "Le pélican WOMBAT-7 est arrivé." });
  mock.on(
    { userMessage: /notes/, hasToolResult: false },
    { toolCalls: [{ name: "read", arguments: { path: "notes.txt" }, id: "call_read_notes" }] },
  );
  mock.on({ userMessage: /notes/, hasToolResult: true }, { content: "The note says **PELICAN-42**." });
}

function sessionFiles(home: string, cwd: string): string[] {
  const folder = join(home, ".bough/sessions", directoryKey(canonicalPath(cwd)));
  return readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .map((name) => join(folder, name));
}

const outline = (entries: readonly SessionEntry[]): string[] =>
  entries.map((entry) => {
    if (entry.type !== "message") return entry.type;
    const { message } = entry;
    return `${message.role}: ${"content" in message ? textOf(message.content) : ""}`;
  });

for (const [api, path] of PROTOCOLS) {
  test(`[N1, L1, T8, B1, W1, U4] a prompt, a tool, a jump, two branches, -c, a label and /branch over ${api}`, async (t) => {
    const mock = await startAimock();
    t.after(() => mock.stop());
    teach(mock);
    const home = newFolder("home");
    const cwd = newFolder("work");
    writeFileSync(join(cwd, "notes.txt"), "PELICAN-42\n");
    const flags = ["--base-url", `${mock.url}${path}`, "--model", "mock", "--api-key", "k", "--api", api];
    const start = (...args: string[]): Program => {
      const program = new Program({ args: [...args, ...flags], cwd, home });
      t.after(() => program.stop());
      return program;
    };

    // A prompt, a tool call, an answer.
    const first = start();
    await first.waitFor("mock");
    first.send(`Read my notes${KEYS.enter}`);
    await first.answered("The note says PELICAN-42.");

    // Back to the first prompt, edited and sent: a second branch.
    first.send(`/tree${KEYS.enter}`);
    await first.waitFor("Session Tree");
    first.send("\u001b[H");
    await first.waitFor(/^› .*user: Read my notes/m);
    first.send(KEYS.enter);
    await first.waitFor("Summarise branch?");
    first.send(KEYS.enter);
    await first.waitFor((screen) => !screen.includes("Summarise branch?") && !screen.includes("PELICAN-42"));
    await first.waitFor("Read my notes");
    first.send(` in French${KEYS.enter}`);
    await first.answered("WOMBAT-7");
    first.send(`/quit${KEYS.enter}`);
    assert.equal((await first.exited).exitCode, 0);

    const [file] = sessionFiles(home, cwd) as [string];
    const saved = await SessionManager.open(file, { readOnly: true });
    await checkLaws(saved);
    assert.deepEqual(outline(saved.getBranch()).slice(-2), [
      "user: Read my notes in French",
      "assistant: Le pélican WOMBAT-7 est arrivé.",
    ]);
    const prompts = saved.getEntries().filter((entry) => entry.type === "message" && entry.message.role === "user");
    assert.deepEqual(outline(prompts), ["user: Read my notes", "user: Read my notes in French"]);
    assert.equal(prompts[0]?.parentId, prompts[1]?.parentId, "both hang below the same entry");
    assert.equal(statSync(file).mode & 0o777, 0o600);

    // Reopened where it was left; a label; the label found by search.
    const second = start("-c");
    await second.waitFor("WOMBAT-7");
    assert.ok(!second.everything().includes("PELICAN-42"), "the other branch is not shown");
    second.send(`/label keeper${KEYS.enter}`);
    await second.waitFor(/keeper/);
    second.send(`/tree${KEYS.enter}`);
    await second.waitFor("Session Tree");
    second.send("keeper");
    await second.waitFor(
      (screen) => /^› .*\[keeper\] assistant: Le pélican/m.test(screen) && !screen.includes("• user:"),
    );
    second.send(KEYS.escape);
    await second.waitFor("assistant: The note");
    second.send(KEYS.escape);
    await second.waitFor((screen) => !screen.includes("Session Tree"));

    // /branch from the prompt: a new file that names the old one, the prompt back in the editor.
    const before = readFileSync(file);
    second.send(`/branch${KEYS.enter}`);
    await second.waitFor("Message 1 of 1");
    second.send(KEYS.enter);
    await second.waitFor((screen) => screen.includes("Read my notes in French") && !screen.includes("WOMBAT-7"));
    second.send(`${KEYS.enter}`);
    await second.answered("WOMBAT-7");
    second.send(`/quit${KEYS.enter}`);
    assert.equal((await second.exited).exitCode, 0);
    const files = sessionFiles(home, cwd);
    assert.equal(files.length, 2);
    const branched = await SessionManager.open(files.find((name) => name !== file) as string, { readOnly: true });
    await checkLaws(branched);
    assert.equal(branched.getHeader().parentSession, file);
    assert.deepEqual(outline(branched.getBranch()).slice(-2), [
      "user: Read my notes in French",
      "assistant: Le pélican WOMBAT-7 est arrivé.",
    ]);
    assert.deepEqual(readFileSync(file).subarray(0, before.length), before, "the old file only ever grows");
  });
}
