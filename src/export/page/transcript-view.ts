/**
 * The transcript: the entries of the branch that is shown, each in its frame, below the head of the session.
 * Part of the page. Used by the page's element.
 */
import { html, nothing } from "lit";
import type { TemplateResult } from "lit";
import { isRecord } from "../../tree/json.ts";
import { oneLine } from "../../tree/one-line.ts";
import { plainText } from "../../tree/outline-lines.ts";
import { PROBLEM_MARKS } from "../../tree/outline-texts.ts";
import { customTypeText } from "../../tree/row-text.ts";
import type { EntryContext } from "./entry-context.ts";
import { entryView } from "./entry-view.ts";
import { dateText, headView } from "./head-view.ts";
import { lineText } from "./line-text.ts";
import type { PageFacts } from "./page-data.ts";
import type { PageView } from "./page-view.ts";
import type { ListItems } from "./virtual-list.ts";

export interface TranscriptOptions {
  facts: PageFacts;
  view: PageView;
  /** Draws the list again: something was opened, or a body has come. */
  changed(): void;
  imageUrl(image: number): string | undefined;
  onCopyLink(n: number): void;
  /** Goes to an entry. */
  onPick(n: number): void;
  /** The entry whose link was just copied; -1 for none. */
  copied(): number;
  /** The entry that was just gone to. */
  marked(): number;
}

/** The head is the first item. */
export function transcriptItems(options: TranscriptOptions): ListItems {
  const { facts, view, changed } = options;
  const { items, bodies } = view;
  return {
    count: items.length + 1,
    height: (item) => (item === 0 ? 260 : heightGuess(view, items[item - 1]!)),
    key: (item) => (item === 0 ? "head" : items[item - 1]),
    template: (item) => {
      if (item > 0) return frame(options, items[item - 1]!, item);
      return html`<div class="item">${headView(facts)} ${startNote(options)}</div>`;
    },
    onDraw(first, end) {
      for (const n of items.slice(Math.max(0, first - 1), end - 1))
        if (!bodies.has(n) && bodies.faultAt(n) === undefined) void bodies.load(n).then(changed);
    },
  };
}

/** What stands in place of a conversation. */
function startNote({ view, onPick }: TranscriptOptions): TemplateResult | typeof nothing {
  const { newestElsewhere } = view;
  if (newestElsewhere !== undefined)
    return html`<p class="empty">
      This branch ends at the session's start; what was said is on other branches.
      <button id="newest" type="button" @click=${() => onPick(newestElsewhere)}>Show the newest</button>
    </p>`;
  return view.items.length === 0 ? html`<p class="empty">Nothing was said in this session yet.</p>` : nothing;
}

/** In pixels, by what the row tells. */
function heightGuess({ tree }: PageView, n: number): number {
  const { silent, text } = tree.glanceAt(n);
  if (tree.kindAt(n) !== "message") return tree.kindAt(n).endsWith("_change") ? 32 : 120;
  if (silent) return 0;
  if (tree.roleAt(n) === "toolResult") return 170;
  const length = text.reduce((sum, part) => sum + part.text.length, 0);
  return 90 + Math.ceil(length / 80) * 24;
}

const NAMES: ReadonlyMap<string | undefined, string> = new Map([
  ["user", "User"],
  ["assistant", "Assistant"],
  ["toolResult", "Tool"],
  ["bashExecution", "Shell"],
  ["pythonExecution", "Python"],
  ["compaction", "Compaction"],
  ["branch_summary", "Branch summary"],
  ["fileMention", "Files"],
  ["system", "System"],
  ["developer", "Developer"],
  ["session_init", "Session init"],
]);

