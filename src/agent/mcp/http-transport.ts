/**
 * An MCP server over HTTP (MCP specification, "Streamable HTTP"): the library's transport, with a bound on what one answer
 * may bring. Part of `agent/`; used by McpConnection.
 */
import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { ClientLibrary } from "./client-library.ts";
import type { McpEndpoint } from "./mcp-config.ts";

/** As for a server that is a process: far more than a sound answer has. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

export function httpTransport(
  library: ClientLibrary,
  { url, headers }: Extract<McpEndpoint, { kind: "http" }>,
): StreamableHTTPClientTransport {
  return new library.StreamableHTTPClientTransport(new URL(url), { requestInit: { headers }, fetch: boundedFetch });
}

/** Fails an answer that does not end. The stream of notifications, a GET, may go on for as long as the session does. */
async function boundedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (init?.method !== "POST" || response.body === null) return response;
  let bytes = 0;
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.length;
        if (bytes > MAX_ANSWER_BYTES) controller.error(new Error("it sent an answer of more than 32 MB"));
        else controller.enqueue(chunk);
      },
    }),
  );
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}
