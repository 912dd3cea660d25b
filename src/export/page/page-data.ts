/**
 * What an exported page carries, as types: the facts of the session, its rows in blocks, its bodies in chunks, its
 * images. Each block and chunk is JSON, compressed (raw DEFLATE), in base64, in a `<script>` of no executable type.
 * The one contract between who writes the page (`export/`, in Node) and who shows it (`export/page/`, in a browser).
 */
import type { SessionEntry } from "../../tree/entries.ts";
import type { Problem } from "../../tree/problems.ts";
import type { TextPart } from "../../tree/row-text.ts";
import type { UsageSums } from "../../tree/usage.ts";

/** The ids of the page's data scripts. */
export const FACTS_ID = "facts";
export const rowsId = (block: number): string => `rows-${block}`;
export const bodiesId = (chunk: number): string => `bodies-${chunk}`;
export const imageId = (image: number): string => `image-${image}`;

/** The script `facts`: all that the header shows and what is needed to read the rest. */
export interface PageFacts {
  session: { id: string; name: string | undefined; cwd: string; created: string; parentSession: string | undefined };
  /** When the page was made, ISO 8601. */
  exported: string;
  /** Which part of the session this is; undefined for all of it. */
  part: string | undefined;
  /** What was masked, in one sentence; undefined when nothing was looked for. */
  masked: string | undefined;
  entries: number;
  /** The ordinal of the leaf; -1 before the first entry. */
  leaf: number;
  /** Ordinal and text of each label in effect. */
  labels: [n: number, label: string][];
  /** The first problems … */
  problems: Problem[];
  /** … of so many. */
  problemCount: number;
  /** Milliseconds of the first and the last entry whose time can be read. */
  times: { first: number; last: number } | undefined;
  counts: { prompts: number; answers: number; toolResults: number };
  usage: UsageSums;
  /** By "provider/model"; "" for what names none. */
  byModel: [model: string, sums: UsageSums][];
  rowBlocks: number;
  /** The first ordinal of each chunk of bodies. */
  chunks: number[];
  images: PageImage[];
}

/** An image that the page carries once: its script holds the base64 text as it is. */
export interface PageImage {
  mimeType: string;
  /** Of the decoded image. */
  bytes: number;
}

/** Some rows, by column: all arrays have the same length. */
export interface RowBlock {
  ids: string[];
  /** The ordinal of the parent, less the entry's own; null for none; the id itself where it is not in the page. */
  parents: (number | string | null)[];
  /** Milliseconds since the row before; null where the time cannot be read. */
  times: (number | null)[];
  /** Indices into `names`: entry types, and the roles of messages (-1 for none). */
  kinds: number[];
  roles: number[];
  names: string[];
  /** `ROW_SILENT` and others, added up. */
  flags: number[];
  texts: TextPart[][];
  /** Words that find the row although it does not show them. */
  beyond: string[];
}

/** An answer that ended as usual and says nothing. */
export const ROW_SILENT = 1;
/** A custom message that is hidden in the terminal. */
export const ROW_HIDDEN = 2;

/** An image in a body, in place of its data. */
export type ImageReference =
  | { type: "image"; image: number }
  /** `why`: "none" when the page was made without images, "limit" when it was too large, "broken" when it is no image. */
  | { type: "image"; leftOut: "none" | "limit" | "broken"; bytes: number };

/** A chunk of bodies: entries in file order, without what the rows know and with references in place of images. */
export type BodyChunk = Record<string, unknown>[];

/** A body as the page shows it: any field may have any shape. */
export type PageEntry = SessionEntry;
