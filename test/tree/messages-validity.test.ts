/** [C3] The request is valid whatever the session holds, and each change for that is reported. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { cutText } from "../../src/tree/content.ts";
import { convertToLlm, type AgentMessage, type RequestModel } from "../../src/tree/messages.ts";
import { assertValidRequest } from "../support/valid-request.ts";
import { answer, call, CLAUDE, GPT, hostile, interrupted, PNG, result, TIME, user } from "./message-fixtures.ts";

const text = (text: string) => ({ type: "text" as const, text });

/** The request, checked, what was changed for it, and that the messages given are as they were. */
function request(messages: unknown[], model?: RequestModel): { messages: unknown[]; repairs: string[] } {
  const before = structuredClone(messages);
  const repairs: string[] = [];
  const converted = convertToLlm(messages as AgentMessage[], {
    model,
    onRepair: ({ index, kind }) => void repairs.push(`${index} ${kind}`),
  });
  assertValidRequest(converted);
  assert.deepEqual(messages, before);
  return { messages: converted, repairs };
}
const answerWith = (block: unknown, fields = {}): unknown => answer([text("x"), block], fields);
const sentBlock = (block: unknown, model?: RequestModel, fields = {}): unknown =>
  (request([user("q"), answerWith(block, fields)], model).messages[1] as { content: unknown[] }).content[1];

