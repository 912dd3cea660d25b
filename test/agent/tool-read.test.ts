/**
 * The read tool on real files.
 */
import assert from "node:assert/strict";
import { mkdirSync, openSync, symlinkSync, truncateSync, writeFileSync, writeSync, closeSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readTool } from "../../src/agent/tools/read.ts";
import { temporaryFolder } from "../support/session-files.ts";
import { callTool } from "../support/tool-call.ts";

/** A folder with these files, and its read tool. */
function setUp(files: Record<string, string | Uint8Array>) {
  const cwd = temporaryFolder();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(cwd, name), content);
  const tool = readTool(cwd);
  return { cwd, read: (args: object, signal?: AbortSignal) => callTool(tool, args, signal ? { signal } : {}) };
}

const lines = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`).join("\n");

test("[A2] a short file is shown whole, without a word added", async () => {
  const { cwd, read } = setUp({ "a.txt": "one\ntwo\n" });
  assert.deepEqual(await read({ path: "a.txt" }), {
    text: "one\ntwo",
    isError: false,
    details: { path: join(cwd, "a.txt"), firstLine: 1, lastLine: 2, totalLines: 2, truncated: false },
    content: [{ type: "text", text: "one\ntwo" }],
  });
  assert.equal((await read({ path: join(cwd, "a.txt") })).text, "one\ntwo");
  assert.equal((await read({ path: "@a.txt" })).text, "one\ntwo");
});

test("[A2] a leading @ belongs to the name when such a file exists", async () => {
  const { read } = setUp({ "@a.txt": "with", "a.txt": "without" });
  assert.equal((await read({ path: "@a.txt" })).text, "with");
});

test("[A1, A2] a long file is shown up to 2,000 lines and says how to go on; that leads to its end", async () => {
  const { read } = setUp({ "a.txt": `${lines(1, 4500)}\n` });
  const first = await read({ path: "a.txt" });
  assert.equal(first.text, `${lines(1, 2000)}\n\n[Lines 1-2000 of 4,500; continue with offset=2001.]`);
  assert.equal(
    (await read({ path: "a.txt", offset: 2001 })).text,
    `${lines(2001, 4000)}\n\n[Lines 2001-4000 of 4,500; continue with offset=4001.]`,
  );
  assert.equal((await read({ path: "a.txt", offset: 4001 })).text, lines(4001, 4500));
  assert.equal(
    (await read({ path: "a.txt", offset: 10, limit: 2 })).text,
    `${lines(10, 11)}\n\n[Lines 10-11 of 4,500; continue with offset=12.]`,
  );
  assert.equal((await read({ path: "a.txt", offset: 0, limit: 9999 })).text, first.text);
});

test("[A1, A2] 50 KB are the limit when lines are long", async () => {
  const line = "x".repeat(1023);
  const { read } = setUp({ "a.txt": `${line}\n`.repeat(60) });
  const { text, details } = await read({ path: "a.txt" });
  assert.equal(text, `${Array(50).fill(line).join("\n")}\n\n[Lines 1-50 of 60; continue with offset=51.]`);
  assert.deepEqual((details as { lastLine: number }).lastLine, 50);
});

test("[A1, A2] an overlong line is cut between characters and said to be", async () => {
  const { read } = setUp({ "a.txt": `${"ä".repeat(7999)}😀tail\nnext\n`, "b.txt": "z".repeat(3_000_000) });
  assert.equal(
    (await read({ path: "a.txt" })).text,
    `${"ä".repeat(7999)}…\nnext\n\n[1 line is cut after 8,000 characters; use bash (sed, cut) for the rest.]`,
  );
  assert.equal(
    (await read({ path: "b.txt" })).text,
    `${"z".repeat(8000)}…\n\n[1 line is cut after 8,000 characters; use bash (sed, cut) for the rest.]`,
  );
});

test("[A2] of a file of 3 GB only what is shown is kept, and the lines behind it are not counted", async () => {
  const { cwd, read } = setUp({});
  const path = join(cwd, "big.txt");
  const fd = openSync(path, "w");
  writeSync(fd, `${lines(1, 3000)}\n`);
  closeSync(fd);
  // A sparse file: the rest reads as NULs, none of which is looked at beyond the counting limit.
  truncateSync(path, 3 * 1024 ** 3);
  const before = process.memoryUsage().arrayBuffers;
  const { text } = await read({ path: "big.txt", limit: 3 });
  assert.equal(text, `${lines(1, 3)}\n\n[Lines 1-3 of more; continue with offset=4.]`);
  assert.ok(process.memoryUsage().arrayBuffers - before < 64 * 1024 * 1024);
});

test("[A2] offset past the end, empty file", async () => {
  const { read } = setUp({ "a.txt": "one\ntwo", "empty.txt": "" });
  assert.deepEqual(
    [
      await read({ path: "a.txt", offset: 3 }),
      await read({ path: "empty.txt" }),
      await read({ path: "empty.txt", offset: 5 }),
    ].map(({ text, isError }) => [text, isError]),
    [
      ["Line 3 is past the end of a.txt, which has 2 lines.", true],
      ["[empty.txt is empty.]", false],
      ["[empty.txt is empty.]", false],
    ],
  );
});

test("[A2] BOM and carriage returns are not shown; line ends are named", async () => {
  const { read } = setUp({ "a.txt": "\ufeffone\r\ntwo\r\n", "b.txt": "one\r\ntwo\nthree\rfour" });
  assert.equal((await read({ path: "a.txt" })).text, "one\ntwo\n\n[The lines end in CRLF; edit keeps that.]");
  assert.equal(
    (await read({ path: "b.txt" })).text,
    "one\ntwo\nthree\rfour\n\n[Some lines end in CRLF; edit keeps that.]",
  );
});

test("[A2] UTF-16 with a byte order mark is text, broken UTF-8 is shown as far as it goes", async () => {
  const { read } = setUp({
    "le.txt": Buffer.from("\ufeffhällo\nwörld\n", "utf16le"),
    "be.txt": Buffer.from("\ufeffhällo\n", "utf16le").swap16(),
    "latin.txt": Buffer.from("gr\xfc\xdfe\n", "latin1"),
  });
  assert.equal((await read({ path: "le.txt" })).text, "hällo\nwörld\n\n[le.txt is UTF-16LE.]");
  assert.equal((await read({ path: "be.txt" })).text, "hällo\n\n[be.txt is UTF-16BE.]");
  assert.equal((await read({ path: "latin.txt" })).text, "gr\ufffd\ufffde");
});

test("[A2] a character on the border of two chunks stays whole", async () => {
  const { read } = setUp({ "a.txt": `${"x".repeat(256 * 1024 - 2)}\n😀 ok\n` });
  assert.equal((await read({ path: "a.txt", offset: 2 })).text, "😀 ok");
});

test("[A2] images are told by their bytes, not their name, and come as images", async () => {
  const starts: [name: string, mimeType: string, bytes: Buffer][] = [
    ["a.txt", "image/png", Buffer.from("\x89PNG\r\n\x1a\nrest", "latin1")],
    ["b", "image/jpeg", Buffer.from("\xff\xd8\xff\xe0rest", "latin1")],
    ["c.png", "image/gif", Buffer.from("GIF89arest")],
    ["d", "image/webp", Buffer.from("RIFF\0\0\0\0WEBPrest", "latin1")],
  ];
  const { cwd, read } = setUp(Object.fromEntries(starts.map(([name, , bytes]) => [name, bytes])));
  for (const [name, mimeType, bytes] of starts) {
    const { content, details } = await read({ path: name });
    assert.deepEqual(content, [
      { type: "text", text: `${name} is an image (${mimeType}, ${bytes.length} bytes):` },
      { type: "image", data: bytes.toString("base64"), mimeType },
    ]);
    assert.deepEqual(details, { path: join(cwd, name), mimeType });
  }
});

test("[A2] what cannot be shown is refused in one sentence", async () => {
  const { cwd, read } = setUp({
    "large.png": Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(4 * 1024 * 1024)]),
    "program.bin": Buffer.from("\x7fELF\x02\x01\0\0\0rest", "latin1"),
    "readme.md": "x",
    "Readme.txt": "x",
  });
  mkdirSync(join(cwd, "src"));
  symlinkSync("nowhere", join(cwd, "link"));
  const said = async (path: string) => {
    const { text, isError } = await read({ path });
    assert.equal(isError, true);
    return text;
  };
  assert.equal(
    await said("large.png"),
    "large.png is an image (image/png) of 4.0 MB; the limit is 3.8 MB, so make a smaller copy with bash and read that.",
  );
  assert.equal(
    await said("program.bin"),
    "program.bin is a binary file (13 bytes), so its content is not shown; use bash with a program that knows the format.",
  );
  assert.equal(await said("src"), "src is a directory; use ls to see what is in it.");
  assert.equal(await said("README.md"), "README.md does not exist. Did you mean readme.md, Readme.txt?");
  assert.equal(await said("no/where"), "no/where does not exist. Use find or ls to look.");
  assert.equal(await said("/nowhere/x"), "/nowhere/x does not exist. Use find or ls to look.");
  assert.equal(await said("link"), "link is a link to nowhere, which does not exist.");
  assert.equal(await said("readme.md/x"), "readme.md/x cannot be read: a part of the path is not a folder (ENOTDIR).");
  assert.equal(
    await said("/dev/null"),
    "/dev/null is not a regular file (a pipe, socket or device), so it was left alone.",
  );
  assert.equal(await said("a\0b"), "The path cannot be used: it contains a NUL character.");
  assert.equal(
    await said("~/no-such-file-of-bough"),
    `${join(homedir(), "no-such-file-of-bough")} does not exist. Use find or ls to look.`,
  );
});

test("[A2] an aborted read says so", async () => {
  const { cwd } = setUp({ "a.txt": "one" });
  const tool = readTool(cwd);
  await assert.rejects(tool.execute("1", { path: "a.txt" }, AbortSignal.abort()), { message: "The call was aborted." });
});

test("[A2] wrong arguments are named", async () => {
  const { read } = setUp({});
  const { text, isError } = await read({ file: "a.txt" });
  assert.deepEqual(
    [isError, text.split("\n").slice(0, 3)],
    [true, ['Validation failed for tool "read":', "  - path: missing", "  - file: unknown field"]],
  );
});
