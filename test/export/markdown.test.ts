/** A session as Markdown. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as fc from "fast-check";
import { marked } from "marked";
import { exportSession } from "../../src/export/export-session.ts";
import type { ExportRequest } from "../../src/export/export-session.ts";
import { codeBlock, details, htmlLine, oneLine, plain, safeMarkdown } from "../../src/export/markdown-text.ts";
import { assistant, temporaryFile, temporaryFolder, user } from "../support/session-files.ts";
import { HEADER, file, line } from "../support/session-lines.ts";

async function markdownOf(lines: readonly string[], request: ExportRequest = {}): Promise<string> {
  const done = await exportSession(
    temporaryFile(file(...lines)),
    { format: "md", ...request },
    { cwd: temporaryFolder(), home: "/home/sam", secrets: () => [] },
  );
  return readFileSync(done.path!, "utf8");
}

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const says = (id: string, parentId: string | null, message: object): string =>
  line("message", id, parentId, { message });

const CALL = {
  ...assistant("Let me look."),
  content: [
    { type: "thinking", thinking: "It is ```tricky```" },
    { type: "text", text: "Let me look." },
    { type: "toolCall", id: "c1", name: "bash", arguments: { command: "ls <dir>", timeout: 5 } },
    { type: "toolCall", id: "c2", name: "edit", arguments: { path: "a.ts" } },
  ],
};
const CONVERSATION = [
  HEADER,
  says("a", null, user("Fix *the* parser\nplease")),
  says("b", "a", CALL),
  says("r2", "b", {
    role: "toolResult",
    toolCallId: "c2",
    toolName: "edit",
    content: [{ type: "text", text: "done" }],
    details: { diff: "-a\n+b" },
    isError: false,
    timestamp: 0,
  }),
  says("r1", "r2", {
    role: "toolResult",
    toolCallId: "c1",
    toolName: "bash",
    content: [{ type: "text", text: "a\n````\nb" }],
    isError: true,
    timestamp: 0,
  }),
  says("c", "r1", assistant("It is fixed.")),
  line("label", "l", "c", { targetId: "c", label: "works" }),
  says("d", "c", {
    role: "bashExecution",
    command: "npm test",
    output: "ok",
    exitCode: 1,
    cancelled: false,
    timestamp: 0,
  }),
];

test("[E3] a conversation as Markdown: a heading for each turn, calls with their results folded, thinking, diffs, labels", async () => {
  assert.equal(
    await markdownOf(CONVERSATION),
    `# Session s1

- **Session:** s1
- **Started:** 2026-01-01 00:00 UTC
- **Folder:** /w
- **Entries:** 7
- **Tokens:** 200 in, 20 out
- **Cost:** \\$1.500

## 1. Fix \\*the\\* parser

Fix *the* parser
please

**Assistant** · claude-x

<details>
<summary>Thinking</summary>

\`\`\`\`text
It is \`\`\`tricky\`\`\`
\`\`\`\`

</details>

Let me look.

<details>
<summary><b>bash</b> ls &lt;dir&gt; — failed</summary>

\`\`\`sh
ls <dir>
\`\`\`

\`\`\`json
{
  "timeout": 5
}
\`\`\`

\`\`\`\`\`
a
\`\`\`\`
b
\`\`\`\`\`

</details>

<details>
<summary><b>edit</b> a.ts</summary>

\`\`\`json
{
  "path": "a.ts"
}
\`\`\`

\`\`\`diff
-a
+b
\`\`\`

\`\`\`
done
\`\`\`

</details>

It is fixed.

🏷 **works**

<details>
<summary>The user ran <code>npm test</code> — exit code 1</summary>

\`\`\`sh
npm test
\`\`\`

\`\`\`
ok
\`\`\`

</details>

---

_No secrets were found in this export._
`,
  );
});

test("[E3] branches as Markdown: an outline, the current branch, then each other one under its own heading", async () => {
  const lines = [
    HEADER,
    says("a", null, user("one")),
    says("b", "a", assistant("left")),
    says("c", "b", user("two, left")),
    says("d", "a", assistant("right")),
    says("e", "d", user("two, right")),
    line("session_info", "n", "e", { name: "A <b>name</b>" }),
  ];
  const text = await markdownOf(lines, { redact: false });
  assert.equal(
    text.slice(text.indexOf("## Outline")),
    `## Outline

\`\`\`text
  • user: one
  ├─ • assistant: right
› │     • user: two, right
  └─ assistant: left
        user: two, left
\`\`\`

## The current branch

## 1. one

one

**Assistant** · claude-x

right

## 2. two, right

two, right

## Branch 1, after turn 1

**Assistant** · claude-x

left

## 3. two, left

two, left

`,
  );
  assert.equal(text.split("\n")[0], "# A &lt;b\\>name&lt;/b\\>");
});

test("[E3] images stand in Markdown as data, or a note in their place", async () => {
  const image = { type: "image", data: PIXEL, mimeType: "image/png" };
  const broken = { type: "image", data: 'x" onerror="y', mimeType: "image/png" };
  const lines = [HEADER, says("a", null, { role: "user", content: [image, broken], timestamp: 0 })];
  const after = (text: string): string => text.slice(text.indexOf("## 1."));
  assert.equal(
    after(await markdownOf(lines, { redact: false })),
    `## 1. (no text)\n\n![image](data:image/png;base64,${PIXEL})\n\n_(an image, 1 KB, is left out)_\n\n`,
  );
  assert.equal(
    after(await markdownOf(lines, { redact: false, images: false })),
    "## 1. (no text)\n\n_(an image, 1 KB, is left out)_\n\n_(an image, 1 KB, is left out)_\n\n",
  );
});

test("[E3] dB66 Markdown of somebody else's makes no HTML, loads nothing, and leads nowhere odd", () => {
  const cases: [string, string][] = [
    ["<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>"],
    ["</details><img src=x onerror=y>", "&lt;/details>&lt;img src=x onerror=y>"],
    ["![x](http://evil/p.png)", "&#33;[x](http://evil/p.png)"],
    ["\\![x](http://evil/p.png)", "\\&#33;[x](http://evil/p.png)"],
    ["[x](javascript:alert(1))", "[x]&#40;javascript:alert(1))"],
    ["[x](  JaVaScRiPt:alert(1))", "[x]&#40;  JaVaScRiPt:alert(1))"],
    ["[x](javascript\\:alert(1))", "[x]&#40;javascript\\:alert(1))"],
    ["[x](java&#115;cript:alert(1))", "[x](java&amp;#115;cript:alert(1))"],
    ["[x](\njavascript:alert(1))", "[x]&#40;\njavascript:alert(1))"],
    [
      "[x](https://a.b/c) [y](#here) [z](src/a.ts) [m](mailto:a@b.c)",
      "[x](https://a.b/c) [y](#here) [z](src/a.ts) [m](mailto:a@b.c)",
    ],
    ["[x]: javascript:alert(1)", "[x]&#58; javascript:alert(1)"],
    ["`<b>`", "<code>&#60;b&#62;</code>"],
    ["`a` and ``b ` c``", "`a` and ``b ` c``"],
    ["one ` tick <b>", "one ` tick &lt;b>"],
    ["# Big\n\nText\n===\nand\n---", "#### Big\n\nText\n\\===\nand\n\\---"],
    ["###### deep", "###### deep"],
    ["```html\n<b>\n````", "```html\n<b>\n```"],
    ["~~~js\n```\n<b>\n~~~\nafter <i>", "````js\n```\n<b>\n````\n\nafter &lt;i>"],
    ["```never closed\n<b>", "```never\n<b>\n```"],
    ["- a\n  ```\n  <b>\nfoo <img>\n  ```", "- a\n\n```\n<b>\nfoo <img>\n```"],
    ["``` a`b\n<b>", "&#96;`` a`b\n&lt;b>"],
    ["````` ```<b>``` ~", "&#96;```` <code>&#60;b&#62;</code> ~"],
    ["a\u202eb\u001b[31mc\u0007\r\nd", "abc\nd"],
  ];
  for (const [text, expected] of cases) assert.equal(safeMarkdown(text), expected, text);
});

const PIECES = [
  ..."`|``|```|~~~|<img src=x onerror=y>|</details>|<script>|<!--|&lt;|a|\\|[x]|# |> |* |- |1. ".split("|"),
  ..." |    |\t|\n|\n\n|![x](http://e/x)|[x](javascript:1)|[x]: javascript:1\n".split("|"),
  "|",
  "|-|-|\n",
];

test("[E3] dB66 whatever a text is, a renderer makes no tag, image or odd link of it, and all that follows is as it was", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }), (pieces) => {
      const text = pieces.join("");
      for (const part of [safeMarkdown(text), codeBlock(text, "x")]) {
        const html = marked.parse(`# start\n\n${details("s", part)}\n\nafter\n\n## next\n`, { async: false });
        const tags = [...html.matchAll(/<\/?(?:img|script|details|a)\b[^>]*/g)].map(([tag]) => tag);
        const shown = JSON.stringify({ text, part, html });
        assert.deepEqual(
          tags.filter((tag) => tag.includes("details")),
          ["<details", "</details"],
          shown,
        );
        assert.ok(!tags.some((tag) => /^<(?:img|script)/.test(tag) || /javascript/i.test(tag)), shown);
        assert.ok(html.endsWith("<p>after</p>\n<h2>next</h2>\n"), shown);
      }
    }),
    { numRuns: 2000 },
  );
});

