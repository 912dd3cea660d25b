/**
 * All of an open session as the lines of a new file, whatever has become of its own.
 * Part of `session/`; used for recovery files and for saving a session elsewhere.
 */
import { readSession } from "../tree/reader.ts";
import { copiedLines, lineBytes } from "./copied-lines.ts";
import type { OpenSession } from "./open-session.ts";

/** What the store still holds, byte for byte, and then every entry that is in memory and not in it. */
export function* wholeSession({ header, index, store }: OpenSession): Generator<Uint8Array> {
  const reading = readSession(store);
  if (reading.kind === "session") yield* copiedLines(store);
  else yield lineBytes(header);
  for (let n = 0; n < index.size; n++) {
    if (reading.kind === "session" && reading.index.has(index.idAt(n))) continue;
    const entry = index.at(n);
    // What another program has cut off before it was looked at is nowhere.
    if (!index.isGone(n)) yield lineBytes(entry);
  }
}