describe("calls and results", () => {
  it("[C3] dB40 an unanswered call gets 'interrupted, no result', and nothing is dropped", () => {
    const messages = [user("a"), answer([call("c1"), call("c2")]), result("c2"), user("b")];
    assert.deepEqual(request(messages), {
      messages: [messages[0], messages[1], interrupted("c1"), result("c2"), user("b")],
      repairs: ["1 missing-result"],
    });
    assert.deepEqual(request(messages.slice(0, 2)).messages.slice(2), [interrupted("c1"), interrupted("c2")]);
  });

  it("[C3] dB38 a pair stays adjacent whatever came between, in the order of the calls", () => {
    const summary = { role: "compactionSummary", summary: "S", tokensBefore: 1, timestamp: TIME };
    const note = { role: "custom", customType: "x", content: "note", display: true, timestamp: TIME };
    const turn = answer([call("c1"), text("and"), call("c2")]);
    const { messages, repairs } = request([
      user("a"),
      turn,
      summary,
      result("c2", "two"),
      note,
      user("b"),
      result("c1", "one"),
      answer("z"),
    ]);
    assert.deepEqual(
      messages.map((message) => (message as AgentMessage).role),
      ["user", "assistant", "toolResult", "toolResult", "user", "user", "user", "assistant"],
    );
    assert.deepEqual(messages.slice(2, 4), [result("c1", "one"), result("c2", "two")]);
    assert.deepEqual(repairs, ["3 late-result", "6 late-result"]);
  });

  it("[C3] a result that comes after the next answer still goes to its own call", () => {
    const first = answer([call("c1")]);
    assert.deepEqual(request([user("a"), first, user("b"), answer("c"), result("c1")]), {
      messages: [user("a"), first, result("c1"), user("b"), answer("c")],
      repairs: ["4 late-result"],
    });
  });

  it("[C3] a result without its call is left out", () => {
    assert.deepEqual(request([result("c0"), user("a"), result("c1"), { ...result("c2"), toolCallId: undefined }]), {
      messages: [user("a")],
      repairs: ["0 orphan-result", "2 orphan-result", "3 orphan-result"],
    });
  });

  it("[C3] of two results for one call the first is sent", () => {
    const turn = answer([call("c1")]);
    assert.deepEqual(request([user("a"), turn, result("c1", "one"), result("c1", "two")]), {
      messages: [user("a"), turn, result("c1", "one")],
      repairs: ["3 duplicate-result"],
    });
  });

  it("[C3] call ids used again get ids of their own, and each result follows its call", () => {
    const turn = (id: string) => answer([call(id), call(id)]);
    const { messages, repairs } = request([
      user("a"),
      turn("call_0"),
      result("call_0", "one"),
      result("call_0", "two"),
      turn("call_0"),
      result("call_0", "three"),
      answer([call("call_0-2")]),
    ]);
    assert.deepEqual(
      messages.flatMap((message) => {
        const { role, content, toolCallId } = message as {
          role: string;
          content: { id: string; text: string }[];
          toolCallId: string;
        };
        return role === "user"
          ? []
          : [role === "assistant" ? content.map(({ id }) => id).join() : `${toolCallId}=${content[0]!.text}`];
      }),
      [
        "call_0,call_0-2",
        "call_0=one",
        "call_0-2=two",
        "call_0-3,call_0-4",
        "call_0-3=three",
        "call_0-4=interrupted, no result",
        "call_0-2-2",
        "call_0-2-2=interrupted, no result",
      ],
    );
    assert.deepEqual(repairs, ["1 call-id", "4 call-id", "6 call-id", "4 missing-result", "6 missing-result"]);
  });

  it("[C3] ids that share what OpenAI pairs by are told apart", () => {
    const { messages } = request([user("a"), answer([call("c|fc_1"), call("c|fc_2")])]);
    assert.deepEqual(
      (messages[1] as { content: { id: string }[] }).content.map(({ id }) => id),
      ["c|fc_1", "c_fc_2"],
    );
  });

  it("[C3] ids another provider made are sent in a form the model takes, the same for call and result", () => {
    const long = `call_${"x".repeat(60)}|fc_${"y".repeat(400)}`;
    const turn = answer([call(long), call("a b")], { api: GPT.api, provider: GPT.provider, model: GPT.id });
    const { messages } = request([user("a"), turn, result(long), result("a b")], CLAUDE);
    const short = `call_${"x".repeat(35)}`;
    assert.deepEqual(messages.slice(2), [result(short), result("a_b")]);
    assert.deepEqual(request([user("a"), turn, result(long), result("a b")], GPT).messages[2], result(long));
  });

  it("[C3] ids of no use at all (missing, empty, a bar, a number) still make pairs", () => {
    const ids = [undefined, "", "|x", 7, "\0", "__proto__"];
    const { messages } = request([
      user("a"),
      answer(ids.map((id) => ({ ...call(""), id }))),
      result("__proto__", "mine"),
      result(""),
    ]);
    assert.deepEqual(
      (messages[1] as { content: { id: string }[] }).content.map(({ id }) => id),
      ["call", "call-2", "_x", "call-3", "call-4", "__proto__"],
    );
    assert.deepEqual(messages.at(-1), result("__proto__", "mine"));
  });

  it("[C3] thousands of equal ids, and of ids that look like replacements, cost one step each", () => {
    const count = 20_000;
    const turns = Array.from({ length: count }, (_, n) => answer([call("call_0"), call(`call_0-${n}`)]));
    const { messages } = request([user("a"), ...turns]);
    assert.equal(messages.length, 1 + 3 * count);
  });

  it("[C3] one answer with thousands of calls, their results in any order, costs one step each", () => {
    const ids = Array.from({ length: 50_000 }, (_, n) => `c${n}`);
    const turn = answer(ids.map((id) => call(id)));
    const { messages } = request([user("a"), turn, ...ids.toReversed().map((id) => result(id, id))]);
    assert.deepEqual(
      messages.slice(2),
      ids.map((id) => result(id, id)),
    );
  });

  it("[C3] a result is sent under the name and id of its call", () => {
    const { messages } = request([
      user("a"),
      answer([call("c1", "read")]),
      { ...result("c1"), toolName: "write", isError: "yes" },
    ]);
    assert.deepEqual(messages[2], result("c1"));
  });

  it("[C3] a result without anything in it says so", () => {
    const turn = answer([call("c1"), call("c2"), call("c3")]);
    const { messages, repairs } = request([
      user("a"),
      turn,
      { ...result("c1"), content: [] },
      { ...result("c2"), content: null },
      { ...result("c3"), content: "as text" },
    ]);
    assert.deepEqual(messages.slice(2), [
      result("c1", "(no output)"),
      result("c2", "(no output)"),
      result("c3", "as text"),
    ]);
    assert.deepEqual(repairs, ["2 empty-text", "3 empty-text"]);
  });
});

