/**
 * Long text, folded; differences, in colours; images.
 * Part of the page. Used by the views of entries.
 */
import { html, nothing } from "lit";
import type { TemplateResult } from "lit";
import { cutText } from "../../tree/content.ts";
import { isRecord } from "../../tree/json.ts";
import type { EntryContext } from "./entry-context.ts";
import { code } from "./rendered-html.ts";

const FOLDED_LINES = 12;
const FOLDED_LENGTH = 4000;
/** Characters shown of a text even when it is unfolded: more would stop a browser. */
const LONGEST = 500_000;
const MOST_DIFF_LINES = 3000;

/** The start of a text, and a button for the rest. @param part names it within its entry */
export function foldedText(
  context: EntryContext,
  part: string,
  text: string,
  draw: (shown: string) => TemplateResult = (shown) => html`<pre class="plain">${shown}</pre>`,
): TemplateResult {
  const start = startOf(text);
  if (start.length === text.length) return draw(text);
  const open = context.isOpen(part, context.shows("tools"));
  const rest = text.length - start.length;
  const cut = text.length > LONGEST && open;
  return html`${draw(open ? cutText(text, LONGEST) : start)}
    ${cut ? html`<p class="note">${(text.length - LONGEST).toLocaleString("en")} more characters are not shown.</p>` : nothing}
    <button class="more" type="button" aria-expanded=${open} @click=${() => context.setOpen(part, !open)}>
      ${open ? "Show less" : `Show ${rest.toLocaleString("en")} more characters`}
    </button>`;
}

function startOf(text: string): string {
  let end = -1;
  for (let lines = 0; lines < FOLDED_LINES; lines++) {
    end = text.indexOf("\n", end + 1);
    if (end < 0) return cutText(text, FOLDED_LENGTH);
  }
  return cutText(text, Math.min(end, FOLDED_LENGTH));
}

/** Lines that begin with + and - in colours, also where a line number follows. */
export function diffView(text: string): TemplateResult {
  const lines = text.split("\n", MOST_DIFF_LINES);
  return html`<pre class="diff">${lines.map((line) => html`<span class=${diffClass(line)}>${line}</span>`)}</pre>`;
}
function diffClass(line: string): string {
  // The names of the files look like changes themselves.
  return /^(?:---|\+\+\+) /.test(line) ? "place" : (DIFF_CLASSES.get(line[0]) ?? "same");
}
const DIFF_CLASSES: ReadonlyMap<string | undefined, string> = new Map([
  ["+", "added"],
  ["-", "removed"],
  ["@", "place"],
]);

export function jsonView(context: EntryContext, part: string, value: unknown): TemplateResult {
  return foldedText(context, part, jsonOf(value), (shown) => code(shown, "json"));
}

export function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value, undefined, 2) ?? "";
  } catch {
    return "(nested too deeply to be shown)";
  }
}

const WHY: ReadonlyMap<unknown, string> = new Map([
  ["none", "the page was made without images"],
  ["limit", "the page had no room for it"],
  ["broken", "it is no PNG, JPEG, GIF or WebP"],
]);

/** What stands for an image in a body. */
export function imageView(context: EntryContext, reference: Record<string, unknown>): TemplateResult {
  if (typeof reference["image"] !== "number") {
    const why = WHY.get(reference["leftOut"]) ?? "it was left out";
    return html`<p class="note">Image of ${sizeText(reference["bytes"])}: ${why}.</p>`;
  }
  const url = context.imageUrl(reference["image"]);
  if (url === undefined) return html`<p class="note">Image…</p>`;
  const open = context.isOpen(`image-${reference["image"]}`, false);
  return html`<button
    class="image"
    type="button"
    aria-label=${open ? "Show the image smaller" : "Show the image larger"}
    aria-pressed=${open}
    @click=${() => context.setOpen(`image-${reference["image"] as number}`, !open)}
  >
    <img src=${url} alt="Image of the conversation" />
  </button>`;
}

export function sizeText(bytes: unknown): string {
  if (typeof bytes !== "number") return "unknown size";
  return bytes < 10_000 ? `${Math.round(bytes)} bytes` : `${Math.round(bytes / 1000).toLocaleString("en")} kB`;
}

/** The blocks of any content, each drawn by its type; a bare string is one text. */
export function contentView(
  context: EntryContext,
  content: unknown,
  text: (text: string, part: string) => TemplateResult,
): TemplateResult[] {
  if (typeof content === "string") return content.trim() === "" ? [] : [text(content, "text")];
  if (!Array.isArray(content)) return [];
  return content.flatMap((block: unknown, index): TemplateResult[] => {
    if (!isRecord(block)) return [];
    if (block["type"] === "image") return [imageView(context, block)];
    const words = block["type"] === "text" ? block["text"] : undefined;
    return typeof words === "string" && words.trim() !== "" ? [text(words, `text-${index}`)] : [];
  });
}
