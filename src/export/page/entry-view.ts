/**
 * An entry of the transcript. Everything that comes from the session is bound as text: lit escapes it, and
 * rendered-html.ts alone makes HTML.
 * Part of the page. Any field of an entry may have any shape.
 */
import { html, nothing } from "lit";
import type { TemplateResult } from "lit";
import { isRecord } from "../../tree/json.ts";
import { oneLine } from "../../tree/one-line.ts";
import { rowText } from "../../tree/row-text.ts";
import type { EntryContext } from "./entry-context.ts";
import { markdown } from "./rendered-html.ts";
import { contentView, foldedText, jsonOf, jsonView } from "./text-view.ts";
import { executionView, toolResultView, unansweredCallView } from "./tool-view.ts";

type Fields = Record<string, unknown>;
type View = TemplateResult | typeof nothing;

/** The entry without its frame; `nothing` when there is nothing to see. One that cannot be drawn is shown as JSON. */
export function entryView(context: EntryContext): View {
  try {
    return viewOf(context);
  } catch {
    return html`<p class="note">This entry could not be drawn; here is what it holds.</p>
      <pre class="plain">${jsonOf(context.entry)}</pre>`;
  }
}

function viewOf(context: EntryContext): View {
  const { entry } = context;
  const fields = entry as unknown as Fields;
  switch (entry.type) {
    case "message":
      return isRecord(entry.message) ? messageView(context, entry.message) : jsonView(context, "json", fields);
    case "compaction":
    case "branch_summary":
      return html`${shortenedView(fields["tokensBefore"])} ${summaryView(context, fields["summary"])}`;
    case "custom_message":
      return contentView(context, fields["content"], markdown) as unknown as View;
    default:
      return stateView(context);
  }
}

function messageView(context: EntryContext, message: Fields): View {
  switch (message["role"]) {
    case "user":
    case "developer":
    case "custom":
    case "hookMessage":
      return html`${contentView(context, message["content"], markdown)}`;
    case "assistant":
      return answerView(context, message);
    case "toolResult":
      return toolResultView(context, message);
    case "bashExecution":
    case "pythonExecution":
      return executionView(context, message);
    case "branchSummary":
    case "compactionSummary":
      return summaryView(context, message["summary"]);
    case "fileMention":
      return filesView(context, message["files"]);
    case "system":
      return html`${contentView(context, message["content"], (text, part) => foldedText(context, part, text))}`;
    default:
      return jsonView(context, "json", message);
  }
}

function answerView(context: EntryContext, message: Fields): View {
  const content: unknown[] = Array.isArray(message["content"]) ? message["content"] : [];
  const parts: View[] = typeof message["content"] === "string" ? [markdown(message["content"])] : [];
  for (const [index, block] of content.entries()) {
    if (!isRecord(block)) continue;
    if (block["type"] === "thinking") parts.push(thinkingView(context, block["thinking"], `thinking-${index}`));
    else if (block["type"] === "toolCall") {
      if (!context.answered().has(block["id"])) parts.push(unansweredCallView(context, block));
    } else parts.push(html`${contentView(context, [block], markdown)}`);
  }
  const error = oneLine(message["errorMessage"], 2000);
  if (error !== "") parts.push(html`<p class="error">${error}</p>`);
  else if (message["stopReason"] === "aborted") parts.push(html`<p class="note">aborted</p>`);
  return parts.some((part) => part !== nothing) ? html`${parts}` : nothing;
}

function thinkingView(context: EntryContext, thinking: unknown, part: string): View {
  if (typeof thinking !== "string" || thinking.trim() === "") return nothing;
  const open = context.isOpen(part, context.shows("thinking"));
  return html`<div class="thinking">
    <button class="fold" type="button" aria-expanded=${open} @click=${() => context.setOpen(part, !open)}>
      ${open ? "▾" : "▸"} Thinking
    </button>
    ${open ? html`<div class="plain">${thinking.trim()}</div>` : nothing}
  </div>`;
}

function summaryView(context: EntryContext, summary: unknown): View {
  const text = typeof summary === "string" ? summary.trim() : "";
  if (text === "") return html`<p class="note">It has no text.</p>`;
  return foldedText(context, "summary", text, markdown);
}

function shortenedView(tokensBefore: unknown): View {
  if (typeof tokensBefore !== "number") return nothing;
  return html`<p class="note">What was said before, ${tokensBefore.toLocaleString("en")} tokens, in short:</p>`;
}

function filesView(context: EntryContext, files: unknown): View {
  if (!Array.isArray(files)) return nothing;
  return html`${files.filter(isRecord).map(
    (file, index) =>
      html`<p class="note">${oneLine(file["path"])}</p>
        ${typeof file["content"] === "string" ? foldedText(context, `file-${index}`, file["content"]) : nothing}
        ${contentView(context, [file["image"]], markdown)}`,
  )}`;
}

/** What changes the state of the conversation, or of an extension: a line, and what the line does not tell. */
function stateView(context: EntryContext): View {
  const { entry, n } = context;
  const line = rowText(entry, n, { home: undefined, findCall: () => undefined });
  const { type: _type, id: _id, parentId: _parentId, timestamp: _timestamp, ...rest } = entry as unknown as Fields;
  const isTold = TOLD_BY_LINE.has(entry.type) || Object.keys(rest).length === 0;
  return html`<p class="state">${line.map(({ text }) => text)}</p>
    ${isTold ? nothing : jsonView(context, "json", rest)}`;
}
const TOLD_BY_LINE: ReadonlySet<string> = new Set([
  "model_change",
  "thinking_level_change",
  "service_tier_change",
  "label",
  "session_info",
  "title_change",
  "reset_boundary",
]);