describe("turns that are not sent", () => {
  it("[C3] dB41 empty, errored and aborted answers are left out together with their results", () => {
    const failed = Array.from({ length: 5 }, () => answer([], { stopReason: "error", errorMessage: "overloaded" }));
    const stopped = answer([text("I will"), call("c1")], { stopReason: "aborted" });
    assert.deepEqual(
      request([user("a"), ...failed, user("b"), stopped, result("c1"), user("c"), answer([]), answer(" ")]),
      {
        messages: [user("a"), user("b"), user("c")],
        repairs: [
          ...[1, 2, 3, 4, 5].map((index) => `${index} failed-turn`),
          "7 failed-turn",
          "8 orphan-result",
          "10 empty-turn",
          "11 empty-text",
          "11 empty-turn",
        ],
      },
    );
  });

  it("[C3] an answer that reached its length limit is sent", () => {
    const cut = answer("as far as it goes", { stopReason: "length" });
    assert.equal(request([user("a"), cut]).messages[1], cut);
  });

  it("[C3] a stop reason nobody knows does not stop a whole answer", () => {
    const strange = hostile({ ...answer([text("x"), call("c1")]), stopReason: { odd: 1 } });
    assert.deepEqual(request([user("a"), strange]).messages[1], answer([text("x"), call("c1")]));
  });

  it("[C3] an answer without any user message before it gets a note in front", () => {
    const { messages, repairs } = request([answer("hello"), answer("again")]);
    assert.deepEqual(messages[0], {
      role: "user",
      content: "(The messages before this answer are not part of the conversation any more.)",
      timestamp: TIME,
    });
    assert.deepEqual([messages.length, repairs], [3, ["0 first-answer"]]);
  });

  it("[C3] empty user messages and empty text are left out", () => {
    const empty = ["", " \n", [], [text("")], null, undefined, 5].map((content) => ({ ...user(""), content }));
    const { messages } = request([
      ...empty,
      { ...user(""), content: [text(""), text("x"), { type: "text" }, null, { type: "audio" }] },
    ]);
    assert.deepEqual(messages, [user([text("x")])]);
  });
});

describe("strings", () => {
  it("[C3] dB48 half a surrogate pair becomes U+FFFD in every string that is sent", () => {
    const half = "x\ud83d";
    const { messages, repairs } = request([
      user(half),
      answer([text(half), call("c1", "read", { [half]: [half, { a: half }] })]),
      result("c1", half),
      { role: "bashExecution", command: half, output: half, cancelled: false, truncated: false, timestamp: TIME },
    ]);
    assert.deepEqual(messages.slice(0, 3), [
      user([text("x\ufffd")]),
      answer([text("x\ufffd"), call("c1", "read", { "x\ufffd": ["x\ufffd", { a: "x\ufffd" }] })]),
      result("c1", "x\ufffd"),
    ]);
    assert.deepEqual(repairs, ["0 characters", "1 characters", "2 characters", "3 characters"]);
  });

  it("[C3] dB48 cuts fall on whole characters at every length", () => {
    const emoji = "😀é".repeat(2_500);
    for (let length = 0; length <= 40; length++) {
      const cut = cutText(emoji, length);
      assert.equal(cut.isWellFormed(), true);
      assert.equal(emoji.startsWith(cut), true);
      assert.ok(cut.length === length || cut.length === length - 1);
    }
    assert.equal(cutText("abc", 3), "abc");
    assert.equal(cutText("\ud83dx", 1), "\ud83d");
  });

  it("[C3] dB49 NUL in tool output and in a tool name", () => {
    const { messages, repairs } = request([
      user("a"),
      answer([call("c1", "apply\0\0")]),
      { ...result("c1", "a\0b"), toolName: "apply\0\0" },
    ]);
    assert.deepEqual(messages, [user("a"), answer([call("c1", "apply")]), result("c1", "a␀b", "apply")]);
    assert.deepEqual(repairs, ["1 tool-name", "2 characters"]);
  });

  it("[C3] tool names that providers refuse are changed, for the model they go to", () => {
    const nameFor = (name: unknown, model?: RequestModel) =>
      (sentBlock({ ...call("c1"), name }, model) as { name: string }).name;
    assert.equal(nameFor("mcp.server/tool"), "mcp_server_tool");
    assert.equal(nameFor(null), "unknown_tool");
    assert.equal(nameFor("ю"), "unknown_tool");
    assert.equal(nameFor("x".repeat(100), CLAUDE), "x".repeat(100));
    assert.equal(nameFor("x".repeat(100), GPT), "x".repeat(63));
    const gemini = { provider: "google", id: "g", api: "google-generative-ai" };
    assert.equal(nameFor("7zip", CLAUDE), "7zip");
    assert.equal(nameFor("7zip", gemini), "_7zip");
  });

  it("[C3] dB42 arguments null, missing, a string or a list become an object", () => {
    const argumentsFor = (args: unknown) => {
      const { messages, repairs } = request([user("a"), answer([{ ...call("c1"), arguments: args }]), result("c1")]);
      assert.deepEqual(repairs, ["1 arguments"]);
      return (messages[1] as { content: { arguments: unknown }[] }).content[0]!.arguments;
    };
    assert.deepEqual(argumentsFor(null), {});
    assert.deepEqual(argumentsFor(undefined), {});
    assert.deepEqual(argumentsFor(["a"]), {});
    assert.deepEqual(argumentsFor("not json"), {});
    assert.deepEqual(argumentsFor('["a"]'), {});
    assert.deepEqual(argumentsFor('{"path":"a"}'), { path: "a" });
  });

  it("[C3, F5] __proto__ in arguments is plain data", () => {
    const args = JSON.parse('{"__proto__":{"polluted":"\\ud83d"},"constructor":1}') as object;
    const sent = (sentBlock(call("c1", "read", args)) as { arguments: object }).arguments;
    assert.equal(JSON.stringify(sent), '{"__proto__":{"polluted":"\ufffd"},"constructor":1}');
    assert.equal(Object.getPrototypeOf(sent), Object.prototype);
    assert.equal(Reflect.get({}, "polluted"), undefined);
  });

  it("[C3] arguments nested too deeply, in a circle or with what JSON cannot hold are cut there", () => {
    let deep: unknown = "end";
    for (let level = 0; level < 100_000; level++) deep = [deep];
    const circle: Record<string, unknown> = { n: 1n, x: Number.NaN };
    circle["self"] = circle;
    const messages = [user("q"), answer([call("c1", "read", { deep }), call("c2", "read", circle)])];
    const converted = convertToLlm(messages);
    assertValidRequest(converted);
    const [first, second] = (converted[1] as { content: { arguments: unknown }[] }).content;
    assert.equal(
      JSON.stringify(first!.arguments),
      `{"deep":${"[".repeat(99)}"(left out: nested too deeply)"${"]".repeat(99)}}`,
    );
    assert.deepEqual(second!.arguments, { n: null, x: null, self: "(left out: nested too deeply)" });
  });

  it("[C3] fields of a call that are not text are left out", () => {
    const block = { ...call("c1"), thoughtSignature: 4, namespace: "n\0", argumentsError: "bad" };
    assert.deepEqual(sentBlock(block), { ...call("c1"), argumentsError: "bad" });
  });
});

