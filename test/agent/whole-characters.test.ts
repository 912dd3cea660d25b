/** A long text of characters that take two UTF-16 units, cut wherever bough cuts: never between the two. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { generateBranchSummary } from "../../src/agent/branch-summary.ts";
import { conversationText } from "../../src/agent/conversation-text.ts";
import { digestOf } from "../../src/agent/digest.ts";
import { tailOf } from "../../src/agent/output-limits.ts";
import { nameFromPrompt } from "../../src/agent/session-naming.ts";
import { readTool } from "../../src/agent/tools/read.ts";
import type { SessionMessageEntry } from "../../src/tree/entries.ts";
import { startOfText } from "../../src/tree/one-line.ts";
import { rowText } from "../../src/tree/row-text.ts";
import { describeToolCall } from "../../src/tree/tool-call-text.ts";
import type { AgentMessage } from "../../src/tree/messages.ts";
import { unmarkedLine } from "../../src/tree/unmarked-text.ts";
import { placeText } from "../../src/tui/place-text.ts";
import { argumentsText, bounded, collapseLines } from "../../src/tui/shown-text.ts";
import { terminalTitle } from "../../src/tui/terminal-title.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { registryFor } from "../support/agent-harness.ts";
import { say, startProvider } from "../support/provider-mock.ts";
import { assistant, temporaryFolder, user } from "../support/session-files.ts";

/** 10,000 characters, and the same behind one that takes one unit: each limit falls between two halves of one of them. */
const TEXTS = ["👍".repeat(10_000), `a${"👍".repeat(10_000)}`];

const messagesOf = (text: string): AgentMessage[] => [
  user(text),
  {
    ...assistant(text),
    content: [
      { type: "text", text },
      { type: "toolCall", id: "c", name: "bash", arguments: { command: text, path: text } },
    ],
    errorMessage: text,
    stopReason: "toolUse",
  },
  {
    role: "toolResult",
    toolCallId: "c",
    toolName: "bash",
    content: [{ type: "text", text }],
    isError: true,
    timestamp: 1,
  },
];

const broken = (texts: ReadonlyMap<string, string>): string[] =>
  [...texts].filter(([, text]) => text === "" || !text.isWellFormed() || text.includes("\ufffd")).map(([name]) => name);

test("[C3, K6, B5, U1] dB48 a text of emoji is cut between characters, in summaries, names, rows and results of tools", async (t) => {
  for (const text of TEXTS) {
    const messages = messagesOf(text);
    const entries = messages.map((message, n) => ({
      type: "message",
      id: `e${n}`,
      parentId: null,
      timestamp: "",
      message,
    }));
    const rows = entries.map((entry, n) =>
      rowText(entry as SessionMessageEntry, n, { home: undefined, findCall: () => undefined })
        .map((part) => part.text)
        .join(""),
    );
    const session = SessionManager.inMemory();
    session.appendMessage(user(text));
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "emoji.txt"), text);
    const { content } = await readTool(cwd).execute("r", { path: "emoji.txt" }, undefined);
    const made = new Map([
      ["conversation", conversationText(messages)],
      ["digest", digestOf(messages)],
      ["name", nameFromPrompt(text)],
      ["place", placeText(session.getIndex())],
      ["call", describeToolCall({ name: "bash", arguments: { command: text } }, undefined)],
      ["start", startOfText(text, 99)],
      ["start of the next", startOfText(text, 100)],
      ["start behind marks", unmarkedLine(`a\n${"```\n".repeat(240)}${text}`)],
      ["title", terminalTitle(text, "/w")],
      ["shown", bounded(text.repeat(11))],
      ["arguments", argumentsText({ text })],
      ["lines", collapseLines([text], 1, "head").lines.join()],
      ["tail", tailOf(text, 10, 1_000).text],
      ["tail of one byte more", tailOf(text, 10, 1_001).text],
      ["read", content.map((block) => (block.type === "text" ? block.text : "")).join("")],
      ...rows.map((row, n): [string, string] => [`row ${n}`, row]),
    ]);
    assert.deepEqual(broken(made), []);
    await session.close();
  }
  // A message that is longer than the window is cut for the model that summarises it.
  const server = await startProvider(say("A summary."));
  t.after(() => server.close());
  const endpoint = { baseUrl: server.baseUrl, model: "mock", contextWindow: 8_192 };
  const { registry, model } = await registryFor(endpoint);
  for (const [n, text] of TEXTS.entries()) {
    const { signal } = new AbortController();
    const entry: SessionMessageEntry = { type: "message", id: "e", parentId: null, timestamp: "", message: user(text) };
    const outcome = await generateBranchSummary([entry], { registry, model, signal });
    const sent = String(server.requests[n]!.body.messages[1]!.content);
    assert.deepEqual([outcome.kind, broken(new Map([["sent", sent]]))], ["summary", []]);
    assert.ok(sent.length < text.length);
  }
});
