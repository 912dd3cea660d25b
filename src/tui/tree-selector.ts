/**
 * The tree on the screen: `/tree`. Draws an Outline, turns keys into its moves, filters, search, folds and labels, and
 * tells its owner what was picked. Part of `tui/`; shown by selector-controller. Each key costs what the screen shows.
 */
import type { Component, Focusable, Keybinding } from "@earendil-works/pi-tui";
import { textOf } from "../tree/content.ts";
import type { SessionEntry } from "../tree/entries.ts";
import { isRecord } from "../tree/json.ts";
import { Outline } from "../tree/outline.ts";
import type { FilterMode, OutlineSource } from "../tree/outline.ts";
import { emptyText, statusText } from "../tree/outline-texts.ts";
import { LabelEditor } from "./label-editor.ts";
import { sanitise } from "./sanitise.ts";
import { cancelStep, editedQuery, framed, keyHint, listHeight, movedSelection, note } from "./selector-list.ts";
import type { SelectorScreen } from "./selector-list.ts";
import { TreeLines } from "./tree-lines.ts";

/** Entries a search looks through before keys get their turn: some milliseconds of work. */
const SEARCHED_AT_ONCE = 750;

export interface TreeSelectorOptions {
  screen: SelectorScreen;
  /** The session's index; it may grow while the selector is open: call `refresh`. */
  source: OutlineSource;
  /** Default: "default". */
  filter?: FilterMode;
  /** Default: where the user stands. Throws `Entry <id> not found` for an id that names no entry. */
  selectedId?: string | undefined;
  /** A folder shown as `~` in tool calls. */
  home?: string | undefined;
  /** `isCurrent`: the user stands there already. */
  onSelect(entry: SessionEntry, isCurrent: boolean): void;
  onCancel(): void;
  /** Writes the label, undefined clears it. */
  onLabel(entryId: string, label: string | undefined): void;
  /** Undefined: the entry has no text. */
  onCopy(text: string | undefined): void;
}

export class TreeSelector implements Component, Focusable {
  readonly #options: TreeSelectorOptions;
  readonly #outline: Outline;
  readonly #lines = new TreeLines();
  readonly #actions: readonly (readonly [Keybinding, () => void])[];
  #focused = false;
  #isStale = false;
  #editor: LabelEditor | undefined;
  #labelTimes: LabelTimes | undefined;
  #searching: NodeJS.Timeout | undefined;

