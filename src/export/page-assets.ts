/**
 * The page's own script and style, as scripts/build-page.mjs made them from `page/`.
 * Part of `export/`; used by html.ts.
 */
import { readFileSync } from "node:fs";

export interface PageAssets {
  script: string;
  style: string;
}

/** Beside this file once it is built; its source finds them in the folder that builds go to. */
const FOLDER = import.meta.url.endsWith(".ts") ? "../../dist/export/" : "./";

/** Throws when the page was never built, which an installed bough always is. */
export function pageAssets(): PageAssets {
  const read = (name: string): string => readFileSync(new URL(`${FOLDER}${name}`, import.meta.url), "utf8");
  try {
    return { script: read("viewer.js"), style: read("viewer.css") };
  } catch (cause) {
    throw new Error("The exported page's own script is missing; run \"npm run build\" in bough's folder.", { cause });
  }
}
