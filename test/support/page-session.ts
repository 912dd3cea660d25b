/**
 * A small session with one of everything a page shows: for tests of the exported page. Two branches below `answer-1`; the
 * leaf is `end`.
 */
import { line } from "./session-lines.ts";

/** A red square of one pixel. */
export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

export const PAGE_HEADER = JSON.stringify({
  type: "session",
  version: 3,
  id: "page-session",
  timestamp: "2026-01-01T00:00:00.000Z",
  cwd: "/home/sam/bakery",
});

const DIFF = [" 1 export const oven = {", "-2   heat: 180,", "+2   heat: 220,", " 3 };"].join("\n");

export const ANSWER_TEXT = `## What I found

The oven is **too cold**. See [the manual](https://example.com/oven) and ![a photo](https://example.com/oven.png).

| flour | heat |
|---|---|
| rye | 220 |

- [x] measured
- [ ] changed

\`\`\`ts
const heat: number = 220; // degrees
\`\`\`

> Bake it once more.`;

const usage = {
  input: 120,
  output: 45,
  cacheRead: 3000,
  cacheWrite: 80,
  totalTokens: 3245,
  cost: { input: 0.001, output: 0.002, cacheRead: 0.0005, cacheWrite: 0.0001, total: 0.0036 },
};

const text = (words: string): object => ({ type: "text", text: words });
const image = { type: "image", data: PNG, mimeType: "image/png" };

function assistant(content: object[], fields: object = {}): object {
  return {
    message: {
      role: "assistant",
      content,
      api: "anthropic-messages",
      provider: "anthropic",
      model: "claude-sonnet-4-5",
      usage,
      stopReason: "stop",
      timestamp: 0,
      ...fields,
    },
  };
}
const user = (content: unknown): object => ({ message: { role: "user", content, timestamp: 0 } });
const call = (id: string, name: string, args: object): object => ({ type: "toolCall", id, name, arguments: args });

function result(id: string, name: string, output: string, fields: object = {}): object {
  return {
    message: {
      role: "toolResult",
      toolCallId: id,
      toolName: name,
      content: [text(output)],
      isError: false,
      timestamp: 0,
      ...fields,
    },
  };
}

/** Seconds of `timestamp` follow the lines. */
export function pageSession(): string[] {
  const entries: [type: string, id: string, parentId: string | null, fields: object][] = [
    ["model_change", "model-1", null, { provider: "anthropic", modelId: "claude-sonnet-4-5" }],
    ["thinking_level_change", "level-1", "model-1", { thinkingLevel: "low" }],
    ["message", "prompt-1", "level-1", user([text("Why is the bread pale?"), image])],
    [
      "message",
      "answer-1",
      "prompt-1",
      assistant(
        [
          { type: "thinking", thinking: "The oven, perhaps.", thinkingSignature: "c2VhbGVk" },
          text("I will look."),
          call("call-1", "read", { path: "src/oven.ts" }),
          call("call-2", "bash", { command: "seq 1 40" }),
        ],
        { stopReason: "toolUse" },
      ),
    ],
    ["message", "read-1", "answer-1", result("call-1", "read", "export const oven = {\n  heat: 180,\n};")],
    [
      "message",
      "bash-1",
      "read-1",
      result("call-2", "bash", Array.from({ length: 40 }, (_, n) => `line ${n + 1}`).join("\n")),
    ],
    ["message", "answer-2", "bash-1", assistant([text(ANSWER_TEXT)])],
    ["message", "other-prompt", "answer-1", user("Another way: is the flour old?")],
    ["message", "other-answer", "other-prompt", assistant([text("The flour is fine.")])],
    ["branch_summary", "summary-1", "answer-2", { fromId: "other-answer", summary: "On the **other** branch: flour." }],
    ["message", "prompt-2", "summary-1", user("Make it hotter.")],
    [
      "message",
      "answer-3",
      "prompt-2",
      assistant([call("call-3", "edit", { path: "src/oven.ts", oldText: "180", newText: "220" })], {
        stopReason: "toolUse",
      }),
    ],
    ["message", "edit-1", "answer-3", result("call-3", "edit", "Edited src/oven.ts.", { details: { diff: DIFF } })],
    ["message", "image-2", "edit-1", user([text("The same photo again."), image])],
    [
      "message",
      "failed-1",
      "image-2",
      assistant([call("call-4", "bash", { command: "false" })], { stopReason: "toolUse" }),
    ],
    ["message", "failed-2", "failed-1", result("call-4", "bash", "exit code 1", { isError: true })],
    [
      "message",
      "shell-1",
      "failed-2",
      { message: { role: "bashExecution", command: "ls", output: "oven.ts", exitCode: 0, timestamp: 0 } },
    ],
    ["custom_message", "note-1", "shell-1", { customType: "recipe", content: "A note **to see**.", display: true }],
    ["custom_message", "note-2", "note-1", { customType: "secret-recipe", content: "A hidden note.", display: false }],
    ["custom", "state-1", "note-2", { customType: "checklist", data: { done: 3 } }],
    ["label", "label-1", "state-1", { targetId: "answer-2", label: "the cause" }],
    ["label", "label-2", "label-1", { targetId: "prompt-2", label: "a label to take off" }],
    ["label", "label-3", "label-2", { targetId: "prompt-2" }],
    [
      "compaction",
      "compaction-1",
      "label-3",
      { summary: "Everything **so far**.", firstKeptEntryId: "prompt-2", tokensBefore: 90_000 },
    ],
    ["session_info", "name-1", "compaction-1", { name: "Pale bread" }],
    ["message", "stopped-1", "name-1", assistant([text("Half a sen")], { stopReason: "aborted" })],
    ["message", "end", "stopped-1", user("Thank you.")],
  ];
  const time = (n: number): string => new Date(Date.UTC(2026, 0, 1) + n * 60_000).toISOString();
  return [
    PAGE_HEADER,
    ...entries.map(([type, id, parentId, fields], n) => line(type, id, parentId, { timestamp: time(n), ...fields })),
  ];
}
