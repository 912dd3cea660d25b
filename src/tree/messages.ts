/**
 * `convertToLlm`: what a provider is sent for the messages of a session. The list it returns is valid whatever the
 * messages hold, and every change it had to make is reported.
 * Part of `tree/`: pure, runs in a browser. Used for every request, for summaries and by extensions. The message types
 * are exported from here too.
 */
import { isRecord, wellFormed } from "./json.ts";
import {
  branchText,
  compactionText,
  EARLIER_MESSAGES_MISSING,
  executionText,
  fileText,
  IMAGES_ATTACHED,
  INTERRUPTED,
  NO_OUTPUT,
} from "./message-texts.ts";
import type { AgentMessage, Message, ToolCall, ToolResultMessage, UserMessage } from "./message-types.ts";
import { type Repair, type Report, repairReporter } from "./repairs.ts";
import { type Answer, soundAnswer } from "./request-answer.ts";
import { type Block, soundBlocks, soundTime } from "./request-blocks.ts";
import { CallLedger, type CallSlot } from "./request-calls.ts";
import { soundSystemMessage } from "./request-system.ts";
import { type RequestModel, requestTarget, type RequestTarget } from "./request-target.ts";

export type * from "./message-types.ts";
export type { Repair, RepairKind } from "./repairs.ts";
export type { RequestModel } from "./request-target.ts";

/**
 * Turns session messages into a list a provider takes: summaries, commands and named files become user text; custom and
 * developer messages become system messages where `model` takes one at that place, else user messages; executions the
 * user excluded are left out.
 *
 * The list is valid by itself: every result stands right behind its answer, in the order of the calls, and every call
 * has one; nothing is empty; no answer that failed is in it; all strings are well-formed; images are sound. What had to
 * be changed for that is told to `onRepair`. The given messages are not changed; those already valid are returned as
 * the same objects. Linear in the size of the messages.
 */
export function convertToLlm(
  messages: readonly AgentMessage[],
  options: { model?: RequestModel | undefined; onRepair?: (what: Repair) => void } = {},
): Message[] {
  const request = new RequestDraft(requestTarget(options.model));
  const reportFor = repairReporter(options.onRepair);
  messages.forEach((message: unknown, index) => request.add(message, reportFor(index)));
  return request.finish();
}

/** An answer of the model with the places its results go to. */
class Turn {
  answer: Answer;
  slots: CallSlot[];
  report: Report;

  constructor(answer: Answer, slots: CallSlot[], report: Report) {
    this.answer = answer;
    this.slots = slots;
    this.report = report;
  }

  /** The answer and behind it one result for each call. */
  messages(): Message[] {
    const { message } = this.answer;
    if (this.slots.some((slot) => slot.result === undefined)) this.report("missing-result");
    return [message, ...this.slots.map((slot) => slot.result ?? interruptedResult(slot.call, message.timestamp))];
  }
}

type Fields = Record<string, unknown>;

class RequestDraft {
  #target: RequestTarget;
  #calls: CallLedger;
  #items: (Message | Turn)[] = [];
  /** Whether a user message or an answer is there. */
  #started = false;
  /** Whether the model has something to answer since its last answer. */
  #hasInput = false;

  constructor(target: RequestTarget) {
    this.#target = target;
    this.#calls = new CallLedger(target);
  }

  add(message: unknown, report: Report): void {
    if (!isRecord(message)) return report("bad-message");
    switch (message["role"]) {
      case "user":
        return this.#addUserMessage(message, report);
      case "assistant":
        return this.#addAnswer(message, report);
      case "toolResult":
        return this.#addResult(message, report);
      case "system":
        return this.#addSystemMessage(message, report);
      case "custom":
      case "hookMessage":
      case "developer":
        return this.#addInstruction(soundBlocks(message["content"], this.#target, report), message, report);
      case "fileMention":
        return this.#addFiles(message, report);
      case "bashExecution":
        return this.#addExecution(message, "The user ran a shell command:", "sh", message["command"], report);
      case "pythonExecution":
        return this.#addExecution(message, "The user ran Python code:", "python", message["code"], report);
      case "branchSummary":
        return this.#addSummary(message, branchText, report);
      case "compactionSummary":
        return this.#addSummary(message, compactionText, report);
      default:
        return report("unknown-role");
    }
  }

  finish(): Message[] {
    return this.#items.flatMap((item) => (item instanceof Turn ? item.messages() : item));
  }

  #addUserMessage(message: Fields, report: Report): void {
    const { content } = message;
    if (typeof content === "string" && content.trim() !== "" && wellFormed(content) === content)
      return this.#push(timed(message as unknown as UserMessage));
    const blocks = soundBlocks(content, this.#target, report);
    if (blocks === content && blocks.length > 0) return this.#push(timed(message as unknown as UserMessage));
    this.#pushUser(blocks, message, report);
  }

