/** `bough stats`: whole reports, their JSON, exit codes, progress. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { reportFailure } from "../../src/cli/report.ts";
import { STATS_HELP, runStatsCommand } from "../../src/cli/stats-command.ts";
import { temporaryFolder } from "../support/session-files.ts";
import { HEADER, file, line, message } from "../support/session-lines.ts";

async function stats(...args: string[]) {
  const output = { out: "", err: "" };
  const io = {
    out: (text: string) => void (output.out += text),
    err: (text: string) => void (output.err += text),
    isWatched: args.includes("watched"),
  };
  const given = args.filter((arg) => arg !== "watched");
  const code = await runStatsCommand(given, io).catch((error: unknown) => reportFailure(io, error));
  return { code, ...output };
}

const usage = (tokens: number): object => ({
  input: tokens,
  output: 10,
  cacheRead: 1000,
  cacheWrite: 0,
  totalTokens: tokens + 1010,
  cost: { total: tokens / 100 },
});
const answer = (id: string, parentId: string | null, tokens: number, model = "m"): string =>
  line("message", id, parentId, {
    message: { role: "assistant", content: [], provider: "p", model, usage: usage(tokens), timestamp: 1 },
  });
const header = (id: string, day: number): string =>
  HEADER.replace('"s1"', JSON.stringify(id)).replace("2026-01-01", `2026-01-0${day}`);

const FORKED = [
  message("u1", null),
  answer("a1", "u1", 100),
  message("u2", "a1"),
  answer("a2", "u2", 1200),
  answer("b2", "a1", 50, "small"),
  line("label", "l", "b2", { targetId: "b2", label: "cheap \u001b[31m" }),
  line("session_info", "n", "l", { name: "Quotes", source: "user" }),
];

test("[D5] one session: whole, by model and branch by branch; what is on it cannot drive the terminal", async () => {
  const path = join(temporaryFolder(), "s.jsonl");
  writeFileSync(path, file(header("s1", 1), ...FORKED, "{oops"));
  const before = readFileSync(path);
  assert.deepEqual(await stats(path), {
    code: 0,
    out: `Quotes: 7 entries, 3 answers, $13.5000

   spent     in  cached  to cache  out  model
$13.0000  1,300   2,000         0   20  p/m
 $0.5000     50   1,000         0   10  p/small

  branch       own  entries  tip  parts at
$13.0000  $12.0000        4   a2        a1
 $1.5000   $0.5000        3   b2        a1  current [cheap ]
1 problem in the file: bough doctor ${path} names them
`,
    err: "",
  });
  const { out } = await stats(path, "--json");
  const sums = (input: number, output: number, cacheRead: number, cost: number): object => ({
    input,
    output,
    cacheRead,
    cacheWrite: 0,
    totalTokens: input + output + cacheRead,
    cost,
  });
  assert.deepEqual(JSON.parse(out), {
    path,
    id: "s1",
    name: "Quotes",
    entries: 7,
    answers: 3,
    branches: [
      {
        tipId: "a2",
        forkId: "a1",
        active: false,
        entries: 4,
        path: sums(1300, 20, 2000, 13),
        own: sums(1200, 10, 1000, 12),
      },
      {
        tipId: "b2",
        forkId: "a1",
        label: "cheap \u001b[31m",
        active: true,
        entries: 3,
        path: sums(150, 20, 2000, 1.5),
        own: sums(50, 10, 1000, 0.5),
      },
    ],
    problems: 1,
    total: sums(1350, 30, 3000, 13.5),
    byModel: { "p/m": sums(1300, 20, 2000, 13), "p/small": sums(50, 10, 1000, 0.5) },
  });
  assert.deepEqual(readFileSync(path), before);
});

test("[D5] dB56 a folder: a fork's copies count once, damaged files are named, exit code 1", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "below"));
  const put = (name: string, ...lines: string[]): string => {
    const path = join(folder, name);
    writeFileSync(path, file(...lines));
    return path;
  };
  put("fork.jsonl", header("s2", 2), ...FORKED.slice(0, 4), answer("c", "a2", 300));
  const parent = put("below/parent.jsonl", header("s1", 1), ...FORKED.slice(0, 4));
  put("talk.jsonl", header("s3", 3), message("u", null));
  const bad = put("bad.jsonl", "nothing");
  const { code, out, err } = await stats(folder);
  assert.deepEqual([code, err], [1, ""]);
  const [reason = "", ...rest] = out.trimEnd().split("\n").reverse();
  assert.ok(reason.startsWith(`${bad}: not counted: ${bad} `), reason);
  assert.equal(
    rest.reverse().join("\n"),
    `4 sessions, 3 answers, $16.0000

   spent     in  cached  to cache  out  model
$16.0000  1,600   3,000         0   30  p/m

   spent    copied  answers  tokens       begun  session
$13.0000   $0.0000        2   3,320  2026-01-01  ${parent}
 $3.0000  $13.0000        1   1,310  2026-01-02  ${join(folder, "fork.jsonl")}
and 1 session more`,
  );
  const json = JSON.parse((await stats(folder, "--json")).out);
  assert.deepEqual(
    [json.files, json.answers, json.total.cost, json.sessions.length, json.unread.length],
    [4, 3, 16, 3, 1],
  );
  assert.deepEqual(
    json.sessions.map((session: Record<string, unknown>) => [session["id"], session["answers"]]),
    [
      ["s1", 2],
      ["s2", 1],
      ["s3", 0],
    ],
  );
});

test("[D5] a long count says how far it is to who watches, and to nobody else", async () => {
  const folder = temporaryFolder();
  for (let n = 0; n < 120; n++) writeFileSync(join(folder, `${n}.jsonl`), file(header(`s${n}`, 1), message("u", null)));
  assert.deepEqual(await stats(folder), { code: 0, out: "120 sessions, 0 answers, $0.0000\n", err: "" });
  assert.equal((await stats(folder, "watched")).err, "\r50 of 120 sessions\r100 of 120 sessions\r\u001b[K");
});

test("[D5] help, wrong usage, and no such session", async () => {
  assert.deepEqual(await stats("--help"), { code: 0, out: STATS_HELP, err: "" });
  assert.deepEqual(await stats("a", "b"), {
    code: 2,
    out: "",
    err: "bough: Name one session file or folder: bough stats FILE.\n",
  });
  assert.deepEqual(await stats("a", "--all"), {
    code: 2,
    out: "",
    err: "bough: Use one of --all and a path, not both together.\n",
  });
  const missing = await stats(join(temporaryFolder(), "no.jsonl"));
  assert.deepEqual([missing.code, missing.out], [1, ""]);
  assert.match(missing.err, /^bough: There is no session file at /);
});
