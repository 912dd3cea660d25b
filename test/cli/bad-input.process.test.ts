/** Bad session files by every way in: one plain sentence with the path, a non-zero exit, no byte changed, nothing made. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Place, connectedTo } from "../support/command.ts";
import { say, startProvider } from "../support/provider-mock.ts";
import { HEADER, file } from "../support/session-lines.ts";

/** 1 × 1, with an alpha channel. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** Every way to name a file, none of which may need a model. */
const waysTo = (path: string, flags: readonly string[]): string[][] => [
  ["-p", "hi", "--session", path, ...flags],
  ["-p", "hi", "--fork", path, ...flags],
  ["-p", "hi", "-r", path, ...flags],
  ["--mode", "json", "hi", "--session", path, ...flags],
  ["tree", path],
  ["doctor", path],
];

/** All ways end in one of two: a session to work in, and a file to look at. */
const twoWaysTo = (path: string, flags: readonly string[]): string[][] => [
  ["-p", "hi", "--session", path, ...flags],
  ["doctor", path],
];

/** Tries ways to a file, by default all, and expects one error and no change. */
async function refused(place: Place, path: string, sentence: string, ways = waysTo): Promise<void> {
  const server = await startProvider(say("never"));
  try {
    const before = place.picture();
    const results = await Promise.all(ways(path, connectedTo(server)).map((args) => place.run(args)));
    for (const result of results) assert.deepEqual(result, { code: 1, out: "", err: `bough: ${sentence}\n` });
    assert.deepEqual(place.picture(), before);
    assert.equal(server.requests.length, 0);
  } finally {
    await server.close();
  }
}

test("[F7] dB07 a missing path: every way in refuses it and nothing is made anywhere", async () => {
  const place = new Place();
  const path = join(place.cwd, "nope.jsonl");
  await refused(place, "./nope.jsonl", `There is no session file at ${path}; check the path.`);
});

test("[F7] dB06 what is no session: a log of other events", async () => {
  const place = new Place();
  const path = place.file("events.jsonl", '{"type":"event","data":"x"}\n{"type":"event","data":"y"}\n');
  await refused(
    place,
    path,
    `${path} cannot be opened (line 1: it is not a session file: its first record is of type "event", not "session"); nothing was changed.`,
  );
});

test("[F7] dB06 what is no session: an image", async () => {
  const place = new Place();
  const path = place.file("picture.png", PNG);
  await refused(
    place,
    path,
    `${path} cannot be opened (line 1: it is not a session file: its first line is not JSON); nothing was changed.`,
    twoWaysTo,
  );
});

test("[F7] dB08 zero bytes are empty, not corrupt", async () => {
  const place = new Place();
  const path = place.file("empty.jsonl", "");
  await refused(place, path, `${path} is empty: it holds no session; nothing was changed.`, twoWaysTo);
});

test("[F7] a header that was cut off", async () => {
  const place = new Place();
  const path = place.file("cut.jsonl", HEADER.slice(0, 50));
  await refused(
    place,
    path,
    `${path} cannot be opened (line 1: it is not a session file: its first line is not JSON); nothing was changed.`,
    twoWaysTo,
  );
});

test("[F7] a folder instead of a file", async () => {
  const place = new Place();
  const path = join(place.cwd, "folder.jsonl");
  mkdirSync(path);
  // To the doctor a folder is the session files in it.
  const ways = (...args: Parameters<typeof waysTo>): string[][] => waysTo(...args).filter(([way]) => way !== "doctor");
  await refused(place, path, `${path} is not a regular file, so it cannot be a session.`, ways);
});

test("[F7] a pipe is not waited for, a link in a circle is not followed", async () => {
  const place = new Place();
  const pipe = join(place.cwd, "pipe.jsonl");
  execFileSync("mkfifo", [pipe]);
  const circle = join(place.cwd, "circle.jsonl");
  symlinkSync(circle, circle);
  assert.deepEqual(await place.run(["tree", pipe]), {
    code: 1,
    out: "",
    err: `bough: ${pipe} is not a regular file, so it cannot be a session.\n`,
  });
  for (const args of [
    ["doctor", circle],
    ["doctor", circle, "--repair"],
  ])
    assert.deepEqual(await place.run(args), {
      code: 1,
      out: "",
      err: `bough: Cannot open ${circle}: it is a link that leads nowhere or in a circle (ELOOP).\n`,
    });
});

test(
  "[F7] a file that may not be read",
  { skip: process.getuid?.() === 0 && "the superuser may read everything" },
  async () => {
    const place = new Place();
    const path = place.file("secret.jsonl", file(HEADER));
    chmodSync(path, 0);
    const result = await place.run(["tree", path]);
    assert.deepEqual(result, {
      code: 1,
      out: "",
      err: `bough: Cannot open ${path}: permission denied (EACCES).\n`,
    });
  },
);

test("[U5, F7] what a file says about itself cannot drive the terminal through an error", async () => {
  const place = new Place();
  const path = place.file("evil.jsonl", '{"type":"\\u001b]0;owned\\u0007\\u009b2J\\u202e"}\n');
  const { code, err } = await place.run(["tree", path]);
  assert.equal(code, 1);
  assert.doesNotMatch(err, /[^\P{Cc}\n]|\p{Cf}/u);
});

test("[R1] wrong usage of every command is exit code 2", async () => {
  const place = new Place();
  const results = await Promise.all(
    [["-p", "hi", "--nope"], ["tree"], ["doctor", "--nope"], ["-p", "-r"]].map((args) => place.run(args)),
  );
  assert.deepEqual(results, [
    { code: 2, out: "", err: "bough: Unknown option '--nope'. See bough --help.\n" },
    { code: 2, out: "", err: "bough: Name one session file: bough tree FILE.\n" },
    { code: 2, out: "", err: "bough: Unknown option '--nope'. See bough doctor --help.\n" },
    { code: 2, out: "", err: 'bough: There is no prompt: bough -p "…", or write one to standard input.\n' },
  ]);
});

test("[R1] an error shows its place in the code with BOUGH_DEBUG alone", async () => {
  const place = new Place();
  writeFileSync(join(place.cwd, "x.jsonl"), "");
  const plain = await place.run(["tree", "x.jsonl"]);
  const debugged = await place.run(["tree", "x.jsonl"], { BOUGH_DEBUG: "1" });
  assert.equal(plain.err.split("\n").length, 2);
  assert.ok(debugged.err.startsWith(plain.err));
  assert.match(debugged.err.slice(plain.err.length), /^SessionFileError: .*\n {4}at /);
});
