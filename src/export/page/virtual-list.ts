/**
 * `<virtual-list>`: a list that scrolls as if all its items were there, and has those on the screen. Heights of items are
 * guessed until they are seen; what stands on the screen stays where it is when a guess was wrong.
 * Part of the page. Used for the tree's rows and the transcript's entries.
 */
import { LitElement, html } from "lit";
import type { TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { Heights } from "./heights.ts";

/** Higher elements do not scroll in every browser. */
const HIGHEST = 8_000_000;
/** Pixels beyond either end of the screen that are drawn as well. */
const MARGIN = 400;

export interface ListItems {
  count: number;
  /** A guess, or the height itself where `fixed`. */
  height(item: number): number;
  /** Whether items have the height that was said. */
  fixed: boolean;
  /** What an item is, wherever it stands: its element is kept as long as it is drawn. */
  key(item: number): unknown;
  template(item: number): TemplateResult;
  /** Told which items will be asked for. */
  prepare?(first: number, end: number): void;
  /** Told which items are drawn. */
  onDraw?(first: number, end: number): void;
}

/** Where an item shall stand: `offset` pixels below the upper edge, or in the middle. */
interface Goal {
  item: number;
  offset: number | "middle";
}

export class VirtualList extends LitElement {
  static override properties = { items: { attribute: false }, whole: { attribute: false } };
  declare items: ListItems;
  /** Draws all items, to print them. */
  declare whole: boolean;
  /** Items drawn since the list was made. */
  drawn = 0;
  #heights = new Heights(0, () => 0);
  #first = 0;
  #end = 0;
  #goal: Goal | undefined;
  readonly #sizes = new ResizeObserver((changes) => this.#takeSizes(changes));
  readonly #observed = new Set<Element>();

  constructor() {
    super();
    this.items = { count: 0, height: () => 0, fixed: true, key: (item) => item, template: () => html`` };
    this.whole = false;
    this.addEventListener("scroll", () => this.#onScroll(), { passive: true });
    for (const event of ["wheel", "touchstart", "pointerdown", "keydown"])
      this.addEventListener(event, () => (this.#goal = undefined), { passive: true });
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#sizes.observe(this);
  }

  /** Forgets the heights that were seen; the items may be others now. */
  reset(): void {
    const { count, height } = this.items;
    this.#heights = new Heights(count, height);
    this.requestUpdate();
  }

  /** Brings an item to the middle of the screen, or to `offset` below its upper edge, and keeps it there meanwhile. */
  show(item: number, offset: Goal["offset"] = "middle"): void {
    this.#goal = { item, offset };
    this.requestUpdate();
  }

  /** Brings an item on the screen by the shortest way. */
  reveal(item: number): void {
    const top = this.#heights.offset(item) - this.#virtualTop;
    const bottom = top + this.#heights.of(item);
    if (top < 0) this.show(item, 0);
    else if (bottom > this.clientHeight) this.show(item, this.clientHeight - this.#heights.of(item));
  }

  /** The item at the upper edge. */
  get topItem(): number {
    return this.#heights.itemAt(this.#virtualTop);
  }

  /** How far below the upper edge the item stands. */
  offsetOf(item: number): number {
    return this.#heights.offset(item) - this.#virtualTop;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult {
    if (this.#heights.count !== this.items.count) this.#heights = new Heights(this.items.count, this.items.height);
    this.#aim();
    const top = this.#virtualTop;
    const { count } = this.items;
    this.#first = this.whole ? 0 : this.#heights.itemAt(top - MARGIN);
    this.#end = this.whole ? count : Math.min(count, this.#heights.itemAt(top + this.clientHeight + MARGIN) + 1);
    const shown = Array.from({ length: this.#end - this.#first }, (_, i) => this.#first + i);
    this.drawn += shown.length;
    this.items.prepare?.(this.#first, this.#end);
    return html`<div class="space" role="presentation">
      <div class="window" role="presentation">
        ${repeat(
          shown,
          (item) => this.items.key(item),
          (item) => this.items.template(item),
        )}
      </div>
    </div>`;
  }

  protected override updated(): void {
    const space = this.querySelector<HTMLElement>(":scope > .space")!;
    const window = space.firstElementChild as HTMLElement;
    const total = this.#heights.total;
    space.style.height = this.whole ? "auto" : `${Math.min(total, HIGHEST)}px`;
    this.#aim();
    const shift = this.scrollTop + this.#heights.offset(this.#first) - this.#virtualTop;
    window.style.transform = this.whole ? "none" : `translateY(${Math.round(shift)}px)`;
    if (!this.items.fixed) this.#observe(window);
    this.items.onDraw?.(this.#first, this.#end);
    // The goal may lie where nothing was drawn yet: the space had to be high enough first.
    if (this.#goal !== undefined && !this.#isDrawn(this.#goal.item)) this.requestUpdate();
  }

  #isDrawn(item: number): boolean {
    return item >= this.items.count || (item >= this.#first && item < this.#end);
  }

  /** Pixels of the whole list above the screen. A list too high for an element is scrolled in larger steps. */
  get #virtualTop(): number {
    const total = this.#heights.total;
    if (total <= HIGHEST) return this.scrollTop;
    return (this.scrollTop / Math.max(1, HIGHEST - this.clientHeight)) * (total - this.clientHeight);
  }
  set #virtualTop(top: number) {
    const total = this.#heights.total;
    const share = Math.max(0, top) / Math.max(1, total - this.clientHeight);
    const wanted = total <= HIGHEST ? Math.max(0, top) : share * (HIGHEST - this.clientHeight);
    if (Math.abs(wanted - this.scrollTop) >= 1) this.scrollTop = wanted;
  }

  #aim(): void {
    if (this.#goal === undefined || this.whole) return;
    const { item, offset } = this.#goal;
    const height = this.#heights.of(Math.min(item, this.items.count - 1)) || 0;
    // What is higher than the screen begins at its upper edge.
    const above = offset === "middle" ? Math.max(0, (this.clientHeight - height) / 2) : offset;
    this.#virtualTop = this.#heights.offset(item) - above;
  }

  #onScroll(): void {
    const top = this.#virtualTop;
    const isDrawn =
      this.#heights.itemAt(top) >= this.#first && this.#heights.itemAt(top + this.clientHeight) < this.#end;
    // Half the margin may be used up before more is drawn.
    const isNear =
      this.#heights.offset(this.#first) > top - MARGIN / 2 && this.#first > 0
        ? true
        : this.#heights.offset(this.#end) < top + this.clientHeight + MARGIN / 2 && this.#end < this.items.count;
    if (!isDrawn || isNear || this.#heights.total > HIGHEST) this.requestUpdate();
  }

  #observe(window: HTMLElement): void {
    const present = new Set(window.children);
    for (const element of this.#observed)
      if (!present.has(element)) {
        this.#sizes.unobserve(element);
        this.#observed.delete(element);
      }
    for (const element of present)
      if (!this.#observed.has(element)) {
        this.#sizes.observe(element);
        this.#observed.add(element);
      }
  }

  #takeSizes(changes: readonly ResizeObserverEntry[]): void {
    if (this.whole) return;
    const anchor = this.#heights.itemAt(this.#virtualTop);
    const within = this.#virtualTop - this.#heights.offset(anchor);
    let changed = false;
    const window = this.querySelector(":scope > .space > .window");
    const elements = window === null ? [] : [...window.children];
    for (const { target } of changes) {
      const item = this.#first + elements.indexOf(target);
      if (target === this || item < this.#first || item >= this.#end) {
        changed ||= target === this;
        continue;
      }
      const { height } = target.getBoundingClientRect();
      if (Math.abs(height - this.#heights.of(item)) < 0.5) continue;
      this.#heights.set(item, height);
      changed = true;
    }
    if (!changed) return;
    if (this.#goal === undefined) this.#virtualTop = this.#heights.offset(anchor) + within;
    this.requestUpdate();
  }
}
customElements.define("virtual-list", VirtualList);
