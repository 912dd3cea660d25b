/**
 * `runCommand`: runs one shell command in its own process group and collects what it prints.
 * Part of `agent/`; used by the bash tool and by AgentSession for the user's own `!command`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { reasonOf, systemCode } from "../session/session-errors.ts";
import { CommandOutput, type OutputSnapshot } from "./command-output.ts";
import type { BashOperations } from "./hook-port.ts";
import { releaseGroup, stopGroup, trackGroup } from "./process-group.ts";
import { untilAborted } from "./until-aborted.ts";

export interface CommandOptions {
  command: string;
  cwd: string;
  /** Milliseconds; none by default. */
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Called at most ten times a second with the end of what was printed so far, as `CommandResult.output` has it. */
  onOutput?: (output: string) => void;
  /** Default: the process's. */
  env?: NodeJS.ProcessEnv;
  /** Called with what was printed, as it came. */
  onData?: (chunk: Buffer) => void;
  /** Folder for the full text of outputs that are too long; a new temporary one by default. */
  outputDir?: string;
}

export interface CommandResult {
  /** The end of stdout and stderr in the order they were printed, as plain text within the limits of a tool result. */
  output: string;
  truncated: boolean;
  shownLines: number;
  totalLines: number;
  /** `output` is the end of one overlong line. */
  partialLine: boolean;
  /** A private file with every byte, there when `truncated`. */
  fullOutputPath?: string;
  /** Why that file lacks something. */
  fullOutputProblem?: string;
  /** What ended it; `timeout` and `abort` also ended everything it had started. */
  endedBy: "exit" | "timeout" | "abort";
  /** Absent when a signal ended the shell. */
  exitCode?: number;
  signalName?: NodeJS.Signals;
  /** Something it started still holds its output open; what that prints from now on is not collected. */
  leftRunning: boolean;
}

const UPDATE_MS = 100;
/** After the shell has ended: how long its output may be silent before what still holds it counts as background. */
const SILENCE_MS = 100;
const MAX_DRAIN_MS = 1000;
/** The longest delay a timer can have. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Programs must neither page nor draw: nobody sits at this terminal. */
const ENVIRONMENT = { TERM: "dumb", PAGER: "cat", GIT_PAGER: "cat" };

/**
 * Runs `command` with bash, or sh where there is none. Standard input is empty. Failing commands resolve; only a
 * command that could not be started rejects, with one plain sentence.
 */
export async function runCommand(options: CommandOptions): Promise<CommandResult> {
  const output = new CommandOutput(options.outputDir);
  if (options.signal?.aborted) return result(output, { endedBy: "abort", leftRunning: false });
  const child = await start(options);
  // Both exist: the process has started and its stdout is a pipe.
  const [leader, pipe] = [child.pid!, child.stdout!];
  trackGroup(leader);
  const updates = new Updates(output, options.onOutput);
  const collect = (chunk: Buffer): void => {
    options.onData?.(chunk);
    output.push(chunk);
    updates.changed();
  };
  pipe.on("data", collect);
  const stop = stopOn(options, leader);
  try {
    const [code, signalName] = await exitOf(child);
    await stop.finished();
    const leftRunning = !(await drained(pipe));
    // Reading on, unseen: a background process must not die of a closed pipe, nor keep this process alive.
    pipe.off("data", collect).resume();
    if (leftRunning && "unref" in pipe && typeof pipe.unref === "function") pipe.unref();
    return result(output, {
      endedBy: stop.reason() ?? "exit",
      leftRunning,
      ...(code === null ? {} : { exitCode: code }),
      ...(signalName === null ? {} : { signalName }),
    });
  } finally {
    updates.end();
    stop.end();
    releaseGroup(leader);
  }
}

/** Like `runCommand`, with what an extension runs commands with; that ends it on abort. Rejects as it does. */
export async function runElsewhere(
  { command, cwd, env, timeoutMs, signal = new AbortController().signal, onOutput, outputDir }: CommandOptions,
  { exec }: BashOperations,
): Promise<CommandResult> {
  const output = new CommandOutput(outputDir);
  const updates = new Updates(output, onOutput);
  let isOpen = true;
  const onData = (data: Buffer): void => {
    if (!isOpen) return;
    output.push(Buffer.from(data));
    updates.changed();
  };
  try {
    const timeout = timeoutMs === undefined ? {} : { timeout: timeoutMs / 1000 };
    const given = { onData, signal, ...timeout, ...(env === undefined ? {} : { env }) };
    const ended = await untilAborted(exec(command, cwd, given), signal);
    const exitCode = ended?.exitCode ?? undefined;
    return result(output, {
      endedBy: signal.aborted ? "abort" : "exit",
      leftRunning: false,
      ...(exitCode === undefined ? {} : { exitCode }),
    });
  } finally {
    isOpen = false;
    updates.end();
  }
}

