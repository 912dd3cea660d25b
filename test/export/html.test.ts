/** What an exported page carries, read back from the file. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { writeHtml, type PageSource } from "../../src/export/html.ts";
import { PageTree } from "../../src/export/page/page-tree.ts";
import { FILTER_MODES } from "../../src/tree/outline-filter.ts";
import { drawnLine } from "../../src/tree/outline-lines.ts";
import { statusText } from "../../src/tree/outline-texts.ts";
import { Outline, type OutlineSource } from "../../src/tree/outline.ts";
import { generateSession } from "../support/generate.ts";
import { ensurePageBuilt, exportLines, readPage, sessionOf } from "../support/page-file.ts";
import { newFolder } from "../support/program.ts";
import { HEADER, at, line, message } from "../support/session-lines.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A session behind another `at`, with nothing that a source may do without. */
function plainSource(source: PageSource, entryAt: PageSource["at"]): PageSource {
  return {
    size: source.size,
    leafOrdinal: source.leafOrdinal,
    problems: source.problems,
    name: source.name,
    at: entryAt,
    kindAt: (n) => source.kindAt(n),
    parentOrdinal: (n) => source.parentOrdinal(n),
    treeChildren: (n) => source.treeChildren(n),
    treeProblemAt: (n) => source.treeProblemAt(n),
    ordinal: (id) => source.ordinal(id),
    labels: () => source.labels(),
  };
}

/** All that an outline shows: every filter, a search, a fold. */
function pictureOf(source: OutlineSource): unknown {
  const outline = new Outline(source, { home: "/home/sam" });
  const drawn = (): unknown => [
    statusText(outline),
    outline
      .rows(0, outline.rowCount, { foldMarks: true })
      .map((row) => [drawnLine(row), row.text, row.n, row.entry.id]),
  ];
  const filtered = FILTER_MODES.map((filter) => {
    outline.setFilter(filter);
    return drawn();
  });
  outline.setQuery("harbour 湖と橋");
  const found = drawn();
  outline.setQuery("toolresult gravel");
  return { filtered, found, beyond: drawn() };
}

for (const [shape, entries] of [
  ["linear", 1200],
  ["bushy", 9000],
  ["compact", 1200],
] as const)
  test(`[E1, E2] the tree of a page is the terminal's, ${shape}`, async () => {
    const page = await exportLines(generateSession({ shape, entries, textLength: 20 }), { home: "/home/sam" });
    const { facts, blocks } = readPage(page.path);
    const tree = new PageTree(facts, blocks);
    assert.equal(blocks.length, Math.ceil(entries / 2048));
    assert.deepEqual(pictureOf(tree), pictureOf(page.session.index));
  });

test("[E2, T5] missing parents, cycles, forward parents and duplicates look as in the terminal, with their Problems", async () => {
  const lines = [
    HEADER,
    message("a", "b"),
    message("b", "a"),
    message("c", "late"),
    message("late", null),
    message("d", "gone"),
    message("__proto__", "c"),
    message("e", "__proto__"),
    message("e", "a"),
    line("message", "f", "e", { message: "none" }),
    line("unheard_of", "g", "f", { value: 1 }),
    line("label", "l", "g", { targetId: "e", label: "here" }),
    "{broken",
  ];
  const page = await exportLines(lines);
  const { facts, blocks } = readPage(page.path);
  const tree = new PageTree(facts, blocks);
  assert.deepEqual(pictureOf(tree), pictureOf(page.session.index));
  assert.deepEqual(facts.problems, page.session.index.problems);
  assert.equal(facts.problemCount, facts.problems.length);
  assert.deepEqual(
    facts.problems.map(({ code }) => code),
    ["parent-cycle", "missing-parent", "duplicate-id", "bad-entry", "bad-line"],
  );
});

