/**
 * `<bough-page>`: the exported page: sidebar with the tree, transcript, and what the user does in them.
 * Part of the page. Made by main.ts. What is shown is PageView's; this draws it and keeps address and scroll in step.
 */
import { LitElement, html, nothing } from "lit";
import type { TemplateResult } from "lit";
import { FILTER_MODES } from "../../tree/outline-filter.ts";
import { emptyText, statusText } from "../../tree/outline-texts.ts";
import { copyText } from "./clipboard.ts";
import type { Switch } from "./entry-context.ts";
import { titleOf } from "./head-view.ts";
import type { PageFacts } from "./page-data.ts";
import type { PageView } from "./page-view.ts";
import { readPlace, withPlace } from "./place.ts";
import { nextTheme, themeName } from "./theme.ts";
import { transcriptItems } from "./transcript-view.ts";
import { FILTER_NAMES, ROW_HEIGHT, treeItems, treeKey } from "./tree-view.ts";
import "./virtual-list.ts";
import type { ListItems, VirtualList } from "./virtual-list.ts";

export interface PageParts {
  facts: PageFacts;
  view: PageView;
  readImage: (image: number) => Promise<string>;
}

/** How long an entry that was gone to is marked, in milliseconds; and a copied link. */
const MARKED_FOR = 2000;
const COPIED_FOR = 1500;

const SWITCHES: readonly (readonly [part: Switch, name: string, key: string])[] = [
  ["thinking", "Thinking", "t"],
  ["tools", "Outputs", "o"],
  ["hidden", "Hidden", "h"],
];

export class PageElement extends LitElement {
  /** Set before the element is used. */
  parts!: PageParts;
  #isSideOpen = false;
  #isPrinting = false;
  #marked = -1;
  #copied = -1;
  #search = 0;
  #drawn: { of: readonly number[]; items: ListItems } | undefined;
  readonly #images = new Map<number, string | undefined>();

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener("popstate", () => this.#goToAddress());
    window.addEventListener("keydown", (event) => this.#onKey(event));
    this.#goToAddress();
  }

  protected override render(): TemplateResult {
    return html`<div class="page" ?data-side=${this.#isSideOpen} ?data-printing=${this.#isPrinting}>
      ${this.#sidebar()}
      <div class="overlay" @click=${() => this.#openSide(false)}></div>
      <main>${this.#bar()} ${this.#transcript()}</main>
    </div>`;
  }

  #sidebar(): TemplateResult {
    const { outline } = this.parts.view;
    const nothingShown = emptyText(outline);
    const selected = outline.selectedEntry;
    const n = selected === undefined ? undefined : this.parts.view.tree.ordinal(selected.id);
    return html`<aside
      id="sidebar"
      aria-label="Session tree"
      @keydown=${(event: KeyboardEvent) => this.#onTreeKey(event)}
    >
      <div class="side-head">
        <input
          id="search"
          type="search"
          placeholder="Search the tree"
          aria-label="Search the tree"
          aria-controls="tree"
          autocomplete="off"
          spellcheck="false"
          @input=${(event: Event) => this.#onSearch((event.target as HTMLInputElement).value)}
        />
        <button id="close" type="button" aria-label="Close the tree" @click=${() => this.#openSide(false)}>✕</button>
      </div>
      <div class="filters" role="group" aria-label="Filter">
        ${FILTER_MODES.map(
          (mode) =>
            html`<button
              type="button"
              data-filter=${mode}
              aria-pressed=${outline.filter === mode}
              @click=${() => this.#changeTree(() => outline.setFilter(mode))}
            >
              ${FILTER_NAMES.get(mode)}
            </button>`,
        )}
      </div>
      ${
        nothingShown === undefined
          ? nothing
          : html`<p class="empty">
              ${nothingShown.text}${nothingShown.hint === undefined ? nothing : html`<br />${nothingShown.hint}`}
            </p>`
      }
      <virtual-list
        id="tree"
        role="tree"
        aria-label="Entries"
        tabindex="0"
        aria-activedescendant=${n === undefined ? nothing : `row-${n}`}
        .items=${treeItems({
          outline,
          width: () => this.#tree?.clientWidth ?? 300,
          target: () => this.parts.view.target,
          onPick: (picked) => this.#goTo(picked),
          onFold: (row) =>
            this.#changeTree(() => {
              outline.select(row.entry.id);
              outline.toggleFold();
            }),
        })}
      ></virtual-list>
      <p id="status" role="status">${statusText(outline)}</p>
    </aside>`;
  }

  #bar(): TemplateResult {
    return html`<div class="bar">
      <button
        id="hamburger"
        type="button"
        aria-label="Open the tree"
        aria-controls="sidebar"
        aria-expanded=${this.#isSideOpen}
        @click=${() => this.#openSide(true)}
      >
        ☰
      </button>
      <span class="bar-title">${titleOf(this.parts.facts)}</span>
      ${SWITCHES.map(
        ([part, name, key]) =>
          html`<button
            type="button"
            data-switch=${part}
            title="${name} (${key.toUpperCase()})"
            aria-pressed=${this.parts.view.switches.has(part)}
            @click=${() => this.#toggle(part)}
          >
            ${name}
          </button>`,
      )}
      <button
        id="theme"
        type="button"
        title="Colours"
        aria-label="Colours: ${themeName()}"
        @click=${() => {
          nextTheme();
          this.requestUpdate();
        }}
      >
        ${themeName()}
      </button>
      <button id="print" type="button" title="Print this branch" @click=${() => void this.#print()}>Print</button>
    </div>`;
  }

  /** The same as long as the branch is: what changes in the tree draws no entry again. */
  #transcriptItems(): ListItems {
    const { facts, view } = this.parts;
    if (this.#drawn?.of === view.items) return this.#drawn.items;
    const items = transcriptItems({
      facts,
      view,
      changed: () => this.#list?.requestUpdate(),
      imageUrl: (image) => this.#imageUrl(image),
      onCopyLink: (n) => void this.#copyLink(n),
      copied: () => this.#copied,
      marked: () => this.#marked,
    });
    this.#drawn = { of: view.items, items };
    return items;
  }

  #transcript(): TemplateResult {
    return html`<virtual-list
      id="transcript"
      role="feed"
      aria-label="Transcript"
      tabindex="0"
      .whole=${this.#isPrinting}
      .items=${this.#transcriptItems()}
    ></virtual-list>`;
  }

