/**
 * The rows of messages other than tool calls: prompts, answers, commands, extension messages, summaries.
 * Part of `tui/`; used by the chat. Messages come from files: any shape is drawn, none throws.
 */
import { type Component, Spacer, Text } from "@earendil-works/pi-tui";
import { finalErrorText } from "../agent/provider-error.ts";
import type { MarkdownTransformContext } from "../extensions/api.ts";
import type { CustomEntry } from "../tree/entries.ts";
import type { AgentMessage } from "../tree/messages.ts";
import { drawnEntry, drawnMessage, transformed } from "./extension-drawings.ts";
import { MarkdownText } from "./markdown.ts";
import { Panel } from "./panel.ts";
import { type ChatOptions, Row, WidthRow } from "./row.ts";
import { sanitiseLine } from "./sanitise.ts";
import { blocksOf, bounded, collapseLines, hiddenLinesNote, shownText, times } from "./shown-text.ts";
import { theme, type ThemeToken } from "./theme.ts";

type MessageOf<Role extends AgentMessage["role"]> = Extract<AgentMessage, { role: Role }>;
type Execution = MessageOf<"bashExecution"> | MessageOf<"pythonExecution">;

const COLLAPSED_OUTPUT = 10;

/** The row of a message; undefined for those the chat does not show by themselves. */
export function messageRow(message: AgentMessage, options: ChatOptions): Component | undefined {
  switch (message.role) {
    case "user":
      return new WidthRow((width) => {
        const context = { messageType: "user", isStreaming: false, availableWidth: width } as const;
        return userPanel(transformed(options.extensions, shownText(message.content), context));
      });
    case "bashExecution":
      return new Row(() => executionPanel(`$ ${bounded(message.command)}`, message, options));
    case "pythonExecution":
      return new Row(() => executionPanel(`>>> ${bounded(message.code)}`, message, options));
    case "custom":
    case "hookMessage":
      return message.display === false ? undefined : new Row(() => customPanel(message, options));
    case "branchSummary":
      return new Row(() => summaryPanel("branch", "Branch summary", message.summary, options));
    case "compactionSummary":
      return new Row(() => summaryPanel("compaction", compactedFrom(message.tokensBefore), message.summary, options));
    case "developer":
      return new Row(() => labelledPanel("developer", shownText(message.content)));
    case "fileMention":
      return new Row(() => new Panel([new Text(theme.fg("muted", mentionedFiles(message)), 0, 0)]));
    case "system":
    case "assistant":
    case "toolResult":
      return undefined;
    default:
      return new Row(() => labelledPanel(sanitiseLine(String(Reflect.get(message, "role"))), ""));
  }
}

function userPanel(text: string): Component {
  return new Panel([new Text(theme.fg("userMessageText", `› ${text}`), 0, 0)], "userMessageBg");
}

function executionPanel(title: string, message: Execution, options: ChatOptions): Component {
  const lines = bounded(message.output).trimEnd().split("\n");
  const { lines: shown, hidden } = options.expanded
    ? { lines, hidden: 0 }
    : collapseLines(lines, COLLAPSED_OUTPUT, "tail");
  const notes = [
    hidden > 0 ? hiddenLinesNote(hidden, "tail", options.expandKey) : "",
    message.cancelled ? "Stopped." : message.exitCode ? `Exit code ${message.exitCode}.` : "",
    "fullOutputPath" in message && message.fullOutputPath !== undefined
      ? `All of the output: ${sanitiseLine(message.fullOutputPath)}`
      : "",
    message.excludeFromContext === true ? "Not sent to the model." : "",
  ].filter((note) => note !== "");
  const parts = [new Text(theme.fg("bashMode", theme.bold(title)), 0, 0)];
  if (shown.join("") !== "") parts.push(new Text(theme.fg("toolOutput", shown.join("\n")), 0, 0));
  if (notes.length > 0) parts.push(new Text(theme.fg("muted", notes.join("\n")), 0, 0));
  return new Panel(parts, "toolPendingBg");
}

function customPanel(message: MessageOf<"custom" | "hookMessage">, options: ChatOptions): Component {
  const instead = (): Component => labelledPanel(sanitiseLine(String(message.customType)), shownText(message.content));
  return drawnMessage(options.extensions, message, { expanded: options.expanded, instead }) ?? instead();
}

/** The row of an entry that is no message, when an extension draws it. */
export function entryRow(entry: CustomEntry, options: ChatOptions): Component | undefined {
  if (options.extensions.entryRenderer(entry.customType) === undefined) return undefined;
  const nothing = new Panel([]);
  const instead = (): Component => nothing;
  return new Row(() => drawnEntry(options.extensions, entry, { expanded: options.expanded, instead }) ?? nothing);
}

function labelledPanel(label: string, text: string): Component {
  const parts: Component[] = [new Text(theme.fg("customMessageLabel", theme.bold(`[${label}]`)), 0, 0)];
  if (text.trim() !== "")
    parts.push(new Spacer(1), new MarkdownText(text, { color: (part: string) => theme.fg("customMessageText", part) }));
  return new Panel(parts, "customMessageBg");
}

