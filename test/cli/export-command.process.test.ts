/** `bough export` as a program. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { EXPORT_HELP } from "../../src/cli/export-command.ts";
import { Place } from "../support/command.ts";
import { SECRETS } from "../support/secrets.ts";
import { HEADER, file, message, readSound } from "../support/session-lines.ts";

const TOKEN = SECRETS["github token"]!;
const says = (id: string, parentId: string | null, content: string): string =>
  message(id, parentId, { message: { role: "user", content, timestamp: 0 } });
const SESSION = file(HEADER, says("a", null, "first"), says("b", "a", `it is ${TOKEN}`), says("c", "a", "other"));

test("[E3] bough export writes Markdown without secrets, says what it masked where, and leaves the session alone", async () => {
  const place = new Place();
  const source = place.file("my 'own' session.jsonl", SESSION);
  const before = readFileSync(source);
  const { code, out, err } = await place.run(["export", source, 'to "them".md', "--branch", "b"]);
  const path = join(place.cwd, 'to "them".md');
  const text = readFileSync(path, "utf8");
  assert.deepEqual([code, out], [0, ""]);
  assert.deepEqual(err.replace(/\(\d+ bytes\)/, "(n bytes)").split("\n"), [
    `2 entries as Markdown in ${path} (n bytes).`,
    "1 secret is masked (1 × github token):",
    "  entry b, message.content: github token",
    "",
  ]);
  assert.match(text, /\n## 2\. it is \\\[redacted: github token\\\]\n\nit is \[redacted: github token\]\n/);
  assert.match(text, /\n_1 secret was masked in this export\._\n$/);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(readFileSync(source), before);
  const again = await place.run(["export", source, 'to "them".md']);
  assert.deepEqual(again, {
    code: 1,
    out: "",
    err: `bough: ${path} is there already; name another file, or replace it with --force.\n`,
  });
});

test("[E3] the page is what is written unless told otherwise, here and under the session's name", async () => {
  const place = new Place();
  const source = place.file("s.jsonl", SESSION);
  const { code, err } = await place.run(["export", source]);
  const path = join(place.cwd, "bough-session-s.html");
  assert.equal(code, 0, err);
  assert.match(err, /^3 entries as a page in .*bough-session-s\.html \(\d+ KB\)\.\n1 secret is masked/);
  const page = readFileSync(path, "utf8");
  assert.match(page, /^<!doctype html>/i);
  assert.ok(!page.includes(TOKEN));
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test("[E3, F4] standard output takes JSONL byte by byte, and Markdown", async () => {
  const place = new Place();
  const odd = Buffer.concat([Buffer.from(SESSION), Buffer.from([0x22, 0xff, 0xfe, 0x0a])]);
  const source = place.file("s.jsonl", odd);
  const script = '"$@" > copy.jsonl';
  const jsonl = await place.startInShell(script, ["export", source, "-", "--format", "jsonl"]).done;
  assert.equal(jsonl.code, 0, jsonl.err);
  assert.deepEqual(readFileSync(join(place.cwd, "copy.jsonl")), odd);
  assert.match(jsonl.err, /^3 entries as a session file \(\d+ bytes\)\.\nNothing was masked: /);
  const markdown = await place.run(["export", source, "-", "--hide-home"]);
  assert.match(markdown.out, /^# Session s1\n/);
});

test("[E3] keys of the environment and of settings are masked, and the home folder is ~ on request", async () => {
  const place = new Place();
  mkdirSync(place.stateDir, { recursive: true });
  writeFileSync(
    join(place.stateDir, "models.json"),
    JSON.stringify({ providers: { lab: { baseUrl: "http://x", apiKey: "lab key of mine 1", models: [{ id: "m" }] } } }),
  );
  const text = `cd ${place.home}/src; uses Z1-own-key-Z1 and lab key of mine 1`;
  const source = place.file("s.jsonl", file(HEADER, says("a", null, text)));
  const env = { MY_SERVICE_TOKEN: "Z1-own-key-Z1" };
  const { code, err } = await place.run(["export", source, "out.jsonl", "--redact", "--hide-home"], env);
  assert.equal(code, 0, err);
  const entry = readSound(readFileSync(join(place.cwd, "out.jsonl"))).index.get("a") as unknown as {
    message: { content: string };
  };
  assert.equal(
    entry.message.content,
    "cd ~/src; uses [redacted: MY_SERVICE_TOKEN] and [redacted: apiKey in models.json]",
  );
});

test("[E3] bough export says what is wrong with what it was asked", async () => {
  const place = new Place();
  const source = place.file("s.jsonl", SESSION);
  const help = await place.run(["export", "--help"]);
  assert.deepEqual(help, { code: 0, out: EXPORT_HELP, err: "" });
  const cases = [
    [["export"], 2, "Name a session file and perhaps where to write: bough export FILE [OUT]."],
    [["export", source, "a.md", "b.md"], 2, "Name a session file and perhaps where to write: bough export FILE [OUT]."],
    [["export", source, "--format", "pdf"], 2, 'There is no format "pdf"; choose one of html, md, jsonl.'],
    [["export", source, "--bogus"], 2, "Unknown option '--bogus'. See bough export --help."],
    [
      ["export", source, "x.md", "--from", "c", "--to", "b"],
      1,
      "Entry c is not on the path to b, so there is no range from one to the other.",
    ],
  ] as const;
  const results = await Promise.all(cases.map(([args]) => place.run(args)));
  cases.forEach(([, code, said], n) => assert.deepEqual(results[n], { code, out: "", err: `bough: ${said}\n` }));

  const missing = await place.run(["export", "none.jsonl", "x.md"]);
  assert.equal(missing.code, 1);
  assert.match(missing.err, /^bough: .*none\.jsonl/);
});
