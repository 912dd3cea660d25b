/**
 * `PackedScripts`: JSON as data scripts of a page: compressed in the background, some at once, and handed out in order.
 * Part of `export/`; used by html.ts. The text of a script is bytes from its first piece on, in memory that is used again
 * for later ones: as one string it would be made twice more, and wait for the garbage collector each time.
 */
import { Buffer } from "node:buffer";
import { deflateRaw } from "node:zlib";

/** Compressed at once; each holds the text of one script in memory. */
const AT_ONCE = 4;

/** Of zlib: a third of the work of its default, and pages a sixth longer. */
const LEVEL = 4;

/** Bytes that the memory for a script has from the start. */
const MEMORY = 256 * 1024;
/** UTF-8 takes at most so many bytes for a unit of a string. */
const LARGEST_UNIT = 3;

export class PackedScripts {
  readonly #take: (script: string) => void;
  #packing: Promise<string>[] = [];
  /** The text of the next script … */
  #memory: Buffer | undefined;
  #length = 0;
  /** … and memory that is free for later ones. */
  readonly #free: Buffer[] = [];

  /** @param take is given the scripts in the order in which they came */
  constructor(take: (script: string) => void) {
    this.#take = take;
  }

  /** Adds to the text of the next script. */
  write(json: string): void {
    const memory = this.#memoryFor(json);
    this.#length += memory.write(json, this.#length);
  }

  /** What was written since the last one is a script. Resolves when there is room for the next one. */
  async add(id: string): Promise<void> {
    const memory = this.#memory ?? Buffer.alloc(0);
    const packing = packed(memory.subarray(0, this.#length)).then((base64) => {
      this.#free.push(memory);
      return dataScript(id, base64);
    });
    // Awaited later, in order: a failure must not count as unhandled until then.
    packing.catch(() => {});
    this.#memory = undefined;
    this.#length = 0;
    if (this.#packing.push(packing) > AT_ONCE) this.#take(await this.#packing.shift()!);
  }

  async finish(): Promise<void> {
    for (const packing of this.#packing) this.#take(await packing);
    this.#packing = [];
  }

  #memoryFor(text: string): Buffer {
    const memory = (this.#memory ??= this.#free.pop() ?? Buffer.allocUnsafeSlow(MEMORY));
    if (this.#length + LARGEST_UNIT * text.length <= memory.length) return memory;
    const needed = this.#length + Buffer.byteLength(text);
    if (needed <= memory.length) return memory;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * memory.length));
    memory.copy(larger, 0, 0, this.#length);
    return (this.#memory = larger);
  }
}

/** A script that no browser runs. The id is the page's own and the text is base64: nothing in it needs escaping. */
export function dataScript(id: string, base64: string): string {
  return `<script type="application/octet-stream" id="${id}">${base64}</script>\n`;
}

function packed(json: Uint8Array): Promise<string> {
  // With room for all of it at once there is one way to the background and back.
  const chunkSize = Math.max(1024, json.length >> 1);
  return new Promise((resolve, reject) => {
    deflateRaw(json, { level: LEVEL, chunkSize }, (error, bytes) =>
      error ? reject(error) : resolve(bytes.toString("base64")),
    );
  });
}
