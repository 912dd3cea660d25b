/**
 * `PageImages`: each image of a session once, up to a limit, and what stands in its place in the bodies.
 * Part of `export/`; used by page-bodies.ts. An image is what its bytes say it is, whatever the session calls it.
 */
import { createHash } from "node:crypto";
import { isRecord } from "../tree/json.ts";
import type { ImageReference, PageImage } from "./page/page-data.ts";

/** First characters of the base64 text, as the first bytes of each format give them. SVG is none: it can hold scripts. */
const FORMATS: readonly (readonly [start: string, mimeType: string])[] = [
  ["iVBORw0KGgo", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
];
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

export class PageImages {
  readonly images: PageImage[] = [];
  /** References to images that are not in the page. */
  leftOut = 0;
  readonly #limit: number;
  readonly #known = new Map<string, ImageReference>();
  #bytes = 0;

  /** @param limit bytes of the images' base64 text, together; 0 for a page without images */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** What stands for the image block, and the base64 text when the page does not have it yet. */
  take(block: Record<string, unknown>): { reference: ImageReference; added?: string } {
    const data = typeof block["data"] === "string" ? block["data"] : "";
    const bytes = Math.floor((data.length * 3) / 4);
    const key = createHash("sha256").update(data).digest("base64");
    const known = this.#known.get(key);
    const reference = known ?? this.#referenceTo(data, bytes);
    if ("leftOut" in reference) this.leftOut++;
    if (known !== undefined) return { reference };
    this.#known.set(key, reference);
    return "image" in reference ? { reference, added: data } : { reference };
  }

  #referenceTo(data: string, bytes: number): ImageReference {
    const mimeType = FORMATS.find(([start]) => data.startsWith(start))?.[1];
    if (this.#limit === 0) return { type: "image", leftOut: "none", bytes };
    if (mimeType === undefined || !BASE64.test(data)) return { type: "image", leftOut: "broken", bytes };
    if (this.#bytes + data.length > this.#limit) return { type: "image", leftOut: "limit", bytes };
    this.#bytes += data.length;
    return { type: "image", image: this.images.push({ mimeType, bytes }) - 1 };
  }
}

export const isImage = (block: unknown): block is Record<string, unknown> =>
  isRecord(block) && block["type"] === "image";
