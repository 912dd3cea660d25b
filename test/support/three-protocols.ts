/**
 * A provider server that speaks chat completions, responses and Anthropic's messages over real HTTP, with exact bytes:
 * each request is answered as `answer` says. For tests that change between the protocols.
 */
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { ApiKind } from "../../src/agent/providers.ts";

export interface WireRequest {
  api: ApiKind;
  body: Record<string, unknown>;
  /** Estimated from the body, as providers would count them. */
  tokens: number;
}

export interface WireCall {
  id: string;
  name: string;
  /** As it is sent; it may be no JSON. */
  arguments: string;
}

export type WireAnswer =
  | {
      thinking?: string;
      text?: readonly string[];
      calls?: readonly WireCall[];
      /** Cut off at the limit of output. */
      isCutOff?: boolean;
      /** After the text: the stream ends before the answer does, or nothing more comes. */
      ending?: "early" | "never";
    }
  | { status: number; message: string };

const PATHS: readonly [end: string, api: ApiKind][] = [
  ["/chat/completions", "openai-completions"],
  ["/responses", "openai-responses"],
  ["/messages", "anthropic-messages"],
];
const CHARACTERS_PER_TOKEN = 3.5;

export interface ThreeProtocols {
  url: string;
  close(): Promise<void>;
}

