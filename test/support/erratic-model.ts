/**
 * A model that does whatever models and providers have been seen to do, by numbers that depend on a seed alone; and the
 * texts, images and tools that go with it.
 * For the long history.
 */
import type { AgentTool } from "@earendil-works/pi-agent-core";
import type { ApiKind } from "../../src/agent/providers.ts";
import type { ImageContent } from "../../src/tree/messages.ts";
import type { SeededRandom } from "./generate.ts";
import type { WireAnswer, WireCall, WireRequest } from "./three-protocols.ts";

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452000000010000000108020000009077 53de".replace(/ /g, ""), "hex");
const IMAGES: readonly ImageContent[] = [
  { type: "image", data: PNG.toString("base64"), mimeType: "image/png" },
  { type: "image", data: PNG.toString("base64"), mimeType: "image/jpeg" },
  { type: "image", data: "iVBORw0KG", mimeType: "image/png" },
  { type: "image", data: "", mimeType: "image/png" },
];

/** What stands in texts beside words. */
const ODD = [
  "\ud83d",
  "\udc4d left",
  "a\0b",
  "👩‍👩‍👧",
  "\u2028",
  "</conversation>",
  "<previous-summary>",
  "\u001b[2J",
  "",
  " ",
  "\n\n",
  "__proto__",
];

export function oddText(random: SeededRandom, words: number): string {
  const parts = Array.from({ length: random.below(words) + 1 }, () =>
    random.chance(6) ? random.pick(ODD) : random.pick(["mortar", "lantern", "Größe", "湖と橋", "ferry", "quarry"]),
  );
  return parts.join(" ");
}

export const oddImage = (random: SeededRandom): ImageContent => random.pick(IMAGES);

const RESULTS = ["text", "text", "text", "huge", "fails", "image", "odd", "empty", "nothing", "waits"] as const;
/** Characters; more than the smallest window takes. */
const HUGE = 40_000;

/** Tools whose results are as their arguments say. Only the first is one that looks and changes nothing. */
export function erraticTools(): AgentTool[] {
  return ["read", "change"].map((name) => ({
    name,
    label: name,
    description: `Gives what it is asked for (${name})`,
    parameters: { type: "object", properties: { gives: { type: "string" }, turns: { type: "number" } } },
    execute: async (_id: string, args: unknown, signal?: AbortSignal) => {
      const { gives, turns = 0, path = "" } = (args ?? {}) as { gives?: string; turns?: number; path?: string };
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      const text = (given: string) => ({ content: [{ type: "text" as const, text: given }], details: undefined });
      switch (gives) {
        case "huge":
          return text("👍".repeat(HUGE / 2));
        case "fails":
          throw new Error(`No such file: ${path}\ud83d`);
        case "image":
          return { content: [...IMAGES], details: undefined };
        case "odd":
          return text(ODD.join("|"));
        case "empty":
          return text("");
        case "nothing":
          return { details: undefined } as never;
        case "waits":
          await new Promise<void>((_, reject) => {
            const stop = (): void => reject(new Error("stopped"));
            if (signal?.aborted) stop();
            signal?.addEventListener("abort", stop, { once: true });
          });
          return text("never");
        default:
          return text(`The contents of ${path}.`);
      }
    },
  }));
}

/** Whether a call is one that ends only when it is stopped. */
export const isWaiting = (args: unknown): boolean => (args as { gives?: unknown } | null)?.gives === "waits";

const FAILURES: readonly WireAnswer[] = [
  { status: 500, message: "internal server error" },
  { status: 429, message: "rate limit reached" },
  { status: 400, message: "prompt is too long: 213000 tokens > 200000 maximum" },
  { status: 400, message: "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after" },
  { status: 401, message: "invalid key" },
];

/** What a request is answered with. `window`: tokens the model takes; `isPlanning`: it may hand in a plan. */
export function erraticAnswer(
  random: SeededRandom,
  { api, tokens }: Pick<WireRequest, "api" | "tokens">,
  { window, isPlanning }: { window: number; isPlanning: boolean },
): WireAnswer {
  if (tokens > window) return { status: 400, message: `prompt is too long: ${tokens} tokens > ${window} maximum` };
  if (random.chance(6)) return random.pick(FAILURES);
  const thinking = random.chance(25) ? { thinking: oddText(random, 20) } : {};
  if (random.chance(3))
    return { ...thinking, text: [oddText(random, 10)], ending: random.pick(["early", "never"] as const) };
  if (random.chance(4)) return { ...thinking, text: random.chance(50) ? [oddText(random, 10)] : [], isCutOff: true };
  if (random.chance(3)) return { ...thinking, text: [] };
  if (random.chance(45)) return { ...thinking, text: [oddText(random, 120), " ", oddText(random, 40)] };
  const calls = Array.from({ length: 1 + random.below(random.chance(25) ? 4 : 1) }, (_, n) => call(random, api, n));
  if (isPlanning && random.chance(40))
    calls.push({
      id: "plan",
      name: "submit_plan",
      arguments: JSON.stringify({ plan: `# Plan\n${oddText(random, 30)}` }),
    });
  return { ...thinking, text: random.chance(50) ? [oddText(random, 12)] : [], calls };
}

/** Some servers count their ids anew with each answer; those of chat completions take any. */
function call(random: SeededRandom, api: ApiKind, n: number): WireCall {
  const long = `call.${"x".repeat(70)}${random.below(1e6)}`;
  const id = random.pick([`call_${n}`, `call_${random.below(1e9)}`, ...(api === "openai-completions" ? [long] : [])]);
  const args = { gives: random.pick(RESULTS), turns: random.below(4), path: `src/${random.below(30)}.ts` };
  return {
    id,
    name: random.pick(["read", "read", "read", "change", "change", "unheard-of"]),
    arguments: random.chance(4) ? random.pick(["", "null", '{"gives":"te', '"text"', "[]"]) : JSON.stringify(args),
  };
}

/** What a request for a summary is answered with: mostly one. */
export function erraticSummary(random: SeededRandom): WireAnswer {
  if (random.chance(80)) return { text: [`## Goal\n${oddText(random, 60)}\n<read-files>\nsrc/1.ts`] };
  return random.pick<WireAnswer>([
    { text: [" "] },
    { text: ["half of"], isCutOff: true },
    { text: ["half of"], ending: "early" },
    { calls: [{ id: "c", name: "read", arguments: "{}" }] },
    { status: 400, message: "no summary today" },
    { status: 400, message: "prompt is too long: 213000 tokens > 200000 maximum" },
  ]);
}
