/** `bough/tree` in a browser: the built files as they are, without a bundler, over a session in the page's memory. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import * as tree from "../../src/tree/index.ts";
import { Browser, serve, type Served } from "../support/browser.ts";
import { generateSession } from "../support/generate.ts";
import { bytesOf, file } from "../support/session-lines.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const ENTRIES = 10_000;
const PAGE = '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>bough/tree</title>';

let browser: Browser;
before(async () => {
  if (!existsSync(join(root, "dist/tree/index.js"))) execFileSync(process.execPath, [join(root, "scripts/build.mjs")]);
  browser = await Browser.start();
});
after(() => browser.close());

/** The page, the session, and the built room under /tree/. */
function findServed(session: Uint8Array): (path: string) => Served {
  return (path) => {
    if (path === "/") return { type: "text/html", content: PAGE };
    if (path === "/session.jsonl") return { type: "application/octet-stream", content: session };
    const built = join(root, "dist/tree", basename(path));
    if (!path.startsWith("/tree/") || !path.endsWith(".js") || !existsSync(built)) return undefined;
    return { type: "text/javascript", content: readFileSync(built) };
  };
}

/** All that a session's bytes say, as plain values. Runs here and, as its own text, in the page. */
function pictureOf(library: typeof tree, bytes: Uint8Array) {
  const reading = library.readSession({ read: (offset, length) => bytes.subarray(offset, offset + length) });
  if (reading.kind !== "session") return reading;
  const { header, index } = reading;
  const outline = new library.Outline(index);
  const outlines = library.FILTER_MODES.map((filter) => {
    outline.setFilter(filter);
    const rows = outline.rows(0, outline.rowCount, { foldMarks: true });
    return {
      status: library.statusText(outline),
      rows: rows.map((row) => [library.drawnLine(row), row.entry.id, row.n]),
    };
  });
  outline.setQuery("harbour 湖と橋");
  const found = outline.rows(0, outline.rowCount).map((row) => library.numberedLine(row));
  const context = library.buildSessionContext(index.entries(), index.leafId);
  const picture = {
    header,
    size: index.size,
    leafId: index.leafId,
    problems: index.problems,
    usage: { ...index.usage(), byModel: [...index.usage().byModel] },
    outlines,
    found,
    context: { ...context, messages: library.convertToLlm(context.messages) },
    lines: index
      .entries()
      .slice(-100)
      .map((entry) => library.encodeLine(entry)),
  };
  return JSON.parse(JSON.stringify(picture)) as typeof picture;
}

/** In the page: the session comes once and is read from memory. */
const IN_PAGE = `(async () => {
  const library = await import("/tree/index.js");
  const bytes = new Uint8Array(await (await fetch("/session.jsonl")).arrayBuffer());
  const pictureOf = ${pictureOf.toString()};
  return { picture: pictureOf(library, bytes), node: typeof process, buffer: typeof Buffer };
})()`;

for (const shape of ["linear", "bushy", "compact"] as const)
  test(`[G3] a browser reads ${ENTRIES} entries, ${shape}, and builds the same outline and context as Node`, async (t) => {
    const session = bytesOf(file(...generateSession({ shape, entries: ENTRIES })));
    const expected = pictureOf(tree, session);
    assert.ok("size" in expected && expected.size === ENTRIES && expected.found.length > 0);
    const address = await serve(t, findServed(session));
    const { page, requests, errors } = await browser.open(address);
    assert.deepEqual(await page.evaluate(IN_PAGE), { picture: expected, node: "undefined", buffer: "undefined" });
    assert.deepEqual(errors, []);
    const elsewhere = requests.filter((url) => !url.startsWith(address) && !url.startsWith("data:"));
    assert.deepEqual(elsewhere, [], "requests that leave this machine");
    assert.equal(requests.filter((url) => url === `${address}session.jsonl`).length, 1);
  });
