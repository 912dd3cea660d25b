/** The exported page in a browser, from a file as people open it: what it shows, keys, places, and hostile sessions. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Outline } from "../../src/tree/outline.ts";
import { drawnLine } from "../../src/tree/outline-lines.ts";
import { Browser, type OpenPage } from "../support/browser.ts";
import { generateSession } from "../support/generate.ts";
import { PAYLOADS, hostileSession } from "../support/hostile-session.ts";
import { exportLines, type ExportedPage } from "../support/page-file.ts";
import { HEADER, at, chain, line } from "../support/session-lines.ts";

let browser: Browser;
before(async () => {
  browser = await Browser.start();
});
after(() => browser.close());

const said = (role: string, content: unknown, fields: object = {}): object => ({
  role,
  content,
  timestamp: 0,
  ...fields,
});
const text = (words: string): object => ({ type: "text", text: words });

/** Two branches, a call with its result, thinking, Markdown, a label, a summary, a hidden message. */
const LINES = [
  HEADER,
  line("session_info", "name", null, { name: "Bread oven" }),
  line("message", "ask", "name", { message: said("user", "How hot is the **oven**?\n\n```ts\nconst a = 1;\n```") }),
  line("message", "call", "ask", {
    message: said("assistant", [
      { type: "thinking", thinking: "I must look." },
      { type: "toolCall", id: "t1", name: "bash", arguments: { command: "cat oven.log" } },
    ]),
  }),
  line("message", "result", "call", {
    message: said("toolResult", [text("450\n".repeat(40))], { toolCallId: "t1", toolName: "bash", isError: false }),
  }),
  line("message", "answer", "result", { message: said("assistant", [text("It is [hot](https://example.org/).")]) }),
  line("label", "lab", "answer", { targetId: "answer", label: "found" }),
  line("message", "cold", "result", { timestamp: at(5), message: said("assistant", [text("It is cold.")]) }),
  line("branch_summary", "sum", "cold", { fromId: "result", summary: "The other way was hot." }),
  line("custom_message", "hid", "sum", { customType: "note", content: "psst", display: false }),
  line("message", "end", "hid", { message: said("user", "Thanks.") }),
];

async function open(page: ExportedPage, query = ""): Promise<OpenPage> {
  const opened = await browser.open(pathToFileURL(page.path).href + query);
  await opened.page.waitForSelector("#tree .row, .empty");
  return opened;
}

const rowTexts = ({ page }: OpenPage): Promise<string[]> => page.locator("#tree .row").allTextContents();
const shown = ({ page }: OpenPage): Promise<string[]> =>
  page
    .locator("#transcript .item[data-n] .entry")
    .evaluateAll((entries) => entries.map((entry) => entry.ariaLabel ?? ""));
/** The page's policy lets no text be evaluated in it, as waiting for a function would; evaluating from outside may. */
async function until(page: OpenPage["page"], condition: string): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    if (await page.evaluate(`Boolean(${condition})`)) return;
    await page.waitForTimeout(20);
  }
  throw new Error(`never came true: ${condition}`);
}
const queryOf = ({ page }: OpenPage): string => new URL(page.url()).search;
/** Without the white space that markup has between elements. */
const squeezed = (line: string): string => line.replace(/[\s\u00a0]+/g, "");
const activeRow = ({ page }: OpenPage): Promise<string | null> =>
  page.locator("#tree").getAttribute("aria-activedescendant");

test("[E1, E2] the page shows the terminal's rows, the transcript, and asks for nothing", async () => {
  const exported = await exportLines(LINES);
  const opened = await open(exported);
  const { page } = opened;
  const outline = new Outline(exported.session.index);
  // Labels stand in brackets in the terminal, and the cursor is no text in the page.
  const expected = outline.rows(0, 99, { foldMarks: true }).map((row) => drawnLine(row).replace(/[[\]›]/g, ""));
  const rows = (await rowTexts(opened)).map((row) => row.replace(/[[\]]/g, ""));
  assert.deepEqual(rows.map(squeezed), expected.map(squeezed));
  assert.equal(await page.title(), "Bread oven");
  assert.deepEqual(await shown(opened), ["User", "Assistant", "Tool", "Assistant", "Branch summary", "User"]);
  const tool = page.locator(".entry.tool-result");
  assert.match(await tool.innerText(), /bash cat oven\.log/);
  assert.equal(await page.locator(".entry.user strong").first().innerText(), "oven");
  assert.equal(await page.locator(".entry.user .hljs-keyword").innerText(), "const");
  await page.locator(".fold").click();
  assert.equal(await page.locator(".thinking .plain").innerText(), "I must look.");
  await tool.locator(".more").click();
  assert.equal((await tool.locator("pre").last().innerText()).trim().split("\n").length, 40);
  assert.equal(await page.locator("#notice").count(), 0);
  assert.deepEqual(opened.errors, []);
  assert.deepEqual(
    opened.requests.filter((url) => !/^(?:file|data):/.test(url)),
    [],
  );
});

