/**
 * `QueueFile`: what waits to be said on disk, so that it is still there after a crash: prompts that were never sent come
 * back into the editor, messages of extensions into the queue.
 * Part of `agent/`; Delivery has one. `<state>/queues/<SHA-256 of the session id>.json`, there only while something waits.
 */
import { createHash } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ensurePrivateDir, stateDir } from "../session/locations.ts";
import { writePrivately } from "../session/lease.ts";
import { isRecord } from "../tree/json.ts";
import type { CustomMessageDraft } from "./hook-port.ts";
import { isContent, isImage } from "./prompt-entries.ts";
import { isCustom } from "./message-queue.ts";
import type { CustomKind, QueuedCustom, QueuedMessage, WaitingMessage } from "./message-queue.ts";

/** What was queued and never sent. */
export type UnsentMessage = Pick<QueuedMessage, "text" | "images">;

/**
 * `sending`: how many entries the session had when the message went on its way; if it arrived, it is one of those that
 * came after.
 */
export type KeptCustom = QueuedCustom & { sending?: number };
export type KeptMessage = WaitingMessage & { sending?: number };

/** Of all images together, as they are written (base64); the file is written anew with every change. */
export const KEPT_IMAGE_BYTES = 16 * 1024 * 1024;

const CUSTOM_KINDS: readonly CustomKind[] = ["steer", "followUp", "nextTurn", "turnEnd"];

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
  keep(sessionId: string, messages: readonly (KeptMessage | (UnsentMessage & { kind: string }))[]): number {
    const path = pathOf(sessionId);
    if (this.#path !== undefined && (messages.length === 0 || this.#path !== path)) this.clear();
    const room = { bytes: KEPT_IMAGE_BYTES, leftOut: 0 };
    const kept = messages.map((message) => record(message, room));
    const more = room.leftOut > this.#leftOut ? room.leftOut : 0;
    this.#leftOut = room.leftOut;
    if (messages.length === 0) return 0;
    ensurePrivateDir(queuesDir());
    writePrivately(path, JSON.stringify(kept));
    this.#path = path;
    return more;
  }

  /** What waited for a session when its program ended; it stays on disk until `clear` or another `keep`. */
  left(sessionId: string): { unsent: (UnsentMessage & { kind: string })[]; custom: KeptCustom[] } {
    const path = pathOf(sessionId);
    try {
      const said: unknown = JSON.parse(readFileSync(path, "utf8"));
      this.#path = path;
      const items = Array.isArray(said) ? said.filter(isRecord) : [];
      return { unsent: items.flatMap(unsentMessage), custom: items.flatMap(keptCustom) };
    } catch {
      return { unsent: [], custom: [] };
    }
  }

  /** Leaves the file as it is, for the session it belongs to. */
  leave(): void {
    this.#path = undefined;
  }

  clear(): void {
    if (this.#path !== undefined) rmSync(this.#path, { force: true });
    this.#path = undefined;
  }
}

/** As it is written; of images the oldest first, each whole or not at all. */
function record(
  message: KeptMessage | (UnsentMessage & { kind: string }),
  room: { bytes: number; leftOut: number },
): object {
  if ("id" in message && isCustom(message)) {
    const { id, kind, custom, sending } = message;
    return { id, kind, custom, ...(sending === undefined ? {} : { sending }) };
  }
  const { kind, text, images = [] } = message;
  const fitting = images.filter(({ data }) => {
    if (data.length > room.bytes) return false;
    room.bytes -= data.length;
    return true;
  });
  room.leftOut += images.length - fitting.length;
  return { kind, text, ...(fitting.length === 0 ? {} : { images: fitting }) };
}

function unsentMessage(item: Record<string, unknown>): (UnsentMessage & { kind: string })[] {
  const { kind, text } = item;
  if (typeof text !== "string") return [];
  const images = Array.isArray(item["images"]) ? item["images"].filter(isImage) : [];
  return [{ kind: kind === "steer" ? kind : "followUp", text, ...(images.length === 0 ? {} : { images }) }];
}

function keptCustom(item: Record<string, unknown>): KeptCustom[] {
  const { id, custom, sending } = item;
  const kind = CUSTOM_KINDS.find((known) => known === item["kind"]);
  if (kind === undefined || typeof id !== "string" || !isDraft(custom)) return [];
  return [{ id, kind, custom, ...(typeof sending === "number" ? { sending } : {}) }];
}

/** Whether it has the fields of an extension's message. */
export function isDraft(given: unknown): given is CustomMessageDraft {
  if (!isRecord(given)) return false;
  const { customType, content, display } = given;
  return (
    typeof customType === "string" &&
    typeof display === "boolean" &&
    (typeof content === "string" || (Array.isArray(content) && isContent(content)))
  );
}

const pathOf = (sessionId: string): string =>
  join(queuesDir(), `${createHash("sha256").update(sessionId).digest("hex")}.json`);
