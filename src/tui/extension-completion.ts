/**
 * What extensions add to the editor's completion. Part of `tui/`; used by extension-ui.ts.
 */
import type { AutocompleteItem, AutocompleteProvider, AutocompleteSuggestions } from "@earendil-works/pi-tui";
import type { AutocompleteFactory } from "../extensions/ui-port.ts";
import { isHarmless } from "./completion.ts";
import { sanitiseLine } from "./sanitise.ts";
import type { Owned } from "./screen-extensions.ts";

/** bough's completion and, around it, those of extensions, the last one outermost. */
export class CompletionStack {
  readonly #apply: (provider: AutocompleteProvider) => void;
  readonly #factories: Owned<AutocompleteFactory>[] = [];
  #own: AutocompleteProvider | undefined;

  constructor(apply: (provider: AutocompleteProvider) => void) {
    this.#apply = apply;
  }

  setOwn(own: AutocompleteProvider): void {
    this.#own = own;
    this.#rebuild();
  }

  /** Returns a function that takes it away. */
  add(factory: Owned<AutocompleteFactory>): () => void {
    this.#factories.push(factory);
    this.#rebuild();
    return () => {
      const at = this.#factories.indexOf(factory);
      if (at >= 0) this.#factories.splice(at, 1);
      this.#rebuild();
    };
  }

  #rebuild(): void {
    if (this.#own === undefined) return;
    this.#apply(this.#factories.reduce((inner, factory) => wrapped(inner, factory), this.#own));
  }
}

function wrapped(inner: AutocompleteProvider, { owner, value: factory }: Owned<AutocompleteFactory>) {
  try {
    return new GuardedCompletion(factory(inner), inner, (error) => owner.failed("completion", error));
  } catch (error) {
    owner.failed("completion", error);
    return inner;
  }
}

/** An extension's completion; once it throws, the one it stands around is used. */
class GuardedCompletion implements AutocompleteProvider {
  readonly triggerCharacters: string[];
  readonly #inner: AutocompleteProvider;
  readonly #failed: (error: unknown) => void;
  #provider: AutocompleteProvider;

  constructor(provider: AutocompleteProvider, inner: AutocompleteProvider, failed: (error: unknown) => void) {
    this.#provider = provider;
    this.#inner = inner;
    this.#failed = failed;
    const characters: unknown = provider.triggerCharacters ?? [];
    const own = Array.isArray(characters) ? characters.filter((character) => typeof character === "string") : [];
    this.triggerCharacters = [...new Set([...(inner.triggerCharacters ?? []), ...own])];
  }

  async getSuggestions(
    ...asked: Parameters<AutocompleteProvider["getSuggestions"]>
  ): Promise<AutocompleteSuggestions | null> {
    try {
      const found = await this.#provider.getSuggestions(...asked);
      return found === null ? null : { prefix: String(found.prefix), items: found.items.filter(isHarmless).map(shown) };
    } catch (error) {
      this.#fail(error);
      return this.#inner.getSuggestions(...asked);
    }
  }

  applyCompletion(...asked: Parameters<AutocompleteProvider["applyCompletion"]>) {
    return this.#attempt((provider) => provider.applyCompletion(...asked));
  }

  shouldTriggerFileCompletion(lines: string[], cursorLine: number, cursorCol: number): boolean {
    return this.#attempt((provider) => provider.shouldTriggerFileCompletion?.(lines, cursorLine, cursorCol) ?? true);
  }

  #attempt<T>(ask: (provider: AutocompleteProvider) => T): T {
    try {
      return ask(this.#provider);
    } catch (error) {
      this.#fail(error);
      return ask(this.#inner);
    }
  }

  #fail(error: unknown): void {
    if (this.#provider === this.#inner) return;
    this.#provider = this.#inner;
    this.#failed(error);
  }
}

const shown = (item: AutocompleteItem): AutocompleteItem => ({
  value: item.value,
  label: sanitiseLine(String(item.label)),
  ...(item.description === undefined ? {} : { description: sanitiseLine(String(item.description)) }),
});