test("[E1] a click shows the newest branch there, the address says so, and back goes back", async () => {
  const opened = await open(await exportLines(LINES));
  const { page } = opened;
  await page.locator("#row-4").click();
  await until(page, "document.querySelector('[data-marked]')");
  assert.deepEqual(await shown(opened), ["User", "Assistant", "Tool", "Assistant"]);
  assert.equal(queryOf(opened), "?leafId=lab&targetId=answer");
  assert.equal(await page.locator(".entry[data-marked] .body a").getAttribute("rel"), "noopener noreferrer nofollow");
  await page.goBack();
  await until(page, "document.querySelectorAll('#transcript .entry').length === 6");
  assert.equal(queryOf(opened), "");
  await page.goForward();
  await until(page, "document.querySelectorAll('#transcript .entry').length === 4");
  await page.locator("#transcript").press("Escape");
  await until(page, "document.querySelectorAll('#transcript .entry').length === 6");
});

test("[E1] deep links lead to a branch and an entry, also a hidden one; unknown ids are passed over", async () => {
  const exported = await exportLines(LINES);
  const branch = await open(exported, "?leafId=answer");
  assert.deepEqual(await shown(branch), ["User", "Assistant", "Tool", "Assistant"]);
  const hidden = await open(exported, "?targetId=hid");
  await hidden.page.waitForSelector("[data-marked][data-hidden]");
  assert.equal(await hidden.page.locator("[data-marked] .body").innerText(), "psst");
  const unknown = await open(exported, "?leafId=gone&targetId=gone");
  assert.equal((await shown(unknown)).length, 6);
  for (const { page, errors } of [branch, hidden, unknown]) {
    assert.deepEqual(errors, []);
    await page.close();
  }
});

test("[E1] search, filters and folds work by key as in the terminal, and are named for screen readers", async () => {
  const opened = await open(await exportLines(LINES));
  const { page } = opened;
  await page.locator("#tree").focus();
  await page.keyboard.type("cold");
  await until(page, "document.querySelectorAll('#tree .row').length === 1");
  assert.equal(await page.locator("#search").inputValue(), "cold");
  assert.equal(await page.locator("#status").innerText(), "(1/1)");
  await page.keyboard.press("Escape");
  await until(page, "document.querySelectorAll('#tree .row').length === 7");
  await page.locator('[data-filter="labeled-only"]').click();
  assert.deepEqual((await rowTexts(opened)).map(squeezed), ["foundassistant:Itis[hot](https://example.org/)."]);
  await page.locator("#tree").focus();
  await page.keyboard.press("Alt+d");
  await until(page, "document.querySelectorAll('#tree .row').length === 7");
  await page.keyboard.press("Home");
  assert.equal(await activeRow(opened), "row-1");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.equal(await activeRow(opened), "row-6");
  assert.equal(await page.locator("#row-6").getAttribute("aria-expanded"), "true");
  await page.keyboard.press("ArrowLeft");
  await until(page, "document.querySelectorAll('#tree .row').length === 4");
  assert.equal(await page.locator("#row-6").getAttribute("aria-expanded"), "false");
  await page.keyboard.press("Control+ArrowRight");
  await until(page, "document.querySelectorAll('#tree .row').length === 7");
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await until(page, "location.search === '?leafId=lab&targetId=answer'");
  assert.equal(await page.getByRole("tree", { name: "Entries" }).getByRole("treeitem").count(), 7);
  assert.equal(await page.getByRole("feed").getByRole("article").count(), 4);
});

