/** [C2] What each role of a session becomes in a request. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { convertToLlm, type AgentMessage, type RequestModel } from "../../src/tree/messages.ts";
import { assertValidRequest } from "../support/valid-request.ts";
import { answer, CLAUDE, hostile, PNG, TIME, user } from "./message-fixtures.ts";

const SYSTEM_TAKER: RequestModel = { ...CLAUDE, compat: { supportsMidConvoSystemMessages: true } };
const image = { type: "image" as const, data: PNG, mimeType: "image/png" };
const text = (text: string) => ({ type: "text" as const, text });
const custom = (content: unknown, role = "custom"): AgentMessage =>
  hostile({ role, customType: "todo", content, display: false, timestamp: TIME });

/** The request, checked, and what was changed for it. */
function request(messages: AgentMessage[], model?: RequestModel): { messages: unknown[]; repairs: string[] } {
  const repairs: string[] = [];
  const converted = convertToLlm(messages, {
    model,
    onRepair: ({ index, kind }) => void repairs.push(`${index} ${kind}`),
  });
  assertValidRequest(converted);
  return { messages: converted, repairs };
}
const sent = (...messages: AgentMessage[]): unknown[] => {
  const { messages: list, repairs } = request(messages);
  assert.deepEqual(repairs, []);
  return list;
};
const userText = (words: string) => ({ role: "user", content: [text(words)], timestamp: TIME });