  constructor(options: TreeSelectorOptions) {
    const { source, filter, selectedId, home } = options;
    this.#options = options;
    this.#outline = new Outline(source, {
      ...(filter === undefined ? {} : { filter }),
      ...(selectedId === undefined ? {} : { selectedId }),
      ...(home === undefined ? {} : { home }),
      searchAtOnce: SEARCHED_AT_ONCE,
    });
    this.#actions = this.#listActions();
  }

  get focused(): boolean {
    return this.#focused;
  }
  set focused(focused: boolean) {
    this.#focused = focused;
    if (this.#editor !== undefined) this.#editor.focused = focused;
  }

  get selectedId(): string | undefined {
    return this.#outline.selectedEntry?.id;
  }

  /** To be called when the session has grown or a label has changed. The work is done when it is next drawn. */
  refresh(): void {
    this.#isStale = true;
    this.#options.screen.requestRender();
  }

  /** Opens the editor for the selected entry's label. */
  editLabel(): void {
    const entry = this.#outline.selectedEntry;
    if (entry === undefined) return;
    this.#editor = new LabelEditor({
      caption: "Label (empty to remove):",
      text: this.#options.source.labels().get(entry.id) ?? "",
      onSave: (label) => {
        this.#editor = undefined;
        this.#options.onLabel(entry.id, label);
        this.refresh();
      },
      onCancel: () => {
        this.#editor = undefined;
      },
    });
    this.#editor.focused = this.#focused;
  }

  render(width: number): string[] {
    this.#update();
    return framed(
      {
        title: "Session Tree",
        hints: this.#hints(),
        query: this.#outline.query,
        focused: this.#focused && this.#editor === undefined,
        body: this.#editor?.render(width) ?? this.#listLines(width),
      },
      width,
      this.#options.screen.rows(),
    );
  }

  handleInput(data: string): void {
    this.#update();
    if (this.#editor !== undefined) this.#editor.handleInput(data);
    else if (!this.#handleListKey(data)) return;
    this.#searchOn();
    this.#options.screen.requestRender();
  }

  invalidate(): void {
    this.#editor?.invalidate();
  }

  /** False when the key has left the selector or means nothing here. */
  #handleListKey(data: string): boolean {
    const { keybindings } = this.#options.screen;
    const outline = this.#outline;
    const moved = movedSelection(keybindings, data, outline.selected, outline.rowCount, this.#height());
    if (moved !== undefined) {
      outline.page(moved - outline.selected);
      return true;
    }
    if (keybindings.matches(data, "tui.select.confirm")) return this.#confirm();
    const cancel = cancelStep(keybindings, data, outline.query);
    const action = this.#actions.find(([id]) => keybindings.matches(data, id))?.[1];
    if (cancel === "cancel") this.#options.onCancel();
    else if (cancel === "clear") outline.setQuery("");
    else if (action !== undefined) action();
    else {
      const query = editedQuery(keybindings, data, outline.query);
      if (query === undefined) return false;
      outline.setQuery(query);
    }
    return cancel !== "cancel";
  }

  #listActions(): readonly (readonly [Keybinding, () => void])[] {
    const outline = this.#outline;
    return [
      ["tui.editor.cursorLeft", () => outline.page(-this.#height())],
      ["tui.editor.cursorRight", () => outline.page(this.#height())],
      ["app.tree.foldOrUp", () => outline.foldOrUp()],
      ["app.tree.unfoldOrDown", () => outline.unfoldOrDown()],
      ["app.tree.previousMessage", () => outline.moveToMessage(-1)],
      ["app.tree.nextMessage", () => outline.moveToMessage(1)],
      ["app.tree.editLabel", () => this.editLabel()],
      ["app.tree.toggleLabelTimestamp", () => this.#toggleLabelTimes()],
      ["app.message.copy", () => this.#copy()],
      ["app.tree.filter.cycleForward", () => outline.cycleFilter(1)],
      ["app.tree.filter.cycleBackward", () => outline.cycleFilter(-1)],
      ["app.tree.filter.default", () => outline.setFilter("default")],
      ["app.tree.filter.noTools", () => outline.toggleFilter("no-tools")],
      ["app.tree.filter.userOnly", () => outline.toggleFilter("user-only")],
      ["app.tree.filter.labeledOnly", () => outline.toggleFilter("labeled-only")],
      ["app.tree.filter.all", () => outline.toggleFilter("all")],
      ["app.tree.filter.setNoTools", () => outline.setFilter("no-tools")],
      ["app.tree.filter.setUserOnly", () => outline.setFilter("user-only")],
      ["app.tree.filter.setLabeledOnly", () => outline.setFilter("labeled-only")],
      ["app.tree.filter.setAll", () => outline.setFilter("all")],
    ];
  }

  /** The keys pressed meanwhile come in between. */
  #searchOn(): void {
    if (this.#searching !== undefined || !this.#outline.isSearching) return;
    this.#searching = setTimeout(() => {
      this.#searching = undefined;
      if (this.#outline.searchOn(SEARCHED_AT_ONCE)) this.#options.screen.requestRender();
      this.#searchOn();
    });
  }

  #confirm(): boolean {
    const entry = this.#outline.selectedEntry;
    clearTimeout(this.#searching);
    this.#searching = undefined;
    if (entry !== undefined) this.#options.onSelect(entry, entry.id === this.#outline.currentEntry?.id);
    return false;
  }

  #copy(): void {
    const entry = this.#outline.selectedEntry;
    if (entry !== undefined) this.#options.onCopy(textToCopy(entry));
  }

  #toggleLabelTimes(): void {
    this.#labelTimes = this.#labelTimes === undefined ? new LabelTimes(this.#options.source) : undefined;
  }

  #update(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    this.#outline.refresh();
  }

  #height(): number {
    return listHeight(this.#options.screen.rows());
  }

  #hints(): string[] {
    const hint = (id: Keybinding, text: string): string[] => keyHint(this.#options.screen.keybindings, id, text);
    return [
      "↑↓ move",
      "←→ page",
      ...hint("tui.select.confirm", "go there"),
      ...hint("app.tree.editLabel", "label"),
      ...hint("app.tree.filter.cycleForward", "next filter"),
      "Ctrl or Alt+D/T/U/L/A: filters",
      ...hint("app.tree.foldOrUp", "fold"),
      "type to search",
    ];
  }

  #listLines(width: number): string[] {
    const outline = this.#outline;
    const height = this.#height();
    const rows = outline.rows(outline.windowStart(height), height, { width, foldMarks: true });
    const nothing = emptyText(outline);
    const lines = this.#lines.of(rows, width, this.#labelTimes);
    if (nothing !== undefined) {
      lines.push(note(sanitise(nothing.text), width));
      if (nothing.hint !== undefined) lines.push(note(nothing.hint, width));
    }
    const times = this.#labelTimes === undefined ? "" : " [+label time]";
    lines.push(note(statusText(outline) + times, width));
    return lines;
  }
}

/** When each label was set, read from the label entries; grows with the session. */
class LabelTimes {
  readonly #source: OutlineSource;
  readonly #times = new Map<string, string>();
  #read = 0;

  constructor(source: OutlineSource) {
    this.#source = source;
  }

  /** "2026-11-30 14:05" in local time; undefined when no readable time was recorded. */
  of(entryId: string): string | undefined {
    for (; this.#read < this.#source.size; this.#read++) {
      if (this.#source.kindAt(this.#read) !== "label") continue;
      const entry = this.#source.at(this.#read);
      if (entry.type === "label") this.#times.set(entry.targetId, entry.timestamp);
    }
    return localTime(this.#times.get(entryId));
  }
}

function localTime(timestamp: string | undefined): string | undefined {
  const time = new Date(timestamp ?? Number.NaN);
  if (Number.isNaN(time.getTime())) return undefined;
  const two = (part: number): string => String(part).padStart(2, "0");
  const date = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${date} ${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** The whole text of an entry as a user would paste it; undefined when there is none. */
function textToCopy(entry: SessionEntry): string | undefined {
  const text = entryText(entry);
  return text.trim() === "" ? undefined : text;
}

function entryText(entry: SessionEntry): string {
  switch (entry.type) {
    case "message":
      return messageText(entry.message);
    case "custom_message":
      return textOf(entry.content);
    case "compaction":
    case "branch_summary":
      return typeof entry.summary === "string" ? entry.summary : "";
    default:
      return "";
  }
}

/** The fields of a message from a file may have any shape. */
function messageText(message: unknown): string {
  if (!isRecord(message)) return "";
  const run = message["command"] ?? message["code"];
  return typeof run === "string" ? run : textOf(message["content"]);
}
