/** What package names mean in extensions, and that the pieces behind them work. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentTool } from "@earendil-works/pi-agent-core";
import { visibleWidth } from "@earendil-works/pi-tui";
import { extensionNames } from "../../src/cli/extension-names.ts";
import * as peer from "../../src/cli/for-extensions/coding-agent.ts";
import { temporaryFolder } from "../support/session-files.ts";
import { callTool } from "../support/tool-call.ts";

test("[X4] every name of the three scopes, and TypeBox under both of its names, is a module that loads", async () => {
  const names = extensionNames();
  for (const scope of ["@earendil-works", "@mariozechner", "@oh-my-pi"])
    for (const part of ["pi-coding-agent", "pi-ai", "pi-ai/compat", "pi-tui", "pi-agent-core"])
      assert.ok(names.has(`${scope}/${part}`), `${scope}/${part}`);
  for (const [name, url] of names) await assert.doesNotReject(import(url), name);
  const ai = (await import(names.get("@mariozechner/pi-ai") ?? "")) as Record<string, unknown>;
  assert.deepEqual(
    ["Type", "StringEnum", "complete", "uuidv7", "calculateCost"].map((name) => typeof ai[name]),
    ["object", "function", "function", "function", "function"],
  );
  assert.equal(names.get("@sinclair/typebox"), names.get("typebox"));
});

test("[X4] texts are cut from the front, from the back and within a line, and say how", () => {
  const text = "one\ntwo\nthree\nfour";
  const { content, truncated, truncatedBy, totalLines, outputLines } = peer.truncateHead(text, { maxLines: 2 });
  assert.deepEqual([content, truncated, truncatedBy, totalLines, outputLines], ["one\ntwo", true, "lines", 4, 2]);
  const tail = peer.truncateTail(text, { maxBytes: 10 });
  assert.deepEqual([tail.content, tail.truncatedBy, tail.outputBytes], ["three\nfour", "bytes", 10]);
  assert.equal(peer.truncateHead("much too long", { maxBytes: 3 }).firstLineExceedsLimit, true);
  assert.equal(peer.truncateTail("much too long", { maxBytes: 4 }).lastLinePartial, true);
  assert.deepEqual(peer.truncateHead("fits").truncatedBy, null);
  assert.deepEqual(peer.truncateLine("abcdef", 3), { text: "abc... [truncated]", wasTruncated: true });
  assert.deepEqual(peer.truncateLine("abc", 3), { text: "abc", wasTruncated: false });
});

test("[X4] the head of a file, ranges of lines, tool events", () => {
  assert.deepEqual(peer.parseFrontmatter("---\nname: a\ntools:\n  - x\n  - y\non: true\n---\nBody"), {
    frontmatter: { name: "a", tools: ["x", "y"], on: true },
    body: "Body",
  });
  assert.throws(() => peer.parseFrontmatter("---\n? what\n---\n"), /^Error: Line 2: /);
  assert.equal(peer.stripFrontmatter("---\na: b\n---\nBody"), "Body");
  assert.deepEqual(
    [peer.formatReadLineRange(10, 20), peer.formatReadLineRange(10, undefined), peer.formatReadLineRange(undefined, 5)],
    [":10-29", ":10", ":1-5"],
  );
  assert.equal(peer.formatReadLineRange(undefined, undefined), "");
  assert.deepEqual(
    [peer.isToolCallEventType("bash", { toolName: "bash" }), peer.isReadToolResult({ toolName: "bash" })],
    [true, false],
  );
  assert.equal(peer.CONFIG_DIR_NAME, ".bough");
  assert.match(peer.VERSION, /^\d+\.\d+\.\d+/);
});

test("[X4] bash with a prefix, a changed environment, and a shell elsewhere", async () => {
  const cwd = temporaryFolder();
  const spawnHook = ({ env, ...spawn }: Parameters<NonNullable<peer.BashToolOptions["spawnHook"]>>[0]) => ({
    ...spawn,
    env: { ...env, FROM_HOOK: "yes" },
  });
  const changed = peer.createBashTool(cwd, { commandPrefix: "x=1", spawnHook });
  assert.equal((await callTool(changed, { command: "echo $x $FROM_HOOK" })).text, "1 yes");
  const asked: unknown[] = [];
  const elsewhere = peer.createBashTool(cwd, {
    operations: {
      exec: async (command, folder, { onData, timeout }) => {
        asked.push([command, folder, timeout]);
        onData(Buffer.from("from afar\n"));
        return { exitCode: 3 };
      },
    },
  });
  const { text, isError } = await callTool(elsewhere, { command: "ls", timeout: 7 });
  assert.deepEqual([text, isError, asked], ["from afar\n\n[Exit code 3.]", true, [["ls", cwd, 7]]]);
  const chunks: string[] = [];
  const local = peer.createLocalBashOperations();
  const options = { onData: (data: Buffer) => void chunks.push(data.toString()), env: { ...process.env, A: "b" } };
  assert.deepEqual(await local.exec("echo $A; exit 4", cwd, options), { exitCode: 4 });
  assert.deepEqual(chunks.join(""), "b\n");
  await assert.rejects(local.exec("sleep 5", cwd, { ...options, timeout: 0.05 }), /^Error: timeout:0\.05$/);
});

test("[X4] read, write and edit work on files that an extension reaches in its own way", async () => {
  const cwd = "/far";
  const files = new Map<string, string>([["/far/a.txt", "one\ntwo\nthree\n"]]);
  const operations = {
    access: async (path: string) => void (files.has(path) || (await Promise.reject(new Error(`no ${path}`)))),
    readFile: async (path: string) => Buffer.from(files.get(path) ?? ""),
    writeFile: async (path: string, content: string) => void files.set(path, content),
    mkdir: async () => undefined,
  };
  const run = (tool: AgentTool, args: object) => callTool(tool, args);
  const read = peer.createReadTool(cwd, { operations });
  assert.equal(
    (await run(read, { path: "a.txt", limit: 2 })).text,
    "one\ntwo\n\n[Lines 1-2 of 3; continue with offset=3.]",
  );
  assert.equal((await run(read, { path: "b.txt" })).text, "no /far/b.txt");
  const edit = peer.createEditTool(cwd, { operations });
  const edits = [{ oldText: "two", newText: "2" }];
  assert.equal((await run(edit, { path: "a.txt", edits })).text, "Edited a.txt: 1 replacement.");
  await run(peer.createWriteTool(cwd, { operations }), { path: "new/b.txt", content: "x" });
  assert.deepEqual(
    [...files],
    [
      ["/far/a.txt", "one\n2\nthree\n"],
      ["/far/new/b.txt", "x"],
    ],
  );
  const found = await run(peer.createGrepTool(cwd, { operations: {} }), { pattern: "x" });
  assert.match(found.text, /^bough's grep works on this machine alone/);
});

test("[X4, U5] a border takes the width it is given", () => {
  for (const width of [1, 7, 80])
    assert.equal(visibleWidth(new peer.DynamicBorder((text) => text).render(width)[0] ?? ""), width);
});
