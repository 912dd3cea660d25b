/**
 * What may be asked of an export, as words: the options of `bough export` and `/export`.
 * Part of `export/`; used by cli/ and tui/.
 */
import { parseArgs } from "node:util";
import { EXPORT_FORMATS } from "./export-session.ts";
import type { ExportRequest } from "./export-session.ts";
import { ExportError } from "./session-part.ts";

export const EXPORT_OPTIONS = {
  branch: { type: "string" },
  from: { type: "string" },
  to: { type: "string" },
  format: { type: "string" },
  images: { type: "boolean" },
  "no-images": { type: "boolean" },
  redact: { type: "boolean" },
  "no-redact": { type: "boolean" },
  "hide-home": { type: "boolean" },
  force: { type: "boolean" },
} as const;

/** The options in the form of a help text. */
export const EXPORT_OPTIONS_HELP = `      --branch ID       only the path from the first entry to this one
      --from ID --to ID only the path between two entries; --to is by default where the session stands
      --format FORMAT   html, md or jsonl; by default what the name ends in, else html
      --no-images       leave images out
      --redact          mask secrets; the default for html and md
      --no-redact       mask nothing; the default for jsonl
      --hide-home       show your home folder as ~
      --force           replace a file that is there`;

type Values = ReturnType<typeof parseArgs<{ options: typeof EXPORT_OPTIONS }>>["values"];

/** Options and, if it was named, the file to write, as a request. Throws ExportError. */
export function exportRequest(values: Values, out: string | undefined): ExportRequest {
  const { branch, from, to, format, images, redact, force } = values;
  const chosen = EXPORT_FORMATS.find((known) => known === format);
  if (format !== undefined && chosen === undefined)
    throw new ExportError(`There is no format "${format}"; choose one of ${EXPORT_FORMATS.join(", ")}.`);
  if (redact && values["no-redact"]) throw new ExportError("Use one of --redact and --no-redact, not both together.");
  return {
    out,
    branch,
    from,
    to,
    format: chosen,
    images: values["no-images"] === true ? false : images,
    redact: values["no-redact"] === true ? false : redact,
    hideHome: values["hide-home"],
    force,
  };
}

/** The words of a line: split at spaces, but for those in quotes or behind a backslash. Throws ExportError. */
export function wordsOf(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let at = 0; at < line.length; at++) {
    const character = line[at]!;
    if (quote !== "") {
      if (character === quote) quote = "";
      else word = (word ?? "") + character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= "";
    } else if (character === "\\" && /[\s"'\\]/.test(line[at + 1] ?? "")) word = (word ?? "") + line[++at]!;
    else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + character;
  }
  if (quote !== "") throw new ExportError(`A quotation mark is missing its other one: ${quote}`);
  return word === undefined ? words : [...words, word];
}

/** A line as `/export` takes it. Throws ExportError. */
export function exportLine(line: string): ExportRequest {
  const words = wordsOf(line);
  try {
    const { values, positionals } = parseArgs({ args: words, options: EXPORT_OPTIONS, allowPositionals: true });
    const [out, ...more] = positionals;
    if (more.length > 0) throw new ExportError("Name one file; put a name with spaces in quotes.");
    return exportRequest(values, out);
  } catch (error) {
    if (error instanceof ExportError || !(error instanceof Error)) throw error;
    throw new ExportError(`${error.message.split(/\.\s|\.?\n/)[0]}.`, { cause: error });
  }
}
