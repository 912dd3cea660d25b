/**
 * An MCP server made with the official server package, with tools of every kind of answer. As a program it speaks over
 * standard input and output; `startHttpServer` serves the same over HTTP on loopback.
 * Used by tests of MCP servers.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import {
  McpServer,
  type McpServerFactory,
  createMcpHandler,
  fromJsonSchema,
  type JsonSchemaType,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

export const TOOL_SERVER = fileURLToPath(import.meta.url);

/** A white pixel. */
export const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });
const schema = <T>(properties: Record<string, JsonSchemaType>, required: string[] = []) =>
  fromJsonSchema<T>({ type: "object", properties, required });

/** A new server with its tools: add, echo, repeat, picture, kinds, structured, fail, slow, where, environment, learn. */
export const toolServer: McpServerFactory = () => {
  const server = new McpServer({ name: "tools", version: "1.0.0" }, { capabilities: { tools: { listChanged: true } } });
  server.registerTool(
    "add",
    {
      description: "Adds two numbers.",
      inputSchema: schema<{ a: number; b: number }>({ a: { type: "number" }, b: { type: "number" } }, ["a", "b"]),
    },
    async ({ a, b }) => text(`${a + b}`),
  );
  server.registerTool(
    "repeat",
    { inputSchema: schema<{ line: string; times: number }>({ line: { type: "string" }, times: { type: "number" } }) },
    async ({ line, times }) => text(Array.from({ length: times }, () => line).join("\n")),
  );
  server.registerTool("kinds", {}, async () => ({
    content: [
      { type: "text", text: "one" },
      { type: "image", data: PIXEL, mimeType: "image/png" },
      { type: "image", data: "bm8gaW1hZ2U=", mimeType: "image/png" },
      { type: "audio", data: "AAAA", mimeType: "audio/wav" },
      { type: "resource_link", name: "readme", uri: "file:///readme.md" },
      { type: "resource", resource: { uri: "file:///a.txt", text: "inside" } },
      { type: "resource", resource: { uri: "file:///a.bin", blob: "AAAA", mimeType: "application/zip" } },
    ],
  }));
  server.registerTool("structured", { outputSchema: schema<{ n: number }>({ n: { type: "number" } }) }, async () => ({
    content: [],
    structuredContent: { n: 7 },
  }));
  server.registerTool("fail", {}, async () => ({ ...text("no such row"), isError: true }));
  server.registerTool("slow", {}, async (context) => {
    const { progressToken } = context.mcpReq._meta ?? {};
    for (let step = 1; step <= 200 && !context.mcpReq.signal.aborted; step++) {
      if (progressToken !== undefined)
        await context.mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken, progress: step, total: 200, message: "working" },
        });
      await sleep(20);
    }
    return text("done");
  });
  server.registerTool("where", {}, async () => text(`${process.pid} ${process.cwd()}`));
  server.registerTool("environment", {}, async () => text(JSON.stringify(process.env)));
  server.registerTool("exit", {}, async () => {
    process.stderr.write("out of cheese\n");
    await sleep(20);
    process.exit(7);
  });
  server.registerTool("learn", {}, async () => {
    server.registerTool("learnt", { description: "New." }, async () => text("learnt"));
    return text("there is a new tool");
  });
  return server;
};

export interface HttpToolServer {
  url: string;
  /** Headers of each request. */
  readonly requests: IncomingMessage["headers"][];
  /** Forgets all sessions, as a server that was started again has. */
  forget(): void;
  close(): Promise<void>;
}

/** `modern`: serves only the protocol of 2026; otherwise sessions of the protocol of 2025. */
export async function startHttpServer(options: { modern?: boolean } = {}): Promise<HttpToolServer> {
  const requests: IncomingMessage["headers"][] = [];
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const modern = createMcpHandler(toolServer, { legacy: "reject" });
  const answer = async (request: Request): Promise<Response> => {
    if (options.modern === true) return modern.fetch(request);
    const id = request.headers.get("mcp-session-id");
    const known = id === null ? undefined : sessions.get(id);
    if (known !== undefined) return known.handleRequest(request);
    if (id !== null) return new Response("unknown session", { status: 404 });
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (session) => void sessions.set(session, transport),
    });
    const server = await toolServer({ era: "legacy" });
    await server.connect(transport);
    return transport.handleRequest(request);
  };
  const http = createServer((incoming, outgoing) => {
    requests.push(incoming.headers);
    void respond(incoming, outgoing, answer);
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    requests,
    forget: () => sessions.clear(),
    close: async () => {
      http.closeAllConnections();
      http.close();
      await once(http, "close");
    },
  };
}

async function respond(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  answer: (request: Request) => Promise<Response>,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort());
  const headers = new Headers(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
  const request = new Request(`http://127.0.0.1${incoming.url}`, {
    method: incoming.method ?? "GET",
    headers,
    ...(body.length === 0 ? {} : { body }),
    signal: gone.signal,
  });
  const response = await answer(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.flushHeaders();
  try {
    if (response.body !== null) for await (const chunk of response.body) outgoing.write(chunk);
  } catch {
    // The client went away.
  }
  outgoing.end();
}

if (process.argv[1] === TOOL_SERVER)
  serveStdio(toolServer, { legacy: process.argv[2] === "modern" ? "reject" : "serve" });
