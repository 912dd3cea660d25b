/**
 * Every slash command bough brings, in one table: the editor completes from it, the input controller runs from it.
 * Part of `tui/`.
 */
import type { AutocompleteItem, SlashCommand } from "@earendil-works/pi-tui";
import type { AgentSession } from "../agent/agent-session.ts";
import type { Retrace } from "../tree/moves.ts";
import { currentOrdinal } from "../tree/outline-layout.ts";
import { contextCommand } from "./context-command.ts";
import { exportCommand } from "./export-command.ts";
import { planCommand } from "./plan-command.ts";
import { sanitiseLine } from "./sanitise.ts";
import type { ExtensionCommand, ScreenExtensions } from "./screen-extensions.ts";
import { sessionReport } from "./session-report.ts";
import { tierCommand, tierCompletions } from "./tier-command.ts";

/** What a command may do to the screen it was typed on. */
export interface CommandHost {
  readonly session: AgentSession;
  readonly extensions: ScreenExtensions;
  openTree(): void;
  /** One step in the history of moves. */
  retrace(via: Retrace): void;
  /** The list of user messages to branch from, or the tree when the user's settings say so. */
  openBranch(): void;
  openSessions(): void;
  /** The model picker, or at once the one model that `query` names exactly. */
  chooseModel(query: string): void;
  /** Shows the plan that was handed in and asks what becomes of it; throws when there is none. */
  reviewPlan(): void;
  /** MCP servers, and which of their tools this branch uses. */
  openMcp(): void;
  /** Summarises the older part of the conversation; the user sees the summary before it is written. */
  compact(focus: string): Promise<void>;
  uncompact(): Promise<void>;
  /** Models that can be chosen, as "provider/id". */
  modelNames(): readonly string[];
  /** A passing remark, replaced by the next. */
  setStatus(text: string): void;
  /** Markdown that stays in the chat until it is drawn anew. */
  showText(markdown: string): void;
  hotkeys(): string;
  /** Reads keys, settings, extensions, rules and context files anew. */
  reload(): Promise<void>;
  copyLastAnswer(): void;
  quit(): void;
}

export interface BuiltinCommand {
  readonly name: string;
  readonly alias?: string;
  /** What it does, in the list of completions. */
  readonly description: string;
  /** How its argument is written, in that list. */
  readonly argument?: string;
  /** What may be typed for its argument. */
  readonly completions?: (host: CommandHost) => readonly AutocompleteItem[];
  /** `argument` is trimmed, "" when there is none. A rejection is shown to the user as it is. */
  readonly run: (host: CommandHost, argument: string) => void | Promise<void>;
}

export const BUILTIN_COMMANDS: readonly BuiltinCommand[] = [
  { name: "tree", description: "Go to another point of this session", run: (host) => host.openTree() },
  { name: "back", description: "Go back to where the last jump left", run: (host) => host.retrace("back") },
  { name: "forward", description: "Undo /back", run: (host) => host.retrace("forward") },
  {
    name: "branch",
    alias: "fork",
    description: "Start a new session from an earlier message",
    run: (host) => host.openBranch(),
  },
  {
    name: "compact",
    argument: "[focus]",
    description: "Summarise the older part of the conversation; what to keep most of may be said",
    run: (host, argument) => host.compact(argument),
  },
  { name: "uncompact", description: "Go back above the last compaction", run: (host) => host.uncompact() },
  { name: "context", description: "Show what the next request holds, and what it leaves out", run: contextCommand },
  { name: "clone", description: "Copy this branch into a new session", run: cloneSession },
  { name: "new", description: "Start a new session", run: startSession },
  { name: "resume", description: "Open another session", run: (host) => host.openSessions() },
  { name: "name", argument: "[name]", description: "Show or set the session's name", run: nameSession },
  {
    name: "session",
    description: "Show where the session is kept, what is in it and what it cost",
    run: (host) => host.showText(sessionReport(host.session)),
  },
  {
    name: "take-over",
    description: "Write the session that is followed; whoever writes it is asked first",
    run: (host) => host.session.takeOver(),
  },
  {
    name: "save-as",
    argument: "<path>",
    description: "Write all of this session to a new file and go on there",
    run: saveAs,
  },
  {
    name: "export",
    argument: "[file] [options]",
    description: "Write the session as a page, Markdown or JSONL, without secrets; options as in bough export",
    run: exportCommand,
  },
  {
    name: "model",
    argument: "[provider/id]",
    description: "Choose the model",
    completions: (host) => host.modelNames().map((name) => ({ value: name, label: name })),
    run: (host, argument) => host.chooseModel(argument),
  },
  {
    name: "thinking",
    argument: "[level]",
    description: "Show or set how much the model thinks",
    completions: ({ session }) => session.availableThinkingLevels().map((level) => ({ value: level, label: level })),
    run: setThinking,
  },
  {
    name: "tier",
    argument: "[tier]",
    description: "Show or set the provider's service tier",
    completions: tierCompletions,
    run: tierCommand,
  },
  {
    name: "plan",
    argument: "[prompt]",
    description: "Plan before anything is changed, or stop planning",
    run: planCommand,
  },
  { name: "plan-review", description: "Show the plan again and decide on it", run: (host) => host.reviewPlan() },
  {
    name: "label",
    argument: "[text]",
    description: "Label this point of the tree, or show its label",
    run: labelPoint,
  },
  {
    name: "mcp",
    description: "Show the MCP servers and choose the tools of this branch",
    run: (host) => host.openMcp(),
  },
  {
    name: "extensions",
    description: "Show the extensions, what each brought, and what is wrong with them",
    run: (host) => host.showText(host.extensions.report()),
  },
  {
    name: "reload",
    description: "Read extensions, keys, settings, models, rules and context files anew",
    run: (host) => host.reload(),
  },
  { name: "hotkeys", description: "Show all keys", run: (host) => host.showText(host.hotkeys()) },
  { name: "copy", description: "Copy the last answer", run: (host) => host.copyLastAnswer() },
  { name: "quit", alias: "exit", description: "Leave bough", run: (host) => host.quit() },
];

