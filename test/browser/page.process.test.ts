/** The exported page in a browser with sessions that ask much of it: long, empty and hostile ones. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Browser, type OpenPage } from "../support/browser.ts";
import { generateSession } from "../support/generate.ts";
import { PAYLOADS, hostileSession } from "../support/hostile-session.ts";
import { exportLines, type ExportedPage } from "../support/page-file.ts";
import { HEADER } from "../support/session-lines.ts";

let browser: Browser;
before(async () => {
  browser = await Browser.start();
});
after(() => browser.close());

async function open(page: ExportedPage, query = ""): Promise<OpenPage> {
  const opened = await browser.open(pathToFileURL(page.path).href + query);
  await opened.page.waitForSelector("#tree .row, .empty");
  return opened;
}

/** The page's policy lets no text be evaluated in it, as waiting for a function would; evaluating from outside may. */
async function until(page: OpenPage["page"], condition: string): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    if (await page.evaluate(`Boolean(${condition})`)) return;
    await page.waitForTimeout(20);
  }
  throw new Error(`never came true: ${condition}`);
}
/** Without the white space that markup has between elements. */
const squeezed = (line: string): string => line.replace(/[\s\u00a0]+/g, "");

test("[E1] what is on the screen is drawn, at any place and after any jump, of 20,000 entries as of 2,000", async () => {
  for (const entries of [2000, 20_000]) {
    const opened = await open(await exportLines(generateSession({ shape: "linear", entries, textLength: 20 })));
    const { page } = opened;
    await page.locator("#transcript").press("Escape");
    await until(page, `document.querySelector('.item[data-n="${entries - 1}"]')`);
    await page.locator("#tree").focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await page.waitForSelector("[data-marked]");
    const drawn = await page.evaluate<number[]>(
      "['tree', 'transcript'].map((id) => document.getElementById(id).drawn)",
    );
    assert.ok(
      drawn.every((count) => count > 0 && count < 2000),
      `drawn of ${entries}: ${drawn.join(", ")}`,
    );
    const marked = (await page.locator("[data-marked]").boundingBox())!;
    assert.ok(marked.y >= 0 && marked.y < 720, `the entry gone to is at ${marked.y}`);
    assert.deepEqual(opened.errors, []);
    await page.close();
  }
});

test("[E1] a session without entries opens and says so", async () => {
  const empty = await open(await exportLines([HEADER]));
  assert.equal(await empty.page.locator("#sidebar .empty").innerText(), "No entries found");
  assert.match(await empty.page.locator("#transcript").innerText(), /Nothing was said in this session yet/);
  assert.deepEqual(empty.errors, []);
});

/** In the page: what of its elements a session could have made. */
const INSPECTED = `(() => {
  const all = [...document.querySelectorAll("bough-page, bough-page *")];
  const attributes = all.flatMap((element) => [...element.attributes]);
  return {
    tags: [...new Set(all.map((element) => element.localName))].sort(),
    handlers: attributes.filter(({ name }) => name.startsWith("on") || name === "srcdoc" || name === "style").map(({ name, value }) => name + "=" + value),
    addresses: attributes.filter(({ name, value }) => ["href", "src", "action", "data", "xlink:href"].includes(name)).map(({ value }) => value),
    text: document.querySelector("#transcript").textContent,
    entries: document.querySelectorAll("#transcript .entry").length,
  };
})()`;

/** What the page's own templates, Markdown and the highlighter make. */
const OWN_TAGS =
  "a article aside b bdi bough-page br button code dd details div dl dt em h1 header hr input li main p pre span strong summary time ul virtual-list";

test(`[E1, E2] dB66 ${PAYLOADS.length} payloads in every field: nothing runs, nothing loads, text stays text`, async () => {
  const exported = await exportLines(hostileSession());
  const opened = await open(exported);
  const { page } = opened;
  await page.evaluate(`window.violations = [];
    addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective + " " + event.blockedURI));
    window.print = () => { window.printed = ${INSPECTED}; }`);
  for (const part of ["thinking", "tools", "hidden"]) await page.locator(`[data-switch="${part}"]`).click();
  await page.locator('[data-filter="all"]').click();
  // Every entry of the branch is drawn, as for printing.
  await page.locator("#print").click();
  await until(page, "window.printed");
  const found = await page.evaluate<{
    tags: string[];
    handlers: string[];
    addresses: string[];
    text: string;
    entries: number;
  }>("window.printed");
  assert.deepEqual(
    found.tags.filter((tag) => !OWN_TAGS.split(" ").includes(tag)),
    [],
  );
  assert.deepEqual(
    found.handlers.filter((handler) => !/^style=(?:height|transform): /.test(handler)),
    [],
  );
  assert.deepEqual([...new Set(found.addresses)], ["https://evil.example/pixel.png"], "a remote image is a link to it");
  assert.ok(found.entries > 15 * PAYLOADS.length, `${found.entries} entries were drawn`);
  const plain = squeezed(found.text);
  for (const payload of PAYLOADS) assert.ok(plain.includes(squeezed(payload)), `not shown as text: ${payload}`);
  assert.equal(await page.evaluate("window.ran"), undefined);
  assert.deepEqual(await page.evaluate("violations"), []);
  assert.deepEqual(opened.errors, []);
  assert.deepEqual(
    opened.requests.filter((url) => !/^(?:file|data):/.test(url)),
    [],
  );
  assert.equal(await page.evaluate("location.protocol"), "file:");
});
