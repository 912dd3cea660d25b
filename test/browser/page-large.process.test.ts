/** An exported page of a large session: what it does must not grow with the session. Work is counted, not timed. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Outline } from "../../src/tree/outline.ts";
import { Browser } from "../support/browser.ts";
import { openExport, settled, shownEntries, shownRows } from "../support/exported-page.ts";
import type { OpenExport } from "../support/exported-page.ts";
import { generateSession } from "../support/generate.ts";
import { exportLines } from "../support/page-file.ts";
import type { ExportedPage } from "../support/page-file.ts";

let browser: Browser;
before(async () => {
  browser = await Browser.start();
});
after(() => browser.close());

interface Work {
  /** Drawn since the page was opened, however often. */
  rows: number;
  entries: number;
  chunks: number;
  /** Elements there now. */
  elements: number;
}

const work = ({ ask }: OpenExport): Promise<Work> =>
  ask(`({
    rows: document.querySelector("#tree").drawn,
    entries: document.querySelector("#transcript").drawn,
    chunks: document.querySelector("bough-page").parts.view.bodies.unpacked,
    elements: document.querySelectorAll("*").length - document.querySelectorAll("script").length,
  })`);

const LIMITS: Work = { rows: 2500, entries: 1500, chunks: 40, elements: 4000 };

function assertWithin(done: Work, what: string): void {
  const over = (Object.keys(LIMITS) as (keyof Work)[]).filter((name) => done[name] > LIMITS[name] || done[name] === 0);
  assert.deepEqual(over, [], `${what}: ${JSON.stringify(done)}`);
}

/** As a reader does: looks, goes to the start, searches, goes to the end of another branch, comes back. */
async function visit({ session, path }: ExportedPage): Promise<void> {
  const { index } = session;
  const opened = await openExport(browser, path);
  const { page, ask, errors } = opened;
  assertWithin(await work(opened), `${index.size} entries, opened`);
  await page.locator("#transcript").press("Escape");
  await settled(ask);
  assert.equal((await shownEntries(ask)).at(-1), index.leafId);
  await page.focus("#tree");
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  await settled(ask);
  const marked = (await page.locator("[data-marked]").boundingBox())!;
  assert.ok(marked.y >= 0 && marked.y < 800, `the entry gone to is at ${marked.y}`);
  const found = index.entries().findLast(({ type }) => type === "branch_summary")!;
  // Its mark goes by itself, which draws it again.
  await page.waitForSelector("[data-marked]", { state: "detached" });
  await settled(ask);
  const before = await work(opened);
  await page.fill("#search", "branch summary");
  await page.waitForSelector("#tree[aria-busy=false]");
  await settled(ask);
  assert.ok((await shownRows(ask)).some((row) => row.includes("[branch summary]")));
  assert.equal((await work(opened)).entries, before.entries, "a search draws no entry again");
  await page.keyboard.press("Escape");
  await ask(`document.querySelector("bough-page").parts.view.show(${index.ordinal(found.id)})`);
  await page.locator("#transcript").press("Escape");
  await settled(ask);
  assertWithin(await work(opened), `${index.size} entries, visited`);
  assert.deepEqual(errors, []);
  await page.close();
}

for (const entries of [5000, 50_000])
  test(`[E1, Y11] a page of ${entries} bushy entries draws what is on the screen and unpacks what is looked at`, async () => {
    await visit(await exportLines(generateSession({ shape: "bushy", entries })));
  });

/** Counts, in the page: entries that each slice asked the tree about, the queries that were found, what was announced. */
const COUNT = `(() => {
  const { outline, tree } = document.querySelector("bough-page").parts.view;
  const { search } = document.querySelector("bough-sidebar");
  window.counted = { slices: [], found: [], announced: [] };
  for (const name of ["parentOrdinal", "glanceAt"]) {
    const asked = tree[name];
    tree[name] = (n) => {
      counted.slices[search.count] = (counted.slices[search.count] ?? 0) + 1;
      return asked.call(tree, n);
    };
  }
  const searchOn = outline.searchOn;
  outline.searchOn = (limit) => {
    const isFound = searchOn.call(outline, limit);
    if (isFound) counted.found.push(outline.query);
    return isFound;
  };
  const spoken = document.querySelector(".spoken");
  new MutationObserver(() => counted.announced.push(spoken.textContent))
    .observe(spoken, { characterData: true, childList: true, subtree: true });
  window.type = (...queries) => {
    const field = document.querySelector("#search");
    for (const query of queries) {
      field.value = query;
      field.dispatchEvent(new Event("input"));
    }
  };
})()`;
interface Counted {
  slices: number[];
  found: string[];
  announced: string[];
}

test("[Y11] letters typed over 50,000 bushy entries are searched in slices that do not grow, and the last one counts", async () => {
  const { path, session } = await exportLines(generateSession({ shape: "bushy", entries: 50_000 }));
  const opened = await openExport(browser, path);
  const { page, ask, errors } = opened;
  const rowsFor = (query: string): Outline => new Outline(session.index, { query });
  const found = async (): Promise<void> => {
    await page.waitForSelector("#tree[aria-busy=false]");
    await settled(ask);
  };
  await ask(COUNT);
  const letters = [..."branch summary"].map((_, n, all) => all.slice(0, n + 1).join(""));
  const hits = rowsFor("branch summary").rowCount;

  const before = await shownRows(ask);
  // Before a slice has had its turn.
  const meanwhile = await ask(`(async () => {
    type(...${JSON.stringify(letters)});
    await document.querySelector("bough-sidebar").updateComplete;
    const tree = document.querySelector("#tree");
    return [tree.ariaBusy, tree.querySelectorAll(".row").length];
  })()`);
  assert.deepEqual(meanwhile, ["true", before.length], "the old rows stay");
  await found();
  const together = await ask<Counted>("counted");
  assert.deepEqual(together.found, ["branch summary"]);
  assert.deepEqual(together.announced, [`${hits} entries found`]);

  for (const query of [...letters.slice(0, -1).reverse(), "", ...letters]) {
    await ask(`type(${JSON.stringify(query)})`);
    await found();
  }
  const all = await ask<Counted>("counted");
  assert.deepEqual(all.found, [...together.found, ...letters.slice(0, -1).reverse(), "", ...letters]);
  const most = Math.max(...all.slices.map((asked) => asked ?? 0));
  // Each entry of a slice is asked about once; then what the screen shows is drawn.
  assert.ok(most > 0 && most <= 17_500, `${most} entries in a slice`);
  const ordinals = await ask<number[]>(
    `(() => {
      const { outline } = document.querySelector("bough-page").parts.view;
      return outline.rows(0, outline.rowCount).map((row) => row.n);
    })()`,
  );
  const plain = rowsFor("branch summary");
  assert.deepEqual(
    ordinals,
    plain.rows(0, plain.rowCount).map((row) => row.n),
  );
  assert.deepEqual(errors, []);
  await page.close();
});
