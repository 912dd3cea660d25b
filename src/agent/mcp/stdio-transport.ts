/**
 * `StdioTransport`: an MCP server as a child process, one JSON-RPC message a line (MCP specification, "stdio").
 * Part of `agent/`; used by McpConnection. The library's own transport leaves behind what a server has started, takes
 * four seconds to stop one that does not listen, and cannot say how it ended.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { statSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { reasonOf, systemCode } from "../../session/session-errors.ts";
import { plainOutput } from "../output-limits.ts";
import { releaseGroup, stopGroup, trackGroup } from "../process-group.ts";
import type { ClientLibrary } from "./client-library.ts";
import type { McpEndpoint } from "./mcp-config.ts";
import { McpFailure } from "./mcp-failure.ts";
import { MessageLines } from "./message-lines.ts";

/** Enough for a result with some images; a server that sends more in one message is broken. */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;
/** Programs that log to standard output are borne; those that do nothing else are not. */
const MAX_NOISE_BYTES = 1024 * 1024;
/** What is kept of standard error, for the reason of a failure. */
const STDERR_BYTES = 8 * 1024;
/** How long a server may take to end by itself once its input has ended. Milliseconds. */
const GRACE_MS = 500;
/** How long the last words of a process that has ended may take to arrive. Milliseconds. */
const DRAIN_MS = 200;

/** What a server gets of bough's environment: no keys. More of it stands in its `env`. */
const INHERITED = ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];

type StdioEndpoint = Extract<McpEndpoint, { kind: "stdio" }>;

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #library: ClientLibrary;
  readonly #endpoint: StdioEndpoint & { cwd: string };
  readonly #lines = new MessageLines(MAX_MESSAGE_BYTES);
  readonly #exited = Promise.withResolvers<void>();
  #child: ChildProcess | undefined;
  #stopping: Promise<void> | undefined;
  /** What comes is not looked at any more. */
  #isBroken = false;
  #isOver = false;
  #noise = 0;
  #stderr = Buffer.alloc(0);
  #ending: string | undefined;

  constructor(library: ClientLibrary, endpoint: StdioEndpoint, cwd: string) {
    this.#library = library;
    this.#endpoint = { ...endpoint, cwd };
  }

  /** How the process ended, as in "it ended with exit code 1"; undefined while it runs or when bough stopped it. */
  get ending(): string | undefined {
    return this.#ending;
  }
  /** The end of what it wrote to standard error, as plain text. */
  get errorOutput(): string {
    return plainOutput(this.#stderr.toString()).trim();
  }

  async start(): Promise<void> {
    const { command, args, cwd } = this.#endpoint;
    if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
      throw new McpFailure(`its folder ${cwd} does not exist`);
    const child = spawn(command, args, {
      cwd,
      env: this.#environment(),
      // Its own group, which is stopped as a whole, and which no key in the terminal reaches.
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
      windowsHide: true,
    });
    try {
      await new Promise<void>((resolve, reject) => {
        child.once("spawn", resolve);
        child.once("error", reject);
      });
    } catch (error) {
      throw new McpFailure(startFailure(command, error), { cause: error });
    }
    this.#child = child;
    trackGroup(child.pid!);
    this.#listen(child);
  }

  /** Resolves when the message is on its way. */
  async send(message: JSONRPCMessage): Promise<void> {
    const input = this.#child?.stdin;
    if (!input?.writable) {
      // How it ended is known a moment later.
      await Promise.race([this.#exited.promise, pause(DRAIN_MS)]);
      throw new Error("it has ended");
    }
    if (!input.write(this.#library.serializeMessage(message)))
      await Promise.race([new Promise((resolve) => input.once("drain", resolve)), this.#exited.promise]);
  }

  /** Stops the process and what it has started. Resolves when nothing of it is left. */
  async close(): Promise<void> {
    if (this.#child === undefined) return this.#over();
    this.#stopping ??= this.#stop(this.#child);
    await this.#stopping;
  }

  #environment(): NodeJS.ProcessEnv {
    const inherited = INHERITED.map((name) => [name, process.env[name]] as const);
    return { ...Object.fromEntries(inherited.filter(([, value]) => value !== undefined)), ...this.#endpoint.env };
  }

  #listen(child: ChildProcess): void {
    child.stdin?.on("error", (error) => this.onerror?.(error));
    child.stdout?.on("error", (error) => this.onerror?.(error));
    child.stdout?.on("data", (chunk: Buffer) => {
      if (!this.#lines.push(chunk, (line) => this.#take(line))) this.#break("it sent a message of more than 32 MB");
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      this.#stderr = Buffer.concat([this.#stderr, chunk]).subarray(-STDERR_BYTES);
    });
    child.once("exit", (code, signal) => {
      if (this.#stopping === undefined)
        this.#ending ??= signal === null ? `it ended with exit code ${code}` : `it was ended by the signal ${signal}`;
      this.#exited.resolve();
      void this.#drained(child).then(() => this.close());
    });
  }

  /** What the process wrote last is still in the pipe when it has ended. */
  async #drained(child: ChildProcess): Promise<void> {
    const closed = new Promise((resolve) => child.once("close", resolve));
    await Promise.race([closed, pause(DRAIN_MS)]);
  }

  #take(line: string): void {
    if (this.#isBroken) return;
    let message: JSONRPCMessage;
    try {
      message = this.#library.deserializeMessage(line);
    } catch {
      this.#noise += line.length + 1;
      if (this.#noise > MAX_NOISE_BYTES) this.#break("it writes to its standard output what is no MCP message");
      return;
    }
    this.#noise = 0;
    this.onmessage?.(message);
  }

  #break(ending: string): void {
    this.#isBroken = true;
    this.#ending ??= ending;
    void this.close();
  }

  async #stop(child: ChildProcess): Promise<void> {
    const group = child.pid!;
    child.stdin?.end();
    await Promise.race([this.#exited.promise, pause(GRACE_MS)]);
    await stopGroup(group);
    await Promise.race([this.#exited.promise, pause(DRAIN_MS)]);
    releaseGroup(group);
    child.stdout?.destroy();
    child.stderr?.destroy();
    this.#over();
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onclose?.();
  }
}

function startFailure(command: string, error: unknown): string {
  return systemCode(error) === "ENOENT"
    ? `its command "${command}" was not found`
    : `its command "${command}" cannot be started: ${reasonOf(error)}`;
}
