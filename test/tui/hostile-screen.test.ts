/** Stored text cannot drive the terminal, wherever it is stored, and no width makes the screen fail. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { visibleWidth } from "@earendil-works/pi-tui";
import { temporaryFolder } from "../support/session-files.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { ChatView, type ChatViewOptions } from "../../src/tui/chat-view.ts";
import { setTheme } from "../../src/tui/theme.ts";
import { builtInTheme } from "../../src/tui/themes.ts";
import type { AgentMessage } from "../../src/tree/messages.ts";
import { DANGEROUS, HOSTILE_TEXTS, withoutRendering } from "./hostile-texts.ts";
import { startInteractive } from "./interactive-harness.ts";

const ALL = HOSTILE_TEXTS.map(([, text]) => text).join(" ");
const WIDE = "日本語の長い文章 👩‍👩‍👧‍👦🇯🇵 ｶﾀｶﾅ éà 한국어 العربية";

const options = (): ChatViewOptions => ({
  expanded: true,
  hideThinking: false,
  expandKey: "Ctrl+O",
  home: "/home/user",
});

/** One message of every role with `text` in every field that is text. */
function messagesWith(text: string): AgentMessage[] {
  const usage = {
    input: 1,
    output: 1,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 2,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  };
  const call = (id: string, name: string, args: object): object => ({ type: "toolCall", id, name, arguments: args });
  const calls = [
    call("1", "read", { path: text, offset: 1, limit: 2 }),
    call("2", "bash", { command: text }),
    call("3", "edit", { path: text, oldText: text, newText: `${text}!` }),
    call("4", "write", { path: `${text}.ts`, content: text }),
    call("5", "grep", { pattern: text, path: text }),
    call("6", "find", { pattern: text }),
    call("7", "ls", { path: text }),
    call("8", text, { [text]: text }),
    call("9", "edit", { edits: [{ oldText: text, newText: "" }, null, 3] }),
  ];
  const result = (id: string, isError = false): object => ({
    role: "toolResult",
    toolCallId: id,
    toolName: text,
    content: [
      { type: "text", text },
      { type: "image", mimeType: text, data: "AAAA" },
    ],
    details: id === "3" ? { diff: `-${text}\n+${text}x` } : { [text]: text },
    isError,
    timestamp: 0,
  });
  const markdown = `# ${text}\n\n- ${text}\n\n> ${text}\n\n\`\`\`ts\nconst a = "${text}";\n\`\`\`\n\n| a |\n|---|\n| ${text} |\n\n[${text}](https://a.example/${text} "${text}") <b>${text}</b> \`${text}\``;
  return [
    { role: "user", content: text, timestamp: 0 },
    {
      role: "user",
      content: [
        { type: "text", text },
        { type: "image", mimeType: text, data: "AAAA" },
      ],
      timestamp: 0,
    },
    {
      role: "assistant",
      content: [{ type: "thinking", thinking: markdown }, { type: "text", text: markdown }, ...calls],
      api: text,
      provider: text,
      model: text,
      usage,
      stopReason: "error",
      errorMessage: text,
      timestamp: 0,
    },
    ...["1", "2", "3", "4", "5", "6", "7", "8"].map((id) => result(id)),
    result("9", true),
    result(text),
    {
      role: "bashExecution",
      command: text,
      output: text,
      exitCode: 1,
      cancelled: false,
      truncated: true,
      fullOutputPath: text,
      timestamp: 0,
    },
    { role: "pythonExecution", code: text, output: text, cancelled: true, timestamp: 0 },
    { role: "custom", customType: text, content: markdown, display: true, timestamp: 0 },
    { role: "hookMessage", customType: text, content: [{ type: "text", text }], display: true, timestamp: 0 },
    { role: "branchSummary", summary: markdown, fromId: text, timestamp: 0 },
    { role: "compactionSummary", summary: markdown, tokensBefore: 1234, timestamp: 0 },
    { role: "developer", content: text, timestamp: 0 },
    { role: "fileMention", files: [{ path: text, content: text }], timestamp: 0 },
    { role: "system", content: text, timestamp: 0 },
    { role: text, content: text, timestamp: 0 },
  ] as AgentMessage[];
}

function rendered(messages: AgentMessage[], width: number, chat = new ChatView(options())): readonly string[] {
  chat.show(messages);
  chat.addNotice("error", ALL);
  chat.setStatus(ALL);
  return chat.render(width);
}

test("[U5] dB67 no hostile text in any field of any message leaves the chat alive", () => {
  setTheme(builtInTheme("dark", "truecolor"));
  for (const [what, text] of [...HOSTILE_TEXTS, ["all of them", ALL] as const])
    for (const line of rendered(messagesWith(text), 80))
      assert.doesNotMatch(withoutRendering(line), DANGEROUS, `${what}: ${JSON.stringify(line)}`);
});