  #addAnswer(message: Fields, report: Report): void {
    const answer = soundAnswer(message, this.#target, this.#calls, report);
    if (answer === undefined) return;
    const slots = this.#calls.open(answer.calls, answer.sourceIds);
    if (!this.#started) {
      report("first-answer");
      this.#push({ role: "user", content: EARLIER_MESSAGES_MISSING, timestamp: answer.message.timestamp });
    }
    this.#items.push(new Turn(answer, slots, report));
    this.#hasInput = slots.length > 0;
  }

  #addResult(message: Fields, report: Report): void {
    const slot = this.#calls.answer(message["toolCallId"]);
    if (typeof slot === "string") return report(slot);
    const last = this.#items.at(-1);
    if (!(last instanceof Turn && last.slots === slot.siblings)) report("late-result");
    slot.result = this.#soundResult(message, slot, report);
  }

  #soundResult(message: Fields, slot: CallSlot, report: Report): ToolResultMessage {
    let content: unknown = soundBlocks(message["content"], this.#target, report);
    if ((content as Block[]).length === 0) {
      report("empty-text");
      content = [{ type: "text", text: NO_OUTPUT }];
    }
    const { id: toolCallId, name: toolName } = slot.call;
    const isError = message["isError"] === true;
    if (typeof message["isError"] !== "boolean") report("bad-field");
    const sound =
      content === message["content"] &&
      toolCallId === message["toolCallId"] &&
      toolName === message["toolName"] &&
      isError === message["isError"];
    const result = sound ? message : { ...message, toolCallId, toolName, content, isError };
    return timed(result as unknown as ToolResultMessage);
  }

  #addSystemMessage(message: Fields, report: Report): void {
    const system = soundSystemMessage(message, this.#target, report);
    if (system === undefined) report("empty-message");
    else this.#push(system);
  }

  /**
   * A message from the program rather than the user. It is a system message only behind something the model has yet
   * to answer: at the start it would be taken for the system prompt, and an answer directly followed by a system
   * message leaves some providers nothing to answer.
   */
  #addInstruction(blocks: Block[], source: Fields, report: Report): void {
    if (!this.#target.takesSystem || !this.#hasInput) return this.#pushUser(blocks, source, report);
    const texts = blocks.filter((block) => block.type === "text");
    const images = blocks.filter((block) => block.type === "image");
    if (blocks.length === 0) report("empty-message");
    if (texts.length > 0) this.#push({ role: "system", content: texts, timestamp: soundTime(source) });
    if (images.length > 0) this.#pushUser([{ type: "text", text: IMAGES_ATTACHED }, ...images], source, report);
  }

  #addFiles(message: Fields, report: Report): void {
    if (!Array.isArray(message["files"])) return report("empty-message");
    const texts: string[] = [];
    const images: Block[] = [];
    for (const file of message["files"] as unknown[]) {
      if (!isRecord(file) || typeof file["path"] !== "string") {
        report("bad-block");
        continue;
      }
      texts.push(fileText(file["path"], typeof file["content"] === "string" ? file["content"] : undefined));
      if (file["image"] !== undefined) images.push(...soundBlocks([file["image"]], this.#target, report));
    }
    const text = soundBlocks(texts.join("\n\n"), this.#target, report);
    this.#addInstruction([...text, ...images], message, report);
  }

  #addExecution(message: Fields, intro: string, language: string, source: unknown, report: Report): void {
    if (message["excludeFromContext"] === true) return;
    const { output, exitCode, cancelled, truncated, fullOutputPath } = message;
    const text = executionText({ intro, language, source, output, exitCode, cancelled, truncated, fullOutputPath });
    const images = Array.isArray(message["images"]) ? (message["images"] as unknown[]) : [];
    this.#pushUser(soundBlocks([{ type: "text", text }, ...images], this.#target, report), message, report);
  }

  #addSummary(message: Fields, render: (summary: string) => string, report: Report): void {
    const { summary } = message;
    if (typeof summary !== "string" || summary.trim() === "") return report("empty-message");
    this.#pushUser(soundBlocks(render(summary), this.#target, report), message, report);
  }

  #pushUser(content: Block[], source: Fields, report: Report): void {
    if (content.length === 0) return report("empty-message");
    this.#push({ role: "user", content, timestamp: soundTime(source) });
  }

  #push(message: Message): void {
    this.#items.push(message);
    if (message.role === "user") this.#started = this.#hasInput = true;
  }
}

/** The message itself, or a copy whose time is a number. */
function timed<M extends Message>(message: M): M {
  const timestamp = soundTime(message as unknown as Fields);
  return timestamp === message.timestamp ? message : { ...message, timestamp };
}

function interruptedResult(call: ToolCall, timestamp: number): ToolResultMessage {
  const content: Block[] = [{ type: "text", text: INTERRUPTED }];
  return { role: "toolResult", toolCallId: call.id, toolName: call.name, content, isError: true, timestamp };
}
