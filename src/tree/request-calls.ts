/**
 * Tool calls and their results in a request: which result belongs to which call, under which id and name both go.
 * Part of `tree/`: pure. Used by `convertToLlm`.
 */
import { isRecord, sendable, wellFormed } from "./json.ts";
import type { JsonObject, ToolCall, ToolResultMessage } from "./message-types.ts";
import type { Report } from "./repairs.ts";
import { isSoundSignature } from "./request-blocks.ts";
import type { RequestTarget } from "./request-target.ts";

/** The longest id that every provider takes. */
const ID_LENGTH = 40;

/** A call of one answer, waiting for its result. */
export interface CallSlot {
  call: ToolCall;
  result: ToolResultMessage | undefined;
  /** All calls of the same answer. */
  siblings: readonly CallSlot[];
}

/** All calls of a request, in order. */
export class CallLedger {
  #target: RequestTarget;
  /** Heads of ids (what stands before "|", which is what OpenAI pairs by) that are taken. */
  #taken = new Set<string>();
  #nextSuffix = new Map<string, number>();
  /** By the id in the file: calls without a result, the next to be answered last. */
  #waiting = new Map<string, CallSlot[]>();
  #answered = new Set<string>();

  constructor(target: RequestTarget) {
    this.#target = target;
  }

  /** The call as it is sent. `own`: the model the request goes to wrote it. */
  soundCall(block: Record<string, unknown>, own: boolean, report: Report): ToolCall {
    const id = this.#claimId(block["id"], own, report);
    const name = soundToolName(block["name"], this.#target, report);
    const args = soundArguments(block["arguments"], report);
    const optional = ["thoughtSignature", "namespace", "argumentsError"] as const;
    const kept = optional.filter((field) => isSoundSignature(block[field]));
    const lost = optional.some((field) => block[field] !== undefined && !kept.includes(field));
    if (lost) report("bad-field");
    if (!lost && id === block["id"] && name === block["name"] && args === block["arguments"])
      return block as unknown as ToolCall;
    const extras = Object.fromEntries(kept.map((field) => [field, block[field]]));
    return { type: "toolCall", id, name, arguments: args, ...extras };
  }

  /** Opens the calls of one answer, `ids` being those in the file; results that follow go to the latest answer first. */
  open(calls: readonly ToolCall[], ids: readonly unknown[]): CallSlot[] {
    const slots: CallSlot[] = [];
    for (const call of calls) slots.push({ call, result: undefined, siblings: slots });
    for (let at = slots.length - 1; at >= 0; at--) {
      const id = ids[at];
      if (typeof id !== "string") continue;
      const waiting = this.#waiting.get(id);
      if (waiting === undefined) this.#waiting.set(id, [slots[at]!]);
      else waiting.push(slots[at]!);
    }
    return slots;
  }

  /** The call that a result with this id answers, or why there is none. */
  answer(id: unknown): CallSlot | "orphan-result" | "duplicate-result" {
    if (typeof id !== "string") return "orphan-result";
    const slot = this.#waiting.get(id)?.pop();
    if (slot === undefined) return this.#answered.has(id) ? "duplicate-result" : "orphan-result";
    this.#answered.add(id);
    return slot;
  }

  #claimId(id: unknown, own: boolean, report: Report): string {
    if (typeof id === "string" && this.#target.acceptsCallId(id, own)) {
      const head = headOf(id);
      if (head !== "" && !this.#taken.has(head)) {
        this.#taken.add(head);
        return id;
      }
    }
    report("call-id");
    const plain = portable(typeof id === "string" ? id : "", ID_LENGTH) || "call";
    const stem = plain.slice(0, ID_LENGTH - 10);
    let claimed = plain;
    while (this.#taken.has(claimed)) {
      const suffix = this.#nextSuffix.get(stem) ?? 2;
      this.#nextSuffix.set(stem, suffix + 1);
      claimed = `${stem}-${suffix}`;
    }
    this.#taken.add(claimed);
    return claimed;
  }
}

const headOf = (id: string): string => {
  const bar = id.indexOf("|");
  return bar < 0 ? id : id.slice(0, bar);
};

/** Only characters that every provider takes in ids and names. */
const portable = (text: string, length: number): string =>
  text
    .slice(0, length)
    .replace(/[^a-zA-Z0-9_-]/g, "_")
    .replace(/_+$/, "");

function soundToolName(name: unknown, target: RequestTarget, report: Report): string {
  if (typeof name === "string" && target.acceptsToolName(name)) return name;
  report("tool-name");
  const plain = portable(typeof name === "string" ? name : "", 63) || "unknown_tool";
  return target.acceptsToolName(plain) ? plain : `_${plain}`;
}

/** Old files and other programs hold null, nothing, or the object as JSON text. */
function soundArguments(value: unknown, report: Report): JsonObject {
  const object = typeof value === "string" ? parsedRecord(value) : value;
  if (!isRecord(object)) {
    report("arguments");
    return {};
  }
  const sound = sendable(object) as JsonObject;
  if (object !== value) report("arguments");
  else if (sound !== object) report("characters");
  return sound;
}

function parsedRecord(text: string): unknown {
  try {
    return JSON.parse(wellFormed(text));
  } catch {
    return undefined;
  }
}
