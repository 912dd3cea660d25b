/**
 * `<bough-page>`: the exported page: the tree beside the transcript, and what the user does in it.
 * Part of the page. Made by main.ts. What is shown is PageView's; this draws it and keeps address and scroll in step.
 */
import { LitElement, html } from "lit";
import type { TemplateResult } from "lit";
import { copyText } from "./clipboard.ts";
import type { Switch } from "./entry-context.ts";
import { titleOf } from "./head-view.ts";
import type { PageFacts } from "./page-data.ts";
import type { PageView } from "./page-view.ts";
import { readPlace, withPlace } from "./place.ts";
import { SidebarElement } from "./sidebar.ts";
import { nextTheme, themeName } from "./theme.ts";
import { transcriptItems } from "./transcript-view.ts";
import "./virtual-list.ts";
import type { ListItems, ListPlace, VirtualList } from "./virtual-list.ts";

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
  readonly parts: PageParts;
  readonly #sidebar: SidebarElement;
  #isSideOpen = false;
  #isPrinting = false;
  #marked = -1;
  #copied = -1;
  #drawn: { of: readonly number[]; items: ListItems } | undefined;
  readonly #images = new Map<number, string | undefined>();

  constructor(parts: PageParts) {
    super();
    this.parts = parts;
    this.#sidebar = new SidebarElement({
      view: parts.view,
      onPick: (n) => this.#goTo(n),
      onClose: () => this.#openSide(false),
    });
  }

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
      ${this.#sidebar}
      <div class="overlay" @click=${() => this.#openSide(false)}></div>
      <main>${this.#bar()} ${this.#transcript()}</main>
    </div>`;
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
      onPick: (n) => this.#goTo(n),
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
    const before = this.#sidebar.selectedPlace;
    view.show(n);
    this.#remember();
    if (this.#isSideOpen) this.#openSide(false);
    void this.#showPlace(n, before);
  }

  #goToLeaf(): void {
    this.parts.view.showLeaf();
    this.#sidebar.clearQuery();
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

  /** @param row where the selected row shall stand in the tree */
  async #showPlace(n: number, row: ListPlace = "middle"): Promise<void> {
    const { view } = this.parts;
    this.requestUpdate();
    this.#sidebar.showRows(row);
    await this.updateComplete;
    const isEnd = n === view.items.at(-1) && view.target < 0;
    this.#show(n < 0 ? 0 : view.itemOf(n) + 1, n < 0 || isEnd ? 0 : "middle");
    if (view.target >= 0) this.#mark(n);
  }

  /** Brings an item of the transcript to its place. */
  #show(item: number, place: ListPlace): void {
    if (this.#list !== null) this.#list.goal = { item, place };
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
      if (open) this.#sidebar.focus();
      else this.querySelector<HTMLElement>("#hamburger")?.focus();
    });
  }

  #toggle(part: Switch): void {
    const list = this.#list!;
    const { view } = this.parts;
    const top = list.topItem;
    const n = top === 0 ? -1 : view.items[top - 1]!;
    view.toggle(part);
    this.requestUpdate();
    void this.updateComplete.then(() => this.#show(n < 0 ? 0 : view.itemOf(n) + 1, 0));
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