test("[E1] bodies hold what the page shows: no signatures, no encrypted thinking, no details but a diff", async () => {
  const content = [
    { type: "thinking", thinking: "hm", thinkingSignature: "c2VhbGVk" },
    { type: "text", text: "Yes.", textSignature: "c2VhbGVk" },
    { type: "toolCall", id: "t1", name: "edit", arguments: { path: "a" }, thoughtSignature: "c2VhbGVk" },
  ];
  const usage = { input: 3, output: 4, cacheRead: 5, cacheWrite: 0, cost: { total: 0.123456789 } };
  const answer = { role: "assistant", content, api: "x", provider: "p", model: "m", usage, stopReason: "toolUse" };
  const result = { role: "toolResult", toolCallId: "t1", toolName: "edit", content: [], isError: false };
  const page = await exportLines([
    HEADER,
    line("message", "a", null, { message: { ...answer, timestamp: 0 } }),
    line("message", "b", "a", { message: { ...result, details: { diff: "+1 x", secret: 1 }, timestamp: 0 } }),
  ]);
  assert.deepEqual(readPage(page.path).bodies, [
    {
      message: {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm" },
          { type: "text", text: "Yes." },
          { type: "toolCall", id: "t1", name: "edit", arguments: { path: "a" } },
        ],
        provider: "p",
        model: "m",
        stopReason: "toolUse",
        spent: [12, 0.12346],
      },
    },
    { message: { ...result, diff: "+1 x" } },
  ]);
});

test("[E1, E2] entries whose fields are wrong are in the page and count for nothing", async () => {
  const wrong = [{ message: null }, { message: [] }, { message: { role: 7, usage: { input: 1 } } }, {}];
  const page = await exportLines([
    HEADER,
    ...wrong.map((fields, n) => line("message", `m${n}`, null, fields)),
    line("compaction", "c", null, { usage: { input: 1 } }),
  ]);
  const { facts, bodies } = readPage(page.path);
  assert.deepEqual(bodies.slice(0, 2), [{ message: null }, { message: [] }]);
  assert.deepEqual([facts.entries, facts.problemCount, facts.byModel], [5, 5, []]);
  assert.deepEqual(facts.counts, { prompts: 0, answers: 0, toolResults: 0 });
});

const pictured = (id: string, parentId: string | null, data: unknown, mimeType: unknown = "image/png"): string =>
  line("message", id, parentId, {
    message: { role: "user", content: [{ type: "image", data, mimeType }], timestamp: 0 },
  });

test("[E1] an image is in the page once, by its own bytes' type; what is no image, or too much, is named", async () => {
  const gif = `R0lGOD${"A".repeat(400)}`;
  const lines = [
    HEADER,
    pictured("a", null, PNG, 'image/png" onerror="x'),
    pictured("b", "a", PNG),
    pictured("c", "b", "PHN2Zy8+", "image/svg+xml"),
    pictured("d", "c", `${PNG}"><script>`),
    pictured("e", "d", gif, "image/gif"),
    pictured("f", "e", 7),
  ];
  const images = (path: string): unknown[] =>
    readPage(path).bodies.map((body) => ((body["message"] as { content: unknown[] }).content[0] as object) ?? {});
  const page = await exportLines(lines, { imageLimit: 300 });
  const content = readPage(page.path);
  assert.deepEqual([page.images, page.imagesLeftOut], [1, 4]);
  assert.deepEqual(content.facts.images, [{ mimeType: "image/png", bytes: (PNG.length * 3) / 4 }]);
  assert.equal(content.scriptOf("image-0"), PNG);
  assert.deepEqual(images(page.path), [
    { type: "image", image: 0 },
    { type: "image", image: 0 },
    { type: "image", leftOut: "broken", bytes: 6 },
    { type: "image", leftOut: "broken", bytes: Math.floor(((PNG.length + 10) * 3) / 4) },
    { type: "image", leftOut: "limit", bytes: Math.floor((gif.length * 3) / 4) },
    { type: "image", leftOut: "broken", bytes: 0 },
  ]);
  const none = await exportLines(lines, { images: false });
  assert.deepEqual([none.images, none.imagesLeftOut], [0, 6]);
  assert.equal(readPage(none.path).html.includes(PNG), false);
});

