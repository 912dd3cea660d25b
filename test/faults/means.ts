/**
 * What fault tests need of the machine: programs, rights, and file systems of their own.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as errors from "../../src/session/session-errors.ts";

const DESCRIPTIONS = {
  strace: "strace, with the right to trace",
  mount: "the right to mount (root)",
  loop: "loop devices (root) and mkfs.ext4",
  lease: "leases (W5), which this version does not have",
  xfs: "loop devices (root), mkfs.xfs and xfs_io, and XFS in the kernel",
} as const;

export type Mean = keyof typeof DESCRIPTIONS;

const answers = new Map<Mean, boolean>();

/** In words, what of `needs` is not there; undefined when all is. */
export function missing(needs: readonly Mean[]): string | undefined {
  const absent = needs.filter((mean) => {
    if (!answers.has(mean)) answers.set(mean, isThere(mean));
    return !answers.get(mean)!;
  });
  return absent.length === 0 ? undefined : `needs ${absent.map((mean) => DESCRIPTIONS[mean]).join("; ")}`;
}

function isThere(mean: Mean): boolean {
  if (mean === "strace") return succeeds("strace", ["-f", "-qq", "-o", "/dev/null", "-e", "trace=write", "true"]);
  if (mean === "lease") return "SessionInUse" in errors;
  return tries(() => {
    if (mean === "mount") tmpfs("64k").end();
    else if (mean === "loop") imageOf("ext4", 8, ["-q"]).end();
    else imageOf("xfs", 320, ["-q"]).end();
  });
}

function tries(action: () => void): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}

export const succeeds = (command: string, args: readonly string[]): boolean =>
  spawnSync(command, args, { stdio: "ignore" }).status === 0;

/** Runs a program to its end; throws with what it said when it fails. */
export function runProgram(command: string, ...args: string[]): void {
  const result = spawnSync(command, args, { encoding: "utf8" });
  if (result.error !== undefined) throw result.error;
  if (result.status !== 0) throw new Error(`${command} ${args.join(" ")}: ${result.stderr.trim()}`);
}

const toEnd: (() => void)[] = [];
process.once("exit", () => {
  for (const end of toEnd.splice(0).reverse()) tries(end);
});

/** A file system of its own; `end` unmounts it and removes what it was on. */
export interface Mounted {
  folder: string;
  end(): void;
}

/** Mounts at a new folder. `onEnd` follows the unmounting. */
export function mounted(args: readonly string[], onEnd: () => void = () => undefined): Mounted {
  const folder = mkdtempSync(join(tmpdir(), "bough-mount-"));
  let ended = false;
  const end = (): void => {
    if (ended) return;
    ended = true;
    // A program that was killed just now may still hold a file for a moment.
    for (let attempt = 0; !succeeds("umount", [folder]); attempt++) {
      if (attempt === 20) throw new Error(`cannot unmount ${folder}`);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    }
    rmSync(folder, { recursive: true });
    onEnd();
  };
  try {
    runProgram("mount", ...args, folder);
  } catch (error) {
    rmSync(folder, { recursive: true });
    onEnd();
    throw error;
  }
  toEnd.push(end);
  return { folder, end };
}

/** In memory; `size` as mount(8) takes it. */
export const tmpfs = (size: string): Mounted => mounted(["-t", "tmpfs", "-o", `size=${size}`, "bough-faults"]);

/** An empty file system in a file of so many megabytes, mounted over a loop device. */
export function imageOf(
  kind: "ext4" | "xfs",
  megabytes: number,
  mkfsArgs: string[],
  place = tmpdir(),
): Mounted & { image: string } {
  const home = mkdtempSync(join(place, "bough-image-"));
  const image = join(home, "image");
  const remove = (): void => rmSync(home, { recursive: true, force: true });
  try {
    writeFileSync(image, "");
    truncateSync(image, megabytes * 1024 * 1024);
    runProgram(`mkfs.${kind}`, ...mkfsArgs, image);
    return { ...mounted(["-o", "loop", image], remove), image };
  } catch (error) {
    remove();
    throw error;
  }
}
