import assert from "node:assert/strict";
import { test } from "node:test";
import { exec } from "../../src/extensions/exec.ts";

const cwd = process.cwd();
const run = (script: string, options: Partial<Parameters<typeof exec>[2]> = {}) =>
  exec(process.execPath, ["-e", script], { cwd, ...options });

test("[X1] exec gives both outputs and the code, and no shell sees the arguments", async () => {
  const script = 'process.stdout.write(process.argv[1]); process.stderr.write("no"); process.exit(3)';
  const result = await exec(process.execPath, ["-e", script, "$HOME; `x` é"], { cwd });
  assert.deepEqual(result, { stdout: "$HOME; `x` é", stderr: "no", code: 3, killed: false, truncated: false });
  const inTemp = await exec("pwd", [], { cwd: "/" });
  assert.equal(inTemp.stdout, "/\n");
});

test("[X1] exec ends what takes too long, what is no longer wanted and what prints too much", async () => {
  const forever = "setInterval(() => undefined, 1000)";
  const ended = { stdout: "", stderr: "", code: 143, killed: true, truncated: false };
  assert.deepEqual(await run(forever, { timeout: 50 }), ended);
  const controller = new AbortController();
  const running = run(forever, { signal: controller.signal });
  controller.abort();
  assert.deepEqual(await running, ended);
  assert.deepEqual(await run(forever, { signal: AbortSignal.abort() }), ended);
  const printing = await run(`process.stdout.write("x".repeat(100)); ${forever}`, { maxBuffer: 10 });
  assert.deepEqual(printing, { ...ended, stdout: "xxxxxxxxxx", truncated: true });
});

test("[X1] exec rejects what cannot be started", async () => {
  await assert.rejects(exec("no-such-program", [], { cwd }), /^Error: no-such-program cannot be started: .+\.$/);
  await assert.rejects(exec("pwd", [], { cwd: "/no/such/folder" }), /^Error: pwd cannot be started: .+\.$/);
});
