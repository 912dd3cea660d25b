/**
 * The real bough command without a terminal: arguments and standard input in, exit code and both outputs out. For tests
 * of `cli/`.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { canonicalPath, directoryKey } from "../../src/session/locations.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { textOf } from "../../src/tree/content.ts";
import { cleanEnvironment, newFolder } from "./program.ts";
import { checkLaws } from "./laws.ts";
import { startProvider } from "./provider-mock.ts";
import type { ProviderServer, Reply } from "./provider-mock.ts";

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

export interface CommandResult {
  code: number | null;
  out: string;
  err: string;
}

/** A user's home and project, both empty, and the ways to run bough in them. */
export class Place {
  readonly home = newFolder("home");
  readonly cwd = newFolder("work");
  readonly stateDir = join(this.home, ".bough");

  /** Starts bough; without `input` its standard input is empty. */
  start(args: readonly string[], env: Record<string, string> = {}, input = ""): RunningCommand {
    return new RunningCommand(process.execPath, [MAIN, ...args], {
      cwd: this.cwd,
      env: cleanEnvironment(this.home, env),
      input,
    });
  }

  /** Starts bough from a shell script, in which `"$@"` is bough with `args`. */
  startInShell(script: string, args: readonly string[]): RunningCommand {
    const env = cleanEnvironment(this.home);
    return new RunningCommand("sh", ["-c", script, "sh", process.execPath, MAIN, ...args], {
      cwd: this.cwd,
      env,
      input: "",
    });
  }

  run(args: readonly string[], env?: Record<string, string>, input?: string): Promise<CommandResult> {
    return this.start(args, env, input).done;
  }

  writeSettings(settings: object): void {
    mkdirSync(this.stateDir, { recursive: true, mode: 0o700 });
    writeFileSync(join(this.stateDir, "settings.json"), JSON.stringify(settings));
  }

  /** The sessions of this project, oldest first. */
  sessionFiles(): string[] {
    const folder = join(this.stateDir, "sessions", directoryKey(canonicalPath(this.cwd)));
    return filesIn(folder).map((name) => join(folder, name));
  }

  /** A file in the project. */
  file(name: string, content: string | Uint8Array): string {
    const path = join(this.cwd, name);
    writeFileSync(path, content);
    return path;
  }

  /** Every file and folder of home and project with the content, to compare before and after. */
  picture(): Map<string, string> {
    const picture = new Map<string, string>();
    for (const root of [this.home, this.cwd])
      for (const name of readdirSync(root, { recursive: true, encoding: "utf8" }).sort()) {
        const path = join(root, name);
        const stats = statSync(path);
        const content = stats.isFile() ? readFileSync(path).toString("base64") : "";
        picture.set(join(root === this.home ? "~" : ".", relative(root, path)), `${stats.mode} ${content}`);
      }
    return picture;
  }
}

export class RunningCommand {
  readonly child: ChildProcess;
  readonly done: Promise<CommandResult>;
  /** What has come on standard output so far. */
  out = "";

  constructor(
    program: string,
    args: readonly string[],
    options: { cwd: string; env: Record<string, string>; input: string },
  ) {
    const child = spawn(program, args, { cwd: options.cwd, env: options.env, stdio: ["pipe", "pipe", "pipe"] });
    this.child = child;
    let err = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (this.out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
    child.stdin.on("error", () => undefined);
    child.stdin.end(options.input);
    this.done = once(child, "close").then(([code]) => ({ code: code as number | null, out: this.out, err }));
  }
}

/** The flags that name a mock provider. */
export const connectedTo = ({ baseUrl }: Pick<ProviderServer, "baseUrl">): string[] => [
  "--base-url",
  baseUrl,
  "--model",
  "mock",
  "--api-key",
  "k",
];

/** A mock provider for one test. */
export async function providerFor(t: TestContext, ...replies: Reply[]): Promise<ProviderServer> {
  const server = await startProvider(replies);
  t.after(() => server.close());
  return server;
}

/** What a session file holds, which must keep the laws: role and text of each message on its current path. */
export async function savedMessages(path: string | undefined): Promise<string[]> {
  assert.ok(path !== undefined, "there is a session file");
  const session = await SessionManager.open(path, { readOnly: true });
  await checkLaws(session);
  const messages = session.getBranch().flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
  return messages.map((message) => `${message.role}: ${"content" in message ? textOf(message.content) : ""}`);
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
