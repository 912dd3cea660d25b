/** An exported page in a browser, as a reader uses it: the small session with one of everything. */
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { after, before, test } from "node:test";
import type { TestContext } from "node:test";
import { drawnLine } from "../../src/tree/outline-lines.ts";
import { statusText } from "../../src/tree/outline-texts.ts";
import { Outline } from "../../src/tree/outline.ts";
import { Browser } from "../support/browser.ts";
import type { PageOptions } from "../support/browser.ts";
import { openExport, settled, shownEntries, shownRows } from "../support/exported-page.ts";
import type { OpenExport } from "../support/exported-page.ts";
import { exportLines } from "../support/page-file.ts";
import { PAGE_HEADER, pageSession, PNG } from "../support/page-session.ts";
import { chain, file, leafRecord, line, message, readSound } from "../support/session-lines.ts";

let browser: Browser;
let path: string;
before(async () => {
  ({ path } = await exportLines(pageSession()));
  browser = await Browser.start();
});
after(() => browser.close());

/** The page must ask for nothing but itself, forbid nothing and fail nowhere, whatever the test did with it. */
async function open(t: TestContext, options: PageOptions & { search?: string; from?: string } = {}) {
  const { from = path, ...rest } = options;
  const opened = await openExport(browser, from, rest);
  const { page, requests, errors, violations } = opened;
  t.after(async () => {
    const address = pathToFileURL(from).href;
    const elsewhere = requests.filter((url) => !url.startsWith(address) && !url.startsWith("data:"));
    const seen = { elsewhere, errors, violations: await violations() };
    await page.close();
    assert.deepEqual(seen, { elsewhere: [], errors: [], violations: [] });
  });
  return opened;
}

const search = ({ ask }: OpenExport): Promise<string> => ask("location.search");
const text = (opened: OpenExport, selector: string): Promise<string | null> => opened.page.textContent(selector);
const words = async (opened: OpenExport, selector: string): Promise<string> =>
  ((await text(opened, selector)) ?? "").replace(/\s+/g, " ").trim();

/** Ids of the path to the leaf that are shown unless asked for more. */
const MAIN_BRANCH = [
  "model-1",
  "level-1",
  "prompt-1",
  "answer-1",
  "read-1",
  "bash-1",
  "answer-2",
  "summary-1",
  "prompt-2",
  "answer-3",
  "edit-1",
  "image-2",
  "failed-1",
  "failed-2",
  "shell-1",
  "note-1",
  "compaction-1",
  "stopped-1",
  "end",
];
const OTHER_BRANCH = ["model-1", "level-1", "prompt-1", "answer-1", "other-prompt", "other-answer"];
const TALL: PageOptions = { size: [1280, 4000] };

