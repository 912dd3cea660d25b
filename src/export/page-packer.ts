/**
 * `PagePacker`: a session's entries as the data of a page: rows kept in memory, compressed; bodies and images, the bulk,
 * on to the spool file.
 * Part of `export/`; used by html.ts. Each entry is asked for once, in file order, and again only as a tool's call.
 */
import type { SessionEntry } from "../tree/entries.ts";
import type { OutlineSource } from "../tree/outline-source.ts";
import { readTime } from "../tree/format.ts";
import type { TraitsSource } from "../tree/outline-traits.ts";
import { glancesOf } from "../tree/glances.ts";
import { kindOf } from "../tree/kinds.ts";
import { spendingOf } from "../tree/usage.ts";
import { PackedScripts, dataScript } from "./packed-scripts.ts";
import { bodyOf } from "./page-bodies.ts";
import { FactsCount, type CountedFacts } from "./page-facts.ts";
import { PageImages } from "./page-images.ts";
import { RowBlocks } from "./page-rows.ts";
import { bodiesId, imageId, rowsId } from "./page/page-data.ts";
import type { ImageReference, RowBlock } from "./page/page-data.ts";
import type { SpoolFile } from "./spool-file.ts";

export interface PackOptions {
  images?: boolean;
  imageLimit?: number;
  home?: string;
  onProgress?: (entries: number) => void;
}

const IMAGE_LIMIT = 32 * 1024 * 1024;
/** Characters of bodies in a chunk: a click shows entries of many chunks, each of which is then unpacked as a whole. */
const CHUNK_LENGTH = 128 * 1024;
const RECENT_ENTRIES = 32;

export class PagePacker {
  readonly rowScripts: string[] = [];
  /** The first ordinal of each chunk. */
  readonly chunks: number[] = [];
  readonly images: PageImages;
  readonly #source: OutlineSource;
  readonly #options: PackOptions;
  readonly #spool: SpoolFile;
  readonly #count = new FactsCount();
  readonly #rowPacker = new PackedScripts((script) => this.rowScripts.push(script));
  readonly #bodyPacker = new PackedScripts((script) => this.#spool.write(script));
  #blocks = 0;
  /** Of the chunk that is being written: how many bodies it has, and their characters. */
  #chunkSize = 0;
  #chunkLength = 0;

  constructor(source: OutlineSource, spool: SpoolFile, options: PackOptions) {
    this.#source = source;
    this.#spool = spool;
    this.#options = options;
    this.images = new PageImages(options.images === false ? 0 : (options.imageLimit ?? IMAGE_LIMIT));
  }

  get facts(): CountedFacts {
    return this.#count.facts;
  }

  async pack(): Promise<void> {
    const recent = withRecent(this.#source);
    const glanceAt = glancesOf(recent, this.#options.home);
    const rows = new RowBlocks(this.#source);
    const takeImage = (block: Record<string, unknown>): ImageReference => this.#takeImage(block);
    for (let n = 0; n < recent.size; n++) {
      const entry = recent.at(n);
      const time = readTime(entry.timestamp);
      const spending = kindOf(entry).fault(entry) === undefined ? spendingOf(entry) : undefined;
      this.#count.add(entry, time, spending);
      const block = rows.add(n, entry, time, glanceAt(n));
      if (block !== undefined) await this.#addRows(block);
      this.#writeBody(JSON.stringify(bodyOf(entry, spending, takeImage)));
      if (this.#chunkLength >= CHUNK_LENGTH) await this.#addChunk(n + 1);
    }
    const rest = rows.take();
    if (rest !== undefined) await this.#addRows(rest);
    await this.#addChunk(recent.size);
    await this.#rowPacker.finish();
    await this.#bodyPacker.finish();
  }

  async #addRows(block: RowBlock): Promise<void> {
    this.#rowPacker.write(JSON.stringify(block));
    await this.#rowPacker.add(rowsId(this.#blocks++));
  }

  #writeBody(json: string): void {
    this.#bodyPacker.write(this.#chunkSize++ === 0 ? "[" : ",");
    this.#bodyPacker.write(json);
    this.#chunkLength += json.length;
  }

  /** @param next the ordinal after the chunk's last */
  async #addChunk(next: number): Promise<void> {
    if (this.#chunkSize === 0) return;
    const id = bodiesId(this.chunks.push(next - this.#chunkSize) - 1);
    this.#chunkSize = 0;
    this.#chunkLength = 0;
    this.#bodyPacker.write("]");
    await this.#bodyPacker.add(id);
    this.#options.onProgress?.(next);
  }

  #takeImage(block: Record<string, unknown>): ImageReference {
    const { reference, added } = this.images.take(block);
    if (added !== undefined) this.#spool.write(dataScript(imageId(this.images.images.length - 1), added));
    return reference;
  }
}

/** The source, with the entries asked for last at hand: a row looks at entries that bodies have just been made of. */
function withRecent(source: OutlineSource): TraitsSource {
  const recent: { n: number; entry: SessionEntry }[] = [];
  return {
    size: source.size,
    kindAt: (n) => source.kindAt(n),
    parentOrdinal: (n) => source.parentOrdinal(n),
    at(n) {
      const known = recent[n % RECENT_ENTRIES];
      if (known?.n === n) return known.entry;
      const entry = source.at(n);
      recent[n % RECENT_ENTRIES] = { n, entry };
      return entry;
    },
  };
}
