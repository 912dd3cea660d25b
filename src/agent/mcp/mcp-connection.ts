/**
 * `McpConnection`: one MCP server: started when it is needed, asked for its tools, called, started again when it is gone.
 * Part of `agent/`; McpServers has one for each entry of `mcp.json`. Whatever the server does, what comes out within a time
 * is an answer or a McpFailure.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { CallToolResult, Client, StandardSchemaV1 } from "@modelcontextprotocol/client";
import { isRecord } from "../../tree/json.ts";
import { type ClientLibrary, loadClientLibrary } from "./client-library.ts";
import { httpTransport } from "./http-transport.ts";
import type { McpEndpoint, McpServerConfig } from "./mcp-config.ts";
import { McpFailure, failureOf } from "./mcp-failure.ts";
import * as notices from "./mcp-notices.ts";
import { type McpTool, readTools } from "./mcp-tools.ts";
import { StdioTransport } from "./stdio-transport.ts";

/** "wrong": its entry in the file is; "idle": not started. */
export type McpServerStatus = "disabled" | "wrong" | "idle" | "starting" | "ready" | "failed";

export interface McpConnectionOptions {
  config: McpServerConfig;
  /** Where it works unless its entry says otherwise. */
  cwd: string;
  /** bough's, for the server. */
  version: string;
  /** Status, tools or problem are others than before. */
  changed(): void;
  /** How long a start may take, and a list of tools. Default 60 s: the first start may download the server. Milliseconds. */
  startTimeoutMs?: number | undefined;
}

export interface McpCallOptions {
  signal?: AbortSignal | undefined;
  /** What the server says about how far it is. */
  onProgress?: ((text: string) => void) | undefined;
}

interface Open {
  readonly library: ClientLibrary;
  readonly client: Client;
  readonly transport: StdioTransport | ReturnType<typeof httpTransport>;
}

const START_TIMEOUT_MS = 60_000;
/** Of a call without a word from the server; progress starts the time anew. */
const CALL_TIMEOUT_MS = 120_000;
/** Of a call in all, whatever the server says meanwhile. */
const MAX_CALL_MS = 60 * 60_000;
/** Of saying goodbye to a server over HTTP. */
const GOODBYE_MS = 500;
/** Far more than a list of tools has. */
const MAX_PAGES = 64;

export class McpConnection {
  readonly config: McpServerConfig;
  readonly #options: McpConnectionOptions;
  readonly #disposed = new AbortController();
  readonly #startTimeoutMs: number;
  readonly #callTimeoutMs: number;
  #status: McpServerStatus;
  #problem: string | undefined;
  #faults: readonly string[] = [];
  #tools: readonly McpTool[] = [];
  #open: Open | undefined;
  #opening: Promise<Open> | undefined;

  constructor(options: McpConnectionOptions) {
    const { config } = options;
    this.#options = options;
    this.config = config;
    this.#startTimeoutMs = options.startTimeoutMs ?? START_TIMEOUT_MS;
    this.#callTimeoutMs = config.timeoutMs ?? CALL_TIMEOUT_MS;
    this.#problem = config.problem;
    this.#status = config.disabled ? "disabled" : config.endpoint === undefined ? "wrong" : "idle";
  }

  get status(): McpServerStatus {
    return this.#status;
  }
  /** Why it is "wrong" or "failed". */
  get problem(): string | undefined {
    return this.#problem;
  }
  /** What is wrong with single tools of its list. */
  get faults(): readonly string[] {
    return this.#faults;
  }
  /** As the server listed them last, also when it is gone since: a call starts it again. */
  get tools(): readonly McpTool[] {
    return this.#tools;
  }

  /** Starts it unless it runs or is being started. Rejects with McpFailure. */
  async connect(): Promise<void> {
    await this.#connected();
  }

  /** Ends it and starts it anew. Rejects with McpFailure. */
  async restart(): Promise<void> {
    await this.#close();
    await this.connect();
  }