test("[E3] one line of a text as a heading and as a fold's summary", () => {
  assert.equal(oneLine("\n  # <b> [x](y) `z` & more\nnext", 40), "\\# &lt;b\\> \\[x\\]\\(y\\) \\`z\\` &amp; more");
  assert.equal(oneLine("abcdefgh", 5), "abcd…");
  assert.equal(htmlLine('<img src="x">\u001b[2J', 40), '&lt;img src="x"&gt;');
  assert.equal(plain("a\u001b]8;;http://x\u0007b\u0000"), "ab");
});

test("[E3] entries of any shape are Markdown all the same", async () => {
  const odd = [
    { role: "assistant", content: 5 },
    {
      role: "assistant",
      content: [null, 7, { type: "toolCall" }, { type: "text" }, { type: "toolCall", name: 3, arguments: "x" }],
    },
    { role: "toolResult" },
    { role: "bashExecution" },
    { role: "fileMention", files: [null, {}, { path: 3, image: {} }] },
    { role: "custom", content: {} },
    { role: 5 },
    null,
    "text",
  ];
  const lines = odd.map((message, n) => line("message", `m${n}`, n === 0 ? null : `m${n - 1}`, { message }));
  const text = await markdownOf([
    HEADER,
    ...lines,
    line("compaction", "z", "m8"),
    line("branch_summary", "y", "z", { summary: 5 }),
  ]);
  assert.match(text, /_No secrets were found in this export\._\n$/);
});

test("[E3] the head names what is wrong with any entry of the part, masked or not", async () => {
  const lines = [
    HEADER,
    says("a", null, user("hello")),
    line("custom", "b", "a", { data: 1 }),
    says("c", "b", { content: "nobody says it" }),
    says("d", "a", assistant("hi")),
  ];
  for (const redact of [true, false]) {
    assert.match(
      await markdownOf(lines, { redact }),
      /^> \*\*2 problems in the file:\*\* .*no customType.*without role/m,
    );
    const branch = await markdownOf(lines, { redact, branch: "b" });
    assert.match(branch, /^> \*\*1 problem in the file:\*\* .*no customType/m);
    assert.doesNotMatch(await markdownOf(lines, { redact, branch: "d" }), /problem/);
  }
});
