/**
 * `LineHeads`: the beginning of every line of a stream. A line may be longer than memory.
 * Part of `session/`; used where a file is only looked over.
 */

export interface LineHead {
  /** The first bytes of the line, without its newline. Valid during the call only. */
  bytes: Uint8Array;
  /** Whether `bytes` is the whole line. */
  whole: boolean;
  /** 1-based */
  number: number;
}

const HEAD_BYTES = 1 << 16;
const LF = 0x0a;

export class LineHeads {
  readonly #onLine: (head: LineHead) => void;
  /** The beginning of a line that earlier chunks began. */
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  /** All bytes of that line so far. */
  #length = 0;
  #number = 0;

  constructor(onLine: (head: LineHead) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Uint8Array): void {
    for (let start = 0; start < chunk.length;) {
      const newline = chunk.indexOf(LF, start);
      const end = newline < 0 ? chunk.length : newline;
      this.#extend(chunk.subarray(start, end), newline >= 0);
      if (newline >= 0) this.#emit();
      start = end + 1;
    }
  }

  /** Reports a last line without a newline. */
  finish(): void {
    if (this.#length > 0) this.#emit();
  }

  #extend(part: Uint8Array, isLast: boolean): void {
    this.#length += part.length;
    const head = part.subarray(0, HEAD_BYTES - this.#heldBytes);
    if (head.length === 0) return;
    // Not head.slice(): that of a Buffer copies nothing.
    this.#held.push(isLast ? head : new Uint8Array(head));
    this.#heldBytes += head.length;
  }

  #emit(): void {
    this.#number++;
    const bytes = this.#held.length === 1 ? this.#held[0]! : Buffer.concat(this.#held);
    const whole = this.#heldBytes === this.#length;
    this.#held = [];
    this.#heldBytes = this.#length = 0;
    this.#onLine({ bytes, whole, number: this.#number });
  }
}
