/**
 * The interactive mode: a session on a terminal.
 * Part of `tui/`; `cli/` calls `runInteractive`. This file only hangs the parts together: what is drawn is in
 * session-screen, what keys do in input-controller, what commands do in builtin-registry and screen-commands, lists in
 * selector-controller.
 */
import { homedir } from "node:os";
import { type KeybindingsManager, ProcessTerminal, type Terminal } from "@earendil-works/pi-tui";
import type { AgentSessionEvent } from "../agent/agent-session-events.ts";
import type { AgentSession } from "../agent/agent-session.ts";
import type { ModelRegistry } from "../agent/models.ts";
import type { SessionIndexView } from "../session/session-manager.ts";
import { kindNamed } from "../tree/kinds.ts";
import { CompactionPanel } from "./compaction-panel.ts";
import { completedCommands } from "./builtin-registry.ts";
import { type NoticeLevel, SHOWN_MESSAGES } from "./chat-view.ts";
import { PromptCompletion } from "./completion.ts";
import { drawnEntries } from "./drawn-entries.ts";
import { InputController } from "./input-controller.ts";
import { LaterReading } from "./later-reading.ts";
import { PlanDecision } from "./plan-decision.ts";
import { guardScreen } from "./process-guard.ts";
import { RejectionQuestion } from "./rejection-question.ts";
import { ScreenCommands } from "./screen-commands.ts";
import { type ExtensionFace, NO_EXTENSIONS, type ScreenExtensions } from "./screen-extensions.ts";
import { ScreenLeaving } from "./screen-leaving.ts";
import { SelectorController, type SelectorSettings } from "./selector-controller.ts";
import { SessionGreeting } from "./session-greeting.ts";
import { SessionScreen } from "./session-screen.ts";
import { sessionSource } from "./session-source.ts";
import { chooseTheme, followTerminalColours } from "./theme-choice.ts";
import { type ColorMode, colorModeOf } from "./theme.ts";

const AT_START = "At the start of the session; /tree shows what there is.";

export interface InteractiveSettings extends SelectorSettings {
  /** "auto" asks the terminal for its background and is the default; "dark", "light", or the name of a theme file. */
  theme?: string | undefined;
  hideThinking?: boolean | undefined;
  /** Command line for editing the draft. Default: $VISUAL, else $EDITOR. */
  externalEditor?: string | undefined;
}

export interface InteractiveOptions {
  session: AgentSession;
  keybindings: KeybindingsManager;
  models: Pick<ModelRegistry, "available">;
  settings: InteractiveSettings;
  /** Default: none. */
  extensions?: ScreenExtensions;
  /**
   * Reads all there is to read anew, extensions included; for `/reload`. Calls `draw` when all is read and before
   * extensions hear of it: what they then show stays. Gives what is wrong. Default: nothing is read.
   */
  reload?: (draw: (settings: InteractiveSettings) => void) => Promise<readonly string[]>;
  /** bough's version, for the header. */
  version: string;
  /** Said below the conversation, where it is seen: first run, keys that could not be read, a damaged session. */
  notices?: readonly string[];
  /** Sent as soon as the screen stands, as if it had been typed. */
  prompt?: string | undefined;
  /** Begin with the list of sessions. */
  picksSession?: boolean;
  /** Default: the process's own. */
  terminal?: Terminal;
  /** NO_COLOR and TERM are read. Default: `process.env`. */
  env?: NodeJS.ProcessEnv;
}

/**
 * Runs until the user leaves. Resolves with the exit code: 0, 1 when something of the session could not be saved, or
 * that of the signal that ended it. The session is disposed of. Rejects with an exception that nobody caught, when the
 * terminal is in order again.
 */
export function runInteractive(options: InteractiveOptions): Promise<number> {
  return new InteractiveMode(options).run();
}