describe("convertToLlm", () => {
  it("[C2] sound user messages, answers and results pass as the same objects", () => {
    const messages: AgentMessage[] = [
      user("hello"),
      user([text("look"), image]),
      answer([
        { type: "thinking", thinking: "hm", thinkingSignature: "sig" },
        text("I read it"),
        { type: "toolCall", id: "c1", name: "read", arguments: { path: "é😀" } },
      ]),
      {
        role: "toolResult",
        toolCallId: "c1",
        toolName: "read",
        content: [text("a"), image],
        isError: false,
        timestamp: TIME,
        details: { lines: 3 },
      },
      answer("done", { stopReason: "length" }),
    ];
    for (const model of [undefined, CLAUDE]) {
      const converted = convertToLlm(messages, { model });
      assert.equal(converted.length, messages.length);
      converted.forEach((message, index) => assert.equal(message, messages[index]));
    }
  });

  it("[C2] a branch summary becomes user text in a template", () => {
    assert.deepEqual(sent({ role: "branchSummary", summary: "Tried A.", fromId: "x", timestamp: TIME }), [
      userText(
        "The conversation was on another branch and came back to this point. What happened there:\n\n<summary>\nTried A.\n</summary>",
      ),
    ]);
  });

  it("[C2] a compaction summary becomes user text in a template", () => {
    assert.deepEqual(sent({ role: "compactionSummary", summary: "Goal: B.", tokensBefore: 9, timestamp: TIME }), [
      userText(
        "The earlier part of this conversation was replaced by a summary. Continue from what it says.\n\n<summary>\nGoal: B.\n</summary>",
      ),
    ]);
  });

  it("[C2] text in a summary cannot close or open the template's tag", () => {
    const summary = "a </summary> b < / SUMMARY > c <summary x> d </summaryx> e & <b>";
    const [message] = sent({ role: "compactionSummary", summary, tokensBefore: 0, timestamp: TIME }) as {
      content: { text: string }[];
    }[];
    assert.equal(
      message!.content[0]!.text.split("<summary>\n")[1],
      "a &lt;/summary> b &lt; / SUMMARY > c &lt;summary x> d </summaryx> e & <b>\n</summary>",
    );
  });

  it("[C2] an empty summary is left out and reported", () => {
    assert.deepEqual(request([{ role: "branchSummary", summary: " ", fromId: "x", timestamp: TIME }]), {
      messages: [],
      repairs: ["0 empty-message"],
    });
  });

  for (const role of ["custom", "hookMessage"]) {
    it(`[C2] a ${role} message is user text without a model, hidden or not, its images beside the text`, () => {
      assert.deepEqual(sent(custom("note", role)), [userText("note")]);
      assert.deepEqual(sent(custom([text("see"), image], role)), [
        { role: "user", content: [text("see"), image], timestamp: TIME },
      ]);
    });

    it(`[C2] a ${role} message is a system message where the model takes one in mid-conversation`, () => {
      const { messages, repairs } = request(
        [user("hi"), custom([text("see"), image], role), answer("ok")],
        SYSTEM_TAKER,
      );
      assert.deepEqual(repairs, []);
      assert.deepEqual(messages.slice(1, 3), [
        { role: "system", content: [text("see")], timestamp: TIME },
        { role: "user", content: [text("(images that belong to the message before)"), image], timestamp: TIME },
      ]);
    });
  }

  it("[C2] a custom message stays a user message where the model would have nothing to answer", () => {
    const roles = (...messages: AgentMessage[]) =>
      request(messages, SYSTEM_TAKER).messages.map((message) => (message as AgentMessage).role);
    assert.deepEqual(roles(custom("first")), ["user"]);
    assert.deepEqual(roles(user("hi"), answer("ok"), custom("go on"), custom("and this")), [
      "user",
      "assistant",
      "user",
      "system",
    ]);
  });

  it("[C2, F3] omp's developer message goes where a custom message goes", () => {
    const developer = hostile({ role: "developer", content: "be brief", attribution: "agent", timestamp: TIME });
    assert.deepEqual(sent(developer), [userText("be brief")]);
    assert.deepEqual(request([user("hi"), developer], SYSTEM_TAKER).messages[1], {
      role: "system",
      content: [text("be brief")],
      timestamp: TIME,
    });
  });

  it("[C2] a command of the user: command, fenced output, exit code, where the rest is", () => {
    const run = {
      role: "bashExecution" as const,
      command: "make `x`\nls",
      cancelled: false,
      truncated: false,
      timestamp: TIME,
    };
    assert.deepEqual(sent({ ...run, output: "a\n````\nb\n", exitCode: 2, truncated: true, fullOutputPath: "/t/out" }), [
      userText(
        "The user ran a shell command:\n```sh\nmake `x`\nls\n```\n\nOutput:\n`````\na\n````\nb\n`````\n\n(exit code 2)\n\n(output cut; all of it is in /t/out)",
      ),
    ]);
    assert.deepEqual(sent({ ...run, output: "", exitCode: 0 }), [
      userText("The user ran a shell command:\n```sh\nmake `x`\nls\n```\n\n(no output)"),
    ]);
    assert.deepEqual(sent({ ...run, output: "a", cancelled: true, truncated: true }), [
      userText(
        "The user ran a shell command:\n```sh\nmake `x`\nls\n```\n\nOutput:\n```\na\n```\n\n(cancelled by the user)\n\n(output cut)",
      ),
    ]);
  });

  it("[C2, F3] omp's Python executions and images of executions are sent, too", () => {
    const python = hostile({
      role: "pythonExecution",
      code: "1+1",
      output: "2",
      exitCode: 0,
      cancelled: false,
      timestamp: TIME,
    });
    assert.deepEqual(sent(python), [
      userText("The user ran Python code:\n```python\n1+1\n```\n\nOutput:\n```\n2\n```"),
    ]);
    const withImage = hostile({ ...python, role: "bashExecution", command: "plot", images: [image] });
    assert.deepEqual((sent(withImage)[0] as { content: unknown[] }).content[1], image);
  });

  it("[C2] an execution the user excluded is never sent, and that is no repair", () => {
    const run = { output: "secret", cancelled: false, truncated: false, excludeFromContext: true, timestamp: TIME };
    assert.deepEqual(
      sent({ role: "bashExecution", command: "env", ...run }, { role: "pythonExecution", code: "1", ...run }),
      [],
    );
  });

  it("[C2, F3] omp's named files: text in tags, images as images, neither can break out", () => {
    const mention = hostile({
      role: "fileMention",
      files: [
        { path: 'a"><x.md', content: "one </file> two", lineCount: 1 },
        { path: "p.png", image },
        { path: 7, content: "no path" },
      ],
      timestamp: TIME,
    });
    assert.deepEqual(request([mention]), {
      messages: [
        {
          role: "user",
          content: [
            text('<file path="a&quot;&gt;&lt;x.md">\none &lt;/file> two\n</file>\n\n<file path="p.png" />'),
            image,
          ],
          timestamp: TIME,
        },
      ],
      repairs: ["0 bad-block"],
    });
    assert.deepEqual(
      request([user("hi"), mention], SYSTEM_TAKER).messages.map((message) => (message as AgentMessage).role),
      ["user", "system", "user"],
    );
  });

  it("[C2, F3] pi's system messages pass with their sections and tools", () => {
    const tool = { name: "read", description: "reads", parameters: { type: "object", properties: {} } };
    const first: AgentMessage = {
      role: "system",
      content: "prompt",
      sections: { cwd: "/w", old: null },
      toolsAdded: [tool],
      timestamp: TIME,
    };
    const later: AgentMessage = { role: "system", content: "", toolsRemoved: [{ name: "read" }], timestamp: TIME };
    const list = sent(first, user("hi"), later);
    assert.equal(list[0], first);
    assert.equal(list[2], later);
  });

  it("[C2, C3] of a broken system message the sound parts are sent, and nothing if none is", () => {
    const tool = { name: "read", description: "reads", parameters: {} };
    const broken = hostile({
      role: "system",
      content: [text("a\0"), image],
      sections: ["x"],
      toolsAdded: [tool, { name: "no parameters" }, null],
      toolsRemoved: [{ name: 4 }],
      timestamp: "now",
    });
    assert.deepEqual(request([broken, hostile({ role: "system", content: " ", timestamp: 1 })]), {
      messages: [{ role: "system", content: [text("a␀")], toolsAdded: [tool], timestamp: 0 }],
      repairs: ["0 characters", "0 bad-block", "0 bad-field", "1 empty-message"],
    });
  });

  it("[C2] roles that nobody knows, and what is no message, are left out and reported", () => {
    const strange = [
      null,
      3,
      "x",
      [],
      {},
      { role: null },
      { role: "__proto__", content: "x" },
      { role: "future", content: "x" },
    ];
    assert.deepEqual(request(strange.map(hostile)), {
      messages: [],
      repairs: [
        "0 bad-message",
        "1 bad-message",
        "2 bad-message",
        "3 bad-message",
        "4 unknown-role",
        "5 unknown-role",
        "6 unknown-role",
        "7 unknown-role",
      ],
    });
  });

  it("[C2] every repair says in a sentence what was done, once per message and kind", () => {
    const told: unknown[] = [];
    convertToLlm([user("x"), user([text(""), text(" "), text("y")])], { onRepair: (repair) => void told.push(repair) });
    assert.deepEqual(told, [{ kind: "empty-text", index: 1, text: "Empty text was left out of a message." }]);
  });
});
