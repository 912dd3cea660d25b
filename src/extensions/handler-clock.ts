/**
 * `HandlerClock`: how long the handlers of one extension may take. Time in which the user is asked something by the
 * extension does not count. Part of `extensions/`.
 */
export class HandlerClock {
  readonly #limits = new Set<Limit>();
  #dialogs = 0;

  /**
   * The value of `work`, or a rejection with `tooSlow` after `ms` milliseconds, whatever becomes of the work then. Work
   * that never gives the thread back cannot be stopped.
   */
  async within<T>(ms: number, work: () => T | Promise<T>, tooSlow: () => Error): Promise<T> {
    const expired = Promise.withResolvers<never>();
    const limit = new Limit(ms, () => expired.reject(tooSlow()));
    this.#limits.add(limit);
    if (this.#dialogs === 0) limit.run();
    try {
      return await Promise.race([work(), expired.promise]);
    } finally {
      limit.stand();
      this.#limits.delete(limit);
    }
  }

  /** The answer to a dialog, for which every clock of the extension stands. */
  async standing<T>(dialog: () => Promise<T>): Promise<T> {
    this.#dialogs += 1;
    for (const limit of this.#limits) limit.stand();
    try {
      return await dialog();
    } finally {
      this.#dialogs -= 1;
      if (this.#dialogs === 0) for (const limit of this.#limits) limit.run();
    }
  }
}

class Limit {
  #left: number;
  readonly #expire: () => void;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number, expire: () => void) {
    this.#left = ms;
    this.#expire = expire;
  }

  run(): void {
    this.#since = performance.now();
    this.#timer ??= setTimeout(this.#expire, this.#left);
  }

  stand(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#left = Math.max(0, this.#left - (performance.now() - this.#since));
  }
}