test("[E1, W6] the file is 0600, replaces what was there whole, and leaves nothing beside it", async () => {
  ensurePageBuilt();
  const folder = newFolder("page mode");
  const path = join(folder, 'a "quoted" $& name.html');
  writeFileSync(path, "old", { mode: 0o644 });
  const { header, index } = sessionOf([HEADER, message("a", null)]);
  const written = await writeHtml(path, index, { header });
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(path).size, written.bytes);
  assert.match(readFileSync(path, "utf8"), /^<!doctype html>\n[^]*<\/html>\n$/);
  assert.deepEqual(readdirSync(folder), ['a "quoted" $& name.html']);
  const failing = plainSource(index, () => {
    throw new Error("cannot be read");
  });
  await assert.rejects(writeHtml(path, failing, { header }), /cannot be read/);
  assert.equal(statSync(path).size, written.bytes);
  assert.deepEqual(readdirSync(folder), ['a "quoted" $& name.html']);
});

test("[E1] a page holds the licences of all whose code is in it", async () => {
  const { html } = readPage((await exportLines([HEADER])).path);
  for (const name of ["lit", "lit-html", "lit-element", "@lit/reactive-element", "marked", "highlight.js"]) {
    const licence = new URL(`../../node_modules/${name}/LICENSE`, import.meta.url);
    assert.ok(html.includes(readFileSync(licence, "utf8").trim()), name);
    assert.match(html, new RegExp(`^(?:.*, )?${name}(?:, .*)?:$`, "m"));
  }
});

test("[E2] the page's head lets nothing but its own script and style run, and escapes the session's name", async () => {
  const name = `</title><script>alert(1)</script>"'&`;
  const page = await exportLines([HEADER, line("session_info", "n", null, { name })]);
  const { html } = readPage(page.path);
  const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? "";
  assert.deepEqual(
    policy.split("; ").map((rule) => rule.replace(/sha256-[\w+/=]{44}/, "sha256")),
    [
      "default-src 'none'",
      "script-src 'sha256'",
      "style-src 'sha256'",
      "img-src data:",
      "base-uri 'none'",
      "form-action 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types lit-html",
    ],
  );
  assert.match(html, /<title>&lt;\/title&gt;&lt;script&gt;alert\(1\)&lt;\/script&gt;&quot;&#39;&amp;<\/title>/);
  assert.equal(html.split("<script").length, html.split("</script>").length, "every script that opens is closed");
});

test("[E1, Y10] writing asks for each entry once, and again only for calls: ten times the entries, ten times the work", async () => {
  const reads: number[] = [];
  for (const entries of [1000, 10_000]) {
    let asked = 0;
    const counting = (source: PageSource): PageSource => plainSource(source, (n) => (asked++, source.at(n)));
    await exportLines(generateSession({ shape: "bushy", entries, textLength: 20 }), {}, counting);
    reads.push(asked);
  }
  assert.ok(reads[0]! < 1100 && reads[1]! < 11_000, `asked for ${reads.join(" and ")} entries`);
});

test("[E1] the head tells models, cost, dates and counts; a page of no entries has a head, too", async () => {
  const usage = { input: 100, output: 10, cost: { total: 0.5 } };
  const said = { role: "assistant", content: [], provider: "p", model: "m", usage, timestamp: 0 };
  const page = await exportLines(
    [
      HEADER,
      line("message", "a", null, { message: said, timestamp: at(60) }),
      line("message", "b", "a", { message: said, timestamp: at(30) }),
    ],
    { part: "the branch to b", masked: () => "2 keys were masked." },
  );
  const { session, exported, ...facts } = readPage(page.path).facts;
  const sums = { input: 200, output: 20, cacheRead: 0, cacheWrite: 0, totalTokens: 220, cost: 1 };
  assert.ok(!Number.isNaN(Date.parse(exported)));
  assert.deepEqual(session, { id: "s1", cwd: "/w", created: "2026-01-01T00:00:00.000Z" });
  assert.deepEqual(facts, {
    part: "the branch to b",
    masked: "2 keys were masked.",
    entries: 2,
    leaf: 1,
    labels: [],
    problems: [],
    problemCount: 0,
    times: { first: Date.parse(at(30)), last: Date.parse(at(60)) },
    counts: { prompts: 0, answers: 2, toolResults: 0 },
    usage: sums,
    byModel: [["p/m", sums]],
    rowBlocks: 1,
    chunks: [0],
    images: [],
  });
  const empty = readPage((await exportLines([HEADER])).path).facts;
  assert.deepEqual([empty.entries, empty.leaf, empty.rowBlocks, empty.chunks], [0, -1, 0, []]);
  assert.equal(new PageTree(empty, []).size, 0);
});
