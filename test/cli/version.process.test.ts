/** Tests of src/cli/main.ts: what it loads to say its version. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { basename } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
/** Tells every file that is loaded. */
const HOOK = `
  import { registerHooks } from "node:module";
  import { writeSync } from "node:fs";
  registerHooks({ load(url, context, next) { if (url.startsWith("file:")) writeSync(2, url + "\\n"); return next(url, context); } });`;

test("[G1] the version is there when two files are loaded, and with other arguments all the same", () => {
  const run = (...args: string[]): { out: string; loaded: string[] } => {
    const hook = `--import=data:text/javascript,${encodeURIComponent(HOOK)}`;
    const { stdout, stderr } = spawnSync(process.execPath, [hook, MAIN, ...args], { encoding: "utf8" });
    return {
      out: stdout,
      loaded: stderr
        .trim()
        .split("\n")
        .map((url) => basename(url)),
    };
  };
  const { out, loaded } = run("--version");
  assert.match(out, /^\d+\.\d+\.\d+\n$/);
  assert.deepEqual(loaded, ["main.ts", "io.ts"]);
  assert.deepEqual(run("-v"), { out, loaded });
  assert.equal(run("-c", "--version").out, out);
});
