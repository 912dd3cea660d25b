/**
 * Provider servers for tests, over real HTTP: `startProvider` speaks chat completions with exact bytes, so that it can
 * fail in any place; `startAimock` speaks the three protocols bough is used with most.
 * Used by tests of agent/, tui/ and cli/.
 */
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { LLMock } from "@copilotkit/aimock";

/** What bough sent. */
export interface ReceivedRequest {
  path: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: {
    model: string;
    messages: { role: string; content?: unknown; tool_calls?: unknown; tool_call_id?: string }[];
    tools?: { function: { name: string } }[];
    [field: string]: unknown;
  };
}

/** Answers one request. */
export type Reply = (response: ServerResponse, request: ReceivedRequest) => void | Promise<void>;

export interface ProviderServer {
  /** For an openai-completions endpoint. */
  baseUrl: string;
  readonly requests: ReceivedRequest[];
  close(): Promise<void>;
}

/**
 * A server that answers the n-th request with the n-th reply, further ones with the last. `onRequest` runs before the
 * reply: what it sees on disk was there before the request arrived.
 */
export async function startProvider(
  replies: Reply | readonly Reply[],
  onRequest?: (request: ReceivedRequest, n: number) => void,
): Promise<ProviderServer> {
  const list = typeof replies === "function" ? [replies] : replies;
  const requests: ReceivedRequest[] = [];
  const server = createServer((incoming, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      if (incoming.method === "GET") {
        respondJson(response, 200, { object: "list", data: [{ id: "mock" }] });
        return;
      }
      const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as ReceivedRequest["body"];
      const request = { path: incoming.url ?? "", headers: incoming.headers, body };
      requests.push(request);
      onRequest?.(request, requests.length - 1);
      const reply = list[Math.min(requests.length, list.length) - 1] ?? fail(500, "no reply left");
      await reply(response, request);
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    close: async () => {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** An answer of text, in the given pieces. */
export const say =
  (...pieces: string[]): Reply =>
  (response) => {
    begin(response);
    for (const piece of pieces) chunk(response, { content: piece });
    end(response, "stop");
  };

/** Text that ends for the given reason, such as "length". */
export const stopAt =
  (reason: string, text: string): Reply =>
  (response) => {
    begin(response);
    chunk(response, { content: text });
    end(response, reason);
  };

/** The reply, which says that it used so many tokens in all, some of them for the answer. */
export const using =
  (total: number, reply: Reply, output = 10): Reply =>
  (response, request) => {
    usedTokens.set(response, { total, output });
    return reply(response, request);
  };
const usedTokens = new WeakMap<ServerResponse, { total: number; output: number }>();

export interface MockCall {
  id: string;
  name: string;
  arguments: object;
}

/** An answer that calls tools. */
export const callTools =
  (...calls: MockCall[]): Reply =>
  (response) => {
    begin(response);
    for (const [index, { id, name, arguments: args }] of calls.entries())
      chunk(response, {
        tool_calls: [{ index, id, type: "function", function: { name, arguments: JSON.stringify(args) } }],
      });
    end(response, "tool_calls");
  };

/** An HTTP error. */
export const fail =
  (status: number, message: string): Reply =>
  (response) => {
    respondJson(response, status, { error: { message, type: "error", code: status } });
  };

/** Text, and then the connection is cut. */
export const dropAfter =
  (text: string): Reply =>
  async (response) => {
    begin(response);
    chunk(response, { content: text });
    // What was written has to leave before the socket is destroyed.
    await new Promise((resolve) => setTimeout(resolve, 20));
    response.destroy();
  };

/** Text, and then silence until the client goes away. `started` runs once the text is out. */
export const hangAfter =
  (text: string, started?: () => void): Reply =>
  (response) => {
    begin(response);
    chunk(response, { content: text });
    started?.();
  };

/** Waits for `gate` before the reply. */
export const after =
  (gate: Promise<unknown>, reply: Reply): Reply =>
  async (response, request) => {
    await gate;
    await reply(response, request);
  };

/** aimock, started; the caller adds fixtures and stops it. Base URLs: `${url}/v1` for OpenAI's, `url` for Anthropic's. */
export async function startAimock(): Promise<LLMock> {
  const mock = new LLMock({ port: 0, host: "127.0.0.1" });
  await mock.start();
  return mock;
}

function respondJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function begin(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  chunk(response, { role: "assistant", content: "" });
}

function chunk(response: ServerResponse, delta: object, finish: string | null = null): void {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  send(response, { choices });
}

function end(response: ServerResponse, finish: string): void {
  chunk(response, {}, finish);
  const { total, output } = usedTokens.get(response) ?? { total: 110, output: 10 };
  const usage = { prompt_tokens: total - output, completion_tokens: output, total_tokens: total };
  send(response, { choices: [], usage });
  response.end("data: [DONE]\n\n");
}

function send(response: ServerResponse, fields: object): void {
  const event = { id: "mock-1", object: "chat.completion.chunk", created: 1, model: "mock", ...fields };
  response.write(`data: ${JSON.stringify(event)}\n\n`);
}
