/**
 * `writeHtml`: a session as one self-contained page.
 * Part of `export/`; used by whoever exports. Entries go through one after the other and are written as they come.
 */
import type { SessionHeader } from "../tree/entries.ts";
import type { OutlineSource } from "../tree/outline-source.ts";
import type { Problem } from "../tree/problems.ts";

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

/**
 * Writes the page to `path`, 0600, by a temporary file beside it: what was there before is replaced at the end, or not at
 * all. Asks the source for each entry in file order, and again only for calls that a result answers.
 */
export async function writeHtml(_path: string, _source: PageSource, _options: HtmlOptions): Promise<WrittenHtml> {
  throw new Error("The page is not built yet");
}
