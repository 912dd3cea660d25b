/**
 * `QueueFile`: queued prompts on disk, so that those that were never sent come back after a crash.
 * Part of `agent/`; AgentSession has one. `<state>/queues/<SHA-256 of the session id>.json`, there only while something
 * waits.
 */
import { createHash } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ensurePrivateDir, stateDir } from "../session/locations.ts";
import { writePrivately } from "../session/lease.ts";
import type { QueuedMessage } from "./message-queue.ts";

const queuesDir = (): string => join(stateDir(), "queues");

export class QueueFile {
  /** The file that holds what waits now. */
  #path: string | undefined;

  /** Keeps what waits for a session in place of what waited before. Throws when it cannot be written. */
  keep(sessionId: string, messages: readonly QueuedMessage[]): void {
    const path = pathOf(sessionId);
    if (this.#path !== undefined && (messages.length === 0 || this.#path !== path)) this.clear();
    if (messages.length === 0) return;
    ensurePrivateDir(queuesDir());
    writePrivately(path, JSON.stringify(messages.map(({ kind, text }) => ({ kind, text }))));
    this.#path = path;
  }

  /** The texts that waited for a session when its program ended; they stay on disk until `clear` or another `keep`. */
  left(sessionId: string): string[] {
    const path = pathOf(sessionId);
    try {
      const said: unknown = JSON.parse(readFileSync(path, "utf8"));
      this.#path = path;
      if (!Array.isArray(said)) return [];
      return said.flatMap((item: { text?: unknown } | null) => (typeof item?.text === "string" ? [item.text] : []));
    } catch {
      return [];
    }
  }

  clear(): void {
    if (this.#path !== undefined) rmSync(this.#path, { force: true });
    this.#path = undefined;
  }
}

const pathOf = (sessionId: string): string =>
  join(queuesDir(), `${createHash("sha256").update(sessionId).digest("hex")}.json`);
