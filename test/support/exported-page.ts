/**
 * Sessions as exported pages, open in a browser. For tests of the page. What is asked of a page goes there as text: it is
 * no code of this program.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { exportSession } from "../../src/export/export-session.ts";
import type { ExportRequest } from "../../src/export/export-session.ts";
import type { Browser, OpenPage, PageOptions } from "./browser.ts";
import { temporaryFile, temporaryFolder } from "./session-files.ts";
import { file } from "./session-lines.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Keeps what the page's policy forbade. */
const WATCH = `
  window.violations = [];
  document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
    window.violations.push(violatedDirective + " " + blockedURI));`;

/** Exports the session without masking anything; resolves to the page's file. */
export async function exportPage(lines: readonly string[], request: ExportRequest = {}): Promise<string> {
  if (!existsSync(join(root, "dist/export/viewer.js")))
    execFileSync(process.execPath, [join(root, "scripts/build.mjs")]);
  const source = temporaryFile(file(...lines));
  const host = { cwd: temporaryFolder(), home: "/home/sam", secrets: () => [] };
  return (await exportSession(source, { redact: false, ...request }, host)).path!;
}

export interface OpenExport extends OpenPage {
  /** Evaluates an expression in the page. */
  ask<T>(expression: string): Promise<T>;
  /** Directive and address of what the page's policy forbade. */
  violations(): Promise<string[]>;
}

/**
 * Opens an exported page and waits until it shows its session.
 * @param search of the address, with its `?`
 */
export async function openExport(
  browser: Browser,
  path: string,
  { search = "", ...options }: PageOptions & { search?: string } = {},
): Promise<OpenExport> {
  const first = `${WATCH}${options.first ?? ""}`;
  const opened = await browser.open(`${pathToFileURL(path).href}${search}`, { ...options, first });
  const ask = <T>(expression: string): Promise<T> => opened.page.evaluate<T>(expression);
  await opened.page.waitForSelector("bough-page #transcript .item");
  await settled(ask);
  return { ...opened, ask, violations: () => ask("window.violations") };
}

/** Resolves when bodies, heights and scroll have come to rest. */
export const settled = (ask: OpenExport["ask"]): Promise<void> =>
  ask(`(async () => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    let last = "";
    for (let same = 0; same < 4; ) {
      await frame();
      const lists = [...document.querySelectorAll("virtual-list")];
      const seen = lists.map((list) => [list.scrollTop, list.textContent, list.drawn].join()).join();
      same = seen === last && !lists.some((list) => list.isUpdatePending) ? same + 1 : 0;
      last = seen;
    }
  })()`);

/** The rows of the tree as they stand on the screen: mark of the path, label and text. */
export const shownRows = (ask: OpenExport["ask"]): Promise<string[]> =>
  ask(`[...document.querySelectorAll("#tree .row")].map((row) => row.textContent.replace(/\\s+/g, " ").trim())`);

/** Ids of the entries in the transcript, as far as they are drawn. */
export const shownEntries = (ask: OpenExport["ask"]): Promise<string[]> =>
  ask(`(() => {
    const { tree } = document.querySelector("bough-page").parts.view;
    return [...document.querySelectorAll("#transcript .item[data-n]")].map((item) => tree.idAt(Number(item.dataset.n)));
  })()`);
