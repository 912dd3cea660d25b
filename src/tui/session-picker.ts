/**
 * The list behind `/resume`: the sessions of this folder or of all, searched, ordered, renamed. Rows appear while the
 * files are still being read. Part of `tui/`; shown by selector-controller. It never deletes a session.
 */
import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";
import type { Component, Focusable, Keybinding } from "@earendil-works/pi-tui";
import type { SessionInfo } from "../session/catalog.ts";
import { reasonOf } from "../session/session-errors.ts";
import { cutText } from "../tree/content.ts";
import { LabelEditor } from "./label-editor.ts";
import { sanitiseLine } from "./sanitise.ts";
import {
  cancelStep,
  editedQuery,
  fit,
  framed,
  keyHint,
  listHeight,
  movedSelection,
  note,
  row,
  windowStart,
} from "./selector-list.ts";
import type { SelectorScreen } from "./selector-list.ts";
import { ageOf, matchesSession, orderSessions, parseSessionQuery, SESSION_ORDERS } from "./session-query.ts";
import type { SessionOrder, SessionRow } from "./session-query.ts";
import { theme } from "./theme.ts";

export type SessionScope = "folder" | "all";

/** Where the rows come from and what a rename does. */
export interface SessionSource {
  /**
   * Calls `found` as sessions are found, in any order, and again when more is known of one; resolves when there are no
   * more or `signal` says stop.
   */
  load(scope: SessionScope, found: (session: SessionInfo) => void, signal: AbortSignal): Promise<void>;
  /** Writes the name, undefined clears it. Rejects with the reason when it cannot. */
  rename(session: SessionInfo, name: string | undefined): Promise<void>;
}

export interface SessionPickerOptions {
  screen: SelectorScreen;
  source: SessionSource;
  /** The file of the session that is open. */
  currentPath: string | undefined;
  /** Milliseconds since 1970, for the ages; default the clock. */
  now?: () => number;
  onSelect(session: SessionInfo): void;
  onCancel(): void;
}

/** What the user has chosen to see. */
interface View {
  scope: SessionScope;
  order: SessionOrder;
  namedOnly: boolean;
  /** A second line for each session, with its file. */
  showPath: boolean;
  query: string;
}

/** Enough for any terminal; keeps a pasted megabyte out of the layout. */
const SHOWN_CHARACTERS = 400;
/** Below this many columns for the text a row shows nothing else. */
const MIN_TEXT = 16;

export class SessionPicker implements Component, Focusable {
  readonly #options: SessionPickerOptions;
  #focused = false;
  readonly #view: View = { scope: "folder", order: "recent", namedOnly: false, showPath: false, query: "" };
  /** By path. */
  #sessions = new Map<string, SessionInfo>();
  #rows: SessionRow[] = [];
  /** Undefined: the first row, whichever it becomes. */
  #selectedPath: string | undefined;
  /** The selected row as the user last saw it. */
  #drawnPath: string | undefined;
  #loading = new AbortController();
  #isLoading = false;
  /** Sessions have come that no row shows yet: many may come between two frames. */
  #isStale = false;
  #message = "";
  #editor: LabelEditor | undefined;

  constructor(options: SessionPickerOptions) {
    this.#options = options;
    this.#load();
  }

