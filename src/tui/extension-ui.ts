/**
 * `ExtensionUi`: the screen as one extension may use it, its `ctx.ui` in the terminal.
 * Part of `tui/`; interactive-mode makes one for each extension. What the extension throws is reported in its name, and
 * when it is gone everything of it leaves the screen.
 */
import type { Component, KeybindingsManager, TUI } from "@earendil-works/pi-tui";
import type {
  AutocompleteFactory,
  CustomFactory,
  CustomOptions,
  DialogOptions,
  DisposableComponent,
  EditorFactory,
  ExtensionTheme,
  FooterFactory,
  TerminalInputListener,
  UiOwner,
  UiPort,
  WidgetFactory,
} from "../extensions/ui-port.ts";
import { ChoiceSelector } from "./choice-selector.ts";
import type { NoticeLevel } from "./chat-view.ts";
import type { EditorSlot } from "./editor-slot.ts";
import type { CompletionStack } from "./extension-completion.ts";
import { type DialogTerms, type ExtensionDialogs, type SecondsLeft } from "./extension-dialogs.ts";
import type { FooterSource } from "./extension-footer.ts";
import type { ReplaceablePart, WidgetArea } from "./extension-parts.ts";
import { Guarded } from "./guarded.ts";
import { LineInput } from "./line-input.ts";
import { liveTheme } from "./live-theme.ts";
import { overlayOptions } from "./overlay-options.ts";
import { EDITOR_THEME, type PromptEditor } from "./prompt-editor.ts";
import { sanitiseLine } from "./sanitise.ts";
import type { SelectorScreen } from "./selector-list.ts";
import type { WorkingLook } from "./status-line.ts";
import { styledLine, styledText } from "./styled-text.ts";
import { TextEditor } from "./text-editor.ts";
import type { ThemeShelf } from "./theme-shelf.ts";

/** The parts of the screen that extensions share. */
export interface ExtensionScreen {
  readonly tui: TUI;
  readonly keybindings: KeybindingsManager;
  readonly selector: SelectorScreen;
  readonly dialogs: ExtensionDialogs;
  readonly header: ReplaceablePart;
  readonly footer: ReplaceablePart;
  readonly above: WidgetArea;
  readonly below: WidgetArea;
  readonly editor: EditorSlot;
  readonly completion: CompletionStack;
  readonly facts: FooterSource;
  readonly themes: ThemeShelf;
  notify(level: NoticeLevel, text: string): void;
  setTitle(title: string): void;
  setWorking(changes: Partial<WorkingLook>): void;
  setHiddenThinkingLabel(label: string | undefined): void;
  isExpanded(): boolean;
  setExpanded(expanded: boolean): void;
  newEditor(): PromptEditor;
  /** Which factory the editor that is shown came from. */
  editorFactory: EditorFactory | undefined;
}

/** So many presses within so many milliseconds close a component that does not close itself. */
const CLOSING_PRESSES = 3;
const CLOSING_WITHIN = 1500;
/** Of a widget given as text. */
const WIDGET_LINES = 10;
const DEFAULT_WORKING: WorkingLook = { message: undefined, isVisible: true, indicator: undefined };

export class ExtensionUi implements UiPort {
  readonly #screen: ExtensionScreen;
  readonly #owner: UiOwner;
  /** What takes each thing of this extension off the screen again. */
  readonly #endings = new Map<string, () => void>();

