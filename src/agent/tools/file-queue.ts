/**
 * `inFileQueue`: changes to one file happen one after the other, also when tool calls run at the same time.
 * Part of `agent/`; used by write and edit.
 */
import { canonicalPath } from "../../session/locations.ts";

const last = new Map<string, Promise<unknown>>();

/** Runs `change` when all changes to this file that were asked for earlier have ended; links count as their target. */
export async function inFileQueue<T>(path: string, change: () => Promise<T>): Promise<T> {
  const key = canonicalPath(path);
  const before = last.get(key);
  const mine = (async () => {
    // How an earlier change ended is its caller's business.
    await before?.catch(() => undefined);
    return await change();
  })();
  last.set(key, mine);
  try {
    return await mine;
  } finally {
    if (last.get(key) === mine) last.delete(key);
  }
}