const BY_NAME = new Map(
  BUILTIN_COMMANDS.flatMap((command): [string, BuiltinCommand][] =>
    command.alias === undefined
      ? [[command.name, command]]
      : [
          [command.name, command],
          [command.alias, command],
        ],
  ),
);

/** The command of a name or alias. */
export const builtinCommand = (name: string): BuiltinCommand | undefined => BY_NAME.get(name);

/** All names and aliases. */
export const builtinCommandNames = (): string[] => [...BY_NAME.keys()];

/** Name and argument of "/name argument"; undefined for a prompt, also for one that begins with a path. */
export function parseCommand(text: string): { name: string; argument: string } | undefined {
  const match = /^\/([A-Za-z][\w:-]*)(?:\s+([\s\S]*))?$/.exec(text);
  return match?.[1] === undefined ? undefined : { name: match[1], argument: (match[2] ?? "").trim() };
}

/** All commands as the editor's completion takes them: an alias is a row of its own, those of extensions come last. */
export function completedCommands(host: CommandHost): SlashCommand[] {
  const others = host.extensions.commands().filter(({ name }) => !BY_NAME.has(name));
  return [...builtinRows(host), ...others.map(extensionRow)];
}

function extensionRow({ name, description, source, complete }: ExtensionCommand): SlashCommand {
  return {
    name: sanitiseLine(name),
    description: sanitiseLine(`${description ?? ""} [${source}]`),
    ...(complete === undefined ? {} : { getArgumentCompletions: (prefix: string) => complete(prefix) }),
  };
}

function builtinRows(host: CommandHost): SlashCommand[] {
  return [...BY_NAME].map(([name, command]) => ({
    name,
    description: command.description,
    ...(command.argument === undefined ? {} : { argumentHint: command.argument }),
    ...(command.completions === undefined
      ? {}
      : { getArgumentCompletions: (prefix: string) => matching(command.completions?.(host) ?? [], prefix) }),
  }));
}

function matching(items: readonly AutocompleteItem[], prefix: string): AutocompleteItem[] {
  const wanted = prefix.trim().toLowerCase();
  return items.filter(({ value }) => value.toLowerCase().includes(wanted));
}

async function cloneSession(host: CommandHost): Promise<void> {
  if (host.session.sessionManager.getLeafId() === null) {
    host.setStatus("Nothing to clone yet");
    return;
  }
  const { cancelled } = await host.session.clone();
  if (!cancelled) host.setStatus("Cloned to new session");
}

async function startSession(host: CommandHost): Promise<void> {
  const { cancelled } = await host.session.newSession();
  if (!cancelled) host.setStatus("✓ New session started");
}

function nameSession(host: CommandHost, argument: string): void {
  const current = host.session.sessionManager.getSessionName();
  if (argument === "") {
    host.setStatus(current === undefined ? "Usage: /name <name>" : `The session's name is ${current}`);
    return;
  }
  const name = argument.replace(/\s+/g, " ");
  host.session.setSessionName(name);
  host.setStatus(`The session's name is now ${name}`);
}

function saveAs(host: CommandHost, argument: string): void {
  if (argument === "") host.setStatus("Usage: /save-as <path>");
  else host.setStatus(`This session is now in ${host.session.saveAs(argument)}`);
}

function setThinking(host: CommandHost, argument: string): void {
  const levels = host.session.availableThinkingLevels();
  if (argument === "") {
    const choice = levels.length > 1 ? ` (of ${levels.join(", ")})` : "; this model has no other";
    host.setStatus(`Thinking level: ${host.session.thinkingLevel}${levels.length === 0 ? "" : choice}`);
    return;
  }
  const level = levels.find((known) => known === argument.toLowerCase());
  if (level === undefined) {
    host.setStatus(`There is no thinking level ${argument}; this model has ${levels.join(", ")}`);
    return;
  }
  host.session.setThinkingLevel(level);
  host.setStatus(`Thinking level: ${level}`);
}

function labelPoint(host: CommandHost, argument: string): void {
  const index = host.session.sessionManager.getIndex();
  const current = currentOrdinal(index);
  if (current < 0) {
    host.setStatus("No entries in session");
    return;
  }
  const { id } = index.at(current);
  const label = index.label(id);
  if (argument !== "") {
    host.session.setLabel(id, argument);
    host.setStatus(`Label set: ${argument}`);
  } else if (label === undefined) host.setStatus("Usage: /label <text>");
  else host.setStatus(`This point is labelled ${label}; Shift+L in /tree changes or removes it`);
}