  get #tree(): VirtualList | null {
    return this.querySelector<VirtualList>("#tree");
  }
  get #list(): VirtualList | null {
    return this.querySelector<VirtualList>("#transcript");
  }

  /** Undefined until it has been read. */
  #imageUrl(image: number): string | undefined {
    const known = this.#images.get(image);
    if (known !== undefined || this.#images.has(image)) return known;
    this.#images.set(image, undefined);
    void this.parts.readImage(image).then((url) => {
      this.#images.set(image, url);
      this.#list?.requestUpdate();
    });
    return undefined;
  }

  /** Goes where the address says: at the start, and on back and forward. */
  #goToAddress(): void {
    this.parts.view.goTo(readPlace(location.search));
    void this.#showPlace(this.parts.view.target);
  }

  /** Goes to an entry as the user asked. */
  #goTo(n: number): void {
    const { view } = this.parts;
    const before = this.#tree?.offsetOf(view.outline.selected) ?? 0;
    view.show(n);
    this.#remember();
    if (this.#isSideOpen) this.#openSide(false);
    void this.#showPlace(n, before);
  }

  #goToLeaf(): void {
    this.parts.view.showLeaf();
    this.querySelector<HTMLInputElement>("#search")!.value = "";
    this.#remember();
    void this.#showPlace(this.parts.view.items.at(-1) ?? -1);
  }

  #remember(): void {
    const search = withPlace(location.search, this.parts.view.place);
    if (search === location.search) return;
    try {
      history.pushState(undefined, "", `${location.pathname}${search}${location.hash}`);
    } catch {
      // A page inside another one may have an address that cannot change.
    }
  }

  /** @param rowOffset where the selected row shall stand in the tree; in its middle by default */
  async #showPlace(n: number, rowOffset: number | "middle" = "middle"): Promise<void> {
    const { view } = this.parts;
    this.requestUpdate();
    await this.updateComplete;
    this.#list?.reset();
    if (n < 0) this.#list?.show(0, 0);
    else this.#list?.show(view.itemOf(n) + 1, n === view.items.at(-1) && view.target < 0 ? 0 : "middle");
    this.#tree?.reset();
    if (view.outline.selected >= 0) this.#tree?.show(view.outline.selected, rowOffset);
    if (view.target >= 0) this.#mark(n);
  }

  #mark(n: number): void {
    this.#marked = n;
    setTimeout(() => {
      if (this.#marked === n) this.#marked = -1;
      this.#list?.requestUpdate();
    }, MARKED_FOR);
  }

  #openSide(open: boolean): void {
    this.#isSideOpen = open;
    this.requestUpdate();
    void this.updateComplete.then(() => {
      this.#tree?.requestUpdate();
      this.querySelector<HTMLElement>(open ? "#search" : "#hamburger")?.focus();
    });
  }

  #changeTree(change: () => void): void {
    const { outline } = this.parts.view;
    change();
    this.requestUpdate();
    void this.updateComplete.then(() => {
      this.#tree?.reset();
      if (outline.selected >= 0) this.#tree?.reveal(outline.selected);
      this.#searchOn();
    });
  }

  /** The letter is on the screen before the tree is searched. */
  #onSearch(query: string): void {
    cancelAnimationFrame(this.#search);
    this.#search = requestAnimationFrame(() => this.#changeTree(() => this.parts.view.outline.setQuery(query)));
  }

  #searchOn(): void {
    if (!this.parts.view.outline.isSearching) return;
    cancelAnimationFrame(this.#search);
    this.#search = requestAnimationFrame(() => this.#changeTree(() => this.parts.view.outline.searchOn(8000)));
  }

  #toggle(part: Switch): void {
    const list = this.#list!;
    const { view } = this.parts;
    const top = list.topItem;
    const n = top === 0 ? -1 : view.items[top - 1]!;
    view.toggle(part);
    this.requestUpdate();
    void this.updateComplete.then(() => {
      list.reset();
      list.show(n < 0 ? 0 : view.itemOf(n) + 1, 0);
    });
  }

  #onKey(event: KeyboardEvent): void {
    if (event.defaultPrevented) return;
    if ((event.ctrlKey || event.metaKey) && event.key === "p") {
      event.preventDefault();
      void this.#print();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      if (this.#isSideOpen) this.#openSide(false);
      else this.#goToLeaf();
      return;
    }
    if (event.target instanceof HTMLInputElement) return;
    const part = SWITCHES.find(([, , key]) => key === event.key.toLowerCase())?.[0];
    if (part !== undefined) this.#toggle(part);
    else if (event.key === "/") {
      event.preventDefault();
      this.#openSide(true);
    }
  }

  #onTreeKey(event: KeyboardEvent): void {
    const { outline, tree } = this.parts.view;
    if (event.target instanceof HTMLButtonElement) return;
    const search = this.querySelector<HTMLInputElement>("#search")!;
    if (event.key === "Enter") {
      const { selectedEntry } = outline;
      if (selectedEntry !== undefined) this.#goTo(tree.ordinal(selectedEntry.id)!);
    } else if (event.key === "Escape" && outline.query !== "") {
      search.value = "";
      this.#changeTree(() => outline.setQuery(""));
    } else if (event.target !== search && event.key.length === 1 && !event.ctrlKey && !event.altKey && !event.metaKey) {
      // Typing searches, as in the terminal: the letter goes where the focus is then.
      search.focus();
      event.stopPropagation();
      return;
    } else {
      let moved = false;
      const rows = Math.max(1, Math.floor((this.#tree?.clientHeight ?? 0) / ROW_HEIGHT) - 1);
      this.#changeTree(() => (moved = treeKey(outline, event, rows)));
      if (!moved) return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  async #copyLink(n: number): Promise<void> {
    const { tree } = this.parts.view;
    const { leafId } = this.parts.view.place;
    const search = withPlace(location.search, { leafId, targetId: tree.idAt(n) });
    if (!(await copyText(`${location.href.replace(/[?#].*$/s, "")}${search}`))) return;
    this.#copied = n;
    this.#list?.requestUpdate();
    setTimeout(() => {
      if (this.#copied === n) this.#copied = -1;
      this.#list?.requestUpdate();
    }, COPIED_FOR);
  }

  /** Everything on the branch must be there before the browser looks. */
  async #print(): Promise<void> {
    const { bodies, items } = this.parts.view;
    bodies.limit = Number.POSITIVE_INFINITY;
    for (const n of items) await bodies.load(n);
    this.#isPrinting = true;
    this.requestUpdate();
    await this.updateComplete;
    await this.#list?.updateComplete;
    window.print();
    this.#isPrinting = false;
    this.requestUpdate();
  }
}
customElements.define("bough-page", PageElement);
