/**
 * The conversation on the screen: the active path's messages, then what the session's events add.
 * Part of `tui/`; used by interactive-mode. A prompt appears once its entry is written, so what is shown is safe.
 */
import { type Component, Container, Text } from "@earendil-works/pi-tui";
import type { AgentSessionEvent } from "../agent/agent-session-events.ts";
import type { SessionEntry } from "../tree/entries.ts";
import { kindOf } from "../tree/kinds.ts";
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "../tree/messages.ts";
import { fitLines } from "./fitted.ts";
import { MarkdownText } from "./markdown.ts";
import type { PlacedEntry } from "./drawn-entries.ts";
import { AssistantRow, entryRow, messageRow } from "./message-view.ts";
import { Panel } from "./panel.ts";
import { type ChatOptions, Row } from "./row.ts";
import { sanitise } from "./sanitise.ts";
import { NO_EXTENSIONS } from "./screen-extensions.ts";
import { blocksOf, bounded, times } from "./shown-text.ts";
import { theme, type ThemeToken } from "./theme.ts";
import { ToolRow } from "./tool-view.ts";

/** Messages drawn when a session opens. Older ones are one key away in the tree; drawing all of them takes seconds. */
export const SHOWN_MESSAGES = 100;

const HIDDEN_THINKING = "Thinking…";

export type NoticeLevel = "info" | "warning" | "error";
const NOTICE_LOOK: Readonly<Record<NoticeLevel, { token: ThemeToken; prefix: string }>> = {
  info: { token: "muted", prefix: "" },
  warning: { token: "warning", prefix: "Warning: " },
  error: { token: "error", prefix: "Error: " },
};

interface Notice {
  level: NoticeLevel;
  text: string;
  count: number;
}

/** Without extensions the last three are not needed. */
export type ChatViewOptions = Pick<ChatOptions, "expanded" | "hideThinking" | "expandKey" | "home"> &
  Partial<Pick<ChatOptions, "extensions" | "cwd" | "requestRender">>;

export class ChatView extends Container {
  readonly #options: ChatOptions;
  /** The newest row of each tool call id: ids of another path's calls may come again. */
  readonly #calls = new Map<string, ToolRow>();
  #answer: AssistantRow | undefined;
  #status: { row: Row; text: string } | undefined;
  /** The latest notice, if nothing came after it. */
  #notice: (Notice & { row: Row }) | undefined;
  #isDrawing = false;

