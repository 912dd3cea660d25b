/**
 * `EntryMarkdown`: one entry of a session as Markdown. Fields may have any shape, since files come from anywhere.
 * Part of `export/`; used by markdown.ts.
 */
import { textOf } from "../tree/content.ts";
import type { SessionEntry } from "../tree/entries.ts";
import { isRecord, sendable } from "../tree/json.ts";
import { RULE_REMINDER, customTypeText } from "../tree/row-text.ts";
import { isImage } from "./record-texts.ts";
import { codeBlock, details, htmlLine, oneLine, safeMarkdown } from "./markdown-text.ts";

/** Which images go into the document, and what became of the others. */
export class MarkdownImages {
  included = 0;
  leftOut = 0;
  #room: number;

  /** @param limit characters of base64, all images together; 0: none */
  constructor(limit: number) {
    this.#room = limit;
  }

  markdown(block: Fields): string {
    const data = stringOf(block["data"]);
    const mimeType = stringOf(block["mimeType"]);
    if (!isImage(block) || !IMAGE_TYPES.has(mimeType) || data.length > this.#room) {
      this.leftOut++;
      return `_(an image, ${Math.ceil((data.length * 3) / 4 / 1024)} KB, is left out)_`;
    }
    this.#room -= data.length;
    this.included++;
    return `![image](data:${mimeType};base64,${data})`;
  }
}

const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

type Fields = Readonly<Record<string, unknown>>;

/** Characters of a summary that stands on a fold. */
const SUMMARY = 120;

export class EntryMarkdown {
  readonly #images: MarkdownImages;
  /** The model whose answers go on; undefined when the next one has to be introduced. */
  #speaker: string | undefined;

  constructor(images: MarkdownImages) {
    this.#images = images;
  }

  /** What comes next does not go on from what was last. */
  begin(): void {
    this.#speaker = undefined;
  }

  /** @param results the entries that hold the results of the calls in an answer */
  *entry(entry: SessionEntry, results: readonly SessionEntry[]): Generator<string> {
    const blocks = entry.type === "message" ? this.#message(entry.message, results) : [this.#other(entry)];
    for (const block of blocks) if (block !== undefined && block.trim() !== "") yield `${block}\n\n`;
  }

