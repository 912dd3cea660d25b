/**
 * One measured run in a process of its own: what it took, told to the parent as the last line of standard output.
 * Used by every program the bench starts, under Node and under Bun.
 */
import { readFileSync } from "node:fs";

/** What a run tells: figures by name, and an answer that is the same for everyone who did the same work;
 * empty when a program does not give one. */
export interface Outcome {
  figures: Record<string, number>;
  answer: string;
}

/** In front of the line the parent looks for; the programs measured may print what they like before. */
export const OUTCOME_MARK = "bench-outcome ";

/**
 * Runs the work and tells its outcome. Added to its figures is `peak`: MiB of memory above what the process had needed
 * before, with all its modules loaded; missing where the system does not tell.
 */
export async function measured(work: () => Outcome | Promise<Outcome>): Promise<void> {
  const idle = peakMemory();
  const { figures, answer } = await work();
  const peak = peakMemory();
  const memory = idle === undefined || peak === undefined ? {} : { peak: peak - idle };
  process.stdout.write(`\n${OUTCOME_MARK}${JSON.stringify({ figures: { ...figures, ...memory }, answer })}\n`);
}

/** Milliseconds the work took, and what it returned. */
export async function timed<T>(work: () => T | Promise<T>): Promise<{ ms: number; value: T }> {
  const start = performance.now();
  const value = await work();
  return { ms: performance.now() - start, value };
}

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] as number) + (sorted[Math.floor(middle)] as number)) / 2;
}

/** The most memory a process ever had in RAM, in MiB (VmHWM of proc(5)); undefined where there is no such file. */
export function peakMemory(pid: number | "self" = "self"): number | undefined {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1")) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
  } catch {
    return undefined;
  }
}
