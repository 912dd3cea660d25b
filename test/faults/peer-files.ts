/**
 * Session files as other programs write them, made up for these tests, and one of our own: 40 records each.
 */
import { readFileSync } from "node:fs";
import { SessionManager } from "../../src/session/session-manager.ts";
import { assistant, temporaryFolder, user } from "../support/session-files.ts";
import { file } from "../support/session-lines.ts";

const RECORDS = 40;
/** oh-my-pi's first line is that long, its newline included. */
const SLOT_BYTES = 256;

const time = (n: number): string => new Date(Date.UTC(2026, 4, 4, 7, 15, n * 9)).toISOString();
const milliseconds = (n: number): number => Date.UTC(2026, 4, 4, 7, 15, n * 9);
const usage = (n: number): object => ({
  input: 900 + n,
  output: 40 + n,
  cacheRead: 12,
  cacheWrite: 0,
  totalTokens: 952 + 2 * n,
  cost: { input: 0.0027, output: 0.0006, cacheRead: 0, cacheWrite: 0, total: 0.0033 },
});

interface Peer {
  /** Names the entry after number `n`. */
  id(n: number): string;
  /** Members of the state and bookkeeping entries in between, by their place. */
  others: ReadonlyMap<number, object>;
  answer: object;
}

/** A conversation: questions, calls, results, answers, and what else the program writes. */
function entriesOf({ id, others, answer }: Peer, count: number): string[] {
  const records: object[] = [];
  for (let n = 0; n < count; n++) {
    const base = { id: id(n), parentId: n === 0 ? null : id(n - 1), timestamp: time(n) };
    const other = others.get(n);
    if (other !== undefined) records.push({ ...typeFirst(other, base) });
    else records.push({ type: "message", ...base, message: messageAt(n, answer) });
  }
  return records.map((record) => JSON.stringify(record));
}

function typeFirst(other: object, base: object): object {
  const { type, ...rest } = other as { type: string };
  return { type, ...base, ...rest };
}

function messageAt(n: number, answer: object): object {
  const timestamp = milliseconds(n);
  if (n % 4 === 0)
    return { role: "user", content: [{ type: "text", text: `Wieviel Mehl für ${n} Brote? 🥖\n` }], timestamp };
  if (n % 4 === 2)
    return {
      role: "toolResult",
      toolCallId: `call_${n - 1}`,
      toolName: "read",
      content: [
        {
          type: "text",
          text: `flour: ${n} kg\n"sifted"\\\u2028`,
        },
      ],
      isError: false,
      timestamp,
    };
  const content =
    n % 4 === 1
      ? [
          { type: "thinking", thinking: "Look it up.", thinkingSignature: "c2lnbmF0dXJl" },
          { type: "toolCall", id: `call_${n}`, name: "read", arguments: { path: `store/${n}.txt` } },
        ]
      : [{ type: "text", text: `${n} kg will do.` }];
  const stopReason = n % 4 === 1 ? "toolUse" : "stop";
  return { role: "assistant", content, ...answer, usage: usage(n), stopReason, timestamp };
}

const hex = (n: number): string => (0x3a51c000 + n * 0x1f35).toString(16);

/** pi 1.6 */
export function piFile(): string {
  const others = new Map<number, object>([
    [0, { type: "model_change", provider: "anthropic", modelId: "claude-sonnet-4-5" }],
    [1, { type: "thinking_level_change", thinkingLevel: "medium" }],
    [
      9,
      {
        type: "usage",
        kind: "cache_warm",
        provider: "anthropic",
        model: "claude-sonnet-4-5",
        usage: usage(9),
        note: "idle",
      },
    ],
    [14, { type: "label", targetId: hex(12), label: "before the oven" }],
    [18, { type: "session_info", name: "Bread for the fair" }],
    [21, { type: "custom", customType: "oven", data: { degrees: 230, __proto__: null } }],
    [
      25,
      { type: "custom_message", customType: "oven", content: "The oven is hot.", display: true, details: { at: 230 } },
    ],
    [28, { type: "context_edit", targetId: hex(6), replacement: null }],
    [
      31,
      {
        type: "compaction",
        summary: "Bread was planned.",
        firstKeptEntryId: hex(29),
        tokensBefore: 5120,
        fromHook: false,
        usage: usage(31),
      },
    ],
    [35, { type: "branch_summary", fromId: hex(34), summary: "Rolls were dropped.", fromHook: true }],
    [37, { type: "message", message: { role: "system", content: "You bake.", timestamp: milliseconds(37) } }],
  ]);
  const header = {
    type: "session",
    version: 3,
    id: "019c0f52-9c1e-7d43-8f6a-51ab0c9d2e10",
    timestamp: time(0),
    cwd: "/srv/bakery",
    parentSession: "/srv/old/2026-05-03T10-00-00-000Z_x.jsonl",
  };
  const answer = { api: "anthropic-messages", provider: "anthropic", model: "claude-sonnet-4-5" };
  return file(JSON.stringify(header), ...entriesOf({ id: hex, others, answer }, RECORDS - 1));
}

