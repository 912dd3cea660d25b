/**
 * Text that arrives faster than anybody types: a paste in a terminal that does not mark pastes. pi-tui gives it to the
 * editor letter by letter, and the editor copies all of its text for each, which takes minutes for some 100 KB.
 * Part of `tui/`; the prompt editor has one.
 */

/** Letters of one read that nobody has typed, not even ahead. */
const BURST = 64;
/** A burst is over when nothing more has come for so long; milliseconds. */
const QUIET = 20;

export interface BurstTaker {
  key(data: string): void;
  paste(text: string): void;
  /** What was held has been handed over, perhaps after pi-tui drew what its keys were to change. */
  late(): void;
}

export class TypedBurst {
  readonly #taker: BurstTaker;
  #text = "";
  #timer: NodeJS.Timeout | undefined;

  constructor(taker: BurstTaker) {
    this.#taker = taker;
  }

  /** Holds a key that is text until the read it came with is over; false for any other key. */
  hold(data: string): boolean {
    if (!this.#isText(data)) return false;
    // pi-tui draws in the next tick as well, after this one where nothing else was pressed before.
    if (this.#text === "") process.nextTick(() => this.#readEnded());
    this.#text += data;
    this.#timer?.refresh();
    return true;
  }

  /** Hands over what is held, before anything else happens. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#text;
    this.#text = "";
    if (text.length > BURST) this.#taker.paste(text);
    else for (let n = 0; n < text.length; n++) this.#taker.key(text.charAt(n));
  }

  #readEnded(): void {
    if (this.#text.length <= BURST) this.#flushLate();
    else this.#timer ??= setTimeout(() => this.#flushLate(), QUIET);
  }

  #flushLate(): void {
    this.flush();
    this.#taker.late();
  }

  /** A line feed and a tab are keys of their own, but not right behind a letter. */
  #isText(data: string): boolean {
    if (data.length !== 1) return false;
    const code = data.charCodeAt(0);
    return (code >= 0x20 && code < 0x7f) || code > 0x9f || (this.#text !== "" && (data === "\n" || data === "\t"));
  }
}
