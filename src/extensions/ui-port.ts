/**
 * `UiPort`: what an extension may ask of the screen, as `ctx.ui`, and `NO_UI`, which answers where there is none.
 * Part of `extensions/`; the terminal and RPC implement it, print mode takes NO_UI. Names and shapes are those of pi 1.6.
 */
import type {
  AutocompleteProvider,
  Component,
  EditorComponent,
  EditorTheme,
  KeybindingsManager,
  OverlayHandle,
  OverlayOptions,
  TUI,
} from "@earendil-works/pi-tui";

export interface DialogOptions {
  /** Dismisses the dialog as if the user had cancelled it. */
  signal?: AbortSignal;
  /** Dismisses it after so many milliseconds; the user sees them run out. */
  timeout?: number;
}

/** Colours by meaning. Tokens are those of theme files, such as "accent", "muted", "toolTitle"; unknown ones throw. */
export interface ExtensionTheme {
  readonly name?: string | undefined;
  fg(token: string, text: string): string;
  bg(token: string, text: string): string;
  bold(text: string): string;
  italic(text: string): string;
  underline(text: string): string;
  inverse(text: string): string;
  strikethrough(text: string): string;
}

/** A component that is told when it is taken away. */
export type DisposableComponent = Component & { dispose?(): void };

export type WidgetFactory = (tui: TUI, theme: ExtensionTheme) => DisposableComponent;
export type FooterFactory = (tui: TUI, theme: ExtensionTheme, data: FooterData) => DisposableComponent;
export type CustomFactory<T> = (
  tui: TUI,
  theme: ExtensionTheme,
  keybindings: KeybindingsManager,
  done: (result: T) => void,
) => DisposableComponent | Promise<DisposableComponent>;
export type EditorFactory = (tui: TUI, theme: EditorTheme, keybindings: KeybindingsManager) => EditorComponent;
/** Wraps the completion there is. */
export type AutocompleteFactory = (current: AutocompleteProvider) => AutocompleteProvider;
/** Sees what the terminal sends before anyone else; may take it or change it. */
export type TerminalInputListener = (data: string) => { consume?: boolean; data?: string } | undefined;

/** What a footer of an extension's own cannot find out elsewhere. */
export interface FooterData {
  /** null outside of a repository, "detached" for a detached HEAD. */
  getGitBranch(): string | null;
  /** What extensions have set with `setStatus`. */
  getExtensionStatuses(): ReadonlyMap<string, string>;
  /** Returns a function that ends it. */
  onBranchChange(listener: () => void): () => void;
  /** Providers with a key. */
  getAvailableProviderCount(): number;
}

export interface CustomOptions {
  /** Above the conversation rather than in place of the editor. */
  overlay?: boolean;
  overlayOptions?: OverlayOptions | (() => OverlayOptions);
  /** Called once the overlay is shown. */
  onHandle?: (handle: OverlayHandle) => void;
}

/**
 * Dialogs resolve when the user has answered; everything else takes effect at once and answers nothing. Texts are shown
 * as plain text with the theme's colours allowed, control characters are not.
 */
export interface UiPort {
  /** The chosen option; undefined when cancelled, and without a screen. */
  select(title: string, options: string[], dialog?: DialogOptions): Promise<string | undefined>;
  /** False when cancelled, and without a screen. */
  confirm(title: string, message: string, dialog?: DialogOptions): Promise<boolean>;
  /** One line; undefined when cancelled, and without a screen. */
  input(title: string, placeholder?: string, dialog?: DialogOptions): Promise<string | undefined>;
  /** Several lines; undefined when cancelled, and without a screen. */
  editor(title: string, prefill?: string): Promise<string | undefined>;
  /** Shows a component that has the keyboard until it calls `done`. Undefined outside of the terminal. */
  custom<T>(factory: CustomFactory<T>, options?: CustomOptions): Promise<T>;

