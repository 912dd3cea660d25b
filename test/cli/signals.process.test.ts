/** `bough -p` when a signal ends it: the partial answer is saved, what it started is gone, the exit code says so. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Place, connectedTo, providerFor, savedMessages } from "../support/command.ts";
import { callTools, hangAfter } from "../support/provider-mock.ts";

/** Waits for what another process does. */
async function until<T>(look: () => T | undefined): Promise<T> {
  for (let tries = 0; tries < 500; tries++) {
    const found = look();
    if (found !== undefined) return found;
    await sleep(20);
  }
  throw new Error("It did not happen.");
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const STOPPED = "bough: The answer was stopped before its end.\n";

for (const [signal, code] of [
  ["SIGTERM", 143],
  ["SIGINT", 130],
  ["SIGHUP", 129],
] as const)
  test(`[R1] ${signal} in the middle of an answer: what came is printed and saved, exit code ${code}`, async (t) => {
    const started = Promise.withResolvers<void>();
    const server = await providerFor(t, hangAfter("Half an ans", started.resolve));
    const place = new Place();
    const command = place.start(["-p", "hi", "--mode", "json", ...connectedTo(server)]);
    await started.promise;
    await until(() => (command.out.includes("Half an ans") ? true : undefined));
    command.child.kill(signal);
    const { err, out } = await command.done;
    assert.deepEqual([command.child.exitCode, err], [code, STOPPED]);
    assert.match(out, /\n\{"type":"agent_settled","aborted":true\}\n$/);
    assert.deepEqual(await savedMessages(place.sessionFiles()[0]), ["user: hi", "assistant: Half an ans"]);
  });

test("[R1, A3] SIGTERM while a command runs ends the command and all it has started", async (t) => {
  const command = "sleep 1000 & echo $! > background; echo $$ > shell; wait";
  const server = await providerFor(t, callTools({ id: "call_1", name: "bash", arguments: { command } }));
  const place = new Place();
  const running = place.start(["-p", "hi", ...connectedTo(server)]);
  const pids = await until(() => {
    const paths = ["background", "shell"].map((name) => join(place.cwd, name));
    const numbers = paths.map((path) => (existsSync(path) ? Number(readFileSync(path, "utf8")) : 0));
    return numbers.includes(0) ? undefined : numbers;
  });
  assert.deepEqual(pids.map(isAlive), [true, true]);
  running.child.kill("SIGTERM");
  assert.deepEqual(await running.done, { code: 143, out: "", err: STOPPED });
  await until(() => (pids.some(isAlive) ? undefined : true));
  const [path] = place.sessionFiles();
  const messages = await savedMessages(path);
  assert.deepEqual(
    messages.map((message) => message.split(":", 1)[0]),
    ["user", "assistant", "toolResult"],
  );
});
