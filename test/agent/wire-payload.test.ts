/** [C3] What convertToLlm returns, pi-ai's own code turns into bodies that keep each protocol's rules. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Api, Model, ProviderStreams } from "@earendil-works/pi-ai";
import { anthropicMessagesApi } from "@earendil-works/pi-ai/api/anthropic-messages.lazy";
import { googleGenerativeAIApi } from "@earendil-works/pi-ai/api/google-generative-ai.lazy";
import { openAICompletionsApi } from "@earendil-works/pi-ai/api/openai-completions.lazy";
import { openAIResponsesApi } from "@earendil-works/pi-ai/api/openai-responses.lazy";
import { normalizeContext } from "@earendil-works/pi-ai/utils/transcript";
import fc from "fast-check";
import { convertToLlm, type AgentMessage } from "../../src/tree/messages.ts";
import { hostileMessage } from "../tree/hostile-messages.ts";

type Fields = Record<string, unknown>;
type Block = Fields & { type: string };

const PROTOCOLS: {
  api: Api;
  provider: string;
  id: string;
  streams: () => ProviderStreams;
  check: (body: Fields) => void;
}[] = [
  {
    api: "anthropic-messages",
    provider: "anthropic",
    id: "claude-x",
    streams: anthropicMessagesApi,
    check: checkAnthropic,
  },
  { api: "openai-completions", provider: "local", id: "m", streams: openAICompletionsApi, check: checkCompletions },
  { api: "openai-responses", provider: "openai", id: "gpt-x", streams: openAIResponsesApi, check: checkResponses },
  {
    api: "google-generative-ai",
    provider: "google",
    id: "gemini-3",
    streams: googleGenerativeAIApi,
    check: checkGoogle,
  },
];

/** The body pi-ai would send; it is stopped before it does. */
async function bodyFor(
  protocol: (typeof PROTOCOLS)[number],
  messages: AgentMessage[],
  compat: object,
): Promise<Fields> {
  const model = {
    ...protocol,
    name: protocol.id,
    baseUrl: "http://127.0.0.1:9",
    input: ["text", "image"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    reasoning: true,
    contextWindow: 1e9,
    maxTokens: 1000,
    compat,
  } as unknown as Model<Api>;
  const list = convertToLlm([...messages, { role: "user", content: "go on", timestamp: 1 }], { model });
  let body: unknown;
  const answer = await protocol
    .streams()
    .streamSimple(model, normalizeContext({ systemPrompt: "prompt", messages: list }), {
      apiKey: "key",
      maxRetries: 0,
      onPayload: (payload) => {
        body = payload;
        throw new Error("captured");
      },
    })
    .result();
  assert.match(answer.errorMessage ?? "", /captured/);
  return body as Fields;
}

describe("bodies", () => {
  for (const protocol of PROTOCOLS)
    it(`[C3] any messages at all make a body that keeps the rules of ${protocol.api}`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(hostileMessage, { maxLength: 10 }), fc.boolean(), async (messages, takesSystem) => {
          const body = await bodyFor(protocol, messages as AgentMessage[], {
            supportsMidConvoSystemMessages: takesSystem,
          });
          const json = JSON.stringify(body);
          assert.doesNotMatch(json.replaceAll("\\\\", ""), /\\u0000|\\ud[89a-f]/);
          protocol.check(body);
        }),
        { numRuns: 150 },
      );
    });
});

/** Pairs of ids: each call has one result at once, no id stands twice. */
function checkPairs(groups: { calls: unknown[]; results: unknown[] }[]): void {
  const seen = new Set<unknown>();
  for (const { calls, results } of groups) {
    assert.deepEqual(results, calls);
    for (const id of calls) {
      assert.equal(seen.has(id), false, `id ${String(id)} twice`);
      seen.add(id);
    }
  }
}

function checkAnthropic(body: Fields): void {
  const messages = body["messages"] as { role: string; content: string | Block[] }[];
  assert.equal(messages.find(({ role }) => role !== "system")?.role, "user");
  const blocks = (at: number): Block[] => {
    const content = messages[at]?.content ?? [];
    return typeof content === "string" ? [{ type: "text", text: content }] : content;
  };
  const ofType = (at: number, type: string): Block[] => blocks(at).filter((block) => block.type === type);
  const groups = messages.map((_, at) => ({
    calls: ofType(at, "tool_use").map(({ id }) => id),
    results: ofType(at + 1, "tool_result").map((block) => block["tool_use_id"]),
  }));
  checkPairs(groups);
  messages.forEach(({ role }, at) => {
    assert.ok(blocks(at).length > 0);
    for (const { text } of ofType(at, "text")) assert.notEqual((text as string).trim(), "");
    for (const { id, name } of ofType(at, "tool_use"))
      assert.match(`${String(id)} ${String(name)}`, /^[\w-]{1,64} [\w-]{1,128}$/);
    if (role === "assistant") assert.doesNotMatch(blocks(at).at(-1)!.type, /thinking/);
  });
}

function checkCompletions(body: Fields): void {
  const messages = body["messages"] as (Fields & { role: string; tool_calls?: Fields[] })[];
  const groups: { calls: unknown[]; results: unknown[] }[] = [];
  messages.forEach((message) => {
    if (message.role === "assistant") {
      assert.ok(message["content"] || message.tool_calls);
      groups.push({ calls: (message.tool_calls ?? []).map(({ id }) => id), results: [] });
    } else if (message.role === "tool") groups.at(-1)!.results.push(message["tool_call_id"]);
  });
  checkPairs(groups);
  let last = "";
  for (const { role } of messages) {
    if (role === "tool") assert.match(last, /assistant|tool/);
    last = role;
  }
}

function checkResponses(body: Fields): void {
  const items = body["input"] as Fields[];
  const calls = items.filter(({ type }) => type === "function_call").map((item) => item["call_id"]);
  const results = items.filter(({ type }) => type === "function_call_output").map((item) => item["call_id"]);
  checkPairs([{ calls, results }]);
  items.forEach(({ type }, at) => {
    if (type === "reasoning") assert.match(String(items[at + 1]?.["type"]), /reasoning|message|function_call$/);
  });
}

function checkGoogle(body: Fields): void {
  const contents = body["contents"] as { role: string; parts: Fields[] }[];
  assert.equal(contents[0]?.role, "user");
  const ofPart = (at: number, field: string) =>
    (contents[at]?.parts ?? []).filter((part) => field in part).map((part) => (part[field] as { id: unknown }).id);
  checkPairs(
    contents.map((_, at) => ({ calls: ofPart(at, "functionCall"), results: ofPart(at + 1, "functionResponse") })),
  );
  for (const { parts } of contents) assert.ok(parts.length > 0);
}
