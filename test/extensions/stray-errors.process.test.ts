import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFile } from "../support/session-files.ts";

const PROGRAM = fileURLToPath(new URL("../support/stray-program.ts", import.meta.url));

function run(...args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const { promise, resolve } = Promise.withResolvers<{ code: unknown; stdout: string; stderr: string }>();
  execFile(process.execPath, [PROGRAM, ...args], (error, stdout, stderr) =>
    resolve({ code: error?.code ?? 0, stdout, stderr }),
  );
  return promise;
}

test("[X3] what an extension throws where nobody waits is told of once, and bough goes on", async () => {
  const path = temporaryFile(
    `import { EventEmitter } from "node:events";
    export default (pi) => {
      setTimeout(() => { throw new Error("in a timer"); }, 5);
      setTimeout(() => { throw new Error("once more"); }, 6);
      Promise.reject(new Error("forgotten"));
      void (async () => { await null; new EventEmitter().emit("error", new Error("unheard")); })();
    };`,
    "stray.ts",
  );
  const { code, stdout, stderr } = await run(path);
  assert.equal(stderr, "");
  const told = `error The extension ${path} failed at "something nobody waited for": `;
  assert.deepEqual([code, stdout], [0, `${told}forgotten\nstill here\n`]);
});

test("[X3] the older kind of module, too", async () => {
  const path = temporaryFile(
    'module.exports = () => { setTimeout(() => { throw new TypeError("old") }, 5); };',
    "stray.cjs",
  );
  const { code, stdout } = await run(path);
  assert.deepEqual(
    [code, stdout],
    [0, `error The extension ${path} failed at "something nobody waited for": old\nstill here\n`],
  );
});

test("[X3] bough's own mistakes are not hidden", async () => {
  const path = temporaryFile("export default () => undefined;", "good.ts");
  const { code, stdout, stderr } = await run(path, "own");
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, /Error: bough's own\n +at .*stray-program\.ts/);
});
