/** Leaving the terminal to the shell and coming back, on a real terminal under a shell with job control. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";

const PROGRAM = fileURLToPath(new URL("interactive-program.ts", import.meta.url));

test("[U4] Ctrl+Z gives the terminal to the shell, fg brings the draft back, SIGTERM leaves it in order", async (t) => {
  const screen = new xterm.Terminal({ cols: 80, rows: 24, allowProposedApi: true });
  const shell = spawn("/bin/bash", ["--norc", "-i"], {
    cols: 80,
    rows: 24,
    env: { ...process.env, PS1: "sh> ", TERM: "xterm-256color" },
  });
  t.after(() => shell.kill());
  let output = "";
  shell.onData((data) => {
    output += data;
    screen.write(data);
  });
  screen.onData((data) => shell.write(data));
  const rows = (): string[] =>
    Array.from({ length: 24 }, (_, n) => screen.buffer.active.getLine(screen.buffer.active.baseY + n)).map(
      (line) => line?.translateToString(true).trimEnd() ?? "",
    );
  const until = async (wanted: (rows: string[]) => boolean): Promise<void> => {
    for (const end = Date.now() + 20_000; !wanted(rows()); await sleep(20))
      assert.ok(Date.now() < end, `the screen is\n${rows().join("\n")}`);
  };
  const has = (text: string) => (shown: string[]) => shown.some((row) => row.includes(text));

  await until(has("sh>"));
  shell.write(`'${process.execPath}' '${PROGRAM}'\r`);
  await until(has("no model: /model"));
  shell.write("my draft");
  await until(has("my draft"));
  shell.write("\x1a");
  await until(has("Stopped"));
  // The shell has the terminal in its ordinary state again: what is typed is a command.
  shell.write("echo $((6*7))\r");
  await until((shown) => shown.includes("42"));
  shell.write("fg\r");
  await until((shown) => has("my draft")(shown) && !has("sh>")(shown));
  shell.write("\x01\x0b!!kill $PPID\r");
  await until(has("left with 143"));
  assert.ok(output.lastIndexOf("\x1b[?25h") > output.lastIndexOf("\x1b[?25l"), "the cursor is shown again");
});
