/**
 * A headless Chromium with a new profile, and pages served from this machine alone. For tests of what runs in browsers.
 */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium, type BrowserContext, type Page } from "playwright-core";
import { newFolder } from "./program.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What quiets the browser itself; the resolver rule makes every name but this machine's unknown. */
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

export interface PageOptions {
  /** Width and height of the window's content; default 1280 × 800. */
  size?: [width: number, height: number];
  /** What the system likes; default light. */
  colours?: "light" | "dark";
  /** Runs in the page before anything of its own does. */
  first?: string;
  /** Default true. */
  scripts?: boolean;
}

export interface OpenPage {
  page: Page;
  /** Every address the page asked for, in order. */
  requests: string[];
  /** What went wrong in the page: errors nobody caught and failed requests. */
  errors: string[];
}

/** A browser with a profile of its own. */
export class Browser {
  readonly #context: BrowserContext;
  readonly #profile: string;

  private constructor(context: BrowserContext, profile: string) {
    this.#context = context;
    this.#profile = profile;
  }

  /** Installs Chromium where it is missing and may be installed; else throws, and says how to install it. */
  static async start(): Promise<Browser> {
    const script = join(root, "scripts/browser.mjs");
    const executablePath = execFileSync(process.execPath, [script], { encoding: "utf8" }).trim();
    const profile = newFolder("browser");
    // A slow machine may need long for the first start after an install.
    const context = await chromium.launchPersistentContext(profile, { executablePath, args: FLAGS, timeout: 120_000 });
    return new Browser(context, profile);
  }

  async open(address: string, options: PageOptions = {}): Promise<OpenPage> {
    const { size: [width, height] = [1280, 800], colours = "light", first, scripts = true } = options;
    const page = await this.#context.newPage();
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: colours });
    if (first !== undefined) await page.addInitScript(first);
    if (!scripts) {
      const session = await this.#context.newCDPSession(page);
      await session.send("Emulation.setScriptExecutionDisabled", { value: true });
    }
    const requests: string[] = [];
    const errors: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    page.on("requestfailed", (request) => errors.push(`${request.url()}: ${request.failure()?.errorText}`));
    page.on("pageerror", (error) => errors.push(String(error)));
    await page.goto(address);
    return { page, requests, errors };
  }

  async close(): Promise<void> {
    await this.#context.close();
    rmSync(this.#profile, { recursive: true, force: true });
  }
}

/** What is served at a path: its type and content. */
export type Served = { type: string; content: string | Uint8Array } | undefined;

/** Serves on this machine's own address until the test is over. Returns the address, with a slash at its end. */
export async function serve(t: TestContext, find: (path: string) => Served): Promise<string> {
  const server = createServer((request, response) => {
    const served = find(new URL(request.url ?? "/", "http://127.0.0.1").pathname);
    response.writeHead(served === undefined ? 404 : 200, { "content-type": served?.type ?? "text/plain" });
    response.end(served?.content);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