  notify(text: string, level?: "info" | "warning" | "error"): void;
  /** A text in the footer; undefined takes it away. */
  setStatus(key: string, text: string | undefined): void;
  /** Lines or a component near the editor; undefined takes it away. Default place: above it. */
  setWidget(
    key: string,
    content: string[] | WidgetFactory | undefined,
    options?: { placement?: "aboveEditor" | "belowEditor" },
  ): void;
  /** undefined brings bough's own back. */
  setFooter(factory: FooterFactory | undefined): void;
  /** undefined brings bough's own back. */
  setHeader(factory: WidgetFactory | undefined): void;
  setTitle(title: string): void;
  /** While the model works; no text brings bough's own back. */
  setWorkingMessage(text?: string): void;
  setWorkingVisible(visible: boolean): void;
  /** No frames hide it, no options bring bough's own back. */
  setWorkingIndicator(options?: { frames?: string[]; intervalMs?: number }): void;
  /** Stands in place of hidden thinking; no label brings bough's own back. */
  setHiddenThinkingLabel(label?: string): void;

  /** Returns a function that ends it. */
  onTerminalInput(listener: TerminalInputListener): () => void;
  pasteToEditor(text: string): void;
  setEditorText(text: string): void;
  /** "" without an editor. */
  getEditorText(): string;
  addAutocompleteProvider(factory: AutocompleteFactory): void;
  /** undefined brings bough's own back. */
  setEditorComponent(factory: EditorFactory | undefined): void;
  getEditorComponent(): EditorFactory | undefined;

  readonly theme: ExtensionTheme;
  getAllThemes(): { name: string; path: string | undefined }[];
  /** Without switching to it. */
  getTheme(name: string): ExtensionTheme | undefined;
  setTheme(theme: string | ExtensionTheme): { success: boolean; error?: string };
  /** Whether results of tools are shown whole. */
  getToolsExpanded(): boolean;
  setToolsExpanded(expanded: boolean): void;
}

/** Whose a part of the screen is. */
export interface UiOwner {
  /** As the user knows the extension. */
  name: string;
  /** Aborted when it is no longer loaded: all of it leaves the screen, its dialogs end unanswered. */
  gone?: AbortSignal | undefined;
  /** What it has thrown while it was asked to draw or to take a key; reported like any other mistake of it. */
  failed(event: string, error: unknown): void;
}

/** The screen as one extension has it. */
export type UiFor = (owner: UiOwner) => UiPort;

/** How the session is run. Dialogs are answered in `tui` and `rpc` only; components are shown in `tui` only. */
export type ExtensionMode = "tui" | "rpc" | "json" | "print";

const plain = (_token: string, text: string): string => text;
const same = (text: string): string => text;

/** Colours nothing. */
export const PLAIN_THEME: ExtensionTheme = {
  fg: plain,
  bg: plain,
  bold: same,
  italic: same,
  underline: same,
  inverse: same,
  strikethrough: same,
};

const nothing = (): void => undefined;

/** Nobody is there: dialogs are answered as if cancelled, the rest does nothing. */
export const NO_UI: UiPort = {
  select: async () => undefined,
  confirm: async () => false,
  input: async () => undefined,
  editor: async () => undefined,
  custom: async <T>() => undefined as T,
  notify: nothing,
  setStatus: nothing,
  setWidget: nothing,
  setFooter: nothing,
  setHeader: nothing,
  setTitle: nothing,
  setWorkingMessage: nothing,
  setWorkingVisible: nothing,
  setWorkingIndicator: nothing,
  setHiddenThinkingLabel: nothing,
  onTerminalInput: () => nothing,
  pasteToEditor: nothing,
  setEditorText: nothing,
  getEditorText: () => "",
  addAutocompleteProvider: nothing,
  setEditorComponent: nothing,
  getEditorComponent: () => undefined,
  theme: PLAIN_THEME,
  getAllThemes: () => [],
  getTheme: () => undefined,
  setTheme: () => ({ success: false, error: "There is no screen to colour." }),
  getToolsExpanded: () => false,
  setToolsExpanded: nothing,
};
