/**
 * `<virtual-list>`: a list that scrolls as if all its items were there, and has those on the screen. Heights of items are
 * guessed until they are seen; what stands on the screen stays where it is when a guess was wrong.
 * Part of the page. Used for the tree's rows and the transcript's entries.
 */
import { LitElement, html } from "lit";
import type { PropertyValues, TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { EvenHeights, Heights } from "./heights.ts";

/** Higher elements do not scroll in every browser. */
const HIGHEST = 8_000_000;
/** Pixels beyond either end of the screen that are drawn as well. */
const MARGIN = 400;

export interface ListItems {
  count: number;
  /** Of each item, or a guess for each. */
  height: number | ((item: number) => number);
  /** What an item is, wherever it stands: its element is kept as long as it is drawn. */
  key(item: number): unknown;
  template(item: number): TemplateResult;
  /** Told which items will be asked for. */
  prepare?(first: number, end: number): void;
  /** Told which items are drawn. */
  onDraw?(first: number, end: number): void;
}

/** Where an item shall stand: pixels below the upper edge, in the middle, or on the screen by the shortest way. */
export type ListPlace = number | "middle" | "nearest";
export interface ListGoal {
  item: number;
  place: ListPlace;
}

export class VirtualList extends LitElement {
  static override properties = {
    items: { attribute: false },
    goal: { attribute: false, hasChanged: (goal: unknown) => goal !== undefined },
    whole: { attribute: false },
  };
  declare items: ListItems;
  /** What shall stand where, until the user scrolls. */
  declare goal: ListGoal | undefined;
  /** Draws all items, to print them. */
  declare whole: boolean;
  /** Items drawn since the list was made. */
  drawn = 0;
  #heights: Heights | EvenHeights = new EvenHeights(0, 1);
  #first = 0;
  #end = 0;
  readonly #sizes = new ResizeObserver((changes) => this.#takeSizes(changes));
  readonly #observed = new Set<Element>();

  constructor() {
    super();
    this.items = { count: 0, height: 1, key: (item) => item, template: () => html`` };
    this.whole = false;
    this.addEventListener("scroll", () => this.#onScroll(), { passive: true });
    for (const event of ["wheel", "touchstart", "pointerdown", "keydown"])
      this.addEventListener(event, () => (this.goal = undefined), { passive: true });
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#sizes.observe(this);
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

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has("items")) return;
    const { count, height } = this.items;
    this.#heights = typeof height === "number" ? new EvenHeights(count, height) : new Heights(count, height);
  }

  protected override render(): TemplateResult {
    const top = this.#wantedTop;
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
    if (this.goal !== undefined && !this.whole) this.#virtualTop = this.#wantedTop;
    const shift = this.scrollTop + this.#heights.offset(this.#first) - this.#virtualTop;
    window.style.transform = this.whole ? "none" : `translateY(${Math.round(shift)}px)`;
    if (this.#heights instanceof Heights) this.#observe(window);
    this.items.onDraw?.(this.#first, this.#end);
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

  /** Where the upper edge shall be: where it is, unless something is to be shown. */
  get #wantedTop(): number {
    const last = Math.max(0, this.#heights.total - this.clientHeight);
    return Math.max(0, Math.min(last, this.#goalTop ?? this.#virtualTop));
  }
  get #goalTop(): number | undefined {
    if (this.goal === undefined || this.items.count === 0) return undefined;
    const { place } = this.goal;
    const item = Math.min(this.goal.item, this.items.count - 1);
    const top = this.#heights.offset(item);
    const height = this.#heights.of(item);
    if (typeof place === "number") return top - place;
    // What is higher than the screen begins at its upper edge.
    if (place === "middle") return top - Math.max(0, (this.clientHeight - height) / 2);
    return Math.min(top, Math.max(this.#virtualTop, top + height - this.clientHeight));
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
      if (!(this.#heights instanceof Heights) || Math.abs(height - this.#heights.of(item)) < 0.5) continue;
      this.#heights.set(item, height);
      changed = true;
    }
    if (!changed) return;
    if (this.goal === undefined) this.#virtualTop = this.#heights.offset(anchor) + within;
    this.requestUpdate();
  }
}
customElements.define("virtual-list", VirtualList);
