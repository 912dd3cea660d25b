/**
 * Source code in colours, line by line.
 * Part of `tui/`; used by Markdown code blocks and by the rows of read and write.
 */
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { theme, type ThemeToken } from "./theme.ts";

const LANGUAGES = {
  bash,
  c,
  cpp,
  csharp,
  css,
  diff,
  dockerfile,
  go,
  ini,
  java,
  javascript,
  json,
  kotlin,
  makefile,
  markdown,
  php,
  python,
  ruby,
  rust,
  sql,
  swift,
  typescript,
  xml,
  yaml,
};
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

/** Longer code is shown plain: colours are not worth a pause. */
const MAX_CHARACTERS = 50_000;

/** Classes of highlight.js 11 (its "CSS classes reference") by the token that shows them. */
const TOKENS = new Map<string, ThemeToken>([
  ["comment", "syntaxComment"],
  ["quote", "syntaxComment"],
  ["keyword", "syntaxKeyword"],
  ["literal", "syntaxKeyword"],
  ["selector-tag", "syntaxKeyword"],
  ["name", "syntaxKeyword"],
  ["meta", "syntaxKeyword"],
  ["section", "syntaxFunction"],
  ["title", "syntaxFunction"],
  ["variable", "syntaxVariable"],
  ["attr", "syntaxVariable"],
  ["attribute", "syntaxVariable"],
  ["params", "syntaxVariable"],
  ["property", "syntaxVariable"],
  ["template-variable", "syntaxVariable"],
  ["string", "syntaxString"],
  ["regexp", "syntaxString"],
  ["char", "syntaxString"],
  ["number", "syntaxNumber"],
  ["symbol", "syntaxNumber"],
  ["bullet", "syntaxNumber"],
  ["type", "syntaxType"],
  ["built_in", "syntaxType"],
  ["class", "syntaxType"],
  ["operator", "syntaxOperator"],
  ["punctuation", "syntaxPunctuation"],
  ["addition", "toolDiffAdded"],
  ["deletion", "toolDiffRemoved"],
]);

/** The lines of sanitised `code`, each with its own colours; one plain colour for an unknown language. */
export function highlightCode(code: string, language?: string): string[] {
  const name =
    language
      ?.trim()
      .split(/[\s,{]/, 1)[0]
      ?.toLowerCase() ?? "";
  if (code.length > MAX_CHARACTERS || hljs.getLanguage(name) === undefined)
    return code.split("\n").map((line) => theme.fg("mdCodeBlock", line));
  return colourLines(hljs.highlight(code, { language: name, ignoreIllegals: true }).value);
}

/** The language of a file by its name, for `highlightCode`; "" when there is none. */
export function languageOf(path: string): string {
  const base = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  if (base === "dockerfile" || base === "makefile") return base;
  const extension = base.slice(base.lastIndexOf(".") + 1);
  return hljs.getLanguage(extension) === undefined ? "" : extension;
}

const PIECE = /<span class="hljs-([a-z_-]+)[^"]*">|<span[^>]*>|<\/span>|[^<]+/g;
const ENTITIES = new Map([
  ["&lt;", "<"],
  ["&gt;", ">"],
  ["&amp;", "&"],
  ["&quot;", '"'],
  ["&#x27;", "'"],
]);

/** highlight.js answers in HTML; the innermost span that has a token colours its text. */
function colourLines(html: string): string[] {
  const tokens: (ThemeToken | undefined)[] = [];
  const lines: string[] = [""];
  for (const [piece, className] of html.matchAll(PIECE)) {
    if (piece === "</span>") tokens.pop();
    else if (piece.startsWith("<span")) tokens.push(TOKENS.get(className ?? "") ?? tokens.at(-1));
    else appendText(lines, piece, tokens.at(-1) ?? "mdCodeBlock");
  }
  return lines;
}

function appendText(lines: string[], piece: string, token: ThemeToken): void {
  const text = piece.replace(/&(?:lt|gt|amp|quot|#x27);/g, (entity) => ENTITIES.get(entity) ?? entity);
  for (const [index, part] of text.split("\n").entries()) {
    if (index > 0) lines.push("");
    lines[lines.length - 1] += theme.fg(token, part);
  }
}
