/**
 * Made-up secrets of the shapes that rules know, put together here so that no scanner of this repository finds one, and
 * a session that has a text in every field there is.
 */
import { at } from "./session-lines.ts";

const letters = (length: number): string => "aB3dE7gH2jK9".repeat(Math.ceil(length / 12)).slice(0, length);

/** By kind, as the report names it. */
export const SECRETS: Readonly<Record<string, string>> = {
  "github token": `ghp_${letters(36)}`,
  "anthropic api key": `sk-ant-api03-${letters(93)}AA`,
  "aws access key id": `AKIA${"J5Q7ZK3NMXW2B6PA"}`,
  "slack token": `xoxb-1234567890-1234567890123-${letters(24)}`,
  "stripe secret key live": `sk_live_${letters(24)}`,
  "npm access token": `npm_${letters(36)}`,
  "google api key": `AIza${letters(35)}`,
  "private key": `-----BEGIN RSA PRIVATE KEY-----\nMIIE${letters(60)}\n${letters(64)}\n${letters(64)}\n-----END RSA PRIVATE KEY-----`,
  "database connection": `postgres://bob:${letters(14)}@db.example.com:5432/shop`,
  "json web token": `eyJ${letters(20)}.eyJ${letters(40)}.${letters(43)}`,
};

const usage = {
  input: 1,
  output: 1,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 2,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.5 },
};
const content = [
  { type: "text", text: "a text" },
  { type: "image", data: "iVBORw0KGgoAAAANSUhEUg==", mimeType: "image/png" },
];

type Fields = Record<string, unknown>;

/** One entry of each kind and message of each role, in one chain. */
const BODIES: readonly [type: string, fields: Fields][] = [
  ["session_init", { systemPrompt: "be good", task: "a task", tools: ["read"], outputSchema: { title: "a schema" } }],
  ["model_change", { provider: "lab", modelId: "big", model: "lab/big", role: "default" }],
  ["thinking_level_change", { thinkingLevel: "low", configured: "auto" }],
  ["service_tier_change", { serviceTier: { lab: "fast" } }],
  ["mode_change", { mode: "plan", data: { planFilePath: "/p/plan.md", title: "a plan" } }],
  ["mcp_tool_selection", { selectedToolNames: ["mcp__a__b"] }],
  ["message", { message: { role: "user", content: "a prompt", timestamp: 1 } }],
  ["message", { message: { role: "user", content, timestamp: 1 } }],
  [
    "message",
    {
      message: {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "a thought", thinkingSignature: "c2ln" },
          { type: "text", text: "an answer", textSignature: "sig" },
          {
            type: "toolCall",
            id: "call-1",
            name: "bash",
            arguments: { command: "ls", nested: { list: ["deep", { name: "deeper" }] }, text: '{"a":"b"}' },
          },
          { type: "toolCall", id: "call-2", name: "edit", arguments: { path: "a.ts" } },
        ],
        api: "anthropic-messages",
        provider: "lab",
        model: "big",
        usage,
        stopReason: "error",
        errorMessage: "a failure",
        responseId: "r1",
        timestamp: 2,
      },
    },
  ],
  [
    "message",
    {
      message: {
        role: "toolResult",
        toolCallId: "call-1",
        toolName: "bash",
        content,
        details: { path: "/x", diff: "+a", more: [{ deep: "x" }] },
        isError: false,
        timestamp: 3,
      },
    },
  ],
  [
    "message",
    {
      message: {
        role: "toolResult",
        toolCallId: "call-9",
        toolName: "grep",
        content: [{ type: "text", text: "a result without call" }],
        isError: true,
        timestamp: 3,
      },
    },
  ],
  [
    "message",
    {
      message: {
        role: "bashExecution",
        command: "env",
        output: "PATH=/bin",
        exitCode: 1,
        cancelled: false,
        truncated: false,
        fullOutputPath: "/tmp/out",
        timestamp: 4,
      },
    },
  ],
  ["message", { message: { role: "pythonExecution", code: "print(1)", output: "1", cancelled: false, timestamp: 4 } }],
  ["message", { message: { role: "developer", content: "an instruction", timestamp: 4 } }],
  ["message", { message: { role: "system", content: "a system text", sections: { a: "b" }, timestamp: 4 } }],
  ["message", { message: { role: "fileMention", files: [{ path: "a.txt", content: "of the file" }], timestamp: 4 } }],
  [
    "message",
    {
      message: { role: "custom", customType: "x", content: "custom", display: true, details: { a: "b" }, timestamp: 4 },
    },
  ],
  ["message", { message: { role: "oracle", words: "of a role nobody knows", timestamp: 4 } }],
  ["custom_message", { customType: "note", content, display: false, details: { state: "on" } }],
  ["custom", { customType: "state", data: { token: "x", list: ["y"] } }],
  ["label", { targetId: "e6", label: "works" }],
  ["session_info", { name: "a name", source: "user" }],
  ["title_change", { title: "a title", source: "auto" }],
  ["ttsr_injection", { injectedRules: ["a rule"] }],
  ["usage", { kind: "note", provider: "lab", model: "big", usage, note: "a note" }],
  ["model_usage", { purpose: "title", provider: "lab", model: "big", usage }],
  ["context_edit", { targetId: "e6", replacement: { content: "instead" } }],
  ["credential_pin", { provider: "lab", hash: "abc" }],
  ["branch_summary", { fromId: "e6", summary: "a summary", details: { files: ["a.ts"] } }],
  ["compaction", { summary: "another", firstKeptEntryId: "e6", tokensBefore: 5, preserveData: { a: { b: "c" } } }],
  ["of_another_program", { anything: { goes: ["here"] } }],
  ["message", { message: { role: "user", content: "the end", timestamp: 9 } }],
];

/** Header and entries of such a session; each call makes them anew. */
export function fullSession(): Fields[] {
  const header: Fields = {
    type: "session",
    version: 3,
    id: "s1",
    timestamp: at(0),
    cwd: "/w",
    parentSession: "/w/parent.jsonl",
    extra: { a: "b" },
  };
  const entries = BODIES.map(([type, fields], n): Fields => ({
    type,
    id: `e${n}`,
    parentId: n === 0 ? null : `e${n === 20 ? 5 : n - 1}`,
    timestamp: at(n),
    ...structuredClone(fields),
  }));
  return [header, ...entries];
}

export interface TextPlace {
  holder: Record<string | number, unknown>;
  key: string | number;
  /** Its name as the report has it, without the record. */
  field: string;
  /** The number of the record. */
  record: number;
}

/** What a reader goes by: a secret in it would make another file. */
const STRUCTURE = /^(?:type|version|timestamp)$|(?:^|\.)(?:role|type|display)$/;

/** Every text of the records that may be any text, ids and links apart. */
export function textPlaces(records: readonly Fields[]): TextPlace[] {
  const places: TextPlace[] = [];
  records.forEach((record, n) => {
    const waiting: [object, string][] = [[record, ""]];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [holder, path] = next;
      for (const [name, value] of Object.entries(holder)) {
        const key = Array.isArray(holder) ? Number(name) : name;
        const field = typeof key === "number" ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
        if (typeof value === "object" && value !== null) waiting.push([value, field]);
        else if (typeof value === "string" && !STRUCTURE.test(field) && !isLink(field))
          places.push({ holder: holder as TextPlace["holder"], key, field, record: n });
      }
    }
  });
  return places;
}

const isLink = (field: string): boolean => /^(?:id|parentId|targetId|fromId|firstKeptEntryId)$/.test(field);
