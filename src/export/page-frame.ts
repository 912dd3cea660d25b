/**
 * What stands around the data of a page: head, policy, a notice for browsers that cannot show it, script.
 * Part of `export/`; used by html.ts. Text of the session goes through `escapeHtml`, the one sink of this room.
 */
import { createHash } from "node:crypto";
import { oneLine } from "../tree/one-line.ts";
import type { PageAssets } from "./page-assets.ts";
import type { PageFacts } from "./page/page-data.ts";

const ESCAPES = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
  ["'", "&#39;"],
]);

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES.get(character) ?? character);
}

/** Nothing but the page's own script and style, images out of the page's own bytes, and no network. */
function policy({ script, style }: PageAssets): string {
  return [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types lit-html",
  ].join("; ");
}

const hashOf = (text: string): string => `sha256-${createHash("sha256").update(text).digest("base64")}`;

/** Up to the data. */
export function pageStart(facts: PageFacts, assets: PageAssets): string {
  const title = escapeHtml(titleOf(facts));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy(assets)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<meta name="generator" content="bough">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${assets.style}</style>
</head>
<body>
${notice(facts, title)}
`;
}

/** Between the rows, which it needs at once, and the bodies, which the browser reads while it runs. */
export const pageScript = ({ script }: PageAssets): string => `<script>${script}</script>\n`;

export const PAGE_END = "</body>\n</html>\n";

function titleOf({ session }: PageFacts): string {
  return oneLine(session.name) || `Session ${oneLine(session.id)}`;
}

/** Seen where the page's script cannot run. */
function notice({ session, entries, times }: PageFacts, title: string): string {
  const span = times === undefined ? "" : `, ${day(times.first)} to ${day(times.last)}`;
  return `<div id="notice">
<h1>${title}</h1>
<p>${entries} ${entries === 1 ? "entry" : "entries"}${span}, in ${escapeHtml(oneLine(session.cwd) || "an unknown folder")}.</p>
<p>This page shows a conversation with a coding agent. It needs JavaScript, and a browser made after the spring of 2024. It loads nothing from any network. The conversation is in this file, compressed.</p>
</div>`;
}

const day = (time: number): string => new Date(time).toISOString().slice(0, 10);