describe("thinking", () => {
  const thinking = (fields = {}) => ({ type: "thinking", thinking: "hm", thinkingSignature: "sig", ...fields });
  const turn = (block: unknown, fields = {}) => answer([block, text("x")], fields);
  const kept = (block: unknown, model?: RequestModel, fields = {}) =>
    (request([user("q"), turn(block, fields)], model).messages[1] as { content: unknown[] }).content.length === 2;

  it("[C3] thinking goes back only to the model that wrote it", () => {
    assert.equal(kept(thinking(), CLAUDE), true);
    assert.equal(kept(thinking()), true);
    assert.equal(kept(thinking(), GPT), false);
    assert.equal(kept(thinking(), { ...CLAUDE, id: "claude-y" }), false);
    assert.deepEqual(request([user("q"), turn(thinking())], GPT).repairs, ["1 thinking"]);
  });

  it("[C3] thinking that is redacted, signed or unsigned is sent only where that can hold", () => {
    assert.equal(kept(thinking({ redacted: true, thinking: "" }), CLAUDE), true);
    assert.equal(kept(thinking({ redacted: true, thinkingSignature: undefined }), CLAUDE), false);
    assert.equal(kept(thinking({ thinkingSignature: "" }), CLAUDE), false);
    assert.equal(kept(thinking({ thinkingSignature: "" }), { ...CLAUDE, compat: { allowEmptySignature: true } }), true);
    assert.equal(kept(thinking({ thinkingSignature: undefined })), true);
    assert.equal(kept(thinking({ thinkingSignature: undefined, thinking: " " })), false);
    assert.equal(kept(thinking({ thinkingSignature: 4 })), false);
    assert.equal(kept(thinking({ redacted: "yes" })), false);
    assert.equal(kept(thinking({ thinking: null })), false);
    assert.equal(kept({ type: "redactedThinking", data: "x" }), false);
  });

  it("[C3] thinking is left out rather than changed under its signature", () => {
    assert.equal(kept(thinking({ thinking: "a\0" }), CLAUDE), false);
    assert.equal(kept(thinking({ thinkingSignature: "s\ud83d" }), CLAUDE), false);
  });

  it("[C3] OpenAI's reasoning goes back only as the item that was stored", () => {
    const byGpt = { api: GPT.api, provider: GPT.provider, model: GPT.id };
    const keptItem = (thinkingSignature: unknown) => kept(thinking({ thinkingSignature }), GPT, byGpt);
    assert.equal(keptItem('{"type":"reasoning","id":"rs_1","summary":[]}'), true);
    assert.equal(keptItem(undefined), true);
    assert.equal(keptItem("not json"), false);
    assert.equal(keptItem(" "), false);
    assert.equal(keptItem('"reasoning"'), false);
    assert.equal(keptItem('{"type":"message"}'), false);
    assert.equal(keptItem('{"type":"reasoning","id":"\\ud83d"}'), false);
  });

  it("[C3] an answer never ends in thinking, and one of thinking alone is not sent", () => {
    assert.deepEqual(request([user("q"), answer([text("x"), thinking(), thinking()])]), {
      messages: [user("q"), answer("x")],
      repairs: ["1 thinking"],
    });
    assert.deepEqual(request([user("q"), answer([thinking()])]), {
      messages: [user("q")],
      repairs: ["1 thinking", "1 empty-turn"],
    });
  });

  it("[C3] Gemini gets back the signature it hung on empty text", () => {
    const gemini = { provider: "google", id: "gemini-3", api: "google-generative-ai" };
    const signed = { type: "text", text: "", textSignature: "c2ln" };
    const messages = [user("q"), turn(signed, { api: gemini.api, provider: gemini.provider, model: gemini.id })];
    assert.equal(convertToLlm(messages, { model: gemini })[1], messages[1]);
    assert.deepEqual(convertToLlm(messages, { model: CLAUDE })[1], {
      ...(messages[1] as object),
      content: [text("x")],
    });
  });
});

