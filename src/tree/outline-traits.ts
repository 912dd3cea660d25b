/**
 * What entries are, as far as filters and rows ask: one byte an entry, and the way from a tool result to its call.
 * Part of `tree/`: pure. Used by Outline. Reads no body where the role or the bytes of a line tell it.
 */
import { glanceAtAnswer } from "./answer-glance.ts";
import type { SessionEntry } from "./entries.ts";
import { isRecord } from "./json.ts";
import { isBlank } from "./one-line.ts";
import type { OutlineSource } from "./outline-source.ts";
import type { CallDescription } from "./tool-call-text.ts";

const KNOWN = 1;
export const USER = 2;
export const ASSISTANT = 4;
export const TOOL_RESULT = 8;
/** An assistant message that ended as usual and says nothing: tool calls only. */
export const SILENT = 16;
const HAS_CALLS = 32;
/** An answer that was seen to say something, and not looked at any further. */
const CALLS_UNSEEN = 64;

/** A call answered further away than this many messages with calls is shown by its tool's name alone. */
const FARTHEST_CALL = 16;

/** What traits are made of. */
export type TraitsSource = Pick<
  OutlineSource,
  "size" | "at" | "kindAt" | "roleAt" | "bytesAt" | "glanceAt" | "parentOrdinal"
>;

/** Kept while the source grows. */
export class EntryTraits {
  readonly #source: TraitsSource;
  #bits = new Uint8Array(0);
  /** By ordinal: 2 + the nearest ancestor with tool calls, 1 for none, 0 when not looked up. */
  #callsAbove = new Int32Array(0);
  /** The calls of the message last asked for: its results ask one after the other. */
  #calls: { holder: number; byId: Map<unknown, CallDescription> } = { holder: -1, byId: new Map() };

  constructor(source: TraitsSource) {
    this.#source = source;
  }

  has(n: number, trait: number): boolean {
    return (this.#of(n) & trait) !== 0;
  }

  /** The call with this id in the nearest message above `n` that holds it: some providers use an id again and again. */
  findCall(n: number, toolCallId: string): CallDescription | undefined {
    let holder = this.#holderAbove(n);
    for (let tries = 0; holder >= 0 && tries < FARTHEST_CALL; tries++) {
      const call = this.#callsOf(holder).get(toolCallId);
      if (call !== undefined) return call;
      holder = this.#holderAbove(holder);
    }
    return undefined;
  }

  #callsOf(holder: number): Map<unknown, CallDescription> {
    if (holder !== this.#calls.holder) {
      const byId = new Map<unknown, CallDescription>();
      for (const block of contentOf(this.#source.at(holder)))
        if (isCall(block)) byId.set(block["id"], { name: block["name"], arguments: block["arguments"] });
      this.#calls = { holder, byId };
    }
    return this.#calls.byId;
  }

  #of(n: number): number {
    if (n >= this.#bits.length) this.#grow();
    const bits = this.#bits[n]!;
    return bits === 0 ? (this.#bits[n] = KNOWN | this.#look(n)) : bits;
  }

  #look(n: number): number {
    if (this.#source.kindAt(n) !== "message") return 0;
    const role = this.#source.roleAt?.(n);
    const known = this.#source.glanceAt?.(n);
    if (known !== undefined)
      return role === "assistant" ? answerTraits(known.silent, false) : (ROLE_TRAITS.get(role) ?? 0);
    if (role === undefined) return messageTraits(this.#source.at(n));
    if (role !== "assistant") return ROLE_TRAITS.get(role) ?? 0;
    const line = this.#source.bytesAt?.(n);
    const glance = line && glanceAtAnswer(line);
    if (glance === undefined) return messageTraits(this.#source.at(n));
    return answerTraits(glance.isSilent, glance.hasCalls);
  }

  #hasCalls(n: number): boolean {
    // Whoever asks looks into the answer that has them: its body is wanted then.
    if (this.has(n, CALLS_UNSEEN)) this.#bits[n] = KNOWN | messageTraits(this.#source.at(n));
    return this.has(n, HAS_CALLS);
  }

  #holderAbove(n: number): number {
    if (n >= this.#callsAbove.length) this.#grow();
    let holder = 0;
    let top = n;
    while ((holder = this.#callsAbove[top]!) === 0) {
      const parent = this.#source.parentOrdinal(top);
      if (parent < 0) holder = 1;
      else if (this.#hasCalls(parent)) holder = parent + 2;
      if (holder !== 0) break;
      top = parent;
    }
    for (let m = n; m !== top; m = this.#source.parentOrdinal(m)) this.#callsAbove[m] = holder;
    this.#callsAbove[top] = holder;
    return holder - 2;
  }

  #grow(): void {
    const size = Math.max(this.#source.size, 2 * this.#bits.length);
    const bits = new Uint8Array(size);
    bits.set(this.#bits);
    this.#bits = bits;
    this.#callsAbove = new Int32Array(size);
  }
}

function messageTraits(entry: SessionEntry): number {
  const message: { role?: unknown; stopReason?: unknown } | undefined =
    entry.type === "message" ? entry.message : undefined;
  if (message?.role !== "assistant") return ROLE_TRAITS.get(message?.role) ?? 0;
  const content = contentOf(entry);
  const { stopReason } = message;
  const endedEarly = stopReason !== undefined && stopReason !== "stop" && stopReason !== "toolUse";
  return answerTraits(!endedEarly && !content.some(saysSomething), content.some(isCall));
}

const ROLE_TRAITS: ReadonlyMap<unknown, number> = new Map([
  ["user", USER],
  ["toolResult", TOOL_RESULT],
]);

function answerTraits(isSilent: boolean, hasCalls: boolean | undefined): number {
  const calls = hasCalls === undefined ? CALLS_UNSEEN : hasCalls ? HAS_CALLS : 0;
  return ASSISTANT | calls | (isSilent ? SILENT : 0);
}

const isCall = (block: unknown): block is Record<string, unknown> => isRecord(block) && block["type"] === "toolCall";

const saysSomething = (block: unknown): boolean =>
  isRecord(block) && block["type"] === "text" && typeof block["text"] === "string" && !isBlank(block["text"]);

/** The content blocks of a message; a bare string counts as one block of text. */
function contentOf(entry: SessionEntry): readonly unknown[] {
  const message: unknown = entry.type === "message" ? entry.message : undefined;
  const content = isRecord(message) ? message["content"] : undefined;
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content : [];
}
