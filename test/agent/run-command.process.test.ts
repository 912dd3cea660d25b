/**
 * Commands as real processes: what is collected, what is killed, what is left alone.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type CommandOptions, runCommand } from "../../src/agent/run-command.ts";
import { runUserCommand } from "../../src/agent/user-command.ts";
import { temporaryFolder } from "../support/session-files.ts";

const folder = temporaryFolder();
const run = (command: string, options: Partial<CommandOptions> = {}) =>
  runCommand({ command, cwd: folder, ...options });

const ended = {
  shownLines: 0,
  totalLines: 0,
  truncated: false,
  partialLine: false,
  endedBy: "exit",
  leftRunning: false,
};

/** True while a process exists that has not ended (a zombie has). */
function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/s.test(fs.readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

/** A process that was killed needs a moment to be gone; one that was not sleeps for a minute. */
async function allEnded(pids: number[]): Promise<void> {
  for (let tries = 0; pids.some(isRunning) && tries < 500; tries++) await pause(10);
  assert.deepEqual(pids.filter(isRunning), []);
}

/** Waits for a file that a command writes. */
async function contentSoon(path: string): Promise<string> {
  for (let tries = 0; tries < 500; tries++) {
    if (fs.existsSync(path) && fs.statSync(path).size > 0) return fs.readFileSync(path, "utf8").trim();
    await pause(10);
  }
  throw new Error(`${path} did not appear`);
}

const pidsIn = (text: string): number[] => text.split(/\s+/).map(Number);

test("[A3] standard output and standard error come in the order they were written", async () => {
  const script = "for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done; exit 3";
  const output = [1, 2, 3, 4, 5].map((n) => `out ${n}\nerr ${n}`).join("\n");
  assert.deepEqual(await run(script), { ...ended, output, shownLines: 10, totalLines: 10, exitCode: 3 });
});

test("[A3] a command runs in its directory, with no input, no terminal and no pager", async () => {
  const { output } = await run(
    'pwd; cat; echo "$TERM $PAGER $GIT_PAGER"; (: </dev/tty) 2>/dev/null || echo no terminal',
  );
  assert.equal(output, `${fs.realpathSync(folder)}\ndumb cat cat\nno terminal`);
});

test("[A3] quotes, many lines and line numbers of errors are those of the command", async () => {
  const { output } = await run("echo 'a \"b\" $c'\ncat <<'EOF'\n$x `y`\nEOF\nno-such-command-of-bough");
  assert.match(output, /^a "b" \$c\n\$x `y`\n\S*bash: line 5: no-such-command-of-bough: command not found$/);
});

test("[A3] a signal that ends the shell is named", async () => {
  assert.deepEqual(await run("kill -SEGV $$"), { ...ended, output: "", signalName: "SIGSEGV" });
});

test("[A3] invalid UTF-8, NULs and escape sequences are tolerated", async () => {
  const { output } = await run(String.raw`printf 'a\377b\0c \033[1mbold\033[0m ü 10%%\r20%%\n'`);
  assert.equal(output, "20%");
  assert.equal((await run(String.raw`printf 'a\377b\0c \033[1mbold\033[0m ü\n'`)).output, "a\ufffdbc bold ü");
});

test("[A1, A3, W6] of a long output the end is shown and every byte kept in a private file", async () => {
  const outputDir = join(folder, "kept");
  const result = await run(String.raw`printf '\033[31m'; seq 1 100000`, { outputDir });
  const { fullOutputPath = "" } = result;
  const last = Array.from({ length: 2000 }, (_, n) => 98_001 + n).join("\n");
  assert.deepEqual(result, {
    ...ended,
    output: last,
    shownLines: 2000,
    totalLines: 100_000,
    truncated: true,
    fullOutputPath,
    exitCode: 0,
  });
  const all = Array.from({ length: 100_000 }, (_, n) => `${n + 1}\n`).join("");
  assert.equal(fs.readFileSync(fullOutputPath, "utf8"), `\x1b[31m${all}`);
  assert.equal(fs.statSync(fullOutputPath).mode & 0o777, 0o600);
  assert.equal(fs.statSync(outputDir).mode & 0o777, 0o700);
});

test("[A1, A3] the end of one overlong line is shown", async () => {
  const outputDir = join(folder, "kept-line");
  const result = await run("head -c 300000 /dev/zero | tr '\\0' x", { outputDir });
  assert.deepEqual(
    [result.output, result.partialLine, result.truncated, result.totalLines],
    ["x".repeat(50 * 1024), true, true, 1],
  );
});

test("[A3] what is long only for its redrawn lines is not kept", async () => {
  const outputDir = join(folder, "redrawn");
  const { output, truncated } = await run("for i in $(seq 1 6000); do printf '%s percent\\r' $i; done; echo", {
    outputDir,
  });
  assert.deepEqual([output, truncated, fs.readdirSync(outputDir)], ["6000 percent", false, []]);
});

test("[A3] an output that cannot be kept is still shown, with the reason", async () => {
  const outputDir = join(folder, "a-file");
  fs.writeFileSync(outputDir, "");
  const { fullOutputPath, fullOutputProblem, shownLines, exitCode } = await run("seq 1 3000", { outputDir });
  assert.deepEqual(
    [fullOutputPath, fullOutputProblem, shownLines, exitCode],
    [undefined, "a part of the path is not a folder (ENOTDIR)", 2000, 0],
  );
});

test("[A3] kept outputs of earlier weeks are removed, other files are not", async () => {
  const outputDir = join(folder, "old");
  fs.mkdirSync(outputDir);
  const monthAgo = Date.now() / 1000 - 30 * 24 * 3600;
  for (const name of ["old.log", "note.txt"]) {
    fs.writeFileSync(join(outputDir, name), "x");
    fs.utimesSync(join(outputDir, name), monthAgo, monthAgo);
  }
  const { fullOutputPath = "" } = await run("seq 1 3000", { outputDir });
  assert.deepEqual(
    fs
      .readdirSync(outputDir)
      .map((name) => join(outputDir, name))
      .sort(),
    [join(outputDir, "note.txt"), fullOutputPath].sort(),
  );
});

test("[A3] abort ends the whole group, also those that ignore SIGTERM", async () => {
  const pids = join(folder, "abort-pids");
  const controller = new AbortController();
  const command = `trap '' TERM; sleep 60 & a=$!; (trap '' TERM; sleep 60) & echo begun; echo $$ $a $! > ${pids}; wait`;
  const running = run(command, { signal: controller.signal });
  const group = pidsIn(await contentSoon(pids));
  assert.deepEqual(group.map(isRunning), [true, true, true]);
  controller.abort();
  assert.deepEqual(await running, {
    ...ended,
    output: "begun",
    shownLines: 1,
    totalLines: 1,
    endedBy: "abort",
    signalName: "SIGKILL",
  });
  await allEnded(group);
});

test("[A3] a signal that is aborted already starts nothing", async () => {
  const result = await run("touch started", { signal: AbortSignal.abort() });
  assert.deepEqual(result, { ...ended, output: "", endedBy: "abort" });
  assert.equal(fs.existsSync(join(folder, "started")), false);
});

test("[A3] the time limit ends the whole group", async () => {
  const result = await run("sleep 60 & echo $!; sleep 60", { timeoutMs: 150 });
  assert.deepEqual([result.endedBy, result.signalName, result.leftRunning], ["timeout", "SIGTERM", false]);
  await allEnded([Number(result.output)]);
});

test("[A3] what is left in the background does not hold up the command and lives on", async () => {
  const pidFile = join(folder, "background-pid");
  const ticks = join(folder, "ticks");
  const loop = `while :; do echo tick; echo tick >> ${ticks}; sleep 0.02; done`;
  const result = await run(`(${loop}) & echo $! > ${pidFile}; echo begun`);
  const pid = Number(fs.readFileSync(pidFile, "utf8"));
  try {
    assert.deepEqual([result.endedBy, result.exitCode, result.leftRunning], ["exit", 0, true]);
    assert.match(result.output, /^begun(\ntick)*$|^tick\nbegun/);
    // Still alive although nobody collects its output any more: its pipe is being read.
    const seen = fs.statSync(ticks).size;
    for (let tries = 0; fs.statSync(ticks).size < seen + 50 && tries < 500; tries++) await pause(10);
    assert.ok(fs.statSync(ticks).size >= seen + 50);
    assert.equal(isRunning(pid), true);
  } finally {
    process.kill(pid, "SIGKILL");
  }
});

test("[A3] updates show the end of the output so far, as it comes", async () => {
  const go = (n: number) => join(folder, `go-${n}`);
  const updates: string[] = [];
  const onOutput = (output: string): void => {
    updates.push(output);
    fs.writeFileSync(go(output.split("\n").length), "");
  };
  // Each line waits until the one before it was reported.
  const waitFor = (n: number) => `while [ ! -e ${go(n)} ]; do sleep 0.01; done`;
  await run(`echo 1; ${waitFor(1)}; echo 2; ${waitFor(2)}; echo 3; ${waitFor(3)}`, { onOutput });
  assert.deepEqual(updates, ["1", "1\n2", "1\n2\n3"]);
});

test("[A3] a flood of output is reported in bounded steps", async () => {
  const updates: number[] = [];
  await run("seq 1 200000", {
    onOutput: (output) => updates.push(output.split("\n").length),
    outputDir: join(folder, "flood"),
  });
  assert.ok(updates.every((lines) => lines <= 2000));
  assert.ok(updates.length < 200);
});

test("[A3] what cannot be started rejects with one sentence", async () => {
  await assert.rejects(run("true\0"), { message: "The command contains a NUL character, which no shell accepts." });
  await assert.rejects(run("true", { cwd: "/no/such/folder" }), {
    message: "The command was not run: the working directory /no/such/folder does not exist.",
  });
  await assert.rejects(run(`: ${"x".repeat(200_000)}`), {
    message: "The command could not be started: it is too long; put it in a file and run that.",
  });
});

test("[A3] a running command ends with the process that runs it", async () => {
  const pidFile = join(folder, `exit-${randomBytes(4).toString("hex")}`);
  const script = join(folder, "exit.mjs");
  const module = new URL("../../src/agent/run-command.ts", import.meta.url).href;
  fs.writeFileSync(
    script,
    `import { existsSync } from "node:fs";
import { runCommand } from ${JSON.stringify(module)};
void runCommand({ command: "echo $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; sleep 60", cwd: ${JSON.stringify(folder)} });
setInterval(() => { if (existsSync("${pidFile}")) process.exit(0); }, 10);`,
  );
  assert.deepEqual(await run(`${JSON.stringify(process.execPath)} ${script}`), { ...ended, output: "", exitCode: 0 });
  await allEnded([Number(fs.readFileSync(pidFile, "utf8"))]);
});

test("[A3, U4] a user's command that a signal ended says so by its exit code, as in a shell", async () => {
  const signal = new AbortController().signal;
  const message = await runUserCommand("echo out; kill -9 $$", { cwd: folder, signal, onOutput: () => undefined });
  assert.deepEqual(
    { ...message, timestamp: 0 },
    {
      role: "bashExecution",
      command: "echo out; kill -9 $$",
      output: "out",
      exitCode: 137,
      cancelled: false,
      truncated: false,
      timestamp: 0,
    },
  );
});