  constructor(options: ChatViewOptions) {
    super();
    this.#options = {
      extensions: NO_EXTENSIONS,
      cwd: () => process.cwd(),
      requestRender: () => undefined,
      ...options,
      hiddenThinkingLabel: HIDDEN_THINKING,
    };
  }

  /**
   * Replaces everything by these messages, the active path of a session from its last compaction on; `earlier`: how
   * many come before them; `entries`: those of extensions that are drawn between them.
   */
  show(messages: readonly AgentMessage[], earlier = 0, entries: readonly PlacedEntry[] = []): void {
    this.clear();
    this.#calls.clear();
    this.#answer = undefined;
    this.#status = undefined;
    this.#notice = undefined;
    const left = Math.max(0, messages.length - SHOWN_MESSAGES);
    if (left + earlier > 0) this.addNotice("info", `… ${left + earlier} earlier messages; /tree shows them.`);
    const waiting = [...entries];
    for (const [index, message] of messages.entries()) {
      if (index < left) continue;
      while (waiting[0] !== undefined && waiting[0].behind >= messages.length - index)
        this.#showEntry(waiting.shift()!.entry);
      this.addMessage(message);
    }
    for (const { entry } of waiting) this.#showEntry(entry);
    this.#closeCalls();
  }

  addMessage(message: AgentMessage): void {
    if (message.role === "assistant") this.#showAnswer(message, true);
    else if (message.role === "toolResult") this.#showResult(message);
    else this.#add(messageRow(message, this.#options));
  }

  apply(event: AgentSessionEvent): void {
    switch (event.type) {
      case "message_start":
        if (event.message.role === "assistant") this.#showAnswer(event.message as AssistantMessage, false);
        return;
      case "message_update":
        if (event.message.role === "assistant")
          this.#showAnswer(event.message as AssistantMessage, false, changedBlock(event));
        return;
      case "message_end":
        if (event.message.role === "assistant") this.#showAnswer(event.message as AssistantMessage, true);
        else if (event.message.role === "toolResult") this.#showResult(event.message as ToolResultMessage);
        return;
      case "tool_execution_start":
        this.#call(event.toolCallId, event.toolName, event.args);
        this.#calls.get(event.toolCallId)?.update({ isStarted: true });
        return;
      case "tool_execution_update":
        this.#calls.get(event.toolCallId)?.update(partialOf(event.partialResult));
        return;
      case "entry_appended":
        this.#showEntry(event.entry);
        return;
      case "agent_settled":
        this.#closeCalls();
        return;
      case "ttsr_triggered":
        this.addNotice("info", ruleLine(event.rules, event.stopped));
        return;
      case "notice":
        this.addNotice(event.level, event.text);
        return;
      default:
        return;
    }
  }

  /** The same again is counted, not repeated. */
  addNotice(level: NoticeLevel, text: string): void {
    const last = this.#notice;
    if (last?.level === level && last.text === text) {
      last.count++;
      last.row.invalidate();
      return;
    }
    const notice: Notice = { level, text, count: 1 };
    const row = new Row(() => noticeLine(notice));
    this.#add(row);
    this.#notice = Object.assign(notice, { row });
  }

  /** Markdown of bough's own, such as the answer of /session. */
  addText(markdown: string): void {
    this.#add(new Row(() => new Panel([new MarkdownText(markdown)])));
  }

  /** A passing remark. The next one takes its place if nothing came between. */
  setStatus(text: string): void {
    if (this.#status === undefined) {
      const status: { text: string; row: Row } = { text, row: new Row(() => remark(status.text)) };
      this.#add(status.row);
      this.#status = status;
      return;
    }
    this.#status.text = text;
    this.#status.row.invalidate();
  }

  /** The text of the newest answer shown, without thinking; undefined when there is none. */
  get lastAnswer(): string | undefined {
    const row = this.children.findLast((child) => child instanceof Spaced && child.inner instanceof AssistantRow);
    if (!(row instanceof Spaced && row.inner instanceof AssistantRow)) return undefined;
    const texts = blocksOf(row.inner.message.content).map((block) => (block["type"] === "text" ? block["text"] : ""));
    return texts.filter((text) => typeof text === "string" && text !== "").join("\n\n");
  }

  get isExpanded(): boolean {
    return this.#options.expanded;
  }
  setExpanded(expanded: boolean): void {
    this.#options.expanded = expanded;
    this.invalidate();
  }
  /** undefined: bough's own. */
  setHiddenThinkingLabel(label: string | undefined): void {
    this.#options.hiddenThinkingLabel = label ?? HIDDEN_THINKING;
    this.invalidate();
  }
  get hideThinking(): boolean {
    return this.#options.hideThinking;
  }
  set hideThinking(hide: boolean) {
    this.#options.hideThinking = hide;
    this.invalidate();
  }

  /** `changed`: the only block that is not as it was; undefined when any may be. */
  #showAnswer(message: AssistantMessage, ended: boolean, changed?: number): void {
    if (this.#answer === undefined) {
      this.#answer = new AssistantRow(message, ended, this.#options);
      this.#add(this.#answer);
    } else this.#answer.update(message, ended);
    this.#joinFailures(this.#answer);
    if (ended) this.#answer = undefined;
    // All calls at each step of one of them would be quadratic: an answer can have thousands.
    const content = changed === undefined ? message.content : message.content.slice(changed, changed + 1);
    for (const block of blocksOf(content))
      if (block["type"] === "toolCall") this.#call(block["id"], String(block["name"]), block["arguments"], ended);
    if (ended && (message.stopReason === "error" || message.stopReason === "aborted")) this.#closeCalls();
  }

  /** Attempts that failed without a word, one after the other, are one row: the latest, with their number. */
  #joinFailures(latest: AssistantRow): void {
    const [before, last] = this.children.slice(-2);
    if (!(before instanceof Spaced && before.inner instanceof AssistantRow && last instanceof Spaced)) return;
    if (last.inner !== latest || !latest.isFailure || !before.inner.isFailure) return;
    latest.absorb(before.inner);
    this.removeChild(before);
  }

  /** The row of a call; made when it is first heard of, from the stream or from the tool's start. */
  #call(id: unknown, name: string, args: unknown, renew = false): void {
    if (typeof id !== "string") return;
    const known = this.#calls.get(id);
    if (known !== undefined && known.status === "pending") {
      known.update({ args });
      return;
    }
    if (known !== undefined && !renew) return;
    const row = new ToolRow({ id, name, args }, this.#options);
    this.#calls.set(id, row);
    this.#add(row);
  }

  #showResult(message: ToolResultMessage): void {
    let row = this.#calls.get(message.toolCallId);
    if (row === undefined || row.status !== "pending") {
      // A result whose call is not on this path is still something that happened.
      const { toolCallId, toolName } = message;
      row = new ToolRow({ id: String(toolCallId), name: String(toolName), args: undefined }, this.#options);
      this.#add(row);
    }
    const status = message.isError ? "error" : "success";
    row.update({ status, content: message.content, details: message.details });
  }

  #showEntry(entry: SessionEntry): void {
    if (entry.type === "custom") this.#add(entryRow(entry, this.#options));
    const message = shownMessage(entry);
    // Answers and results come as message events, already while they stream.
    if (message === undefined || message.role === "assistant" || message.role === "toolResult") return;
    this.#add(messageRow(message, this.#options));
  }

  /** No result will come any more for calls that still wait. */
  #closeCalls(): void {
    for (const row of this.#calls.values()) if (row.status === "pending") row.update({ status: "unanswered" });
  }

  override render(width: number): readonly string[] {
    this.#isDrawing = true;
    try {
      return super.render(width);
    } finally {
      this.#isDrawing = false;
    }
  }

  #add(row: Component | undefined): void {
    if (row === undefined) return;
    const child = new Spaced(row);
    // What an extension does wrong or says while it draws: the rows must stay the same until all are drawn.
    if (this.#isDrawing)
      queueMicrotask(() => {
        this.addChild(child);
        this.#options.requestRender();
      });
    else this.addChild(child);
    this.#status = undefined;
    this.#notice = undefined;
  }
}

