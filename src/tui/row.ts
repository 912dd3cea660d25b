/**
 * A part of the chat that is built when first drawn and again after `invalidate`.
 * Part of `tui/`; used by the chat for everything that does not change while it is shown.
 */
import type { Component } from "@earendil-works/pi-tui";
import type { ScreenExtensions } from "./screen-extensions.ts";

/** What the rows of one chat share. Whoever changes a field invalidates the chat. */
export interface ChatOptions {
  /** Long output and summaries in full. */
  expanded: boolean;
  hideThinking: boolean;
  /** Stands where thinking is hidden. */
  hiddenThinkingLabel: string;
  /** The key that toggles `expanded`, as shown in hints. */
  readonly expandKey: string;
  /** The user's home folder, shown as `~` in paths. */
  readonly home: string;
  /** They may draw their messages, entries and tools themselves. */
  readonly extensions: ScreenExtensions;
  /** Where the session works. */
  readonly cwd: () => string;
  readonly requestRender: () => void;
}

export class Row implements Component {
  readonly #build: () => Component;
  #content: Component | undefined;

  constructor(build: () => Component) {
    this.#build = build;
  }
  render(width: number): readonly string[] {
    this.#content ??= this.#build();
    return this.#content.render(width);
  }
  invalidate(): void {
    this.#content = undefined;
  }
}

/** The same for what depends on the width in more than its lines. */
export class WidthRow implements Component {
  readonly #build: (width: number) => Component;
  #content: { width: number; component: Component } | undefined;

  constructor(build: (width: number) => Component) {
    this.#build = build;
  }
  render(width: number): readonly string[] {
    if (this.#content?.width !== width) this.#content = { width, component: this.#build(width) };
    return this.#content.component.render(width);
  }
  invalidate(): void {
    this.#content = undefined;
  }
}