export async function startThreeProtocols(
  answer: (request: WireRequest) => Promise<WireAnswer>,
): Promise<ThreeProtocols> {
  let requests = 0;
  const server = createServer((incoming, response) => {
    void (async () => {
      const n = requests++;
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString("utf8");
      const path = new URL(incoming.url ?? "/", "http://mock").pathname;
      const api = PATHS.find(([end]) => path.endsWith(end))![1];
      const body = JSON.parse(text) as Record<string, unknown>;
      const tokens = Math.ceil(text.length / CHARACTERS_PER_TOKEN);
      reply(response, { n, api, tokens }, await answer({ api, body, tokens }));
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

interface Numbered {
  n: number;
  api: ApiKind;
  tokens: number;
}

function reply(response: ServerResponse, request: Numbered, answer: WireAnswer): void {
  if ("status" in answer) {
    response.writeHead(answer.status, { "content-type": "application/json" });
    response.end(JSON.stringify({ type: "error", error: { type: "error", message: answer.message } }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (event: object & { type?: string }): void => {
    if (event.type !== undefined) response.write(`event: ${event.type}\n`);
    response.write(`data: ${JSON.stringify(event)}\n\n`);
  };
  const finish = WRITERS[request.api](send, answer, request);
  if (answer.ending === "never") return;
  if (answer.ending !== "early") finish();
  response.end(answer.ending !== "early" && request.api === "openai-completions" ? "data: [DONE]\n\n" : "");
}

type Told = Exclude<WireAnswer, { status: number }>;
type Send = (event: object & { type?: string }) => void;
/** Sends what the answer says; the returned function ends it. */
type Writer = (send: Send, answer: Told, request: Numbered) => () => void;

const OUTPUT_TOKENS = 10;

const WRITERS: Readonly<Record<ApiKind, Writer>> = {
  "openai-completions": (send, { thinking, text = [], calls = [], isCutOff }, { tokens }) => {
    const chunk = (delta: object, finish: string | null = null): void =>
      send({
        id: "c",
        object: "chat.completion.chunk",
        created: 1,
        model: "m",
        choices: [{ index: 0, delta, finish_reason: finish }],
      } as object);
    chunk({ role: "assistant", content: "" });
    if (thinking !== undefined) chunk({ reasoning_content: thinking });
    for (const piece of text) chunk({ content: piece });
    calls.forEach(({ id, name, arguments: args }, index) =>
      chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: args } }] }),
    );
    return () => {
      chunk({}, isCutOff ? "length" : calls.length > 0 ? "tool_calls" : "stop");
      const usage = { prompt_tokens: tokens, completion_tokens: OUTPUT_TOKENS, total_tokens: tokens + OUTPUT_TOKENS };
      send({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage } as object);
    };
  },

  "openai-responses": (send, { thinking, text = [], calls = [], isCutOff }, { n, tokens }) => {
    const id = `r${n}`;
    const output: object[] = [];
    send({ type: "response.created", response: { id, status: "in_progress" } } as object);
    const item = (begun: object, done: object, deltas: object[]): void => {
      const place = { output_index: output.length };
      send({ type: "response.output_item.added", ...place, item: begun } as object);
      for (const delta of deltas) send({ ...delta, ...place } as object);
      send({ type: "response.output_item.done", ...place, item: done } as object);
      output.push(done);
    };
    const name = (kind: string): string => `${kind}_${id}_${output.length}`;
    if (thinking !== undefined) {
      const reasoning = { type: "reasoning", id: name("rs"), encrypted_content: "c2VhbGVk" };
      item({ ...reasoning, summary: [] }, { ...reasoning, summary: [{ type: "summary_text", text: thinking }] }, [
        { type: "response.reasoning_summary_text.delta", item_id: reasoning.id, summary_index: 0, delta: thinking },
      ]);
    }
    if (text.length > 0) {
      const message = { type: "message", id: name("msg"), role: "assistant", status: "completed" };
      const part = { type: "output_text", text: text.join(""), annotations: [] };
      item({ ...message, content: [] }, { ...message, content: [part] }, [
        { type: "response.content_part.added", item_id: message.id, content_index: 0, part: { ...part, text: "" } },
        ...text.map((delta) => ({ type: "response.output_text.delta", item_id: message.id, content_index: 0, delta })),
      ]);
    }
    for (const call of calls) {
      const given = { type: "function_call", id: name("fc"), call_id: call.id, name: call.name };
      item({ ...given, arguments: "" }, { ...given, arguments: call.arguments }, [
        { type: "response.function_call_arguments.delta", item_id: given.id, delta: call.arguments },
        { type: "response.function_call_arguments.done", item_id: given.id, arguments: call.arguments },
      ]);
    }
    return () => {
      const usage = {
        input_tokens: tokens,
        output_tokens: OUTPUT_TOKENS,
        total_tokens: tokens + OUTPUT_TOKENS,
        input_tokens_details: { cached_tokens: 0 },
      };
      const status = isCutOff ? "incomplete" : "completed";
      const why = isCutOff ? { incomplete_details: { reason: "max_output_tokens" } } : {};
      send({ type: `response.${status}`, response: { id, status, output, usage, ...why } } as object);
    };
  },

  "anthropic-messages": (send, { thinking, text = [], calls = [], isCutOff }, { tokens }) => {
    const message = { id: "m", type: "message", role: "assistant", model: "m", content: [], stop_reason: null };
    const usage = { input_tokens: tokens, output_tokens: 1 };
    send({ type: "message_start", message: { ...message, usage } } as object);
    let index = 0;
    const block = (begun: object, deltas: object[]): void => {
      send({ type: "content_block_start", index, content_block: begun } as object);
      for (const delta of deltas) send({ type: "content_block_delta", index, delta } as object);
      send({ type: "content_block_stop", index } as object);
      index++;
    };
    if (thinking !== undefined)
      block({ type: "thinking", thinking: "", signature: "" }, [
        { type: "thinking_delta", thinking },
        { type: "signature_delta", signature: "c2VhbGVk" },
      ]);
    if (text.length > 0)
      block(
        { type: "text", text: "" },
        text.map((piece) => ({ type: "text_delta", text: piece })),
      );
    for (const { id, name, arguments: args } of calls)
      block({ type: "tool_use", id, name, input: {} }, [{ type: "input_json_delta", partial_json: args }]);
    return () => {
      const reason = isCutOff ? "max_tokens" : calls.length > 0 ? "tool_use" : "end_turn";
      const delta = { stop_reason: reason, stop_sequence: null };
      send({ type: "message_delta", delta, usage: { output_tokens: OUTPUT_TOKENS } } as object);
      send({ type: "message_stop" });
    };
  },
};
