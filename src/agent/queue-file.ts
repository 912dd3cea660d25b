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
import type { ImageContent } from "../tree/messages.ts";
import type { QueuedMessage } from "./message-queue.ts";

/** What was queued and never sent. */
export type UnsentMessage = Pick<QueuedMessage, "text" | "images">;

/** Of all images together, as they are written (base64); the file is written anew with every change. */
export const KEPT_IMAGE_BYTES = 16 * 1024 * 1024;

const queuesDir = (): string => join(stateDir(), "queues");

export class QueueFile {
  /** The file that holds what waits now. */
  #path: string | undefined;
  /** Images that there was no room for. */
  #leftOut = 0;

  /**
   * Keeps what waits for a session in place of what waited before. Returns how many images there is no room for, if they
   * are more than the last time; else 0. Throws when it cannot be written.
   */
  keep(sessionId: string, messages: readonly QueuedMessage[]): number {
    const path = pathOf(sessionId);
    if (this.#path !== undefined && (messages.length === 0 || this.#path !== path)) this.clear();
    const { kept, leftOut } = withinLimit(messages);
    const more = leftOut > this.#leftOut ? leftOut : 0;
    this.#leftOut = leftOut;
    if (messages.length === 0) return 0;
    ensurePrivateDir(queuesDir());
    writePrivately(path, JSON.stringify(kept));
    this.#path = path;
    return more;
  }

  /** What waited for a session when its program ended; it stays on disk until `clear` or another `keep`. */
  left(sessionId: string): UnsentMessage[] {
    const path = pathOf(sessionId);
    try {
      const said: unknown = JSON.parse(readFileSync(path, "utf8"));
      this.#path = path;
      return Array.isArray(said) ? said.flatMap(unsentMessage) : [];
    } catch {
      return [];
    }
  }

  clear(): void {
    if (this.#path !== undefined) rmSync(this.#path, { force: true });
    this.#path = undefined;
  }
}

/** The oldest images first, each whole or not at all. */
function withinLimit(messages: readonly QueuedMessage[]): {
  kept: Pick<QueuedMessage, "kind" | "text" | "images">[];
  leftOut: number;
} {
  let room = KEPT_IMAGE_BYTES;
  let leftOut = 0;
  const kept = messages.map(({ kind, text, images = [] }) => {
    const fitting = images.filter(({ data }) => {
      if (data.length > room) return false;
      room -= data.length;
      return true;
    });
    leftOut += images.length - fitting.length;
    return { kind, text, ...(fitting.length === 0 ? {} : { images: fitting }) };
  });
  return { kept, leftOut };
}

function unsentMessage(item: { text?: unknown; images?: unknown } | null): UnsentMessage[] {
  if (typeof item?.text !== "string") return [];
  const images = Array.isArray(item.images) ? item.images.filter(isImage) : [];
  return [{ text: item.text, ...(images.length === 0 ? {} : { images }) }];
}

function isImage(item: Partial<ImageContent> | null): item is ImageContent {
  return item?.type === "image" && typeof item.data === "string" && typeof item.mimeType === "string";
}

const pathOf = (sessionId: string): string =>
  join(queuesDir(), `${createHash("sha256").update(sessionId).digest("hex")}.json`);
