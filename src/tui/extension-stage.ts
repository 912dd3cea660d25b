/**
 * `ExtensionStage`: what the screen keeps ready for extensions, and the `ctx.ui` of each of them.
 * Part of `tui/`; made and hung in by session-screen.
 */
import type { KeybindingsManager, TUI } from "@earendil-works/pi-tui";
import type { EditorFactory, UiFor } from "../extensions/ui-port.ts";
import type { ChatView } from "./chat-view.ts";
import type { EditorArea } from "./editor-area.ts";
import type { EditorSlot } from "./editor-slot.ts";
import { CompletionStack } from "./extension-completion.ts";
import { ExtensionDialogs } from "./extension-dialogs.ts";
import type { FooterSource } from "./extension-footer.ts";
import { type ReplaceablePart, type WidgetArea, widgetAreas } from "./extension-parts.ts";
import { type ExtensionScreen, ExtensionUi } from "./extension-ui.ts";
import type { PromptEditor } from "./prompt-editor.ts";
import type { StatusLine } from "./status-line.ts";
import type { ThemeShelf } from "./theme-shelf.ts";

export interface ExtensionStageOptions {
  tui: TUI;
  keybindings: KeybindingsManager;
  header: ReplaceablePart;
  footer: ReplaceablePart;
  facts: FooterSource;
  editor: EditorSlot;
  editorArea: EditorArea;
  chat: ChatView;
  status: StatusLine;
  themes: ThemeShelf;
  newEditor(): PromptEditor;
}

export class ExtensionStage {
  readonly above: WidgetArea;
  readonly below: WidgetArea;
  readonly completion: CompletionStack;
  readonly #screen: ExtensionScreen;

  constructor(options: ExtensionStageOptions) {
    const { tui, editor, editorArea, chat, status, keybindings } = options;
    const { above, below } = widgetAreas(() => tui.terminal.rows);
    this.above = above;
    this.below = below;
    this.completion = new CompletionStack((provider) => editor.setAutocompleteProvider(provider));
    const dialogs = new ExtensionDialogs({
      open: editorArea.openSelector,
      isTaken: () => editorArea.isSelectorOpen,
      requestRender: () => tui.requestRender(),
    });
    editorArea.onChange = (shown) => dialogs.placeChanged(shown);
    let editorFactory: EditorFactory | undefined;
    this.#screen = {
      ...options,
      dialogs,
      above,
      below,
      completion: this.completion,
      selector: { keybindings, rows: () => tui.terminal.rows, requestRender: () => tui.requestRender() },
      notify: (level, text) => {
        chat.addNotice(level, text);
        tui.requestRender();
      },
      setTitle: (title) => tui.terminal.setTitle(title),
      setWorking: (changes) => status.setLook(changes),
      setHiddenThinkingLabel: (label) => {
        chat.setHiddenThinkingLabel(label);
        tui.requestRender();
      },
      isExpanded: () => chat.isExpanded,
      setExpanded: (expanded) => {
        chat.setExpanded(expanded);
        tui.requestRender();
      },
      get editorFactory() {
        return editorFactory;
      },
      set editorFactory(factory) {
        editorFactory = factory;
      },
    };
  }

  readonly uiFor: UiFor = (owner) => new ExtensionUi(this.#screen, owner);
}
