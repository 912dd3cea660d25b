/**
 * What a provider demands of the body of a request, protocol by protocol, as checkers that know nothing of how bough or
 * pi-ai make one; and the body that pi-ai makes of a list of messages, without sending it.
 * For tests of requests.
 */
import assert from "node:assert/strict";
import type { Api, Message, Model, ProviderStreams } from "@earendil-works/pi-ai";
import { anthropicMessagesApi } from "@earendil-works/pi-ai/api/anthropic-messages.lazy";
import { googleGenerativeAIApi } from "@earendil-works/pi-ai/api/google-generative-ai.lazy";
import { openAICompletionsApi } from "@earendil-works/pi-ai/api/openai-completions.lazy";
import { openAIResponsesApi } from "@earendil-works/pi-ai/api/openai-responses.lazy";
import { normalizeContext } from "@earendil-works/pi-ai/utils/transcript";

type Fields = Record<string, unknown>;
type Block = Fields & { type: string };

export interface Protocol {
  api: Api;
  provider: string;
  id: string;
  streams: () => ProviderStreams;
  /** Throws for a body that the provider refuses. */
  check: (body: Fields) => void;
}

export const PROTOCOLS: readonly Protocol[] = [
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

/** A model of the protocol that takes everything. */
export function modelOf({ api, provider, id }: Protocol, compat: object = {}): Model<Api> {
  return {
    api,
    provider,
    id,
    name: id,
    baseUrl: "http://127.0.0.1:9",
    input: ["text", "image"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    reasoning: true,
    contextWindow: 1e9,
    maxTokens: 1000,
    compat,
  } as unknown as Model<Api>;
}

/** The body pi-ai would send; it is stopped before it does. */
export async function wireBody(
  protocol: Protocol,
  messages: readonly Message[],
  model = modelOf(protocol),
): Promise<Fields> {
  let body: unknown;
  const context = normalizeContext({ systemPrompt: "prompt", messages: [...messages] });
  const answer = await protocol
    .streams()
    .streamSimple(model, context, {
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

/** Throws for a body that a provider of the protocol refuses: pairs, order, roles, empty blocks, broken text. */
export function checkWire(protocol: Protocol, body: Fields): void {
  // A backslash before the "u" is text that spells an escape.
  assert.doesNotMatch(JSON.stringify(body).replaceAll("\\\\", ""), /\\u0000|\\ud[89a-f]/, "NUL or half a character");
  protocol.check(body);
}

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

function checkText(text: unknown): void {
  assert.equal(typeof text, "string");
  assert.notEqual((text as string).trim(), "", "blank text");
}

function checkArguments(text: unknown): void {
  const value: unknown = JSON.parse(String(text));
  assert.ok(typeof value === "object" && value !== null && !Array.isArray(value), "arguments that are no object");
}

const DATA_URL = /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/;

function checkAnthropic(body: Fields): void {
  const messages = body["messages"] as { role: string; content: string | Block[] }[];
  assert.equal(messages.find(({ role }) => role !== "system")?.role, "user");
  assert.notEqual(messages.at(-1)?.role, "assistant", "nothing is asked");
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
    assert.match(role, /^(user|assistant|system)$/);
    assert.ok(blocks(at).length > 0);
    for (const { text } of ofType(at, "text")) checkText(text);
    for (const { id, name, input } of ofType(at, "tool_use")) {
      assert.match(`${String(id)} ${String(name)}`, /^[\w-]{1,64} [\w-]{1,128}$/);
      checkArguments(JSON.stringify(input));
    }
    for (const { signature } of ofType(at, "thinking")) checkText(signature);
    const results = ofType(at, "tool_result");
    assert.deepEqual(blocks(at).slice(0, results.length), results, "results come first");
    for (const { content } of results)
      if (typeof content === "string") checkText(content);
      else for (const block of content as Block[]) checkAnthropicPart(block);
    for (const image of ofType(at, "image")) checkAnthropicPart(image);
    if (role === "assistant") assert.doesNotMatch(blocks(at).at(-1)!.type, /thinking/);
  });
}

function checkAnthropicPart(block: Block): void {
  if (block.type === "text") return checkText(block["text"]);
  assert.equal(block.type, "image");
  const { media_type: type, data } = block["source"] as { media_type: string; data: string };
  assert.match(`data:${type};base64,${data}`, DATA_URL);
}

function checkCompletions(body: Fields): void {
  const messages = body["messages"] as (Fields & { role: string; tool_calls?: Fields[] })[];
  const groups: { calls: unknown[]; results: unknown[] }[] = [];
  let last = "";
  for (const message of messages) {
    const { role, content, tool_calls: calls = [] } = message;
    assert.match(role, /^(system|developer|user|assistant|tool)$/);
    if (role === "assistant") {
      assert.ok(content || calls.length > 0, "an answer of nothing");
      groups.push({ calls: calls.map(({ id }) => id), results: [] });
      for (const call of calls) {
        const { name, arguments: given } = call["function"] as Fields;
        assert.match(String(name), /^[\w-]{1,128}$/);
        checkArguments(given);
      }
    } else if (role === "tool") {
      assert.match(last, /assistant|tool/);
      groups.at(-1)!.results.push(message["tool_call_id"]);
    }
    if (typeof content === "string") checkText(content);
    for (const part of Array.isArray(content) ? (content as Block[]) : []) {
      if (part.type === "text") checkText(part["text"]);
      else assert.match((part["image_url"] as { url: string }).url, DATA_URL);
    }
    last = role;
  }
  checkPairs(groups);
  assert.notEqual(last, "assistant", "nothing is asked");
}

function checkResponses(body: Fields): void {
  const items = body["input"] as Fields[];
  const ids = (type: string): unknown[] => items.filter((item) => item["type"] === type).map((item) => item["call_id"]);
  checkPairs([{ calls: ids("function_call"), results: ids("function_call_output") }]);
  const kept = items.map(({ id }) => id).filter((id) => id !== undefined);
  assert.equal(new Set(kept).size, kept.length, "an item's id twice");
  items.forEach((item, at) => {
    const { type, role, content } = item;
    if (type === "reasoning") assert.match(String(items[at + 1]?.["type"]), /reasoning|message|function_call$/);
    if (type === "function_call") {
      assert.match(`${String(item["call_id"])} ${String(item["name"])}`, /^[\w-]{1,64} [\w-]{1,128}$/);
      checkArguments(item["arguments"]);
    }
    if (type === "function_call_output") {
      const before = items.slice(0, at).filter((other) => other["type"] === "function_call");
      assert.ok(
        before.some((call) => call["call_id"] === item["call_id"]),
        "a result before its call",
      );
    }
    if (type === undefined || type === "message") assert.match(String(role), /^(system|developer|user|assistant)$/);
    if (typeof content === "string") checkText(content);
    for (const part of Array.isArray(content) ? (content as Block[]) : []) {
      if (part.type === "input_image") assert.match(String(part["image_url"]), DATA_URL);
      else if (part.type !== "refusal") checkText(part["text"]);
    }
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
