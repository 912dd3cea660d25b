/** Names, lists and results of MCP tools: what a provider may be sent of what a server says. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { mcpToolName } from "../../src/agent/mcp/tool-names.ts";
import { readTools } from "../../src/agent/mcp/mcp-tools.ts";
import { toolResult } from "../../src/agent/mcp/tool-results.ts";
import { PIXEL } from "../support/mcp-tool-server.ts";
import { temporaryFolder } from "../support/session-files.ts";

const CALL = { server: "s", tool: "t" };

test("[P3] a tool's name says its server and itself; what no provider takes is replaced and told apart by a hash", () => {
  assert.deepEqual(
    [
      ["github", "create_issue"],
      ["my-files", "read"],
      ["a", "b__c"],
      ["a__b", "c"],
      ["a_", "b"],
      ["wiki.example", "page/read"],
      ["wiki example", "page read"],
      ["s", ""],
      ["s", "x".repeat(70)],
    ].map(([server, tool]) => mcpToolName(server!, tool!)),
    [
      "mcp__github__create_issue",
      "mcp__my-files__read",
      "mcp__a__b__c",
      "mcp__a__b__c_528239e9",
      "mcp__a___b_0b9e6aab",
      "mcp__wiki_example__page_read_763921ab",
      "mcp__wiki_example__page_read_da251b57",
      "mcp__s___1b4e0be8",
      `mcp__s__${"x".repeat(47)}_6486bf1b`,
    ],
  );
});

test("[P3] names are short, plain, and never shared by two tools", () => {
  const part = fc.stringMatching(/^[ab_\-.é]{1,12}$/);
  fc.assert(
    fc.property(fc.uniqueArray(fc.tuple(part, part), { selector: (pair) => JSON.stringify(pair) }), (pairs) => {
      const names = pairs.map(([server, tool]) => mcpToolName(server, tool));
      for (const name of names) assert.match(name, /^mcp__[A-Za-z0-9_-]{1,59}$/);
      assert.equal(new Set(names).size, names.length);
    }),
  );
});

test("[P3] of a list everything that can be sent is taken, and each thing left out is named", () => {
  const { tools, faults } = readTools("s", [
    { name: "a", title: "Title", inputSchema: { type: "object", properties: { x: { type: ["string", "null"] } } } },
    { name: "b", description: "d".repeat(9000), inputSchema: { type: "object" } },
    { name: "required", inputSchema: { type: "object", required: "x" } },
    { name: "deep", inputSchema: { type: "object", properties: { x: { anyOf: [{ items: { type: "text" } }] } } } },
    { name: "a", inputSchema: { type: "object" } },
  ]);
  assert.deepEqual(
    tools.map(({ name, tool, description, schema }) => [name, tool, description.length, schema]),
    [
      ["mcp__s__a", "a", 5, { type: "object", properties: { x: { type: ["string", "null"] } } }],
      ["mcp__s__b", "b", 8192, { type: "object", properties: {} }],
    ],
  );
  assert.deepEqual(faults, ['"required" has a broken schema', '"deep" has a broken schema', '"a" is listed twice']);
  const many = readTools(
    "s",
    Array.from({ length: 600 }, (_, n) => ({ name: `t${n}`, inputSchema: { type: "object" } })),
  );
  assert.deepEqual([many.tools.length, many.faults], [500, ["everything after the first 500 of 600"]]);
});

test("[P3] a schema nested without end costs its tool, not the program", () => {
  let schema: object = { type: "string" };
  for (let depth = 0; depth < 20_000; depth++) schema = { items: schema };
  const listed = JSON.parse(
    `[{"name":"deep","inputSchema":{"type":"object","properties":{"a":${"[".repeat(5000)}${"]".repeat(5000)}}}}]`,
  ) as unknown[];
  const { tools, faults } = readTools("s", [
    { name: "deeper", inputSchema: { type: "object", items: schema } },
    ...listed,
  ]);
  assert.deepEqual([tools, faults.length], [[], 2]);
});

test("[P3] every kind of content arrives: text and images as they are, the rest as a line of text", () => {
  const result = toolResult(
    {
      content: [
        { type: "text", text: "one" },
        { type: "image", data: PIXEL, mimeType: "image/png" },
        { type: "image", data: "bm8gaW1hZ2U=", mimeType: "image/png" },
        { type: "audio", data: "AAAAAAAA", mimeType: "audio/wav" },
        { type: "resource_link", name: "readme", uri: "file:///readme.md", description: "Read it." },
        { type: "resource", resource: { uri: "file:///a.txt", text: "inside" } },
        { type: "resource", resource: { uri: "file:///a.png", blob: PIXEL, mimeType: "image/png" } },
        { type: "resource", resource: { uri: "file:///a.bin", blob: "AAAA" } },
      ],
      structuredContent: { n: 7 },
    },
    CALL,
    undefined,
  );
  const image = { type: "image", data: PIXEL, mimeType: "image/png" };
  assert.deepEqual(result, {
    content: [
      {
        type: "text",
        text: [
          "one",
          "[image left out: it is not a PNG, JPEG, GIF or WebP image]",
          "[audio left out: audio/wav, 6 bytes]",
          "[resource: readme – file:///readme.md – Read it.]",
          "[resource: file:///a.txt]\ninside",
          "[resource left out: file:///a.bin, binary data, 3 bytes]",
        ].join("\n\n"),
      },
      image,
      image,
    ],
    details: { ...CALL, structuredContent: { n: 7 } },
    isError: false,
  });
});

test("[P3] a result without text shows what it has for programs, and an empty one says so", () => {
  const shown = (answer: object): unknown => {
    const { content, isError } = toolResult({ content: [], ...answer }, CALL, undefined);
    return [content.map((block) => (block.type === "text" ? block.text : block.type)), isError];
  };
  assert.deepEqual(shown({ structuredContent: [1, { a: "b" }] }), [['[1,{"a":"b"}]'], false]);
  assert.deepEqual(shown({ isError: true }), [["(no output)"], true]);
  const images = Array.from({ length: 22 }, () => ({ type: "image", data: PIXEL, mimeType: "image/png" }));
  assert.deepEqual(shown({ content: images }), [
    [Array(2).fill("[image left out: there are too many]").join("\n\n"), ...Array<string>(20).fill("image")],
    false,
  ]);
});

test("[P3] a result is cut at the limits of every tool, and all of it is in a file", () => {
  const outputDir = temporaryFolder();
  const lines = Array.from({ length: 2500 }, (_, n) => `line ${n + 1}`).join("\n");
  const long = toolResult({ content: [{ type: "text", text: lines }] }, CALL, outputDir);
  const path = long.details.fullOutputPath!;
  assert.equal(readFileSync(path, "utf8"), lines);
  const [block] = long.content;
  assert.ok(block?.type === "text");
  const shown = block.text.split("\n");
  assert.deepEqual(
    [shown.length, shown[1999], shown.at(-1)],
    [2002, "line 2000", `[Only the first 2,000 lines of 2,500 are shown (in all 23.3 KB); all of it is in ${path}.]`],
  );
  const wide = toolResult({ content: [{ type: "text", text: "é€𝄞".repeat(20_000) }] }, CALL, outputDir);
  assert.ok(wide.content[0]?.type === "text");
  const [first, , note] = wide.content[0].text.split("\n");
  assert.ok(Buffer.byteLength(first!) <= 50 * 1024 && first!.isWellFormed());
  assert.match(note!, /^\[Only the beginning of line 1 is shown \(in all 175\.8 KB\); all of it is in /);
});
