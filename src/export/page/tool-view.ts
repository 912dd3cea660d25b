/**
 * Tool calls and their results, commands the user ran.
 * Part of the page. Used by entry-view.ts. Arguments may be of any shape.
 */
import { html, nothing } from "lit";
import type { TemplateResult } from "lit";
import { isRecord } from "../../tree/json.ts";
import { oneLine } from "../../tree/one-line.ts";
import { describeToolCall } from "../../tree/tool-call-text.ts";
import type { EntryContext } from "./entry-context.ts";
import { code } from "./rendered-html.ts";
import { contentView, diffView, foldedText, jsonView } from "./text-view.ts";

type Fields = Record<string, unknown>;

/** A result with the call that it answers. */
export function toolResultView(context: EntryContext, message: Fields): TemplateResult {
  const id = message["toolCallId"];
  const call = typeof id === "string" ? context.findCall(id) : undefined;
  const failed = message["isError"] === true;
  const diff = message["diff"];
  const output = contentView(context, message["content"], (text, part) => outputView(context, call, text, part));
  return html`<div class="tool" ?data-failed=${failed}>
    ${callHead(call ?? { name: message["toolName"] }, failed ? "failed" : undefined)}
    ${call === undefined ? nothing : callBody(context, call, typeof diff === "string")}
    ${typeof diff === "string" ? foldedText(context, "diff", diff, diffView) : nothing}
    ${typeof diff === "string" && !failed ? nothing : output}
  </div>`;
}

/** A call that nothing on this branch answers. */
export function unansweredCallView(context: EntryContext, call: Fields): TemplateResult {
  return html`<div class="tool">${callHead(call, "no result")} ${callBody(context, call, false)}</div>`;
}

function callHead(call: Fields, state: string | undefined): TemplateResult {
  const text = describeToolCall({ name: call["name"], arguments: call["arguments"] }, undefined);
  const name = oneLine(call["name"]) || "tool";
  const isTold = name === "bash" && isRecord(call["arguments"]);
  const rest = isTold ? "" : text.slice(1, -1).slice(name.length).replace(/^: /, "");
  return html`<div class="tool-head">
    <b>${name}</b> <span class="tool-place">${rest}</span>
    ${state === undefined ? nothing : html`<span class="tool-state">${state}</span>`}
  </div>`;
}

/** What the head does not tell of the arguments. */
function callBody(context: EntryContext, call: Fields, hasDiff: boolean): TemplateResult | typeof nothing {
  const args = call["arguments"];
  if (!isRecord(args)) return args === undefined || args === null ? nothing : jsonView(context, "arguments", args);
  const { name } = call;
  if (name === "bash" && typeof args["command"] === "string")
    return foldedText(context, "command", args["command"], (shown) => code(shown, "bash"));
  if (name === "write" && typeof args["content"] === "string") {
    if (hasDiff) return nothing;
    return foldedText(context, "content", args["content"], (shown) => code(shown, languageOf(args)));
  }
  if (name === "edit") {
    const replaced = hasDiff ? "" : replacedText(args);
    return replaced === "" ? nothing : foldedText(context, "replaced", replaced, diffView);
  }
  if (SHOWN_BY_HEAD.has(name)) return nothing;
  return Object.keys(args).length === 0 ? nothing : jsonView(context, "arguments", args);
}
const SHOWN_BY_HEAD: ReadonlySet<unknown> = new Set(["read", "grep", "find", "ls"]);

/** The pieces an edit replaces, as a difference. */
function replacedText(args: Fields): string {
  const edits = Array.isArray(args["edits"]) ? args["edits"] : [args];
  return edits
    .filter(isRecord)
    .flatMap((edit) => [
      ...marked("-", edit["oldText"] ?? edit["old_text"] ?? edit["oldString"]),
      ...marked("+", edit["newText"] ?? edit["new_text"] ?? edit["newString"]),
    ])
    .join("\n");
}
const marked = (mark: string, text: unknown): string[] =>
  typeof text === "string" ? text.split("\n").map((line) => `${mark}${line}`) : [];

function outputView(context: EntryContext, call: Fields | undefined, text: string, part: string): TemplateResult {
  const args = call?.["arguments"];
  const language = call?.["name"] === "read" && isRecord(args) ? languageOf(args) : "";
  return foldedText(context, part, text, (shown) => code(shown, language));
}

/** By the end of the path; "" when there is none. */
function languageOf(args: Fields): string {
  const path = args["path"] ?? args["file_path"];
  if (typeof path !== "string") return "";
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return name === "dockerfile" || name === "makefile" ? name : name.slice(name.lastIndexOf(".") + 1);
}

/** A command or a piece of code that the user ran. */
export function executionView(context: EntryContext, message: Fields): TemplateResult {
  const isBash = message["role"] === "bashExecution";
  const source = isBash ? message["command"] : message["code"];
  const output = message["output"];
  const notes = [
    message["cancelled"] === true ? "cancelled" : "",
    typeof message["exitCode"] === "number" && message["exitCode"] !== 0 ? `exit code ${message["exitCode"]}` : "",
    message["truncated"] === true ? "output cut" : "",
    message["excludeFromContext"] === true ? "not sent to the model" : "",
  ].filter((note) => note !== "");
  return html`<div class="tool">
    ${typeof source === "string" ? foldedText(context, "source", source, (shown) => code(shown, isBash ? "bash" : "python")) : nothing}
    ${typeof output === "string" && output.trim() !== "" ? foldedText(context, "output", output) : nothing}
    ${notes.length === 0 ? nothing : html`<p class="note">${notes.join(", ")}</p>`}
  </div>`;
}
