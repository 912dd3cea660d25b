/**
 * Texts from a session put into a Markdown document: as Markdown that cannot reach beyond its place, as code, as one line.
 * Part of `export/`; used by markdown.ts. Written for CommonMark with GitHub's additions.
 *
 * Outside of code no `<` of a session's text is left, so it makes no HTML whatever a renderer takes for code; and every
 * fence stands at the start of a line after a blank one, where nothing but another fence could take it for text.
 */
import { cutText, fenced } from "../tree/content.ts";

/** Escape sequences, controls, and what changes the order in which a line reads. */
const CONTROLS = new RegExp(
  [
    String.raw`\u001b(?:\[[0-?]*[ -/]*[@-~]?|\][^\u0007\u001b\n]*(?:\u0007|\u001b\\)?|.?)`,
    String.raw`[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]`,
  ].join("|"),
  "g",
);

/** The text without what would drive a terminal or a reader's eyes; lines end with LF. */
export const plain = (text: string): string => text.replace(/\r\n?/g, "\n").replace(CONTROLS, "");

/** The text as code. `language`: perhaps a name that highlighters know. */
export const codeBlock = (text: string, language = ""): string => fenced(plain(text), languageName(language));

const languageName = (language: string): string => (/^[A-Za-z0-9+#._-]{0,30}$/.test(language) ? language : "");

/** Up to `length` characters of the text's first line that is not blank, as literal text. */
export function oneLine(text: string, length: number): string {
  const line = firstLine(text, length);
  return line
    .replace(/[\\`*_{}[\]()#!|~$>]/g, "\\$&")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;");
}

/** The same for a place where HTML stands. */
export const htmlLine = (text: string, length: number): string => htmlText(firstLine(text, length));

export const htmlText = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

function firstLine(text: string, length: number): string {
  const line = /\S.*/.exec(plain(cutText(text, 20 * length)))?.[0].trim() ?? "";
  return line.length <= length ? line : `${cutText(line, length - 1).trimEnd()}…`;
}

/** A part that opens when it is clicked. */
export const details = (summary: string, body: string): string =>
  `<details>\n<summary>${summary}</summary>\n\n${body.trimEnd()}\n\n</details>`;

const OPENING_FENCE = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})[ \t]*([^\s`{]*)/;

/**
 * Markdown of somebody else's: headings become small, images links, HTML text; code that was opened is closed.
 */
export function safeMarkdown(text: string): string {
  const out: string[] = [];
  let code: { fence: string; indent: number; language: string; lines: string[] } | undefined;
  let isBlankBefore = true;
  const closeCode = (): void => {
    if (code === undefined) return;
    if (out.at(-1)?.trim() !== "") out.push("");
    out.push(codeBlock(code.lines.join("\n"), code.language), "");
    code = undefined;
    isBlankBefore = true;
  };
  for (const line of plain(text).split("\n")) {
    if (code !== undefined) {
      const closing = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1];
      if (closing !== undefined && closing.startsWith(code.fence)) closeCode();
      else code.lines.push(withoutIndent(line, code.indent));
      continue;
    }
    const opening = OPENING_FENCE.exec(line);
    if (opening !== null) {
      const [, indent = "", fence = "", language = ""] = opening;
      code = { fence, indent: indent.length, language, lines: [] };
      continue;
    }
    out.push(safeLine(line, isBlankBefore));
    isBlankBefore = line.trim() === "";
  }
  closeCode();
  return (
    out
      .join("\n")
      // Not the spaces of the first line: without them it could be code.
      .replace(/^(?:[ \t]*\n)+/, "")
      .trimEnd()
  );
}

const withoutIndent = (line: string, indent: number): string => line.replace(new RegExp(`^ {0,${indent}}`), "");

function safeLine(line: string, isBlankBefore: boolean): string {
  if (line === "") return line;
  // A line of = or - would make a heading of what stands before it.
  if (!isBlankBefore && /^ {0,3}(?:=+|-+)[ \t]*$/.test(line)) return line.replace(/[=-]/, "\\$&");
  const heading = /^( {0,3})(#{1,6})(?=[ \t]|$)/.exec(line);
  const text = safeInline(heading === null ? line : line.slice(heading[0].length));
  if (heading !== null) return `${"#".repeat(Math.min(6, heading[2]!.length + 3))}${text}`;
  // Backticks further on kept it from being a fence, and may be gone.
  return text.replace(/^( {0,3})`(?=``)/, "$1&#96;");
}

/** What must not stand in a code span as it is: should it be none for a renderer, it would be more than text. */
const ACTIVE = /[<&]|!\[|\]\(|\]:/;

function safeInline(line: string): string {
  let out = "";
  let done = 0;
  const runs = [...line.matchAll(/`+/g)];
  for (let n = 0; n < runs.length; n++) {
    const open = runs[n]!;
    if (open.index < done) continue;
    const close = closingRun(runs, n);
    if (close === undefined) continue;
    const content = line.slice(open.index + open[0].length, close.index);
    const span = ACTIVE.test(content)
      ? `<code>${literalHtml(content.trim())}</code>`
      : line.slice(open.index, close.index + close[0].length);
    out += safeText(line.slice(done, open.index)) + span;
    done = close.index + close[0].length;
  }
  return out + safeText(line.slice(done));
}

/** Lines with more runs than this are no prose. */
const RUNS_LOOKED_AT = 50;

function closingRun(runs: readonly RegExpExecArray[], open: number): RegExpExecArray | undefined {
  const { length } = runs[open]![0];
  return runs.slice(open + 1, open + RUNS_LOOKED_AT).find(([run]) => run.length === length);
}

/** Where a link leads that is neither the web, mail nor near; also one whose address stands on the next line. */
const FOREIGN_LINK = /\]\((?:\s*$|(?=\s*[a-z][a-z0-9+.\\-]*:)(?!\s*(?:https?|mailto):))/gi;

/** Entities, and not backslashes: one that stands before would undo them. */
const safeText = (text: string): string =>
  text
    .replace(/&(?=#?\w+;)/g, "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll("![", "&#33;[")
    .replaceAll("]:", "]&#58;")
    .replace(FOREIGN_LINK, "]&#40;");

const literalHtml = (text: string): string =>
  text.replace(/[\\`*_{}[\]()#!|~<>&:$]/g, (mark) => `&#${mark.charCodeAt(0)};`);
