/**
 * One sample of an exported page: opened in a new Chromium without a network, until its tree takes a click, what a click
 * takes, and how long typing in its search stops it. The same clocks for every program: frames of the page, seen from
 * inside it, and the browser's own trace.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium, type Page } from "playwright-core";
import { median, peakMemory, type Outcome } from "./child/measured.ts";
import type { Program } from "./programs.ts";

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--host-resolver-rules=MAP * ~NOTFOUND",
];

/** What a page shows, as selectors. */
interface Look {
  /** A row of the tree. */
  row: string;
  /** The entry that was gone to. */
  target: string;
  /** The field that searches the tree. */
  search: string;
}
const LOOKS: Record<Program["name"], Look> = {
  bough: { row: "#tree .row", target: "#transcript [data-marked] .body", search: "#search" },
  pi: { row: "#tree-container .tree-node", target: "#messages .highlight", search: "#tree-search" },
  omp: { row: "#tree-container .tree-node", target: "#messages .highlight", search: "#tree-search" },
};
const CLICKS = 5;
/** Rows between two clicks. */
const STRIDE = 3;
const TIME_LIMIT = 120_000;
const LETTERS = "branch summary";
/** Milliseconds between two letters of somebody who types fast. */
const LETTER_PAUSE = 100;

/** Figures: `size` of the page over that of the session, `ms` until it is usable, `click`, the longest task of a `search`, `memory`. */
export async function openedPage(
  { name }: Program,
  path: string,
  sessionBytes: number,
  scratch: string,
): Promise<Outcome> {
  const profile = mkdtempSync(join(scratch, "browser-"));
  const browser = await chromium.launchPersistentContext(profile, { executablePath: browserPath(), args: FLAGS });
  try {
    const page = await browser.newPage();
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.addInitScript(WATCH);
    const look = LOOKS[name];
    await page.goto(pathToFileURL(path).href, { timeout: TIME_LIMIT, waitUntil: "commit" });
    const ms = await page.evaluate<number | undefined>(`frameWith(${JSON.stringify(look.row)}, 0)`);
    if (ms === undefined) throw new Error("Without a network its page showed no tree within two minutes");
    const clicks: number[] = [];
    for (let n = 0; n < CLICKS; n++) clicks.push(await clickTime(page, look, n * STRIDE));
    const memory = await rendererMemory(page);
    const search = await longestTask(page, look);
    const size = statSync(path).size / sessionBytes;
    const asked = { ...(memory === undefined ? {} : { memory }), ...(search === undefined ? {} : { search }) };
    return { figures: { size, ms, click: median(clicks), ...asked }, answer: "" };
  } finally {
    await browser.close();
    rmSync(profile, { recursive: true, force: true });
  }
}

function browserPath(): string {
  const script = fileURLToPath(new URL("../scripts/browser.mjs", import.meta.url));
  return execFileSync(process.execPath, [script], { encoding: "utf8" }).trim();
}

/** In the page: milliseconds from `since` to the end of the first frame in which the element is there, if it comes. */
const WATCH = `
  window.frameWith = (selector, since) => new Promise((resolve) => {
    const look = () => {
      if (performance.now() > ${TIME_LIMIT}) resolve(undefined);
      else if (document.querySelector(selector) === null) requestAnimationFrame(look);
      else setTimeout(() => resolve(performance.now() - since));
    };
    requestAnimationFrame(look);
  });`;

/** Clicks a row that the screen shows; until the entry is marked in the transcript. */
async function clickTime(page: Page, { row, target }: Look, place: number): Promise<number> {
  const box = await page.evaluate<{ x: number; y: number }>(`(() => {
    document.querySelectorAll(${JSON.stringify(target)}).forEach((entry) => entry.removeAttribute("data-marked"));
    const rows = [...document.querySelectorAll(${JSON.stringify(row)})].map((row) => row.getBoundingClientRect());
    const seen = rows.filter(({ top, bottom }) => top > 120 && bottom < innerHeight - 40);
    window.clicked = new Promise((resolve) => addEventListener("click", () => {
      const since = performance.now();
      resolve(frameWith(${JSON.stringify(target)}, since));
    }, { capture: true, once: true }));
    const { left, top } = seen[${place} % seen.length];
    return { x: left + 150, y: top + 8 };
  })()`);
  await page.mouse.click(box.x, box.y);
  const ms = await page.evaluate<number | undefined>("clicked");
  if (ms === undefined) throw new Error("Its page did not show the entry that was clicked within two minutes");
  // The mark goes by itself.
  await page.waitForSelector(target, { state: "detached", timeout: TIME_LIMIT });
  return ms;
}

/** The highest resident size of the process that shows the page, in MiB. */
async function rendererMemory(page: Page): Promise<number | undefined> {
  const session = await page.context().browser()?.newBrowserCDPSession();
  const { processInfo } = (await session?.send("SystemInfo.getProcessInfo")) ?? { processInfo: [] };
  const sizes = processInfo.filter(({ type }) => type === "renderer").flatMap(({ id }) => peakMemory(id) ?? []);
  return sizes.length === 0 ? undefined : Math.max(...sizes);
}

/** What one entry of the browser's trace tells: times are in microseconds. */
interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  dur?: number;
  /** Without the time in which other programs had the processor. */
  tdur?: number;
  args?: { name?: string };
}

/** How long the page's main thread works on one thing, at most, while letters are typed in the search. */
async function longestTask(page: Page, { search }: Look): Promise<number | undefined> {
  const session = await page.context().browser()?.newBrowserCDPSession();
  if (session === undefined) return undefined;
  const events: TraceEvent[] = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  const isOver = new Promise<void>((resolve) => session.once("Tracing.tracingComplete", () => resolve()));
  await page.focus(search);
  const traceConfig = { includedCategories: ["disabled-by-default-devtools.timeline"] };
  await session.send("Tracing.start", { transferMode: "ReportEvents", traceConfig });
  await page.keyboard.type(LETTERS, { delay: LETTER_PAUSE });
  // What the last letter asked for is done: the page has had time for it and answers again.
  await page.waitForTimeout(5 * LETTER_PAUSE);
  await page.evaluate("0");
  await session.send("Tracing.end");
  await isOver;
  const threadOf = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`;
  const mains = new Set(events.filter(({ args }) => args?.name === "CrRendererMain").map(threadOf));
  const tasks = events.filter((event) => event.name === "RunTask" && mains.has(threadOf(event)));
  return tasks.length === 0 ? undefined : Math.max(...tasks.map(({ tdur, dur = 0 }) => tdur ?? dur)) / 1000;
}