function summaryPanel(label: string, title: string, summary: unknown, options: ChatOptions): Component {
  const text = bounded(summary);
  return options.expanded
    ? labelledPanel(label, `**${title}**\n\n${text}`)
    : labelledPanel(label, `${title} (${options.expandKey} to expand)`);
}

const compactedFrom = (tokens: unknown): string =>
  typeof tokens === "number" ? `Compacted from ${tokens.toLocaleString("en")} tokens` : "Compacted";

function mentionedFiles(message: MessageOf<"fileMention">): string {
  const files = blocksOf(message.files).map((file) => `@${sanitiseLine(String(file["path"]))}`);
  return files.join("\n");
}

/** An answer, also while it streams: `update` takes its newest state, drawing happens once a frame. */
export class AssistantRow implements Component {
  readonly #options: ChatOptions;
  #message: MessageOf<"assistant">;
  #ended: boolean;
  #attempts = 1;
  #parts: { isThinking: boolean; markdown: MarkdownText }[] = [];
  #content = new Panel([]);
  #stale = true;
  /** Of the last drawing. */
  #width = 0;

  constructor(message: MessageOf<"assistant">, ended: boolean, options: ChatOptions) {
    this.#message = message;
    this.#ended = ended;
    this.#options = options;
  }
  get message(): MessageOf<"assistant"> {
    return this.#message;
  }
  /** An error and nothing else. */
  get isFailure(): boolean {
    return this.#message.stopReason === "error" && isEmpty(this.#message);
  }
  /** Stands for an attempt that failed before this one, and all that one stood for. */
  absorb(earlier: AssistantRow): void {
    this.#attempts += earlier.#attempts;
    this.#stale = true;
  }
  update(message: MessageOf<"assistant">, ended: boolean): void {
    this.#message = message;
    this.#ended = ended;
    this.#stale = true;
  }
  render(width: number): readonly string[] {
    if (this.#stale || width !== this.#width) this.#refresh(width);
    return this.#content.render(width);
  }
  invalidate(): void {
    this.#parts = [];
    this.#stale = true;
  }

  /** Keeps the Markdown component of each block: it draws again only what the stream has changed. */
  #refresh(width: number): void {
    this.#stale = false;
    this.#width = width;
    const drawn = { isStreaming: !this.#ended, availableWidth: width };
    this.#parts = answerParts(this.#message, this.#options, drawn).map((part, index) => {
      const known = this.#parts[index];
      if (known?.isThinking !== part.isThinking) return { ...part, markdown: answerMarkdown(part) };
      known.markdown.setText(part.text);
      return known;
    });
    const shown = this.#parts.flatMap(({ markdown }, index) => (index === 0 ? [markdown] : [new Spacer(1), markdown]));
    const ending = answerEnding(this.#message, this.#ended, this.#attempts);
    this.#content = new Panel(ending === undefined ? shown : [...shown, new Text(ending, 0, 0)]);
  }
}

interface AnswerPart {
  isThinking: boolean;
  text: string;
}

const answerMarkdown = ({ isThinking, text }: AnswerPart): MarkdownText =>
  isThinking
    ? new MarkdownText(text, { color: (part) => theme.fg("thinkingText", part), italic: true })
    : new MarkdownText(text);

function answerParts(
  message: MessageOf<"assistant">,
  { hideThinking, hiddenThinkingLabel, extensions }: ChatOptions,
  drawn: Pick<MarkdownTransformContext, "isStreaming" | "availableWidth">,
): AnswerPart[] {
  const parts: AnswerPart[] = [];
  for (const block of blocksOf(message.content)) {
    const isThinking = block["type"] === "thinking";
    const text = bounded(isThinking ? block["thinking"] : block["text"]).trim();
    if (text === "" || !(isThinking || block["type"] === "text")) continue;
    const messageType = isThinking ? "assistant-thinking" : "assistant";
    const shown = (): string => transformed(extensions, text, { messageType, ...drawn });
    parts.push({ isThinking, text: isThinking && hideThinking ? hiddenThinkingLabel : shown() });
  }
  return parts;
}

/** Why an answer ended early or without a word, or undefined. */
function answerEnding(message: MessageOf<"assistant">, ended: boolean, attempts: number): string | undefined {
  const said = (token: ThemeToken, text: string): string => theme.fg(token, text);
  if (message.stopReason === "error")
    return said("error", `Error: ${errorText(message.errorMessage)}${times(attempts)}`);
  if (message.stopReason === "aborted") return said("warning", "Stopped.");
  if (message.stopReason === "length")
    return said("warning", "The answer is cut off: the model's output limit was reached.");
  return ended && isEmpty(message) ? said("warning", "The model gave an empty answer.") : undefined;
}

const errorText = (text: unknown): string =>
  bounded(typeof text === "string" ? finalErrorText(text) : text) || "unknown";

/** Neither words nor calls; an image or a block of a kind bough does not know is something. */
const isEmpty = ({ content }: MessageOf<"assistant">): boolean =>
  blocksOf(content).every((block) => block["type"] === "text" && bounded(block["text"]).trim() === "");
