/**
 * The interactive mode: a session on a terminal.
 * Part of `tui/`; `cli/` calls `runInteractive`. This file only hangs the parts together: what is drawn is in the
 * views, what keys do in input-controller, what commands do in builtin-registry, lists in selector-controller.
 */
import { homedir } from "node:os";
import { join } from "node:path";
import { type KeybindingsManager, ProcessTerminal, Spacer, type Terminal, TuiMainScreen } from "@earendil-works/pi-tui";
import type { AgentSessionEvent } from "../agent/agent-session-events.ts";
import type { AgentSession } from "../agent/agent-session.ts";
import type { ModelRegistry } from "../agent/models.ts";
import { latestPrompts } from "../agent/prompt-entries.ts";
import type { Model } from "../agent/providers.ts";
import { unsentReturned } from "../agent/session-notices.ts";
import type { Retrace } from "../tree/moves.ts";
import { stateDir } from "../session/locations.ts";
import { CompactionPanel } from "./compaction-panel.ts";
import { completedCommands } from "./builtin-registry.ts";
import { ChatView, type NoticeLevel, SHOWN_MESSAGES } from "./chat-view.ts";
import { copyText } from "./clipboard.ts";
import { PromptCompletion } from "./completion.ts";
import { editOutside } from "./external-editor.ts";
import { drawnEntries } from "./drawn-entries.ts";
import { EditorArea } from "./editor-area.ts";
import { EditorSlot } from "./editor-slot.ts";
import { FooterSource } from "./extension-footer.ts";
import { ReplaceablePart } from "./extension-parts.ts";
import { ExtensionStage } from "./extension-stage.ts";
import { Fitted } from "./fitted.ts";
import { Footer } from "./footer.ts";
import { footerFacts } from "./footer-facts.ts";
import { Header } from "./header.ts";
import { InputController, type InputScreen } from "./input-controller.ts";
import { type AppKeybinding, hotkeysText, keyNames } from "./keybindings.ts";
import { LaterReading } from "./later-reading.ts";
import { PendingView } from "./pending-view.ts";
import { PlanDecision } from "./plan-decision.ts";
import { SIGNAL_EXIT_CODES, type EndingSignal, guardScreen, type ScreenEvents } from "./process-guard.ts";
import { PromptEditor } from "./prompt-editor.ts";
import { RejectionQuestion } from "./rejection-question.ts";
import { type ExtensionFace, NO_EXTENSIONS, type ScreenExtensions } from "./screen-extensions.ts";
import { SelectorController, type SelectorHost, type SelectorSettings } from "./selector-controller.ts";
import { sessionSource } from "./session-source.ts";
import { shownText } from "./shown-text.ts";
import { StatusLine } from "./status-line.ts";
import { terminalTitle } from "./terminal-title.ts";
import { colorModeOf, setTheme } from "./theme.ts";
import { ThemeShelf } from "./theme-shelf.ts";
import { builtInTheme, findTheme, themeForBackground } from "./themes.ts";

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
  /** Reads all there is to read anew, extensions included; for `/reload`. Default: nothing is. */
  reload?: () => Promise<{ settings: InteractiveSettings; notices: readonly string[] }>;
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

/** Prompts of the path that the Up key brings back. */
const HISTORY = 100;
/** Without an answer by then the terminal does not tell its colours. Milliseconds. */
const COLOUR_QUERY = 200;
/** Long enough for the signal to have stopped the process. Milliseconds. */
const RESUME_AFTER = 100;
/** Only a save that takes this long is worth a word. Milliseconds. */
const SLOW_SAVE = 300;

/**
 * Runs until the user leaves. Resolves with the exit code: 0, 1 when something of the session could not be saved, or
 * that of the signal that ended it. The session is disposed of. Rejects with an exception that nobody caught, when the
 * terminal is in order again.
 */
export function runInteractive(options: InteractiveOptions): Promise<number> {
  return new InteractiveMode(options).run();
}

