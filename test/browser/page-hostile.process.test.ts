/** A session that tries to run something in whoever opens its page. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Browser, serve } from "../support/browser.ts";
import { openExport, settled } from "../support/exported-page.ts";
import { PAYLOADS, hostileSession } from "../support/hostile-session.ts";
import { exportLines } from "../support/page-file.ts";

let browser: Browser;
let path: string;
before(async () => {
  ({ path } = await exportLines(hostileSession()));
  browser = await Browser.start();
});
after(() => browser.close());

/** Without the white space that markup has between elements. */
const squeezed = (line: string): string => line.replace(/[\s\u00a0]+/g, "");
const fromElsewhere = (requests: readonly string[]): string[] => requests.filter((url) => !/^(?:file|data):/.test(url));

interface Inspection {
  tags: string[];
  handlers: string[];
  addresses: string[];
  text: string;
  entries: number;
}

/** In the page: what of its elements a session could have made. */
const INSPECTION = `(() => {
  const all = [...document.querySelectorAll("bough-page, bough-page *")];
  const attributes = all.flatMap((element) => [...element.attributes]);
  const of = (names) => attributes.filter(({ name }) => names.includes(name));
  return {
    tags: [...new Set(all.map((element) => element.localName))].sort(),
    handlers: attributes
      .filter(({ name }) => name.startsWith("on") || name === "srcdoc" || name === "style")
      .map(({ name, value }) => name + "=" + value),
    addresses: of(["href", "src", "action", "data", "xlink:href"]).map(({ value }) => value),
    text: document.querySelector("#transcript").textContent,
    entries: document.querySelectorAll("#transcript .entry").length,
  };
})()`;

/** What the page's own templates, Markdown and the highlighter make. */
const OWN_TAGS =
  "a article aside b bdi bough-page bough-sidebar br button code dd details div dl dt em h1 header hr input li main p pre span strong summary time ul virtual-list".split(
    " ",
  );

test(`[E1, E2] dB66 ${PAYLOADS.length} payloads in every field: nothing runs, nothing loads, text stays text`, async () => {
  const opened = await openExport(browser, path, { first: `window.print = () => (window.printed = ${INSPECTION});` });
  const { page, ask, requests, errors, violations } = opened;
  for (const part of ["thinking", "tools", "hidden"]) await page.click(`[data-switch="${part}"]`);
  await page.click('[data-filter="all"]');
  // Every entry of the branch is drawn, as for printing; so is every row of the tree.
  await ask(`(document.querySelector("#tree").whole = true)`);
  await settled(ask);
  await page.click("#print");
  let found: Inspection | undefined;
  while ((found = await ask<Inspection | undefined>("window.printed")) === undefined) await page.waitForTimeout(20);
  assert.deepEqual(
    found.tags.filter((tag) => !OWN_TAGS.includes(tag)),
    [],
  );
  assert.deepEqual(
    found.handlers.filter((handler) => !/^style=(?:height|transform): /.test(handler)),
    [],
  );
  assert.deepEqual([...new Set(found.addresses)], ["https://evil.example/pixel.png"], "a remote image is a link to it");
  assert.ok(found.entries > 15 * PAYLOADS.length, `${found.entries} entries were drawn`);
  const plain = squeezed(found.text);
  assert.deepEqual(
    PAYLOADS.filter((payload) => !plain.includes(squeezed(payload))),
    [],
    "not shown as text",
  );
  assert.deepEqual(
    {
      ran: await ask("window.ran"),
      violations: await violations(),
      errors,
      elsewhere: fromElsewhere(requests),
      protocol: await ask("location.protocol"),
      title: (await page.title()).slice(0, 10),
    },
    {
      ran: undefined,
      violations: [],
      errors: [],
      elsewhere: [],
      protocol: "file:",
      title: PAYLOADS.at(-1)!.slice(0, 10),
    },
  );
  await page.close();
});

test("[E1, E2] dB66 hostile ids in the address lead to their entries or nowhere", async () => {
  for (const payload of PAYLOADS.slice(0, 3)) {
    const search = `?leafId=${encodeURIComponent(`user 2 ${payload}`)}&targetId=${encodeURIComponent(`answer 0 ${PAYLOADS[0]}`)}&${encodeURIComponent(payload)}`;
    const { page, ask, errors, requests, violations } = await openExport(browser, path, { search });
    assert.equal(await page.locator("[data-marked]").count(), 1);
    assert.deepEqual(
      { ran: await ask("window.ran"), violations: await violations(), errors, elsewhere: fromElsewhere(requests) },
      { ran: undefined, violations: [], errors: [], elsewhere: [] },
    );
    await page.close();
  }
});

test("[E1, E2] dB66 the file itself, read without the page's script, has no element of the session", async () => {
  const { page, requests, errors } = await browser.open(pathToFileURL(path).href, { scripts: false });
  await page.waitForSelector("#notice", { state: "visible" });
  const tags = await page.evaluate(
    "[...new Set([...document.querySelectorAll('*')].map((part) => part.localName))].sort()",
  );
  assert.deepEqual(tags, ["body", "div", "h1", "head", "html", "link", "meta", "p", "script", "style", "title"]);
  const policy = await page.getAttribute('meta[http-equiv="Content-Security-Policy"]', "content");
  assert.deepEqual(
    policy!.split("; ").map((part) => part.replace(/sha256-[A-Za-z0-9+/=]{44}/, "hash")),
    [
      "default-src 'none'",
      "script-src 'hash'",
      "style-src 'hash'",
      "img-src data:",
      "base-uri 'none'",
      "form-action 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types lit-html",
    ],
  );
  assert.deepEqual({ errors, elsewhere: fromElsewhere(requests) }, { errors: [], elsewhere: [] });
  await page.close();
});

test("[E2] what would get in after all is stopped by the page's policy: scripts, handlers, images, requests", async (t) => {
  const asked: string[] = [];
  const address = await serve(t, (at) => void asked.push(at));
  const { page, ask, violations } = await openExport(browser, path);
  await ask(`(async () => {
    const tries = [
      () => document.body.append(Object.assign(document.createElement("script"), { textContent: "window.ran = 1" })),
      () => document.body.setAttribute("onclick", "window.ran = 2"),
      () => document.body.insertAdjacentHTML("beforeend", "<b>markup</b>"),
      () => document.body.append(Object.assign(document.createElement("img"), { src: "${address}image" })),
      () => document.body.append(Object.assign(document.createElement("iframe"), { src: "${address}frame" })),
      () => fetch("${address}request"),
    ];
    for (const attempt of tries) try { await attempt(); } catch {}
    document.body.click();
    await new Promise((resolve) => setTimeout(resolve, 200));
  })()`);
  const stopped = new Set((await violations()).map((violation) => violation.replace(/http:\/\/[\d.:]+\/?/, "")));
  assert.deepEqual(
    {
      ran: await ask("window.ran"),
      markup: await page.locator("text=markup").count(),
      asked,
      stopped: [...stopped].sort(),
    },
    {
      ran: undefined,
      markup: 0,
      asked: [],
      stopped: ["connect-src request", "frame-src ", "img-src image", "require-trusted-types-for trusted-types-sink"],
    },
  );
  await page.close();
});