  get focused(): boolean {
    return this.#focused;
  }
  set focused(focused: boolean) {
    this.#focused = focused;
    if (this.#editor !== undefined) this.#editor.focused = focused;
  }

  get selected(): SessionInfo | undefined {
    return this.#rows[this.#selectedIndex]?.session;
  }

  /** Stops reading files. To be called when the picker is closed from outside. */
  dispose(): void {
    this.#loading.abort();
  }

  render(width: number): string[] {
    if (this.#isStale) this.#arrange();
    this.#drawnPath = this.selected?.path;
    const where = this.#view.scope === "folder" ? "this folder" : "all folders";
    return framed(
      {
        title: `Resume a session · ${where}`,
        hints: this.#hints(),
        query: this.#view.query,
        focused: this.#focused && this.#editor === undefined,
        body: this.#editor?.render(width) ?? this.#listLines(width),
      },
      width,
      this.#options.screen.rows(),
    );
  }

  #hints(): string[] {
    const hint = (id: Keybinding, text: string): string[] => keyHint(this.#options.screen.keybindings, id, text);
    return [
      'type to search: words, "a phrase", re:pattern',
      ...hint("app.session.toggleScope", this.#view.scope === "folder" ? "all folders" : "this folder"),
      ...hint("app.session.toggleSort", `order (${this.#view.order})`),
      ...hint("app.session.toggleNamedFilter", this.#view.namedOnly ? "all" : "named only"),
      ...hint("app.session.togglePath", this.#view.showPath ? "hide paths" : "show paths"),
      ...hint("app.session.rename", "rename"),
      ...hint("tui.select.confirm", "open"),
    ];
  }

  handleInput(data: string): void {
    // A key is meant for what was on the screen, not for a row that has come on top of it since.
    this.#selectedPath ??= this.#drawnPath;
    if (this.#isStale) this.#arrange();
    if (this.#editor !== undefined) this.#editor.handleInput(data);
    else {
      this.#message = "";
      if (!this.#handleListKey(data)) return;
    }
    this.#options.screen.requestRender();
  }

  invalidate(): void {
    this.#editor?.invalidate();
  }

  /** False when the key has closed the picker or means nothing here. */
  #handleListKey(data: string): boolean {
    const { keybindings } = this.#options.screen;
    const moved = movedSelection(keybindings, data, this.#selectedIndex, this.#rows.length, this.#height());
    const cancel = cancelStep(keybindings, data, this.#view.query);
    if (moved !== undefined) this.#selectedPath = this.#rows[moved]?.session.path;
    else if (keybindings.matches(data, "tui.select.confirm")) return this.#confirm();
    else if (cancel === "cancel") return this.#close(() => this.#options.onCancel());
    else if (cancel === "clear") this.#search("");
    else if (!this.#handleViewKey(data)) {
      const query = editedQuery(keybindings, data, this.#view.query);
      if (query === undefined) return false;
      this.#search(query);
    }
    return true;
  }

  #handleViewKey(data: string): boolean {
    const { keybindings } = this.#options.screen;
    if (keybindings.matches(data, "app.session.toggleScope")) {
      this.#view.scope = this.#view.scope === "folder" ? "all" : "folder";
      this.#load();
    } else if (keybindings.matches(data, "app.session.toggleSort")) {
      this.#view.order = SESSION_ORDERS[(SESSION_ORDERS.indexOf(this.#view.order) + 1) % SESSION_ORDERS.length]!;
      this.#arrange();
    } else if (keybindings.matches(data, "app.session.toggleNamedFilter")) {
      this.#view.namedOnly = !this.#view.namedOnly;
      this.#arrange();
    } else if (keybindings.matches(data, "app.session.togglePath")) this.#view.showPath = !this.#view.showPath;
    else if (keybindings.matches(data, "app.session.rename")) this.#openRename();
    else return false;
    return true;
  }

  #confirm(): boolean {
    const session = this.selected;
    if (session === undefined) return false;
    if (canOpen(session)) return this.#close(() => this.#options.onSelect(session));
    const reason = session.reason === undefined ? "it is empty" : session.reason;
    this.#message = `This session cannot be opened: ${reason}. bough doctor tells more.`;
    return true;
  }

  #close(then: () => void): false {
    this.dispose();
    then();
    return false;
  }

  #openRename(): void {
    const session = this.selected;
    if (session === undefined || !canOpen(session)) return;
    this.#editor = new LabelEditor({
      caption: "Name of the session (empty to remove):",
      text: session.name ?? "",
      onSave: (name) => {
        this.#editor = undefined;
        void this.#rename(session, name);
      },
      onCancel: () => {
        this.#editor = undefined;
      },
    });
    this.#editor.focused = this.#focused;
  }

  async #rename(session: SessionInfo, name: string | undefined): Promise<void> {
    try {
      await this.#options.source.rename(session, name);
      this.#sessions.set(session.path, { ...session, ...this.#sessions.get(session.path), name });
      this.#arrange();
    } catch (error) {
      this.#message = `The name was not saved: ${reasonOf(error)}`;
    }
    this.#options.screen.requestRender();
  }

  #load(): void {
    this.#loading.abort();
    const loading = (this.#loading = new AbortController());
    this.#sessions = new Map();
    this.#isLoading = true;
    this.#arrange();
    const found = (session: SessionInfo): void => {
      if (loading.signal.aborted) return;
      // What a subagent did belongs to the session that started it.
      if (session.isSubagent) this.#sessions.delete(session.path);
      else this.#sessions.set(session.path, session);
      this.#isStale = true;
      this.#options.screen.requestRender();
    };
    const ended = (message: string) => (): void => {
      if (loading.signal.aborted) return;
      this.#isLoading = false;
      this.#message = message;
      this.#options.screen.requestRender();
    };
    this.#options.source.load(this.#view.scope, found, loading.signal).then(ended(""), (error: unknown) => {
      ended(`The sessions could not be read: ${reasonOf(error)}`)();
    });
  }

  #search(query: string): void {
    this.#view.query = query;
    this.#selectedPath = undefined;
    this.#arrange();
  }

