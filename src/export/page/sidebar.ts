/**
 * `<bough-sidebar>`: the tree with its search and filters. Draws what the outline of PageView says, and searches on in
 * slices: until a search is over the rows stay as they are.
 * Part of the page. Used by the page's element.
 */
import { LitElement, html, nothing } from "lit";
import type { TemplateResult } from "lit";
import { FILTER_MODES } from "../../tree/outline-filter.ts";
import { emptyText, statusText } from "../../tree/outline-texts.ts";
import type { PageView } from "./page-view.ts";
import { SearchSlices } from "./search-slices.ts";
import { FILTER_NAMES, ROW_HEIGHT, treeItems, treeKey } from "./tree-view.ts";
import "./virtual-list.ts";
import type { ListGoal, ListItems, ListPlace, VirtualList } from "./virtual-list.ts";

export interface SidebarOptions {
  view: PageView;
  onPick(n: number): void;
  onClose(): void;
}

/** What is shown of the outline: as it was when its rows were last complete, or a row was selected since. */
interface Shown {
  items: ListItems;
  goal: ListGoal | undefined;
  /** The id of the selected row's element. */
  selected: string | typeof nothing;
  status: string;
  empty: ReturnType<typeof emptyText>;
}

export class SidebarElement extends LitElement {
  readonly search: SearchSlices;
  readonly #options: SidebarOptions;
  #shown: Shown;
  /** Where the selected row shall stand when a search is over. */
  #place: ListPlace = "nearest";
  #announced = "";

  constructor(options: SidebarOptions) {
    super();
    this.#options = options;
    this.#shown = this.#look();
    this.search = new SearchSlices(options.view.outline, () => this.#onFound());
  }

  /** Draws the rows again, the selected one at a place of the list. */
  showRows(place: ListPlace = "nearest"): void {
    this.#place = place;
    this.#shown = this.#look();
    this.requestUpdate();
    this.search.start();
  }

  /** Where the selected row stands; in the middle when it has to come on the screen first. */
  get selectedPlace(): ListPlace {
    const offset = this.#list?.offsetOf(this.#options.view.outline.selected) ?? -1;
    return offset >= 0 && offset < this.#list!.clientHeight ? offset : "middle";
  }

  /** Empties the field alone. */
  clearQuery(): void {
    this.#input.value = "";
  }

  override focus(): void {
    this.#input.focus();
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult {
    const { outline } = this.#options.view;
    const { items, goal, selected, status, empty } = this.#shown;
    return html`<aside id="sidebar" aria-label="Session tree" @keydown=${(event: KeyboardEvent) => this.#onKey(event)}>
      <div class="side-head">
        <input
          id="search"
          type="search"
          placeholder="Search the tree"
          aria-label="Search the tree"
          aria-controls="tree"
          autocomplete="off"
          spellcheck="false"
          @input=${() => this.#find(() => outline.setQuery(this.#input.value))}
        />
        <button id="close" type="button" aria-label="Close the tree" @click=${() => this.#options.onClose()}>✕</button>
      </div>
      <div class="filters" role="group" aria-label="Filter">
        ${FILTER_MODES.map(
          (mode) =>
            html`<button
              type="button"
              data-filter=${mode}
              aria-pressed=${outline.filter === mode}
              @click=${() => this.#find(() => outline.setFilter(mode))}
            >
              ${FILTER_NAMES.get(mode)}
            </button>`,
        )}
      </div>
      ${
        empty === undefined
          ? nothing
          : html`<p class="empty">${empty.text}${empty.hint === undefined ? nothing : html`<br />${empty.hint}`}</p>`
      }
      <virtual-list
        id="tree"
        role="tree"
        aria-label="Entries"
        aria-busy=${outline.isSearching}
        tabindex="0"
        aria-activedescendant=${selected}
        .items=${items}
        .goal=${goal}
      ></virtual-list>
      <p id="status" ?data-busy=${outline.isSearching}>${status}</p>
      <p class="spoken" role="status">${this.#announced}</p>
    </aside>`;
  }

  get #list(): VirtualList | null {
    return this.querySelector<VirtualList>("#tree");
  }
  get #input(): HTMLInputElement {
    return this.querySelector<HTMLInputElement>("#search")!;
  }

  #look(): Shown {
    const { onPick, view } = this.#options;
    const { outline } = view;
    const items = treeItems({
      outline,
      width: () => this.#list?.clientWidth ?? 300,
      target: () => view.target,
      onPick,
      onFold: (row) => {
        outline.select(row.entry.id);
        outline.toggleFold();
        this.showRows();
      },
    });
    const [row] = outline.rows(outline.selected, 1);
    const counts = {
      rowCount: outline.rowCount,
      selected: outline.selected,
      entryCount: outline.entryCount,
      filter: outline.filter,
      query: outline.query,
      isSearching: false,
    };
    return {
      items,
      goal: row === undefined ? undefined : { item: row.index, place: this.#place },
      selected: row === undefined ? nothing : `row-${row.n}`,
      status: statusText(counts),
      empty: emptyText(counts),
    };
  }

  /** Changes filter or query. */
  #find(change: () => void): void {
    change();
    this.#place = "nearest";
    this.requestUpdate();
    this.search.start();
  }

  #onFound(): void {
    const { rowCount } = this.#options.view.outline;
    this.#announced = rowCount === 1 ? "1 entry found" : `${rowCount} entries found`;
    this.showRows(this.#place);
  }

  #onKey(event: KeyboardEvent): void {
    const { outline } = this.#options.view;
    if (event.target instanceof HTMLButtonElement) return;
    const isSearch = event.target === this.#input;
    if (event.key === "Enter") {
      // What is typed is meant, also where it is not found yet.
      if (outline.searchOn(Number.POSITIVE_INFINITY)) this.#onFound();
      const [row] = outline.rows(outline.selected, 1);
      if (row !== undefined) this.#options.onPick(row.n);
    } else if (event.key === "Escape" && outline.query !== "") {
      this.clearQuery();
      this.#find(() => outline.setQuery(""));
    } else if (!isSearch && event.key.length === 1 && !event.ctrlKey && !event.altKey && !event.metaKey) {
      // Typing searches, as in the terminal: the letter goes where the focus is then.
      this.focus();
      event.stopPropagation();
      return;
    } else {
      const rows = Math.max(1, Math.floor((this.#list?.clientHeight ?? 0) / ROW_HEIGHT) - 1);
      if (!treeKey(outline, event, rows)) return;
      this.showRows();
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
customElements.define("bough-sidebar", SidebarElement);
