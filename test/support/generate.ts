/**
 * Made-up sessions from a seed: the same options always give the same lines. For tests and benches that need many
 * entries; the shapes are those of real use (one long line, many branches, many compactions).
 */
import { closeSync, openSync, writeSync } from "node:fs";
import { encodeLine } from "../../src/tree/format.ts";

export interface GenerateOptions {
  /** linear: one conversation. bushy: goes back and branches all the time. compact: is compacted every 150 entries. */
  shape: "linear" | "bushy" | "compact";
  /** Lines after the header. */
  entries: number;
  /** Default 1. */
  seed?: number;
  /** Of the file format; default 3. */
  version?: 1 | 2 | 3;
  /** Characters of an average text; default 60. */
  textLength?: number;
}

/** The lines of a session, header first, without newlines. */
export function* generateSession(options: GenerateOptions): Generator<string> {
  const writer = new SessionWriter(options);
  yield encodeLine(writer.header());
  for (let n = 0; n < options.entries; n++) yield encodeLine(writer.next());
}

/** Writes the session to a file and returns its size in bytes. */
export function writeSessionFile(path: string, options: GenerateOptions): number {
  const file = openSync(path, "wx", 0o600);
  let size = 0;
  let lines: string[] = [];
  const write = (): void => {
    size += writeSync(file, lines.join(""));
    lines = [];
  };
  try {
    for (const line of generateSession(options)) if (lines.push(`${line}\n`) === 1000) write();
    write();
  } finally {
    closeSync(file);
  }
  return size;
}

/** Numbers that depend on the seed alone (xorshift). */
export class SeededRandom {
  #state: number;
  constructor(seed: number) {
    this.#state = (seed ^ 0x5bd1e995) >>> 0 || 1;
  }
  /** A whole number from 0 to `limit - 1`. */
  below(limit: number): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) % limit;
  }
  chance(percent: number): boolean {
    return this.below(100) < percent;
  }
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
}

const WORDS =
  "harbour lantern gravel orchard copper saddle meadow ferry chalk willow anchor basin ledger quarry thimble spindle kettle mortar pasture rivet".split(
    " ",
  );
const ACCENTED = ["Größe", "naïve", "湖と橋", "→", "🌿"];
const TOOLS = ["read", "bash", "edit", "grep"];
const MODELS = [
  { provider: "anthropic", modelId: "claude-sonnet-4-5" },
  { provider: "openai", modelId: "gpt-5" },
];

type Fields = { type: string } & Record<string, unknown>;

/** Plays a conversation: user, answers with tool calls, results, final answer, and so on. */
class SessionWriter {
  readonly #options: Required<GenerateOptions>;
  readonly #random: SeededRandom;
  readonly #ids: string[] = [];
  readonly #parents: number[] = [];
  /** Places of the entries that are messages. */
  readonly #messages: number[] = [];
  #leaf = -1;
  #clock = Date.UTC(2026, 2, 2, 8, 30);
  #callsLeft = 0;
  #openCall: { id: string; name: string } | undefined;
  #answerDue = false;

  constructor(options: GenerateOptions) {
    this.#options = { seed: 1, version: 3, textLength: 60, ...options };
    this.#random = new SeededRandom(this.#options.seed);
  }

