/**
 * The tree in the page's sidebar: rows of the outline, and the keys that move in it, as in the terminal.
 * Part of the page. Used by the page's element.
 */
import { html, nothing } from "lit";
import type { TemplateResult } from "lit";
import type { FilterMode, Outline, OutlineRow, OutlineToken } from "../../tree/outline.ts";
import { lineText } from "./line-text.ts";
import type { ListItems } from "./virtual-list.ts";

/** The height of a row in page.css, in pixels. */
export const ROW_HEIGHT = 22;
/** The width of a character of the tree's font there, roughly. */
const CELL_WIDTH = 7.3;

/** Classes for the terminal's colours; data names a token, never a class. */
const TOKEN_CLASSES: ReadonlyMap<OutlineToken | undefined, string> = new Map([
  ["accent", "t-accent"],
  ["success", "t-success"],
  ["muted", "t-muted"],
  ["dim", "t-dim"],
  ["warning", "t-warning"],
  ["error", "t-error"],
  ["customMessageLabel", "t-label"],
  ["borderAccent", "t-border"],
]);

export interface TreeOptions {
  outline: Outline;
  /** Of the sidebar, in pixels. */
  width(): number;
  /** The ordinal that is shown as gone to. */
  target(): number;
  onPick(n: number): void;
  onFold(row: OutlineRow): void;
}

/** The rows as items of a list. */
export function treeItems({ outline, width, target, onPick, onFold }: TreeOptions): ListItems {
  let rows: OutlineRow[] = [];
  let from = 0;
  return {
    count: outline.rowCount,
    height: ROW_HEIGHT,
    key: (item) => rows[item - from]?.n,
    prepare(first, end) {
      from = first;
      rows = outline.rows(first, end - first, { width: Math.floor(width() / CELL_WIDTH), foldMarks: true });
    },
    template: (item) => rowView(rows[item - from]!, target(), onPick, onFold),
  };
}

function rowView(
  row: OutlineRow,
  target: number,
  onPick: (n: number) => void,
  onFold: (row: OutlineRow) => void,
): TemplateResult {
  const fold = (event: Event): void => {
    if (row.fold === undefined) return;
    event.stopPropagation();
    onFold(row);
  };
  return html`<div
    id="row-${row.n}"
    class="row"
    role="treeitem"
    aria-level=${row.indent + 1}
    aria-posinset=${row.branch}
    aria-setsize=${row.branches}
    aria-expanded=${row.fold === undefined ? nothing : row.fold === "open"}
    aria-selected=${row.selected}
    aria-current=${row.current ? "location" : nothing}
    ?data-active=${row.active}
    ?data-target=${row.n === target}
    @click=${() => onPick(row.n)}
  >
    <span class="prefix" aria-hidden="true" ?data-fold=${row.fold !== undefined} @click=${fold}>${row.prefix}</span
    >${row.active ? html`<span class="t-accent" aria-hidden="true">• </span>` : nothing}${
      row.label === undefined ? nothing : html`<bdi class="label">${lineText(row.label)}</bdi>`
    }${row.problem === undefined ? nothing : html`<span class="t-error">(${row.problem}) </span>`}<bdi class="row-text"
      >${row.text.map(({ text, token }) => html`<span class=${TOKEN_CLASSES.get(token) ?? ""}>${lineText(text)}</span>`)}</bdi
    >
  </div>`;
}

export const FILTER_NAMES: ReadonlyMap<FilterMode, string> = new Map([
  ["default", "Default"],
  ["no-tools", "No tools"],
  ["user-only", "User"],
  ["labeled-only", "Labeled"],
  ["all", "All"],
]);

const FILTER_KEYS: ReadonlyMap<string, FilterMode> = new Map([
  ["d", "default"],
  ["t", "no-tools"],
  ["u", "user-only"],
  ["l", "labeled-only"],
  ["a", "all"],
]);

/**
 * A key pressed in the sidebar. True when it has moved, folded or filtered. Left and right fold, as in any tree of a
 * page; with Ctrl they do so in the terminal, too.
 * @param height of the list, in rows
 */
export function treeKey(outline: Outline, event: KeyboardEvent, height: number): boolean {
  const isInput = event.target instanceof HTMLInputElement;
  if (event.altKey && FILTER_KEYS.has(event.key)) outline.setFilter(FILTER_KEYS.get(event.key)!);
  else if (event.altKey && event.key === "ArrowUp") outline.moveToMessage(-1);
  else if (event.altKey && event.key === "ArrowDown") outline.moveToMessage(1);
  else if (event.ctrlKey && event.key.toLowerCase() === "o") outline.cycleFilter(event.shiftKey ? -1 : 1);
  else if (event.altKey || event.metaKey) return false;
  else if (event.key === "ArrowUp") outline.move(-1);
  else if (event.key === "ArrowDown") outline.move(1);
  else if (event.key === "PageUp") outline.page(-height);
  else if (event.key === "PageDown") outline.page(height);
  else if (event.key === "ArrowLeft" && (!isInput || event.ctrlKey)) outline.foldOrUp();
  else if (event.key === "ArrowRight" && (!isInput || event.ctrlKey)) outline.unfoldOrDown();
  else if (event.key === "Home" && !isInput) outline.home();
  else if (event.key === "End" && !isInput) outline.end();
  else return false;
  return true;
}