type Ending = Pick<CommandResult, "endedBy" | "exitCode" | "signalName" | "leftRunning">;

function result(output: CommandOutput, ending: Ending): CommandResult {
  const { text, ...snapshot }: OutputSnapshot = output.snapshot();
  const file = output.finish(snapshot.truncated);
  return {
    output: text,
    ...snapshot,
    ...(file.path === undefined ? {} : { fullOutputPath: file.path }),
    ...(file.problem === undefined ? {} : { fullOutputProblem: file.problem }),
    ...ending,
  };
}

/** Resolves once the process runs. */
async function start(options: CommandOptions): Promise<ChildProcess> {
  const { command, cwd } = options;
  if (command.includes("\0")) throw new Error("The command contains a NUL character, which no shell accepts.");
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Error(`The command was not run: the working directory ${cwd} does not exist.`);
  }
  const shell = findShell();
  try {
    // The outer shell makes stderr the same pipe as stdout, so that the order of what is printed is kept, and becomes
    // the shell of the command, whose text and line numbers stay as they were given.
    const child = spawn(shell, ["-c", 'exec "$0" -c "$1" 2>&1', shell, command], {
      cwd,
      env: { ...(options.env ?? process.env), ...ENVIRONMENT },
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
    return child;
  } catch (error) {
    const reason = systemCode(error) === "E2BIG" ? "it is too long; put it in a file and run that" : reasonOf(error);
    throw new Error(`The command could not be started: ${reason}.`, { cause: error });
  }
}

let shell: string | undefined;

function findShell(): string {
  const folders = ["/bin", "/usr/bin", ...(process.env["PATH"] ?? "").split(delimiter).filter((path) => path !== "")];
  shell ??= folders.map((folder) => join(folder, "bash")).find((path) => existsSync(path)) ?? "/bin/sh";
  return shell;
}

function exitOf(child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve([code, signal]));
  });
}

/** Stops the group at the time limit or on abort, whichever comes first. */
function stopOn(options: CommandOptions, leader: number) {
  let reason: "timeout" | "abort" | undefined;
  let stopping: Promise<void> | undefined;
  const stop = (why: "timeout" | "abort"): void => {
    reason ??= why;
    stopping ??= stopGroup(leader);
  };
  const abort = (): void => stop("abort");
  const timer =
    options.timeoutMs === undefined
      ? undefined
      : setTimeout(() => stop("timeout"), Math.min(options.timeoutMs, MAX_TIMER_MS));
  options.signal?.addEventListener("abort", abort, { once: true });
  // An abort between the start and now fires no event.
  if (options.signal?.aborted) abort();
  const end = (): void => {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", abort);
  };
  return {
    reason: () => reason,
    end,
    /** The command has ended: no new stop is started, one under way is waited for. */
    finished: async (): Promise<void> => {
      end();
      await stopping;
    },
  };
}

/** True when the pipe has ended; false when it has fallen silent, or talks on, with somebody still holding it. */
async function drained(pipe: Readable): Promise<boolean> {
  const deadline = Date.now() + MAX_DRAIN_MS;
  while (!pipe.readableEnded && !pipe.destroyed && Date.now() < deadline) {
    if (await silent(pipe)) break;
  }
  return pipe.readableEnded || pipe.destroyed;
}

/** Resolves at the next data (false), at the end (false), or after a silence (true). */
function silent(pipe: Readable): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (value: boolean): void => {
      clearTimeout(timer);
      for (const event of ["data", "end", "close", "error"]) pipe.off(event, heard);
      resolve(value);
    };
    const heard = (): void => settle(false);
    // After a busy spell the timer is due before the waiting data was read: one more turn of the loop reads it.
    const timer = setTimeout(() => void nextTurn().then(() => settle(true)), SILENCE_MS);
    for (const event of ["data", "end", "close", "error"]) pipe.on(event, heard);
  });
}

/** Reports changes at a bounded rate, the first at once and the last before the end. */
class Updates {
  readonly #output: CommandOutput;
  readonly #report: ((output: string) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pending = false;

  constructor(output: CommandOutput, report: ((output: string) => void) | undefined) {
    this.#output = output;
    this.#report = report;
  }

  changed(): void {
    if (this.#report === undefined) return;
    this.#pending = true;
    if (this.#timer === undefined) this.#send();
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #send(): void {
    this.#timer = undefined;
    if (!this.#pending) return;
    this.#pending = false;
    this.#report?.(this.#output.snapshot().text);
    this.#timer = setTimeout(() => this.#send(), UPDATE_MS);
  }
}