  /**
   * Calls a tool, on a new connection when the old one is gone; one that may have reached the server is never repeated.
   * Rejects with McpFailure, and with the signal's reason as soon as that aborts.
   */
  async call(tool: McpTool, args: Record<string, unknown>, options: McpCallOptions = {}): Promise<CallToolResult> {
    const open = await unlessAborted(this.#connected(), options.signal);
    try {
      return await this.#callOn(open, tool, args, options);
    } catch (error) {
      // A server over HTTP that has forgotten the session has done nothing, and wants a new one.
      if (!(error instanceof McpFailure) || error.status !== 404) throw error;
      await this.#close();
      return await this.#callOn(await unlessAborted(this.#connected(), options.signal), tool, args, options);
    }
  }

  /** Ends the server and everything it has started. */
  async dispose(): Promise<void> {
    this.#disposed.abort();
    await this.#close();
  }

  async #callOn(
    open: Open,
    { tool, schema }: McpTool,
    args: Record<string, unknown>,
    { signal, onProgress }: McpCallOptions,
  ): Promise<CallToolResult> {
    try {
      return await open.client.callTool(
        { name: tool, arguments: args },
        {
          ...(signal === undefined ? {} : { signal }),
          timeout: this.#callTimeoutMs,
          maxTotalTimeout: Math.max(MAX_CALL_MS, this.#callTimeoutMs),
          resetTimeoutOnProgress: true,
          ...(onProgress === undefined ? {} : { onprogress: (progress) => onProgress(progressText(progress)) }),
          // Without an output schema: what the server gave is shown, whether it fits what it had promised or not.
          toolDefinition: { name: tool, inputSchema: { ...schema, type: "object" } },
        },
      );
    } catch (error) {
      signal?.throwIfAborted();
      throw this.#failure(open, error, `"${tool}"`, this.#callTimeoutMs);
    }
  }

  #connected(): Promise<Open> {
    if (this.#open !== undefined) return Promise.resolve(this.#open);
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #connect(): Promise<Open> {
    const { endpoint } = this.config;
    if (endpoint === undefined) throw new McpFailure(this.#problem ?? notices.IS_OFF);
    if (this.#disposed.signal.aborted) throw new McpFailure(notices.WAS_CLOSED);
    this.#become("starting", undefined);
    try {
      const open = await this.#handshake(await loadClientLibrary(), endpoint);
      this.#open = open;
      this.#become("ready", undefined);
      return open;
    } catch (error) {
      const isOver = this.#disposed.signal.aborted;
      const reason = isOver ? notices.WAS_CLOSED : String(error);
      const failure = error instanceof McpFailure && !isOver ? error : new McpFailure(reason, { cause: error });
      // That bough ends is no failure of the server.
      if (isOver) this.#become("idle", undefined);
      else this.#become("failed", failure.message);
      throw failure;
    }
  }

  /** In the protocol that every server speaks; with one that refuses it, in that of 2026. */
  async #handshake(library: ClientLibrary, endpoint: McpEndpoint): Promise<Open> {
    try {
      return await this.#attempt(library, endpoint, "legacy");
    } catch (error) {
      if (!(error instanceof McpFailure) || !error.isOtherProtocol) throw error;
      return await this.#attempt(library, endpoint, "auto");
    }
  }

  async #attempt(library: ClientLibrary, endpoint: McpEndpoint, mode: "legacy" | "auto"): Promise<Open> {
    const transport =
      endpoint.kind === "http"
        ? httpTransport(library, endpoint)
        : new StdioTransport(library, endpoint, endpoint.cwd ?? this.#options.cwd);
    const client = new library.Client(
      { name: "bough", version: this.#options.version },
      {
        versionNegotiation: { mode },
        listChanged: { tools: { autoRefresh: false, onChanged: () => void this.#relist(client) } },
      },
    );
    const open: Open = { library, client, transport };
    client.onclose = () => this.#lost(open);
    try {
      await client.connect(transport, { timeout: this.#startTimeoutMs, signal: this.#disposed.signal });
      await this.#list(open);
      return open;
    } catch (error) {
      const failure = this.#failure(open, error, "the greeting or the question for its tools", this.#startTimeoutMs);
      await close(open);
      throw failure;
    }
  }

  /** The list is read leniently, page by page: one broken tool costs no other. */
  async #list({ client }: Open): Promise<void> {
    const listed: unknown[] = [];
    const options = { timeout: this.#startTimeoutMs, signal: this.#disposed.signal };
    let cursor: unknown = client.getServerCapabilities()?.tools === undefined ? undefined : "";
    for (let page = 0; page < MAX_PAGES && typeof cursor === "string"; page++) {
      const params = cursor === "" ? {} : { cursor };
      const answer = await client.request({ method: "tools/list", params }, LENIENT, options);
      if (!isRecord(answer) || !Array.isArray(answer["tools"]))
        throw new McpFailure(notices.badAnswer("the question for its tools"));
      listed.push(...(answer["tools"] as unknown[]));
      cursor = answer["nextCursor"];
    }
    const { tools, faults } = readTools(this.config.name, listed);
    this.#tools = tools;
    this.#faults = faults;
  }

  /** The server's list has changed. When it cannot be read the old one stays, and the next call tells what is wrong. */
  async #relist(client: Client): Promise<void> {
    const open = this.#open;
    if (open?.client !== client) return;
    await this.#list(open).then(
      () => this.#options.changed(),
      () => undefined,
    );
  }

  #lost(open: Open): void {
    if (this.#open !== open) return;
    this.#open = undefined;
    const { SdkError, SdkErrorCode } = open.library;
    const closed = new SdkError(SdkErrorCode.ConnectionClosed, "closed");
    this.#become("failed", this.#failure(open, closed, "", 0).message);
  }

  async #close(): Promise<void> {
    await this.#opening?.catch(() => undefined);
    const open = this.#open;
    this.#open = undefined;
    if (open !== undefined) await close(open);
    if (this.config.endpoint !== undefined) this.#become("idle", undefined);
  }

  #become(status: McpServerStatus, problem: string | undefined): void {
    if (this.#status === status && this.#problem === problem) return;
    this.#status = status;
    this.#problem = problem;
    this.#options.changed();
  }

  #failure(open: Open, error: unknown, asked: string, timeoutMs: number): McpFailure {
    return failureOf(open.library, error, { ...lastState(open), asked, timeoutMs });
  }
}

/** Takes any answer; what is in it is looked at by the caller. */
const LENIENT: StandardSchemaV1<unknown, unknown> = {
  "~standard": { version: 1, vendor: "bough", validate: (value) => ({ value }) },
};

function lastState({ transport }: Open): { ending: string | undefined; errorOutput: string } {
  if (!(transport instanceof StdioTransport)) return { ending: undefined, errorOutput: "" };
  const { ending, errorOutput } = transport;
  return { ending, errorOutput };
}

async function close({ client, transport }: Open): Promise<void> {
  if (!(transport instanceof StdioTransport) && transport.sessionId !== undefined)
    await Promise.race([transport.terminateSession().catch(() => undefined), pause(GOODBYE_MS)]);
  await client.close().catch(() => undefined);
  // A client that has not got as far as a connection does not close it.
  await transport.close().catch(() => undefined);
}

function progressText({ progress, total, message }: { progress: number; total?: number; message?: string }): string {
  const share = total === undefined ? `${progress}` : `${progress} of ${total}`;
  return message === undefined ? share : `${message} (${share})`;
}

/** The promise, or a rejection with the signal's reason as soon as that aborts; what the promise does then is ignored. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  promise.catch(() => undefined);
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
