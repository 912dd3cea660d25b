/**
 * `writeHtml`: a session as one self-contained page.
 * Part of `export/`; used by whoever exports. Entries go through one after the other and are written as they come: what
 * is held of them is their rows, compressed.
 */
import { Buffer } from "node:buffer";
import { renameSync, statSync } from "node:fs";
import type { SessionHeader } from "../tree/entries.ts";
import type { OutlineSource } from "../tree/outline-source.ts";
import type { Problem } from "../tree/problems.ts";
import { writeNewFile } from "../session/new-file.ts";
import { dataScript } from "./packed-scripts.ts";
import { pageAssets } from "./page-assets.ts";
import { PAGE_END, pageScript, pageStart } from "./page-frame.ts";
import { PagePacker } from "./page-packer.ts";
import { FACTS_ID } from "./page/page-data.ts";
import type { PageFacts } from "./page/page-data.ts";
import { SpoolFile } from "./spool-file.ts";

/** The session to write. SessionEntryIndex has this shape; what masks or narrows a session stands in front of one. */
export interface PageSource extends OutlineSource {
  readonly problems: readonly Problem[];
  readonly name: { text: string } | undefined;
}

export interface HtmlOptions {
  /** Shown at the head of the page. */
  header: SessionHeader;
  /** Which part of the session this is, in a few words ("the branch to 3f2a…"); default: all of it. */
  part?: string;
  /** What was masked, in one sentence, for the page's head. Asked for when all entries have gone through. */
  masked?: () => string | undefined;
  /** Default true. */
  images?: boolean;
  /** Bytes of images, together, as they stand in the page; those that come later are left out. Default 32 MiB. */
  imageLimit?: number;
  /** A folder shown as `~` in tool calls. */
  home?: string;
  /** Told now and then how many entries have been written. */
  onProgress?: (entries: number) => void;
}

export interface WrittenHtml {
  bytes: number;
  entries: number;
  /** Images in the page, each once. */
  images: number;
  /** Images that are not in it, for whatever reason. */
  imagesLeftOut: number;
}

const MOST_PROBLEMS = 1000;

/**
 * Writes the page to `path`, 0600, by a temporary file beside it: what was there before is replaced at the end, or not at
 * all. Asks the source for each entry in file order, and again only for calls that a result answers.
 */
export async function writeHtml(path: string, source: PageSource, options: HtmlOptions): Promise<WrittenHtml> {
  const assets = pageAssets();
  const spool = new SpoolFile(path);
  try {
    const data = new PagePacker(source, spool, options);
    await data.pack();
    const facts = factsOf(source, options, data);
    const before = [
      pageStart(facts, assets),
      dataScript(FACTS_ID, Buffer.from(JSON.stringify(facts)).toString("base64")),
      ...data.rowScripts,
      pageScript(assets),
    ];
    function* pieces(): Generator<Uint8Array> {
      for (const text of before) yield Buffer.from(text);
      yield* spool.pieces();
      yield Buffer.from(PAGE_END);
    }
    writeNewFile(path, pieces(), (temporary) => renameSync(temporary, path));
    return {
      bytes: statSync(path).size,
      entries: source.size,
      images: data.images.images.length,
      imagesLeftOut: data.images.leftOut,
    };
  } finally {
    spool.remove();
  }
}

function factsOf(source: PageSource, options: HtmlOptions, data: PagePacker): PageFacts {
  const { header } = options;
  const { problems } = source;
  const labels: [number, string][] = [];
  for (const [id, label] of source.labels()) {
    const n = source.ordinal(id);
    if (n !== undefined) labels.push([n, label]);
  }
  return {
    session: {
      id: textOrNone(header.id),
      name: source.name?.text,
      cwd: textOrNone(header.cwd),
      created: textOrNone(header.timestamp),
      parentSession: typeof header.parentSession === "string" ? header.parentSession : undefined,
    },
    exported: new Date().toISOString(),
    part: options.part,
    masked: options.masked?.(),
    entries: source.size,
    leaf: source.leafOrdinal,
    labels,
    problems: problems.slice(0, MOST_PROBLEMS),
    problemCount: problems.length,
    ...data.facts,
    rowBlocks: data.rowScripts.length,
    chunks: data.chunks,
    images: data.images.images,
  };
}

const textOrNone = (value: unknown): string => (typeof value === "string" ? value : "");
