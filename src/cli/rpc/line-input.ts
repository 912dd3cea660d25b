/**
 * Lines of bytes from a stream: `--mode rpc` splits its input at LF alone, since U+2028 may stand in a JSON string.
 * Part of `cli/`; used by rpc-mode.ts.
 */
import { addAbortSignal } from "node:stream";
import type { Readable } from "node:stream";

const LF = 0x0a;

/** A line without its end, or what is left of one that was longer than the limit: nothing. */
export type InputLine = { text: string } | { tooLong: number };

/**
 * The lines of `input` as they come, also a last one without LF. Reads no further than it is asked to. Ends with the
 * input, or when `signal` says so. A line of more than `limit` bytes is not kept.
 */
export async function* readLines(input: Readable, limit: number, signal: AbortSignal): AsyncGenerator<InputLine> {
  const line = new LineBuffer(limit);
  addAbortSignal(signal, input);
  try {
    for await (const chunk of input as AsyncIterable<Buffer>) {
      let from = 0;
      for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, from)) {
        line.add(chunk.subarray(from, end));
        from = end + 1;
        yield line.take();
      }
      line.add(chunk.subarray(from));
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return;
  }
  if (line.size > 0) yield line.take();
}

class LineBuffer {
  readonly #limit: number;
  #parts: Buffer[] = [];
  size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(part: Buffer): void {
    this.size += part.length;
    if (this.size > this.#limit) this.#parts = [];
    else if (part.length > 0) this.#parts.push(part);
  }

  take(): InputLine {
    const { size } = this;
    const line = size > this.#limit ? { tooLong: size } : { text: Buffer.concat(this.#parts).toString("utf8") };
    this.#parts = [];
    this.size = 0;
    return line;
  }
}
