/**
 * `MessageLines`: the lines a server writes to its standard output, put together from chunks, within bounds.
 * Part of `agent/`; used by the stdio transport.
 */

const LF = 10;

export class MessageLines {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #size = 0;

  /** A line of more than `maxBytes` is refused. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Gives each line that ends in this chunk to `take`, without its end. False when a line is too long: all is lost then. */
  push(chunk: Buffer, take: (line: string) => void): boolean {
    let from = 0;
    for (let at = chunk.indexOf(LF); at >= 0; at = chunk.indexOf(LF, from)) {
      if (!this.#keep(chunk.subarray(from, at))) return false;
      const line = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts, this.#size);
      this.#parts = [];
      this.#size = 0;
      from = at + 1;
      take(line.toString().replace(/\r$/, ""));
    }
    return this.#keep(chunk.subarray(from));
  }

  #keep(part: Buffer): boolean {
    this.#size += part.length;
    if (this.#size > this.#maxBytes) {
      this.#parts = [];
      return false;
    }
    this.#parts.push(part);
    return true;
  }
}
