/**
 * A program that drives `bough --mode rpc` over pipes, as a client would. For tests of `cli/rpc/`.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { Place } from "./command.ts";
import { cleanEnvironment } from "./program.ts";

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

/** A line of standard output. */
export interface OutLine {
  type: string;
  id?: string | number;
  command?: string;
  success?: boolean;
  data?: Record<string, unknown>;
  error?: string;
  code?: string;
  [field: string]: unknown;
}

export interface RpcClientOptions {
  env?: Record<string, string>;
  /** A shell script that starts bough, which is `"$@"` in it. */
  shell?: string;
}

/** A response without id, type and command. */
export type Answer = Pick<OutLine, "success" | "data" | "error" | "code">;

export class RpcClient {
  readonly child: ChildProcess;
  /** Every line so far. */
  readonly lines: OutLine[] = [];
  err = "";
  readonly done: Promise<{ code: number | null; signal: string | null }>;
  #rest = "";
  #watchers: (() => void)[] = [];
  #lastId = 0;

  constructor(place: Place, args: readonly string[], { env = {}, shell }: RpcClientOptions = {}) {
    const bough = [process.execPath, MAIN, "--mode", "rpc", ...args];
    const [program = "", ...rest] = shell === undefined ? bough : ["sh", "-c", shell, "sh", ...bough];
    const child = spawn(program, rest, {
      cwd: place.cwd,
      env: cleanEnvironment(place.home, env),
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.child = child;
    child.stdout.setEncoding("utf8").on("data", (text: string) => this.#take(text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (this.err += text));
    child.stdin.on("error", () => undefined);
    this.done = once(child, "close").then(([code, signal]) => {
      assert.equal(this.#rest, "", "the last line is whole");
      this.#tell();
      return { code: code as number | null, signal: signal as string | null };
    });
  }

  get events(): OutLine[] {
    return this.lines.filter(({ type }) => type !== "response");
  }
  get responses(): OutLine[] {
    return this.lines.filter(({ type }) => type === "response");
  }

  /** Writes text as it is. */
  write(text: string | Uint8Array): void {
    this.child.stdin?.write(text);
  }

  /** Sends a command and waits for its response, which is given without id, type and command. */
  async ask(type: string, fields: object = {}): Promise<Answer> {
    const id = ++this.#lastId;
    this.write(`${JSON.stringify({ id, type, ...fields })}\n`);
    const line = await this.next((candidate) => candidate.type === "response" && candidate.id === id);
    const { id: _, type: __, command, ...response } = line as OutLine & Answer;
    assert.equal(command, type);
    return response;
  }

  /** The data of a command that must succeed. */
  async data(type: string, fields: object = {}): Promise<Record<string, unknown>> {
    const { success, data, error } = await this.ask(type, fields);
    assert.deepEqual([success, error], [true, undefined]);
    return (data ?? {}) as Record<string, unknown>;
  }

  /** The first line, from line number `from` on, that fits. */
  async next(fits: (line: OutLine) => boolean, from = 0): Promise<OutLine> {
    for (let at = from; ; at++) {
      while (at >= this.lines.length) await this.#more();
      const line = this.lines[at] as OutLine;
      if (fits(line)) return line;
    }
  }

  /** The first event of a type. */
  event(type: string, from = 0): Promise<OutLine> {
    return this.next((line) => line.type === type, from);
  }

  /** Ends the input and waits for the end of the program. */
  async end(): Promise<{ code: number | null; err: string }> {
    this.child.stdin?.end();
    const { code } = await this.done;
    return { code, err: this.err };
  }

  #take(text: string): void {
    const [first = "", ...lines] = text.split("\n");
    // Long lines come in many parts; only the new one is looked through.
    this.#rest += first;
    for (const next of lines) {
      this.lines.push(JSON.parse(this.#rest) as OutLine);
      this.#rest = next;
    }
    this.#tell();
  }

  #tell(): void {
    for (const resolve of this.#watchers.splice(0)) resolve();
  }

  async #more(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null)
      throw new Error(`bough has ended (${this.child.exitCode}): ${this.err}${JSON.stringify(this.lines.at(-1))}`);
    await new Promise<void>((resolve) => this.#watchers.push(resolve));
  }
}

/** A client for one test; what still runs at its end is killed. */
export function rpcClient(
  t: TestContext,
  place: Place,
  args: readonly string[],
  options: RpcClientOptions = {},
): RpcClient {
  const client = new RpcClient(place, args, options);
  t.after(async () => {
    client.child.kill("SIGKILL");
    await client.done;
  });
  return client;
}
