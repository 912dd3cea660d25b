/**
 * Exported pages for tests: made of session lines, and their data read back as the page itself reads it.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inflateRawSync } from "node:zlib";
import { writeHtml, type HtmlOptions, type PageSource, type WrittenHtml } from "../../src/export/html.ts";
import { FACTS_ID, bodiesId, rowsId } from "../../src/export/page/page-data.ts";
import type { BodyChunk, PageFacts, RowBlock } from "../../src/export/page/page-data.ts";
import { readSession } from "../../src/tree/reader.ts";
import { newFolder } from "./program.ts";
import { file, memorySource, type ReadSession } from "./session-lines.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The page's script and style, for tests that run without the build before them. */
export function ensurePageBuilt(): void {
  if (!existsSync(join(root, "dist/export/viewer.js")))
    execFileSync(process.execPath, [join(root, "scripts/build-page.mjs")]);
}

export function sessionOf(lines: Iterable<string>): ReadSession {
  const reading = readSession(memorySource(file(...lines)));
  if (reading.kind !== "session") throw new Error("not a session");
  return reading;
}

export interface ExportedPage extends WrittenHtml {
  path: string;
  session: ReadSession;
}

/** Writes the page of a session's lines into a new folder. `masking` stands in front of the session. */
export async function exportLines(
  lines: Iterable<string>,
  options: Partial<HtmlOptions> = {},
  masking: (source: PageSource) => PageSource = (source) => source,
): Promise<ExportedPage> {
  ensurePageBuilt();
  const session = sessionOf(lines);
  const path = join(newFolder("page"), "session.html");
  const written = await writeHtml(path, masking(session.index), { header: session.header, ...options });
  return { ...written, path, session };
}

export interface PageContent {
  html: string;
  facts: PageFacts;
  blocks: RowBlock[];
  bodies: BodyChunk;
  scriptOf(id: string): string;
}

export function readPage(path: string): PageContent {
  const html = readFileSync(path, "utf8");
  const scripts = new Map<string, string>();
  for (const [, id, text] of html.matchAll(/<script type="application\/octet-stream" id="([\w-]+)">([^<]*)<\/script>/g))
    scripts.set(id as string, text as string);
  const scriptOf = (id: string): string => {
    const text = scripts.get(id);
    if (text === undefined) throw new Error(`no script ${id}`);
    return text;
  };
  const unpack = (id: string): unknown => JSON.parse(inflateRawSync(Buffer.from(scriptOf(id), "base64")).toString());
  const facts = JSON.parse(Buffer.from(scriptOf(FACTS_ID), "base64").toString()) as PageFacts;
  const blocks = Array.from({ length: facts.rowBlocks }, (_, block) => unpack(rowsId(block)) as RowBlock);
  const bodies = facts.chunks.flatMap((_, chunk) => unpack(bodiesId(chunk)) as BodyChunk);
  return { html, facts, blocks, bodies, scriptOf };
}
