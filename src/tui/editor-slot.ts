/**
 * `EditorSlot`: the editor of the screen, bough's own or an extension's, as everyone else uses it.
 * Part of `tui/`; hung in by session-screen. An extension's editor that throws gives its place, and the draft, back.
 */
import type {
  AutocompleteProvider,
  Component,
  EditorComponent,
  Focusable,
  KeybindingsManager,
} from "@earendil-works/pi-tui";
import { Guarded } from "./guarded.ts";
import { type EditorAction, PromptEditor, runsAction } from "./prompt-editor.ts";

/** What of an editor those who deal with the draft use. */
export type DraftEditor = Pick<
  PromptEditor,
  "getText" | "getExpandedText" | "setText" | "addToHistory" | "isBlank" | "isBashDraft"
>;

/** Prompts that a new editor gets to know. */
const HISTORY = 100;
const PASTE_START = "\x1b[200~";
const PASTE_END = "\x1b[201~";

interface OtherEditor {
  editor: EditorComponent;
  guarded: Guarded;
  /** The draft when it was last looked at. */
  text: string;
}

export class EditorSlot implements Component, Focusable, DraftEditor {
  readonly #own: PromptEditor;
  readonly #keybindings: KeybindingsManager;
  readonly #history: string[] = [];
  #other: OtherEditor | undefined;
  #completion: AutocompleteProvider | undefined;
  #focused = false;
  #look = { thinkingLevel: "off", isPlanning: false };
  onSubmit: ((text: string) => void) | undefined;
  onChange: (() => void) | undefined;
  runAction: ((action: EditorAction) => boolean) | undefined;
  /** Sees keys first; true keeps them from the editor. */
  takesKey: ((data: string) => boolean) | undefined;

  constructor(own: PromptEditor, keybindings: KeybindingsManager) {
    this.#own = own;
    this.#keybindings = keybindings;
    this.#wire(own);
  }

  /** Puts an extension's editor in, with the draft; undefined brings bough's own back. `failed` is called at most once. */
  use(editor: EditorComponent | undefined, failed: (error: unknown) => void): void {
    const text = this.getExpandedText();
    this.#other?.guarded.dispose();
    this.#other = undefined;
    if (editor !== undefined) {
      const guarded = new Guarded(editor, {
        hasCursor: true,
        failed: (error) => {
          if (this.#other?.guarded === guarded) this.#giveBack();
          failed(error);
        },
      });
      this.#other = { editor, guarded, text };
      this.#attempt(() => this.#wire(editor));
    }
    for (const line of this.#history) this.#attempt((shown) => shown.addToHistory?.(line));
    this.setText(text);
    this.focused = this.#focused;
  }

  get isBlank(): boolean {
    return this.getText().trim() === "";
  }
  get isBashDraft(): boolean {
    return this.getText().trimStart().startsWith("!");
  }
  getText(): string {
    return this.#read((shown) => shown.getText());
  }
  getExpandedText(): string {
    return this.#read((shown) => shown.getExpandedText?.() ?? shown.getText());
  }
  setText(text: string): void {
    this.#attempt((shown) => shown.setText(text));
  }
  /** As if it had been pasted from the clipboard. */
  paste(text: string): void {
    this.#attempt((shown) => shown.handleInput(`${PASTE_START}${text}${PASTE_END}`));
  }
  addToHistory(text: string): void {
    this.#history.push(text);
    if (this.#history.length > HISTORY) this.#history.shift();
    this.#attempt((shown) => shown.addToHistory?.(text));
  }
  setAutocompleteProvider(provider: AutocompleteProvider): void {
    this.#completion = provider;
    this.#own.setAutocompleteProvider(provider);
    this.#attempt((shown) => shown.setAutocompleteProvider?.(provider));
  }
  setThinkingLevel(thinkingLevel: string): void {
    this.#look.thinkingLevel = thinkingLevel;
    for (const editor of this.#promptEditors()) editor.setThinkingLevel(thinkingLevel);
  }
  setPlanning(isPlanning: boolean): void {
    this.#look.isPlanning = isPlanning;
    for (const editor of this.#promptEditors()) editor.setPlanning(isPlanning);
  }

  get focused(): boolean {
    return this.#focused;
  }
  set focused(focused: boolean) {
    this.#focused = focused;
    this.#own.focused = focused && this.#other === undefined;
    if (this.#other !== undefined) this.#other.guarded.focused = focused;
  }
  get wantsKeyRelease(): boolean {
    return this.#other?.guarded.wantsKeyRelease ?? false;
  }
  render(width: number): readonly string[] {
    const lines = this.#other?.guarded.render(width);
    // It may have failed just now.
    return this.#other !== undefined && lines !== undefined ? lines : this.#own.render(width);
  }
  handleInput(data: string): void {
    if (this.takesKey?.(data)) return;
    const other = this.#other;
    if (other === undefined) this.#own.handleInput(data);
    // Editors made of bough's run the actions themselves, where their own keys leave room.
    else if (other.editor instanceof PromptEditor || !this.#runsAction(data)) other.guarded.handleInput(data);
  }
  invalidate(): void {
    this.#own.invalidate();
    this.#other?.guarded.invalidate();
  }

  #runsAction(data: string): boolean {
    return runsAction(this.#keybindings, data, (action) => this.runAction?.(action) === true);
  }

  #promptEditors(): PromptEditor[] {
    const other = this.#other?.editor;
    return other instanceof PromptEditor ? [this.#own, other] : [this.#own];
  }

  #wire(editor: EditorComponent): void {
    editor.onSubmit = (text) => this.onSubmit?.(text);
    editor.onChange = (text) => {
      if (this.#other?.editor === editor) this.#other.text = text;
      this.onChange?.();
    };
    if (editor instanceof PromptEditor) {
      editor.runAction = (action) => this.runAction?.(action) === true;
      editor.setThinkingLevel(this.#look.thinkingLevel);
      editor.setPlanning(this.#look.isPlanning);
    }
    if (this.#completion !== undefined) editor.setAutocompleteProvider?.(this.#completion);
  }

  /** What the editor that is shown says of its text; an extension's that cannot is replaced by bough's. */
  #read(read: (shown: EditorComponent) => string): string {
    const text = this.#attempt(read) ?? read(this.#own);
    if (this.#other !== undefined) this.#other.text = text;
    return text;
  }

  #attempt<T>(act: (shown: EditorComponent) => T): T | undefined {
    const other = this.#other;
    return other === undefined ? act(this.#own) : other.guarded.attempt(() => act(other.editor));
  }

  #giveBack(): void {
    const text = this.#other?.text ?? "";
    this.#other = undefined;
    this.#own.setText(text);
    this.focused = this.#focused;
  }
}
