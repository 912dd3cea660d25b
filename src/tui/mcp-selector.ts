/**
 * The list behind `/mcp`: every MCP server with its state, and its tools, each of which can be chosen for this branch.
 * Part of `tui/`; shown by selector-controller. What servers say about themselves is text like any other: sanitised.
 */
import type { Component, Focusable } from "@earendil-works/pi-tui";
import type { McpServerView, McpToolView } from "../agent/mcp/session-mcp.ts";
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

export interface McpSelectorOptions {
  screen: SelectorScreen;
  /** As they are now; asked for at each frame. */
  servers(): readonly McpServerView[];
  /** What is said when there are none. */
  emptyText: string;
  /** The names of all tools that shall be used. */
  onSave(names: string[]): void;
  onRestart(server: string): void;
  onCancel(): void;
}

/** `tool` is undefined for the server's own row. */
interface ListRow {
  server: McpServerView;
  tool: McpToolView | undefined;
}

export class McpSelector implements Component, Focusable {
  focused = false;
  readonly #options: McpSelectorOptions;
  /** What the user has changed and not saved yet. */
  readonly #changes = new Map<string, boolean>();
  #query = "";
  #selected = 0;

  constructor(options: McpSelectorOptions) {
    this.#options = options;
  }

  render(width: number): string[] {
    const { screen, emptyText } = this.#options;
    const rows = this.#rows();
    const selected = this.#selectedIn(rows);
    const height = listHeight(screen.rows());
    const start = windowStart(selected, rows.length, height);
    const body = rows
      .slice(start, start + height)
      .map((each, offset) => row(this.#content(each), start + offset === selected, width));
    if (rows.length === 0)
      body.push(note(this.#query === "" ? emptyText : `No tool or server matches "${this.#query}"`, width));
    body.push(note(`(${rows.length === 0 ? 0 : selected + 1}/${rows.length})`, width));
    const hints = [
      "type to filter",
      ...keyHint(screen.keybindings, "app.mcp.toggle", "use or leave out"),
      ...keyHint(screen.keybindings, "tui.select.confirm", "save for this branch"),
      ...keyHint(screen.keybindings, "app.mcp.restart", "start the server anew"),
      ...keyHint(screen.keybindings, "tui.select.cancel", "cancel"),
    ];
    return framed(
      { title: "MCP servers", hints, query: this.#query, focused: this.focused, body },
      width,
      screen.rows(),
    );
  }

  handleInput(data: string): void {
    const { screen, onSave, onRestart, onCancel } = this.#options;
    const { keybindings } = screen;
    const rows = this.#rows();
    const selected = this.#selectedIn(rows);
    const moved = movedSelection(keybindings, data, selected, rows.length, listHeight(screen.rows()));
    const cancel = cancelStep(keybindings, data, this.#query);
    if (moved !== undefined) this.#selected = moved;
    else if (keybindings.matches(data, "app.mcp.toggle")) this.#toggle(rows[selected]);
    else if (keybindings.matches(data, "app.mcp.restart")) {
      const name = rows[selected]?.server.name;
      if (name !== undefined) onRestart(name);
    } else if (keybindings.matches(data, "tui.select.confirm")) return onSave(this.#chosen());
    else if (cancel === "cancel") return onCancel();
    else {
      const query = cancel === "clear" ? "" : editedQuery(keybindings, data, this.#query);
      if (query === undefined) return;
      this.#query = query;
      this.#selected = 0;
    }
    screen.requestRender();
  }

  invalidate(): void {}

  #chosen(): string[] {
    return this.#options
      .servers()
      .flatMap(({ tools }) => tools.filter((tool) => this.#isOn(tool)).map(({ name }) => name));
  }

  #isOn(tool: McpToolView): boolean {
    return this.#changes.get(tool.name) ?? tool.isSelected;
  }

  /** A server's row switches all its tools: off when all are on, else on. */
  #toggle(target: ListRow | undefined): void {
    if (target === undefined) return;
    const tools = target.tool === undefined ? target.server.tools : [target.tool];
    const isOn = !tools.every((tool) => this.#isOn(tool));
    for (const { name } of tools) this.#changes.set(name, isOn);
  }

  /** Servers come and go while the list is open. */
  #selectedIn(rows: readonly ListRow[]): number {
    return Math.max(0, Math.min(this.#selected, rows.length - 1));
  }

  #rows(): ListRow[] {
    const wanted = this.#query.toLowerCase();
    const matches = (...texts: string[]): boolean => texts.some((text) => text.toLowerCase().includes(wanted));
    return this.#options.servers().flatMap((server) => {
      const isNamed = matches(server.name);
      const tools = server.tools.filter((tool) => isNamed || matches(tool.tool, tool.description));
      return isNamed || tools.length > 0
        ? [{ server, tool: undefined }, ...tools.map((tool) => ({ server, tool }))]
        : [];
    });
  }

  #content({ server, tool }: ListRow): string {
    if (tool === undefined) return this.#serverText(server);
    const box = this.#isOn(tool) ? theme.fg("success", "[x]") : "[ ]";
    const description = sanitiseLine(tool.description);
    return `  ${box} ${sanitiseLine(tool.tool)}${description === "" ? "" : theme.fg("muted", ` ${description}`)}`;
  }

  #serverText(server: McpServerView): string {
    const { tools } = server;
    const on = tools.filter((tool) => this.#isOn(tool)).length;
    const count = tools.length === 0 ? "" : theme.fg("dim", ` ${on} of ${tools.length}`);
    return `${sanitiseLine(server.name)}${count} ${statusText(server)}`;
  }
}

function statusText({ status, problem }: McpServerView): string {
  switch (status) {
    case "ready":
      return theme.fg("success", "ready");
    case "starting":
      return theme.fg("warning", "starting …");
    case "disabled":
      return theme.fg("muted", "switched off");
    case "idle":
      return theme.fg("muted", "not started");
    case "wrong":
    case "failed":
      return theme.fg("error", sanitiseLine(problem ?? "does not work"));
  }
}
