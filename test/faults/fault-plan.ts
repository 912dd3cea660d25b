/**
 * Faults for another program: by node:fs inside it (anywhere), or by the kernel's hand through strace.
 */
import { fileURLToPath } from "node:url";
import type { DiskCallName } from "./disk-calls.ts";
import type { StartOptions } from "./writing.ts";

export interface FaultPlan {
  /** Only files in it count. */
  folder: string;
  /** Only these calls count; default all. */
  calls?: readonly DiskCallName[];
  /** The call that is hit, from 1. */
  at?: number;
  /** So are all after it. */
  lasting?: boolean;
  /** An error code, `kill` (before the call), or `kill-halfway` (with half of a write done). */
  effect?: string;
  /** A file that gets a line for every call. */
  log?: string;
}

const PRELOAD = fileURLToPath(new URL("fault-preload.ts", import.meta.url));

/** Start options for a program with the fault inside. */
export const inside = (plan: FaultPlan): StartOptions => ({
  nodeArgs: ["--import", PRELOAD],
  env: { BOUGH_FAULT: JSON.stringify(plan) },
});

/**
 * Start options for a program under strace. `path`: only calls on this file, which must exist; strace counts calls by
 * thread, hence the one thread for what is asynchronous.
 */
export function traced(calls: string, options: { inject?: string; path?: string; output?: string }): StartOptions {
  const { inject, path, output = "/dev/null" } = options;
  return {
    through: [
      "strace",
      "-f",
      "-qq",
      "--seccomp-bpf",
      "-o",
      output,
      "-e",
      `trace=${calls}`,
      ...(inject === undefined ? [] : ["-e", `inject=${calls}:${inject}`]),
      ...(path === undefined ? [] : ["-P", path]),
    ],
    env: { UV_THREADPOOL_SIZE: "1" },
  };
}
