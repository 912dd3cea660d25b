/** Rows of the chat: which messages they show, how they follow a stream, what is drawn again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { stripTerminalSequences } from "@earendil-works/pi-tui";
import type { AgentSessionEvent } from "../../src/agent/agent-session-events.ts";
import { ChatView } from "../../src/tui/chat-view.ts";
import type { ChatOptions } from "../../src/tui/row.ts";
import { NO_EXTENSIONS } from "../../src/tui/screen-extensions.ts";
import { setTheme, theme } from "../../src/tui/theme.ts";
import { builtInTheme } from "../../src/tui/themes.ts";
import type { AgentMessage } from "../../src/tree/messages.ts";

function chatView(changes: Partial<ChatOptions> = {}): ChatView {
  return new ChatView({ expanded: false, hideThinking: false, expandKey: "Ctrl+O", home: "/home/me", ...changes });
}

const plain = (chat: ChatView, width = 70): string[] =>
  chat
    .render(width)
    .map((line) => stripTerminalSequences(line).trimEnd())
    .filter((line) => line !== "");

const said = (content: object[], more: object = {}): AgentMessage =>
  ({
    role: "assistant",
    content,
    api: "x",
    provider: "p",
    model: "m",
    stopReason: "stop",
    timestamp: 0,
    ...more,
  }) as AgentMessage;
const text = (value: string): object => ({ type: "text", text: value });
const call = (id: string, name: string, args: unknown): object => ({ type: "toolCall", id, name, arguments: args });
const result = (id: string, output: string, more: object = {}): AgentMessage =>
  ({
    role: "toolResult",
    toolCallId: id,
    toolName: "t",
    content: [text(output)],
    isError: false,
    timestamp: 0,
    ...more,
  }) as AgentMessage;
const custom = (display: boolean): AgentMessage =>
  ({ role: "custom", customType: "note", content: "from **outside**", display, timestamp: 0 }) as AgentMessage;
const event = (value: object): AgentSessionEvent => value as AgentSessionEvent;

test("[U2] a custom message with display false is not shown", () => {
  const chat = chatView();
  chat.show([custom(false)]);
  assert.deepEqual(chat.render(60), []);
});

test("[U2] a custom message is a box in the three custom colours, its type as the label", () => {
  setTheme(builtInTheme("dark", "truecolor"));
  const chat = chatView();
  chat.show([custom(true)]);
  const pad = (line: string, used: number): string => line + " ".repeat(30 - used);
  assert.deepEqual(
    chat.render(30).map((line) => line.replaceAll("\x1b[0m", "")),
    [
      "",
      theme.bg("customMessageBg", pad("", 0)),
      theme.bg("customMessageBg", pad(` ${theme.fg("customMessageLabel", theme.bold("[note]"))}`, 7)),
      theme.bg("customMessageBg", pad("", 0)),
      theme.bg(
        "customMessageBg",
        ` ${theme.fg("customMessageText", "from ")}\x1b[1m${theme.getFgAnsi("customMessageText")}outside\x1b[22m${" ".repeat(17)}`,
      ),
      theme.bg("customMessageBg", pad("", 0)),
    ],
  );
});

test("[U4] a path as it stands in a session: every kind of row in its order", () => {
  const chat = chatView();
  chat.show([
    { role: "compactionSummary", summary: "long ago", tokensBefore: 12345, timestamp: 0 },
    { role: "user", content: "Read it", timestamp: 0 },
    said(
      [
        { type: "thinking", thinking: "hm" },
        text("I will."),
        call("c1", "read", { path: "/home/me/a.ts", offset: 3, limit: 2 }),
      ],
      { stopReason: "toolUse" },
    ),
    result("c1", "three\nfour"),
    said([call("c2", "bash", { command: "false" })], { stopReason: "toolUse" }),
    result("c2", "it failed", { isError: true }),
    {
      role: "bashExecution",
      command: "ls",
      output: "a\nb\n",
      exitCode: 0,
      cancelled: false,
      truncated: false,
      timestamp: 0,
    },
    { role: "branchSummary", summary: "another way", fromId: "x", timestamp: 0 },
    said([text("Half")], { stopReason: "length" }),
    said([], { stopReason: "error", errorMessage: "no credit" }),
  ]);
  assert.deepEqual(plain(chat), [
    " [compaction]",
    " Compacted from 12,345 tokens (Ctrl+O to expand)",
    " › Read it",
    " hm",
    " I will.",
    " read ~/a.ts:3-4",
    " three",
    " four",
    " $ false",
    " it failed",
    " $ ls",
    " a",
    " b",
    " [branch]",
    " Branch summary (Ctrl+O to expand)",
    " Half",
    " The answer is cut off: the model's output limit was reached.",
    " Error: no credit",
  ]);
  chat.setExpanded(true);
  const expanded = plain(chat);
  assert.deepEqual(expanded.slice(0, 3), [" [compaction]", " Compacted from 12,345 tokens", " long ago"]);
  chat.hideThinking = true;
  assert.deepEqual(plain(chat).slice(4, 6), [" Thinking…", " I will."]);
});

test("[C3, U4] a call without a result and a result without a call are marked, not left out", () => {
  const chat = chatView();
  chat.show([
    said([call("lost", "bash", { command: "make" })], { stopReason: "toolUse" }),
    { role: "user", content: "Go on", timestamp: 0 },
    result("stray", "found"),
  ]);
  assert.deepEqual(plain(chat), [" $ make", " No result: the call was interrupted.", " › Go on", " t", " found"]);
});

test("[U4] the same call id on two turns gives two rows, each with its own result", () => {
  const chat = chatView();
  chat.show([
    said([call("c1", "ls", { path: "a" })]),
    result("c1", "one"),
    said([call("c1", "ls", { path: "b" })]),
    result("c1", "two"),
  ]);
  assert.deepEqual(plain(chat), [" ls a", " one", " ls b", " two"]);
});

test("[U4] a streamed turn: the answer grows, the call's row appears with it and takes partial and final output", () => {
  const chat = chatView();
  const states: string[][] = [];
  const after = (value: object): void => {
    chat.apply(event(value));
    states.push(plain(chat));
  };
  const answer = (value: string, ...calls: object[]): AgentMessage => said([text(value), ...calls]);
  const list = call("c1", "ls", { path: "src" });
  after({ type: "message_start", message: answer("") });
  after({ type: "message_update", message: answer("Let me"), assistantMessageEvent: { contentIndex: 0 } });
  after({
    type: "message_update",
    message: answer("Let me look", call("c1", "ls", {})),
    assistantMessageEvent: { contentIndex: 1 },
  });
  after({ type: "message_end", message: answer("Let me look.", list) });
  after({ type: "tool_execution_start", toolCallId: "c1", toolName: "ls", args: { path: "src" } });
  after({
    type: "tool_execution_update",
    toolCallId: "c1",
    toolName: "ls",
    args: {},
    partialResult: { content: [text("a")] },
  });
  after({ type: "message_end", message: result("c1", "a\nb") });
  assert.deepEqual(states, [
    [],
    [" Let me"],
    [" Let me look", " ls ."],
    [" Let me look.", " ls src"],
    [" Let me look.", " ls src"],
    [" Let me look.", " ls src", " a"],
    [" Let me look.", " ls src", " a", " b"],
  ]);
});

test("[U4] of a long conversation the newest 100 messages are drawn, and how many are not", () => {
  const chat = chatView();
  chat.show(Array.from({ length: 1000 }, (_, n) => ({ role: "user", content: `prompt ${n}`, timestamp: 0 })));
  const lines = plain(chat);
  assert.deepEqual(lines.slice(0, 2), [" … 900 earlier messages; /tree shows them.", " › prompt 900"]);
  assert.equal(lines.length, 101);
});

test("[U4] while one answer streams, no other row is built again; a changed option builds each once", () => {
  const drawn = { built: 0 };
  const chat = chatView({
    extensions: {
      ...NO_EXTENSIONS,
      messageRenderer: () => {
        drawn.built++;
        return undefined;
      },
    },
  });
  chat.show(Array.from({ length: 50 }, () => custom(true)));
  chat.apply(event({ type: "message_start", message: said([]) }));
  for (let n = 0; n < 10; n++) {
    const message = said([text("word ".repeat(n + 1))]);
    chat.apply(event({ type: "message_update", message, assistantMessageEvent: { contentIndex: 0 } }));
    chat.render(60);
  }
  assert.equal(drawn.built, 50);
  chat.setExpanded(true);
  chat.render(60);
  assert.equal(drawn.built, 100);
});

test("[U4] a call that streams in costs the same behind a thousand others as behind ten", () => {
  const looks = (calls: number): number => {
    const chat = chatView();
    const content: object[] = [];
    let count = 0;
    chat.apply(event({ type: "message_start", message: said([]) }));
    for (let n = 0; n < calls; n++) {
      const block = call(`c${n}`, "ls", {});
      content.push({
        ...block,
        get type() {
          count++;
          return "toolCall";
        },
      });
      const assistantMessageEvent = { type: "toolcall_delta", contentIndex: n };
      for (let part = 0; part < 5; part++)
        chat.apply(event({ type: "message_update", message: said([...content]), assistantMessageEvent }));
    }
    assert.equal(plain(chat).length, calls);
    return count;
  };
  const [few, many] = [looks(10), looks(1000)];
  assert.ok(many <= few * 101, `${few} looks at 10 calls, ${many} at 1000`);
});

test("[U4] an edit is shown as the change it makes", () => {
  const chat = chatView();
  const lines = (args: object, details?: object): string[] => {
    chat.show([said([call("e", "edit", args)]), result("e", "ok", { details })]);
    return plain(chat);
  };
  assert.deepEqual(lines({ path: "a.ts", oldText: "one\ntwo\nthree", newText: "one\n2\nthree" }), [
    " edit a.ts",
    "  one",
    " -two",
    " +2",
    "  three",
  ]);
  assert.deepEqual(lines({ path: "a.ts", edits: [{ oldText: "x", newText: "y" }] }), [" edit a.ts", " -x", " +y"]);
  assert.deepEqual(lines({ path: "a.ts" }, { diff: " 1 same\n-2 old\n+2 new" }), [
    " edit a.ts",
    "  1 same",
    " -2 old",
    " +2 new",
  ]);
});

test("[U4] dB41 an answer without a word says so once it has ended; one that only thinks or calls tools does not", () => {
  const chat = chatView();
  chat.apply(event({ type: "message_start", message: said([]) }));
  assert.deepEqual(plain(chat), []);
  chat.apply(event({ type: "message_end", message: said([]) }));
  assert.deepEqual(plain(chat), [" The model gave an empty answer."]);
  chat.show([said([text(" \n")]), said([{ type: "thinking", thinking: "hm" }]), said([call("c1", "ls", {})])]);
  assert.deepEqual(plain(chat), [
    " The model gave an empty answer.",
    " hm",
    " ls .",
    " No result: the call was interrupted.",
  ]);
});

test("[U4] attempts that failed one after the other are one row, also when a session is opened; what said something stays", () => {
  const failed = (errorMessage: string, content: object[] = []): AgentMessage =>
    said(content, { stopReason: "error", errorMessage });
  const messages = [failed("a"), failed("a"), failed("b"), failed("c", [text("Half")]), failed("d"), failed("d")];
  const expected = [" Error: b (3 times)", " Half", " Error: c", " Error: d (2 times)"];
  const opened = chatView();
  opened.show(messages);
  assert.deepEqual(plain(opened), expected);
  const live = chatView();
  for (const message of messages) {
    live.apply({ type: "message_start", message: said([]) } as AgentSessionEvent);
    live.apply({ type: "message_end", message } as AgentSessionEvent);
  }
  assert.deepEqual(plain(live), expected);
  live.apply({ type: "message_end", message: said([text("At last")]) } as AgentSessionEvent);
  assert.deepEqual(plain(live), [...expected, " At last"]);
  assert.equal(live.lastAnswer, "At last");
});

test("[U4] the same notice again is counted, another one or a row between is a new one", () => {
  const chat = chatView();
  chat.addNotice("error", "no");
  assert.deepEqual(plain(chat), [" Error: no"]);
  chat.addNotice("error", "no");
  chat.addNotice("error", "no");
  chat.addNotice("warning", "no");
  chat.addMessage({ role: "user", content: "Hi", timestamp: 0 } as AgentMessage);
  chat.addNotice("warning", "no");
  assert.deepEqual(plain(chat), [" Error: no (3 times)", " Warning: no", " › Hi", " Warning: no"]);
});

test("[U5, U4] dB42 dB49 calls without usable arguments and with NUL in their names are shown, and their results", () => {
  const shown = [null, undefined, "text", [], 7, { path: null }].map((args, n) => {
    const chat = chatView();
    chat.show([said([call(`c${n}`, "read", args)]), result(`c${n}`, "a\0b")]);
    return plain(chat, 60);
  });
  assert.deepEqual(
    shown,
    shown.map(() => [" read …", " ab"]),
  );
  const chat = chatView();
  chat.show([said([call("c", "apply\0\0", { x: "\0" })]), result("c", "\0")]);
  assert.deepEqual(plain(chat, 60), [' apply {"x":"\\u0000"}']);
});
