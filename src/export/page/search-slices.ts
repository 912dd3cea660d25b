/**
 * `SearchSlices`: lets an outline search in slices, between which the browser draws and takes keys.
 * Part of the page. Used by the sidebar; the next letter takes the place of what is not found yet.
 */
import type { Outline } from "../../tree/outline.ts";

/** A quarter of a frame: the browser needs the rest. */
const SLICE_MS = 4;
/** Between two looks at the clock, and in a slice at most: the clocks of some browsers stand still for long. */
const ENTRIES_PER_LOOK = 512;
const LOOKS_PER_SLICE = 32;

export class SearchSlices {
  /** Slices so far. */
  count = 0;
  #isRunning = false;
  readonly #outline: Outline;
  readonly #onFound: () => void;

  /** @param onFound told when the rows are the new ones */
  constructor(outline: Outline, onFound: () => void) {
    this.#outline = outline;
    this.#onFound = onFound;
  }

  /** To be called when filter or query have changed; one that is under way goes on with them. */
  start(): void {
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#outline.isSearching) {
      // The first one waits, too: what the key itself does comes before.
      await nextTurn();
      this.#slice();
    }
    this.#isRunning = false;
  }

  #slice(): void {
    this.count++;
    const end = performance.now() + SLICE_MS;
    for (let looks = 0; looks < LOOKS_PER_SLICE && performance.now() < end; looks++)
      if (this.#outline.searchOn(ENTRIES_PER_LOOK)) return this.#onFound();
  }
}

const channel = new MessageChannel();

/** Unlike a timer's, its turn comes without a pause. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    channel.port1.addEventListener("message", () => resolve(), { once: true });
    channel.port1.start();
    channel.port2.postMessage(undefined);
  });
}
