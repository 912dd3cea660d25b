/** What comes from outside the screen, on the real program in a real terminal. */
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { spawn } from "@lydell/node-pty";
import { canonicalPath, directoryKey } from "../../src/session/locations.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { outlineOf } from "../support/agent-harness.ts";
import { checkLaws } from "../support/laws.ts";
import { KEYS, Program, cleanEnvironment, newFolder } from "../support/program.ts";
import { hangAfter, say, startProvider, type Reply } from "../support/provider-mock.ts";

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const BROKEN = fileURLToPath(new URL("broken-program.ts", import.meta.url));

async function place(t: TestContext, reply: Reply) {
  const server = await startProvider(reply);
  t.after(() => server.close());
  const [home, cwd] = [newFolder("home"), newFolder("work")];
  return { home, cwd, args: ["--base-url", server.baseUrl, "--model", "mock", "--api-key", "k"] };
}

/** The session's path once it is as long as it should be; it is the only one. */
async function savedPath(home: string, cwd: string, length: number): Promise<string[]> {
  const folder = join(home, ".bough/sessions", directoryKey(canonicalPath(cwd)));
  for (let tries = 0; ; tries++) {
    const [file] = readdirSync(folder);
    const session = await SessionManager.open(join(folder, file!), { readOnly: true });
    const path = outlineOf(session.getBranch());
    if (path.length < length && tries < 200) await sleep(25);
    else {
      await checkLaws(session);
      return path;
    }
  }
}

const STOPPED = ["model_change", "user: Go on", "session_info", "assistant aborted: so far"];

test("[U4, W2] SIGINT while an answer comes stops it, saves it, and leaves the terminal in order", async (t) => {
  const options = await place(t, hangAfter("so far"));
  const program = new Program(options);
  t.after(() => program.stop());
  await program.waitFor("mock");
  program.send(`Go on${KEYS.enter}`);
  await program.waitFor("so far");
  program.kill("SIGINT");
  assert.deepEqual(await program.exited, { exitCode: 0, signal: 0 });
  assert.deepEqual(await savedPath(options.home, options.cwd, STOPPED.length), STOPPED);
});

for (const [signal, exitCode] of [
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)
  test(`[U4, W2] ${signal} while an answer comes stops it, saves it, and is told by the exit code`, async (t) => {
    const options = await place(t, hangAfter("so far"));
    const program = new Program(options);
    t.after(() => program.stop());
    await program.waitFor("mock");
    program.send(`Go on${KEYS.enter}`);
    await program.waitFor("so far");
    program.kill(signal);
    assert.deepEqual(await program.exited, { exitCode, signal: 0 });
    assert.deepEqual(await savedPath(options.home, options.cwd, STOPPED.length), STOPPED);
  });

test("[U3, B1] two Escapes in one read of a real terminal are a double press", async (t) => {
  const program = new Program(await place(t, say("ok")));
  t.after(() => program.stop());
  await program.waitFor("mock");
  program.send(KEYS.escape + KEYS.escape);
  await program.waitFor("Session Tree");
});

test("[U4, B2] -r and then Escape leaves nothing on disk", async (t) => {
  const { home, cwd, args } = await place(t, say("ok"));
  const program = new Program({ home, cwd, args: ["-r", ...args] });
  t.after(() => program.stop());
  await program.waitFor("Resume a session");
  program.send(KEYS.escape);
  await program.waitFor((screen) => !screen.includes("Resume a session"));
  program.send(KEYS.controlD);
  assert.deepEqual(await program.exited, { exitCode: 0, signal: 0 });
  const files = existsSync(join(home, ".bough"))
    ? readdirSync(join(home, ".bough"), { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
    : [];
  assert.deepEqual(
    files.map(({ name }) => name),
    [],
  );
});

test("[U4, W2] the terminal goes away while an answer comes: it is stopped and saved, and the program ends", async (t) => {
  const { home, cwd, args } = await place(t, hangAfter("so far"));
  const env = cleanEnvironment(home);
  // Without the signal that usually comes with it: what is left is input that ends and output that fails.
  const command = [`trap '' HUP; exec "$@"`, "sh", process.execPath, MAIN, ...args];
  const terminal = spawn("/bin/sh", ["-c", ...command], { cols: 80, rows: 24, cwd, env });
  let output = "";
  terminal.onData((data) => (output += data));
  const until = async (text: string): Promise<void> => {
    for (const end = Date.now() + 15_000; !output.includes(text); await sleep(20)) assert.ok(Date.now() < end, output);
  };
  await until("mock");
  terminal.write("Go on\r");
  await until("so far");
  (terminal as unknown as { destroy(): void }).destroy();
  assert.deepEqual(await savedPath(home, cwd, STOPPED.length), STOPPED);
  for (let tries = 0; tries < 200; tries++) {
    try {
      process.kill(terminal.pid, 0);
    } catch {
      return;
    }
    await sleep(25);
  }
  assert.fail("the program still runs");
});

test("[U5] dB67 what a library writes to standard error while the screen stands becomes a notice in it", async (t) => {
  const options = await place(t, (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end("data: {no json\n\n");
  });
  const program = new Program(options);
  t.after(() => program.stop());
  await program.waitFor("mock");
  program.send(`Go on${KEYS.enter}`);
  const screen = await program.waitFor((shown) => shown.includes("Error: ") && !shown.includes("Working"));
  const rows = screen.split("\n").map((row) => row.trim());
  assert.deepEqual(
    rows.filter((row) => /Escape stops|Warning|Error/.test(row)),
    [
      "Escape stops · / commands · @ files · ! shell · Ctrl+C twice quits",
      "Warning: Could not parse message into JSON:",
      "Warning: From chunk:",
      "Error: Error reading response: malformed server-sent event JSON.",
    ],
  );
});

test("[U4] an exception that nobody caught: the terminal is put in order first, then the program says what broke", async () => {
  const terminal = spawn(process.execPath, [BROKEN], { cols: 80, rows: 24, env: { ...process.env } });
  let output = "";
  terminal.onData((data) => (output += data));
  const exitCode = await new Promise((resolve) => terminal.onExit((exit) => resolve(exit.exitCode)));
  assert.equal(exitCode, 3);
  const [before, after] = output.split("ended with: broken on purpose");
  assert.ok(after !== undefined, output);
  assert.ok(before!.lastIndexOf("\u001b[?25h") > before!.lastIndexOf("\u001b[?25l"), "the cursor is shown again");
  assert.ok(before!.includes("\u001b[?2004l"), "pastes are ordinary again");
});
