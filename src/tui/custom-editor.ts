/**
 * `CustomEditor`: what extensions extend for an editor of their own: bough's, with the constructor and the handlers they
 * know. Part of `tui/`; exported to extensions.
 */
import type { EditorOptions, EditorTheme, KeybindingsManager, TUI } from "@earendil-works/pi-tui";
import { type EditorAction, PromptEditor } from "./prompt-editor.ts";

export class CustomEditor extends PromptEditor {
  /** These go before what bough does at the same action. */
  readonly actionHandlers = new Map<string, () => void>();
  onEscape: (() => void) | undefined;
  /** On an empty editor. */
  onCtrlD: (() => void) | undefined;

  constructor(tui: TUI, editorTheme: EditorTheme, keybindings: KeybindingsManager, options: EditorOptions = {}) {
    super(tui, keybindings, editorTheme, options);
  }

  onAction(action: string, handler: () => void): void {
    this.actionHandlers.set(action, handler);
  }

  protected override takeAction(action: EditorAction): boolean {
    const handler = this.actionHandlers.get(action) ?? this.#handlerOf(action);
    handler?.();
    return handler !== undefined || super.takeAction(action);
  }

  #handlerOf(action: EditorAction): (() => void) | undefined {
    if (action === "app.interrupt") return this.onEscape;
    return action === "app.exit" && this.getText() === "" ? this.onCtrlD : undefined;
  }
}
