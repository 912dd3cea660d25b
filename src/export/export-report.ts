/**
 * What is told of an export when it is done: where it is, and what was masked where.
 * Part of `export/`; used by cli/ and tui/. Plain text; who shows it makes it fit the screen.
 */
import type { Exported } from "./export-session.ts";
import type { MaskedField, RedactionReport } from "./redaction.ts";

const FORMAT_NAMES = { html: "a page", md: "Markdown", jsonl: "a session file" } as const;

/** "1,204 entries as a page in /x/y.html (3.1 MB)." */
export function exportedText({ path, format, entries, bytes, imagesLeftOut, linesLeftOut }: Exported): string {
  const images = imagesLeftOut === 0 ? "" : ` ${count(imagesLeftOut, "image is", "images are")} left out.`;
  const lines = linesLeftOut === 0 ? "" : ` ${count(linesLeftOut, "damaged line is", "damaged lines are")} left out.`;
  const place = path === undefined ? "" : ` in ${path}`;
  return `${count(entries, "entry", "entries")} as ${FORMAT_NAMES[format]}${place} (${sizeText(bytes)}).${images}${lines}`;
}

/** The masked places, a line each, and a sentence about all of them first. `places`: how many are named. */
export function redactionLines(report: RedactionReport | undefined, places: number): string[] {
  if (report === undefined) return ["Nothing was masked: keys and passwords are in it as they stand in the session."];
  if (report.total === 0) return ["No secrets were found."];
  const kinds = [...report.byKind].map(([kind, times]) => `${times} × ${kind}`).join(", ");
  const named = report.places.slice(0, places);
  const more = report.placeCount - named.length;
  return [
    `${count(report.total, "secret is", "secrets are")} masked (${kinds}):`,
    ...named.map(placeText),
    ...(more > 0 ? [`  and ${count(more, "more place", "more places")}`] : []),
  ];
}

const placeText = ({ entryId, field, kind, count: times }: MaskedField): string =>
  `  ${entryId === undefined ? "header" : `entry ${entryId}`}, ${field}: ${kind}${times === 1 ? "" : ` × ${times}`}`;

const count = (number: number, one: string, many: string): string =>
  `${number.toLocaleString("en-US")} ${number === 1 ? one : many}`;

function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