  #arrange(): void {
    this.#isStale = false;
    const query = parseSessionQuery(this.#view.query);
    if (query.kind === "broken") this.#message = query.text;
    const shown = [...this.#sessions.values()].filter(
      (session) => (!this.#view.namedOnly || session.name !== undefined) && matchesSession(session, query),
    );
    this.#rows = orderSessions(shown, this.#view.order, query);
  }

  get #selectedIndex(): number {
    const index = this.#rows.findIndex(({ session }) => session.path === this.#selectedPath);
    return Math.max(0, index);
  }

  #height(): number {
    const rows = Math.min(10, listHeight(this.#options.screen.rows()));
    return this.#view.showPath ? Math.max(3, rows >> 1) : rows;
  }

  #listLines(width: number): string[] {
    const selected = this.#selectedIndex;
    const height = this.#height();
    const start = windowStart(selected, this.#rows.length, height);
    const visible = this.#rows.slice(start, start + height);
    const lines = visible.flatMap(({ session, depth }, offset) => {
      const index = start + offset;
      const begins = session.isExample && (offset === 0 || !this.#rows[index - 1]!.session.isExample);
      return [
        ...(begins ? [fit(theme.bold("  Example"), width)] : []),
        row(this.#content(session, depth, width - 2), index === selected, width),
        ...(this.#view.showPath ? [fit(theme.fg("dim", `    ${sanitiseLine(session.path)}`), width)] : []),
      ];
    });
    if (visible.length === 0) lines.push(note(this.#emptyText(), width));
    const counter = `(${visible.length === 0 ? 0 : selected + 1}/${this.#rows.length})`;
    const tags = [this.#view.namedOnly ? " [named]" : "", this.#isLoading ? " reading…" : ""].join("");
    lines.push(note(counter + tags, width));
    if (this.#message !== "") lines.push(fit(theme.fg("warning", `  ${sanitiseLine(this.#message)}`), width));
    return lines;
  }

  #emptyText(): string {
    if (this.#isLoading) return "Reading sessions…";
    if (this.#sessions.size === 0)
      return this.#view.scope === "folder" ? "No sessions in this folder. Press Tab to see all." : "No sessions found";
    return this.#view.query === "" ? "No named sessions" : `No session matches "${this.#view.query}"`;
  }

  /** Name or first message on the left; number of messages, age and marks on the right. */
  #content(session: SessionInfo, depth: number, width: number): string {
    const indent = "  ".repeat(Math.min(depth, 8));
    const shown = cutText(session.name ?? session.firstMessage, SHOWN_CHARACTERS);
    const text = sanitiseLine(shown) || (session.isComplete ? "(no messages)" : "…");
    const isCurrent = session.path === this.#options.currentPath;
    const style = isCurrent ? "accent" : session.name !== undefined ? "warning" : "text";
    const facts = this.#facts(session, isCurrent);
    const room = width - visibleWidth(indent) - visibleWidth(facts) - 2;
    if (room < MIN_TEXT) return indent + theme.fg(style, text);
    return `${indent}${theme.fg(style, truncateToWidth(text, room, "…", true))}  ${facts}`;
  }

  #facts(session: SessionInfo, isCurrent: boolean): string {
    const age = session.kind === "ok" ? ageOf(session.modified, (this.#options.now ?? Date.now)()) : "";
    const count = session.kind === "ok" ? String(session.messageCount ?? "") : "";
    const folder = this.#view.scope === "all" ? lastPart(session.cwd) : "";
    const known = [folder, count, age].filter((fact) => fact !== "").map(sanitiseLine);
    return [
      kindMark(session.kind),
      session.cwdMissing ? theme.fg("warning", "folder gone") : "",
      isCurrent ? theme.fg("accent", "current") : "",
      known.length === 0 ? "" : theme.fg("muted", known.join(" ")),
    ]
      .filter((fact) => fact !== "")
      .join(" ");
  }
}

function kindMark(kind: SessionInfo["kind"]): string {
  switch (kind) {
    case "ok":
      return "";
    case "newer":
      return theme.fg("warning", "newer version");
    case "empty":
    case "damaged":
      return theme.fg("error", kind);
  }
}

const canOpen = (session: SessionInfo): boolean => session.kind === "ok" || session.kind === "newer";

const lastPart = (path: string): string => path.split(/[\\/]/).findLast((part) => part !== "") ?? "";
