/**
 * The row of one tool call: what was asked, how it went, what came back.
 * Part of `tui/`; used by the chat. Arguments and results come from models and files: any shape is drawn, none throws.
 */
import { type Component, Container, Text } from "@earendil-works/pi-tui";
import { SUBMIT_PLAN } from "../agent/plan-mode.ts";
import { changedLines, colourDiff } from "./diff-view.ts";
import { highlightCode, languageOf } from "./highlight.ts";
import { MarkdownText } from "./markdown.ts";
import { Panel } from "./panel.ts";
import { type ChatOptions, Row } from "./row.ts";
import { sanitiseLine } from "./sanitise.ts";
import { argumentsText, blocksOf, bounded, collapseLines, hiddenLinesNote, shownText } from "./shown-text.ts";
import { theme, type ThemeToken } from "./theme.ts";
import { ToolDrawing } from "./tool-drawing.ts";

export interface ToolCallState {
  readonly id: string;
  readonly name: string;
  args: unknown;
  /** "unanswered": the session holds no result and none will come. */
  status: "pending" | "success" | "error" | "unanswered";
  /** The result's content, also a partial one. */
  content: unknown;
  details: unknown;
  /** It runs, or has run. */
  isStarted: boolean;
}

const BACKGROUNDS: Readonly<Record<ToolCallState["status"], ThemeToken>> = {
  pending: "toolPendingBg",
  success: "toolSuccessBg",
  error: "toolErrorBg",
  unanswered: "toolErrorBg",
};

/** Lines of a collapsed body. */
const COLLAPSED_LINES = 10;
const COLLAPSED_SHELL_LINES = 5;

export class ToolRow implements Component {
  readonly #state: ToolCallState;
  readonly #row: Row;

  constructor({ id, name, args }: Pick<ToolCallState, "id" | "name" | "args">, options: ChatOptions) {
    this.#state = { id, name, args, status: "pending", content: undefined, details: undefined, isStarted: false };
    const tool = options.extensions.tool(name);
    const drawing = tool === undefined ? undefined : new ToolDrawing(tool);
    this.#row = new Row(() =>
      drawing === undefined ? toolPanel(this.#state, options) : this.#drawnPanel(drawing, options),
    );
  }
  get status(): ToolCallState["status"] {
    return this.#state.status;
  }
  update(changes: Partial<Omit<ToolCallState, "id" | "name">>): void {
    Object.assign(this.#state, changes);
    this.#row.invalidate();
  }
  render(width: number): readonly string[] {
    return this.#row.render(width);
  }
  invalidate(): void {
    this.#row.invalidate();
  }

  /** As the tool's extension wants it; what it leaves out is drawn as for any tool. */
  #drawnPanel(drawing: ToolDrawing, options: ChatOptions): Component {
    const state = this.#state;
    const terms = {
      cwd: options.cwd(),
      expanded: options.expanded,
      invalidate: () => {
        this.#row.invalidate();
        options.requestRender();
      },
    };
    const title = (): Component => new Text(toolTitle(state.name, state.args, options.home), 0, 0);
    const body = (): Component => bodyText(state, options);
    const hasResult = state.content !== undefined && state.status !== "unanswered";
    const parts = [
      drawing.call(state, terms, title) ?? title(),
      (hasResult ? drawing.result(state, terms, body) : undefined) ?? body(),
    ];
    return drawing.isUnframed ? stacked(parts) : new Panel(parts, BACKGROUNDS[state.status]);
  }
}

function stacked(parts: readonly Component[]): Component {
  const stack = new Container();
  for (const part of parts) stack.addChild(part);
  return stack;
}

function toolPanel(state: ToolCallState, options: ChatOptions): Component {
  const parts: Component[] = [new Text(toolTitle(state.name, state.args, options.home), 0, 0)];
  const plan = state.name === SUBMIT_PLAN ? text(state.args, "plan") : undefined;
  if (plan !== undefined) parts.push(new Text("", 0, 0), new MarkdownText(bounded(plan)));
  return new Panel([...parts, bodyText(state, options)], BACKGROUNDS[state.status]);
}

function bodyText(state: ToolCallState, options: ChatOptions): Component {
  const body = toolBody(state, options);
  return body === "" ? new Container() : new Text(`\n${body}`, 0, 0);
}