class InteractiveMode {
  readonly #options: InteractiveOptions;
  readonly #session: AgentSession;
  readonly #extensions: ScreenExtensions;
  readonly #colorMode: ColorMode;
  readonly #screen: SessionScreen;
  readonly #leaving: ScreenLeaving;
  readonly #selectors: SelectorController;
  readonly #compaction: CompactionPanel;
  readonly #rejection: RejectionQuestion;
  readonly #plan: PlanDecision;
  readonly #commands: ScreenCommands;
  readonly #input: InputController;
  readonly #greeting: SessionGreeting;
  /** Said while the session moves, before the chat is drawn anew; they would be lost with the old one. */
  #noticesOfMove: { level: NoticeLevel; text: string }[] = [];
  #shownSession: string | undefined;
  readonly #reading = new LaterReading({
    onContext: () => {
      this.#greeting.tellProblems();
      this.#screen.refresh();
    },
    onUsage: () => this.#screen.refresh(),
  });

  constructor(options: InteractiveOptions) {
    const { session, settings, keybindings, models, extensions = NO_EXTENSIONS, env = process.env } = options;
    this.#options = options;
    this.#session = session;
    this.#extensions = extensions;
    this.#colorMode = colorModeOf(env);
    const screen = new SessionScreen({
      session,
      keybindings,
      models,
      extensions,
      terminal: options.terminal ?? new ProcessTerminal(),
      colorMode: this.#colorMode,
      version: options.version,
      hideThinking: settings.hideThinking ?? false,
      countUsage: () => this.#reading.hasUsage,
    });
    this.#screen = screen;
    this.#leaving = new ScreenLeaving(screen);
    const host = screen.selectorHost();
    this.#selectors = new SelectorController({
      session,
      host,
      keybindings,
      models,
      sessions: sessionSource(session),
      settings: () => settings,
      home: homedir(),
    });
    const { questions } = this.#selectors;
    this.#compaction = new CompactionPanel({
      session,
      host,
      keybindings,
      questions,
      status: screen.status,
      working: () => screen.workingText,
      makeEditor: () => screen.newEditor(),
    });
    const dialog = { session, host, questions, isSelectorOpen: () => screen.editorArea.isSelectorOpen };
    this.#rejection = new RejectionQuestion(dialog);
    this.#plan = new PlanDecision(dialog);
    this.#commands = new ScreenCommands({
      session,
      extensions,
      screen,
      selectors: this.#selectors,
      plan: this.#plan,
      compaction: this.#compaction,
      leaving: this.#leaving,
      keybindings,
      models,
      settings,
      env,
      reload: () => this.#reload(),
    });
    this.#input = new InputController(this.#commands);
    this.#greeting = new SessionGreeting({ session, screen, plan: this.#plan, input: this.#input });
  }

  async run(): Promise<number> {
    const { ui, chat, status, terminal } = this.#screen;
    const { theme } = this.#options.settings;
    const themeError = chooseTheme(theme, this.#colorMode);
    this.#takeKeys();
    this.#screen.hang();
    const unsubscribe = this.#session.subscribe((event) => this.#apply(event));
    // A terminal of someone else's is theirs to watch.
    const release = this.#options.terminal === undefined ? guardScreen(this.#leaving.events()) : undefined;
    try {
      ui.start();
      ui.setSuspendSignalHandler(() => this.#leaving.suspend());
      followTerminalColours(ui, theme, this.#colorMode);
      this.#showSession();
      if (themeError !== undefined) chat.addNotice("warning", themeError);
      this.#greeting.tellUnfinished();
      for (const notice of this.#options.notices ?? []) chat.addNotice("info", notice);
      // They may ask something, and the user may leave meanwhile.
      await Promise.race([this.#extensions.attach(this.#extensionFace()), this.#leaving.left]);
      this.#offerCompletion();
      this.#begin();
      await this.#leaving.left;
      return await this.#leaving.finish(this.#session);
    } finally {
      this.#reading.stop();
      unsubscribe();
      status.hide();
      // What broke may have been the drawing.
      if (!this.#leaving.hasFailed) ui.renderNow();
      await terminal.drainInput();
      ui.stop();
      release?.();
    }
  }

  #takeKeys(): void {
    const { editor } = this.#screen;
    editor.onSubmit = (line) => this.#input.submit(line);
    editor.onChange = () => this.#input.draftChanged();
    editor.runAction = (action) => this.#input.runAction(action);
    editor.takesKey = (data) => this.#input.runShortcut(data);
  }

  #extensionFace(): ExtensionFace {
    return {
      uiFor: this.#screen.stage.uiFor,
      tell: (level, text) => this.#screen.addNotice(level, text),
      shutdown: () => void this.#session.waitForIdle().then(() => this.#leaving.quit()),
      changed: () => this.#offerCompletion(),
    };
  }

  /** The first prompt, or what the user has to choose before. */
  #begin(): void {
    const { prompt, picksSession } = this.#options;
    if (this.#session.isFollowing) {
      this.#screen.editor.setText(prompt ?? "");
      this.#selectors.showInUse();
    } else if (prompt !== undefined) this.#input.submit(prompt);
    if (picksSession === true) this.#commands.openSessions();
  }

  async #reload(): Promise<void> {
    const { reload, settings } = this.#options;
    if (reload === undefined) return;
    const { chat, ui } = this.#screen;
    const notices = await reload((read) => {
      Object.assign(settings, read);
      const themeError = chooseTheme(settings.theme, this.#colorMode);
      chat.hideThinking = settings.hideThinking ?? false;
      ui.invalidate();
      this.#showSession();
      this.#offerCompletion();
      if (themeError !== undefined) chat.addNotice("warning", themeError);
    });
    for (const text of notices) chat.addNotice("warning", text);
    this.#screen.setStatus("Read anew: extensions, keys, settings, models, rules and context files");
  }

  #apply(event: AgentSessionEvent): void {
    const { chat, status, pending } = this.#screen;
    chat.apply(event);
    switch (event.type) {
      case "turn_start":
        this.#noticesOfMove = [];
        status.showWorking(this.#screen.workingText);
        break;
      case "agent_settled":
        this.#input.setRetryWaits(false);
        status.hide();
        break;
      case "auto_retry_start":
        this.#input.setRetryWaits(true);
        status.countDown(event.attempt, event.maxAttempts, event.delayMs, this.#screen.key("app.interrupt"));
        break;
      case "auto_retry_end":
        this.#input.setRetryWaits(false);
        break;
      case "branch_summary_start":
        this.#input.setSummaryRuns(true);
        status.show(`Summarising branch… (${this.#screen.key("app.interrupt")} to cancel)`);
        break;
      case "branch_summary_end":
        this.#input.setSummaryRuns(false);
        status.hide();
        break;
      case "queue_update":
        pending.setQueue(event.queue);
        break;
      case "bash_update":
        pending.setOutput(event.output);
        break;
      case "notice":
        if (!this.#session.isIdle && !this.#session.isStreaming) this.#noticesOfMove.push(event);
        break;
      case "session_changed":
        this.#showSession();
        if (event.reason === "resume" || event.reason === "take-over") this.#greeting.tellUnfinished();
        break;
      default:
        break;
    }
    this.#compaction.apply(event);
    this.#rejection.apply(event);
    this.#plan.apply(event);
    if (event.type === "message_update" || event.type === "tool_execution_update") this.#screen.ui.requestRender();
    else this.#screen.refresh();
  }

  /** Draws the session's current path, and all that hangs on which session it is. */
  #showSession(): void {
    const { chat, pending } = this.#screen;
    const { messages, earlier } = this.#session.sessionManager.getLatestMessages(SHOWN_MESSAGES);
    chat.show(messages, earlier, this.#drawnEntries(messages.length));
    // A jump of one's own says where it went; whoever follows another would see everything vanish.
    if (messages.length === 0 && hasMessages(this.#session.sessionManager.getIndex())) chat.addNotice("info", AT_START);
    for (const { level, text } of this.#noticesOfMove) chat.addNotice(level, text);
    this.#noticesOfMove = [];
    pending.setQueue(this.#session.queue);
    const id = this.#session.sessionManager.getSessionId();
    if (id !== this.#shownSession) this.#greetSession();
    this.#shownSession = id;
    this.#screen.refresh();
  }

  /** Only where one may be drawn is the whole path read for them. */
  #drawnEntries(messages: number) {
    if (!this.#extensions.hasEntryRenderers()) return [];
    return drawnEntries(this.#extensions, this.#session.sessionManager.getBranch(), messages);
  }

  /** Once for each session that is opened: its folder's files, its prompts, and what reading its file found. */
  #greetSession(): void {
    this.#reading.start(this.#session.sessionManager);
    this.#offerCompletion();
    this.#greeting.greet();
  }

  #offerCompletion(): void {
    this.#screen.stage.completion.setOwn(new PromptCompletion(completedCommands(this.#commands), this.#session.cwd));
  }
}

/** On whatever branch. */
function hasMessages(index: SessionIndexView): boolean {
  for (let n = 0; n < index.size; n++) if (kindNamed(index.kindAt(n)).message !== undefined) return true;
  return false;
}
