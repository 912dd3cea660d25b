/**
 * `digestOf`: a summary of a conversation without a model, so that there is a way on when no model can be asked.
 * Part of `agent/`; used by branch summaries and compaction.
 */
import { cutText, textOf } from "../tree/content.ts";
import { isRecord, wellFormed } from "../tree/json.ts";
import type { AgentMessage } from "../tree/messages.ts";
import { oneLine, startOfText } from "../tree/one-line.ts";
import { FileOperations, pathLines } from "./file-operations.ts";
import type { FileLists } from "./file-operations.ts";

/** Items of one section: the first, which says how it began, and the last ones. */
const SHOWN_ITEMS = 20;
/** UTF-16 units of an item, and of a text that is kept whole where it is shorter. */
const LONGEST_ITEM = 400;
const LONGEST_TEXT = 4_000;

/** What the messages say of themselves. */
interface Notes {
  goals: string[];
  commands: string[];
  errors: string[];
  /** The latest summary among the messages: what came before it is nowhere else. */
  earlier: string;
  lastWords: string;
}

/**
 * Goals (the user's prompts), an earlier summary, files read and changed, commands, errors and the last words, each as
 * far as there are any; "" when there are none. The same messages give the same text, of bounded length. `files`:
 * default those of the messages.
 */
export function digestOf(messages: readonly AgentMessage[], files: FileLists = filesOf(messages)): string {
  const notes: Notes = { goals: [], commands: [], errors: [], earlier: "", lastWords: "" };
  for (const message of messages) note(notes, message);
  const parts = [
    section("Goals", listed(notes.goals)),
    section("Earlier summary", notes.earlier),
    section("Files read", pathLines(files.readFiles)),
    section("Files changed", pathLines(files.modifiedFiles)),
    section("Commands", listed(notes.commands)),
    section("Errors", listed(notes.errors)),
    section("Last words", notes.lastWords),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

function filesOf(messages: readonly AgentMessage[]): FileLists {
  const files = new FileOperations();
  for (const message of messages) files.noteMessage(message);
  return files.lists();
}

function note(notes: Notes, message: AgentMessage): void {
  const given: unknown = message;
  if (!isRecord(given)) return;
  const { role, content } = given;
  if (role === "user") add(notes.goals, startOfText(content, LONGEST_ITEM));
  else if (role === "assistant") noteAnswer(notes, given);
  else if (role === "toolResult" && given["isError"] === true)
    add(notes.errors, `${oneLine(given["toolName"]) || "tool"}: ${startOfText(content, LONGEST_ITEM)}`);
  else if (role === "bashExecution" && given["excludeFromContext"] !== true) noteCommand(notes, given);
  else if (role === "branchSummary" || role === "compactionSummary") notes.earlier = start(given["summary"]);
}

function noteAnswer(notes: Notes, { content, errorMessage }: Record<string, unknown>): void {
  notes.lastWords = start(textOf(content)) || notes.lastWords;
  add(notes.errors, oneLine(errorMessage, LONGEST_ITEM));
  if (!Array.isArray(content)) return;
  for (const block of content as unknown[])
    if (isRecord(block) && block["type"] === "toolCall" && block["name"] === "bash" && isRecord(block["arguments"]))
      add(notes.commands, oneLine(block["arguments"]["command"], LONGEST_ITEM));
}

function noteCommand(notes: Notes, { command, exitCode }: Record<string, unknown>): void {
  const failed = typeof exitCode === "number" && exitCode !== 0 ? ` (exit code ${exitCode})` : "";
  const line = oneLine(command, LONGEST_ITEM);
  if (line !== "") notes.commands.push(line + failed);
}

function add(items: string[], item: string): void {
  if (item !== "") items.push(item);
}

function start(text: unknown): string {
  if (typeof text !== "string") return "";
  const whole = wellFormed(text).trim();
  const kept = cutText(whole, LONGEST_TEXT);
  return kept === whole ? whole : `${kept} […]`;
}

function listed(items: readonly string[]): string {
  const left = items.length - SHOWN_ITEMS;
  const shown = left <= 0 ? items : [items[0]!, `(${left} left out)`, ...items.slice(1 - SHOWN_ITEMS)];
  return shown.map((item) => `- ${item}`).join("\n");
}

const section = (title: string, text: string): string => (text === "" ? "" : `## ${title}\n${text}`);
