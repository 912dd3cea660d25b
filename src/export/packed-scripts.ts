/**
 * `PackedScripts`: JSON as data scripts of a page: compressed in the background, some at once, and handed out in order.
 * Part of `export/`; used by html.ts.
 */
import { deflateRaw } from "node:zlib";

/** Compressed at once; each holds the text of one script in memory. */
const AT_ONCE = 4;

/** Of zlib: half the work of its default, and pages a twentieth longer. */
const LEVEL = 5;

export class PackedScripts {
  readonly #take: (script: string) => void;
  #packing: Promise<string>[] = [];

  /** @param take is given the scripts in the order in which they came */
  constructor(take: (script: string) => void) {
    this.#take = take;
  }

  /** Resolves when there is room for the next one. */
  async add(id: string, json: string): Promise<void> {
    const packing = packed(json).then((base64) => dataScript(id, base64));
    // Awaited later, in order: a failure must not count as unhandled until then.
    packing.catch(() => {});
    if (this.#packing.push(packing) >= AT_ONCE) this.#take(await this.#packing.shift()!);
  }

  async finish(): Promise<void> {
    for (const packing of this.#packing) this.#take(await packing);
    this.#packing = [];
  }
}

/** A script that no browser runs. The id is the page's own and the text is base64: nothing in it needs escaping. */
export function dataScript(id: string, base64: string): string {
  return `<script type="application/octet-stream" id="${id}">${base64}</script>\n`;
}

function packed(json: string): Promise<string> {
  return new Promise((resolve, reject) => {
    deflateRaw(json, { level: LEVEL }, (error, bytes) => (error ? reject(error) : resolve(bytes.toString("base64"))));
  });
}
