/**
 * A part of the chat that is built when first drawn and again after `invalidate`.
 * Part of `tui/`; used by the chat for everything that does not change while it is shown.
 */
import type { Component } from "@earendil-works/pi-tui";

/** What the rows of one chat share. Whoever changes a field invalidates the chat. */
export interface ChatOptions {
  /** Long output and summaries in full. */
  expanded: boolean;
  hideThinking: boolean;
  /** The key that toggles `expanded`, as shown in hints. */
  readonly expandKey: string;
  /** The user's home folder, shown as `~` in paths. */
  readonly home: string;
  /** An extension's drawing of its own message; undefined, or an exception, gives the default one. */
  readonly drawCustom?: (message: { customType: string }, options: { expanded: boolean }) => Component | undefined;
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
