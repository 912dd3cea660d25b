/**
 * Stopping a command with everything it started: a shell that leads its own process group.
 * Part of `agent/`; used by run-command.ts alone.
 */
import { setTimeout as pause } from "node:timers/promises";
import { systemCode } from "../session/session-errors.ts";

/** How long a group may take to end after SIGTERM before it gets SIGKILL. */
const GRACE_MS = 1000;
const POLL_MS = 20;

const running = new Set<number>();
let watchingExit = false;

/** Notes a group so that it does not outlive this process: a detached child gets no signal when its parent ends. */
export function trackGroup(leader: number): void {
  running.add(leader);
  if (watchingExit) return;
  watchingExit = true;
  process.once("exit", () => {
    for (const group of running) signalGroup(group, "SIGKILL");
  });
}

/** The command has ended by itself; what it left in the background may live on. */
export function releaseGroup(leader: number): void {
  running.delete(leader);
}

/** SIGTERM to the group, and SIGKILL to those that have not ended in time. Resolves when none is left to signal. */
export async function stopGroup(leader: number): Promise<void> {
  if (!signalGroup(leader, "SIGTERM")) return;
  for (let waited = 0; waited < GRACE_MS; waited += POLL_MS) {
    await pause(POLL_MS);
    if (!signalGroup(leader, 0)) return;
  }
  signalGroup(leader, "SIGKILL");
}

/** False when nobody is left in the group, or nobody this user may signal. */
function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-leader, signal);
    return true;
  } catch (error) {
    if (systemCode(error) === "ESRCH" || systemCode(error) === "EPERM") return false;
    throw error;
  }
}
