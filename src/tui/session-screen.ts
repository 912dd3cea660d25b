/**
 * `SessionScreen`: the parts of the screen from top to bottom, and what all who draw on it ask of it as a whole.
 * Part of `tui/`; made by interactive-mode, which hands it to commands, lists and the greeting of a session.
 */
import { homedir } from "node:os";
import { type KeybindingsManager, Spacer, type Terminal, TuiMainScreen } from "@earendil-works/pi-tui";
import type { AgentSession } from "../agent/agent-session.ts";
import { ChatView, type NoticeLevel } from "./chat-view.ts";
import { copyText } from "./clipboard.ts";
import { EditorArea } from "./editor-area.ts";
import { EditorSlot } from "./editor-slot.ts";
import { FooterSource } from "./extension-footer.ts";
import { ReplaceablePart } from "./extension-parts.ts";
import { ExtensionStage } from "./extension-stage.ts";
import { Fitted } from "./fitted.ts";
import { Footer } from "./footer.ts";
import { footerFacts } from "./footer-facts.ts";
import { Header } from "./header.ts";
import { type AppKeybinding, keyNames } from "./keybindings.ts";
import { PendingView } from "./pending-view.ts";
import { PromptEditor } from "./prompt-editor.ts";
import type { ScreenExtensions } from "./screen-extensions.ts";
import type { ModelChoices, SelectorHost } from "./selector-controller.ts";
import { StatusLine } from "./status-line.ts";
import { terminalTitle } from "./terminal-title.ts";
import { themesDir } from "./theme-choice.ts";
import type { ColorMode } from "./theme.ts";
import { ThemeShelf } from "./theme-shelf.ts";

export interface SessionScreenOptions {
  session: AgentSession;
  keybindings: KeybindingsManager;
  models: ModelChoices;
  extensions: ScreenExtensions;
  terminal: Terminal;
  colorMode: ColorMode;
  /** bough's version, for the header. */
  version: string;
  hideThinking: boolean;
  /** Whether the footer may ask for what all branches have spent. */
  countUsage(): boolean;
}

export class SessionScreen {
  readonly terminal: Terminal;
  readonly ui: TuiMainScreen;
  readonly chat: ChatView;
  readonly pending: PendingView;
  readonly status: StatusLine;
  readonly editor: EditorSlot;
  readonly editorArea: EditorArea;
  /** What is kept ready for extensions. */
  readonly stage: ExtensionStage;
  readonly #session: AgentSession;
  readonly #keybindings: KeybindingsManager;
  readonly #header: ReplaceablePart;
  readonly #footer: Footer;
  readonly #footerPart: ReplaceablePart;
  readonly #facts: FooterSource;
  #title: string | undefined;

  constructor(options: SessionScreenOptions) {
    const { session, keybindings, models, extensions, terminal } = options;
    this.#session = session;
    this.#keybindings = keybindings;
    this.terminal = terminal;
    this.ui = new TuiMainScreen(terminal);
    this.chat = new ChatView({
      expanded: false,
      hideThinking: options.hideThinking,
      expandKey: this.key("app.tools.expand"),
      home: homedir(),
      extensions,
      cwd: () => session.cwd,
      requestRender: () => this.ui.requestRender(),
    });
    this.pending = new PendingView(this.key("app.message.dequeue"));
    this.status = new StatusLine(this.ui);
    this.editor = new EditorSlot(this.newEditor(), keybindings);
    this.editorArea = new EditorArea(this.ui, this.editor);
    this.#facts = new FooterSource({
      cwd: () => session.cwd,
      providers: () => new Set(models.available().map(({ provider }) => provider)).size,
      changed: () => this.#footer.refresh(),
    });
    this.#footer = new Footer(() =>
      footerFacts(session, { countUsage: options.countUsage(), statuses: this.#facts.statuses() }),
    );
    this.#header = new ReplaceablePart(new Header({ version: options.version, hints: this.#hints() }));
    this.#footerPart = new ReplaceablePart(this.#footer);
    this.stage = new ExtensionStage({
      tui: this.ui,
      keybindings,
      header: this.#header,
      footer: this.#footerPart,
      facts: this.#facts,
      editor: this.editor,
      editorArea: this.editorArea,
      chat: this.chat,
      status: this.status,
      themes: new ThemeShelf(themesDir(), options.colorMode),
      newEditor: () => this.newEditor(),
    });
  }

  /** Puts the parts one below the other; before the screen starts, when the theme is chosen. */
  hang(): void {
    // The theme was not chosen yet when it was made.
    this.#header.invalidate();
    this.ui.addChild(new Fitted(this.#header));
    // Its rows fit already; measuring all of them again for each new word would take as long as drawing them.
    this.ui.addChild(this.chat);
    this.ui.addChild(new Fitted(this.pending));
    this.ui.addChild(new Fitted(this.status));
    this.ui.addChild(new Spacer(1));
    this.ui.addChild(this.stage.above);
    this.ui.addChild(this.editorArea);
    this.ui.addChild(this.stage.below);
    this.ui.addChild(new Fitted(this.#footerPart));
    this.ui.setFocus(this.editor);
  }

  /** Draws anew what says how the session stands: footer, editor's border, title. */
  refresh(): void {
    this.#footer.refresh();
    this.#facts.look();
    const isPlanning = this.#session.plan.isOn;
    this.editor.setThinkingLevel(this.#session.thinkingLevel);
    this.editor.setPlanning(isPlanning);
    const title = terminalTitle(this.#session.sessionManager.getSessionName(), this.#session.cwd, isPlanning);
    if (title !== this.#title) this.terminal.setTitle(title);
    this.#title = title;
    this.ui.requestRender();
  }

  /** A passing remark, replaced by the next. */
  setStatus(text: string): void {
    this.chat.setStatus(text);
    this.ui.requestRender();
  }

  /** Stays in the chat until it is drawn anew. */
  addNotice(level: NoticeLevel, text: string): void {
    this.chat.addNotice(level, text);
    this.ui.requestRender();
  }

  /** To the terminal's clipboard; `done` is said when it went there. */
  copy(text: string, done: string): void {
    void copyText(this.terminal, text).then((isCopied) =>
      this.setStatus(isCopied ? done : "Too long for the terminal's clipboard"),
    );
  }

  newEditor(): PromptEditor {
    return new PromptEditor(this.ui, this.#keybindings);
  }

  /** The first key of an action, for hints. */
  key(action: AppKeybinding): string {
    return keyNames(this.#keybindings, action).split(", ", 1)[0] ?? "";
  }

  get workingText(): string {
    return `Working… (${this.key("app.interrupt")} to stop)`;
  }

  /** The screen as one of the lists sees it. */
  selectorHost(): SelectorHost {
    let close: (() => void) | undefined;
    return {
      show: (component) => {
        close = this.editorArea.openSelector(component);
      },
      hide: () => close?.(),
      setEditorText: (text) => {
        this.editor.setText(text);
        this.ui.requestRender();
      },
      getEditorText: () => this.editor.getExpandedText(),
      status: (text) => this.setStatus(text),
      error: (text) => this.addNotice("error", text),
      // The session's own event has drawn it already.
      rebuildChat: () => this.ui.requestRender(),
      requestRender: () => this.ui.requestRender(),
      copyToClipboard: (text) => this.copy(text, "Copied"),
      rows: () => this.terminal.rows,
      newEditor: () => this.newEditor(),
    };
  }

  #hints(): string {
    return [
      `${this.key("app.interrupt")} stops`,
      "/ commands",
      "@ files",
      "! shell",
      `${this.key("app.clear")} twice quits`,
    ].join(" · ");
  }
}