/** oh-my-pi 18 */
export function ompFile(): string {
  const id = (n: number): string => hex(n).split("").reverse().join("");
  const others = new Map<number, object>([
    [0, { type: "model_change", model: "openai/gpt-5", role: "default", resolvedModelIsFallback: false }],
    [1, { type: "thinking_level_change", thinkingLevel: "high", configured: "auto" }],
    [5, { type: "credential_pin", provider: "openai", hash: "9d".repeat(32) }],
    [
      9,
      {
        type: "model_usage",
        purpose: "title",
        role: "smol",
        api: "openai-responses",
        provider: "openai",
        model: "gpt-5-mini",
        usage: usage(9),
        stopReason: "stop",
      },
    ],
    [10, { type: "title_change", title: "Bread for the fair", source: "auto", trigger: "first-turn" }],
    [14, { type: "service_tier_change", serviceTier: { openai: "flex" } }],
    [17, { type: "mode_change", mode: "plan", data: { planFile: "plan.md" } }],
    [18, { type: "ttsr_injection", injectedRules: ["no-rye"] }],
    [21, { type: "custom", customType: "tool_execution_start", data: { toolCallId: "call_19" } }],
    [
      25,
      {
        type: "custom_message",
        customType: "note",
        content: [{ type: "text", text: "hot" }],
        display: false,
        attribution: "agent",
      },
    ],
    [29, { type: "message", message: { role: "developer", content: "Weigh twice.", timestamp: milliseconds(29) } }],
    [
      30,
      {
        type: "message",
        message: {
          role: "fileMention",
          files: [{ path: "a.txt", content: "x", lineCount: 1 }],
          timestamp: milliseconds(30),
        },
      },
    ],
    [
      32,
      {
        type: "compaction",
        summary: "Planned.",
        shortSummary: "P",
        firstKeptEntryId: id(31),
        tokensBefore: 4000,
        tokensAfter: 300,
        method: "llm",
        fromExtension: false,
        preserveData: { keep: [1] },
      },
    ],
    [34, { type: "reset_boundary" }],
    [37, { type: "custom", customType: "session_exit", data: { code: 0 } }],
  ]);
  const header = {
    type: "session",
    version: 3,
    id: "019c0f53-0b2d-7a11-9f00-7711aa22bb33",
    timestamp: time(0),
    cwd: "/srv/bakery",
    title: "Bread for the fair",
    titleSource: "auto",
    additionalDirectories: ["/srv/mill"],
    providerPromptCacheKey: "k1",
  };
  const answer = {
    api: "openai-responses",
    provider: "openai",
    model: "gpt-5",
    providerPayload: { items: [{ id: "rs_1" }] },
  };
  return file(titleSlot(), JSON.stringify(header), ...entriesOf({ id, others, answer }, RECORDS - 2));
}

function titleSlot(): string {
  const slot = { type: "title", v: 1, title: "Bread for the fair", source: "auto", updatedAt: time(10), pad: "" };
  const pad = " ".repeat(SLOT_BYTES - 1 - Buffer.byteLength(JSON.stringify(slot)));
  return JSON.stringify({ ...slot, pad });
}

/** Written by SessionManager itself: a first branch, a second one, names, labels and a summary. */
export async function ownFile(): Promise<string> {
  const session = SessionManager.create("/srv/bakery", temporaryFolder());
  session.appendModelChange("anthropic", "claude-sonnet-4-5");
  session.appendThinkingLevelChange("medium");
  const ids: string[] = [];
  for (let n = 0; n < 16; n++) {
    ids.push(session.appendMessage(user(`Wieviel Mehl für ${n} Brote? 🥖\n`)));
    if (n % 4 === 3) session.appendLabelChange(ids[n - 1]!, `stage ${n}`);
    else session.appendMessage(assistant(`${n} kg will "do"\\\u2028.`));
  }
  session.branchWithSummary(ids[4]!, "Rolls were dropped.", { files: ["rolls.txt"] });
  session.setSessionName("Bread for the fair");
  session.appendCustomEntry("oven", { degrees: 230 });
  session.appendCustomMessageEntry("oven", "The oven is hot.", true);
  session.appendCompaction("Bread was planned.", ids[3]!, 5120);
  await session.close();
  return readFileSync(session.getSessionFile()!, "utf8");
}

export interface NamedFile {
  name: string;
  content: Buffer;
}

/** One of each. */
export async function allFiles(): Promise<NamedFile[]> {
  const contents = { bough: await ownFile(), pi: piFile(), "oh-my-pi": ompFile() };
  return Object.entries(contents).map(([name, content]) => ({ name, content: Buffer.from(content) }));
}