  constructor(screen: ExtensionScreen, owner: UiOwner) {
    this.#screen = screen;
    this.#owner = owner;
    owner.gone?.addEventListener("abort", () => this.#leave(), { once: true });
  }

  // Dialogs.

  select(title: string, options: string[], dialog?: DialogOptions): Promise<string | undefined> {
    const choices = options.map((option) => ({ label: styledLine(String(option)), value: option }));
    return this.#choose(title, "", choices, dialog);
  }

  async confirm(title: string, message: string, dialog?: DialogOptions): Promise<boolean> {
    const choices = [
      { label: "Yes", value: true },
      { label: "No", value: false },
    ];
    return (await this.#choose(title, message, choices, dialog)) ?? false;
  }

  input(title: string, placeholder?: string, dialog?: DialogOptions): Promise<string | undefined> {
    return this.#ask<string>(dialog, (answer, left) => {
      const asked = question(title, "", left);
      return new LineInput({
        screen: this.#screen.selector,
        get title() {
          return asked.title();
        },
        text: asked.text,
        placeholder: sanitiseLine(placeholder ?? ""),
        onSubmit: answer,
        onCancel: () => answer(undefined),
      });
    });
  }

  editor(title: string, prefill?: string): Promise<string | undefined> {
    return this.#ask<string>(undefined, (answer) => {
      const { selector, newEditor } = this.#screen;
      const onCancel = (): void => answer(undefined);
      const text = prefill ?? "";
      return new TextEditor({
        screen: selector,
        editor: newEditor(),
        title: styledLine(title),
        text,
        onSubmit: answer,
        onCancel,
      });
    });
  }

  async custom<T>(factory: CustomFactory<T>, options: CustomOptions = {}): Promise<T> {
    const { tui, keybindings } = this.#screen;
    const ended = Promise.withResolvers<T>();
    const leave = new AbortController();
    const done = (result: T): void => {
      ended.resolve(result);
      leave.abort();
    };
    const component = await factory(tui, liveTheme, keybindings, done);
    const guarded = this.#guard(component, "custom", () => done(undefined as T));
    if (options.overlay === true) this.#overlay(guarded, options, leave.signal);
    else void this.#ask(undefined, () => guarded, [leave.signal]);
    const watch = this.#closesOnRepeat(() => done(undefined as T));
    // Undefined is the answer when it ends otherwise than by `done`.
    this.#owner.gone?.addEventListener("abort", () => done(undefined as T), { once: true });
    if (this.#owner.gone?.aborted === true) done(undefined as T);
    try {
      return await ended.promise;
    } finally {
      watch();
      guarded.dispose();
    }
  }

  /** Whoever has the keyboard and gives it back to nobody is closed by the key that quits, pressed again and again. */
  #closesOnRepeat(close: () => void): () => void {
    const { tui, keybindings } = this.#screen;
    let presses: number[] = [];
    return tui.addInputListener((data) => {
      presses = keybindings.matches(data, "app.clear") ? [...presses, performance.now()].slice(-CLOSING_PRESSES) : [];
      const isMeant = presses.length === CLOSING_PRESSES && performance.now() - presses[0]! < CLOSING_WITHIN;
      if (isMeant) close();
      return isMeant ? { consume: true } : undefined;
    });
  }

  #overlay(guarded: Guarded, { overlayOptions: given, onHandle }: CustomOptions, leave: AbortSignal): void {
    if (leave.aborted || this.#owner.gone?.aborted === true) return;
    const handle = this.#screen.tui.showOverlay(guarded, overlayOptions(given));
    leave.addEventListener("abort", () => handle.hide(), { once: true });
    this.#attempt("custom", () => onHandle?.(handle));
  }

  #choose<T>(
    title: string,
    text: string,
    choices: readonly { label: string; value: T }[],
    dialog: DialogOptions | undefined,
  ): Promise<T | undefined> {
    return this.#ask<T>(dialog, (answer, left) => {
      const asked = question(title, text, left);
      return new ChoiceSelector<T>({
        screen: this.#screen.selector,
        get title() {
          return asked.title();
        },
        text: asked.text,
        choices,
        onSelect: answer,
        onCancel: () => answer(undefined),
      });
    });
  }

  #ask<T>(
    dialog: DialogOptions | undefined,
    make: (answer: (value: T | undefined) => void, left: SecondsLeft) => Component,
    signals: DialogTerms["signals"] = [],
  ): Promise<T | undefined> {
    const { signal, timeout } = dialog ?? {};
    return this.#screen.dialogs.ask(make, { signals: [signal, this.#owner.gone, ...signals], timeout });
  }

  // What takes effect at once.

  notify(text: string, level: NoticeLevel = "info"): void {
    this.#screen.notify(level === "warning" || level === "error" ? level : "info", String(text));
  }

  setStatus(key: string, text: string | undefined): void {
    const { facts, tui } = this.#screen;
    facts.setStatus(key, text === undefined ? undefined : styledLine(String(text)));
    this.#keep(`status ${key}`, text === undefined ? undefined : () => facts.setStatus(key, undefined));
    tui.requestRender();
  }

  setWidget(
    key: string,
    content: string[] | WidgetFactory | undefined,
    options?: { placement?: "aboveEditor" | "belowEditor" },
  ): void {
    const { above, below, tui } = this.#screen;
    for (const area of [above, below]) if (area.has(key)) area.set(key, undefined);
    const area = options?.placement === "belowEditor" ? below : above;
    const widget =
      typeof content === "function"
        ? this.#made(
            "widget",
            () => content(tui, liveTheme),
            () => area.set(key, undefined),
          )
        : content === undefined
          ? undefined
          : this.#guard(lines(content), "widget", () => undefined);
    area.set(key, widget);
    this.#keep(`widget ${key}`, widget === undefined ? undefined : () => area.set(key, undefined));
    tui.requestRender();
  }

  setFooter(factory: FooterFactory | undefined): void {
    const { footer, facts, tui } = this.#screen;
    this.#replace("footer", footer, factory && (() => factory(tui, liveTheme, facts)));
  }

  setHeader(factory: WidgetFactory | undefined): void {
    const { header, tui } = this.#screen;
    this.#replace("header", header, factory && (() => factory(tui, liveTheme)));
  }

  setTitle(title: string): void {
    this.#screen.setTitle(sanitiseLine(String(title)));
  }

  setWorkingMessage(text?: string): void {
    this.#setWorking({ message: text });
  }
  setWorkingVisible(visible: boolean): void {
    this.#setWorking({ isVisible: visible });
  }
  setWorkingIndicator(options?: { frames?: string[]; intervalMs?: number }): void {
    const frames = options?.frames?.map((frame) => styledLine(String(frame)));
    // Each frame is a drawing of the screen.
    const intervalMs = Math.max(FASTEST_FRAMES, Number(options?.intervalMs) || FASTEST_FRAMES);
    this.#setWorking({ indicator: options && { ...(frames === undefined ? {} : { frames }), intervalMs } });
  }

  setHiddenThinkingLabel(label?: string): void {
    this.#screen.setHiddenThinkingLabel(label === undefined ? undefined : styledLine(label));
    this.#keep("thinking", () => this.#screen.setHiddenThinkingLabel(undefined));
  }

  // The editor and the keys.

  onTerminalInput(listener: TerminalInputListener): () => void {
    const stop = this.#screen.tui.addInputListener((data) => this.#attempt("terminal input", () => listener(data)));
    const key = `input ${this.#endings.size} ${performance.now()}`;
    this.#keep(key, stop);
    return () => {
      stop();
      this.#endings.delete(key);
    };
  }

  pasteToEditor(text: string): void {
    this.#screen.editor.paste(styledText(String(text)));
    this.#screen.tui.requestRender();
  }
  setEditorText(text: string): void {
    this.#screen.editor.setText(String(text));
    this.#screen.tui.requestRender();
  }
  getEditorText(): string {
    return this.#screen.editor.getExpandedText();
  }

  addAutocompleteProvider(factory: AutocompleteFactory): void {
    const take = this.#screen.completion.add({ owner: this.#owner, value: factory });
    this.#keep(`completion ${this.#endings.size}`, take);
  }

  setEditorComponent(factory: EditorFactory | undefined): void {
    const { tui, editor, keybindings } = this.#screen;
    const failed = (error: unknown): void => {
      this.#screen.editorFactory = undefined;
      this.#owner.failed("editor", error);
    };
    const made = factory && this.#attempt("editor", () => factory(tui, EDITOR_THEME, keybindings));
    editor.use(made, failed);
    this.#screen.editorFactory = made && factory;
    this.#keep("editor", () => {
      if (this.#screen.editorFactory === factory) this.setEditorComponent(undefined);
    });
    tui.requestRender();
  }
  getEditorComponent(): EditorFactory | undefined {
    return this.#screen.editorFactory;
  }

  // Looks.

  get theme(): ExtensionTheme {
    return liveTheme;
  }
  getAllThemes(): { name: string; path: string | undefined }[] {
    return this.#screen.themes.list();
  }
  getTheme(name: string): ExtensionTheme | undefined {
    return this.#screen.themes.find(name);
  }
  setTheme(chosen: string | ExtensionTheme): { success: boolean; error?: string } {
    const result = this.#screen.themes.use(chosen);
    this.#screen.tui.invalidate();
    this.#screen.tui.requestRender();
    return result;
  }
  getToolsExpanded(): boolean {
    return this.#screen.isExpanded();
  }
  setToolsExpanded(expanded: boolean): void {
    this.#screen.setExpanded(expanded);
  }

  #setWorking(changes: Partial<WorkingLook>): void {
    this.#screen.setWorking(changes);
    this.#keep("working", () => this.#screen.setWorking(DEFAULT_WORKING));
  }

  #replace(event: string, part: ReplaceablePart, factory: (() => DisposableComponent) | undefined): void {
    const made = factory && this.#made(event, factory, () => made && part.restore(made));
    part.replace(made);
    this.#keep(event, made && (() => part.restore(made)));
    this.#screen.tui.requestRender();
  }

  /** The component of a factory, undefined when that throws; `broken` takes it away when it fails later. */
  #made(event: string, make: () => DisposableComponent, broken: () => void): Guarded | undefined {
    const component = this.#attempt(event, make);
    return component && this.#guard(component, event, broken);
  }

  #guard(component: DisposableComponent, event: string, broken: () => void): Guarded {
    return new Guarded(component, {
      hasCursor: event === "custom",
      failed: (error) => {
        // Taking it away while it is drawn would change what is being drawn.
        setImmediate(() => {
          broken();
          this.#screen.tui.requestRender();
        });
        this.#owner.failed(event, error);
      },
    });
  }

  #attempt<T>(event: string, action: () => T): T | undefined {
    try {
      return action();
    } catch (error) {
      this.#owner.failed(event, error);
      return undefined;
    }
  }

  #keep(key: string, ending: (() => void) | undefined): void {
    if (ending === undefined) this.#endings.delete(key);
    else this.#endings.set(key, ending);
  }

  #leave(): void {
    for (const end of this.#endings.values()) end();
    this.#endings.clear();
    this.#screen.tui.requestRender();
  }
}

/** Milliseconds between two frames of an indicator. */
const FASTEST_FRAMES = 80;

/** Many extensions put the explanation behind the first line of the title. */
function question(title: string, text: string, left: SecondsLeft) {
  const [first = "", ...rest] = styledText(String(title)).split("\n");
  const explained = [...rest, styledText(String(text))].join("\n").trim();
  return {
    title: () => (left() === undefined ? first : `${first} (${left()} s)`),
    text: explained,
  };
}

function lines(content: readonly string[]): Component {
  const all = content.flatMap((line) => String(line).split("\n"));
  const more = all.length - WIDGET_LINES;
  const kept = more > 0 ? [...all.slice(0, WIDGET_LINES - 1), `… ${more + 1} more lines`] : all;
  return { render: () => kept, invalidate: () => undefined };
}