  #other(entry: Exclude<SessionEntry, { type: "message" }>): string | undefined {
    switch (entry.type) {
      case "compaction":
        return details("Summary of the conversation so far", safeMarkdown(stringOf(entry.summary)) || "(empty)");
      case "branch_summary":
        return details("Summary of a branch that was left", safeMarkdown(stringOf(entry.summary)) || "(empty)");
      case "custom_message":
        return this.#custom(entry as unknown as Fields);
      case "model_change":
        return `_Model: ${oneLine(stringOf(entry.model) || stringOf(entry.modelId), SUMMARY)}_`;
      case "mode_change":
        return `_Mode: ${oneLine(stringOf(entry.mode), SUMMARY)}_`;
      case "session_init":
        return details("Task of this agent", safeMarkdown(stringOf(entry.task)) || "(empty)");
      default:
        return undefined;
    }
  }

  *#message(message: unknown, results: readonly SessionEntry[]): Generator<string | undefined> {
    if (!isRecord(message)) return;
    switch (message["role"]) {
      case "user":
        this.begin();
        yield* this.#content(message["content"]);
        return;
      case "assistant":
        yield* this.#answer(message, results);
        return;
      case "toolResult":
        yield this.#resultFold(message);
        return;
      case "bashExecution":
        yield execution("sh", stringOf(message["command"]), message);
        return;
      case "pythonExecution":
        yield execution("python", stringOf(message["code"]), message);
        return;
      case "custom":
      case "hookMessage":
        yield this.#custom(message);
        return;
      case "developer":
      case "system":
        yield details(
          `Instructions (${message["role"]})`,
          [...this.#content(message["content"])].join("\n\n") || "(empty)",
        );
        return;
      case "fileMention":
        for (const file of recordsOf(message["files"])) yield this.#file(file);
        return;
      default:
        yield details(`Message of the role ${htmlLine(stringOf(message["role"]), SUMMARY)}`, json(message));
    }
  }

  *#answer(message: Fields, results: readonly SessionEntry[]): Generator<string | undefined> {
    const model = stringOf(message["model"]) || "unknown model";
    if (model !== this.#speaker) yield `**Assistant** · ${oneLine(model, SUMMARY)}`;
    this.#speaker = model;
    const waiting = results.flatMap((entry) => {
      const result: unknown = entry.type === "message" ? entry.message : undefined;
      return isRecord(result) ? [result] : [];
    });
    for (const block of recordsOf(message["content"])) {
      if (block["type"] === "text") yield safeMarkdown(stringOf(block["text"]));
      else if (block["type"] === "thinking") yield thinking(block);
      else if (block["type"] === "image") yield this.#images.markdown(block);
      else if (block["type"] === "toolCall") {
        const at = waiting.findIndex((result) => result["toolCallId"] === block["id"]);
        const [result] = at < 0 ? [] : waiting.splice(at, 1);
        yield this.#call(block, result);
      }
    }
    if (typeof message["content"] === "string") yield safeMarkdown(message["content"]);
    const stop = stringOf(message["stopReason"]);
    if (stop === "error" || stop === "aborted") {
      const reason = oneLine(stringOf(message["errorMessage"]), 500);
      yield `> **${stop === "error" ? "Failed" : "Stopped"}**${reason === "" ? "" : `: ${reason}`}`;
    }
    for (const result of waiting) yield this.#resultFold(result);
  }

  #call(call: Fields, result: Fields | undefined): string {
    const name = stringOf(call["name"]);
    const given = call["arguments"];
    const parts = [argumentsText(name, given)];
    if (result === undefined) parts.push("_(no result)_");
    else parts.push(...this.#result(result));
    const failed = result?.["isError"] === true ? " — failed" : "";
    return details(`<b>${htmlLine(name, 60)}</b> ${htmlLine(glance(given), SUMMARY)}${failed}`, parts.join("\n\n"));
  }

  #resultFold(result: Fields): string {
    const failed = result["isError"] === true ? " — failed" : "";
    return details(
      `Result of <b>${htmlLine(stringOf(result["toolName"]), 60)}</b>${failed}`,
      this.#result(result).join("\n\n"),
    );
  }

  #result(result: Fields): string[] {
    const { details: facts } = result;
    const diff = isRecord(facts) ? stringOf(facts["diff"]) || stringOf(facts["patch"]) : "";
    const parts = diff === "" ? [] : [codeBlock(diff, "diff")];
    const text = textOf(result["content"]);
    if (text.trim() !== "") parts.push(codeBlock(text));
    parts.push(...this.#imagesIn(result["content"]));
    return parts.length > 0 ? parts : ["_(no output)_"];
  }

  #custom(message: Fields): string {
    const from = message["customType"] === RULE_REMINDER ? "told to the model" : "an extension's message";
    const hidden = message["display"] === false ? ", hidden in the terminal" : "";
    const body = [...this.#content(message["content"])].join("\n\n");
    return details(`${htmlLine(customTypeText(message["customType"]), 60)} (${from}${hidden})`, body || "(empty)");
  }

  #file(file: Fields): string {
    const path = stringOf(file["path"]);
    const image = isRecord(file["image"]) ? this.#images.markdown(file["image"]) : "";
    const content = stringOf(file["content"]);
    return details(
      `File <code>${htmlLine(path, SUMMARY)}</code>`,
      [content && codeBlock(content), image].filter(Boolean).join("\n\n"),
    );
  }

  *#content(content: unknown): Generator<string> {
    if (typeof content === "string") yield safeMarkdown(content);
    for (const block of recordsOf(content)) {
      if (block["type"] === "text") yield safeMarkdown(stringOf(block["text"]));
      else if (block["type"] === "image") yield this.#images.markdown(block);
    }
  }

  *#imagesIn(content: unknown): Generator<string> {
    for (const block of recordsOf(content)) if (block["type"] === "image") yield this.#images.markdown(block);
  }
}

function thinking(block: Fields): string | undefined {
  const text = stringOf(block["thinking"]);
  return text.trim() === "" ? undefined : details("Thinking", codeBlock(text, "text"));
}

function execution(language: string, command: string, message: Fields): string {
  const code = message["exitCode"];
  const ended =
    message["cancelled"] === true ? " — stopped" : typeof code === "number" && code !== 0 ? ` — exit code ${code}` : "";
  const output = stringOf(message["output"]);
  const parts = [codeBlock(command, language), output.trim() === "" ? "_(no output)_" : codeBlock(output)];
  return details(`The user ran <code>${htmlLine(command, SUMMARY)}</code>${ended}`, parts.join("\n\n"));
}

/** What a command runs, or a file holds, as code of its own; the rest as JSON. */
function argumentsText(name: string, given: unknown): string {
  if (!isRecord(given)) return given === undefined ? "" : json(given);
  const { command, ...rest } = given;
  if (name === "bash" && typeof command === "string")
    return [codeBlock(command, "sh"), Object.keys(rest).length > 0 ? json(rest) : ""].filter(Boolean).join("\n\n");
  return Object.keys(given).length === 0 ? "" : json(given);
}

/** The argument that says most, for the fold. */
function glance(given: unknown): string {
  if (!isRecord(given)) return "";
  for (const name of ["command", "pattern", "path", "file_path", "query", "url", "task"]) {
    const value = given[name];
    if (typeof value === "string" && value.trim() !== "") return value;
  }
  return Object.values(given).find((value) => typeof value === "string") ?? "";
}

const json = (value: unknown): string => codeBlock(JSON.stringify(sendable(value), null, 2), "json");

export const stringOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** The objects of a list. */
export const recordsOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isRecord) : []);