/** A row with an empty line above it, and nothing at all while the row is empty. */
class Spaced implements Component {
  readonly inner: Component;
  #drawn: { from: readonly string[]; lines: readonly string[] } | undefined;

  constructor(inner: Component) {
    this.inner = inner;
  }
  render(width: number): readonly string[] {
    const from = fitLines(this.inner.render(width), width);
    if (this.#drawn?.from !== from) this.#drawn = { from, lines: from.length === 0 ? from : ["", ...from] };
    return this.#drawn.lines;
  }
  invalidate(): void {
    this.#drawn = undefined;
    this.inner.invalidate();
  }
}

function ruleLine(rules: readonly string[], stopped: boolean): string {
  const named = `${rules.length === 1 ? "Rule" : "Rules"} ${rules.join(", ")}`;
  return `${named}: ${stopped ? "the answer was stopped and is asked for again." : "told to the model after its answer."}`;
}

function noticeLine({ level, text, count }: Notice): Component {
  const { token, prefix } = NOTICE_LOOK[level];
  return new Panel([new Text(theme.fg(token, `${prefix}${sanitise(text)}${times(count)}`), 0, 0)]);
}

const remark = (text: string): Component => new Panel([new Text(theme.fg("dim", bounded(text)), 0, 0)]);

/** What an entry shows when it is added; the compaction's row is made by the context when a session is opened. */
function shownMessage(entry: SessionEntry): AgentMessage | undefined {
  if (entry.type === "compaction")
    return { role: "compactionSummary", summary: entry.summary, tokensBefore: entry.tokensBefore, timestamp: 0 };
  return kindOf(entry).message?.(entry);
}

const changedBlock = (event: Extract<AgentSessionEvent, { type: "message_update" }>): number | undefined =>
  "contentIndex" in event.assistantMessageEvent ? event.assistantMessageEvent.contentIndex : undefined;

function partialOf(result: unknown): { content?: unknown; details?: unknown } {
  if (typeof result !== "object" || result === null) return {};
  return { content: Reflect.get(result, "content"), details: Reflect.get(result, "details") };
}