test("[U5] dB68 no line of the chat is wider than the terminal, from 1 column to 80", () => {
  setTheme(builtInTheme("dark", "truecolor"));
  const messages = messagesWith(`${WIDE} ${"word ".repeat(20)} ${ALL.slice(0, 100)}`);
  const chat = new ChatView(options());
  for (const width of [...Array.from({ length: 30 }, (_, n) => n + 1), 40, 56, 79, 80])
    for (const line of rendered(messages, width, chat))
      assert.ok(visibleWidth(line) <= width, `${visibleWidth(line)} > ${width}: ${JSON.stringify(line)}`);
});

test("[U5] malformed messages are drawn, none throws", () => {
  const shapes = [
    undefined,
    null,
    7,
    true,
    "text",
    [],
    {},
    [null],
    [7],
    [{}],
    [{ type: "text" }],
    [{ type: "text", text: 7 }],
  ];
  const roles = [
    "user",
    "assistant",
    "toolResult",
    "bashExecution",
    "pythonExecution",
    "custom",
    "branchSummary",
    "compactionSummary",
    "developer",
    "fileMention",
    "system",
    "unheard-of",
  ];
  const messages = roles.flatMap((role) =>
    shapes.map((shape) => ({
      role,
      content: shape,
      summary: shape,
      command: shape,
      output: shape,
      files: shape,
      customType: shape,
      toolName: shape,
      toolCallId: shape,
      code: shape,
      errorMessage: shape,
      stopReason: "error",
    })),
  );
  const calls = shapes.flatMap((args) =>
    ["read", "bash", "edit", "write", "grep", "find", "ls", "other"].map((name, n) => ({
      type: "toolCall",
      id: `${n} ${JSON.stringify(args)}`,
      name,
      arguments: args,
    })),
  );
  const all = [...messages, { role: "assistant", content: calls }] as unknown as AgentMessage[];
  for (const width of [1, 40]) assert.ok(rendered(all, width).length > 0);
});

/** A session file whose names, labels, texts and folder are hostile. */
function hostileSession(text: string): { path: string; cwd: string } {
  const dir = temporaryFolder();
  const cwd = join(dir, "a\x1b]0;owned\x07b\x9b2Jc");
  mkdirSync(cwd);
  mkdirSync(join(cwd, ".git"));
  writeFileSync(join(cwd, ".git", "HEAD"), `ref: refs/heads/${text.replaceAll("\n", " ").slice(0, 900)}\n`);
  let parentId: string | null = null;
  let count = 0;
  const lines: object[] = [{ type: "session", version: 3, id: "s1", timestamp: "2026-01-01T00:00:00Z", cwd }];
  const add = (fields: object): void => {
    const id = `e${++count}`;
    lines.push({ ...fields, id, parentId, timestamp: "2026-01-01T00:00:00Z" });
    parentId = id;
  };
  for (const message of messagesWith(text))
    if (!/Summary|custom|hook|system/.test(message.role)) add({ type: "message", message });
  add({ type: "custom_message", customType: text, content: text, display: true });
  add({ type: "label", targetId: "e1", label: text });
  add({ type: "session_info", name: text, source: "user" });
  add({ type: "branch_summary", fromId: "e1", summary: text });
  const path = join(dir, "hostile.jsonl");
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return { path, cwd };
}

test("[U5] dB67 a hostile session: screen, footer, title, tree and lists write only the renderer's own sequences", async (t) => {
  const { path } = hostileSession(ALL);
  const manager = await SessionManager.open(path);
  const { terminal, see } = await startInteractive(t, {
    manager,
    rows: 60,
    mode: { env: { TERM: "xterm-256color", COLORTERM: "truecolor" }, notices: [ALL] },
  });
  await see("(endpoint) mock");
  terminal.type("\x03");
  for (const [command, shown] of [
    ["/tree", "Session Tree"],
    ["/branch", "Message 1 of"],
    ["/session", "Tokens out"],
    ["/name", "The session's name is"],
  ] as const) {
    terminal.type(...command, "\r");
    await see(shown);
    terminal.type("\x1b");
  }
  assert.doesNotMatch(withoutRendering(terminal.output).replaceAll("\n", ""), DANGEROUS);
  assert.doesNotMatch(terminal.title, DANGEROUS);
  assert.doesNotMatch(terminal.title, /\n/);
});

test("[U5] dB68 a session of wide and hostile text is drawn in every width from 80 columns to 1", async (t) => {
  const { path } = hostileSession(`${WIDE} ${ALL}`);
  const manager = await SessionManager.open(path);
  const { terminal, see, session } = await startInteractive(t, { manager });
  await see("(endpoint) mock");
  terminal.type(..."日本", "@");
  for (const width of [60, 40, 30, 22, 20, 16, 12, 11, 10, 8, 6, 5, 4, 3, 2, 1]) {
    terminal.resize(width, 30);
    session.steer("待つ");
    // A frame every 16 ms at most.
    await sleep(20);
  }
  terminal.resize(80, 30);
  // An exception while drawing would have failed the test, and nothing would be drawn any more.
  await see("日本@");
});
