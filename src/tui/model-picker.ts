/**
 * The list behind `/model`: every model that can be used now, found by a few letters of its name or provider.
 * Part of `tui/`; shown by selector-controller.
 */
import { fuzzyFilter } from "@earendil-works/pi-tui";
import type { Component, Focusable } from "@earendil-works/pi-tui";
import { sanitiseLine } from "./sanitise.ts";
import {
  cancelStep,
  editedQuery,
  framed,
  keyHint,
  listHeight,
  movedSelection,
  note,
  row,
  windowStart,
} from "./selector-list.ts";
import type { SelectorScreen } from "./selector-list.ts";
import { theme } from "./theme.ts";

/** The part of pi-ai's `Model` the list shows. */
export interface ModelItem {
  provider: string;
  id: string;
  name: string;
}

export interface ModelPickerOptions<M extends ModelItem> {
  screen: SelectorScreen;
  models: readonly M[];
  current: ModelItem | undefined;
  /** What the search starts with; "" for none. */
  query?: string;
  onSelect(model: M): void;
  onCancel(): void;
}

const isSame = (one: ModelItem, other: ModelItem | undefined): boolean =>
  one.provider === other?.provider && one.id === other.id;

export class ModelPicker<M extends ModelItem> implements Component, Focusable {
  focused = false;
  readonly #options: ModelPickerOptions<M>;
  #query: string;
  #shown: readonly M[] = [];
  #selected = 0;

  constructor(options: ModelPickerOptions<M>) {
    this.#options = options;
    this.#query = options.query ?? "";
    this.#search();
    this.#selected = Math.max(
      0,
      this.#shown.findIndex((model) => isSame(model, options.current)),
    );
  }

  get selected(): M | undefined {
    return this.#shown[this.#selected];
  }

  render(width: number): string[] {
    const { keybindings } = this.#options.screen;
    const height = this.#height();
    const start = windowStart(this.#selected, this.#shown.length, height);
    const body = this.#shown
      .slice(start, start + height)
      .map((model, offset) => row(this.#content(model), start + offset === this.#selected, width));
    if (this.#shown.length === 0) body.push(note(this.#emptyText(), width));
    body.push(note(`(${this.selected ? this.#selected + 1 : 0}/${this.#shown.length})`, width));
    return framed(
      {
        title: "Choose a model",
        hints: [
          "type to search",
          ...keyHint(keybindings, "tui.select.confirm", "use it from here on"),
          ...keyHint(keybindings, "tui.select.cancel", "cancel"),
        ],
        query: this.#query,
        focused: this.focused,
        body,
      },
      width,
      this.#options.screen.rows(),
    );
  }

  handleInput(data: string): void {
    const { keybindings } = this.#options.screen;
    const moved = movedSelection(keybindings, data, this.#selected, this.#shown.length, this.#height());
    const cancel = cancelStep(keybindings, data, this.#query);
    if (moved !== undefined) this.#selected = moved;
    else if (keybindings.matches(data, "tui.select.confirm")) return this.#confirm();
    else if (cancel === "cancel") return this.#options.onCancel();
    else {
      const query = cancel === "clear" ? "" : editedQuery(keybindings, data, this.#query);
      if (query === undefined) return;
      this.#query = query;
      this.#search();
      this.#selected = 0;
    }
    this.#options.screen.requestRender();
  }

  invalidate(): void {}

  #confirm(): void {
    if (this.selected !== undefined) this.#options.onSelect(this.selected);
  }

  #search(): void {
    this.#shown = fuzzyFilter(
      [...this.#options.models],
      this.#query,
      (model) => `${model.provider} ${model.id} ${model.name}`,
    );
  }

  #height(): number {
    return Math.min(10, listHeight(this.#options.screen.rows()));
  }

  #emptyText(): string {
    return this.#options.models.length === 0
      ? "No model yet: set an API key, start a local server, or give --base-url"
      : `No model matches "${this.#query}"`;
  }

  #content(model: M): string {
    const id = sanitiseLine(model.id);
    const name = model.name === "" || model.name === model.id ? "" : theme.fg("muted", ` ${sanitiseLine(model.name)}`);
    const mark = isSame(model, this.#options.current) ? theme.fg("success", " ✓ current") : "";
    return `${id} ${theme.fg("dim", `[${sanitiseLine(model.provider)}]`)}${mark}${name}`;
  }
}
