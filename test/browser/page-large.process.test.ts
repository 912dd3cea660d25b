/** An exported page of a large session: what it does must not grow with the session. Work is counted, not timed. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
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
