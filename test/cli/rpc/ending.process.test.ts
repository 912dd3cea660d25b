/** How `--mode rpc` ends: with its input, its reader or a signal; and what becomes of a turn, and of what was not read. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Readable, Writable } from "node:stream";
import { Place, connectedTo, providerFor, savedMessages } from "../../support/command.ts";
import { cleanEnvironment } from "../../support/program.ts";
import { callTools, hangAfter, say } from "../../support/provider-mock.ts";
import { rpcClient } from "../../support/rpc-client.ts";

test("[R1, W2] the input ends in the middle of a turn: it is stopped and saved, and the events go out", async (t) => {
  const server = await providerFor(t, hangAfter("Half"));
  const place = new Place();
  const client = rpcClient(t, place, connectedTo(server));
  await client.data("prompt", { message: "go" });
  await client.event("message_update");
  assert.deepEqual(await client.end(), { code: 0, err: "" });
  assert.deepEqual(client.lines.at(-1), { type: "agent_settled", aborted: true });
  assert.deepEqual(await savedMessages(place.sessionFiles()[0]), ["user: go", "assistant: Half"]);
});

for (const [signal, code] of [
  ["SIGTERM", 143],
  ["SIGHUP", 129],
  ["SIGINT", 130],
] as const)
  test(`[R1, W1] ${signal} in the middle of a tool: it is ended, its result saved, exit code ${code}`, async (t) => {
    const command = "echo $$ > pid; echo begun; sleep 600";
    const server = await providerFor(t, callTools({ id: "c", name: "bash", arguments: { command } }), say("never"));
    const place = new Place();
    const client = rpcClient(t, place, connectedTo(server));
    await client.data("prompt", { message: "go" });
    await client.event("tool_execution_update");
    client.child.kill(signal);
    assert.deepEqual(await client.done, { code, signal: null });
    assert.equal(client.err, "");
    assert.deepEqual(client.lines.at(-1), { type: "agent_settled", aborted: true });
    const [prompt, , result] = await savedMessages(place.sessionFiles()[0]);
    assert.equal(prompt, "user: go");
    assert.match(String(result), /^toolResult: begun\n/);
    const pid = Number(readFileSync(join(place.cwd, "pid"), "utf8"));
    assert.throws(() => process.kill(pid, 0), "what it started is gone");
  });

test("[R1, W4] what cannot be saved goes on in memory, and the exit code says so", async (t) => {
  const answer = "z".repeat(20_000);
  const server = await providerFor(t, say(answer), say("two"));
  const place = new Place();
  // The shell's limit is the kernel's.
  const client = rpcClient(t, place, connectedTo(server), { shell: 'ulimit -f 16; exec "$@"' });
  await client.data("prompt", { message: "go" });
  const notice = await client.event("notice");
  assert.match(String(notice["text"]), /^This session cannot be saved: /);
  await client.event("agent_settled");
  const from = client.lines.length;
  await client.data("prompt", { message: "on" });
  await client.event("agent_settled", from);
  const { messageCount, unsavedEntries } = await client.data("get_state");
  assert.deepEqual([messageCount, unsavedEntries], [4, 3]);
  const { code, err } = await client.end();
  assert.equal(code, 1);
  assert.match(err, /^bough: [^\n]+\n$/);
});

/** `--mode rpc` with its output in our hands: nothing is read unless a test reads. */
function startUnread(t: { after(fn: () => unknown): void }, place: Place, args: readonly string[]) {
  const main = fileURLToPath(new URL("../../../src/cli/main.ts", import.meta.url));
  const child = spawn(process.execPath, [main, "--mode", "rpc", ...args], {
    cwd: place.cwd,
    env: cleanEnvironment(place.home),
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.on("error", () => undefined);
  const done = once(child, "exit").then(([code]) => code as number | null);
  t.after(async () => {
    child.kill("SIGKILL");
    await done;
  });
  return { child, done, stdin: child.stdin as Writable, stdout: child.stdout as Readable };
}

/** Everything from now on, as parsed lines. */
async function linesOf(stdout: Readable): Promise<Record<string, unknown>[]> {
  let text = "";
  for await (const part of stdout.setEncoding("utf8")) text += part as string;
  assert.ok(text.endsWith("\n"));
  return text
    .slice(0, -1)
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Reads up to the first of these words, and then nothing. */
async function readUpTo(stdout: Readable, words: string): Promise<void> {
  let text = "";
  await new Promise<void>((resolve) => {
    stdout.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      if (!text.includes(words)) return;
      stdout.pause();
      resolve();
    });
  });
}

test("[R1] a reader that reads no more holds up the answer, not the end: SIGTERM saves and ends", async (t) => {
  const server = await providerFor(t, say(...Array.from({ length: 300 }, () => "x".repeat(32_768))));
  const place = new Place();
  const { child, done, stdin, stdout } = startUnread(t, place, connectedTo(server));
  stdin.write('{"type":"prompt","message":"go"}\n');
  await readUpTo(stdout, '"text_delta"');
  await settled(() => readFileSync(place.sessionFiles()[0] as string, "utf8"));
  // Ten megabytes do not fit into what may wait: the answer cannot have been taken to its end.
  assert.deepEqual(await savedMessages(place.sessionFiles()[0]), ["user: go"]);
  child.kill("SIGTERM");
  assert.equal(await done, 143);
  const [prompt, answer = ""] = await savedMessages(place.sessionFiles()[0]);
  assert.equal(prompt, "user: go");
  assert.match(answer, /^assistant: x+$/);
});

test("[R1] a slow reader gets everything, in order, to the end of a turn and of the program", async (t) => {
  const pieces = Array.from({ length: 300 }, (_, n) => `${n} `.padEnd(32_768, "x"));
  const server = await providerFor(t, say(...pieces));
  const place = new Place();
  const { done, stdin, stdout } = startUnread(t, place, connectedTo(server));
  stdin.write('{"id":1,"type":"prompt","message":"go"}\n');
  await until(() => place.sessionFiles().length === 1);
  await settled(() => readFileSync(place.sessionFiles()[0] as string, "utf8"));
  const reading = linesOf(stdout);
  await until(() => readFileSync(place.sessionFiles()[0] as string, "utf8").includes('"stopReason":"stop"'));
  stdin.end();
  const lines = await reading;
  assert.equal(await done, 0);
  const deltas = lines.flatMap(({ assistantMessageEvent: update }) => {
    const { type, delta } = (update ?? {}) as { type?: string; delta?: string };
    return type === "text_delta" ? [delta] : [];
  });
  assert.deepEqual(deltas, pieces);
  assert.equal(lines.at(-1)?.["type"], "agent_settled");
});

test("[R1] commands of a client that reads no answers are left in its own pipe", async (t) => {
  const place = new Place();
  const { child, done, stdin, stdout } = startUnread(t, place, ["--no-session"]);
  const line = `${JSON.stringify({ type: "set_name", name: "n".repeat(1000) })}\n${'{"type":"get_available_models"}\n'}`;
  let written = 0;
  let accepted = 0;
  for (; written < 40_000; written++) stdin.write(line, (error) => (accepted += error ? 0 : 1));
  // Something was answered; from here on only a first buffer of it is taken.
  await once(stdout, "readable");
  await settled(() => String(accepted));
  assert.ok(accepted < written, `${accepted} of ${written} lines were taken`);
  child.kill("SIGTERM");
  assert.equal(await done, 143);
});

test("[R1] a reader that goes away ends bough, which saves first", async (t) => {
  const server = await providerFor(t, hangAfter("Half"));
  const place = new Place();
  const { done, stdin, stdout } = startUnread(t, place, connectedTo(server));
  stdin.write('{"type":"prompt","message":"go"}\n');
  await until(() => place.sessionFiles().length === 1);
  stdout.destroy();
  stdin.write('{"type":"get_state"}\n');
  assert.equal(await done, 0);
  assert.equal((await savedMessages(place.sessionFiles()[0]))[0], "user: go");
  assert.ok(existsSync(place.stateDir));
});

async function until(look: () => boolean): Promise<void> {
  while (!look()) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Waits until what `look` gives has stayed the same for a while. */
async function settled(look: () => string): Promise<void> {
  for (let [before, same] = ["", 0]; same < 8;) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    const now = look();
    same = now === before ? same + 1 : 0;
    before = now;
  }
}
