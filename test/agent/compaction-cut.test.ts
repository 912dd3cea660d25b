/** Where a conversation is cut: `findCut`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { findCut } from "../../src/agent/compaction-cut.ts";
import type { CutItem } from "../../src/agent/compaction-cut.ts";
import type { AgentMessage, AssistantMessage } from "../../src/tree/messages.ts";
import { assistant, user } from "../support/session-files.ts";

const calling = (...ids: string[]): AssistantMessage => ({
  ...assistant(""),
  content: ids.map((id) => ({ type: "toolCall", id, name: "read", arguments: {} })),
  stopReason: "toolUse",
});

/**
 * u: a prompt, a: an answer, aX: an answer that calls X, rX: its result, c: a custom message, b: a command, s: a setting,
 * C: a compaction. Every message is as large as one.
 */
function items(text: string): CutItem[] {
  return text.split(" ").map((word): CutItem => {
    const message = messageFor(word);
    return { message, tokens: message === undefined ? 0 : 1, isBoundary: word === "C" };
  });
}

function messageFor(word: string): AgentMessage | undefined {
  const ids = word.slice(1).split("");
  switch (word[0]) {
    case "u":
      return user("prompt");
    case "a":
      return ids.length === 0 ? assistant("answer") : calling(...ids);
    case "r":
      return { role: "toolResult", toolCallId: ids[0]!, toolName: "read", content: [], isError: false, timestamp: 1 };
    case "c":
      return { role: "custom", customType: "note", content: "note", display: true, timestamp: 1 };
    case "b":
      return {
        ...user(""),
        role: "bashExecution",
        command: "ls",
        output: "",
        exitCode: 0,
        cancelled: false,
        truncated: false,
      };
    default:
      return undefined;
  }
}

/** The items with `|` before the first kept one and `<` before the turn that is parted. */
function cutText(text: string, keep: number, start = 0): string {
  const { firstKept, turnStart } = findCut(items(text), start, keep);
  const words = text
    .split(" ")
    .map((word, at) => `${at === turnStart ? "<" : ""}${at === firstKept ? "|" : ""}${word}`);
  return words.join(" ");
}

test("[K2] the cut keeps what is asked for and falls between two turns where it can", () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 99].map((keep) => cutText("u a u a u a", keep)),
    ["u a u a <u |a", "u a u a |u a", "u a <u |a u a", "u a |u a u a", "<u |a u a u a", "|u a u a u a", "|u a u a u a"],
  );
});

test("[K2] a cut never falls between a call and its result, whatever stands between them", () => {
  assert.equal(cutText("u aX rX a", 2), "<u aX rX |a");
  assert.equal(cutText("u aX rX a", 3), "<u |aX rX a");
  assert.equal(cutText("u aX b rX a", 3), "u aX b rX |a".replace("u", "<u"));
  assert.equal(cutText("u aX b rX u", 4), "<u |aX b rX u");
  assert.equal(cutText("u aXY rX c u rY a", 3), "<u aXY rX c u rY |a");
  // The same id again is another call: its result is the second one.
  assert.equal(cutText("u aX rX u aX rX a", 4), "u aX rX |u aX rX a");
});

test("[K2] the newest group stays whole, also when it alone is too large", () => {
  assert.equal(cutText("u a u aX rX", 1), "u a <u |aX rX");
  assert.equal(cutText("u a u aXY rX rY", 1), "u a <u |aXY rX rY");
});

test("[K2] an answer whose calls nobody answered may be the first that stays, and what follows it, too", () => {
  assert.equal(cutText("u aX u a", 2), "u aX |u a");
  assert.equal(cutText("u aX u a", 3), "<u |aX u a");
});

test("[K2] dB38 a call whose result is still to come stays with it", () => {
  assert.equal(cutText("u a u aX c c c", 2), "u a <u |aX c c c");
  assert.equal(cutText("u a u aXY rX", 1), "u a <u |aXY rX");
  assert.equal(cutText("u aX u", 1), "u aX |u");
});

test("[K2] entries without a message go with what follows them, but not over a compaction", () => {
  assert.equal(cutText("u a s s u a", 2), "u a |s s u a");
  assert.equal(cutText("u a C s u a", 2), "u a C |s u a");
});

test("[K2] nothing before the start is looked at, and without a possible place all stays", () => {
  assert.equal(cutText("u a u a u a", 99, 2), "u a |u a u a");
  assert.equal(cutText("rX rY", 1), "|rX rY");
  assert.deepEqual(findCut([], 0, 10), { firstKept: 0, turnStart: undefined });
});

test("[K2] a long conversation is cut in one pass", () => {
  const long = Array.from({ length: 100_000 }, (_, n) => items(n % 2 === 0 ? "u" : "a")[0]!);
  let reads = 0;
  const counted = new Proxy(long, {
    get: (target, key, receiver) => {
      if (typeof key === "string" && /^\d+$/.test(key)) reads++;
      return Reflect.get(target, key, receiver) as unknown;
    },
  });
  assert.deepEqual(findCut(counted, 0, 20_000), { firstKept: 80_000, turnStart: undefined });
  assert.ok(reads < 15 * long.length, `${reads} reads`);
});
