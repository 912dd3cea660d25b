/**
 * Markdown and highlighted code. The only file of the page that makes HTML out of text: what goes to `unsafeHTML` here is
 * made of fixed tags, escaped text and addresses that `safeAddress` has let through.
 * Part of the page.
 */
import { html } from "lit";
import type { TemplateResult } from "lit";
import { unsafeHTML } from "lit/directives/unsafe-html.js";
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import makefile from "highlight.js/lib/languages/makefile";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { Marked } from "marked";
import type { Tokens } from "marked";
import { safeAddress } from "./safe-address.ts";

const LANGUAGES = {
  bash,
  c,
  cpp,
  css,
  diff,
  dockerfile,
  go,
  ini,
  java,
  javascript,
  json,
  makefile,
  python,
  ruby,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

/** Longer text is shown as it is: neither colours nor bold type are worth a pause. */
const LONGEST_CODE = 50_000;
const LONGEST_MARKDOWN = 100_000;

const ESCAPES = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
  ["'", "&#39;"],
]);
const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES.get(character)!);

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escape(text),
    link(token: Tokens.Link) {
      return linked(token.href, this.parser.parseInline(token.tokens));
    },
    // Nothing is loaded: an image is a link to it.
    image: ({ href, text }: Tokens.Image) => linked(href, `[image: ${escape(text || href)}]`),
    code: ({ text, lang }: Tokens.Code) => `<pre class="code"><code>${highlighted(text, lang ?? "")}</code></pre>`,
    checkbox: ({ checked }: Tokens.Checkbox) => (checked ? "☑ " : "☐ "),
  },
});

/** Text as Markdown; as plain text where it is very long or makes no sense. */
export function markdown(text: string): TemplateResult {
  const plain = html`<div class="plain">${text}</div>`;
  if (text.length > LONGEST_MARKDOWN) return plain;
  try {
    return html`<div class="markdown">${unsafeHTML(marked.parse(text, { async: false }))}</div>`;
  } catch {
    // Lists in lists in lists, thousands of levels deep.
    return plain;
  }
}

/** Code in colours. @param language its name or the extension of a file; plain when it is unknown */
export function code(text: string, language: string): TemplateResult {
  return html`<pre class="code"><code>${unsafeHTML(highlighted(text, language))}</code></pre>`;
}

function highlighted(text: string, language: string): string {
  const name = language
    .trim()
    .split(/[\s,{]/, 1)[0]!
    .toLowerCase();
  if (text.length > LONGEST_CODE || hljs.getLanguage(name) === undefined) return escape(text);
  return hljs.highlight(text, { language: name, ignoreIllegals: true }).value;
}

/** @param label HTML */
function linked(href: string, label: string): string {
  const address = safeAddress(href);
  if (address === undefined) return `<span class="no-link" title="${escape(href)}">${label}</span>`;
  return `<a href="${escape(address)}" target="_blank" rel="noopener noreferrer nofollow">${label}</a>`;
}
