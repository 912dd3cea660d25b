/**
 * The test's side of writer.ts: starting one, hearing what it confirms, and finding that again in the file.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { SessionManager } from "../../src/session/session-manager.ts";
import type { SessionEntry } from "../../src/tree/entries.ts";
import { user } from "../support/session-files.ts";
import { isPromised } from "./fault-test.ts";
import type { Tally } from "./fault-test.ts";
import { textOf } from "./written-text.ts";
import type { Order } from "./written-text.ts";

const WRITER = fileURLToPath(new URL("writer.ts", import.meta.url));
/** How long a program may be silent before the test gives it up; milliseconds. */
const PATIENCE = 60_000;

export interface Ack {
  n: number;
  id: string;
  file: string;
}

export interface StartOptions {
  /** What runs Node: `["strace", "-f"]`, `["sh", "-c", …]`. */
  through?: readonly string[];
  env?: Record<string, string>;
  nodeArgs?: readonly string[];
}

/** Starts a program of this folder with one argument of JSON. */
export function startProgram(program: string, argument: unknown, options: StartOptions = {}): ChildProcess {
  const [command, ...args] = [
    ...(options.through ?? []),
    process.execPath,
    ...(options.nodeArgs ?? []),
    program,
    JSON.stringify(argument),
  ];
  // A group of its own: what traces a program is ended with it.
  return spawn(command!, args, {
    stdio: ["pipe", "pipe", "ignore"],
    env: { ...process.env, ...options.env },
    detached: true,
  });
}

export class Writer {
  readonly order: Order;
  readonly acks: Ack[] = [];
  readonly errors: { n: number; code: string; text: string }[] = [];
  readonly files: string[] = [];
  ended: { leaf: string; length: number } | undefined;
  readonly child: ChildProcess;
  /** Its exit code, or the signal that ended it. */
  readonly done: Promise<number | string>;
  #exited = false;

  constructor(order: Order, options: StartOptions = {}) {
    this.order = order;
    this.child = startProgram(WRITER, order, options);
    const lines = createInterface({ input: this.child.stdout! });
    lines.on("line", (line) => this.#hear(line));
    this.child.stdin!.on("error", () => undefined);
    this.done = once(this.child, "close").then(([code, signal]) => {
      this.#exited = true;
      return (code ?? signal) as number | string;
    });
  }

  #hear(line: string): void {
    const [word, ...rest] = line.split(" ");
    if (word === "file") this.files.push(rest.join(" "));
    else if (word === "ack") this.acks.push({ n: Number(rest[0]), id: rest[1]!, file: this.files.at(-1)! });
    else if (word === "error") this.errors.push({ n: Number(rest[0]), code: rest[1]!, text: rest.slice(2).join(" ") });
    else if (word === "end") this.ended = { leaf: rest[0]!, length: Number(rest[1]) };
    else throw new Error(`The writer said: ${line}`);
  }

  /** Resolves when it is so, or when the program has ended. */
  async until(holds: () => boolean): Promise<void> {
    for (let waited = 0; !holds() && !this.#exited; waited += 2) {
      if (waited > PATIENCE) throw new Error(`The writer of ${this.order.place} hangs`);
      await sleep(2);
    }
  }

  /** Ends the program and all it runs under. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    try {
      process.kill(-this.child.pid!, signal);
    } catch {
      // It has ended by itself.
    }
    await this.done;
  }

  goOn(): void {
    this.child.stdin!.write("\n");
  }
}

const messageOf = (entry: SessionEntry | undefined): unknown =>
  entry?.type === "message" && entry.message.role === "user" ? entry.message.content : undefined;

/** Every ack for a file must be in it, whole, and follow the one before it. Returns the session, open for reading. */
export async function checkAcks(
  tally: Tally,
  order: Order,
  acks: readonly Ack[],
  path: string,
): Promise<SessionManager> {
  const session = await SessionManager.open(path, { readOnly: true });
  const mine = acks.filter((ack) => ack.file === path || order.place === path);
  let before: string | undefined;
  for (const { n, id } of mine) {
    const entry = session.getEntry(id);
    if (entry === undefined) tally.lose(`${path}: ${id} (message ${n}) was confirmed and is gone`);
    else if (messageOf(entry) !== textOf(order, n)) tally.lose(`${path}: ${id} (message ${n}) is not what was written`);
    else if (before !== undefined && entry.parentId !== before)
      tally.check(false, `${path}: ${id} follows ${entry.parentId} instead of ${before}`);
    before = id;
  }
  return session;
}

/**
 * An entry that was confirmed though its file is gone or is another's must be somewhere: in the folder, or in the state
 * folder. Until that is promised it is noted.
 */
export function checkKeptSomewhere(tally: Tally, what: string, id: string, folder: string): void {
  const state = process.env["BOUGH_DIR"];
  const kept = [folder, ...(state === undefined ? [] : [state])].some((place) => holdsEntry(place, id));
  if (kept) return;
  if (isPromised("W4")) tally.lose(`${what}: ${id} was confirmed and is in no file`);
  else tally.note(`${what}: an entry was confirmed and is in no file (needs W4)`);
}

function holdsEntry(place: string, id: string): boolean {
  if (!existsSync(place)) return false;
  const files = readdirSync(place, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"));
  return files.some((name) => readFileSync(join(place, name), "utf8").includes(`"id":"${id}"`));
}

/** The next entry after whatever happened is readable, and hangs on the leaf. */
export async function checkNextAppend(tally: Tally, path: string): Promise<void> {
  const session = await SessionManager.open(path);
  const leaf = session.getLeafId();
  let id: string;
  try {
    id = session.appendMessage(user("the next one"));
  } finally {
    await session.close();
  }
  const again = await SessionManager.open(path, { readOnly: true });
  const entry = again.getEntry(id);
  tally.same(
    [messageOf(entry), entry?.parentId, again.getLeafId()],
    ["the next one", leaf, id],
    `${path}: next append`,
  );
  await again.close();
}

/** Lines that were cut short: each is one write that did not come to its end. */
export const tornLines = (session: SessionManager): number =>
  session.getProblems().filter(({ code }) => ["torn-tail", "bad-line", "fused-line", "nul-run"].includes(code)).length;
