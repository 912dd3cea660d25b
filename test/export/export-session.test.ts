/** What is exported, and to where. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { exportLine, wordsOf } from "../../src/export/export-arguments.ts";
import { exportedText, redactionLines } from "../../src/export/export-report.ts";
import { exportSession } from "../../src/export/export-session.ts";
import type { Exported, ExportRequest } from "../../src/export/export-session.ts";
import { RedactionReport } from "../../src/export/redaction.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { trackSession } from "../support/laws.ts";
import { SECRETS } from "../support/secrets.ts";
import { recordsIn, temporaryFile, temporaryFolder } from "../support/session-files.ts";
import { HEADER, at, chain, file, leafRecord, line, message, readSound } from "../support/session-lines.ts";

const FORKED = [
  HEADER,
  ...chain(null, "a", "b", "c"),
  line("of_another_program", "x", "c", { b: 1.0, spaced: "\u00e9" }).replace('"spaced":', '  "spaced" :'),
  ...chain("b", "d", "e"),
  line("label", "l1", "e", { targetId: "b", label: "fork" }),
  line("label", "l2", "l1", { targetId: "c", label: "left" }),
  message("f", "l2"),
  leafRecord("m", "x"),
];
const WHOLE = `${file(...FORKED)}this is no JSON\n`;

async function exportOf(
  content: string,
  request: ExportRequest,
): Promise<Exported & { folder: string; content: string }> {
  const folder = temporaryFolder();
  const source = temporaryFile(content, "my session.jsonl");
  const done = await exportSession(source, request, { cwd: folder, home: "/home/sam", secrets: () => [] });
  assert.equal(readFileSync(source, "utf8"), content, "the session is as before");
  return { ...done, folder, content: readFileSync(done.path!, "utf8") };
}

const refusal = async (content: string, request: ExportRequest): Promise<string> =>
  exportOf(content, request).then(
    () => assert.fail("it was not refused"),
    (error: Error) => error.message,
  );

test("[E3, F4] all of a session as JSONL is the very bytes, bad lines and foreign records too", async () => {
  const { content, path, folder, bytes, entries, redaction } = await exportOf(WHOLE, { format: "jsonl" });
  assert.equal(content, WHOLE);
  assert.deepEqual(
    { path, bytes, entries, redaction },
    {
      path: join(folder, "bough-session-my session.jsonl"),
      bytes: Buffer.byteLength(WHOLE),
      entries: 9,
      redaction: undefined,
    },
  );
  assert.equal(statSync(path!).mode & 0o777, 0o600);
});

test("[E3, F4] a branch as JSONL is a session that opens: kept lines as they were, labels anew, the source as parent", async (t) => {
  const { path, entries } = await exportOf(WHOLE, { format: "jsonl", branch: "f" });
  const records = recordsIn(path!) as Record<string, unknown>[];
  assert.equal(entries, 7);
  assert.deepEqual(
    records.map(({ type, id, parentId }) => (type === "session" ? type : [type, id, parentId])).slice(0, 6),
    [
      "session",
      ["message", "a", null],
      ["message", "b", "a"],
      ["message", "d", "b"],
      ["message", "e", "d"],
      ["message", "f", "e"],
    ],
  );
  assert.match(String(records[0]!["parentSession"]), /my session\.jsonl$/);
  assert.deepEqual([records[6]!["targetId"], records[6]!["label"], records.length], ["b", "fork", 7]);
  const kept = readFileSync(path!, "utf8").split("\n").slice(1, 5);
  assert.deepEqual(kept, [FORKED[1], FORKED[2], FORKED[5], FORKED[6]]);
  const session = trackSession(t, await SessionManager.open(path!));
  assert.deepEqual(
    session
      .getBranch()
      .map(({ id }) => id)
      .slice(0, 5),
    ["a", "b", "d", "e", "f"],
  );
});

test("[E3, F4] a range begins and ends where it is told, by default where the session stands", async () => {
  const ids = async (request: ExportRequest): Promise<unknown[]> =>
    (recordsIn((await exportOf(file(...FORKED), { format: "jsonl", ...request })).path!) as Record<string, unknown>[])
      .filter(({ type }) => type === "message" || type === "of_another_program")
      .map(({ id, parentId }) => [id, parentId]);
  assert.deepEqual(await ids({ from: "b", to: "e" }), [
    ["b", null],
    ["d", "b"],
    ["e", "d"],
  ]);
  assert.deepEqual(await ids({ from: "b" }), [
    ["b", null],
    ["c", "b"],
    ["x", "c"],
  ]);
  assert.deepEqual(await ids({ to: "d" }), [
    ["a", null],
    ["b", "a"],
    ["d", "b"],
  ]);
  assert.deepEqual(await ids({ from: "d", to: "d" }), [["d", null]]);
});

test("[E3] a line of a foreign kind keeps its bytes in a branch that holds it", async () => {
  const { content } = await exportOf(file(...FORKED), { format: "jsonl", branch: "x" });
  assert.ok(content.split("\n").includes(FORKED[4]!));
});

test("[E3] what cannot be exported is said with its ids, and nothing is written", async () => {
  const whole = file(...FORKED);
  const cases: [ExportRequest, string][] = [
    [{ branch: "zz" }, "There is no entry zz in this session; bough tree FILE --json shows their ids."],
    [{ from: "e", to: "c" }, "Entry e is not on the path to c, so there is no range from one to the other."],
    [{ from: "d" }, "Entry d is not on the path to x, so there is no range from one to the other."],
    [{ branch: "c", to: "d" }, "Use one of --branch and --from or --to, not both together."],
    [{ out: "-", format: "html" }, "A page is written to a file; standard output takes md or jsonl."],
    [{ out: "-" }, 'There is no standard output here; name a file instead of "-".'],
  ];
  for (const [request, text] of cases) assert.equal(await refusal(whole, request), text);
  assert.match(await refusal(whole, { out: "none/x.md" }), /^There is no folder .*\/none; make it first\.$/);
  assert.match(await refusal(whole, { out: "none/" }), /^There is no folder .*\/none; make it first\.$/);
  assert.match(await refusal("", {}), /is empty/);
  assert.match(await refusal("no session\n", {}), /not a session file/);
});

test("[E3] a file that is there stays unless --force says otherwise, and the session itself stays in any case", async () => {
  const folder = temporaryFolder();
  const source = join(folder, "s.jsonl");
  writeFileSync(source, file(...FORKED));
  writeFileSync(join(folder, "there.md"), "mine");
  const host = { cwd: folder, home: "/h", secrets: () => [] };
  await assert.rejects(exportSession(source, { out: "there.md" }, host), {
    message: `${join(folder, "there.md")} is there already; name another file, or replace it with --force.`,
  });
  assert.equal(readFileSync(join(folder, "there.md"), "utf8"), "mine");
  await exportSession("s.jsonl", { out: "there.md", force: true }, host);
  assert.match(readFileSync(join(folder, "there.md"), "utf8"), /^# Session s1/);
  await assert.rejects(exportSession(source, { out: "s.jsonl", force: true }, host), {
    message: `${source} is the session itself; name another file.`,
  });
  mkdirSync(join(folder, "sub folder"));
  const { path } = await exportSession(source, { out: "sub folder", format: "md" }, host);
  assert.equal(path, join(folder, "sub folder", "bough-session-s.md"));
  assert.deepEqual(readdirSync(folder).sort(), ["s.jsonl", "sub folder", "there.md"]);
});

test("[E3] --force replaces no device, pipe or socket", async (t) => {
  const folder = temporaryFolder();
  const source = temporaryFile(file(...FORKED));
  const path = join(folder, "socket");
  const server = createServer().listen(path);
  t.after(() => server.close());
  await once(server, "listening");
  await assert.rejects(
    exportSession(source, { out: path, force: true }, { cwd: folder, home: "/h", secrets: () => [] }),
    {
      message: `${path} is not a regular file and is not replaced; name another file.`,
    },
  );
  assert.ok(statSync(path).isSocket());
});

test("[E3] the format is what the name ends in, or what was asked for", async () => {
  for (const [request, format, name] of [
    [{ out: "a.MD" }, "md", "a.MD"],
    [{ out: 'my "notes".markdown' }, "md", 'my "notes".markdown'],
    [{ out: "b.jsonl" }, "jsonl", "b.jsonl"],
    [{ out: "c.txt", format: "md" }, "md", "c.txt"],
    [{ format: "md" }, "md", "bough-session-my session.md"],
  ] as const) {
    const done = await exportOf(file(...FORKED), request);
    assert.deepEqual([done.format, done.path], [format, join(done.folder, name)]);
  }
});

test("[E3] a masked session as JSONL opens with the same tree, labels and place", async () => {
  const lines = FORKED.map((text) => text.replace('"content":"d"', `"content":"${SECRETS["github token"]!}"`));
  const { content, redaction } = await exportOf(file(...lines), { format: "jsonl", redact: true });
  const [before, after] = [readSound(file(...lines)).index, readSound(content).index];
  const tree = (index: typeof before): unknown => ({
    entries: index.entries().map((entry, n) => [entry.id, entry.parentId, index.kindAt(n), index.timeAt(n)]),
    labels: [...index.labels()],
    leaf: index.leafId,
  });
  assert.deepEqual(tree(after), tree(before));
  const damaged = await exportOf(WHOLE, { format: "jsonl", redact: true });
  assert.deepEqual([damaged.linesLeftOut, damaged.content.includes("no JSON")], [1, false]);
  assert.deepEqual(redaction!.places, [{ entryId: "d", field: "message.content", kind: "github token", count: 1 }]);
  assert.deepEqual(after.get("d"), {
    type: "message",
    id: "d",
    parentId: "b",
    timestamp: at(0),
    message: { role: "user", content: "[redacted: github token]", timestamp: 0 },
  });
});

test("[E3] a masked branch as JSONL names each place once", async () => {
  const token = SECRETS["github token"]!;
  const lines = [HEADER.replace('"/w"', `"/w/${token}"`), message("a", null), message("b", "a", { note: token })];
  const { content, redaction } = await exportOf(file(...lines), { format: "jsonl", branch: "b", redact: true });
  assert.ok(!content.includes(token));
  assert.deepEqual(redaction!.places, [
    { entryId: undefined, field: "cwd", kind: "github token", count: 1 },
    { entryId: "b", field: "note", kind: "github token", count: 1 },
  ]);
});

test("[E3] a session of version 1 is exported whole with its own bytes, masked in the newest shape", async () => {
  const old = file(
    '{"type":"session","id":"old","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/w"}',
    '{"type":"message","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"hi","timestamp":0}}',
  );
  assert.equal((await exportOf(old, { format: "jsonl" })).content, old);
  const { header, index } = readSound((await exportOf(old, { format: "jsonl", redact: true })).content);
  assert.deepEqual([header.version, header.id, index.size], [3, "old", 1]);
});

test("[E3] JSONL without images has a note in the place of each, and its other lines as they were", async () => {
  const image = { type: "image", data: "iVBORw0KGgoAAAA=", mimeType: "image/png" };
  const withImage = message("b", "a", { message: { role: "user", content: [image, { type: "text", text: "t" }] } });
  const mention = message("c", "b", { message: { role: "fileMention", files: [{ path: "p.png", image }] } });
  const { content } = await exportOf(`${file(HEADER, message("a", null), withImage, mention)}bad\n`, {
    format: "jsonl",
    images: false,
  });
  const lines = content.split("\n");
  assert.deepEqual([lines[0], lines[1], lines[4], lines[5]], [HEADER, message("a", null), "bad", ""]);
  const { index } = readSound(content);
  const body = (id: string): unknown => (index.get(id) as unknown as { message: unknown }).message;
  assert.deepEqual(body("b"), {
    role: "user",
    content: [
      { type: "text", text: "(an image was left out of this export)" },
      { type: "text", text: "t" },
    ],
  });
  assert.deepEqual(body("c"), { role: "fileMention", files: [{ path: "p.png" }] });
});

test("[E3, W5] a session that is being written elsewhere is exported all the same", async (t) => {
  const folder = temporaryFolder();
  const session = trackSession(t, SessionManager.create(folder, folder));
  session.appendMessage({ role: "user", content: "hello", timestamp: 0 });
  const host = { cwd: folder, home: "/h", secrets: () => [] };
  const done = await exportSession(session.getSessionFile()!, { out: "x.jsonl" }, host);
  assert.equal(readFileSync(done.path!, "utf8"), readFileSync(session.getSessionFile()!, "utf8"));
});

test("[E3] an export that fails on its way leaves nothing behind", async () => {
  const folder = temporaryFolder();
  const source = temporaryFile(file(...FORKED));
  const secrets = (): never => {
    throw new Error("no luck");
  };
  await assert.rejects(exportSession(source, { out: "x.md" }, { cwd: folder, home: "/h", secrets }), /no luck/);
  assert.deepEqual(readdirSync(folder), []);
  assert.ok(existsSync(source));
});

test("[E3] an export that is stopped leaves nothing behind", async () => {
  const folder = temporaryFolder();
  const source = temporaryFile(file(...FORKED));
  const host = { cwd: folder, home: "/h", secrets: () => [], signal: AbortSignal.abort() };
  for (const out of ["x.md", "x.jsonl", "x.html"])
    await assert.rejects(exportSession(source, { out }, host), { name: "AbortError" });
  assert.deepEqual(readdirSync(folder), []);
});

test("[E3] the options of /export are those of the command, and quotes keep spaces together", () => {
  assert.deepEqual(wordsOf(` a "b c" d\\ e 'f "g' h""i \\\\ C:\\x `), ["a", "b c", "d e", 'f "g', "hi", "\\", "C:\\x"]);
  const { out, branch, format, images, redact, hideHome, force } = exportLine(
    '"my notes.md" --branch ab --no-images --no-redact --hide-home',
  );
  assert.deepEqual(
    { out, branch, format, images, redact, hideHome, force },
    {
      out: "my notes.md",
      branch: "ab",
      format: undefined,
      images: false,
      redact: false,
      hideHome: true,
      force: undefined,
    },
  );
  for (const [text, said] of [
    ["a b", "Name one file; put a name with spaces in quotes."],
    ['"a', 'A quotation mark is missing its other one: "'],
    ["--format pdf", 'There is no format "pdf"; choose one of html, md, jsonl.'],
    ["--redact --no-redact", "Use one of --redact and --no-redact, not both together."],
    ["--bogus", "Unknown option '--bogus'."],
  ] as const)
    assert.throws(() => exportLine(text), { message: said });
});

test("[E3] what is told of an export", () => {
  const report = new RedactionReport();
  report.add(undefined, "cwd", ["slack token"]);
  report.add("a1", "message.content", ["slack token", "slack token", "password"]);
  const done: Exported = {
    path: "/x/y.html",
    format: "html",
    entries: 1204,
    bytes: 3_149_000,
    imagesLeftOut: 1,
    linesLeftOut: 2,
    redaction: report,
  };
  assert.equal(
    exportedText(done),
    "1,204 entries as a page in /x/y.html (3.1 MB). 1 image is left out. 2 damaged lines are left out.",
  );
  assert.deepEqual(redactionLines(report, 2), [
    "4 secrets are masked (3 × slack token, 1 × password):",
    "  header, cwd: slack token",
    "  entry a1, message.content: slack token × 2",
    "  and 1 more place",
  ]);
  assert.deepEqual(redactionLines(new RedactionReport(), 2), ["No secrets were found."]);
  assert.deepEqual(redactionLines(undefined, 2), [
    "Nothing was masked: keys and passwords are in it as they stand in the session.",
  ]);
});
