/**
 * `exec`: an extension's programs, run without a shell. Part of `extensions/`; `pi.exec` is this.
 */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { reasonOf } from "../session/session-errors.ts";

export interface ExecOptions {
  /** Ends the program. */
  signal?: AbortSignal;
  /** Milliseconds; none by default. */
  timeout?: number;
  /** Default: the session's. */
  cwd?: string;
  /** Characters of either output after which the program is ended. Default 64 Mi. */
  maxBuffer?: number;
}
export interface ExecResult {
  stdout: string;
  stderr: string;
  /** The exit code; for a signal 128 and its number. */
  code: number;
  /** bough ended it: `signal`, `timeout` or `maxBuffer`. */
  killed: boolean;
  /** It printed more than `maxBuffer`; the rest is missing. */
  truncated: boolean;
}

const MAX_BUFFER = 64 * 1024 * 1024;
/** From the request to end to the end by force. */
const GRACE_MS = 2000;

/** Runs `command`; standard input is empty. Rejects with one plain sentence when it cannot be started. */
export function exec(
  command: string,
  args: readonly string[],
  options: ExecOptions & { cwd: string },
): Promise<ExecResult> {
  const { signal, timeout, cwd, maxBuffer = MAX_BUFFER } = options;
  const { promise, resolve, reject } = Promise.withResolvers<ExecResult>();
  if (signal?.aborted) {
    resolve({ stdout: "", stderr: "", code: 128 + constants.signals.SIGTERM, killed: true, truncated: false });
    return promise;
  }
  const child = spawn(command, [...args], { cwd, stdio: ["ignore", "pipe", "pipe"], windowsHide: true });
  const output = { stdout: "", stderr: "" };
  const ended = { killed: false, truncated: false };
  const timers: NodeJS.Timeout[] = [];
  const stop = (): void => {
    if (ended.killed) return;
    ended.killed = true;
    child.kill("SIGTERM");
    timers.push(setTimeout(() => child.kill("SIGKILL"), GRACE_MS));
  };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8");
    child[name].on("data", (chunk: string) => {
      const room = maxBuffer - output[name].length;
      output[name] += chunk.slice(0, room);
      if (chunk.length <= room) return;
      ended.truncated = true;
      stop();
    });
  }
  signal?.addEventListener("abort", stop, { once: true });
  if (timeout !== undefined && timeout > 0) timers.push(setTimeout(stop, timeout));
  const finish = (): void => {
    signal?.removeEventListener("abort", stop);
    timers.forEach(clearTimeout);
  };
  child.once("error", (error) => {
    finish();
    reject(new Error(`${command} cannot be started: ${reasonOf(error)}.`, { cause: error }));
  });
  child.once("close", (code, signalName) => {
    finish();
    resolve({ ...output, ...ended, code: code ?? 128 + (signalName === null ? 0 : constants.signals[signalName]) });
  });
  return promise;
}