  header(): object {
    const { shape, entries, seed, version } = this.#options;
    return {
      type: "session",
      ...(version === 1 ? {} : { version }),
      id: `generated-${shape}-${entries}-${seed}`,
      timestamp: new Date(this.#clock).toISOString(),
      cwd: "/home/sam/bakery",
    };
  }

  next(): object {
    const count = this.#ids.length;
    const { shape } = this.#options;
    if (count === 0) return this.#add(this.#modelChange(0));
    if (count === 1) return this.#add({ type: "thinking_level_change", thinkingLevel: "low" });
    if (shape === "bushy" && count > 10 && this.#random.chance(6)) return this.#goBack();
    if (shape === "compact" && count % 150 === 0) return this.#compact();
    if (this.#openCall !== undefined) return this.#toolResult(this.#openCall);
    if (this.#answerDue) return this.#answer();
    return this.#random.chance(15) ? this.#aside() : this.#prompt();
  }

  #goBack(): object {
    this.#openCall = undefined;
    this.#answerDue = false;
    const left = this.#ids[this.#leaf] as string;
    if (this.#random.chance(15)) this.#leaf = this.#random.below(this.#ids.length);
    else {
      let steps = 1 + this.#random.below(25);
      while (steps-- > 0 && this.#parents[this.#leaf] !== -1) this.#leaf = this.#parents[this.#leaf] as number;
    }
    return this.#random.chance(30)
      ? this.#add({ type: "branch_summary", fromId: left, summary: this.#text(8) })
      : this.#prompt();
  }

  #compact(): object {
    this.#openCall = undefined;
    this.#answerDue = false;
    const kept = this.#messages.at(-20) ?? this.#messages[0] ?? 0;
    const pointer =
      this.#options.version === 1 ? { firstKeptEntryIndex: kept + 1 } : { firstKeptEntryId: this.#ids[kept] };
    return this.#add({
      type: "compaction",
      summary: this.#text(12),
      ...pointer,
      tokensBefore: 90_000 + this.#random.below(60_000),
    });
  }

  #prompt(): object {
    this.#answerDue = true;
    this.#callsLeft = this.#random.below(5);
    return this.#message({ role: "user", content: [{ type: "text", text: this.#text(2) }] });
  }

  #answer(): object {
    const content: object[] = [];
    if (this.#random.chance(25))
      content.push({ type: "thinking", thinking: this.#text(3), thinkingSignature: "c2VhbGVk" });
    const final = this.#callsLeft-- <= 0;
    if (final || this.#random.chance(50)) content.push({ type: "text", text: this.#text(final ? 5 : 1) });
    if (!final) {
      this.#openCall = { id: `call_${this.#newId()}`, name: this.#random.pick(TOOLS) };
      content.push({ type: "toolCall", ...this.#openCall, arguments: { path: `src/${this.#random.pick(WORDS)}.ts` } });
    }
    this.#answerDue = !final;
    const { provider, modelId } = this.#random.pick(MODELS);
    return this.#message({
      role: "assistant",
      content,
      api: "anthropic-messages",
      provider,
      model: modelId,
      usage: this.#usage(),
      stopReason: final ? "stop" : "toolUse",
    });
  }

  #toolResult(call: { id: string; name: string }): object {
    this.#openCall = undefined;
    return this.#message({
      role: "toolResult",
      toolCallId: call.id,
      toolName: call.name,
      content: [{ type: "text", text: this.#text(4) }],
      isError: this.#random.chance(5),
    });
  }

  /** What is not a message. Version 1 had no ids for a label to name. */
  #aside(): object {
    const makers: (() => Fields)[] = [
      () => this.#modelChange(1),
      () => ({ type: "thinking_level_change", thinkingLevel: this.#random.pick(["off", "low", "high"]) }),
      () => ({ type: "custom", customType: "checklist", data: { done: this.#random.below(9) } }),
      () => this.#hint(),
      () => ({ type: "label", targetId: this.#ids[this.#leaf], label: `mark ${this.#ids.length}` }),
    ];
    if (this.#options.version === 1) makers.pop();
    return this.#add(this.#random.pick(makers)());
  }

  /** An extension's message; before version 3 it was a message with the role hookMessage. */
  #hint(): Fields {
    const hint = { customType: "hint", content: this.#text(1), display: true };
    if (this.#options.version === 3) return { type: "custom_message", ...hint };
    return { type: "message", message: { role: "hookMessage", ...hint, timestamp: this.#clock } };
  }

  #modelChange(which: number): Fields {
    const { provider, modelId } = MODELS[which] ?? { provider: "openai", modelId: "gpt-5" };
    return { type: "model_change", provider, modelId, model: `${provider}/${modelId}` };
  }

  #message(message: object): object {
    this.#messages.push(this.#ids.length);
    return this.#add({ type: "message", message: { ...message, timestamp: this.#clock } });
  }

  #add(fields: Fields): object {
    this.#clock += 1000 + this.#random.below(15_000);
    const timestamp = new Date(this.#clock).toISOString();
    const id = this.#newId();
    const parentId = this.#leaf === -1 ? null : this.#ids[this.#leaf];
    this.#parents.push(this.#leaf);
    this.#leaf = this.#ids.push(id) - 1;
    return this.#options.version === 1 ? { ...fields, timestamp } : { id, parentId, timestamp, ...fields };
  }

  #newId(): string {
    // The count makes it unique, the random part makes it look like a real id.
    const count = this.#ids.length.toString(16).padStart(5, "0");
    return this.#random.below(0x1000).toString(16).padStart(3, "0") + count;
  }

  #usage(): object {
    const [input, output, cacheRead] = [this.#random.below(2000), this.#random.below(800), this.#random.below(50_000)];
    const cost = { input: input / 1e6, output: output / 2e5, cacheRead: cacheRead / 1e7, cacheWrite: 0 };
    return {
      input,
      output,
      cacheRead,
      cacheWrite: 0,
      totalTokens: input + output + cacheRead,
      cost: { ...cost, total: cost.input + cost.output + cost.cacheRead },
    };
  }

  /** About `times` texts long. */
  #text(times: number): string {
    const length = Math.max(1, Math.floor((times * this.#options.textLength * (50 + this.#random.below(100))) / 100));
    let text = "";
    while (text.length < length) text += `${this.#random.pick(this.#random.chance(2) ? ACCENTED : WORDS)} `;
    return text.trimEnd();
  }
}