class InteractiveMode implements InputScreen {
  readonly session: AgentSession;
  readonly editor: EditorSlot;
  readonly extensions: ScreenExtensions;
  readonly #options: InteractiveOptions;
  readonly #env: NodeJS.ProcessEnv;
  readonly #terminal: Terminal;
  readonly #ui: TuiMainScreen;
  readonly #chat: ChatView;
  readonly #pending: PendingView;
  readonly #status: StatusLine;
  readonly #editorArea: EditorArea;
  readonly #footer: Footer;
  readonly #facts: FooterSource;
  readonly #header: ReplaceablePart;
  readonly #footerPart: ReplaceablePart;
  readonly #stage: ExtensionStage;
  readonly #input: InputController;
  readonly #selectors: SelectorController;
  readonly #plan: PlanDecision;
  readonly #compaction: CompactionPanel;
  readonly #rejection: RejectionQuestion;
  readonly #left = Promise.withResolvers<void>();
  /** Said while the session moves, before the chat is drawn anew; they would be lost with the old one. */
  #noticesOfMove: { level: NoticeLevel; text: string }[] = [];
  #shownSession: string | undefined;
  readonly #reading = new LaterReading({
    onContext: () => {
      this.#tellProblems();
      this.#refresh();
    },
    onUsage: () => this.#refresh(),
  });
  /** What was said of what is wrong in this session. */
  readonly #toldProblems = new Set<string>();
  #title: string | undefined;
  #editsOutside = false;
  #failure: { error: unknown } | undefined;
  #signal: EndingSignal | undefined;

  constructor(options: InteractiveOptions) {
    const { session, settings, keybindings } = options;
    this.#options = options;
    this.#env = options.env ?? process.env;
    this.session = session;
    this.extensions = options.extensions ?? NO_EXTENSIONS;
    this.#terminal = options.terminal ?? new ProcessTerminal();
    this.#ui = new TuiMainScreen(this.#terminal);
    const home = homedir();
    this.#chat = new ChatView({
      expanded: false,
      hideThinking: settings.hideThinking ?? false,
      expandKey: this.#key("app.tools.expand"),
      home,
      extensions: this.extensions,
      cwd: () => session.cwd,
      requestRender: () => this.#ui.requestRender(),
    });
    this.#pending = new PendingView(this.#key("app.message.dequeue"));
    this.#status = new StatusLine(this.#ui);
    this.editor = new EditorSlot(this.#newEditor(), keybindings);
    this.#editorArea = new EditorArea(this.#ui, this.editor);
    this.#facts = new FooterSource({
      cwd: () => session.cwd,
      providers: () => new Set(options.models.available().map(({ provider }) => provider)).size,
      changed: () => this.#footer.refresh(),
    });
    this.#footer = new Footer(() =>
      footerFacts(session, { countUsage: this.#reading.hasUsage, statuses: this.#facts.statuses() }),
    );
    this.#header = new ReplaceablePart(new Header({ version: options.version, hints: this.#hints() }));
    this.#footerPart = new ReplaceablePart(this.#footer);
    this.#stage = new ExtensionStage({
      tui: this.#ui,
      keybindings,
      header: this.#header,
      footer: this.#footerPart,
      facts: this.#facts,
      editor: this.editor,
      editorArea: this.#editorArea,
      chat: this.#chat,
      status: this.#status,
      themes: new ThemeShelf(join(stateDir(), "themes"), colorModeOf(this.#env)),
      newEditor: () => this.#newEditor(),
    });
    this.#input = new InputController(this);
    this.#selectors = new SelectorController({
      session,
      host: this.#selectorHost(),
      keybindings,
      models: options.models,
      sessions: sessionSource(session),
      settings: () => settings,
      home,
    });
    this.#compaction = new CompactionPanel({
      session,
      host: this.#selectorHost(),
      keybindings,
      status: this.#status,
      working: () => this.#workingText(),
      makeEditor: () => this.#newEditor(),
    });
    this.#rejection = new RejectionQuestion({
      session,
      host: this.#selectorHost(),
      keybindings,
      isSelectorOpen: () => this.#editorArea.isSelectorOpen,
    });
    this.#plan = new PlanDecision({
      session,
      host: this.#selectorHost(),
      keybindings,
      isSelectorOpen: () => this.#editorArea.isSelectorOpen,
    });
  }

  async run(): Promise<number> {
    const themeError = this.#chooseTheme();
    this.#hang();
    const unsubscribe = this.session.subscribe((event) => this.#apply(event));
    // A terminal of someone else's is theirs to watch.
    const release = this.#options.terminal === undefined ? guardScreen(this.#screenEvents()) : undefined;
    try {
      this.#ui.start();
      this.#ui.setSuspendSignalHandler(() => this.suspend());
      this.#followTerminalColours();
      this.#showSession();
      if (themeError !== undefined) this.#chat.addNotice("warning", themeError);
      for (const notice of this.#options.notices ?? []) this.#chat.addNotice("info", notice);
      // They may ask something, and the user may leave meanwhile.
      await Promise.race([this.extensions.attach(this.#extensionFace()), this.#left.promise]);
      this.#offerCompletion();
      this.#begin();
      await this.#left.promise;
      const exitCode = await this.#dispose();
      if (this.#failure !== undefined) throw this.#failure.error;
      return this.#signal === undefined ? exitCode : SIGNAL_EXIT_CODES[this.#signal];
    } finally {
      this.#reading.stop();
      unsubscribe();
      this.#status.hide();
      // What broke may have been the drawing.
      if (this.#failure === undefined) this.#ui.renderNow();
      await this.#terminal.drainInput();
      this.#ui.stop();
      release?.();
    }
  }

  #extensionFace(): ExtensionFace {
    return {
      uiFor: this.#stage.uiFor,
      tell: (level, text) => {
        this.#chat.addNotice(level, text);
        this.#ui.requestRender();
      },
      shutdown: () => void this.session.waitForIdle().then(() => this.quit()),
      changed: () => this.#offerCompletion(),
    };
  }

  /** The first prompt, or what the user has to choose before. */
  #begin(): void {
    const { prompt, picksSession } = this.#options;
    if (this.session.isFollowing) {
      this.editor.setText(prompt ?? "");
      this.#selectors.showInUse();
    } else if (prompt !== undefined) this.#input.submit(prompt);
    if (picksSession === true) this.openSessions();
  }

  // What commands and keys may do to the screen: CommandHost, InputScreen.

  openTree(): void {
    this.#selectors.showTreeSelector();
  }
  retrace(via: Retrace): void {
    this.#selectors.retrace(via);
  }
  openBranch(): void {
    this.#selectors.showUserMessageSelector();
  }
  openSessions(): void {
    this.#selectors.showSessionPicker();
  }
  doubleEscape(): void {
    const action = this.#options.settings.doubleEscapeAction ?? "tree";
    if (action === "tree") this.openTree();
    else if (action !== "none") this.openBranch();
  }
  openMcp(): void {
    this.#selectors.showMcpSelector();
  }
  chooseModel(query: string): void {
    this.#selectors.showModelPicker(query);
  }
  reviewPlan(): void {
    this.#plan.review((markdown) => this.showText(markdown));
  }
  compact(focus: string): Promise<void> {
    return this.#compaction.compact(focus === "" ? {} : { focus });
  }
  uncompact(): Promise<void> {
    return this.#compaction.uncompact();
  }
  modelNames(): string[] {
    return this.#options.models.available().map(({ provider, id }) => `${provider}/${id}`);
  }
  cycleModel(direction: 1 | -1): void {
    const models = this.#options.models.available();
    const current = this.session.model;
    const at = models.findIndex(({ provider, id }) => provider === current?.provider && id === current.id);
    const next = models.at((at + direction) % models.length);
    if (next === undefined || models.length === 1) this.setStatus("No other model can be used");
    else this.#useModel(next);
  }
  setStatus(text: string): void {
    this.#chat.setStatus(text);
    this.#ui.requestRender();
  }
  showText(markdown: string): void {
    this.#chat.addText(markdown);
    this.#ui.requestRender();
  }
  showError(text: string): void {
    this.#chat.addNotice("error", text);
    this.#ui.requestRender();
  }
  hotkeys(): string {
    return hotkeysText(this.#options.keybindings);
  }
  async reload(): Promise<void> {
    const { reload, settings } = this.#options;
    if (reload === undefined) return;
    const read = await reload();
    Object.assign(settings, read.settings);
    const themeError = this.#chooseTheme();
    this.#chat.hideThinking = settings.hideThinking ?? false;
    this.#ui.invalidate();
    this.#showSession();
    this.#offerCompletion();
    for (const text of [...(themeError === undefined ? [] : [themeError]), ...read.notices])
      this.#chat.addNotice("warning", text);
    this.setStatus("Read extensions, keys, settings, rules and context files anew");
  }
  copyLastAnswer(): void {
    const text = this.#chat.lastAnswer;
    if (text === undefined || text === "") this.setStatus("No answer to copy yet");
    else this.#copy(text, "Copied the last answer");
  }
  toggleExpanded(): void {
    this.#chat.setExpanded(!this.#chat.isExpanded);
    this.#ui.requestRender();
  }
  toggleThinking(): void {
    this.#chat.hideThinking = !this.#chat.hideThinking;
    this.setStatus(this.#chat.hideThinking ? "Thinking is hidden" : "Thinking is shown");
  }
  now(): number {
    return performance.now();
  }
  async whileCommandRuns(command: string, running: Promise<unknown>): Promise<void> {
    this.#pending.setCommand(command);
    this.#ui.requestRender();
    try {
      await running;
    } finally {
      this.#pending.setCommand(undefined);
      this.#ui.requestRender();
    }
  }
  suspend(): void {
    this.#ui.stop();
    // Time stands still for a stopped process: this runs when it is continued, or at once where it cannot be stopped.
    setTimeout(() => {
      this.#ui.start();
      this.#ui.requestRender(true);
    }, RESUME_AFTER);
    // The whole group, as the terminal's own Ctrl+Z would: npm's wrapper and running commands too.
    process.kill(0, "SIGTSTP");
  }
  quit(): void {
    this.#left.resolve();
  }

  async editDraftOutside(): Promise<void> {
    const command = this.#options.settings.externalEditor ?? this.#env["VISUAL"] ?? this.#env["EDITOR"];
    if (!command) {
      this.setStatus("Set EDITOR in the environment, or externalEditor in the settings, to edit the draft there.");
      return;
    }
    this.#ui.stop();
    this.#editsOutside = true;
    try {
      this.editor.setText(await editOutside(this.editor.getExpandedText(), command));
    } finally {
      this.#editsOutside = false;
      this.#ui.start();
      this.#ui.requestRender(true);
    }
  }

  #screenEvents(): ScreenEvents {
    return {
      leave: (signal) => {
        this.#signal ??= signal;
        this.quit();
      },
      // Ctrl+C in the editor outside is meant for that editor alone.
      interrupted: () => {
        if (!this.#editsOutside) this.quit();
      },
      failed: (error) => {
        this.#failure ??= { error };
        this.quit();
      },
      stray: (text) => {
        this.#chat.addNotice("warning", text.trim());
        this.#ui.requestRender();
      },
    };
  }

  /** The screen as the selectors see it. */
  #selectorHost(): SelectorHost {
    let close: (() => void) | undefined;
    return {
      show: (component) => {
        close = this.#editorArea.openSelector(component);
      },
      hide: () => close?.(),
      setEditorText: (text) => {
        this.editor.setText(text);
        this.#ui.requestRender();
      },
      getEditorText: () => this.editor.getExpandedText(),
      status: (text) => this.setStatus(text),
      error: (text) => this.showError(text),
      // The session's own event has drawn it already.
      rebuildChat: () => this.#ui.requestRender(),
      requestRender: () => this.#ui.requestRender(),
      copyToClipboard: (text) => this.#copy(text, "Copied"),
      rows: () => this.#terminal.rows,
      newEditor: () => this.#newEditor(),
    };
  }

  #hang(): void {
    this.editor.onSubmit = (line) => this.#input.submit(line);
    this.editor.onChange = () => this.#input.draftChanged();
    this.editor.runAction = (action) => this.#input.runAction(action);
    this.editor.takesKey = (data) => this.#input.runShortcut(data);
    // The theme was not chosen yet when it was made.
    this.#header.invalidate();
    this.#ui.addChild(new Fitted(this.#header));
    // Its rows fit already; measuring all of them again for each new word would take as long as drawing them.
    this.#ui.addChild(this.#chat);
    this.#ui.addChild(new Fitted(this.#pending));
    this.#ui.addChild(new Fitted(this.#status));
    this.#ui.addChild(new Spacer(1));
    this.#ui.addChild(this.#stage.above);
    this.#ui.addChild(this.#editorArea);
    this.#ui.addChild(this.#stage.below);
    this.#ui.addChild(new Fitted(this.#footerPart));
    this.#ui.setFocus(this.editor);
  }

  #hints(): string {
    return [
      `${this.#key("app.interrupt")} stops`,
      "/ commands",
      "@ files",
      "! shell",
      `${this.#key("app.clear")} twice quits`,
    ].join(" · ");
  }

  #newEditor(): PromptEditor {
    return new PromptEditor(this.#ui, this.#options.keybindings);
  }

  #apply(event: AgentSessionEvent): void {
    this.#chat.apply(event);
    switch (event.type) {
      case "turn_start":
        this.#noticesOfMove = [];
        this.#status.showWorking(this.#workingText());
        break;
      case "agent_settled":
        this.#input.setRetryWaits(false);
        this.#status.hide();
        break;
      case "auto_retry_start":
        this.#input.setRetryWaits(true);
        this.#status.countDown(event.attempt, event.maxAttempts, event.delayMs, this.#key("app.interrupt"));
        break;
      case "auto_retry_end":
        this.#input.setRetryWaits(false);
        break;
      case "branch_summary_start":
        this.#input.setSummaryRuns(true);
        this.#status.show(`Summarizing branch... (${this.#key("app.interrupt")} to cancel)`);
        break;
      case "branch_summary_end":
        this.#input.setSummaryRuns(false);
        this.#status.hide();
        break;
      case "queue_update":
        this.#pending.setQueue(event.queue);
        break;
      case "bash_update":
        this.#pending.setOutput(event.output);
        break;
      case "notice":
        if (!this.session.isIdle && !this.session.isStreaming) this.#noticesOfMove.push(event);
        break;
      case "session_changed":
        this.#showSession();
        break;
      default:
        break;
    }
    this.#compaction.apply(event);
    this.#rejection.apply(event);
    this.#plan.apply(event);
    if (event.type === "message_update" || event.type === "tool_execution_update") this.#ui.requestRender();
    else this.#refresh();
  }

  #workingText(): string {
    return `Working… (${this.#key("app.interrupt")} to stop)`;
  }

  /** Draws the session's current path, and all that hangs on which session it is. */
  #showSession(): void {
    const { messages, earlier } = this.session.sessionManager.getLatestMessages(SHOWN_MESSAGES);
    this.#chat.show(messages, earlier, this.#drawnEntries(messages.length));
    for (const { level, text } of this.#noticesOfMove) this.#chat.addNotice(level, text);
    this.#noticesOfMove = [];
    this.#pending.setQueue(this.session.queue);
    const id = this.session.sessionManager.getSessionId();
    if (id !== this.#shownSession) this.#greetSession();
    this.#shownSession = id;
    this.#refresh();
  }

  /** Only where one may be drawn is the whole path read for them. */
  #drawnEntries(messages: number) {
    if (!this.extensions.hasEntryRenderers()) return [];
    return drawnEntries(this.extensions, this.session.sessionManager.getBranch(), messages);
  }

  /** Once for each session that is opened: its folder's files, its prompts, and what reading its file found. */
  #greetSession(): void {
    this.#reading.start(this.session.sessionManager);
    this.#offerCompletion();
    for (const { content } of latestPrompts(this.session.sessionManager, HISTORY))
      this.editor.addToHistory(shownText(content));
    this.#returnUnsent();
    if (this.#plan.reminder !== undefined) this.#chat.addNotice("info", this.#plan.reminder);
    this.#toldProblems.clear();
    this.#tellProblems();
  }

  #offerCompletion(): void {
    this.#stage.completion.setOwn(new PromptCompletion(completedCommands(this), this.session.cwd));
  }

  /** Each once, those at the beginning together; more are found when more of the session is read. */
  #tellProblems(): void {
    const manager = this.session.sessionManager;
    const problems = manager.getProblems().filter(({ text }) => !this.#toldProblems.has(text));
    for (const { text } of problems) this.#toldProblems.add(text);
    const [first] = problems;
    if (first === undefined) return;
    const others = `${problems.length - 1} more: bough doctor ${manager.getSessionFile() ?? ""} lists them.`;
    this.#chat.addNotice("warning", problems.length === 1 ? first.text : `${first.text} ${others}`);
  }

  /** Queued before a crash: back in the editor, before what the user has typed. */
  #returnUnsent(): void {
    const unsent = this.session.takeUnsent();
    if (unsent.length === 0) return;
    this.#chat.addNotice("info", unsentReturned(unsent.length));
    this.#input.takeBack(unsent);
  }

  #refresh(): void {
    this.#footer.refresh();
    this.#facts.look();
    const isPlanning = this.session.plan.isOn;
    this.editor.setThinkingLevel(this.session.thinkingLevel);
    this.editor.setPlanning(isPlanning);
    const title = terminalTitle(this.session.sessionManager.getSessionName(), this.session.cwd, isPlanning);
    if (title !== this.#title) this.#terminal.setTitle(title);
    this.#title = title;
    this.#ui.requestRender();
  }

  /** Sets the theme before anything is drawn; what is wrong with the chosen one is returned. */
  #chooseTheme(): string | undefined {
    const { theme = "auto" } = this.#options.settings;
    const mode = colorModeOf(this.#env);
    const found = theme === "auto" ? undefined : findTheme(theme, join(stateDir(), "themes"), mode);
    setTheme(found !== undefined && "theme" in found ? found.theme : builtInTheme("dark", mode));
    return found !== undefined && "error" in found ? found.error : undefined;
  }

  #followTerminalColours(): void {
    const mode = colorModeOf(this.#env);
    if ((this.#options.settings.theme ?? "auto") !== "auto" || mode === "none") return;
    void this.#ui.queryTerminalColors({ timeoutMs: COLOUR_QUERY }).then(({ background }) => {
      if (background === undefined) return;
      setTheme(themeForBackground(background, mode));
      this.#ui.invalidate();
      this.#ui.requestRender();
    });
  }

  #copy(text: string, done: string): void {
    void copyText(this.#terminal, text).then((isCopied) =>
      this.setStatus(isCopied ? done : "Too long for the terminal's clipboard"),
    );
  }

  #useModel(model: Model): void {
    try {
      this.session.setModel(model);
      const thinking = this.session.availableThinkingLevels().length > 1;
      this.setStatus(
        `Switched to ${model.provider}/${model.id}${thinking ? ` (thinking: ${this.session.thinkingLevel})` : ""}`,
      );
    } catch (error) {
      this.showError(error instanceof Error ? error.message : String(error));
    }
  }

  /** The first key of an action, for hints. */
  #key(action: AppKeybinding): string {
    return keyNames(this.#options.keybindings, action).split(", ", 1)[0] ?? "";
  }

  async #dispose(): Promise<number> {
    const slow = setTimeout(() => this.#status.show("Saving…"), SLOW_SAVE);
    try {
      await this.session.dispose();
      return 0;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#chat.addNotice("error", `Not everything of this session could be saved: ${reason}`);
      return 1;
    } finally {
      clearTimeout(slow);
    }
  }
}
