/**
 * Reads in slices, once a session is on the screen, what its first frame could do without: what the next request will
 * say, then what all branches have spent. Keys get their turn in between.
 * Part of `tui/`; used by interactive-mode.
 */
import type { SessionManager } from "../session/session-manager.ts";

/** Some frames after a session was drawn. Milliseconds. */
const READ_AFTER = 50;
/** Entries of one slice. */
const READ_AT_ONCE = 400;

export interface LaterReadingListener {
  /** The context is there, and what is wrong in it is known. */
  onContext(): void;
  onUsage(): void;
}

export class LaterReading {
  readonly #listener: LaterReadingListener;
  #timer: NodeJS.Timeout | undefined;
  #hasContext = false;
  #hasUsage = false;

  constructor(listener: LaterReadingListener) {
    this.#listener = listener;
  }

  /** Whether asking the session for its usage costs nothing. */
  get hasUsage(): boolean {
    return this.#hasUsage;
  }

  /** Begins anew, with this session. */
  start(session: SessionManager): void {
    this.stop();
    this.#hasContext = this.#hasUsage = false;
    this.#timer = setTimeout(() => this.#read(session), READ_AFTER);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #read(session: SessionManager): void {
    if (!this.#hasContext) {
      this.#hasContext = session.readContext(READ_AT_ONCE);
      if (this.#hasContext) this.#listener.onContext();
    } else {
      this.#hasUsage = session.getIndex().countUsage(READ_AT_ONCE);
      if (this.#hasUsage) return this.#listener.onUsage();
    }
    this.#timer = setTimeout(() => this.#read(session));
  }
}
