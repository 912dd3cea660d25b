/**
 * The summary of a compaction before it is written: the user reads it and may change it.
 * Part of `tui/`; used by compaction-panel in the place of the editor.
 */
import { Container, type Focusable, type KeybindingsManager, Text } from "@earendil-works/pi-tui";
import type { PromptEditor } from "./prompt-editor.ts";
import { keyHint } from "./selector-list.ts";
import { theme } from "./theme.ts";

const CAPTION = "This summary will stand for the older part of the conversation. Change it as you like.";

export interface SummaryEditorOptions {
  /** A new one; it gets no actions but those of this component. */
  editor: PromptEditor;
  summary: string;
  keybindings: KeybindingsManager;
  onAccept(summary: string): void;
  onDrop(): void;
}

export class SummaryEditor extends Container implements Focusable {
  readonly #editor: PromptEditor;

  constructor({ editor, summary, keybindings, onAccept, onDrop }: SummaryEditorOptions) {
    super();
    this.#editor = editor;
    editor.setText(summary);
    editor.onSubmit = (text) => (text.trim() === "" ? onDrop() : onAccept(text));
    // No action of the prompt's makes sense here, but for the one that leaves; the keys that move and delete go on.
    editor.runAction = (action) => {
      if (action !== "app.interrupt" && action !== "app.clear") return false;
      onDrop();
      return true;
    };
    this.addChild(new Text(theme.fg("accent", CAPTION), 1, 0));
    this.addChild(editor);
    const hints = [
      ...keyHint(keybindings, "tui.input.submit", "write it"),
      ...keyHint(keybindings, "tui.input.newLine", "new line"),
      ...keyHint(keybindings, "app.interrupt", "drop it, nothing is changed"),
    ];
    this.addChild(new Text(theme.fg("dim", hints.join(" · ")), 1, 0));
  }

  get focused(): boolean {
    return this.#editor.focused;
  }
  set focused(focused: boolean) {
    this.#editor.focused = focused;
  }

  handleInput(data: string): void {
    this.#editor.handleInput(data);
  }
}