describe("images", () => {
  const image = (data: unknown, mimeType: unknown = "image/png") => ({ type: "image", data, mimeType });
  const sentImage = (block: unknown, model?: RequestModel) =>
    (request([user([block] as never)], model).messages[0] as { content: unknown[] }).content[0];
  const note = (reason: string) => text(`(image left out: ${reason})`);

  it("[C3] dB51 a broken image becomes a note, in prompts and in results", () => {
    assert.deepEqual(sentImage(image(PNG.slice(0, -3))), note("its data is damaged"));
    assert.deepEqual(sentImage(image(`${PNG.slice(0, 12)}!${PNG.slice(13)}`)), note("its data is damaged"));
    assert.deepEqual(sentImage(image(`blob:sha256:${"0".repeat(64)}`)), note("it is kept outside of the session file"));
    assert.deepEqual(sentImage(image("")), note("its data is missing"));
    assert.deepEqual(sentImage(image(null)), note("its data is missing"));
    assert.deepEqual(sentImage(image("AAAA")), note("it is not a PNG, JPEG, GIF or WebP image"));
    const turn = answer([call("c1")]);
    assert.deepEqual(request([user("a"), turn, { ...result("c1"), content: [image("A")] }]), {
      messages: [user("a"), turn, { ...result("c1"), content: [note("its data is damaged")] }],
      repairs: ["2 image"],
    });
  });

  it("[C3] dB51 an image of more than 5 MB becomes a note", () => {
    const large = PNG.slice(0, -4) + "A".repeat(5 * 1024 * 1024);
    assert.deepEqual(sentImage(image(large)), note("it is larger than 5 MB"));
    const fits = PNG.slice(0, 16).padEnd(5 * 1024 * 1024, "A");
    assert.equal((sentImage(image(fits)) as { data: string }).data, fits);
  });

  it("[C3] an image is sent as what its data says it is", () => {
    assert.deepEqual(sentImage(image(PNG, "image/jpeg")), image(PNG));
    assert.deepEqual(sentImage(image(PNG, { odd: 1 })), image(PNG));
    const webp = Buffer.from("RIFF\x24\x00\x00\x00WEBPVP8 ").toString("base64");
    assert.deepEqual(sentImage(image(webp, "")), image(webp, "image/webp"));
    assert.deepEqual(
      sentImage(image(Buffer.from("GIF89a......").toString("base64"), "x")),
      image("R0lGODlhLi4uLi4u", "image/gif"),
    );
  });

  it("[C3] a model without image input gets a note", () => {
    assert.deepEqual(sentImage(image(PNG), { ...CLAUDE, input: ["text"] }), note("this model takes no images"));
    assert.deepEqual(sentImage(image(PNG), { ...CLAUDE, input: ["text", "image"] }), image(PNG));
  });

  it("[C3] an image in an answer is left out", () => {
    assert.deepEqual(request([user("q"), answer([text("x"), image(PNG)])]), {
      messages: [user("q"), answer("x")],
      repairs: ["1 bad-block"],
    });
  });
});