test("[E1] on 360 pixels the tree is behind a button and closes when an entry is chosen", async () => {
  const { page } = await open(await exportLines(LINES));
  await page.setViewportSize({ width: 360, height: 640 });
  const side = page.locator("#sidebar");
  await side.waitFor({ state: "hidden" });
  await page.locator("#hamburger").click();
  await side.waitFor({ state: "visible" });
  await page.locator("#row-4").click();
  await side.waitFor({ state: "hidden" });
  await page.locator("#hamburger").click();
  await side.waitFor({ state: "visible" });
  await page.keyboard.press("Escape");
  await side.waitFor({ state: "hidden" });
  assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 360);
});

test("[E1] a link to an entry is copied whole; colours follow the choice; printing draws the whole branch", async () => {
  const exported = await exportLines(generateSession({ shape: "linear", entries: 300 }));
  const { page } = await open(exported);
  await page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }");
  await page.locator(".item[data-n='0'] .link").click();
  const { index } = exported.session;
  assert.equal(
    await page.evaluate("copied"),
    `${pathToFileURL(exported.path).href}?leafId=${index.leafId}&targetId=${index.idAt(0)}`,
  );
  const background = (): Promise<string> => page.evaluate("getComputedStyle(document.body).backgroundColor");
  assert.equal(await background(), "rgb(255, 255, 255)");
  await page.emulateMedia({ colorScheme: "dark" });
  assert.equal(await background(), "rgb(20, 23, 28)");
  await page.locator("#theme").click();
  assert.equal(await background(), "rgb(255, 255, 255)");
  const drawn = "document.querySelectorAll('#transcript .item').length";
  assert.ok((await page.evaluate<number>(drawn)) < 100);
  await page.evaluate(`window.print = () => { window.printed = ${drawn}; }`);
  await page.locator("#print").click();
  await until(page, "window.printed");
  const items = index.pathOrdinals(index.leafId).filter((n) => !["custom", "label"].includes(index.kindAt(n)));
  assert.equal(await page.evaluate("printed"), items.length + 1);
});

test("[E1] of 20,000 entries what is on the screen is drawn, at any place, after any jump", async () => {
  const opened = await open(await exportLines(generateSession({ shape: "linear", entries: 20_000, textLength: 20 })));
  const { page } = opened;
  const drawn = "['tree', 'transcript'].map((id) => document.getElementById(id).drawn)";
  await page.locator("#transcript").press("Escape");
  await until(page, "document.querySelector('.item[data-n=\"19999\"]')");
  await page.locator("#tree").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  await page.waitForSelector("[data-marked]");
  const counts = await page.evaluate<number[]>(drawn);
  assert.ok(
    counts.every((count) => count > 0 && count < 2500),
    `drawn: ${counts.join(", ")}`,
  );
  assert.ok((await page.evaluate<number>("document.querySelectorAll('*').length")) < 4000);
  const marked = (await page.locator("[data-marked]").boundingBox())!;
  assert.ok(marked.y >= 0 && marked.y < 720, `the entry gone to is at ${marked.y}`);
  assert.deepEqual(opened.errors, []);
});

test("[E1] without JavaScript the page says what it is and what it needs", async () => {
  const exported = await exportLines(LINES);
  const { page } = await browser.open(pathToFileURL(exported.path).href, { scripts: false });
  await page.locator("#notice").waitFor({ state: "visible" });
  assert.equal(await page.locator("h1").innerText(), "Bread oven");
  assert.match(await page.locator("#notice").innerText(), /10 entries, .* needs JavaScript, and a browser made after/s);
  assert.equal(await page.locator("bough-page").count(), 0);
});

test("[E1, E2] a session without entries, a broken one and a page cut off open with a sentence", async () => {
  const empty = await open(await exportLines([HEADER]));
  assert.equal(await empty.page.locator("#sidebar .empty").innerText(), "No entries found");
  assert.match(await empty.page.locator("#transcript").innerText(), /Nothing was said in this session yet/);
  const broken = await open(
    await exportLines([HEADER, ...chain("b", "a", "b"), line("message", "c", "gone", { message: 7 })]),
  );
  assert.match(await broken.page.locator(".problems").innerText(), /4 problems in the file/);
  assert.deepEqual((await rowTexts(broken)).length, 3);
  assert.deepEqual([...empty.errors, ...broken.errors], []);
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