test("[E1] the tree has the terminal's rows, labels and path, and the head says what session this is", async (t) => {
  const opened = await open(t, TALL);
  assert.deepEqual(await shownRows(opened.ask), [
    "• user: Why is the bread pale?",
    "• assistant: I will look.",
    "├⊟ • [read: src/oven.ts]",
    "│ • [bash: seq 1 40]",
    "│ • the causeassistant: What I found The oven is too cold. See the manual and a photo. | flour | heat | | rye | 220 | [x] measured [ ] changed const heat: number = 220; // degrees Bake it once more.",
    "│ • [branch summary]: On the other branch: flour.",
    "│ • user: Make it hotter.",
    "│ • [edit: src/oven.ts]",
    "│ • user: The same photo again.",
    "│ • [bash: false]",
    "│ • [bash]: ls",
    "│ • [recipe]: A note to see.",
    "│ • [secret-recipe]: A hidden note.",
    "│ • [compaction: 90k tokens]",
    "│ • assistant: Half a sen",
    "│ • user: Thank you.",
    "└⊟ user: Another way: is the flour old?",
    "assistant: The flour is fine.",
  ]);
  assert.deepEqual(await shownEntries(opened.ask), MAIN_BRANCH);
  assert.equal(await opened.page.title(), "Pale bread");
  const facts = await opened.ask(
    `[...document.querySelectorAll(".head dl > div")].map((fact) => [...fact.children].map((part) => part.textContent))`,
  );
  const exported = (facts as string[][]).find(([name]) => name === "Dates")![1]!.slice(-16);
  assert.match(exported, /^\d{4}-\d\d-\d\d \d\d:\d\d$/);
  assert.deepEqual(facts, [
    ["Folder", "/home/sam/bakery"],
    ["Dates", `2026-01-01 00:00 to 2026-01-01 00:26, exported ${exported}`],
    ["Entries", "27 (5 prompts, 6 answers, 4 tool results)"],
    ["Models", "anthropic/claude-sonnet-4-5 ($0.022)"],
    ["Tokens", "720 in, 270 out, 18,000 from the cache, 480 into it"],
    ["Cost", "$0.022 on all branches"],
    ["Id", "page-session"],
  ]);
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test("[E1, E2] the five filters show the rows that they show in the terminal, and where it stands in them", async (t) => {
  const opened = await open(t, TALL);
  const outline = new Outline(readSound(file(...pageSession())).index);
  const plain = (line: string): string =>
    line.replace(/^› /, "").replace("[the cause] ", "the cause").replace(/\s+/g, " ").trim();
  const counts: number[] = [];
  for (const filter of ["no-tools", "user-only", "labeled-only", "all", "default"] as const) {
    await opened.page.click(`button[data-filter="${filter}"]`);
    await settled(opened.ask);
    const pressed = await opened.ask<string[]>(
      `[...document.querySelectorAll(".filters [aria-pressed=true]")].map((button) => button.dataset.filter)`,
    );
    assert.deepEqual(pressed, [filter]);
    outline.setFilter(filter);
    const rows = outline.rows(0, outline.rowCount, { foldMarks: true, width: 51 });
    assert.deepEqual(
      await shownRows(opened.ask),
      rows.map((row) => plain(drawnLine(row))),
    );
    assert.equal(await words(opened, "#status"), statusText(outline));
    counts.push(rows.length);
  }
  assert.deepEqual(counts, [14, 5, 1, 27, 18]);
});

test("[E1] typing searches the tree, says when nothing is found, and Escape clears", async (t) => {
  const opened = await open(t);
  const { page, ask } = opened;
  await page.focus("#tree");
  await page.keyboard.type("FLOUR fine");
  await settled(ask);
  assert.equal(await page.inputValue("#search"), "FLOUR fine");
  const found = await shownRows(ask);
  assert.ok(found.some((row) => row.endsWith("assistant: The flour is fine.")));
  assert.ok(found.length < 4, found.join("\n"));
  await page.fill("#search", "no such word");
  await settled(ask);
  assert.match(await words(opened, "#sidebar"), /current leaf|No entries match|\(1\/1\)/);
  await page.keyboard.press("Escape");
  await settled(ask);
  assert.equal(await page.inputValue("#search"), "");
  assert.equal((await shownRows(ask)).length, 18);
});

test("[E1] a click on a row shows its branch, a fold hides what is below, and Back goes back", async (t) => {
  const opened = await open(t, TALL);
  const { page, ask } = opened;
  await page.click("#tree .row:has-text('Another way')");
  await settled(ask);
  assert.deepEqual(await shownEntries(ask), OTHER_BRANCH);
  assert.equal(await search(opened), "?leafId=other-answer&targetId=other-prompt");
  assert.deepEqual(
    await ask(`document.querySelector("[data-marked] .body").textContent.trim()`),
    "Another way: is the flour old?",
  );
  await page.click("#tree .row:has-text('[read') .prefix");
  await settled(ask);
  assert.deepEqual((await shownRows(ask)).slice(2), [
    "├⊟ • user: Another way: is the flour old?",
    "│ • assistant: The flour is fine.",
    "└⊞ [read: src/oven.ts]",
  ]);
  assert.deepEqual(await shownEntries(ask), OTHER_BRANCH, "a fold is no move");
  await page.goBack();
  await settled(ask);
  assert.deepEqual(await shownEntries(ask), MAIN_BRANCH);
  await page.goForward();
  await settled(ask);
  assert.deepEqual(await shownEntries(ask), OTHER_BRANCH);
  await page.locator("body").press("Escape");
  await settled(ask);
  assert.deepEqual(await shownEntries(ask), MAIN_BRANCH);
});

for (const [what, query, entries, place, marked] of [
  ["a branch", "?leafId=other-answer", OTHER_BRANCH, "?leafId=other-answer", []],
  ["an entry", "?targetId=other-prompt", OTHER_BRANCH, "?targetId=other-prompt", ["other-prompt"]],
  ["both", "?leafId=end&targetId=answer-2", MAIN_BRANCH, "?leafId=end&targetId=answer-2", ["answer-2"]],
  ["a branch that is not there", "?leafId=nowhere", MAIN_BRANCH, "?leafId=nowhere", []],
  [
    "an entry that is not there",
    "?leafId=other-answer&targetId=nowhere",
    OTHER_BRANCH,
    "?leafId=other-answer&targetId=nowhere",
    [],
  ],
  [
    "names of every object",
    "?leafId=__proto__&targetId=constructor",
    MAIN_BRANCH,
    "?leafId=__proto__&targetId=constructor",
    [],
  ],
  ["the middle of a branch", "?leafId=prompt-1", ["model-1", "level-1", "prompt-1"], "?leafId=prompt-1", []],
] as const)
  test(`[E1] an address leads to ${what}`, async (t) => {
    const opened = await open(t, { ...TALL, search: query });
    assert.deepEqual(await shownEntries(opened.ask), entries);
    assert.equal(await search(opened), place);
    const found = await opened.ask<string[]>(
      `[...document.querySelectorAll("[data-marked]")].map((entry) =>
        document.querySelector("bough-page").parts.view.tree.idAt(Number(entry.parentElement.dataset.n)))`,
    );
    assert.deepEqual(found, marked);
  });

test("[E1] an address with a hidden entry shows it, on the screen", async (t) => {
  const opened = await open(t, { search: "?targetId=note-2" });
  const box = await opened.page.locator("[data-marked]").boundingBox();
  assert.ok(box !== null && box.y > 0 && box.y + box.height < 800, JSON.stringify(box));
  assert.match(await words(opened, "[data-marked]"), /^secret-recipe hidden in the terminal .* A hidden note\.$/);
});

test("[E1] every entry has a link to copy, which leads to it and keeps what else the address says", async (t) => {
  const opened = await open(t, { ...TALL, search: "?a1b2c3" });
  const { page, ask } = opened;
  await ask(
    `Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => (window.copied = text) } })`,
  );
  const links = page.locator("#transcript .link");
  assert.equal(await links.count(), MAIN_BRANCH.length - 2, "two answers only call tools, whose results are shown");
  await page.locator(".item", { hasText: "Make it hotter" }).locator(".link").click();
  const link = `${pathToFileURL(path).href}?a1b2c3&leafId=end&targetId=prompt-2`;
  assert.equal(await ask("window.copied"), link);
  await page.waitForSelector("text=✓");
});

test("[E1] Markdown, code, differences, tools, thinking and summaries are drawn as what they are", async (t) => {
  const { page, ask } = await open(t, TALL);
  const htmlOf = (has: string, selector: string): Promise<string> =>
    page
      .locator(".item", { hasText: has })
      .locator(selector)
      .first()
      .evaluate((element) => (element as { innerHTML: string }).innerHTML.replace(/<!--.*?-->/g, ""));
  const answer = await htmlOf("What I found", ".markdown");
  for (const part of [
    "<h2>What I found</h2>",
    "<strong>too cold</strong>",
    '<a href="https://example.com/oven" target="_blank" rel="noopener noreferrer nofollow">the manual</a>',
    '<a href="https://example.com/oven.png" target="_blank" rel="noopener noreferrer nofollow">[image: a photo]</a>',
    "<td>rye</td>",
    "☑ measured",
    '<span class="hljs-keyword">const</span>',
    "<blockquote>",
  ])
    assert.ok(answer.includes(part), `${part} in ${answer}`);
  assert.deepEqual(
    await ask(`[...document.querySelectorAll(".diff span")].map((line) => [line.className, line.textContent])`),
    [
      ["same", " 1 export const oven = {"],
      ["removed", "-2   heat: 180,"],
      ["added", "+2   heat: 220,"],
      ["same", " 3 };"],
    ],
  );
  assert.match(await htmlOf("src/oven.ts", ".code"), /<span class="hljs-keyword">export<\/span>/);
  const failed = await page.locator(".tool[data-failed]").allTextContents();
  assert.deepEqual(
    failed.map((tool) => tool.replace(/\s+/g, " ").trim()),
    ["bash failed false exit code 1"],
  );
  assert.match(await htmlOf("so far", ".body"), /90,000 tokens.*<strong>so far<\/strong>/s);
  assert.equal(await page.getByText("Half a sen").count(), 2);
  assert.equal(await page.locator(".note", { hasText: /^aborted$/ }).count(), 1);
});

test("[E1] switches show thinking, whole outputs and what the terminal hides; so do their keys", async (t) => {
  const { page, ask } = await open(t, TALL);
  const seen = async (): Promise<boolean[]> =>
    Promise.all(
      ["The oven, perhaps.", "line 40", "A hidden note."].map(
        async (part) => (await page.locator("#transcript").getByText(part).count()) > 0,
      ),
    );
  assert.deepEqual(await seen(), [false, false, false]);
  for (const key of ["t", "o", "h"]) await page.locator("body").press(key);
  await settled(ask);
  assert.deepEqual(await seen(), [true, true, true]);
  assert.ok((await shownEntries(ask)).includes("state-1"));
  for (const part of ["thinking", "tools", "hidden"]) await page.click(`[data-switch=${part}]`);
  await settled(ask);
  assert.deepEqual(await seen(), [false, false, false]);
  await page.click("text=Show 224 more characters");
  await page.click(".thinking .fold");
  await settled(ask);
  assert.deepEqual(await seen(), [true, true, false]);
});

test("[E1] an image is in the file once and shown wherever it was said", async (t) => {
  const content = readFileSync(path, "utf8");
  assert.equal(content.split(PNG).length, 2);
  const { ask } = await open(t, TALL);
  const images = `[...document.images].map(({ src, naturalWidth }) => [src, naturalWidth])`;
  assert.deepEqual(await ask(images), [
    [`data:image/png;base64,${PNG}`, 1],
    [`data:image/png;base64,${PNG}`, 1],
  ]);
  const { path: without } = await exportLines(pageSession(), { images: false });
  assert.ok(!readFileSync(without, "utf8").includes(PNG));
  const opened = await openExport(browser, without, TALL);
  assert.equal(await opened.page.getByText("the page was made without images").count(), 2);
  await opened.page.close();
});

test("[E1] the keyboard moves, folds, filters and opens in the tree as in the terminal", async (t) => {
  const opened = await open(t, TALL);
  const { page, ask } = opened;
  const press = async (...keys: string[]): Promise<string> => {
    for (const key of keys) await page.keyboard.press(key);
    await settled(ask);
    return ask(`document.querySelector("#tree [aria-selected=true]").textContent.replace(/\\s+/g, " ").trim()`);
  };
  await page.focus("#tree");
  assert.equal(await press("ArrowUp"), "│ • assistant: Half a sen");
  assert.equal(await press("Home"), "• user: Why is the bread pale?");
  assert.equal(await press("End"), "assistant: The flour is fine.");
  assert.equal(await press("ArrowUp", "ArrowLeft"), "└⊞ user: Another way: is the flour old?");
  assert.equal((await shownRows(ask)).length, 17);
  assert.equal(await press("ArrowRight"), "└⊟ user: Another way: is the flour old?");
  await press("Enter");
  assert.deepEqual(await shownEntries(ask), OTHER_BRANCH);
  await press("Alt+u");
  assert.equal(await words(opened, "#status"), "(2/5) [user]");
  await press("Control+o");
  assert.equal(await words(opened, "#status"), "(1/1) [labeled]");
  await press("Alt+d", "Alt+ArrowUp");
  const active = await ask(
    `document.getElementById(document.querySelector("#tree").getAttribute("aria-activedescendant")).ariaSelected`,
  );
  assert.equal(active, "true");
});

test("[E1] on 360 pixels the tree comes and goes with the hamburger, and nothing is wider than the screen", async (t) => {
  const opened = await open(t, { size: [360, 740] });
  const { page, ask } = opened;
  const widest = (): Promise<number> =>
    ask(
      `Math.max(...[...document.querySelectorAll("main, main *")].map((part) => part.getBoundingClientRect().right))`,
    );
  assert.ok((await widest()) <= 360, `${await widest()}`);
  assert.equal(await page.isVisible("#sidebar"), false);
  await page.click("#hamburger");
  await page.waitForSelector("#sidebar", { state: "visible" });
  assert.equal(await ask("document.activeElement.id"), "search");
  await settled(ask);
  assert.equal((await shownRows(ask)).length, 18);
  await page.click(".overlay", { position: { x: 350, y: 400 } });
  await page.waitForSelector("#sidebar", { state: "hidden" });
  await page.click("#hamburger");
  await page.click("#tree .row:has-text('Another way')");
  await page.waitForSelector("#sidebar", { state: "hidden" });
  assert.equal(await search(opened), "?leafId=other-answer&targetId=other-prompt");
  await page.click("#hamburger");
  await page.keyboard.press("Escape");
  await page.waitForSelector("#sidebar", { state: "hidden" });
});

test("[E1] light and dark go by the system until one is chosen; paper is light", async (t) => {
  const { page, ask } = await open(t, { colours: "dark" });
  const background = (): Promise<string> => ask("getComputedStyle(document.body).backgroundColor");
  const [dark, light] = ["rgb(20, 23, 28)", "rgb(255, 255, 255)"];
  assert.equal(await background(), dark);
  await page.emulateMedia({ colorScheme: "light" });
  assert.equal(await background(), light);
  await page.click("#theme");
  await page.click("#theme");
  assert.deepEqual([await words({ page } as OpenExport, "#theme"), await background()], ["Dark", dark]);
  await page.emulateMedia({ media: "print" });
  assert.equal(await background(), light);
  await page.emulateMedia({ media: "screen", colorScheme: "dark" });
  await page.click("#theme");
  await page.click("#theme");
  assert.deepEqual([await words({ page } as OpenExport, "#theme"), await background()], ["Light", light]);
  await page.click("#theme");
});

test("[E1] printing gives all of the branch to the printer, and the screen as it was", async (t) => {
  const lines = [PAGE_HEADER];
  for (let n = 0; n < 400; n++) lines.push(message(`m${n}`, n === 0 ? null : `m${n - 1}`));
  const { path: from } = await exportLines(lines);
  const first = `window.print = () => (window.printed = document.querySelectorAll("#transcript article").length);`;
  const { page, ask } = await open(t, { from, first });
  assert.ok((await shownEntries(ask)).length < 40);
  await page.click("#print");
  await settled(ask);
  assert.equal(await ask("window.printed"), 400);
  assert.ok((await shownEntries(ask)).length < 40);
});

test("[E1] roles and names tell a screen reader what is what", async (t) => {
  const { ask } = await open(t, TALL);
  const tree = await ask(
    `(() => {
      const row = [...document.querySelectorAll("#tree [role=treeitem]")].find((row) => row.textContent.includes("[read"));
      const names = ["aria-level", "aria-posinset", "aria-setsize", "aria-expanded", "aria-selected"];
      return names.map((name) => row.getAttribute(name)).concat(document.querySelector("#tree").getAttribute("role"));
    })()`,
  );
  assert.deepEqual(tree, ["2", "1", "2", "true", "false", "tree"]);
  assert.deepEqual(await ask(`[...document.querySelectorAll("#tree [aria-current]")].map((row) => row.ariaCurrent)`), [
    "location",
  ]);
  const entries = await ask<unknown[]>(
    `[...document.querySelectorAll("[role=feed] article")].map((entry) => [entry.ariaLabel, entry.ariaSetSize])`,
  );
  assert.deepEqual(entries.slice(2, 5), [
    ["User", "19"],
    ["Assistant", "19"],
    ["Tool", "19"],
  ]);
  const nameless = await ask(
    `[...document.querySelectorAll("button, input, img, aside")].filter((part) =>
      !(part.ariaLabel || part.alt || part.textContent.trim())).map((part) => part.outerHTML)`,
  );
  assert.deepEqual(nameless, []);
});

test("[E1] without scripts the page says what it is, what it needs and that nothing is loaded", async () => {
  const { page, requests, errors } = await browser.open(pathToFileURL(path).href, { scripts: false });
  await page.waitForSelector("#notice", { state: "visible" });
  const notice = (await page.innerText("body")).replace(/\s+/g, " ").trim();
  await page.close();
  assert.equal(
    notice,
    "Pale bread 27 entries, 2026-01-01 to 2026-01-01, in /home/sam/bakery. This page shows a conversation with a coding agent. It needs JavaScript, and a browser made after the spring of 2024. It loads nothing from any network. The conversation is in this file, compressed.",
  );
  assert.deepEqual(
    { errors, elsewhere: requests.filter((url) => !/^(?:file|data):/.test(url)) },
    { errors: [], elsewhere: [] },
  );
});

test("[E1, E2] a damaged and cyclic session opens with its Problems", async (t) => {
  const { path: from } = await exportLines([
    PAGE_HEADER,
    message("a", null),
    message("lost", "nowhere"),
    message("c1", "c3"),
    message("c2", "c1"),
    message("c3", "c2"),
    "no JSON",
    line("message", "empty", "a", { message: null }),
    line("compaction", "bare", "empty"),
    message("last", "bare"),
  ]);
  const opened = await open(t, { ...TALL, from });
  const rows = await shownRows(opened.ask);
  assert.ok(
    rows.some((row) => row.includes("(missing parent)") && row.endsWith("user: lost")),
    rows.join("\n"),
  );
  assert.ok(
    rows.some((row) => row.includes("(cycle)")),
    rows.join("\n"),
  );
  assert.deepEqual(await shownEntries(opened.ask), ["a", "empty", "bare", "last"]);
  assert.match(await words(opened, ".problems summary"), /^\d problems in the file$/);
  const { path: empty } = await exportLines([PAGE_HEADER]);
  const none = await openExport(browser, empty);
  assert.match((await none.page.textContent("#transcript")) ?? "", /Nothing was said in this session yet\./);
  await none.page.close();
});

test("[E2] characters that turn a line around are seen in rows, labels and titles, and stay in the transcript", async (t) => {
  const trick = "open \u202egnp.exe\u202c now \u2066it\u2069";
  const { path: from } = await exportLines([
    PAGE_HEADER,
    line("session_info", "name", null, { name: trick }),
    message("a", "name", { message: { role: "user", content: trick } }),
    line("label", "label", "a", { targetId: "a", label: trick }),
  ]);
  const opened = await open(t, { ...TALL, from });
  const seen = "open ⟦U+202E⟧gnp.exe⟦U+202C⟧ now ⟦U+2066⟧it⟦U+2069⟧";
  assert.deepEqual(await shownRows(opened.ask), [`• ${seen}user: ${seen}`]);
  assert.deepEqual(
    [await words(opened, ".bar-title"), await words(opened, "h1"), await words(opened, ".entry .label")],
    [seen, seen, seen],
  );
  assert.equal(await words(opened, ".entry.user .body"), trick);
});

for (const [where, target] of [
  ["before its first entry", null],
  ["at its root", "a"],
] as const)
  test(`[E1] a session whose leaf is ${where} says so and leads to the newest branch`, async (t) => {
    const lines = [PAGE_HEADER, ...chain(null, "a", "b", "c"), ...chain("b", "d", "e"), leafRecord("jump", target)];
    const { path: from } = await exportLines(lines);
    const opened = await open(t, { ...TALL, from });
    const { page, ask } = opened;
    assert.deepEqual(await shownEntries(ask), target === null ? [] : [target]);
    assert.match(await words(opened, ".empty"), /^This branch ends at the session's start; /);
    await page.click("#newest");
    await settled(ask);
    assert.deepEqual(await shownEntries(ask), ["a", "b", "d", "e"]);
    assert.equal(await page.locator(".empty").count(), 0);
    assert.equal(await search(opened), "?leafId=e&targetId=e");
  });

test("[E1] a screen reader hears how many entries a search has found, and of rows nothing else", async (t) => {
  const { page, ask } = await open(t);
  await ask(`(() => {
    window.announced = [];
    const spoken = document.querySelector("[role=status]");
    new MutationObserver(() => announced.push(spoken.textContent))
      .observe(spoken, { characterData: true, childList: true, subtree: true });
  })()`);
  await page.fill("#search", "flour fine");
  await settled(ask);
  await page.focus("#tree");
  for (const key of ["ArrowDown", "ArrowUp", "End"]) await page.keyboard.press(key);
  await page.click('[data-filter="user-only"]');
  await settled(ask);
  const rows = await shownRows(ask);
  assert.equal(rows.length, 0);
  assert.deepEqual(await ask("announced"), ["1 entry found", "0 entries found"]);
});

test("[E1] Enter goes to what is typed, also before it is found", async (t) => {
  const opened = await open(t);
  const { ask } = opened;
  const typeAndEnter = async (query: string): Promise<void> => {
    await ask(`(() => {
      const field = document.querySelector("#search");
      field.value = ${JSON.stringify(query)};
      field.dispatchEvent(new Event("input"));
      field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    })()`);
    await settled(ask);
  };
  await typeAndEnter("flour is fine");
  assert.equal(await search(opened), "?leafId=other-answer&targetId=other-answer");
  await typeAndEnter("nothing has this");
  assert.deepEqual(await shownRows(ask), []);
  assert.equal(await opened.page.getAttribute("#tree", "aria-busy"), "false");
});
