/**
 * The list behind `/branch`: every message the user wrote on the current branch. Picking one starts a new session from
 * before it. Part of `tui/`; shown by selector-controller.
 */
import type { Component } from "@earendil-works/pi-tui";
import type { PromptText } from "../agent/prompt-entries.ts";
import { cutText } from "../tree/content.ts";
import { sanitiseLine } from "./sanitise.ts";
import { fit, framed, keyHint, movedSelection, note, row, windowStart } from "./selector-list.ts";
import type { SelectorScreen } from "./selector-list.ts";
import { theme } from "./theme.ts";

export interface UserMessageSelectorOptions {
  screen: SelectorScreen;
  /** Oldest first; the newest is selected first. */
  messages: readonly PromptText[];
  onSelect(entryId: string): void;
  onCancel(): void;
}

/** Lines of one item: the text, "Message i of N", a blank. */
const ITEM_LINES = 3;
const MAX_VISIBLE = 10;
/** Lines of the frame around the list and of the footer under it. */
const OTHER_LINES = 12;
/** Enough for any terminal; keeps a pasted megabyte out of the layout. */
const SHOWN_CHARACTERS = 400;

export class UserMessageSelector implements Component {
  readonly #options: UserMessageSelectorOptions;
  #selected: number;

  constructor(options: UserMessageSelectorOptions) {
    this.#options = options;
    this.#selected = Math.max(0, options.messages.length - 1);
  }

  get selectedId(): string | undefined {
    return this.#options.messages[this.#selected]?.entryId;
  }

  render(width: number): string[] {
    const { screen, messages } = this.#options;
    const height = this.#visible();
    const start = windowStart(this.#selected, messages.length, height);
    const body = messages
      .slice(start, start + height)
      .flatMap((message, offset) => this.#itemLines(message, start + offset, width));
    if (messages.length === 0) body.push(note("No messages to branch from", width));
    else if (messages.length > height) body.push(note(`(${this.#selected + 1}/${messages.length})`, width));
    return framed(
      {
        title: "Branch from a message",
        hints: [
          "a new session gets all that came before it",
          "the message returns to the editor",
          "messages of other branches: /tree",
          ...keyHint(screen.keybindings, "tui.select.confirm", "branch"),
          ...keyHint(screen.keybindings, "tui.select.cancel", "cancel"),
        ],
        body,
      },
      width,
      screen.rows(),
    );
  }

  handleInput(data: string): void {
    const { screen, messages } = this.#options;
    const moved = movedSelection(screen.keybindings, data, this.#selected, messages.length, this.#visible());
    if (moved !== undefined) {
      this.#selected = moved;
      screen.requestRender();
    } else if (screen.keybindings.matches(data, "tui.select.confirm")) {
      if (this.selectedId !== undefined) this.#options.onSelect(this.selectedId);
    } else if (screen.keybindings.matches(data, "tui.select.cancel")) {
      this.#options.onCancel();
    }
  }

  invalidate(): void {}

  #visible(): number {
    const room = Math.floor((this.#options.screen.rows() - OTHER_LINES) / ITEM_LINES);
    return Math.max(2, Math.min(MAX_VISIBLE, room));
  }

  #itemLines(message: PromptText, index: number, width: number): string[] {
    const text = sanitiseLine(cutText(message.text, SHOWN_CHARACTERS));
    const place = theme.fg("muted", `  Message ${index + 1} of ${this.#options.messages.length}`);
    return [row(text, index === this.#selected, width), fit(place, width), ""];
  }
}
