/**
 * `SessionStore`: where the lines of one session live. The port every store implements; `conformance.ts` tests one.
 * Part of `session/`. Implemented by file-store.ts and memory-store.ts, and by whoever keeps sessions elsewhere; used by
 * SessionManager alone.
 */
import type { LineSource } from "../tree/line-source.ts";

/** Bytes of a store that somebody else has written. */
export interface ForeignBytes {
  offset: number;
  length: number;
}

/** What a look at the store after an append has found. */
export interface Appended {
  /** Where the lines just written begin, and where they end. */
  start: number;
  end: number;
  /** Came since the store was last looked at, before the lines just written. */
  before?: ForeignBytes;
  after?: ForeignBytes;
}

export interface SessionStore extends LineSource {
  /** The path of the one file that holds the lines; undefined for every other place. */
  readonly path: string | undefined;
  /** Undefined when appends are accepted, else the error that each of them throws. */
  readonly refusal: Error | undefined;
  /** Bytes in the store, this store's own appends included. */
  size(): number;
  /**
   * Adds one line, or several that must appear together, each without its newline. One write; on return the bytes are
   * with the operating system. Throws when they are not, and the store is then as before for readers of whole lines, but
   * for the first `linesWritten` lines that a WriteFailed names. Throws FileLost when the store is no longer what this
   * process has left, and from then on always.
   * Where the last byte is no newline, because a write was cut short, one goes ahead of the line.
   */
  append(...lines: string[]): void;
  /** What was found around the lines of the latest append; left out by stores that only one program can write. */
  readonly appended?: Appended | undefined;
  /**
   * Resolves when all that was appended survives a power cut; rejects with the reason if it does not, and from then on
   * always.
   */
  flush(): Promise<void>;
  /**
   * Calls `changed` soon after another program has appended, perhaps also for nothing, until the returned function is
   * called; what is new is in `size` and `read` by then. Left out by stores that have a path, whose file is watched, and
   * by those that cannot be followed.
   */
  follow?(changed: () => void): () => void;
  /** Ends the store's use of its file; later appends throw. A flush under way is finished first. */
  close(): void;
}
