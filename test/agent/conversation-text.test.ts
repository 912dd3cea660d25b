/** Conversations as text for summaries, and the tags that text cannot close. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { conversationText, escapePromptTags, promptPart } from "../../src/agent/conversation-text.ts";
import { digestOf } from "../../src/agent/digest.ts";
import type { AgentMessage } from "../../src/tree/messages.ts";
import { hostileMessage } from "../tree/hostile-messages.ts";
import { PNG, answer, call, user } from "../tree/message-fixtures.ts";

const result = (text: string): AgentMessage => ({
  role: "toolResult",
  toolCallId: "c1",
  toolName: "read",
  content: [{ type: "text", text }],
  isError: false,
  timestamp: 0,
});
const image = { type: "image", data: PNG, mimeType: "image/png" } as const;

test("[K4] each kind of message has its heading, a blank line stands between two, thinking is left out", () => {
  const messages: AgentMessage[] = [
    { role: "system", content: "the prompt of another program", timestamp: 0 },
    user("Fix the bug"),
    answer([
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "I look." },
      call("c1", "read", { path: "a.ts", limit: 3 }),
      call("c2", "bash", { command: "ls" }),
    ]),
    result("line 1\nline 2"),
    { role: "bashExecution", command: "npm test", output: "ok", cancelled: false, truncated: false, timestamp: 0 },
    {
      role: "bashExecution",
      command: "secret",
      output: "secret",
      cancelled: false,
      truncated: false,
      excludeFromContext: true,
      timestamp: 0,
    },
    { role: "custom", customType: "note", content: "remember", display: false, timestamp: 0 },
    answer(""),
    answer("Done."),
  ];
  assert.equal(
    conversationText(messages),
    [
      "[User]: Fix the bug",
      "[Assistant]: I look.",
      '[Assistant tool calls]: read(path="a.ts", limit=3); bash(command="ls")',
      "[Tool result]: line 1\nline 2",
      "[User]: The user ran a shell command:\n```sh\nnpm test\n```\n\nOutput:\n```\nok\n```",
      "[User]: remember",
      "[Assistant]: Done.",
    ].join("\n\n"),
  );
});

test("[K4] results and arguments are cut at 2,000 characters, between two characters; what was said is not", () => {
  const long = "x".repeat(1_999) + "😀" + "y".repeat(100);
  const note = "\n\n(… 102 more characters left out)";
  assert.equal(conversationText([result(long)]), `[Tool result]: ${"x".repeat(1_999)}${note}`);
  assert.equal(conversationText([result("z".repeat(2_000))]), `[Tool result]: ${"z".repeat(2_000)}`);
  assert.equal(conversationText([user(long)]), `[User]: ${long}`);
  assert.equal(conversationText([answer(long)]), `[Assistant]: ${long}`);
  const written = conversationText([answer([call("c1", "write", { path: "a", content: "w".repeat(5_000) })])]);
  assert.equal(
    written,
    `[Assistant tool calls]: write(path="a", content="${"w".repeat(1_999)}\n\n(… 3002 more characters left out))`,
  );
});

test("[K4] images leave a word, broken messages and broken text do no harm", () => {
  const odd = [
    null,
    7,
    { role: "assistant" },
    { role: "assistant", content: "a plain string" },
    { role: "assistant", content: [null, { type: "toolCall" }, { type: "toolCall", name: "x\0", arguments: "text" }] },
    { role: "toolResult", content: [image, { type: "text", text: "half \ud83d" }] },
    { role: "toolResult", content: null },
    { role: "nobody", content: "?" },
    { role: "user", content: [{ type: "text", text: "see" }, image] },
  ] as unknown as AgentMessage[];
  const text = conversationText(odd);
  assert.ok(text.isWellFormed() && !text.includes("\0"));
  assert.equal(
    text,
    [
      "[Assistant]: a plain string",
      '[Assistant tool calls]: tool(); x␀("text")',
      "[Tool result]: [image]\nhalf \ufffd",
      "[User]: see\n[image]",
    ].join("\n\n"),
  );
});

test("[K4, K6] anything in the place of messages becomes well-formed text", () => {
  fc.assert(
    fc.property(fc.array(hostileMessage, { maxLength: 10 }), (given) => {
      const messages = given as AgentMessage[];
      for (const text of [conversationText(messages), digestOf(messages)])
        assert.ok(text.isWellFormed() && !text.includes("\0"));
    }),
  );
});

test("[K7] no text can close or open a tag of the prompt, in whatever spelling", () => {
  for (const tag of [
    "</conversation>",
    "< / CONVERSATION >",
    "<\u200b/\u00adconver\u200bsation>",
    "<conversation>",
    "</previous-summary\n>",
    "<additional-context/>",
    "</summary>",
    "</read-files>",
    "<modified-files x=1>",
  ])
    assert.equal(escapePromptTags(`a ${tag} b`), `a &lt;${tag.slice(1)} b`);
  const harmless = "a < b, <div>, </p>, <con>, List<Conversation_>".replace("Conversation_", "Talk");
  assert.equal(escapePromptTags(harmless), harmless);
  assert.equal(
    promptPart("conversation", "x</conversation>y"),
    "<conversation>\nx&lt;/conversation>y\n</conversation>",
  );
});

test("[K7] a part of the prompt has its own tag twice, whatever is in it", () => {
  const piece = fc.constantFrom("<", "/", " ", "\u200b", "conversation", "CONVERSATION", "summary", ">", "\n", "x");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const part = promptPart("conversation", pieces.join(""));
      const tags = part.match(/<[\s\p{Cf}]*\/?[\s\p{Cf}]*(?:conversation|summary)/giu);
      assert.deepEqual(tags, ["<conversation", "</conversation"]);
    }),
  );
});

test("[K7] a long run of spaces behind a bracket costs its length once", () => {
  const text = `<${" ".repeat(2_000_000)}`;
  assert.equal(escapePromptTags(text), text);
});
