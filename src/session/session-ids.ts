/**
 * Ids of entries and sessions.
 * Part of `session/`; used by SessionManager and by everything here that writes a new file.
 */
import { randomBytes, randomUUID } from "node:crypto";

const ATTEMPTS = 100;
const ID_BYTES = 4;

/** Random bytes for the next ids: to ask the system for four costs as much as for many. */
let pool = "";
let used = 0;

function randomHex(): string {
  if (used === pool.length) [pool, used] = [randomBytes(256 * ID_BYTES).toString("hex"), 0];
  used += 2 * ID_BYTES;
  return pool.slice(used - 2 * ID_BYTES, used);
}

/** A new entry id: 8 hexadecimal characters that `taken` does not know, or a whole UUID when those are used up. */
export function newEntryId(taken: (id: string) => boolean): string {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const id = randomHex();
    if (!taken(id)) return id;
  }
  return randomUUID();
}

/** A new session id: UUID version 7 (RFC 9562), so names sort by time. `now` in milliseconds since 1970. */
export function newSessionId(now: number = Date.now()): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now, 0, 6);
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
