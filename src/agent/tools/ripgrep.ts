/**
 * Running ripgrep and reading what it prints, record by record.
 * Part of `agent/`; used by grep and find.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { reasonOf } from "../../session/session-errors.ts";
import * as failures from "./failures.ts";

/**
 * Heed .gitignore also outside of repositories; hidden files count, git's own do not; the user's ripgrep settings have
 * no say; a fixed order, so that a limit always cuts the same things off.
 */
const ALWAYS = ["--no-config", "--hidden", "--no-require-git", "--glob=!.git", "--color=never", "--sort=path"];
/** Of one record; a file name is at most 4,096 bytes and a line is cut by --max-columns. */
const MAX_RECORD_BYTES = 64 * 1024;
const MAX_COMPLAINT = 2000;

export interface RipgrepRun {
  args: readonly string[];
  cwd: string;
  /** Byte that ends a record. */
  delimiter: 0 | 10;
  /** Gets each record; false ends the run. */
  onRecord: (record: Buffer) => boolean;
  signal: AbortSignal | undefined;
  /** The program; by default the one that comes with bough. */
  program?: string | undefined;
}

export interface RipgrepEnd {
  /** Something was found: ripgrep exits with 0 for that, 1 for nothing, 2 for an error, also after results. */
  exitCode: number | null;
  /** What it complained about, at most MAX_COMPLAINT characters. */
  complaint: string;
}

/** Resolves when ripgrep has ended; rejects when it could not be started or the call was aborted. */
export async function runRipgrep(run: RipgrepRun): Promise<RipgrepEnd> {
  if (run.signal?.aborted) throw failures.aborted();
  const program = run.program ?? (await bundledRipgrep());
  const child = spawn(program, [...ALWAYS, ...run.args], { cwd: run.cwd, stdio: ["ignore", "pipe", "pipe"] });
  const stop = (): void => void child.kill("SIGKILL");
  run.signal?.addEventListener("abort", stop, { once: true });
  try {
    const complaint = collectComplaint(child);
    readRecords(child, run, stop);
    const exitCode = await ended(child);
    if (run.signal?.aborted) throw failures.aborted();
    return { exitCode, complaint: complaint() };
  } finally {
    run.signal?.removeEventListener("abort", stop);
  }
}

/** The package refuses to load where it has no program for the platform; then one in PATH may serve. */
async function bundledRipgrep(): Promise<string> {
  try {
    return (await import("@vscode/ripgrep")).rgPath;
  } catch {
    return "rg";
  }
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once("error", (error) => reject(failures.noRipgrep(reasonOf(error))));
    child.once("close", resolve);
  });
}

function collectComplaint(child: ChildProcess): () => string {
  let text = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    text = (text + chunk).slice(0, MAX_COMPLAINT);
  });
  return () => text.trim();
}

function readRecords(child: ChildProcess, { delimiter, onRecord }: RipgrepRun, stop: () => void): void {
  let pending: Buffer[] = [];
  let size = 0;
  let stopped = false;
  const keep = (piece: Buffer): void => {
    const room = piece.subarray(0, MAX_RECORD_BYTES - size);
    pending.push(room);
    size += room.length;
  };
  child.stdout?.on("data", (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(delimiter); end >= 0 && !stopped; end = chunk.indexOf(delimiter, start)) {
      keep(chunk.subarray(start, end));
      stopped = !onRecord(Buffer.concat(pending, size));
      pending = [];
      size = 0;
      start = end + 1;
    }
    if (stopped) stop();
    else keep(chunk.subarray(start));
  });
}