/** The first line of a row: "read ~/a.ts:1-20", "$ npm test", "grep /x/ in src"; other tools by name and arguments. */
function toolTitle(name: string, args: unknown, home: string): string {
  const path = shortPath(text(args, "path") ?? text(args, "file_path"), home);
  const called = (what: string, rest: string): string =>
    `${theme.fg("toolTitle", theme.bold(what))} ${theme.fg("accent", rest)}`;
  switch (name) {
    case "bash":
      return theme.fg("toolTitle", theme.bold(`$ ${bounded(text(args, "command") ?? "…")}`));
    case "read":
      return called("read", `${path ?? "…"}${lineRange(args)}`);
    case "write":
    case "edit":
      return called(name, path ?? "…");
    case "grep":
      return called("grep", `/${sanitiseLine(text(args, "pattern") ?? "…")}/ in ${path ?? "."}`);
    case "find":
      return called("find", `${sanitiseLine(text(args, "pattern") ?? "…")} in ${path ?? "."}`);
    case SUBMIT_PLAN:
      return called("plan", sanitiseLine(text(args, "title") ?? ""));
    case "ls":
      return called("ls", path ?? ".");
    case "task":
      return called("task", sanitiseLine(text(args, "description") ?? "…"));
    default:
      return called(sanitiseLine(name), sanitiseLine(argumentsText(args)));
  }
}

function toolBody(state: ToolCallState, options: ChatOptions): string {
  if (state.status === "unanswered") return theme.fg("error", "No result: the call was interrupted.");
  const output = shownText(state.content);
  if (state.status === "error") return outputBody(output, COLLAPSED_LINES, "head", options, "error");
  switch (state.name) {
    case "edit":
      return clipped(colourDiff(editLines(state)), COLLAPSED_LINES * 3, "head", options);
    case "write":
      return codeBody(bounded(text(state.args, "content") ?? text(state.args, "text")), state.args, options);
    case "read":
      return hasImage(state.content) ? output : codeBody(output, state.args, options);
    case "bash":
      return outputBody(output, COLLAPSED_SHELL_LINES, "tail", options, "toolOutput");
    default:
      return outputBody(output, COLLAPSED_LINES, "head", options, "toolOutput");
  }
}

const outputBody = (
  output: string,
  limit: number,
  from: "head" | "tail",
  options: ChatOptions,
  token: ThemeToken,
): string => {
  const lines = output.trimEnd() === "" ? [] : output.trimEnd().split("\n");
  return clipped(lines, limit, from, options, (line) => theme.fg(token, line));
};

function codeBody(code: string, args: unknown, options: ChatOptions): string {
  if (code.trimEnd() === "") return "";
  const all = code.trimEnd();
  const { lines, hidden } = options.expanded
    ? { lines: all.split("\n"), hidden: 0 }
    : collapseLines(all.split("\n"), COLLAPSED_LINES, "head");
  const language = languageOf(text(args, "path") ?? text(args, "file_path") ?? "");
  return withHint(highlightCode(lines.join("\n"), language), hidden, "head", options);
}

/** The change an edit made: as the tool reported it, else as the model asked for it. */
function editLines(state: ToolCallState): string[] {
  const reported = text(state.details, "diff");
  if (reported !== undefined) return bounded(reported).trimEnd().split("\n");
  const edits = field(state.args, "edits");
  return (Array.isArray(edits) ? edits : [state.args]).flatMap((edit: unknown) =>
    changedLines(
      bounded(text(edit, "oldText") ?? text(edit, "old_string")),
      bounded(text(edit, "newText") ?? text(edit, "new_string")),
    ),
  );
}

function clipped(
  lines: readonly string[],
  limit: number,
  from: "head" | "tail",
  options: ChatOptions,
  colour: (line: string) => string = (line) => line,
): string {
  const shown = options.expanded ? { lines, hidden: 0 } : collapseLines(lines, limit, from);
  return withHint(shown.lines.map(colour), shown.hidden, from, options);
}

function withHint(lines: readonly string[], hidden: number, from: "head" | "tail", options: ChatOptions): string {
  if (hidden === 0) return lines.join("\n");
  const hint = theme.fg("muted", hiddenLinesNote(hidden, from, options.expandKey));
  return (from === "head" ? [...lines, hint] : [hint, ...lines]).join("\n");
}

const hasImage = (content: unknown): boolean => blocksOf(content).some((block) => block["type"] === "image");

function lineRange(args: unknown): string {
  const offset = field(args, "offset");
  const limit = field(args, "limit");
  if (typeof offset !== "number" && typeof limit !== "number") return "";
  const start = typeof offset === "number" ? offset : 1;
  return typeof limit === "number" ? `:${start}-${start + limit - 1}` : `:${start}`;
}

function shortPath(path: string | undefined, home: string): string | undefined {
  if (path === undefined) return undefined;
  const inHome = home !== "" && (path === home || path.startsWith(`${home}/`));
  return sanitiseLine(inHome ? `~${path.slice(home.length)}` : path);
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function text(value: unknown, name: string): string | undefined {
  const found = field(value, name);
  return typeof found === "string" ? found : undefined;
}
