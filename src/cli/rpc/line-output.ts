/**
 * `LineOutput`: JSON lines to a reader that may be slow, stop or go away. What waits is bounded as long as those who write
 * much wait for `room()` first. Part of `cli/`; used by rpc-mode.ts.
 */
import { jsonText } from "../json-text.ts";
import type { StdoutWrite } from "../stdout-guard.ts";

/** Bytes that may wait before writers have to. */
const ROOM = 1 << 20;
/** What is written at a time: about what a pipe holds, so that a reader's progress through a long line is seen. */
const PIECE = 1 << 16;
/** How long the end waits for a reader that takes nothing more; milliseconds. */
const STUCK_MS = 2_000;

interface Waiting {
  bytes: Buffer;
  readonly key: string | undefined;
}

export class LineOutput {
  readonly #write: StdoutWrite;
  #waiting: Waiting[] = [];
  /** Those of `#waiting` that a newer one with the same key replaces. */
  readonly #replaceable = new Map<string, Waiting>();
  /** Bytes of `#waiting` and of what is being written. */
  #size = 0;
  #isWriting = false;
  #isGone = false;
  readonly #gone = Promise.withResolvers<void>();
  /** Called whenever something was taken. */
  #watchers: (() => void)[] = [];

  constructor(write: StdoutWrite) {
    this.#write = write;
  }

  /** Settles when the reader has gone away. */
  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  /**
   * Writes a value as a line, as soon as the reader takes it. Of several that wait with the same `key` only the newest is
   * written. Throws when the value cannot be written as JSON.
   */
  send(value: object, key?: string): void {
    if (this.#isGone) return;
    const bytes = Buffer.from(`${jsonText(value)}\n`);
    const older = key === undefined ? undefined : this.#replaceable.get(key);
    this.#size += bytes.length - (older?.bytes.length ?? 0);
    if (older !== undefined) older.bytes = bytes;
    else {
      const waiting = { bytes, key };
      this.#waiting.push(waiting);
      if (key !== undefined) this.#replaceable.set(key, waiting);
    }
    this.#writeNext();
  }

  /** Undefined when there is room for more; else settles when there is, or the reader has gone away. */
  room(): Promise<void> | undefined {
    return this.#size < ROOM ? undefined : this.#untilRoom();
  }

  async #untilRoom(): Promise<void> {
    while (this.#size >= ROOM) await this.#taken();
  }

  /** Waits until all is written. False when the reader takes nothing for some seconds; one that has gone needs nothing. */
  async end(): Promise<boolean> {
    while (this.#size > 0) {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const timer = setTimeout(() => resolve(false), STUCK_MS);
      void this.#taken().then(() => resolve(true));
      const hasTaken = await promise;
      clearTimeout(timer);
      if (!hasTaken) return false;
    }
    return true;
  }

  #taken(): Promise<void> {
    return new Promise((resolve) => this.#watchers.push(resolve));
  }

  #writeNext(): void {
    if (this.#isWriting || this.#waiting.length === 0) return;
    const piece = this.#nextPiece();
    this.#isWriting = true;
    this.#write(piece, (error) => {
      this.#isWriting = false;
      // Whatever the reason: what is written from now on reaches nobody.
      if (error) this.#lose();
      else this.#size -= piece.length;
      for (const resolve of this.#watchers.splice(0)) resolve();
      this.#writeNext();
    });
  }

  /** Short lines together, long ones in parts. */
  #nextPiece(): Buffer {
    let [count, size] = [0, 0];
    while (count < this.#waiting.length && size < PIECE) size += this.#waiting[count++]!.bytes.length;
    const taken = this.#waiting.splice(0, count);
    for (const { key } of taken) if (key !== undefined) this.#replaceable.delete(key);
    // A long line alone is not copied for each of its parts.
    const bytes = taken.length === 1 ? taken[0]!.bytes : Buffer.concat(taken.map((waiting) => waiting.bytes));
    if (bytes.length > PIECE) this.#waiting.unshift({ bytes: bytes.subarray(PIECE), key: undefined });
    return bytes.subarray(0, PIECE);
  }

  #lose(): void {
    this.#isGone = true;
    this.#waiting = [];
    this.#replaceable.clear();
    this.#size = 0;
    this.#gone.resolve();
  }
}