function frame(options: TranscriptOptions, n: number, item: number): TemplateResult {
  const { view, changed } = options;
  const { tree } = view;
  const context = view.contextOf(n, changed, (image) => options.imageUrl(image));
  const body = context === undefined ? waiting(view, n) : entryView(context);
  if (body === nothing) return html`<div class="item" data-n=${n}></div>`;
  const [kind, role] = [tree.kindAt(n), tree.roleAt(n)];
  return html`<div class="item" data-n=${n}>
    <article
      class="entry ${ENTRY_CLASSES.get(role ?? kind) ?? (kind === "message" ? "message" : "slim")}"
      aria-posinset=${item}
      aria-setsize=${view.items.length}
      aria-label="${nameOf(context, kind, role)}"
      ?data-marked=${options.marked() === n}
      ?data-hidden=${tree.isHidden(n)}
    >
      ${entryHead(options, n, context)}
      <div class="body">${body}</div>
    </article>
  </div>`;
}

const ENTRY_CLASSES: ReadonlyMap<string, string> = new Map([
  ["user", "user"],
  ["assistant", "assistant"],
  ["toolResult", "tool-result"],
  ["bashExecution", "tool-result"],
  ["pythonExecution", "tool-result"],
  ["compaction", "summary"],
  ["branch_summary", "summary"],
  ["custom_message", "custom"],
  ["custom", "custom"],
  ["hookMessage", "custom"],
]);

function nameOf(context: EntryContext | undefined, kind: string, role: string | undefined): string {
  const name = NAMES.get(role ?? kind);
  if (name !== undefined) return name;
  const entry: unknown = context?.entry;
  if (!isRecord(entry)) return "";
  const holder = isRecord(entry["message"]) ? entry["message"] : entry;
  return customTypeText(holder["customType"]) || oneLine(role ?? kind).replaceAll("_", " ");
}

function entryHead(options: TranscriptOptions, n: number, context: EntryContext | undefined): TemplateResult {
  const { tree } = options.view;
  const [kind, role] = [tree.kindAt(n), tree.roleAt(n)];
  const label = tree.labels().get(tree.idAt(n));
  const problem = tree.treeProblemAt(n);
  const isCopied = options.copied() === n;
  return html`<div class="entry-head">
    <b class="who">${nameOf(context, kind, role)}</b>
    ${label === undefined ? nothing : html`<span class="label">${lineText(oneLine(label))}</span>`}
    ${problem === undefined ? nothing : html`<span class="t-error">(${PROBLEM_MARKS[problem]})</span>`}
    ${tree.isHidden(n) ? html`<span class="t-dim">hidden in the terminal</span>` : nothing}
    <span class="spent">${spentText(context)}</span>
    <time>${dateText(tree.timeAt(n))}</time>
    <button
      class="link"
      type="button"
      title="Copy a link to this entry"
      aria-label=${isCopied ? "Link copied" : "Copy a link to this entry"}
      @click=${() => options.onCopyLink(n)}
    >
      ${isCopied ? "✓" : "#"}
    </button>
  </div>`;
}

/** `claude-sonnet-4-5 · 12,345 tokens · $0.0123` */
function spentText(context: EntryContext | undefined): string {
  const entry: unknown = context?.entry;
  const message = isRecord(entry) ? entry["message"] : undefined;
  if (!isRecord(message) || message["role"] !== "assistant") return "";
  const [tokens, cost]: unknown[] = Array.isArray(message["spent"]) ? message["spent"] : [];
  const parts = [oneLine(message["model"])];
  if (typeof tokens === "number") parts.push(`${tokens.toLocaleString("en")} tokens`);
  if (typeof cost === "number") parts.push(`$${cost.toFixed(4)}`);
  return parts.filter((part) => part !== "").join(" · ");
}

/** What is known of an entry whose body is not here, or cannot be had. */
function waiting({ tree, bodies }: PageView, n: number): TemplateResult {
  const fault = bodies.faultAt(n);
  return html`<p class="t-dim">${lineText(plainText(tree.glanceAt(n).text))}</p>
    ${fault === undefined ? nothing : html`<p class="error">The rest of this entry cannot be read: ${fault}</p>`}`;
}
